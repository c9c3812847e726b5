"""Which engine wrote a log, by the log's own lines."""

from collections import Counter
from collections.abc import Iterable

from tui.engines.base import Engine
from tui.engines.generic import GENERIC
from tui.engines.marks import MarkKind
from tui.engines.reader import LineReader
from tui.engines.registry import ENGINES

_SURE = 3
_TOLD_BY_RULES = frozenset(
    (MarkKind.START, MarkKind.BEGINS, MarkKind.WITHIN, MarkKind.ENDS, MarkKind.READY, MarkKind.STEADY)
)


class Recogniser:
    """Counts the lines that only one engine writes. ``engine`` is None until one leads by enough."""

    def __init__(self) -> None:
        self._signs: Counter[str] = Counter()
        self.engine: Engine | None = None

    def read(self, line: str) -> Engine | None:
        """Take a line in and return the engine once it is certain."""
        for engine in ENGINES:
            if engine.sign.search(line):
                self._signs[engine.name] += 1
                if self._lead() >= _SURE:
                    self.engine = self._leader()
                break
        return self.engine

    def guess(self, lines: Iterable[str]) -> Engine:
        """Return the likeliest engine for a log that ends undecided, by these lines of it."""
        leader = self._leader()
        if leader is not None:
            return leader
        kept = list(lines)
        told = {engine.name: _told(engine, kept) for engine in ENGINES}
        best = max(ENGINES, key=lambda engine: told[engine.name])
        return best if told[best.name] > _told(GENERIC, kept) else GENERIC

    def _leader(self) -> Engine | None:
        name = max(self._signs, key=lambda name: self._signs[name], default=None)
        return next((engine for engine in ENGINES if engine.name == name), None)

    def _lead(self) -> int:
        counts = [count for _, count in self._signs.most_common(2)]
        return counts[0] - sum(counts[1:])


def _told(engine: Engine, lines: list[str]) -> int:
    reader = LineReader(engine)
    return sum(mark.kind in _TOLD_BY_RULES for line in lines for mark in reader.read(line).marks)
