"""Real processes that are stuck, watched by the real agent: in time, with culprit, cause and next step.

Each can be watched by hand: ``python tests/plugins/stuck_server.py`` lists them. Times are generous, for all
of them run at once; what counts is the order of the words.
"""

import pytest
from stuck_watch import Watched, stretched

pytestmark = pytest.mark.xdist_group("stuck")

LATE_S = 50.0
"""How much later than its rule says a verdict may come on a machine that is busy with all of this."""
QUIET_S = 30.0
ASLEEP_S = 60.0
NODES_S = 180.0
KV_CACHE_S = 180.0
EARLY_S = 1.0
"""How much earlier it may come, counted from the last reading before the harm: that takes its time too."""


def of(case: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("stuck", [case], indirect=True)


@of("suspended")
def test_a_stopped_rank_is_named_within_seconds_with_the_command_that_continues_it(stuck: Watched) -> None:
    told = stuck.first("suspended")

    assert stuck.words[-1] == "suspended"
    assert told.at_s <= 5.0 + LATE_S
    assert (stuck.last.rank, stuck.last.pid) == ("TP2", stuck.pids["TP2"])
    assert sorted(stuck.last.waiting) == ["TP0", "TP1", "TP3"]
    assert stuck.last.next_step == f"kill -CONT {stuck.pids['TP2']}"
    assert stuck.last.cause.startswith("stopped from outside")
    assert stuck.last.confidence == "proof"


@of("killed")
def test_a_rank_that_was_killed_is_named_while_its_launcher_lives(stuck: Watched) -> None:
    assert stuck.words[-1] == "dead"
    assert stuck.first("dead").at_s <= 5.0 + LATE_S
    assert (stuck.last.rank, stuck.last.pid) == ("TP1", stuck.pids["TP1"])
    assert sorted(stuck.last.waiting) == ["TP0", "TP2", "TP3"]
    assert "is gone" in stuck.last.sentence


@of("zombie")
def test_a_rank_that_was_killed_and_that_nobody_reaps_is_named(stuck: Watched) -> None:
    told = stuck.first("dead")

    assert stuck.words[-1] == "dead"
    assert told.at_s <= 5.0 + LATE_S
    assert (told.verdict.rank, told.verdict.pid) == ("TP1", stuck.pids["TP1"])
    assert told.verdict.waiting == ("TP0",)


@of("orphaned")
def test_ranks_without_their_launcher_are_dead_and_said_to_be_left_behind(stuck: Watched) -> None:
    assert stuck.words[-1] == "dead"
    assert stuck.first("dead").at_s <= 5.0 + LATE_S
    assert (stuck.last.rank, stuck.last.pid) == ("launcher", stuck.pids["launcher"])
    assert stuck.last.cause == "the launcher ended and left its ranks behind"
    assert stuck.last.next_step.startswith("end the ranks that are left")


@of("deadlock")
def test_ranks_that_all_sleep_on_mutexes_are_quiet_and_after_a_minute_hung(stuck: Watched) -> None:
    told = stuck.first("hung")

    assert stuck.words[-3:] == ["progressing", "quiet", "hung"]
    assert ASLEEP_S - EARLY_S - stuck.unseen_s <= told.at_s <= ASLEEP_S + LATE_S
    assert told.matched("R4(d)") == "yes"
    assert "all threads of 4 ranks sleep" in told.verdict.sentence
    assert "a deadlock" in told.verdict.cause
    assert told.verdict.next_step.startswith("tminus diagnose")


@of("flock")
def test_a_lock_held_by_a_quiet_rank_is_hung_with_its_holder_as_culprit(stuck: Watched) -> None:
    told = stuck.first("hung")

    assert stuck.words[-1] == "hung"
    assert QUIET_S - EARLY_S - stuck.unseen_s <= told.at_s <= QUIET_S + LATE_S
    assert told.matched("R4(b)") == "yes"
    assert (told.verdict.rank, told.verdict.pid) == ("TP1", stuck.pids["TP1"])
    assert told.verdict.waiting == ("TP0",)
    assert told.verdict.cause.endswith("build.lock")
    assert told.verdict.confidence == "proof"


@of("stale-lock")
def test_a_lock_file_that_nobody_holds_is_hung_with_its_path_and_how_to_remove_it(stuck: Watched) -> None:
    told = stuck.first("hung")

    assert stuck.words[-1] == "hung"
    assert QUIET_S - EARLY_S - stuck.unseen_s <= told.at_s <= QUIET_S + LATE_S
    assert told.matched("R4(a)") == "yes"
    assert told.verdict.next_step.startswith("rm /")
    assert told.verdict.next_step.endswith("/fused_moe/lock")
    assert sorted(told.verdict.waiting) == ["TP0", "TP1", "TP2", "TP3"]
    assert told.verdict.confidence == "pattern"  # no line of the log names it


@of("held-lock")
def test_a_lock_file_that_a_living_rank_has_open_is_no_alarm(stuck: Watched) -> None:
    assert set(stuck.words) <= {"progressing", "quiet"}
    assert stuck.told[-1].matched("R4(a)") == "no"


@of("live-lock")
def test_a_lock_file_whose_holder_compiles_is_progress_for_which_the_others_wait(stuck: Watched) -> None:
    assert stuck.words == ["progressing"]
    assert (stuck.last.rank, stuck.last.pid) == ("TP0", stuck.pids["TP0"])
    assert sorted(stuck.last.waiting) == ["TP1", "TP2", "TP3"]


@of("cpu-work")
def test_work_of_one_cpu_thread_is_never_called_stuck_without_doubt(stuck: Watched) -> None:
    """It runs for 75 s; the threshold of this phase is reached with its end told again and again."""
    longer = stretched(stuck, KV_CACHE_S + 60.0)

    assert set(stuck.words) <= {"progressing", "quiet"}
    assert longer.words[-2:] == ["quiet", "stalled"]
    assert longer.first("stalled").at_s >= KV_CACHE_S - EARLY_S - stuck.unseen_s
    assert longer.last.confidence == "guess"
    assert longer.last.cause.startswith("TP0 works on one CPU thread (repacking, tracing), or spins")
    assert longer.last.not_to_do == "do not kill it before two dumps are the same"


@of("compiling")
def test_a_compiler_at_work_is_progress_for_which_the_others_wait(stuck: Watched) -> None:
    assert stuck.words == ["progressing"]
    assert (stuck.last.rank, stuck.last.pid) == ("TP1", stuck.pids["TP1"])
    assert "3 wait for TP1" in stuck.last.sentence
    assert sorted(stuck.last.waiting) == ["TP0", "TP2", "TP3"]


@of("compiling")
def test_a_compiler_at_work_is_no_alarm_however_long_it_takes(stuck: Watched) -> None:
    """It runs for 75 s, and for 20 minutes with its end told again and again."""
    longer = stretched(stuck, 1200.0)

    assert longer.words == ["progressing"]
    assert longer.told[-1].at_s >= 1190.0


@of("compiler-killed")
def test_a_rank_that_ends_with_its_compiler_is_dead_by_a_failed_compilation(stuck: Watched) -> None:
    assert stuck.words[-1] == "dead"
    assert (stuck.last.rank, stuck.last.pid) == ("TP1", stuck.pids["TP1"])
    assert stuck.last.cause == "the log tells why: Compiling a kernel or a graph failed."
    assert "compiler" in stuck.last.next_step


@of("refused-peer")
def test_ranks_that_another_node_refuses_stall_and_are_said_to_wait_for_other_hosts(stuck: Watched) -> None:
    """It runs for 75 s; the threshold for several nodes is reached with its end told again and again."""
    longer = stretched(stuck, NODES_S + 60.0)

    assert set(stuck.words) <= {"progressing", "quiet"}
    assert longer.words[-2:] == ["quiet", "stalled"]
    assert longer.first("stalled").at_s >= NODES_S - EARLY_S - stuck.unseen_s
    assert longer.last.cause.startswith("waiting for ranks of other hosts")
    assert "NCCL_SOCKET_IFNAME" in longer.last.next_step


@of("memory")
def test_a_rank_that_the_kernel_killed_for_memory_is_dead_for_that_reason(stuck: Watched) -> None:
    assert stuck.words[-1] == "dead"
    assert (stuck.last.rank, stuck.last.pid) == ("TP1", stuck.pids["TP1"])
    assert stuck.last.cause.startswith("killed for memory")
