"""Who failed first where a server ends all of its processes within a second, as SGLang does (on H200s)."""

from dataclasses import replace

import pytest
from verdict_asking import loaded, verdict
from verdict_host import Doing, VerdictHost

from tui.engines.phase import Phase
from tui.watch.verdict.situation import Rank

ZOMBIE = Doing(state="Z", wchan="0")


def killed(*gone_s: float | None, blamed: int | None = None) -> tuple[VerdictHost, tuple[Rank, ...]]:
    """Return ranks that went so many seconds ago, None for one that lives."""
    host = loaded(len(gone_s), Phase.WEIGHTS)
    ranks = tuple(
        replace(
            rank,
            gone="" if ago_s is None else "is gone",
            gone_s=None if ago_s is None else host.now_s - ago_s,
            blamed=number == blamed,
        )
        for number, (rank, ago_s) in enumerate(zip(host.ranks, gone_s, strict=True))
    )
    return host, ranks


def test_of_several_that_went_the_one_is_named_that_the_log_blames() -> None:
    host, ranks = killed(1.0, 1.0, 1.0, blamed=2)
    found = verdict(host, ranks=ranks)
    assert (found.word, found.rank, found.pid, found.waiting) == ("dead", "TP2", 103, ())


def test_one_that_went_seconds_before_the_others_is_named() -> None:
    host, ranks = killed(1.0, 3.0, None)
    found = verdict(host, ranks=ranks)
    assert (found.rank, found.waiting, found.since_s) == ("TP1", ("TP2",), host.now_s - 3.0)


def test_of_those_that_went_together_none_is_named() -> None:
    host, ranks = killed(1.0, 1.0)
    found = verdict(host, ranks=ranks)
    assert (found.word, found.rank, found.pid) == ("dead", None, None)
    assert "TP0 (pid 101) and TP1 (pid 102) are gone" in found.sentence


@pytest.mark.parametrize("blamed", [0, 1])
def test_one_that_the_log_blames_is_named_before_it_is_seen_to_be_gone(blamed: int) -> None:
    host, ranks = killed(None, None, blamed=blamed)
    assert verdict(host, ranks=ranks).word == "progressing"
    host.doing[0] = ZOMBIE
    host.run(1)
    found = verdict(host, ranks=ranks)
    assert (found.word, found.rank) == ("dead", f"TP{blamed}")
