"""Each rule matches what it is for, names its culprit, and lets the next one speak otherwise."""

from dataclasses import replace
from typing import Literal

import pytest
from verdict_asking import loaded, numbers, rule, verdict, words
from verdict_host import COMPILES, IDLES, LOADS, POLLS, SPINS, STOPPED, VerdictHost

from tui.agent.gpus.xids import of_xid
from tui.engines.phase import Phase
from tui.watch.verdict.ends import FATAL_XIDS
from tui.watch.verdict.situation import End, GpuFault, Past, Rank

# R0.


def test_a_load_that_ended_is_dead_by_its_own_reason() -> None:
    host = loaded()
    found = verdict(host, end=End("exit code 1 in capture", "TP1", 102))
    assert (found.word, found.sentence, found.rank, found.pid) == (
        "dead",
        "exit code 1 in capture",
        "TP1",
        102,
    )
    assert found.confidence == "proof"


def test_a_rank_that_is_gone_is_dead_and_the_culprit() -> None:
    host = loaded(4)
    ranks = list(host.ranks)
    ranks[2] = replace(ranks[2], gone="was killed (signal 9)")
    found = verdict(host, ranks=tuple(ranks))
    assert (found.word, found.rank, found.pid) == ("dead", "TP2", 103)
    assert found.waiting == ("TP0", "TP1", "TP3")


def test_a_zombie_is_dead() -> None:
    host = loaded()
    host.doing[1] = replace(IDLES, state="Z")
    host.run(1)
    assert (verdict(host).word, verdict(host).rank) == ("dead", "TP1")


def test_a_zombie_is_not_dead_in_a_shutdown_that_the_log_told_of() -> None:
    host = loaded()
    host.doing[1] = replace(IDLES, state="Z")
    host.run(1)
    assert verdict(host, ready=True, shutting_down=True).word == "ready"


def test_a_launcher_that_left_its_ranks_behind_is_dead() -> None:
    found = verdict(loaded(), parent_gone="the launcher (pid 100) is gone, its ranks live on")
    assert found.word == "dead"
    assert "left its ranks" in found.cause


def test_an_out_of_memory_kill_is_the_cause_of_an_end_and_no_end_by_itself() -> None:
    host = loaded()
    host.cgroup_oom_kills = 1
    host.run(6)
    assert verdict(host).word != "dead"
    assert rule(verdict(host), "R0") == "nearly"
    assert "memory" in verdict(host, end=End("exit code -9")).cause


# R1.


@pytest.mark.parametrize(
    ("fault", "matched"),
    [
        (GpuFault("lost", "GPU 1 is lost", 1), "yes"),
        (GpuFault("xid", "Xid 79 on GPU 1", 1, 79), "yes"),
        (GpuFault("xid", "Xid 31 on GPU 1", 1, 31), "nearly"),
        (GpuFault("silent", "no answer for 6 s", silent_s=6.0), "nearly"),
        (GpuFault("silent", "no answer for 11 s", silent_s=11.0), "yes"),
    ],
)
def test_a_driver_that_is_silent_twice_a_lost_gpu_and_a_fatal_xid_hang(fault: GpuFault, matched: str) -> None:
    found = verdict(loaded(), faults=(fault,))
    assert rule(found, "R1") == matched
    assert (found.word == "hung") == (matched == "yes")
    assert found.rank == ("TP1" if matched == "yes" and fault.gpu == 1 else found.rank)


def test_a_load_that_moves_on_after_a_fatal_xid_hangs_once_it_is_quiet_again() -> None:
    host = loaded()
    fault = GpuFault("xid", "GPU 1 reports Xid 79.", 1, 79, began_s=host.now_s)
    assert verdict(host, faults=(fault,)).word == "hung"
    host.all_do(LOADS)
    host.run(10)
    assert verdict(host, faults=(fault,)).word == "hung", "what was under way moves a little longer"
    host.run(2)
    found = verdict(host, faults=(fault,))
    assert (found.word, rule(found, "R1")) == ("progressing", "nearly")
    moved_s = host.now_s
    host.all_do(IDLES)
    host.run(31)
    found = verdict(host, faults=(fault,))
    assert (found.word, found.since_s, found.rank) == ("hung", moved_s, "TP1")


@pytest.mark.parametrize("kind", ["lost", "silent"])
def test_what_moves_does_not_bring_back_a_lost_gpu_or_a_silent_driver(
    kind: Literal["lost", "silent"],
) -> None:
    host = loaded()
    fault = GpuFault(kind, "GPU 1 is lost.", 1, silent_s=60.0, began_s=host.now_s)
    host.all_do(LOADS)
    host.run(20)
    assert verdict(host, faults=(fault,)).word == "hung"


