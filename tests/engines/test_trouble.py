"""The quick looks at a line miss nothing that the patterns find."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tui.engines.base import Engine
from tui.engines.faults import COMMON_FAULTS
from tui.engines.generic import GENERIC
from tui.engines.lines import troubling
from tui.engines.reader import LineReader
from tui.engines.registry import ENGINES
from tui.engines.rules import FaultRule
from tui.transport.clean import clean

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
EVERY = (*ENGINES, GENERIC)
PRINTED = st.characters(min_codepoint=32, max_codepoint=126)
SAMPLES = (
    "torch.OutOfMemoryError: CUDA out of memory.",
    "cudaMalloc failed: out of memory",
    "CUDA driver error: out of memory",
    "OSError: [Errno 98] x",
    "Address already in use",
    "couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 8080",
    "an illegal memory access was encountered",
    "unspecified launch failure",
    "CUDA error: device-side assert triggered",
    "NCCL error in: x",
    "Watchdog caught collective operation timeout",
    "no kernel image is available for execution",
    "CUDA driver version is insufficient",
    "Error 803: system has unsupported display driver",
    "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
    "Initialization failed. warmup error: x",
    "Rank 0 scheduler is dead. Please check",
    "Received sigquit from a child process.",
    "ValueError: Free memory on device (1/2 GiB) on startup is less than desired GPU memory utilization",
    "ValueError: No available memory for the cache blocks.",
    "ValueError: To serve at least one request with the model's max seq len (9)",
    "TimeoutError: RPC call to execute_model timed out.",
    "SafetensorError: Error while deserializing header: incomplete metadata",
    "EngineCore failed to start.",
    "EngineCore encountered a fatal error.",
    "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.",
    "ggml_aligned_malloc: insufficient memory (attempted to allocate 11718.75 MB)",
    "gguf_init_from_file: failed to open GGUF file 'x' (No such file or directory)",
    "llama_model_load: error loading model: unable to allocate CUDA0 buffer",
    "failed to load model, 'x.gguf'",
    "exiting due to model loading error",
    "GGML_ASSERT(x) failed",
    "Shard process was signaled to shutdown with signal 9",
    "Shard 0 crashed",
    "Webserver Crashed",
    'error loading llama server" error="timed out waiting for llama runner to start - progress 0.00 - "',
    'Load failed" model=x error="llama-server process has terminated: exit status 2"',
    "std::bad_alloc",
    "ninja: build stopped: subcommand failed.",
)
SHOWN = (
    "[2026-11-29 14:36:06 TP1] Scheduler hit an exception: Traceback (most recent call last):",
    "KeyError: 'x'",
    "KeyboardInterrupt",
    "SystemExit: 1",
    "[2026-11-29 14:36:06] ERROR x",
    "ERROR:    [Errno 98] x",
    "WARNING x",
    "UserWarning: x",
    "host:1:2 [0] NCCL WARN x",
    "'--x' is deprecated",
    "CRITICAL 11-29 13:48:34 [core.py:1] x",
    "(EngineCore pid=1) ERROR 11-29 13:48:34 [core.py:1] x",
    "Failed: Cuda error x",
    "0.00.000.001 E x",
    "0.00.000.001 W x",
    "ERR [              load_model] unable to load model",
    "WARN [                  main] x",
    "2025-07-04T12:36:15.150636Z  WARN text_generation_router::server: x",
    "2025-07-04T12:36:15.150636Z ERROR text_generation_launcher: x",
    "Error: ShardCannotStart",
)


def every_rule() -> list[tuple[Engine, FaultRule]]:
    """Return each fault row once, with an engine whose logs it is for."""
    owners = {rule: engine for engine in EVERY for rule in (*engine.faults, *COMMON_FAULTS)}
    return [(engine, rule) for rule, engine in owners.items()]


RULES = every_rule()


def overlooked(rule: FaultRule, line: str) -> str:
    """Say that a line which the rule finds has none of its hints, "" when it has or is not found."""
    if rule.pattern.search(line) is None or any(hint in line for hint in rule.hints):
        return ""
    return f"no hint of {rule.hints} in {line!r}, found by {rule.pattern.pattern}"


def no_levels(engine: Engine, line: str) -> bool:
    """Tell whether a line that an engine shows as an error or a warning is passed over."""
    return not troubling(line) and bool(engine.error.search(line) or engine.warning.search(line))


def corpus_lines() -> set[str]:
    names: dict[str, object] = json.loads((CORPUS / "expect.json").read_text())
    texts = ((CORPUS / name).read_text(errors="replace") for name in names)
    return {clean(line) for text in texts for line in re.split(r"[\r\n]", text)}


@pytest.mark.parametrize(("engine", "rule"), RULES, ids=[rule.pattern.pattern[:60] for _, rule in RULES])
def test_whatever_a_fault_row_finds_has_its_hint_and_is_read(engine: Engine, rule: FaultRule) -> None:
    @settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow], deadline=None, database=None)
    @given(st.from_regex(rule.pattern, alphabet=PRINTED))
    def looked_at(line: str) -> None:
        line = clean(line)
        assert overlooked(rule, line) == ""
        if rule.pattern.search(line):
            assert LineReader(engine).read(line).marks, line

    looked_at()


@pytest.mark.parametrize("line", SAMPLES)
def test_a_line_of_a_failure_is_found_by_a_row_and_has_its_hint(line: str) -> None:
    assert any(rule.pattern.search(line) for _, rule in RULES)
    assert [told for _, rule in RULES if (told := overlooked(rule, line))] == []


@pytest.mark.parametrize("line", SHOWN)
def test_an_error_or_a_warning_is_looked_at(line: str) -> None:
    assert any(engine.error.search(line) or engine.warning.search(line) for engine in EVERY)
    assert not any(no_levels(engine, line) for engine in EVERY)


def test_no_failure_of_real_logs_is_overlooked() -> None:
    if not CORPUS.exists():
        pytest.skip("needs the corpus of start-up logs beside the checkout")
    lines = corpus_lines()
    assert [told for line in lines for _, rule in RULES if (told := overlooked(rule, line))] == []


def test_no_error_or_warning_of_real_logs_is_shown_as_an_ordinary_line() -> None:
    if not CORPUS.exists():
        pytest.skip("needs the corpus of start-up logs beside the checkout")
    assert [line for line in corpus_lines() if any(no_levels(engine, line) for engine in EVERY)] == []


def test_every_fault_row_says_why_and_what_to_do() -> None:
    for _, rule in RULES:
        assert rule.cause.endswith("."), rule.cause
        assert rule.next_step.endswith("."), rule.next_step
        assert rule.hints, rule.pattern.pattern


def test_an_ordinary_line_is_passed_over() -> None:
    assert not troubling("[2026-11-29 14:37:07] Decode batch, #running-req: 16, gen throughput (token/s): 8")
