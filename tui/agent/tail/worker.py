"""The log worker: follows one log file byte by byte, through rotation, truncation and replacement.

State is device + inode + offset + fingerprint (log_file.py). Besides reading the open file, its name is
looked at once a second: where it shows another file, the open one is drained first, then whatever rotation
put in between, then the new one. Only what is really lost is told as a gap.
"""

from __future__ import annotations

import os
import re
import time

from tui.agent import wire
from tui.agent.tail import place as log_place
from tui.agent.tail import siblings as log_siblings
from tui.agent.tail import start as log_start
from tui.agent.tail.file import LogFile, Position, position_from
from tui.agent.tail.report import Report, in_words

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tui.agent.tail.report import Send
    from tui.agent.worker import Channel

BUSY_POLL_S = 0.1
IDLE_POLL_S = 0.25
BUSY_S = 2.0
NAME_POLL_S = 1.0
# A writer that was told to reopen its log may finish its line in the old file first.
QUIET_S = 1.0
_GENERATIONS = 100


def serve(channel: Channel) -> None:
    """Follow what is asked for until the agent is gone."""
    tail = Tail(channel.send, alive=lambda: channel.rest(0.0))
    wait_s: float | None = None
    while True:
        request = channel.receive(wait_s)
        if request is not None and request["kind"] == wire.SKIP:
            tail.skip()
        elif request is not None:
            tail.follow(request)
        wait_s = tail.step()


