"""The log of a host without Python: the shell keeps the file open, and dd reads on where it stopped.

The client asks for each piece, so that a flooding log never fills the link. Rotation is seen by the name's
inode and truncation by the size. What was in a file between the last piece and its truncation, or in one that
was rotated away while the link was down, cannot be found again: that is told as a gap.
"""

import re
import zlib
from collections import deque
from collections.abc import Callable
from typing import Literal, NamedTuple

from tui.agent import wire
from tui.agent.tail.report import in_words
from tui.agent.tail.start import compiled
from tui.events import AnyEvent, Gap, LogSource, Notice
from tui.requests import FollowRequest, LogPosition
from tui.transport.faults import sentence_of
from tui.transport.plain_shell.backlog import Backlog
from tui.transport.plain_shell.clock import ShellClock
from tui.transport.translate import LogBytes

BLOCK_BYTES = 64 * 1024
"""So much is read at once, as dd does by the shell's words: what else the shell says waits for no more."""
TOLD_BYTES = 16 * 1024
"""So much is told at once: a sample or a key between two pieces waits for the lines of one."""
_BUSY_S, _IDLE_S, _MISSING_S = 0.25, 0.5, 1.0
_QUIET_LOOKS = 3
"""A writer that was told to reopen its log may finish its line in the old file first."""

Message = AnyEvent | LogBytes
Why = Literal["truncated", "replaced", "backlog", "skipped"]
State = Literal["open", "missing", "unreadable", "not_a_file"]
_STATES: dict[str, tuple[State, str]] = {
    "missing": ("missing", "shell_log_missing"),
    "not_a_file": ("not_a_file", "shell_log_no_file"),
    "unreadable": ("unreadable", "shell_log_unreadable"),
}


class _Untold(NamedTuple):
    """Bytes of a file of size ``end``; ``before`` is what stands in front of the offset after them."""

    data: bytes
    offset: int
    before: bytes
    end: int


