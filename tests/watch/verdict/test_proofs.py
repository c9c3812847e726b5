"""What proves a hang (R4), and what only looks like it."""

import shlex
from dataclasses import replace

import pytest
from verdict_asking import loaded, numbers, rule, verdict, words
from verdict_host import IDLES, POLLS, SPINS, Doing, VerdictHost

from tui.engines.phase import Phase
from tui.watch.verdict.situation import Lock, Proof

# R4.


def test_a_lock_without_a_holder_is_a_proof_at_once_when_quiet() -> None:
    host = loaded(2, seconds=0)
    host.all_do(POLLS)
    lock = Lock("/c/build/lock", 600.0, open=False, waiter=102)
    assert verdict(host, locks=(lock,)).word == "progressing"
    host.run(31)
    found = verdict(host, locks=(lock,))
    assert (found.word, found.confidence, found.waiting) == ("hung", "proof", ("TP1",))
    assert found.next_step == "rm /c/build/lock"


def test_the_path_of_a_lock_is_quoted_where_it_may_be_copied_into_a_shell() -> None:
    host = loaded(2, seconds=0)
    host.all_do(POLLS)
    host.run(31)
    lock = Lock("/c/my ext; rm -rf ~ {pid} $(x)/lock", 600.0, open=False, waiter=102)
    found = verdict(host, locks=(lock,))
    assert shlex.split(found.next_step) == ["rm", lock.path]
    assert lock.path in found.cause


def test_a_lock_that_nothing_ties_to_those_who_poll_is_a_pattern_and_nothing_over_several_hosts() -> None:
    host = loaded(2, seconds=0)
    host.all_do(POLLS)
    host.run(31)
    lock = Lock("/c/build/lock", 600.0, open=False)
    found = verdict(host, locks=(lock,))
    assert (found.word, found.confidence, found.waiting) == ("hung", "pattern", ("TP0", "TP1"))
    assert found.sentence.endswith("TP0 and TP1 wait for a lock file that nobody holds")
    assert verdict(host, locks=(replace(lock, named=True),)).confidence == "proof"
    assert verdict(host, locks=(lock,), nodes=2).word == "quiet"


@pytest.mark.parametrize(
    "lock",
    [
        Lock("/c/lock", 600.0, open=True, holder=50, waiter=102),
        Lock("/c/lock", 600.0, open=None, waiter=102),
        Lock("/c/lock", 5.0, open=False, waiter=102),
    ],
)
def test_a_lock_that_is_live_unseen_or_new_proves_nothing(lock: Lock) -> None:
    host = loaded(2, seconds=0)
    host.all_do(POLLS)
    host.run(35)
    assert verdict(host, locks=(lock,)).word == "quiet"


def test_a_stale_lock_that_nobody_polls_for_proves_nothing() -> None:
    host = loaded(2, seconds=35)
    assert verdict(host, locks=(Lock("/c/lock", 600.0, open=False),)).word == "quiet"


def test_a_flock_is_judged_by_its_holder() -> None:
    host = loaded(2, seconds=35)
    held = Lock("/c/lock", 60.0, open=True, holder=101, waiter=102, kind="flock")
    found = verdict(host, locks=(held,))
    assert (found.word, found.rank, found.waiting) == ("hung", "TP0", ("TP1",))
    assert found.next_step == "py-spy dump --nonblocking --pid 101"
    stranger = replace(held, holder=4711)
    assert verdict(host, locks=(stranger,)).word == "quiet"
    assert rule(verdict(host, locks=(stranger,)), "R4(b)") == "nearly"


@pytest.mark.parametrize(
    "lock",
    [
        Lock("/c/lock", 600.0, open=True, holder=101, waiter=102, kind="flock"),
        Lock("/c/lock", 600.0, open=False, waiter=102),
    ],
)
def test_a_watch_that_has_just_begun_takes_no_lock_for_a_hang(lock: Lock) -> None:
    host = VerdictHost(2)
    host.all_do(POLLS)
    host.run(29)
    found = verdict(host, locks=(lock,))
    assert (found.word, found.until_s) == ("quiet", found.since_s + 30.0)
    host.run(2)
    assert verdict(host, locks=(lock,)).word == "hung"


def test_storage_that_does_not_answer_is_told_after_90_s_of_frozen_counters() -> None:
    host = loaded(2, Phase.WEIGHTS)
    host.situation = replace(host.situation, network_storage=True)
    host.all_do(Doing(state="D", wchan="folio_wait_bit_common"))
    host.run(89)
    assert verdict(host).word == "quiet"
    host.run(3)
    found = verdict(host)
    assert (found.word, found.confidence) == ("hung", "proof")
    assert "come back" in found.sentence
    assert "storage" in found.cause


def test_slow_storage_in_state_d_moves() -> None:
    host = loaded(2, Phase.WEIGHTS)
    host.all_do(Doing(state="D", wchan="folio_wait_bit_common", file_mib=0.5, wakeups=4.0, cpu=0.01))
    host.run(400)
    assert verdict(host).word == "progressing"


def test_all_threads_asleep_without_a_wakeup_is_a_hang_after_60_s() -> None:
    host = loaded(1, Phase.KV_CACHE, seconds=5)
    host.run(50)
    assert verdict(host).word == "quiet"
    host.run(15)
    found = verdict(host)
    assert (found.word, found.rank) == ("hung", "TP0")
    assert "sleep" in found.sentence


def test_ranks_that_sleep_while_hosts_meet_are_no_deadlock() -> None:
    host = loaded(1, Phase.DISTRIBUTED)
    host.situation = replace(host.situation, nodes=2)
    host.run(120)
    assert verdict(host).word == "quiet"
    host.run(65)
    found = verdict(host)
    assert found.word == "stalled"
    assert "other hosts" in found.cause


