"""One log file: which engine wrote it, and the starts in it, of which the last one counts."""

import re
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tui.engines.base import Engine
from tui.engines.clock import LogClock
from tui.engines.generic import GENERIC
from tui.engines.marks import Mark, MarkKind
from tui.engines.phase import Phase
from tui.engines.reader import SILENCE, Heard, LineReader
from tui.engines.registry import EngineGuess
from tui.watch.log_start import Start
from tui.watch.log_times import LineTimes, Moment
from tui.watch.phases import Outcome
from tui.watch.root_cause import Cause

# Until the engine is known lines wait to be read by its rules; what overflows no engine's rules will see.
_WAITING_LINES = 20_000
_WAITING_CHARACTERS = 4 << 20
# An engine that has not shown by then is not looked for any longer: the search costs more than the reading.
_LOOKED_AT_CHARACTERS = 32 << 20
EARLIER = 1000
"""So many earlier starts are kept; a server that was started in a loop for a week has more."""
# Processes and nodes of one load print their first lines within that time of each other.
_SAME_START_S = 60.0
_LED_IN_LINES = 64
_NODE = re.compile(r"\bnode_rank['\"]?\s*[=:]\s*(\d+)")


class _Told(NamedTuple):
    """A line that says something."""

    number: int
    line: str
    heard: Heard
    played_s: float | None


@dataclass(frozen=True, slots=True)
class EarlierStart:
    """How an earlier start in the same log ended, and the line where it began."""

    outcome: Outcome
    phase: Phase
    line_number: int
    cause: Cause | None


class _Waiting(NamedTuple):
    """A line that may have to be read again by the rules of another engine. ``played_s`` as in ``hear``."""

    number: int
    line: str
    played_s: float | None


class Reading:
    """Reads the lines of one file. ``start`` is the last start in it, ``earlier`` those before.

    ``engine`` is said by hand, or found out while reading: until it is certain lines are read by the rules of
    the likeliest, and again from the first one by those of a likelier. ``before`` is the start before this
    one, None where there is none. ``played``: times are those of a clock on which the lines are played.
    """

    def __init__(self, engine: Engine | None = None, source: int = 0, *, played: bool = False) -> None:
        self.engine = engine or GENERIC
        self.earlier: deque[EarlierStart] = deque(maxlen=EARLIER)
        self.earlier_count = 0
        self.before: Start | None = None
        self._played = played
        self._source = source
        self._guess = EngineGuess() if engine is None else None
        self._waiting: deque[_Waiting] = deque()
        self._characters = 0
        self._looked_at = 0
        self._begin(self.engine)

    def read(self, lines: Iterable[tuple[int, str]]) -> None:
        """Read lines with their numbers, to the end."""
        for number, line in lines:
            self.hear(line, number)
        self.start.finish()

    def hear(self, line: str, number: int, played_s: float | None = None) -> Heard:
        """Read one line and return what it says. ``played_s`` is when it was played, on that clock."""
        guess = self._guess
        if guess is None:
            return self._hear(line, number, played_s)
        self._waiting.append(_Waiting(number, line, played_s))
        self._characters += len(line)
        self._looked_at += len(line)
        certain = guess.read(line) is not None or self._looked_at > _LOOKED_AT_CHARACTERS
        if guess.best is self.engine:
            heard = self._hear(line, number, played_s)
        else:
            heard = self._hear_anew(guess.best)
        if certain or (self._full and guess.best is not GENERIC):
            self._guess = None
            self._waiting.clear()
        self._overflow()
        return heard

    def _hear_anew(self, engine: Engine) -> Heard:
        self._begin(engine, self._waiting[0].number)
        heard = SILENCE
        for each in self._waiting:
            heard = self._hear(each.line, each.number, each.played_s)
        return heard

    @property
    def _full(self) -> bool:
        return len(self._waiting) > _WAITING_LINES or self._characters > _WAITING_CHARACTERS

    def _overflow(self) -> None:
        while self._waiting and self._full:
            self._characters -= len(self._waiting.popleft().line)

    def _begin(self, engine: Engine, first_line: int = 1) -> None:
        self.engine = engine
        self.earlier.clear()
        self.earlier_count = 0
        self.before = None
        self._reader = LineReader(engine)
        self._begin_start(first_line)

    def _begin_start(self, first_line: int) -> None:
        self.start = Start(self.engine, first_line, absolute=self._played)
        self._times = LineTimes()
        # What came after its end: the next start's first lines may be among them.
        self._after: deque[_Told] = deque(maxlen=_LED_IN_LINES)
        self._nodes: set[str] = set()
        self._start_s: float | None = None

    # Lines.

    def _hear(self, line: str, number: int, played_s: float | None) -> Heard:
        heard = self._reader.read(line)
        if heard is SILENCE:
            return heard
        for mark in heard.marks:
            if mark.kind is MarkKind.START:
                self._take_start(mark, number, heard)
                break
        self._take(number, line, heard, played_s)
        if self.start.phases.outcome in ("failed", "stopped"):
            self._after.append(_Told(number, line, heard, played_s))
        return heard

    def _take(self, number: int, line: str, heard: Heard, played_s: float | None) -> None:
        moment = self._times.read(heard, line)
        if played_s is not None and moment.seconds is not None:
            moment = Moment(played_s, moment.told, moment.whole_s)
        self.start.take(heard, line, number, moment, self._source)

    def _take_start(self, mark: Mark, number: int, heard: Heard) -> None:
        node = _node(mark)
        if not self._same_start(node, heard):
            led_in = _led_in(self._after, heard)
            self._keep_earlier()
            self._begin_start(led_in[0].number if led_in else number)
            for each in led_in:
                self._take(*each)
        if node is not None:
            self._nodes.add(node)
        self._start_s = self._times.clock.read(heard.time)

    def _same_start(self, node: str | None, heard: Heard) -> bool:
        """Whether a first line belongs to the start under way: printed by another process or node of it."""
        start = self.start
        if start.phases.outcome != "unfinished":
            return False
        if node is not None and self._nodes and node not in self._nodes:
            return True
        if start.phases.front not in (None, Phase.LAUNCH):
            return False
        if node is not None and node in self._nodes and len(self._nodes) > 1:
            return False
        now_s = self._times.clock.read(heard.time)
        return now_s is None or self._start_s is None or now_s - self._start_s < _SAME_START_S

    def _keep_earlier(self) -> None:
        phases = self.start.phases
        self.before = self.start
        self.earlier_count += 1
        self.earlier.append(
            EarlierStart(phases.outcome, self.start.phase, self.start.first_line, phases.cause)
        )


def _node(mark: Mark) -> str | None:
    """Return the node that a start's arguments name, None where they name none."""
    found = _NODE.search(mark.arguments or "")
    return found[1] if found is not None else None


def _led_in(after: Sequence[_Told], start: Heard) -> list[_Told]:
    """Return those lines behind an ended start that the next one printed before its first known line.

    They are dated shortly before that line, and say nothing that only a server under way says.
    """
    start_s = LogClock().read(start.time)
    found: list[_Told] = []
    dated = 0
    for each in reversed(after):
        heard = each.heard
        at_s = LogClock().read(heard.time)
        if start_s is None or (at_s is not None and not 0 <= start_s - at_s < _SAME_START_S):
            break
        if heard.speaker.rank is not None or not all(map(_leads_in, heard.marks)):
            break
        found.append(each)
        dated = len(found) if at_s is not None else dated
    return found[:dated][::-1]


def _leads_in(mark: Mark) -> bool:
    return mark.kind is MarkKind.FACT or (mark.kind is MarkKind.WITHIN and mark.phase is Phase.LAUNCH)
