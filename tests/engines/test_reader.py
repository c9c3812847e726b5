"""The reader says of every line what a slow and plain reading of the tables says of it."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

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
from tui.transport.clean import LineSplitter, clean

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
                fault = fault_mark(rule, found, uncaught=traced.uncaught)
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


BEFORE = st.sampled_from(
    ["", "sglang-1  | ", "│ ", "2026-11-29T13:48:34.123456789Z ", "[pod/a/b] ", "text ", "'", "{",
     "100%|█| 1/1 [0<0]", "Loading shards:  5% Completed | 1/9 [0<0]", "  ", "(EngineCore pid=7) ",
     "(Worker_TP1 pid=9) ", "[rank0]: ", "\t"]
)  # fmt: skip
HEADS = st.sampled_from(
    ["", "[2026-11-29 13:48:34] ", "[2026-11-29 13:48:34 TP0] ", "[2026-11-29 13:48:34 DP1 TP3] ",
     "INFO 11-29 17:20:17 [core.py:1] ", "ERROR 11-29 17:20:17 [core.py:1] ", "0.00.123.456 I ",
     "0.00.123.456 E ",
     "2026-11-29 13:48:34,123 - x - INFO - ", "INFO:     ", "ERROR:    ", "2026-11-29T13:48:34.1Z  INFO x: "]
)  # fmt: skip
PLAIN_MESSAGES = st.sampled_from(
    ["", " ", "Load weight begin. avail mem=1.5 GB", "Application startup complete.",
     "GPU KV cache size: 5 tokens",
     "Traceback (most recent call last):", '  File "/x.py", line 5, in load_model',
     "    raise ValueError('x')",
     "ValueError: x", "KeyboardInterrupt", "CUDA out of memory", "[Errno 98] x", "Exit code: -9",
     "100% of it",
     '127.0.0.1:5 - "GET /health HTTP/1.1" 200 OK', "Decode batch. #running-req: 1, token usage: 0.1, "
     "gen throughput (token/s): 9.2, #queue-req: 0", "Capturing (bs=4): 25%|█ | 1/4 [x]",
     "Shutting down", " | "]
)  # fmt: skip


def messages(engine: Engine) -> st.SearchStrategy[str]:
    """Messages that rows of a table match, and others."""
    printed = st.characters(min_codepoint=32, max_codepoint=126)
    patterns = [rule.pattern for rule in engine.rules if rule.pattern.pattern.isascii()]
    return st.one_of(
        PLAIN_MESSAGES,
        st.sampled_from(patterns).flatmap(lambda row: st.from_regex(row, alphabet=printed)).map(clean),
    )


@pytest.mark.parametrize("engine", EVERY, ids=lambda engine: engine.name)
def test_made_lines_say_what_a_slow_reading_says(engine: Engine) -> None:
    line = st.builds("{}{}{}{}".format, BEFORE, BEFORE, HEADS, messages(engine))

    @settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(st.lists(line, max_size=12))
    def same(lines: list[str]) -> None:
        reader, slow = LineReader(engine), SlowReader(engine)
        # What stood before the first record is for test_reader_joint.py.
        reader._heads._lead = ""  # pyright: ignore[reportPrivateUsage] - nothing else stops it from learning
        for text in lines:
            assert reader.read(text) == slow.read(text)

    same()