def test_an_xid_that_was_outlived_hides_no_newer_fault() -> None:
    host = loaded()
    host.all_do(LOADS)
    old = GpuFault("xid", "GPU 0 reports Xid 74.", 0, 74, began_s=host.now_s - 20.0)
    host.run(5)
    new = GpuFault("xid", "GPU 1 reports Xid 79.", 1, 79, began_s=host.now_s - 1.0)
    assert verdict(host, faults=(old,)).word == "progressing"
    assert (verdict(host, faults=(old, new)).word, verdict(host, faults=(old, new)).rank) == ("hung", "TP1")


@pytest.mark.parametrize("xid", range(1, 200))
def test_an_xid_hangs_a_load_where_its_words_ask_for_a_reset(xid: int) -> None:
    asks = any(told in of_xid(0, xid) for told in ("needs a re", "until the", "to be recovered"))
    assert (xid in FATAL_XIDS) is asks, of_xid(0, xid)


def test_a_driver_that_has_yet_to_answer_for_the_first_time_is_no_hang_while_processes_move() -> None:
    """That takes long on a host of 8 GPUs without persistence mode."""
    silent = (GpuFault("silent", "no answer for 25 s", silent_s=25.0),)
    host = VerdictHost(2, doing=[LOADS] * 2, gpus=False)
    host.phase(Phase.WEIGHTS)
    host.run(25)
    found = verdict(host, faults=silent)
    assert (found.word, rule(found, "R1")) == ("progressing", "nearly")
    host.all_do(POLLS)
    host.run(32)
    assert verdict(host, faults=silent).word == "hung"


# R2.


@pytest.mark.parametrize("phase", [Phase.LAUNCH, Phase.WEIGHTS, Phase.CAPTURE, Phase.READY])
@pytest.mark.parametrize("state", ["T", "t"])
def test_a_stopped_rank_is_suspended_after_3_s_in_any_phase(phase: Phase, state: str) -> None:
    host = loaded(8, phase)
    host.situation = replace(host.situation, ready=phase is Phase.READY)
    host.doing[5] = replace(STOPPED, state=state)
    host.run(3)
    assert verdict(host).word != "suspended"
    assert rule(verdict(host), "R2") == "nearly"
    host.run(1)
    found = verdict(host)
    assert (found.word, found.rank, found.pid) == ("suspended", "TP5", 106)
    assert found.waiting == tuple(f"TP{rank}" for rank in range(8) if rank != 5)
    assert "106" in found.next_step


def test_a_suspended_rank_is_found_while_the_others_move() -> None:
    host = loaded()
    host.doing = [LOADS, STOPPED]
    host.run(5)
    assert verdict(host).word == "suspended"


def test_a_suspended_launcher_is_found_too() -> None:
    host = VerdictHost(2, doing=[LOADS, STOPPED])
    host.run(10)
    ranks = host.ranks
    found = verdict(host, ranks=ranks[:1], launcher=Rank("launcher", 102))
    assert (found.word, found.rank) == ("suspended", "launcher")


def test_a_rank_that_goes_on_is_suspended_no_more() -> None:
    host = loaded()
    host.doing[1] = STOPPED
    host.run(30)
    host.all_do(LOADS)
    host.run(2)
    assert verdict(host).word == "progressing"


# R3.


def test_one_rank_that_moves_is_waited_for_by_name() -> None:
    host = loaded(8, seconds=40)
    host.all_do(SPINS)
    host.doing[3] = COMPILES
    host.run(90)
    found = verdict(host)
    assert (found.word, found.rank, found.pid) == ("progressing", "TP3", 104)
    assert "7 wait for TP3" in found.sentence
    assert "cicc" in found.sentence
    assert len(found.waiting) == 7


def test_a_load_whose_ranks_all_move_names_nobody() -> None:
    host = VerdictHost(4, doing=[LOADS] * 4)
    host.phase(Phase.WEIGHTS)
    host.run(20)
    found = verdict(host)
    assert (found.word, found.rank, found.waiting) == ("progressing", None, ())


def test_a_load_is_slow_at_under_a_third_of_the_best_rate() -> None:
    host = VerdictHost(2, doing=[LOADS] * 2)
    host.phase(Phase.WEIGHTS)
    host.run(20)
    past = Past(best_rate_mib_s=3600.0)
    assert verdict(host, past=past, rate_mib_s=1300.0).word == "progressing"
    found = verdict(host, past=past, rate_mib_s=1100.0)
    assert (found.word, found.confidence) == ("slow", "pattern")
    assert "1100 MiB/s" in found.sentence
    assert "storage" in found.cause


def test_a_load_is_slow_after_twice_the_longest_past_time_and_never_without_a_past() -> None:
    host = VerdictHost(2, doing=[LOADS] * 2)
    host.phase(Phase.WEIGHTS)
    host.run(90)
    assert verdict(host).word == "progressing"
    assert verdict(host, past=Past(durations_s=(20.0, 50.0))).word == "progressing"
    assert verdict(host, past=Past(durations_s=(20.0, 44.0))).word == "slow"