class ShellLog:
    """Follows one log at a time. ``send`` takes commands for the shell, ``tell`` what was found."""

    def __init__(
        self, send: Callable[[str], None], tell: Callable[[Message], None], clock: ShellClock
    ) -> None:
        self._send = send
        self._tell = tell
        self._clock = clock
        self._path = ""
        self._patterns: list[re.Pattern[bytes]] = []
        self._resume: LogPosition | None = None
        self._said: tuple[str, str] = ("", "")
        self._anew = False
        self._awaited = False
        self._waits = False
        self._stale = False
        self._forget()

    def _forget(self) -> None:
        """Forget the file, not its name."""
        self._inode: str | None = None
        self._offset = 0
        self._last = b""
        self._check: LogPosition | None = None
        self._backlog: Backlog | None = None
        self._fresh = True
        self._end = 0
        self._skips = False
        self._left_from: int | None = None
        self._piece: bytearray | None = None
        self._due_s = 0.0
        self._quiet = 0
        self._untold: deque[_Untold] = deque()

    @property
    def has_more(self) -> bool:
        """Whether something has come that is yet to be told: each step tells a piece."""
        return bool(self._untold)

    def follow(self, request: FollowRequest) -> None:
        """Take up a follow request; one for the log that is being read anyway changes nothing."""
        path = request.log_path or ""
        if path == self._path:
            return
        self._forget()
        self._stale = self._waits  # what is still to come tells of the log before
        self._path, self._anew, self._awaited = path, False, False
        if not path.isprintable():
            self._path = ""
            self._notice(sentence_of("shell_log_odd_name"))
        self._patterns = _compiled(request.first_lines)
        resume = request.resume
        self._resume = resume if resume is not None and resume.path == path else None

    def skip(self) -> None:
        """Leave out what is unread, and go on at the end; what is under way already still comes."""
        self._skips, self._due_s = self._inode is not None, 0.0
        if not self._skips or not self._untold:
            return
        data = b"".join(piece.data for piece in self._untold)
        self._untold.clear()
        since = self._offset - len(data)
        if self._end > self._offset:
            self._left_from = since
        else:
            self._emit(self._left_out(since, data), self._end)

    def step(self, now_s: float) -> None:
        """Tell a piece of what has come; with all told, send what is due (client's clock)."""
        if self._untold:
            self._tell_bytes(*self._untold.popleft())
            return
        if not self._path or self._waits or now_s < self._due_s:
            return
        if self._inode is None:
            self._waits = True
            self._send(f"o {self._path}")
        else:
            self._ask(self._leap())

    def _ask(self, ahead: int) -> None:
        """Ask for the next block, that many bytes further on in the file."""
        self._waits = True
        self._send(f"r {ahead} 1")

    def _leap(self) -> int:
        """Return how many bytes are to be passed over; the last line under way is looked for after them."""
        skips, self._skips = self._skips, False
        before, end = self._offset, self._end
        if not skips or end <= before:
            return 0
        if self._left_from is None:
            self._left_from = 0 if self._backlog is not None else before
        if self._backlog is not None:
            self._source("open", "is read on at its end, as asked")
        self._backlog = self._check = None
        self._offset = max(before, end - BLOCK_BYTES)
        if self._offset > before:
            self._last = b""
        return self._offset - before

    # What the shell says.

    def opened(self, words: str) -> None:
        """Take in how the opening went: its state, the inode and the size."""
        if self._is_stale():
            return
        state, inode, size = (*words.split(" "), "", "")[:3]
        if state != "open" or not size.isdigit():
            self._due_s = self._clock.now().client_s + _MISSING_S
            self._awaited = state == "missing"
            self._shut(*_STATES.get(state, _STATES["unreadable"]))
            return
        begin = self._begin(int(size))
        self._inode, self._offset, self._end = inode, begin, int(size)
        self._ask(begin)

    def begins(self) -> None:
        """Take in that the log follows."""
        self._piece = bytearray()

    def data(self, data: bytes) -> None:
        """Take bytes of the log; what comes at other times is nobody's."""
        if self._piece is not None:
            self._piece += data

    def piece_over(self, words: str) -> None:
        """Take in that a piece is over: inode and size of the open file, and of what its name is now."""
        data, self._piece = bytes(self._piece or b""), None
        if self._is_stale():
            return
        _, size, named, _ = (*words.split(" "), "-", "-", "-", "-")[:4]
        end = self._end = int(size) if size.isdigit() else self._offset + len(data)
        now_s = self._clock.now().client_s
        self._due_s = now_s if len(data) >= BLOCK_BYTES else now_s + (_BUSY_S if data else _IDLE_S)
        if data:
            self._quiet = 0
            self._take(data, end)
        elif end < self._offset:
            self._truncated()
        else:
            self._look_at_name(named)
        if self._backlog is not None and (not data or self._offset >= self._backlog.end):
            self._end_backlog(end)

    def _is_stale(self) -> bool:
        """Take in that an answer has come; say whether it is of a log that is no longer followed."""
        stale, self._stale, self._waits = self._stale, False, False
        return stale

    # Where to begin.

    def _begin(self, size: int) -> int:
        """Return the offset at which to read on, or for the first time."""
        resume, self._resume = self._resume, None
        if resume is not None and size >= resume.offset:
            self._check, self._fresh = resume, False
            self._source("open", "is read on from where it was read to")
            return resume.offset - resume.fingerprint_bytes
        if resume is not None:
            self._other_file()
        if resume is not None or self._anew:
            self._source("open", "is read from its beginning: it is a new file")
            return 0
        self._backlog = Backlog(size, self._patterns)
        return self._backlog.begin

    def _end_backlog(self, end: int) -> None:
        backlog, self._backlog = self._backlog, None
        if backlog is None:
            return
        start = backlog.start()
        self._source("open", start.words)
        if start.skipped_bytes:
            sentence = sentence_of("shell_log_beginning", count=start.skipped_bytes, path=self._path)
            self._gap(start.skipped_bytes, "backlog", sentence)
        self._tell_backlog(backlog, start.offset, end)

    def _tell_backlog(self, backlog: Backlog, at: int, end: int) -> None:
        """Tell what was there before it was looked at: first that it is, as nobody knows when it was written.

        A file that was not there when it was first looked for is new, and so are its lines.
        """
        data, begin = bytes(backlog.data), backlog.begin
        if len(data) > at and not self._awaited:
            self._tell_bytes(b"", begin + at, b"", end)
        self._tell_pieces(data, at, begin, end)

    # What was read.

    def _take(self, data: bytes, end: int) -> None:
        self._offset += len(data)
        self._last = (self._last + data[-wire.FINGERPRINT_BYTES :])[-wire.FINGERPRINT_BYTES :]
        if self._backlog is not None:
            self._backlog.data += data
            return
        check, self._check = self._check, None
        if check is not None:
            known = data[: check.fingerprint_bytes]
            if zlib.crc32(known) != check.fingerprint_crc:
                self._other_file()
                self._again()
                return
            data = data[check.fingerprint_bytes :]
        if self._left_from is not None:
            data = self._left_out(self._left_from, data)
        self._emit(data, end)

    def _left_out(self, since: int, data: bytes) -> bytes:
        """Tell how much was passed over; return the last line under way, and what follows."""
        self._left_from = None
        place = self._offset - len(data)
        cut = data.rfind(b"\n") + 1 or len(data)
        count = place + cut - since
        sentence = sentence_of("shell_log_skipped", count=in_words(count), path=self._path)
        self._gap(count, "skipped", sentence)
        self._fresh = True
        return data[cut:]

    def _emit(self, data: bytes, end: int) -> None:
        if len(data) > TOLD_BYTES:
            self._tell_pieces(data, 0, self._offset - len(data), end)
        elif data or self._fresh:
            self._tell_bytes(data, self._offset, self._last, end)

    def _tell_pieces(self, data: bytes, at: int, begin: int, end: int) -> None:
        """Tell data, whose offset is ``begin``, from a place in it on: a piece now, the others later."""
        for place in range(at, max(len(data), at + 1), TOLD_BYTES):
            stop = min(place + TOLD_BYTES, len(data))
            before = data[max(0, stop - wire.FINGERPRINT_BYTES) : stop]
            self._untold.append(_Untold(data[place:stop], begin + stop, before, end))
        self._tell_bytes(*self._untold.popleft())

    def _tell_bytes(self, data: bytes, offset: int, before: bytes, end: int) -> None:
        at, fresh = self._clock.now(), self._fresh
        last = before[-wire.FINGERPRINT_BYTES :]
        self._fresh = False
        self._tell(
            LogBytes(
                mono_s=at.mono_s,
                wall_s=at.wall_s,
                path=self._path,
                device=0,
                inode=int(self._inode or 0),
                offset=offset,
                fingerprint_bytes=len(last),
                fingerprint_crc=zlib.crc32(last),
                behind_bytes=max(0, end - offset),
                data=data,
                fresh=fresh,
            )
        )

    # Rotation and truncation.

    def _look_at_name(self, named: str) -> None:
        """Leave a file that was rotated away once it has been read to its end."""
        self._quiet = self._quiet + 1 if named not in ("-", self._inode) else 0
        if self._quiet >= _QUIET_LOOKS:
            self._again()

    def _truncated(self) -> None:
        self._gap(None, "truncated", sentence_of("shell_log_truncated", path=self._path))
        self._again()

    def _other_file(self) -> None:
        self._gap(None, "replaced", sentence_of("shell_log_replaced", path=self._path))

    def _again(self) -> None:
        """Open the name anew and read from the beginning."""
        self._forget()
        self._anew = True

    # Telling.

    def _shut(self, state: State, row: str) -> None:
        self._tell_source(state, sentence_of(row, path=self._path))

    def _source(self, state: State, words: str) -> None:
        self._tell_source(state, f"{self._path} {words}")

    def _tell_source(self, state: State, sentence: str) -> None:
        if (state, sentence) == self._said:
            return
        self._said = (state, sentence)
        at = self._clock.now()
        self._tell(
            LogSource(
                mono_s=at.mono_s,
                wall_s=at.wall_s,
                client_s=at.client_s,
                path=self._path,
                state=state,
                sentence=sentence,
            )
        )

    def _gap(self, lost_bytes: int | None, why: Why, sentence: str) -> None:
        at = self._clock.now()
        self._tell(
            Gap(
                mono_s=at.mono_s,
                wall_s=at.wall_s,
                client_s=at.client_s,
                path=self._path,
                lost_bytes=lost_bytes,
                why=why,
                sentence=sentence,
            )
        )

    def _notice(self, sentence: str) -> None:
        at = self._clock.now()
        self._tell(
            Notice(
                mono_s=at.mono_s,
                wall_s=at.wall_s,
                client_s=at.client_s,
                level="warning",
                about="log",
                sentence=sentence,
            )
        )


def _compiled(first_lines: list[str]) -> list[re.Pattern[bytes]]:
    try:
        return compiled(first_lines)
    except re.error:
        return []  # a start's first line cannot be told then: all that was fetched is read
