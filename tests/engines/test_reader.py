"""The reader says of every line what a slow and plain reading of the tables says of it."""

import json
import re
from pathlib import Path

import pytest

from tui.engines.base import Engine
from tui.engines.faults import COMMON_FAULTS
from tui.engines.generic import GENERIC
from tui.engines.header import BREAK, BREAK_WITHIN, LEVEL, OTHER_LOGGER, ranks_in
from tui.engines.lines import Bar
from tui.engines.marks import NOBODY, FaultMark, Mark, MarkKind, Speaker
from tui.engines.outer import without_outer
from tui.engines.reader import Heard, LineReader
from tui.engines.registry import ENGINES
from tui.engines.tracebacks import Tracebacks, Traced, quoted
from tui.engines.values import MarkMaker, fault_mark
from tui.transport.clean import LineSplitter

SHARED = Path(__file__).parents[3] / "shared"
EVERY = (*ENGINES, GENERIC)
QUOTES = "\"'`\u201c\u2018\u00ab"
ODD = re.compile("[│┃║%{\"'`\u201c\u2018\u00ab]")
CALM = ("INFO", "DEBUG", "TRACE", "I", "D")


class SlowReader:
    """Reads a line by trying every row of the table in its order, without index, gate or memory."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.form = engine.header
        self.tracebacks = Tracebacks(engine.frames)

    def read(self, line: str) -> Heard:
        found = None if line[29:31] == "Z " else self.plain(line)
        time, level, layers = None, "", 0
        inner = without_outer(line) if found is None else None
        while found is None and inner is not None and layers < 4:
            line, time, level, layers = inner.text, inner.time or time, inner.level or level, layers + 1
            if "\n" in line:
                heard = [self.unwrapped(part, time, level) for part in line.split("\n")]
                return Heard(tuple(m for each in heard for m in each.marks), heard[0].time, heard[0].speaker)
            found, inner = self.plain(line), without_outer(line)
        return self.unwrapped(line, time, level) if found is None else self.recorded(line, found)

    def plain(self, line: str) -> re.Match[str] | None:
        """Return a record with nothing odd before it."""
        found = self.form.record.search(line)
        return None if found is None or ODD.search(line[: found.start()]) else found

    def unwrapped(self, line: str, time: str | None, level: str) -> Heard:
        found = self.form.record.search(line)
        while found is not None and found.start() and line[found.start() - 1] in QUOTES:
            found = self.form.record.search(line, found.end())
        return self.bare(line, time, level) if found is None else self.recorded(line, found)

    def recorded(self, line: str, found: re.Match[str]) -> Heard:
        groups = found.groupdict()
        level = groups.get("level") or ""
        speaker = self.form.speaker(line[: found.start()], found)
        message = line[found.end() :]
        uvicorn = LEVEL.match(message)
        if uvicorn is not None:
            level, message = uvicorn["level"], message[uvicorn.end() :]
        marks = self.bars(line[: found.start()], NOBODY)[0]
        rule = self.rule(message, speaker)
        if rule is not None:
            marks += (rule,)
        elif level not in CALM or "%" in message or self.engine.access_hint in message:
            marks += self.unruled(message, speaker, level in CALM, raw=False)
        return Heard(marks, groups.get("time"), speaker)

    def bare(self, line: str, time: str | None, level: str) -> Heard:
        raw, speaker, end = not level, NOBODY, 0
        prefix = self.form.process and self.form.process.match(line)
        while self.form.process is not None and prefix:
            end = prefix.end()
            prefix = self.form.process.match(line, end)
        if end:
            speaker = self.form.speaker(line[:end], None)
        line = line[end:]
        if not line.strip():
            return Heard((), time, speaker)
        drawn, end = self.bars(line, speaker)
        rest = line[end:].lstrip() if end else ""
        if rest:
            behind = self.bare(rest, time, level)
            speaker = speaker if behind.speaker == NOBODY else behind.speaker
            return Heard((*drawn, *behind.marks), time, speaker)
        if drawn:
            return Heard(drawn, time, speaker)
        uvicorn = LEVEL.match(line)
        if uvicorn is not None:
            level, line = uvicorn["level"], line[uvicorn.end() :]
        rule = self.rule(line, speaker)
        if rule is not None:
            return Heard((rule,), time, speaker)
        if OTHER_LOGGER.match(line):
            for pause in BREAK.finditer(line, 0, BREAK_WITHIN):
                ranks = ranks_in(line[: pause.end()])
                other = Speaker(rank=ranks, depth=2) if ranks else NOBODY
                rule = self.rule(line[pause.end() :], other)
                if rule is not None:
                    return Heard((rule,), time, other)
        return Heard(self.unruled(line, speaker, level in CALM, raw=raw), time, speaker)

    def unruled(self, message: str, speaker: Speaker, calm: bool, *, raw: bool) -> tuple[Mark, ...]:
        marks, end = self.bars(message, speaker)
        message = message[end:]
        if end and not message.strip():
            return marks
        if self.engine.access_hint in message and self.engine.access.search(message):
            return (*marks, Mark(MarkKind.ACCESS, speaker))
        traced = self.tracebacks.read(message, speaker, raw=raw)
        marks += () if traced.mark is None else (traced.mark,)
        if calm or (traced.frame and not traced.quoted):
            return marks
        fault = self.fault(message, traced)
        return (
            marks if fault is None else (*marks, Mark(MarkKind.FAULT, traced.speaker or speaker, fault=fault))
        )

    def fault(self, message: str, traced: Traced) -> FaultMark | None:
        for rule in (*self.engine.faults, *COMMON_FAULTS):
            found = rule.pattern.search(message)
            if found is not None:
                fault = fault_mark(rule, found, terminal=rule.terminal or traced.uncaught)
                return quoted(fault) if traced.quoted else fault
        return self.tracebacks.unknown(traced.uncaught) if traced.exception else None

    def bars(self, text: str, speaker: Speaker) -> tuple[tuple[Mark, ...], int]:
        drawings = list(DRAWING.finditer(text))
        if not drawings:
            return (), 0
        last = drawings[-1]
        bar = Bar(last["text"].strip(), last["done"], last["total"], last.end())
        for rule in self.engine.rules:
            found = rule.pattern.match(bar.text) if rule.bar else None
            if found is not None:
                return (MarkMaker(rule).mark(found, speaker, bar),), bar.end
        return (), bar.end

    def rule(self, message: str, speaker: Speaker) -> Mark | None:
        for rule in self.engine.rules:
            found = None if rule.bar else rule.pattern.match(message)
            if found is not None:
                return MarkMaker(rule).mark(found, speaker)
        return None


# A bar's name is no bar before it, nor what that one counts.
DRAWING = re.compile(
    r"(?P<text>[^|%]*?):?\s{0,8}\d{1,3}%(?:\|[^|]*\|| Completed \|)\s*"
    r"(?P<done>[\d.]+[kMGT]?)/(?P<total>[\d.]+[kMGT]?) \[[^\]]{0,120}\]"
)


def names() -> list[str]:
    found = SHARED / "corpus" / "expect.json"
    recordings = sorted(str(path.relative_to(SHARED)) for path in SHARED.glob("recordings/*/server.log"))
    return [f"corpus/{name}" for name in json.loads(found.read_text())] + recordings if found.exists() else []


def engine_of(name: str) -> Engine:
    """The engine that a log's path names."""
    return next((engine for engine in ENGINES if engine.name in name), GENERIC)


@pytest.mark.parametrize("name", names() or [pytest.param("", marks=pytest.mark.skip("needs the corpus"))])
def test_every_line_of_real_logs_says_what_a_slow_reading_says(name: str) -> None:
    lines = LineSplitter().feed((SHARED / name).read_bytes() + b"\n").lines
    engine = engine_of(name)
    reader, slow = LineReader(engine), SlowReader(engine)
    for line in list(dict.fromkeys(lines))[:1500]:
        assert reader.read(line) == slow.read(line)
