"""The signatures that stalls and silences had on real H200s, second by second."""

from dataclasses import replace

import pytest
from verdict_host import COMPILES, IDLES, LOADS, POLLS, SPINS, STOPPED, Doing, VerdictHost

from tui.engines.phase import Phase
from tui.watch.verdict.rules import judge
from tui.watch.verdict.situation import Past
from tui.watch.verdict.verdict import Verdict

CAPTURES = Doing(state="R", wchan="0", cpu=1.0, wakeups=30.0, memory_mib=14.0, util=39.0, power_w=281.0)
"""Decode capture, as measured: 14 MiB a second."""


def capturing(count: int = 2, items: int = 18, gap_s: int = 2) -> VerdictHost:
    """Return a host whose ranks have captured so many of 36 sizes."""
    host = VerdictHost(count)
    host.all_do(LOADS)
    host.phase(Phase.WEIGHTS)
    host.run(10)
    host.all_do(IDLES)
    host.run(10)
    host.phase(Phase.CAPTURE)
    host.all_do(CAPTURES)
    host.bar(0, 36)
    for done in range(1, items + 1):
        host.run(gap_s)
        host.bar(done, 36)
    return host


def first(host: VerdictHost, word: str, within_s: int) -> tuple[int, Verdict]:
    """Run until a word is said; return after how many seconds, and the verdict."""
    for second in range(1, within_s + 1):
        host.run(1)
        found = judge(host.at(), host.movement)
        if found.word == word:
            return second, found
    raise AssertionError(f"never {word}: {judge(host.at(), host.movement)}")


def test_a_waiter_at_util_100_and_123_w_with_an_idle_culprit_in_graph_capture() -> None:
    host = capturing()
    host.doing = [SPINS, replace(IDLES, state="S", wchan="futex_do_wait")]
    seconds, found = first(host, "hung", 120)
    assert seconds in range(58, 64)
    assert (found.rank, found.pid, found.waiting) == ("TP1", 102, ("TP0",))
    assert "18 of 36" in found.sentence
    assert any("SM 17 %" in figure and "123 W" in figure for figure in found.figures)


def test_a_wait_in_a_custom_all_reduce_that_keeps_all_multiprocessors() -> None:
    """Measured on two H200s: SM 100 %, tensor, DRAM and NVLink 0, 133 W where the GPU idles at 124 W."""
    host = capturing()
    host.doing = [replace(SPINS, sm=100.0, power_w=133.0), replace(IDLES, cpu=0.009, wakeups=0.0)]
    seconds, found = first(host, "hung", 120)
    assert seconds in range(58, 64)
    assert (found.rank, found.pid, found.waiting) == ("TP1", 102, ("TP0",))


HELPED = Doing(cpu=0.009, threads="SSSS", thread_wakeups=630.0)
"""A rank in a barrier of the CPU: its main thread sleeps, those of PyTorch's process groups wake up."""


def test_ranks_that_meet_in_a_barrier_of_the_cpu_are_hung_when_they_would_be_stalled() -> None:
    """Measured on two H200s: all GPUs at 0 %, every main thread in futex_do_wait without a wake-up."""
    host = capturing()
    host.all_do(HELPED)
    seconds, found = first(host, "hung", 120)
    assert seconds in range(60, 64)
    assert (found.rank, found.confidence) == (None, "pattern")
    assert "TP0 (pid 101) and TP1 (pid 102)" in found.sentence
    assert "tminus diagnose" in found.next_step


@pytest.mark.parametrize(
    "other",
    [
        replace(HELPED, cpu=0.06),
        replace(HELPED, threads="SSSR"),
        replace(HELPED, wakeups=0.1),
        replace(HELPED, wchan="anon_pipe_read"),
        replace(HELPED, signals=False),
    ],
)
def test_one_of_them_that_may_work_makes_it_no_more_than_a_stall(other: Doing) -> None:
    host = capturing()
    host.doing = [HELPED, other]
    said = set[str]()
    host.run(120, lambda _: said.add(judge(host.at(), host.movement).word))
    assert said <= {"progressing", "quiet", "stalled"}


def test_the_stopped_rank_of_that_capture_is_named_in_3_s() -> None:
    host = capturing()
    host.doing = [SPINS, STOPPED]
    seconds, found = first(host, "suspended", 10)
    assert seconds in (4, 5)
    assert (found.rank, found.pid, found.waiting) == ("TP1", 102, ("TP0",))
    assert found.next_step == "kill -CONT 102"


