"""What all threads of a rank tell: one is stuck in the kernel while the main one sleeps, one wakes up."""

from dataclasses import replace

import pytest
from verdict_asking import loaded, numbers, rule, verdict
from verdict_host import IDLES, LOADS, POLLS

from tui.engines.phase import Phase
from tui.signals import ThreadSignals
from tui.watch.verdict.thread_moves import ThreadMoves


def test_a_thread_stuck_in_the_kernel_behind_a_sleeping_main_thread_is_told_after_90_s() -> None:
    host = loaded(2, Phase.WEIGHTS)
    host.situation = replace(host.situation, network_storage=True)
    # The others look after things: they wake up, and use some CPU time.
    host.doing[1] = replace(POLLS, threads="SSSD", thread_wakeups=20.0)
    host.run(89)
    found = verdict(host)
    assert (found.word, rule(found, "R4(c)")) == ("quiet", "nearly")
    assert "folio_wait_bit_common" in numbers(found, "R4(c)")
    host.run(3)
    found = verdict(host)
    assert (found.word, found.rank, found.confidence) == ("hung", "TP1", "proof")
    assert "come back" in found.sentence


def test_a_thread_that_waits_in_the_kernel_and_wakes_up_again_is_not_stuck() -> None:
    host = loaded(2, Phase.WEIGHTS)
    host.situation = replace(host.situation, network_storage=True)
    host.doing[1] = replace(POLLS, threads="SSSD", blocked_wakeups=0.1)
    host.run(115)
    found = verdict(host)
    assert (found.word, rule(found, "R4(c)")) == ("stalled", "nearly")


def test_a_load_whose_thread_waits_in_the_kernel_while_files_come_in_moves() -> None:
    host = loaded(2, Phase.WEIGHTS)
    host.all_do(replace(LOADS, threads="SD", blocked_wakeups=0.0))
    host.run(200)
    assert verdict(host).word == "progressing"


@pytest.mark.parametrize(
    ("threads", "woken", "word"),
    [("SSSS", 0.0, "hung"), ("SSIS", 0.0, "hung"), ("SSSS", 0.1, "quiet"), ("SSSR", 0.0, "quiet")],
)
def test_a_deadlock_is_one_only_where_no_thread_wakes_up(threads: str, woken: float, word: str) -> None:
    host = loaded(1, Phase.KV_CACHE, seconds=0)
    host.all_do(replace(IDLES, threads=threads, thread_wakeups=woken))
    host.run(90)
    found = verdict(host)
    assert found.word == word
    assert word == "hung" or "not all threads of TP0" in numbers(found, "R4(d)")


def test_one_reading_of_the_threads_proves_nothing() -> None:
    host = loaded(1, Phase.KV_CACHE, seconds=0)
    host.all_do(IDLES)
    host.run(58)
    host.all_do(replace(IDLES, threads="SSSS"))
    host.run(20)
    assert verdict(host).word == "quiet"
    host.run(12)
    assert verdict(host).word == "hung"


def test_a_reading_counts_from_when_it_was_made() -> None:
    moves = ThreadMoves()
    for second in range(25):
        told = ThreadSignals(states={"S": 3, "D": 1}, wakeups=9, blocked_wakeups=2, age_s=second % 10.0)
        moves.take(told, 100.0 + second)
    assert moves.seen is not None
    assert (moves.seen.blocked_s, moves.seen.asleep_s) == (20.0, None)
    moves.take(ThreadSignals(states={"S": 4}, wakeups=None), 130.0)
    assert (moves.seen.blocked_s, moves.seen.asleep_s) == (None, None)
    moves.take(None, 131.0)
    assert moves.seen is None
