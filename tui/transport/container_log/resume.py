"""Which lines are new when a log is asked for again by time, and whether some are missing in between.

A runtime knows no position but the moment, and rounds it (kubectl to seconds) or leaves that very moment out
(Podman). So a little more is asked for than is missing, and what came before is known again: by stamp and
text, counted, since lines of one moment may be equal. Two streams are written down in no strict order, so
the same holds for a short while before the newest stamp.
"""

from collections import Counter, deque

from tui.transport.container_log.stamped import Entry

WINDOW_NS = 500_000_000
# So many lines within the window: beyond 200,000 a second only the newest are known again.
_KNOWN_LINES = 100_000

Key = tuple[int, int]


class Seen:
    """What was told of one log. ``newest_ns`` is the newest stamp, None before the first line.

    ``from_ns``: lines before it belong to an earlier start.
    """

    def __init__(self, from_ns: int) -> None:
        self.newest_ns: int | None = None
        self._from_ns = from_ns
        self._floor_ns = from_ns
        self._recent: deque[Key] = deque()
        self._again: Counter[Key] = Counter()
        self._went_on = False
        self._met = True

    @property
    def since_ns(self) -> int:
        """From when on the log is to be asked for."""
        return self._floor_ns

    def begin(self) -> None:
        """The log is asked for from ``since_ns`` on: what was told since then will come again."""
        self._again = Counter(self._recent)
        self._met = not self._recent
        self._went_on = False

    def is_new(self, entry: Entry) -> bool:
        """Say whether a line was not told before, and note it.

        Once a new one came all others are, whatever their stamps: a clock may have been set back.
        """
        if not self._went_on and entry.stamp_ns < self._floor_ns:
            return False
        key = (entry.stamp_ns, hash(entry.text))
        if self._again[key] > 0:
            self._again[key] -= 1
            self._met = True
            return False
        self._went_on = True
        self._note(key)
        return True

    def misses(self) -> bool:
        """Say, once, whether a new line came first where a known one should: others may lie in between."""
        missed, self._met = not self._met, True
        return missed

    def _note(self, key: Key) -> None:
        stamp_ns = key[0]
        if self.newest_ns is None or stamp_ns > self.newest_ns:
            self.newest_ns = stamp_ns
        elif stamp_ns < self.newest_ns - WINDOW_NS:
            self._recent.clear()
            self.newest_ns = stamp_ns
        self._recent.append(key)
        self._floor_ns = max(self._from_ns, self.newest_ns - WINDOW_NS)
        while self._recent and self._recent[0][0] < self._floor_ns:
            self._recent.popleft()
        if len(self._recent) > _KNOWN_LINES:
            self._floor_ns = self._recent.popleft()[0] + 1