def test_a_rank_stopped_in_the_weights_while_the_other_waits_at_a_barrier() -> None:
    host = VerdictHost(2, doing=[LOADS] * 2)
    host.phase(Phase.WEIGHTS)
    host.run(8)
    host.doing = [IDLES, STOPPED]
    assert first(host, "suspended", 10)[1].rank == "TP1"


def test_a_rank_stopped_while_serving_leaves_every_gpu_at_0() -> None:
    host = VerdictHost(2)
    host.phase(Phase.READY)
    host.situation = replace(host.situation, ready=True)
    host.run(30)
    host.doing = [IDLES, STOPPED]
    assert first(host, "suspended", 10)[1].rank == "TP1"


def test_a_serving_hang_without_a_stopped_rank_is_told_by_what_is_not_answered() -> None:
    host = VerdictHost(2)
    host.phase(Phase.READY)
    host.situation = replace(host.situation, ready=True)
    host.run(90)
    assert judge(host.at(), host.movement).word == "ready"
    found = judge(replace(host.at(), unanswered_s=61.0), host.movement)
    assert found.word in ("hung", "stalled")


def test_a_rank_that_was_killed_while_serving_leaves_the_other_spinning() -> None:
    """The waiting GPU then polls host memory at 7.8 GiB/s: no progress outside the weights."""
    host = VerdictHost(2)
    host.phase(Phase.READY)
    host.situation = replace(host.situation, ready=True)
    host.run(60)
    host.doing[0] = replace(SPINS, sm=0.8, power_w=129.0, pcie_mib=8000.0)
    ranks = (host.ranks[0], replace(host.ranks[1], gone="was killed (signal 9)"))
    host.situation = replace(host.situation, ranks=ranks)
    host.run(1)
    found = judge(host.at(), host.movement)
    assert (found.word, found.rank) == ("dead", "TP1")


def test_a_jit_silent_for_55_s_at_0_percent_with_cicc_under_one_rank() -> None:
    host = capturing(items=0)
    host.doing = [COMPILES, POLLS]
    said = set[str]()
    host.run(55, lambda _: said.add(judge(host.at(), host.movement).word))
    found = judge(host.at(), host.movement)
    assert said == {"progressing"}
    assert (found.rank, found.waiting) == ("TP0", ("TP1",))
    assert "TP1 waits for TP0" in found.sentence


def test_weights_move_by_pcie_bytes_while_the_log_is_silent() -> None:
    host = VerdictHost(2)
    host.phase(Phase.WEIGHTS)
    host.run(40)
    host.all_do(Doing(state="R", wchan="0", cpu=1.0, pcie_mib=1900.0, util=5.0))
    host.run(30)
    found = judge(host.at(), host.movement)
    assert found.word == "progressing"
    assert "GiB to GPU 0" in next(each.numbers for each in found.rules if each.rule.startswith("R3 "))


@pytest.mark.parametrize("gap_s", [2, 30])
@pytest.mark.parametrize("culprit", [0, 5])
def test_a_capture_that_is_stuck_on_a_size_is_named_within_60_s_of_its_threshold(
    gap_s: int, culprit: int
) -> None:
    host = capturing(8, items=6, gap_s=gap_s)
    host.all_do(replace(IDLES, wchan="poll_schedule_timeout", wakeups=10.0))
    host.doing[culprit] = replace(IDLES, wchan="do_wait", wakeups=1.0)
    threshold_s = max(60, 3 * gap_s)
    seconds, found = first(host, "stalled", threshold_s + 60)
    assert seconds >= threshold_s
    assert (found.rank, len(found.waiting)) == (f"TP{culprit}", 7)
    assert "6 of 36" in found.sentence


def test_a_capture_that_waits_in_nccl_is_named_by_its_missing_rank() -> None:
    host = capturing(8, items=6)
    host.all_do(SPINS)
    host.doing[3] = POLLS
    seconds, found = first(host, "hung", 120)
    assert seconds <= 120
    assert (found.rank, len(found.waiting)) == ("TP3", 7)


def test_a_healthy_yardstick_of_past_loads_delays_the_stall() -> None:
    host = capturing(2, items=6)
    host.situation = replace(host.situation, past=Past(silences_s=(55.0,)))
    host.all_do(POLLS)
    seconds, _ = first(host, "stalled", 300)
    assert seconds in range(163, 170)
