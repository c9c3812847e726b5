"""Coarse phases and the end of real start-up logs, where the corpus is at hand."""

import json
import re
from pathlib import Path
from typing import TypedDict

import pytest

from tui.engines.phase import Phase
from tui.engines.registry import engine_named
from tui.watch.phases import LogPhases

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
ENGINES = {"sglang": "sglang", "nccl": "sglang", "llama.cpp": "llamacpp", "vllm": "vllm"}
COARSE = {
    "launch": {Phase.LAUNCH},
    "distributed": {Phase.LOADING},
    "weights": {Phase.LOADING},
    "kv_cache": {Phase.LOADING},
    "compile": {Phase.LOADING, Phase.CAPTURE},
    "capture": {Phase.CAPTURE},
    "start_api": {Phase.START_API},
    "warmup": {Phase.WARMUP},
    "ready": {Phase.READY},
}
ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
RIGHT = 0.9


class Expected(TypedDict):
    """What a careful reader concludes from a log."""

    engine: str
    outcome: list[str]
    phase: list[str]


def corpus() -> dict[str, Expected]:
    path = CORPUS / "expect.json"
    if not path.exists():
        pytest.skip("needs the corpus of start-up logs beside the checkout")
    read: dict[str, Expected] = json.loads(path.read_text())
    known = {name: log for name, log in read.items() if log["engine"].split(" ")[0] in ENGINES}
    assert known
    return known


def conclude(name: str, expected: Expected) -> LogPhases:
    phases = LogPhases(engine_named(ENGINES[expected["engine"].split(" ")[0]]))
    text = (CORPUS / name).read_text(errors="replace")
    for number, line in enumerate(re.split(r"[\r\n]", text), 1):
        phases.read(ANSI.sub("", line), number)
    return phases


def outcome(phases: LogPhases) -> str:
    if phases.shutdown is not None:
        return "stopped"
    if phases.fatal is not None:
        return "failed"
    return "ready" if phases.phase is Phase.READY else "unfinished"


def test_the_coarse_phase_of_real_logs_is_right() -> None:
    logs = corpus()
    misses: list[str] = []
    for name, expected in logs.items():
        reached = conclude(name, expected).phase or Phase.LAUNCH
        if not any(reached in COARSE[phase] for phase in expected["phase"]):
            misses.append(f"{name}: {reached.value}, expected {expected['phase']}")
    assert len(misses) <= (1 - RIGHT) * len(logs), "\n".join(misses)


def test_the_end_of_real_logs_is_right() -> None:
    logs = corpus()
    misses: list[str] = []
    for name, expected in logs.items():
        concluded = outcome(conclude(name, expected))
        if concluded not in expected["outcome"]:
            misses.append(f"{name}: {concluded}, expected {expected['outcome']}")
    assert len(misses) <= (1 - RIGHT) * len(logs), "\n".join(misses)


def test_a_ready_line_after_the_port_was_taken_is_not_believed() -> None:
    phases = LogPhases(engine_named("sglang"))
    phases.read("INFO:     Waiting for application startup.")
    phases.read("ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', 31999)")
    phases.read("The server is fired up and ready to roll!")
    assert phases.phase is Phase.START_API
