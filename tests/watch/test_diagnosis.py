"""What a diagnosis comes to: stacks compared and grouped, NCCL RAS in two answers, and what they prove."""

from typing import Literal

from ras_server import HEALTHY, incomplete, mismatch

from tui.signals import Evidence
from tui.watch.diagnosis import Diagnosis

NAMES = {11: "TP0", 12: "TP1", 13: "TP2", 14: "TP3"}
WAITS = "all_reduce (dist.py:7) < forward (model.py:3)"
LOADS = "read (weights.py:5) < load (model.py:9)"
Asked = Literal["stacks", "ras", "diagnosis"]


class Asking:
    """A diagnosis as its events tell of it; each call is one answer, ten seconds after the one before."""

    def __init__(self) -> None:
        self.diagnosis = Diagnosis()
        self.now_s = 1000.0
        self.say("diagnosis", "3 stack dumps of 11, 12 by py-spy")

    def say(
        self,
        asked: Asked,
        sentence: str = "",
        *,
        found: bool = True,
        pid: int | None = None,
        stacks: tuple[str, ...] = (),
        lines: tuple[str, ...] = (),
        last: bool = False,
    ) -> None:
        self.diagnosis.take(
            Evidence(
                mono_s=self.now_s, wall_s=0.0, asked=asked, found=found, sentence=sentence, pid=pid,
                stacks=stacks, lines=lines, last=last,
            )
        )  # fmt: skip

    def round(self, **stacks: str) -> None:
        """Dump once: ``p11="leaf < caller"``; an empty text is a process without a frame."""
        for name, text in stacks.items():
            pid = int(name[1:])
            self.say("stacks", pid=pid, stacks=(f"MainThread {pid}: {text}",))
        self.now_s += 10.0

    def ras(self, text: str) -> None:
        self.say("ras", lines=tuple(text.splitlines()))
        self.now_s += 10.0

    def end(self) -> Diagnosis:
        self.say("diagnosis", "done", last=True)
        return self.diagnosis


def test_a_stack_that_is_the_same_three_times_stands_unchanged_and_is_not_called_a_hang() -> None:
    asking = Asking()
    for _ in range(3):
        asking.round(p11=WAITS)

    diagnosis = asking.end()

    (looked,) = diagnosis.looked()
    assert (looked.standing, looked.span_s) == ("unchanged", 20.0)
    assert "TP0 (pid 11): stack unchanged over 20 s" in diagnosis.lines(NAMES)
    assert "hung" not in " ".join(diagnosis.lines(NAMES))


def test_a_leaf_that_changes_is_progress_at_that_time() -> None:
    asking = Asking()
    asking.round(p11="a (m.py:1) < b (m.py:2)", p12=WAITS)
    asking.round(p11="a (m.py:9) < b (m.py:2)", p12=WAITS)

    assert asking.diagnosis.moved == {11: 1010.0}
    assert asking.end().proofs(NAMES) == ()


def test_another_thread_that_moves_is_progress_too() -> None:
    asking = Asking()
    for leaf in ("read (w.py:1)", "copy (w.py:9)"):
        asking.say("stacks", pid=11, stacks=(f"MainThread 11: {WAITS}", f"loader 77: {leaf}"))

    assert list(asking.diagnosis.moved) == [11]


def test_threads_that_only_keep_house_are_none() -> None:
    asking = Asking()
    for line in (1, 2, 3):
        threads = (
            f"tqdm_monitor 77: wait (t.py:{line})",
            f"x 78: sleep (a.py:{line}) < run_watchdog (a.py:3)",
        )
        asking.say("stacks", pid=11, stacks=(f"MainThread 11: {WAITS}", *threads))

    assert asking.diagnosis.moved == {}
    assert asking.diagnosis.looked()[0].standing == "unchanged"


def test_two_dumps_are_too_few() -> None:
    asking = Asking()
    asking.round(p11=WAITS)
    asking.round(p11=WAITS)

    assert asking.end().looked()[0].standing == "open"
    assert asking.diagnosis.proofs(NAMES) == ()


def test_the_minority_comes_first_and_what_could_not_be_read_last() -> None:
    asking = Asking()
    for _ in range(3):
        asking.say("stacks", "the process has ended", found=False, pid=14)
        asking.round(p11=WAITS, p12=WAITS.replace(":7", ":9"), p13=LOADS)

    groups = asking.end().groups()

    assert [[each.pid for each in group.looked] for group in groups] == [[13], [11, 12], [14]]
    assert asking.diagnosis.lines(NAMES)[1:3] == (
        "TP2 (pid 13): stack unchanged over 20 s",
        "  read (weights.py:5) < load (model.py:9)",
    )
    assert "TP3 (pid 14): no stack: the process has ended" in asking.diagnosis.lines(NAMES)


def test_three_equal_stacks_of_all_prove_and_the_one_that_is_elsewhere_is_named() -> None:
    asking = Asking()
    for _ in range(3):
        asking.round(p11=WAITS, p12=WAITS, p13=LOADS)

    (proof,) = asking.end().proofs(NAMES)

    assert (proof.kind, proof.rank, proof.pid, proof.began_s) == ("stacks", "TP2", 13, 1000.0)
    assert proof.sentence == (
        "the stack of TP2 (pid 13) is unchanged over 20 s in read (weights.py:5), unlike the other 2"
    )


