"""Real loads of SGLang 0.5.14 on two H200s, harmed on purpose: what is said, of whom, and how soon.

Each recording begins with the launch (CUDA graphs for prefill off, custom all-reduce on) and ends soon after
the harm was undone; questions to the port are left out. Times are seconds of the recording.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tui.replay.headless import Run
from tui.replay.opening import open_tape
from tui.watch.verdict.verdict import Verdict

FOLDER = Path(__file__).parents[2] / "fixtures" / "h200" / "verdicts"
ALARMS = ("stalled", "hung", "suspended", "dead")


@dataclass(frozen=True, slots=True)
class Harm:
    """What was done: from when to when (None: for good), the word for it, the rank, and within which time."""

    name: str
    from_s: float
    to_s: float | None
    word: str
    rank: str | None
    pid: int | None
    within_s: float


HARMS = (
    Harm("custom-all-reduce-hang", 39.98, 109.19, "hung", "TP1", 2195, 70.0),
    Harm("barrier-hang", 46.20, 118.49, "hung", None, None, 72.0),
    Harm("stopped-in-capture", 45.43, 57.46, "suspended", "TP1", 3089, 5.0),
    Harm("killed-in-capture", 47.73, None, "dead", "TP0", 5907, 2.0),
)
each = pytest.mark.parametrize("harm", HARMS, ids=[harm.name for harm in HARMS])


@cache
def told(name: str) -> tuple[tuple[float, Verdict], ...]:
    """Return the verdict of each second of a recording."""
    run = Run(open_tape(FOLDER / f"{name}.jsonl.gz"))
    found: list[tuple[float, Verdict]] = []
    for step in run.steps():
        if not found or step.t - found[-1][0] >= 1.0:
            now_s = run.now_s
            judged = None if now_s is None else run.state.judgement(now_s)
            found += [(step.t, judged)] if judged is not None else []
    return tuple(found)


@each
def test_the_word_comes_in_time_with_who_it_is(harm: Harm) -> None:
    at_s, found = next((at_s, found) for at_s, found in told(harm.name) if found.word == harm.word)
    assert harm.from_s < at_s < harm.from_s + harm.within_s
    assert (found.rank, found.pid) == (harm.rank, harm.pid)


@each
def test_it_stands_for_as_long_as_the_harm_lasts_and_names_nobody_else(harm: Harm) -> None:
    end_s = told(harm.name)[-1][0] if harm.to_s is None else harm.to_s
    first_s = next(at_s for at_s, found in told(harm.name) if found.word == harm.word)
    during = [found for at_s, found in told(harm.name) if first_s <= at_s < end_s]
    assert {(found.word, found.rank) for found in during} == {(harm.word, harm.rank)}


@each
def test_there_is_no_alarm_before_the_harm_and_none_once_it_is_undone(harm: Harm) -> None:
    after_s = float("inf") if harm.to_s is None else harm.to_s + 2.0
    calm = [found.word for at_s, found in told(harm.name) if at_s < harm.from_s or at_s > after_s]
    assert not set(calm).intersection(ALARMS)
    assert "progressing" in calm


def test_the_gpu_that_waits_is_told_by_its_power_for_its_multiprocessors_are_all_taken() -> None:
    found = next(found for _, found in told("custom-all-reduce-hang") if found.word == "hung")
    assert found.waiting == ("TP0",)
    assert any("SM 100 %" in figure and "133 W (idle 124 W)" in figure for figure in found.figures)