def test_a_wait_for_a_pipe_is_no_deadlock() -> None:
    host = loaded(1, Phase.KV_CACHE)
    host.all_do(replace(IDLES, wchan="anon_pipe_read"))
    host.run(100)
    assert verdict(host).word == "quiet"


@pytest.mark.parametrize("count", [2, 8])
def test_gpus_that_wait_for_an_idle_one_name_its_rank_after_60_s(count: int) -> None:
    host = loaded(count)
    host.all_do(SPINS)
    host.doing[1] = POLLS
    told = words(host, 80)
    assert told[-1][1] == "hung"
    found = verdict(host)
    assert (found.rank, found.pid, found.confidence) == ("TP1", 102, "pattern")
    assert len(found.waiting) == count - 1
    assert len(found.figures) in range(3, 6)


def test_all_gpus_that_wait_name_nobody_and_suspect_the_link_between_them() -> None:
    host = loaded(8, Phase.DISTRIBUTED)
    host.all_do(SPINS)
    host.run(70)
    found = verdict(host)
    assert (found.word, found.rank) == ("hung", None)
    assert "NCCL_P2P_DISABLE" in found.next_step


def test_two_ranks_that_are_missing_are_no_pattern() -> None:
    host = loaded(8)
    host.all_do(SPINS)
    host.doing[1] = host.doing[2] = POLLS
    host.run(100)
    assert verdict(host).word == "quiet"


def test_a_missing_rank_that_burns_cpu_may_work_and_is_not_hung() -> None:
    host = loaded(8)
    host.all_do(SPINS)
    host.doing[1] = replace(IDLES, state="R", wchan="0", cpu=1.0)
    host.run(200)
    found = verdict(host)
    assert (found.word, rule(found, "R4(e)")) == ("quiet", "nearly")
    assert (found.rank, "CPU thread" in found.cause) == ("TP1", True)
    host.run(200)
    assert (verdict(host).word, verdict(host).rank) == ("stalled", "TP1")


def test_what_was_found_on_request_is_a_proof() -> None:
    host = loaded(2, seconds=35)
    asked = Proof("ras", "INCOMPLETE: rank 1 is missing", "TP1", 102)
    found = verdict(host, proofs=(asked,))
    assert (found.word, found.rank, found.confidence) == ("hung", "TP1", "proof")


def test_of_several_locks_left_behind_the_one_that_the_log_names_is_waited_for() -> None:
    host = loaded(2, seconds=0)
    host.all_do(POLLS)
    host.run(31)
    old, named = Lock("/c/old/lock", 9e6, open=False), Lock("/c/new/lock", 60.0, open=False, named=True)
    found = verdict(host, locks=(old, named))
    assert (found.confidence, found.next_step) == ("proof", "rm /c/new/lock")


@pytest.mark.parametrize(("age_s", "word"), [(9.9, "quiet"), (10.1, "hung")])
def test_a_lock_file_counts_from_10_s_on(age_s: float, word: str) -> None:
    host = loaded(2, seconds=0)
    host.all_do(POLLS)
    host.run(35)
    assert verdict(host, locks=(Lock("/c/lock", age_s, open=False, named=True),)).word == word


def test_a_lock_that_the_log_names_is_a_proof_over_several_hosts_too() -> None:
    host = loaded(2, seconds=0)
    host.all_do(POLLS)
    host.run(35)
    found = verdict(host, locks=(Lock("/c/lock", 60.0, open=False, named=True),), nodes=2)
    assert (found.word, found.confidence) == ("hung", "proof")


def test_a_lock_of_a_busy_holder_hides_none_that_hangs() -> None:
    host = loaded(3, seconds=0)
    host.doing[0] = replace(IDLES, state="R", wchan="0", cpu=1.0)
    host.run(40)
    busy = Lock("/c/a.lock", 60.0, open=True, holder=101, waiter=103, kind="flock")
    hangs = Lock("/c/b.lock", 60.0, open=True, holder=102, waiter=103, kind="flock")
    found = verdict(host, locks=(busy, hangs))
    assert (found.word, found.rank, found.waiting) == ("hung", "TP1", ("TP2",))


def test_a_holder_that_nobody_sees_has_no_pid() -> None:
    host = loaded(2, seconds=35)
    lock = Lock("/c/lock", 60.0, open=None, waiter=102, kind="flock")
    told = numbers(verdict(host, locks=(lock,)), "R4(b)")
    assert told == "/c/lock is held by a process that is not seen, whose work is not known"


@pytest.mark.parametrize(("sleeps", "word"), [(True, "hung"), (False, "quiet")])
def test_a_missing_rank_whose_files_cannot_be_read_does_nothing_only_while_it_sleeps(
    sleeps: bool, word: str
) -> None:
    host = loaded(4)
    host.all_do(SPINS)
    host.doing[1] = replace(IDLES, io=False, wakeups=0.0 if sleeps else 5.0)
    host.run(100)
    assert verdict(host).word == word


def test_a_quiet_load_whose_gpus_only_wait_counts_down_to_a_hang() -> None:
    host = loaded(8, Phase.COMPILE, seconds=0)
    host.all_do(SPINS)
    host.doing[3] = IDLES
    host.run(45)
    found = verdict(host)
    assert (found.word, found.then) == ("quiet", "hung")
    assert found.until_s is not None
    host.run(int(found.until_s - host.now_s) + 1)
    assert verdict(host).word == "hung"
