"""Real loads of SGLang 0.5.14 and vLLM 0.24.0 on one H200, watched by tminus itself.

Two are the first launch on a bare machine, where kernels are compiled for a minute and more without a line;
three were harmed on purpose. Left out to keep them small: most questions to the port, pongs, locks, past
loads, progress and records of the benchmark, environment that is not the engines'. Times are seconds of the
recording.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tui.replay.headless import Run
from tui.replay.opening import open_tape
from tui.watch.transfer import OVERHEAD
from tui.watch.verdict.verdict import Verdict

FOLDER = Path(__file__).parents[2] / "fixtures" / "h200" / "alone"
FIRST_LAUNCHES = ("sglang-first-launch", "vllm-first-launch")
SHARDS_MIB = 16_274_267_832 / 1024**2
STOPPED_S, CONTINUED_S = 53.28, 113.28
KILLED_S = 46.42
each_launch = pytest.mark.parametrize("name", FIRST_LAUNCHES, ids=["sglang", "vllm"])


@dataclass(frozen=True, slots=True)
class Seen:
    """What a replay came to: (second, word, verdict) at each change of the word, and the state at the end."""

    words: tuple[tuple[float, str | None, Verdict | None], ...]
    run: Run

    def at(self, word: str) -> tuple[float, Verdict]:
        """Return when a word was first said, and the verdict."""
        return next((at_s, found) for at_s, each, found in self.words if each == word and found is not None)


@cache
def seen(name: str) -> Seen:
    """Replay a recording to its end."""
    run = Run(open_tape(FOLDER / f"{name}.jsonl.gz"))
    words: list[tuple[float, str | None, Verdict | None]] = []
    for step in run.steps():
        judged = None if run.now_s is None else run.state.judged
        word = run.state.verdict
        if not words or words[-1][1] != word:
            words.append((step.t, word, judged))
    return Seen(tuple(words), run)


@each_launch
def test_a_minute_of_compiling_without_a_line_is_no_alarm(name: str) -> None:
    assert [word for _, word, _ in seen(name).words] == [None, "progressing", "ready"]


@each_launch
def test_the_bytes_that_the_gpu_received_are_those_of_the_checkpoint(name: str) -> None:
    load = seen(name).run.state.finished
    assert load is not None
    assert load.pcie_received_mib == pytest.approx(SHARDS_MIB * OVERHEAD, rel=0.01)


@pytest.mark.parametrize(("name", "tokens_per_s"), zip(FIRST_LAUNCHES, (219.5, 214.9), strict=True))
def test_the_benchmark_that_fired_by_itself_is_in_the_recording(name: str, tokens_per_s: float) -> None:
    (result,) = seen(name).run.state.bench.results
    assert result.output_tokens_per_s == pytest.approx(tokens_per_s, abs=0.1)


def test_a_rank_that_is_stopped_in_capture_is_named_and_the_load_goes_on_when_it_does() -> None:
    words = seen("stopped-in-capture").words
    assert [word for _, word, _ in words] == [None, "progressing", "suspended", "progressing", "ready"]
    at_s, found = seen("stopped-in-capture").at("suspended")
    assert STOPPED_S < at_s < STOPPED_S + 5.0
    assert (found.rank, found.pid, found.waiting) == ("TP1", 1888, ("TP0",))
    assert CONTINUED_S < words[3][0] < CONTINUED_S + 2.0


def test_a_rank_that_is_killed_while_weights_load_is_dead_within_two_seconds() -> None:
    at_s, found = seen("killed-in-weights").at("dead")
    # Listed as gone after 0.8 s; that it went alone is known 0.5 s later, and told at once.
    assert KILLED_S < at_s < KILLED_S + 1.6
    assert (found.rank, found.pid) == ("TP1", 3302)


def test_memory_that_another_process_holds_is_the_cause_with_its_pid() -> None:
    end = seen("out-of-memory-in-capture").run.state.last_end
    assert end is not None
    assert end.cause is not None
    assert end.cause.kind == "oom_capture"
    assert "3534" in end.cause.cause
    assert "12.98 GiB" in end.cause.cause
