"""Takes the shell's output apart: lines that begin with the mark, and the bytes of the log between them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    """One line of the shell's own: its letter, and the rest of it."""

    kind: str
    words: str


class Frames:
    """Splits chunks of output. Whatever stands outside of marked lines is bytes of the log."""

    def __init__(self, mark: bytes) -> None:
        self._mark = mark + b" "
        self._unread = b""

    def feed(self, data: bytes) -> list[Said | bytes]:
        """Return what this chunk finishes, in order; bytes that may yet become a line wait for the next."""
        text = self._unread + data
        found: list[Said | bytes] = []
        at = 0
        while (place := text.find(self._mark, at)) >= 0 and (end := text.find(b"\n", place)) >= 0:
            if place > at:
                found.append(text[at:place])
            found.append(_said(text[place + len(self._mark) : end]))
            at = end + 1
        keep = place if place >= 0 else len(text) - self._begun(text, at)
        if keep > at:
            found.append(text[at:keep])
        self._unread = text[keep:]
        return found

    def _begun(self, text: bytes, at: int) -> int:
        """Return how many bytes at the end may be the beginning of a mark."""
        most = min(len(self._mark) - 1, len(text) - at)
        return next((size for size in range(most, 0, -1) if text.endswith(self._mark[:size])), 0)


def _said(line: bytes) -> Said:
    kind, _, words = line.decode("utf-8", "replace").partition(" ")
    return Said(kind, words)
