"""A rank that uses the CPU may work: it is named, and it is no proof of a hang. Found with real processes."""

from dataclasses import replace

import pytest
from verdict_asking import loaded, numbers, rule, verdict
from verdict_host import IDLES, POLLS, Doing

from tui.engines.phase import Phase
from tui.watch.verdict.situation import Lock

WORKS = Doing(state="R", wchan="0", cpu=0.95)
STARVES = Doing(state="R", wchan="0", cpu=0.2)


@pytest.mark.parametrize("doing", [WORKS, STARVES])
def test_the_rank_that_works_while_all_is_quiet_is_named_in_the_cause(doing: Doing) -> None:
    host = loaded(4, Phase.KV_CACHE, seconds=0)
    host.doing = [IDLES, IDLES, doing, IDLES]
    host.run(60)
    found = verdict(host)
    assert (found.word, found.confidence) == ("quiet", "guess")
    assert found.cause == "TP2 works on one CPU thread (repacking, tracing), or spins"
    assert found.next_step.endswith("py-spy dump --nonblocking --pid 103")


def test_a_rank_that_runs_only_now_and_then_is_not_said_to_work() -> None:
    host = loaded(4, Phase.KV_CACHE, seconds=0)
    for second in range(60):
        host.doing = [IDLES, IDLES, STARVES if second % 8 else IDLES, IDLES]
        host.run(1)
    assert "works on one CPU thread" not in verdict(host).cause


def test_a_flock_whose_holder_uses_the_cpu_is_no_proof() -> None:
    host = loaded(2, Phase.CAPTURE, seconds=0)
    host.doing = [WORKS, IDLES]
    host.run(40)
    held = Lock("/c/lock", 60.0, open=True, holder=101, waiter=102, kind="flock")
    found = verdict(host, locks=(held,))
    assert found.word == "quiet"
    assert rule(found, "R4(b)") == "nearly"
    assert "TP0 uses 95 % of a core: it may work" in numbers(found, "R4(b)")


def test_where_no_rank_stands_out_the_next_step_looks_into_all_of_them() -> None:
    host = loaded(4, Phase.KV_CACHE, seconds=75)
    found = verdict(host)
    assert (found.word, found.rank) == ("hung", None)
    assert found.next_step.startswith("tminus diagnose")


def test_a_rank_that_polls_is_taken_for_one_also_in_the_moment_in_which_it_looks() -> None:
    host = loaded(3, Phase.DISTRIBUTED, seconds=0)
    host.all_do(POLLS)
    host.run(70)
    host.doing[1] = replace(POLLS, state="R", wchan="0")
    host.run(1)
    stale = Lock("/c/build/lock", 600.0, open=False)
    assert sorted(verdict(host, locks=(stale,)).waiting) == ["TP0", "TP1", "TP2"]
    assert (verdict(host).word, verdict(host).rank) == ("stalled", None)
