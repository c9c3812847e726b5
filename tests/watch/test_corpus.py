"""Outcome and phase of real start-up logs: those of the corpus, where it is at hand, and a few kept here."""

import sys
from pathlib import Path

import pytest
from start_logs import CORPUS, KEPT, corpus, kept, miss, read_log

from tui.engines.registry import engine_named

RIGHT = 0.98
RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings"
# What was done in each recording of a load on H200s, and so what its server's log must say.
RECORDED = {
    "x1-sglang-2rank-hang-capture-and-serving": ("stopped", "ready", None),
    "x1-sglang-2rank-missing-rank": ("unfinished", "distributed", None),
    "x1-sglang-tp1-cold-disk-weights": ("unfinished", "capture", None),
    "x1-sglang-tp1-first-launch": ("stopped", "ready", None),
    "x1-sglang-tp1-oom-in-capture": ("failed", "capture", "oom_capture"),
    "x1-sglang-tp1-stopped-then-killed-in-weights": ("failed", "weights", "oom_host"),
    "x1-vllm-tp1-engine-stopped": ("ready", "ready", None),
    "x1-vllm-tp1-first-launch": ("stopped", "ready", None),
    "x2-sglang-tp2-first-launch-jit": ("unfinished", "capture", None),
    "x2-sglang-tp2-nccl-hang-capture-and-serving": ("stopped", "ready", None),
}


def test_outcome_and_phase_of_the_corpus_are_right() -> None:
    logs = corpus()
    if not logs:
        pytest.skip("needs the corpus of start-up logs beside the checkout")
    misses = [miss(name, expected, (CORPUS / name).read_bytes()) for name, expected in logs.items()]
    wrong = [text for text in misses if text]
    sys.stdout.write(f"{len(logs) - len(wrong)} of {len(logs)} right\n" + "\n".join(wrong))
    assert len(wrong) <= (1 - RIGHT) * len(logs)


@pytest.mark.parametrize("name", sorted(kept()))
def test_outcome_and_phase_of_a_kept_log_are_right(name: str) -> None:
    assert miss(name, kept()[name], (KEPT / name).read_bytes()) == ""


def test_a_wrong_outcome_or_phase_is_a_miss() -> None:
    name = "sglang-port-in-use.log"
    data = (KEPT / name).read_bytes()
    right = kept()[name]
    assert "failed in start_api" in miss(name, {**right, "outcome": ["ready"]}, data)
    assert "not failed in ready" in miss(name, {**right, "phase": ["ready"]}, data)


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_the_log_of_a_recorded_load_says_what_was_done(name: str) -> None:
    path = RECORDINGS / name / "server.log"
    if not path.exists():
        pytest.skip("needs the recordings of loads beside the checkout")
    engine = engine_named(name.split("-")[1])
    assert engine is not None
    stand = read_log(engine, path.read_bytes())
    assert (stand.outcome, stand.phase, stand.kind) == RECORDED[name]
