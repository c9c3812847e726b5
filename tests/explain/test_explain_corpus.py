"""Every log of the corpus through the command's own way, where the corpus is at hand."""

import json
import re
import sys
from pathlib import Path
from typing import TypedDict

import pytest

from tui.commands.explain import encoded
from tui.explain.report import explain
from tui.explain.words import WIDTH, lines

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
RIGHT = 0.98


class Expected(TypedDict):
    """What a careful reader concludes from a log."""

    engine: str
    outcome: list[str]
    phase: list[str]


@pytest.fixture(scope="module")
def corpus() -> dict[str, Expected]:
    """Return what is expected of each log, by its name."""
    path = CORPUS / "expect.json"
    if not path.exists():
        pytest.skip("needs the corpus of start-up logs beside the checkout")
    read: dict[str, Expected] = json.loads(path.read_text())
    return read


def test_outcome_and_phase_are_those_of_a_careful_reader(corpus: dict[str, Expected]) -> None:
    misses: list[str] = []
    for name, expected in corpus.items():
        found = explain([str(CORPUS / name)])
        if found.outcome not in expected["outcome"] or found.phase not in expected["phase"]:
            misses.append(
                f"{name}: {found.engine} {found.outcome} in {found.phase}, "
                f"expected {expected['outcome']} in {expected['phase']}"
            )

    sys.stdout.write(f"{len(corpus) - len(misses)} of {len(corpus)} right\n" + "\n".join(misses))
    assert len(misses) <= (1 - RIGHT) * len(corpus)


def test_every_log_is_told_in_words_and_as_json_without_negative_times(corpus: dict[str, Expected]) -> None:
    for name in corpus:
        found = explain([str(CORPUS / name)])

        assert all(len(line) <= WIDTH for line in lines(found)), name
        assert json.loads(encoded(found))["phase"] == found.phase
        assert found.phases[-1].name == found.phase, name
        for phase in found.phases:
            # Only the first phase may have begun before the log did.
            began = 0 if phase is found.phases[0] else phase.began
            numbers = (began, phase.ended, phase.seconds, phase.longest_silence_s)
            assert all(number is None or number >= 0 for number in numbers), name
            if phase.seconds is not None and phase.longest_silence_s is not None:
                assert phase.longest_silence_s <= phase.seconds, name
            if phase.began is not None and phase.ended is not None:
                assert phase.seconds == pytest.approx(phase.ended - phase.began, abs=0.002), name


@pytest.mark.parametrize(
    ("name", "phase", "seconds"),
    [
        ("vllm/v1-0.15-compile-37-minutes.log", "compile", 2222.52),
        ("vllm/v1-0.8.4-lora-capture-3-hours.log", "capture", 11412),
        ("vllm/v1-0.8.5-warm-cache-ready.log", "capture", 17),
        ("vllm/v1-0.11-tp2-qwen8b-ready-then-shm.log", "compile", 39.6),
    ],
)
def test_a_phase_lasts_at_least_as_long_as_the_log_says_that_it_took(
    corpus: dict[str, Expected], name: str, phase: str, seconds: float
) -> None:
    assert name in corpus
    found = next(each for each in explain([str(CORPUS / name)]).phases if each.name == phase)
    assert found.seconds is not None
    assert found.seconds >= seconds


def test_the_quoted_line_is_the_line_of_that_number(corpus: dict[str, Expected]) -> None:
    for name in corpus:
        fault = explain([str(CORPUS / name)]).fault
        if fault is None:
            continue
        line = (CORPUS / name).read_bytes().split(b"\n")[fault.line_number - 1].decode(errors="replace")
        words = re.findall(r"\w{3,}", fault.line)
        assert words, name
        assert all(word in line for word in words), name
