"""What the log worker tells: bytes, where they come from, what was lost."""

from __future__ import annotations

import base64

from tui.agent import wire

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.agent.tail.file import LogFile

    Send = Callable[[dict[str, object]], None]


class Report:
    """Makes the messages of one log worker; ``path`` is the log's path as it was asked for."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._said = ("", "")
        self.path: str | None = None

    def begin(self, path: str | None) -> None:
        """Speak of another log from now on."""
        self.path = path
        self._said = ("", "")

    def data(self, file: LogFile, data: bytes, fresh: bool = False) -> None:
        """Send bytes with the position after them; ``fresh`` when they do not continue those before."""
        position = file.position()
        message = wire.stamped(
            wire.LOG_BYTES,
            path=self.path,
            device=position.device,
            inode=position.inode,
            offset=position.offset,
            fingerprint_bytes=position.length,
            fingerprint_crc=position.crc,
            behind_bytes=file.behind_bytes,
            data=base64.b64encode(data).decode("ascii"),
            fresh=fresh,
        )
        self._send(message)

    def source(self, state: str, sentence: str, news: bool = False) -> None:
        """Say where the log is read from, or why it is not; the same again only when it is ``news``."""
        if news or (state, sentence) != self._said:
            self._said = (state, sentence)
            self._send(wire.stamped(wire.LOG_SOURCE, path=self.path, state=state, sentence=sentence))

    def gap(self, lost_bytes: int | None, why: str, sentence: str) -> None:
        """Say that bytes are lost; ``lost_bytes`` None where nobody knows how many."""
        self._send(wire.stamped(wire.GAP, path=self.path, lost_bytes=lost_bytes, why=why, sentence=sentence))

    def warn(self, sentence: str) -> None:
        """Say that something asked for cannot be done."""
        self._send(wire.stamped(wire.NOTICE, level="warning", about="log", sentence=sentence))


def in_words(count: int) -> str:
    """Return a number of bytes in words."""
    return "%d bytes" % count if count < 10240 else "%.1f MiB" % (count / 1048576)
