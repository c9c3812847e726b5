"""No line takes long to read, whatever stands in it."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tui.agent import wire
from tui.engines.base import Engine
from tui.engines.faults import COMMON_FAULTS
from tui.engines.generic import GENERIC
from tui.engines.marks import FaultKind
from tui.engines.reader import LineReader
from tui.engines.registry import ENGINES
from tui.engines.rules import FaultRule
from tui.engines.sglang import SGLANG

EVERY = (*ENGINES, GENERIC)
LIMIT = wire.LINE_LIMIT_BYTES
LITERAL = re.compile(r"(?:[\w :=,'/<>#%@!&-]|\\[^\w]){3,}")
FILLS = (
    "a", "A", " ", "1", "[", "(", '"', "/", ".", "-", ":", ",", "1 ", "a ", "a.", ", ", "%", "1%|", "|", "{",
    "=", "Error ", "a: ", "token usage: 1, ", "1:1:1 [1] ", "\\", "'",
)  # fmt: skip


def hostile(engine: Engine) -> Iterator[str]:
    """Lines of 64 KiB that begin as a row's pattern does, or hold nothing but a text of it."""
    rows = [*engine.rules, *engine.faults, *COMMON_FAULTS]
    for number, row in enumerate(rows):
        texts = [re.sub(r"\\(.)", r"\1", text) for text in LITERAL.findall(row.pattern.pattern)]
        for text in texts[:1]:
            for step in range(3):
                yield (text + FILLS[(number * 3 + step) % len(FILLS)] * LIMIT)[:LIMIT]
        if texts:
            both = "".join(texts) + FILLS[number % len(FILLS)]
            yield (both * LIMIT)[:LIMIT]
    for fill in FILLS:
        yield (fill * LIMIT)[:LIMIT]


@pytest.mark.parametrize("engine", EVERY, ids=lambda engine: engine.name)
def test_a_hostile_line_of_64_kib_takes_no_long_time(engine: Engine) -> None:
    reader = LineReader(engine)
    for line in hostile(engine):
        spent_s = min(spent(reader, line) for _ in range(2))
        assert spent_s < 0.25, line[:100]


def spent(reader: LineReader, line: str) -> float:
    """CPU seconds that a line takes."""
    begin_s = time.process_time()
    reader.read(line)
    return time.process_time() - begin_s


@pytest.mark.parametrize("place", [0, 900, 5000, 60_000])
def test_a_failure_far_into_a_long_line_is_found(place: int) -> None:
    pattern = re.compile(r"GPU \d+ fell off")
    rule = FaultRule(FaultKind.DRIVER, pattern, ("fell off",), "It did.", "Mend it.", versions="1.0")
    line = "[2026-11-29 13:48:34 TP0] " + "x " * (place // 2) + "GPU 3 fell off" + " y" * 2500
    (mark,) = LineReader(replace(SGLANG, faults=(rule,))).read(line).marks
    assert mark.fault is not None
    assert mark.fault.kind is FaultKind.DRIVER
