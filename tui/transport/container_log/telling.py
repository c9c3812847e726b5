"""From a container's lines to the events that an agent's reading of a file makes: cleaned, masked, dated."""

from collections.abc import Iterator
from itertools import groupby
from typing import Literal

from tui.agent.mask import mask_text
from tui.events import Gap, Log, LogSource, Notice
from tui.transport.clean import TAIL_LIMIT, LineSplitter, clean
from tui.transport.container_log.stamped import Entry
from tui.transport.translate import HostClock

# Lines of so short a time share an event, and with it its time.
_TOGETHER_NS = 100_000_000


class Telling:
    """Makes the events of one server's log. ``path`` is what is said for its name: a command, not a file.

    An event is dated by the newest of its lines, on the clock of the host where the container is; its
    ``offset`` counts the bytes of this watch.
    """

    def __init__(self, path: str, clock: HostClock) -> None:
        self.path = path
        self.lines = 0
        self._clock = clock
        self._splitter = LineSplitter()
        self._tail = ""
        self._bytes = 0
        self._latest_s = 0.0

    def begun(self) -> Log:
        """Say that a log begins here; what follows is known to be dated rightly, however old it is."""
        return self._log(b"", self._clock.now()[0], fresh=True)

    def told(self, entries: list[Entry], unfinished: bytes) -> Iterator[Log]:
        """Iterate over the events of new lines and of the line that is being written."""
        tail = _tail(unfinished)
        for _, group in groupby(entries, lambda entry: entry.stamp_ns // _TOGETHER_NS):
            together = list(group)
            self._tail = ""
            yield self._log(b"".join(entry.text for entry in together), self._mono_s(together[-1].stamp_ns))
            self.lines += len(together)
        if tail != self._tail:
            self._tail = tail
            yield self._log(b"", self._clock.now()[0])

    def source(self, state: Literal["open", "unreadable", "not_a_file"], sentence: str) -> LogSource:
        """Say where the log is read from, or why it is not."""
        mono_s, wall_s, client_s = self._clock.now()
        return LogSource(
            mono_s=mono_s, wall_s=wall_s, client_s=client_s, path=self.path, state=state, sentence=sentence
        )

    def gap(self, why: Literal["backlog", "unknown"], sentence: str) -> Gap:
        """Say that lines are missing, nobody knows how many."""
        mono_s, wall_s, client_s = self._clock.now()
        return Gap(
            mono_s=mono_s,
            wall_s=wall_s,
            client_s=client_s,
            path=self.path,
            lost_bytes=None,
            why=why,
            sentence=sentence,
        )

    def warning(self, sentence: str) -> Notice:
        """Say something about a log that was read until now."""
        mono_s, wall_s, client_s = self._clock.now()
        return Notice(
            mono_s=mono_s, wall_s=wall_s, client_s=client_s, level="warning", about="log", sentence=sentence
        )

    def _log(self, data: bytes, mono_s: float, *, fresh: bool = False) -> Log:
        now_s, now_wall_s, client_s = self._clock.now()
        split = self._splitter.feed(data, fresh)
        self._bytes += len(data)
        return Log(
            mono_s=mono_s,
            wall_s=now_wall_s - now_s + mono_s,
            client_s=client_s,
            lines=split.lines,
            tail=self._tail or split.tail,
            returns=split.returns,
            path=self.path,
            device=0,
            inode=0,
            offset=self._bytes,
        )

    def _mono_s(self, stamp_ns: int) -> float:
        """Return a stamp on the host's monotonic clock; it never goes back, nor beyond now."""
        now_s, now_wall_s, _ = self._clock.now()
        told_s = stamp_ns / 1e9 - now_wall_s + now_s
        self._latest_s = min(max(told_s, self._latest_s), now_s)
        return self._latest_s


def _tail(unfinished: bytes) -> str:
    """Return the newest drawing of a bar, or the beginning of any other unfinished line."""
    drawn = unfinished.rstrip(b"\r").rpartition(b"\r")[2]
    return mask_text(clean(drawn[: 4 * TAIL_LIMIT].decode("utf-8", "replace")[:TAIL_LIMIT]))
