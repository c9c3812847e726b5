"""What a diagnosis adds: stacks that change are progress (P8), what was found proves a hang (R4 f, g)."""

from verdict_asking import loaded, numbers, rule, verdict
from verdict_host import SPINS, Doing, VerdictHost

from tui.watch.verdict.situation import Proof

WORKS = Doing(state="R", wchan="0", cpu=1.0)
WAITS = Doing(wchan="ep_poll", wakeups=5.0)


def quiet() -> VerdictHost:
    """Return a host whose ranks wait for something that no other rule knows, for a minute."""
    host = loaded(2, seconds=0)
    host.all_do(WAITS)
    host.run(60)
    return host


def test_a_stack_that_changed_is_progress_for_30_s() -> None:
    host = quiet()
    assert verdict(host).word == "quiet"

    host.movement.stack_moved(102, host.at().now_s)

    found = verdict(host)
    assert (found.word, found.rank) == ("progressing", "TP1")
    host.run(31)
    assert verdict(host).word == "quiet"


def test_three_equal_stacks_of_who_does_nothing_are_a_proof() -> None:
    host = quiet()
    proof = Proof("stacks", "the stack of TP1 is unchanged", "TP1", 102, host.at().now_s - 20)

    found = verdict(host, proofs=(proof,))

    assert (found.word, found.confidence, found.rank, found.waiting) == ("hung", "proof", "TP1", ("TP0",))


def test_one_line_of_python_may_be_minutes_of_work_on_the_cpu() -> None:
    host = loaded(2, seconds=0)
    host.all_do(WORKS)
    host.run(60)
    proof = Proof("stacks", "the stacks of all 2 processes are unchanged")

    found = verdict(host, proofs=(proof,))

    assert found.word != "hung"
    assert rule(found, "R4(f, g)") == "nearly"
    assert "it may work" in numbers(found, "R4(f, g)")


def test_who_is_behind_by_ras_and_burns_cpu_may_still_come() -> None:
    host = loaded(2, seconds=0)
    host.all_do(WAITS)
    host.doing[1] = WORKS
    host.run(60)
    proof = Proof("ras", "rank 1 is behind", "TP1", 102)

    assert rule(verdict(host, proofs=(proof,)), "R4(f, g)") == "nearly"


def test_who_spins_to_wait_for_a_gpu_does_not_work() -> None:
    host = loaded(2, seconds=0)
    host.all_do(WAITS)
    host.doing[0] = SPINS
    host.run(60)
    proof = Proof("ras", "rank 1 is missing", "TP1", 102)

    assert verdict(host, proofs=(proof,)).word == "hung"


def test_what_moved_after_the_first_look_takes_a_proof_back() -> None:
    host = quiet()
    proof = Proof("stacks", "the stack of TP1 is unchanged", "TP1", 102, host.at().now_s)
    host.run(5)
    host.movement.log_moved("TP0", host.at().now_s)
    host.run(40)

    found = verdict(host, proofs=(proof,))

    assert found.word == "quiet"
    assert numbers(found, "R4(f, g)").endswith("something has moved since")


def test_a_watch_that_has_just_begun_waits_for_30_s_of_silence() -> None:
    host = VerdictHost(2)
    host.all_do(WAITS)
    host.run(21)
    proof = Proof("stacks", "the stack of TP1 is unchanged", "TP1", 102, host.now_s - 20)

    early = verdict(host, proofs=(proof,))
    host.run(10)

    assert (early.word, rule(early, "R4(f, g)")) == ("quiet", "nearly")
    assert verdict(host, proofs=(proof,)).word == "hung"


def test_one_that_is_taken_back_does_not_hide_another() -> None:
    host = quiet()
    old = Proof("stacks", "old", "TP0", 101, 0.0)
    new = Proof("ras", "new", "TP1", 102, host.at().now_s)

    assert verdict(host, proofs=(old, new)).rank == "TP1"
