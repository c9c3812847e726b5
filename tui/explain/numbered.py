"""Lines of a log with their numbers, as ``sed -n Np`` counts them."""

from collections.abc import Iterable, Iterator

from tui.transport.clean import LineSplitter, Split


class Numbered:
    """Cleaned and masked lines of a log, each with the number of the physical line that it stands on.

    Only newlines count: a bar's drawings, one behind each carriage return, stand on one line.
    ``count`` is the number of the line after the last one that ended.
    """

    def __init__(self, chunks: Iterable[bytes], first: int = 1) -> None:
        self._chunks = chunks
        self._number = first
        self._open = False

    @property
    def count(self) -> int:
        """How many physical lines there were; one that has not ended counts."""
        return self._number - (not self._open)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        splitter = LineSplitter()
        for chunk in self._chunks:
            split = splitter.feed(chunk)
            self._open = not chunk.endswith(b"\n")
            yield from self._numbered(split)
        # The text ends here: what has no newline yet is a line all the same.
        last = splitter.feed(b"", fresh=True)
        for line in last.lines:
            yield self._number, line

    def _numbered(self, split: Split) -> Iterator[tuple[int, str]]:
        if not split.returns:
            number = self._number
            for line in split.lines:
                yield number, line
                number += 1
            self._number = number
            return
        returns = set(split.returns)
        for place, line in enumerate(split.lines):
            yield self._number, line
            if place not in returns:
                self._number += 1
