"""Outcome and phase of real start-up logs: those of the corpus, where it is at hand, and a few kept here."""

import pytest
from start_logs import CORPUS, KEPT, corpus, kept, miss

RIGHT = 0.98


def test_outcome_and_phase_of_the_corpus_are_right() -> None:
    logs = corpus()
    if not logs:
        pytest.skip("needs the corpus of start-up logs beside the checkout")
    misses = [miss(name, expected, (CORPUS / name).read_bytes()) for name, expected in logs.items()]
    wrong = [text for text in misses if text]
    assert len(wrong) <= (1 - RIGHT) * len(logs), "\n".join(wrong)


@pytest.mark.parametrize("name", sorted(kept()))
def test_outcome_and_phase_of_a_kept_log_are_right(name: str) -> None:
    assert miss(name, kept()[name], (KEPT / name).read_bytes()) == ""


def test_a_wrong_outcome_or_phase_is_a_miss() -> None:
    name = "sglang-port-in-use.log"
    data = (KEPT / name).read_bytes()
    right = kept()[name]
    assert "failed in start_api" in miss(name, {**right, "outcome": ["ready"]}, data)
    assert "not failed in ready" in miss(name, {**right, "phase": ["ready"]}, data)
