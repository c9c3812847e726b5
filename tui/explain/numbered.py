"""Lines of a log with their numbers, as ``sed -n Np`` counts them."""

from collections.abc import Iterable, Iterator

from tui.transport.clean import LineSplitter, Split


class Numbered:
    """Cleaned and masked lines of a log, each with the number of the physical line that it stands on.

    Only newlines count: a bar's drawings, one behind each carriage return, stand on one line. Of a line that
    is too long to be handled whole the first piece is given.
    """

    def __init__(self, chunks: Iterable[bytes], first: int = 1) -> None:
        self._chunks = chunks
        self._number = first
        self._newlines = first - 1
        self._open = False

    @property
    def count(self) -> int:
        """How many physical lines were read to the end; one without a newline counts."""
        return self._newlines + self._open

    def __iter__(self) -> Iterator[tuple[int, str]]:
        splitter = LineSplitter()
        for chunk in self._chunks:
            split = splitter.feed(chunk)
            self._newlines += chunk.count(b"\n")
            self._open = not chunk.endswith(b"\n")
            yield from self._numbered(split)
        # The text ends here: what has no newline yet is a line all the same.
        yield from self._numbered(splitter.feed(b"", fresh=True))

    def _numbered(self, split: Split) -> Iterator[tuple[int, str]]:
        if not split.returns and not split.continued:
            number = self._number
            for line in split.lines:
                yield number, line
                number += 1
            self._number = number
            return
        returns, continued = set(split.returns), set(split.continued)
        for place, line in enumerate(split.lines):
            if place not in continued:
                yield self._number, line
                self._number += 1
            if place in returns:
                self._number -= 1
