"""The verdict as it is shown, from what the rules really say."""

from dataclasses import replace

import pytest
from verdict_asking import loaded, verdict
from verdict_host import COMPILES, IDLES, POLLS, SPINS, STOPPED, VerdictHost

from tui.engines.phase import Phase
from tui.present.verdict import parts, ranks_text, verdict_panel
from tui.watch.verdict.situation import End, Past
from tui.watch.verdict.verdict import Verdict
from widgets.values import Mood, VerdictPanel


def shown(found: Verdict, host: VerdictHost) -> VerdictPanel:
    return verdict_panel(found, host.now_s)


def hung() -> tuple[VerdictHost, Verdict]:
    """Return a load of eight of which seven wait for the sixth."""
    host = loaded(8, seconds=40)
    host.all_do(SPINS)
    host.doing[5] = IDLES
    host.run(112)
    return host, verdict(host)


def test_before_anything_is_known_and_when_all_is_well_there_is_nothing() -> None:
    assert verdict_panel(None, 0.0) == VerdictPanel()
    host = loaded(2, Phase.READY)
    host.situation = replace(host.situation, ready=True, ready_since_s=host.now_s)
    assert shown(verdict(host), host) == VerdictPanel()


def test_a_hang_names_who_waits_for_whom_with_its_time_and_what_to_do() -> None:
    host, found = hung()
    panel = shown(found, host)
    assert (panel.word, panel.mood) == ("HUNG", Mood.BAD)
    assert panel.told == "7 wait for TP5 (pid 106), which does nothing"
    assert panel.place == "in capture"
    assert panel.clock
    assert panel.clock in found.sentence
    assert panel.waiting == "TP0-TP4, TP6, TP7"
    assert panel.cause == (
        "the other ranks wait in a collective that TP5 has not entered (by a known pattern)"
    )
    assert "--pid 106" in panel.next_step
    assert panel.not_to_do.startswith("do not kill it")
    assert not panel.brief


def test_a_load_that_moves_says_so_in_one_row_without_a_clock_of_its_own() -> None:
    host = loaded(8, seconds=40)
    host.all_do(SPINS)
    host.doing[3] = COMPILES
    host.run(90)
    panel = shown(verdict(host), host)
    assert (panel.word, panel.mood, panel.clock, panel.brief) == ("PROGRESSING", Mood.ACTIVE, "", True)
    assert panel.told.startswith("7 wait for TP3 (pid 104), which moves (")


def test_a_quiet_load_counts_down_to_its_stall() -> None:
    host = loaded(2, Phase.LAUNCH, seconds=0)
    host.all_do(POLLS)
    host.run(40)
    found = verdict(host)
    assert found.until_s is not None
    assert shown(found, host).countdown == f"stalled in 0:{int(found.until_s - host.now_s):02}"
    assert found.then == "stalled"
    later = verdict_panel(found, host.now_s + 10)
    assert later.countdown == f"stalled in 0:{int(found.until_s - host.now_s) - 10:02}"
    assert (later.word, later.mood, later.told) == ("QUIET", Mood.WARNING, "")
    assert shown(verdict(host, past=Past(silences_s=(41.0,))), host).countdown.endswith("longest before 0:41")
    assert "longest" not in shown(verdict(host, past=Past(silences_s=(0.4,))), host).countdown


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (End("exit code 1 in capture", "TP1", 102), "exit code 1 in capture"),
        (End("dead: killed in capture"), "killed in capture"),
    ],
)
def test_an_end_is_told_in_one_row_for_the_phases_tell_the_rest(end: End, told: str) -> None:
    host = loaded()
    panel = verdict_panel(verdict(host, end=end), host.now_s, ended=True)
    assert (panel.word, panel.mood, panel.told, panel.brief) == ("DEAD", Mood.BAD, told, True)


def test_a_stopped_rank_is_named_with_the_command_that_lets_it_go_on() -> None:
    host = loaded(8, Phase.WEIGHTS)
    host.doing[5] = STOPPED
    host.run(12)
    panel = shown(verdict(host), host)
    assert (panel.word, panel.mood, panel.clock) == ("SUSPENDED", Mood.BAD, "0:11")
    assert panel.place == "in weights"
    assert panel.told == "TP5 (pid 106) is stopped; 7 ranks cannot go on without it"
    assert panel.next_step == "kill -CONT 106"
    assert panel.cause.endswith("(proven)")


@pytest.mark.parametrize(
    ("sentence", "place", "told"),
    [
        ("hung in capture (12 of 52) for 1:02:12: 7 wait", "in capture (12 of 52)", "7 wait"),
        ("hung for 2 d 3:04:05: 7 wait", "", "7 wait"),
        ("hung: GPU 1 is lost", "", "GPU 1 is lost"),
        ("hung", "", ""),
        ("no prefix: kept whole", "", "no prefix: kept whole"),
    ],
)
def test_a_sentence_is_parted_where_it_says_where_and_what(sentence: str, place: str, told: str) -> None:
    assert parts(Verdict("hung", 0.0, sentence)) == (place, told)


def test_ranks_in_a_row_are_told_as_one() -> None:
    assert ranks_text(()) == ""
    assert ranks_text(("TP0", "TP1", "TP2", "TP4", "DP0", "launcher")) == "TP0-TP2, TP4, DP0, launcher"
    assert ranks_text(("TP6", "TP7")) == "TP6, TP7"