def test_all_in_one_place_or_one_against_one_names_nobody() -> None:
    for places in ({"p11": WAITS, "p12": WAITS}, {"p11": WAITS, "p12": LOADS}):
        asking = Asking()
        for _ in range(3):
            asking.round(**places)

        (proof,) = asking.end().proofs(NAMES)

        assert (proof.rank, proof.pid) == (None, None)


def test_stacks_prove_nothing_before_the_end_nor_while_one_is_unread() -> None:
    asking = Asking()
    for _ in range(3):
        asking.round(p11=WAITS, p12=WAITS)
    assert asking.diagnosis.proofs(NAMES) == ()

    asking.say("stacks", "py-spy did not end within 3 s and was killed", found=False, pid=13)

    assert asking.end().proofs(NAMES) == ()


def test_a_mismatch_that_is_the_same_in_two_answers_proves_who_is_late() -> None:
    asking = Asking()
    asking.ras(mismatch(14))
    assert asking.diagnosis.proofs(NAMES) == ()
    asking.ras(mismatch(14))

    (proof,) = asking.end().proofs(NAMES)

    assert (proof.kind, proof.rank, proof.pid, proof.began_s) == ("ras", "TP3", 14, 1000.0)
    assert proof.sentence.endswith("at 60, others at 64, unchanged in two answers")


def test_counts_that_go_on_prove_nothing() -> None:
    asking = Asking()
    asking.ras(mismatch(14, 60))
    asking.ras(mismatch(14, 61))

    assert asking.end().proofs(NAMES) == ()
    assert any("is behind" in line for line in asking.diagnosis.lines(NAMES))


def test_a_missing_rank_proves_in_two_answers() -> None:
    asking = Asking()
    asking.ras(incomplete(12))
    asking.ras(incomplete(12))

    (proof,) = asking.end().proofs(NAMES)

    assert (proof.rank, proof.pid) == ("TP1", 12)


def test_another_job_at_the_same_port_proves_nothing_of_this_one() -> None:
    asking = Asking()
    asking.ras(incomplete(99))
    asking.ras(incomplete(99))

    assert asking.end().proofs(NAMES) == ()
    assert "NCCL RAS: what it found of another job is left out" in asking.diagnosis.lines(NAMES)


DEAD = "DEAD\n  1 job process is considered dead\n  Process 12 on node 127.0.0.1 managing GPU 1\n"


def test_a_process_that_ras_calls_dead_is_no_proof_unless_it_could_not_be_read() -> None:
    asking = Asking()
    for _ in range(2):
        asking.ras(incomplete(12) + DEAD)
    assert asking.diagnosis.proofs(NAMES) == ()

    asking.say("stacks", "the process has ended", found=False, pid=12)

    assert [proof.pid for proof in asking.diagnosis.proofs(NAMES)] == [12]


def test_one_that_ras_calls_dead_and_that_was_read_is_said_to_live() -> None:
    asking = Asking()
    asking.round(p12="a (m.py:1)")
    asking.ras(incomplete(12) + DEAD)
    asking.ras(incomplete(12) + DEAD)

    assert asking.end().proofs(NAMES) == ()
    assert any("was stopped for a while" in line for line in asking.diagnosis.lines(NAMES))


def test_a_healthy_answer_and_one_that_is_not_understood_are_told() -> None:
    asking = Asking()
    asking.ras(HEALTHY)
    assert "NCCL RAS: nothing wrong" in " ".join(asking.end().lines(NAMES))

    asking = Asking()
    asking.ras('{"communicators": [')
    assert "NCCL RAS: its answer is not understood" in asking.end().lines(NAMES)


def test_why_something_was_not_done_is_told() -> None:
    asking = Asking()
    asking.say("stacks", "no py-spy on this user's PATH", found=False)
    asking.say("ras", "NCCL RAS is not asked: it is NCCL 2.26.2", found=False)

    assert asking.end().lines(NAMES) == (
        "asked for: 3 stack dumps of 11, 12 by py-spy",
        "no py-spy on this user's PATH",
        "NCCL RAS is not asked: it is NCCL 2.26.2",
        "ended: done",
    )


def test_a_second_diagnosis_replaces_the_first() -> None:
    asking = Asking()
    for _ in range(3):
        asking.round(p11=WAITS)
    asking.end()

    asking.say("diagnosis", "again")

    assert asking.diagnosis.looked() == ()
    assert asking.diagnosis.running


def test_one_that_began_in_an_earlier_load_is_not_taken_for_the_new_ones() -> None:
    diagnosis = Diagnosis()

    diagnosis.take(
        Evidence(mono_s=1.0, wall_s=0.0, asked="stacks", found=True, sentence="", pid=1, stacks=("a 1: b",))
    )

    assert diagnosis.looked() == ()
    assert diagnosis.lines({}) == ()


def test_a_lost_link_ends_it() -> None:
    asking = Asking()

    asking.diagnosis.cut()

    assert not asking.diagnosis.running
    assert asking.diagnosis.outcome == "the diagnosis was cut off with the link"


def test_hostile_stacks_are_read_without_harm() -> None:
    asking = Asking()
    asking.say(
        "stacks", pid=11, stacks=("", "x", ": ", "a b c", "MainThread 11:", "MainThread 11: " + " < " * 999)
    )

    assert asking.end().groups()
