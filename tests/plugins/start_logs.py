"""Start-up logs of real servers, read as a watch reads them: a corpus beside the checkout, short ones."""

import json
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypedDict

from tui.engines.base import Engine
from tui.engines.marks import MarkKind
from tui.engines.phase import Phase
from tui.engines.reader import LineReader
from tui.engines.registry import engine_named
from tui.explain.numbered import Numbered
from tui.watch.phases import LogPhases

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
KEPT = Path(__file__).parents[1] / "fixtures" / "logs"
_ENGINES = {"llama.cpp": "llamacpp", "tensorrt-llm": "trtllm", "nccl": "sglang"}
_OTHERS = ("lmdeploy", "ollama")


class Expected(TypedDict):
    """What a careful reader concludes from a log; any of several outcomes and phases is right."""

    engine: str
    outcome: list[str]
    phase: list[str]


class Stand(NamedTuple):
    """What a log says at some point of its last start, which is the ``start``-th in it."""

    start: int
    outcome: str
    phase: str
    kind: str | None
    line: int | None


class ReadLog:
    """A log being read: one ``LogPhases`` a start."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.phases = LogPhases(engine)
        self.start = 0
        self._reader = LineReader(engine)

    def read(self, number: int, line: str) -> None:
        """Take a line in; the first line of another start begins anew."""
        heard = self._reader.read(line)
        begun = self.phases.front not in (None, Phase.LAUNCH) or self.phases.outcome != "unfinished"
        if begun and any(mark.kind is MarkKind.START for mark in heard.marks):
            self.phases = LogPhases(self.engine)
            self.start += 1
        self.phases.take(heard, line, number, None)

    @property
    def stand(self) -> Stand:
        """Where it stands now."""
        phases = self.phases
        cause = phases.cause
        return Stand(
            self.start,
            phases.outcome,
            (phases.phase or Phase.LAUNCH).value,
            None if cause is None else cause.kind.value,
            None if cause is None else cause.quote.number,
        )


def engine_of(expected: Expected) -> Engine:
    """Return the engine whose rules a log is read by; GENERIC's where tminus has none of its own."""
    name = expected["engine"].split(" ")[0]
    engine = engine_named("generic" if name in _OTHERS else _ENGINES.get(name, name))
    assert engine is not None, f"no engine {name}"
    return engine


@cache
def corpus() -> dict[str, Expected]:
    """Return what is expected of each log of the corpus, {} where it is not at hand."""
    path = CORPUS / "expect.json"
    read: dict[str, Expected] = json.loads(path.read_text()) if path.exists() else {}
    return read


@cache
def kept() -> dict[str, Expected]:
    """Return what is expected of each log kept beside the tests."""
    read = tomllib.loads((KEPT / "expect.toml").read_text())
    return {name: Expected(**fields) for name, fields in read.items()}


def lines_of(data: bytes) -> Iterable[tuple[int, str]]:
    """Return the cleaned lines of a log with the numbers of the physical lines that they stand on."""
    return Numbered([data])


def read_log(engine: Engine, data: bytes) -> Stand:
    """Return what a whole log says."""
    log = ReadLog(engine)
    for number, line in lines_of(data):
        log.read(number, line)
    return log.stand


def miss(name: str, expected: Expected, data: bytes) -> str:
    """Return what is wrong with what tminus concludes from a log, "" if it is right."""
    stand = read_log(engine_of(expected), data)
    if stand.outcome in expected["outcome"] and stand.phase in expected["phase"]:
        return ""
    right = f"{'/'.join(expected['outcome'])} in {'/'.join(expected['phase'])}"
    return f"{name}: {stand.outcome} in {stand.phase} (cause {stand.kind}, line {stand.line}), not {right}"