class Tail:
    """Follows one log at a time; ``step`` does the next small piece of work.

    ``alive`` is called in the middle of long ones; ``clock`` gives monotonic seconds.
    """

    def __init__(
        self,
        send: Send,
        alive: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._report = Report(send)
        self._alive = alive
        self._clock = clock
        self._pid: int | None = None
        self._started_s: float | None = None
        self._patterns: list[re.Pattern[bytes]] = []
        self._resume: Position | None = None
        self._name = ""
        self._file: LogFile | None = None
        self._forget_file()

    def follow(self, request: dict[str, Any]) -> None:
        """Take up a follow request; one for the log that is being read anyway changes nothing there."""
        path: str | None = request.get("log_path")
        resume: dict[str, object] | None = request.get("resume")
        before = (self._pid, self._started_s)
        self._pid, self._started_s = request.get("pid"), request.get("started_s")
        if path == self._report.path and (before == (self._pid, self._started_s) or resume):
            return
        self._forget_file()
        self._report.begin(path)
        # A position in another file, written down before this request was made, is no position in this one.
        self._resume = position_from(resume) if resume and resume["path"] == path else None
        self._patterns = self._compiled(request.get("first_lines") or [])
        if path is None and self._pid is not None:
            words = "no log file is known for process %d: name one with --log" % self._pid
            self._report.source("none", words)

    def skip(self) -> None:
        """Leave out what is unread, in files that rotation put between too, and go on at the log's end."""
        path, file = self._report.path, self._file
        if path is None or file is None:
            return
        skipped = file.skip()
        self._look_at_name(path, file, self._clock())
        for _ in range(_GENERATIONS):
            if not self._newcomer or self._is_written_by_server(path, file):
                break
            descriptor = log_siblings.opened(log_siblings.successor(self._name, file.device, file.inode))
            if descriptor is None:
                break
            self._forget_file()
            self._file = file = LogFile(descriptor, 0)
            skipped += file.skip()
            self._look_at_name(path, file, self._clock())
        if skipped:
            sentence = "%s of %s are not read: skipped to its end, as asked"
            self._report.gap(skipped, "skipped", sentence % (in_words(skipped), path))
            self._report.data(file, b"", fresh=True)

    def step(self) -> float | None:
        """Do what is due; return the seconds until there may be more, None when nothing is followed."""
        path = self._report.path
        if path is None:
            return None
        try:
            return self._advance(path)
        except OSError as error:
            # A stale handle of NFS, a file system that went away: found again as after an outage.
            self._report.source("unreadable", "%s cannot be read: %s; trying again" % (path, error.strerror))
            self._resume = self._file.position() if self._file is not None else self._resume
            self._forget_file()
            return IDLE_POLL_S

    def _advance(self, path: str) -> float:
        file = self._file if self._file is not None else self._attach(path)
        if file is None:
            return IDLE_POLL_S
        now_s = self._clock()
        if now_s >= self._look_s or self._newcomer:
            self._look_at_name(path, file, now_s)
        data = file.read()
        if data is None:
            self._truncated(path, file)
            return 0.0
        if data:
            self._data_s = now_s
            self._report.data(file, data)
            return 0.0
        if self._newcomer and self._switch(path, file, now_s):
            return 0.0
        return BUSY_POLL_S if now_s - self._data_s < BUSY_S else IDLE_POLL_S

    # Beginning.

    def _attach(self, path: str) -> LogFile | None:
        """Open the log where it was read to, or at this start's beginning; say why when it cannot be."""
        if self._resume is not None and self._go_on(path, self._resume):
            return self._file
        place = log_place.open_log(path, self._pid)
        if place.state != "open":
            self._report.source(place.state, place.words)
            return None
        self._name = place.name
        self._file = LogFile(place.descriptor, 0)
        if self._resume is not None:
            self._tell_outage(path, self._file, self._resume)
            self._resume = None
            start = log_start.limited(place.descriptor)
        else:
            wall_s = _wall_s(self._started_s)
            start = log_start.find(place.descriptor, self._patterns, wall_s, self._alive)
        self._file.go_to(start.offset)
        self._report.source("open", "reading %s %s%s" % (path, start.words, _remark(place.words)))
        if start.skipped_bytes:
            sentence = "%s of %s are not read: it is too long" % (in_words(start.skipped_bytes), path)
            self._report.gap(start.skipped_bytes, "backlog", sentence)
        self._report.data(self._file, b"", fresh=True)
        return self._file

    def _go_on(self, path: str, position: Position) -> bool:
        """Go on exactly where reading stopped, in whatever file that text is now."""
        place = log_place.open_log(path, self._pid)
        self._name = place.name or os.path.expanduser(path)
        named = place.descriptor if place.state == "open" else None
        descriptor = log_siblings.same_text(self._name, named, position)
        if descriptor is None:
            return False
        self._resume = None
        self._file = LogFile(descriptor, position.offset)
        self._report.source("open", "reading %s on from where it stopped" % path)
        return True

    def _tell_outage(self, path: str, file: LogFile, position: Position) -> None:
        truncated = file.inode == position.inode and file.seen_size < position.offset
        why = "truncated" if truncated else "replaced"
        sentence = "%s was %s while nobody read it: what was written to it in between is not known"
        self._report.gap(None, why, sentence % (path, why))

    # Change.

    def _look_at_name(self, path: str, file: LogFile, now_s: float) -> None:
        self._look_s = now_s + NAME_POLL_S
        status = log_siblings.regular(self._name)
        self._newcomer = status is not None and not file.is_at(status)
        self._newcomer_bytes = status.st_size if status is not None else 0
        # Between the two steps of a rotation the name is gone for a moment.
        self._missed = self._missed + 1 if status is None else 0
        if self._missed == 2:
            self._report.source("open", "%s was renamed or deleted; reading on what is open" % path)

    def _is_written_by_server(self, path: str, file: LogFile) -> bool:
        outputs = ["/proc/%d/fd/%d" % (self._pid or 0, number) for number in (1, 2)]
        if not any(file.is_at(status) for status in map(log_siblings.regular, outputs) if status):
            return False
        words = "%s was renamed or deleted, and the server still writes to it: reading on there"
        self._report.source("open", words % path)
        return True

    def _switch(self, path: str, file: LogFile, now_s: float) -> bool:
        """Leave the open file, drained, for the one written after it, when there is no more to wait for."""
        if self._is_written_by_server(path, file):
            return False
        after = log_siblings.successor(self._name, file.device, file.inode)
        if after == self._name and not self._newcomer_bytes and now_s - self._data_s <= QUIET_S:
            return False
        descriptor = log_siblings.opened(after)
        if descriptor is None:
            self._report.source("open", "%s was replaced by a file that cannot be read" % path)
            return False
        if self._lost_bytes:
            self._tell_lost(path, self._lost_bytes)
        self._forget_file()
        self._file = LogFile(descriptor, 0)
        self._report.source("open", "reading %s from its beginning: it is a new file" % path, news=True)
        self._report.data(self._file, b"", fresh=True)
        return True

    def _truncated(self, path: str, file: LogFile) -> None:
        """Read on in the copy that copytruncate made; without one, what was unread is lost."""
        position, behind_bytes = file.position(), file.behind_bytes
        copy = log_siblings.copied(self._name, position, file.agreed_wall_s)
        if copy is not None:
            self._forget_file()
            self._file = LogFile(copy, position.offset)
            self._lost_bytes = max(0, behind_bytes - self._file.behind_bytes)
            return
        if behind_bytes:
            self._tell_lost(path, behind_bytes)
        file.go_to(0)
        self._report.source("open", "reading %s from its beginning: it was truncated" % path, news=True)
        self._report.data(file, b"", fresh=True)

    def _tell_lost(self, path: str, count: int) -> None:
        sentence = "%s of %s are lost: it was truncated before they could be read"
        self._report.gap(count, "truncated", sentence % (in_words(count), path))

    def _forget_file(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file = None
        self._look_s = 0.0
        self._data_s = self._clock()
        self._newcomer = False
        self._newcomer_bytes = 0
        self._missed = 0
        self._lost_bytes = 0

    def _compiled(self, first_lines: list[str]) -> list[re.Pattern[bytes]]:
        try:
            return log_start.compiled(first_lines)
        except re.error as error:
            self._report.warn("the log's first line cannot be looked for: %s in %s" % (error, first_lines))
            return []


def _wall_s(monotonic_s: float | None) -> float | None:
    return None if monotonic_s is None else time.time() - (time.monotonic() - monotonic_s)


def _remark(words: str) -> str:
    return "; " + words if words else ""