def test_twice_a_short_past_time_is_not_slow_before_half_a_minute_more() -> None:
    host = VerdictHost(2, doing=[LOADS] * 2)
    host.phase(Phase.WEIGHTS)
    host.run(29)
    assert verdict(host, past=Past(durations_s=(0.0,))).word == "progressing"
    host.run(3)
    assert verdict(host, past=Past(durations_s=(0.0,))).word == "slow"


def test_a_server_that_answers_otherwise_than_asked_for_is_never_slow() -> None:
    host = VerdictHost(2, doing=[LOADS] * 2)
    host.phase(Phase.WARMUP)
    host.run(60)
    past = Past(durations_s=(0.5,))
    assert verdict(host, past=past).word == "slow"
    assert verdict(host, past=past, answers="model: serves another").word == "progressing"


def test_a_server_that_answers_otherwise_than_asked_does_not_stall() -> None:
    host = loaded(2, Phase.WARMUP, seconds=400)
    assert verdict(host).word != "quiet"
    told = verdict(host, answers='model: serves "a", expected "b"')
    assert (told.word, told.until_s) == ("quiet", None)
    assert told.sentence == 'quiet: it answers, but model: serves "a", expected "b"'


def test_a_slow_load_on_a_host_short_of_memory_says_so() -> None:
    host = VerdictHost(2, doing=[LOADS] * 2, memory_full_pct=25.0)
    host.phase(Phase.WEIGHTS)
    host.run(60)
    assert "memory" in verdict(host, past=Past(durations_s=(20.0,))).cause


# R5, R6.


def test_a_quiet_load_counts_down_to_its_stall() -> None:
    host = loaded(2, Phase.WEIGHTS, seconds=0)
    host.all_do(POLLS)
    told = words(host, 70)
    assert [word for _, word in told] == ["progressing", "quiet", "stalled"]
    assert told[1][0] in range(30, 33)
    assert told[2][0] in range(60, 63)


def test_the_countdown_ends_where_the_stall_begins() -> None:
    host = loaded(2, Phase.LAUNCH, seconds=0)
    host.all_do(POLLS)
    host.run(40)
    found = verdict(host)
    assert found.until_s is not None
    left = round(found.until_s - host.now_s)
    host.run(left)
    assert verdict(host).word == "quiet"
    host.run(2)
    assert verdict(host).word == "stalled"


def test_the_countdown_ends_with_a_proof_that_comes_before_the_stall() -> None:
    host = loaded(4, Phase.KV_CACHE, seconds=0)
    host.all_do(SPINS)
    host.doing[1] = POLLS
    host.run(40)
    found = verdict(host)
    assert found.until_s is not None
    host.run(round(found.until_s - host.now_s) - 1)
    assert verdict(host).word == "quiet"
    host.run(3)
    assert verdict(host).word == "hung"


@pytest.mark.parametrize(("cpu", "word"), [(0.03, "stalled"), (0.1, "quiet")])
def test_who_uses_some_cpu_and_cannot_be_read_may_work(cpu: float, word: str) -> None:
    host = loaded(2, Phase.WEIGHTS, seconds=0)
    host.all_do(replace(POLLS, io=False, cpu=cpu))
    host.run(100)
    found = verdict(host)
    assert (found.word, found.until_s is None) == (word, True)


def test_past_loads_are_named_in_the_countdown() -> None:
    host = loaded(2, Phase.WEIGHTS, seconds=0)
    host.all_do(POLLS)
    host.run(70)
    found = verdict(host, past=Past(silences_s=(41.0,)))
    assert (found.word, found.longest_s) == ("quiet", 41.0)
    assert "0:41" in numbers(found, "R6")


def test_every_rule_is_told_with_its_numbers() -> None:
    found = verdict(loaded(2, seconds=35))
    names = [each.rule.split()[0] for each in found.rules]
    assert names[:5] == ["R0", "link", "R1", "R2", "R3b"]
    assert names[-2:] == ["R5", "R6"]
    assert all(each.numbers for each in found.rules)


# Ready.


def test_an_idle_ready_server_is_ready_for_ever() -> None:
    host = loaded(2, Phase.READY)
    host.situation = replace(host.situation, ready=True, ready_since_s=host.now_s)
    told = words(host, 1000)
    assert told == [(1, "ready")]


def test_a_ready_server_that_does_not_answer_and_does_nothing_is_stalled() -> None:
    host = loaded(2, Phase.READY)
    host.situation = replace(host.situation, ready=True)
    host.all_do(POLLS)
    host.run(70)
    assert verdict(host, unanswered_s=30.0).word == "ready"
    assert verdict(host, unanswered_s=65.0).word == "stalled"


def test_a_rank_that_moved_only_before_the_others_began_to_wait_is_not_said_to_move() -> None:
    host = VerdictHost(2, doing=[LOADS] * 2)
    host.phase(Phase.WEIGHTS)
    host.run(40)
    host.phase(Phase.CAPTURE)
    host.doing = [SPINS, IDLES]
    host.run(20)
    told = verdict(host)
    assert (told.word, told.rank, told.sentence) == ("progressing", None, "progressing in capture")
