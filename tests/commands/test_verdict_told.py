"""The verdict as commands print it: each change once, with who, why and what to do."""

from collections.abc import Callable
from functools import cache

import pytest
from msgspec import structs

from tui.commands.demo import Settled, tape_of
from tui.commands.records import AnyRecord, JudgementPart, VerdictRecord, end_record, line
from tui.commands.report import Reporter, Talker, end_words, verdict_words
from tui.commands.wait import ending_of
from tui.demo.scenario import scenario
from tui.demo.tape import simulation
from tui.replay.ending import ending, not_yet
from tui.replay.headless import Run
from tui.watch.state import WatchState
from tui.watch.verdict.verdict import Word

NO_KILL = "do not kill it yet"


class Told:
    """What a scenario makes a command print, and the run at its end."""

    def __init__(self, name: str, stop: Callable[[Run], bool] = lambda _run: False) -> None:
        chosen = scenario(name)
        simulated = simulation(chosen)
        settled = Settled(simulated.told_s)
        reporter, talker = Reporter(), Talker()
        self.run = Run(tape_of(chosen, simulated))
        self.records: list[AnyRecord] = []
        self.lines: list[tuple[float, str]] = []
        for step in self.run.steps():
            found = list(reporter.records(step.event, self.run.state, step.t))
            self.records += found
            said = talker.lines(step.event, self.run.state, found)
            self.lines += [(step.t, text) for text in said if text]
            if settled(step, self.run.state) or stop(self.run):
                break

    @property
    def state(self) -> WatchState:
        return self.run.state

    @property
    def verdicts(self) -> list[VerdictRecord]:
        return [each for each in self.records if isinstance(each, VerdictRecord)]

    def said(self, word: str) -> list[str]:
        return [text for _, text in self.lines if text.startswith(word)]


@cache
def whole(name: str) -> Told:
    return Told(name)


def until(name: str, word: Word) -> WatchState:
    """Return the state when a word was first thought of a load."""
    return Told(name, lambda run: run.state.verdict == word).state


def part(**changes: object) -> JudgementPart:
    return structs.replace(JudgementPart(verdict="quiet", reason="quiet in weights for 0:30"), **changes)


def test_a_verdict_is_told_for_each_word_culprit_and_cause_and_not_each_second() -> None:
    told = [(each.verdict, each.rank, each.cause) for each in whole("capture-hang").verdicts]

    assert told == list(dict.fromkeys(told))
    assert told[0] == ("progressing", None, "")
    assert [word for word, _, _ in told][-2:] == ["quiet", "hung"]


def test_a_hang_is_told_with_figures_cause_culprit_who_waits_and_what_to_do() -> None:
    *_, hung = whole("capture-hang").verdicts

    assert (hung.rank, hung.pid) == ("TP5", 4205)
    assert hung.reason.startswith("hung in capture (17 of 36, bs=120 under way)")
    assert hung.waiting == ("TP0", "TP1", "TP2", "TP3", "TP4", "TP6", "TP7")
    assert (hung.cause != "", hung.confidence) == (True, "pattern")
    assert 3 <= len(hung.figures) <= 5
    assert hung.next_step == "py-spy dump --nonblocking --pid 4205"
    assert hung.not_to_do.startswith(NO_KILL)
    assert hung.since == pytest.approx(32.0, abs=1.5)
    assert hung.t >= 90.0


def test_a_quiet_load_has_a_time_at_which_it_counts_as_stuck() -> None:
    quiet = next(each for each in whole("capture-hang").verdicts if each.verdict == "quiet")

    assert quiet.until is not None
    assert quiet.until > quiet.t
    assert line(quiet).startswith('{"event":"verdict","t":')


def test_people_get_one_line_for_each_change_and_none_for_a_load_that_simply_goes_on() -> None:
    told = whole("capture-hang")

    assert [text for t, text in told.lines if t < 20.0 and "progressing" in text] == []
    [quiet] = told.said("quiet in capture (17 of 36, bs=120 under way) for 0:30")
    [hung] = told.said("hung in capture (17 of 36, bs=120 under way)")
    assert quiet.endswith("counts as stalled in 0:29")
    assert "7 wait for TP5 (pid 4205)" in hung
    assert "; next: py-spy dump --nonblocking --pid 4205; do not kill it yet" in hung
    assert whole("ready").said("progressing") == []


def test_a_load_that_goes_on_again_is_told() -> None:
    told = whole("slow-storage")
    words = [each.verdict for each in told.verdicts]

    assert words[-1] == "ready"
    assert len(told.said("progressing")) == words[1:].count("progressing")


def test_a_word_that_its_sentence_does_not_begin_with_is_said_before_it() -> None:
    dead = part(verdict="dead", reason="the server (pid 7) ended")

    assert verdict_words(dead, 1.0) == "dead: the server (pid 7) ended"
    assert verdict_words(part(verdict="ready", reason=""), 1.0) == "ready"


# How it ends.


@pytest.mark.parametrize(("name", "word"), [("capture-hang", "hung"), ("capture-suspended", "suspended")])
def test_a_tape_whose_last_verdict_is_that_it_is_stuck_has_failed_by_it(name: str, word: Word) -> None:
    told = whole(name)
    outcome, fault, reason = ending(told.state, told.run.t)
    end = end_record(told.state, outcome, fault, reason, told.run.t, told.run.now_s)

    assert (outcome, fault, end.verdict) == ("failed", word, word)
    assert reason.startswith(f"{word} in capture (17 of 36, bs=120 under way)")
    assert "TP5 (pid 4205)" in reason
    assert end.judgement is not None
    assert end.judgement.rank == "TP5"
    assert end.cause is None
    assert f"(next: {end.judgement.next_step})" in end_words(end)


def test_a_tape_that_ends_while_a_load_is_only_quiet_is_a_time_out_that_says_so() -> None:
    outcome, fault, reason = ending(until("capture-hang", "quiet"), 62.6)

    assert (outcome, fault) == ("timeout", None)
    assert reason.startswith(
        "not ready when it ends, after 1:02: quiet in capture (17 of 36, bs=120 under way) for 0:30"
    )


def test_a_load_that_goes_on_is_not_ready_for_what_is_not_there_yet() -> None:
    assert not_yet(until("ready", "progressing")) == "progressing in launch; port: connection refused"


def test_what_a_person_has_to_see_to_comes_before_the_verdict() -> None:
    assert not_yet(until("wrong-model", "quiet")).startswith("model: serves")


def test_the_end_of_a_ready_load_says_nothing_of_a_verdict() -> None:
    told = whole("ready")
    end = end_record(told.state, "ready", None, "", told.run.t, told.run.now_s)

    assert "judgement" not in line(end)


# What wait ends by, where it is asked to.


@pytest.mark.parametrize("name", ["capture-hang", "capture-suspended"])
@pytest.mark.parametrize("word", ["stalled", "hung", "suspended"])
def test_a_wait_ends_by_the_word_asked_for_and_by_what_is_as_bad(name: str, word: Word) -> None:
    state = whole(name).state
    ended = ending_of(state, restarts=False, fail_on=(word,))

    assert ended is not None
    assert (ended.outcome, ended.fault) == ("failed", state.verdict)
    assert "TP5 (pid 4205)" in ended.reason


def test_a_wait_goes_on_where_no_word_was_asked_for_or_the_load_is_only_quiet() -> None:
    assert ending_of(whole("capture-hang").state, restarts=False) is None
    assert ending_of(until("capture-hang", "quiet"), restarts=False, fail_on=("stalled", "hung")) is None


def test_a_rank_that_died_counts_as_worse_unless_a_restart_is_waited_for() -> None:
    state = until("rank-killed", "dead")
    assert state.outcome is None

    ended = ending_of(state, restarts=False, fail_on=("hung",))
    assert ended is not None
    assert (ended.fault, "TP5" in ended.reason) == ("dead", True)
    assert ending_of(state, restarts=True, fail_on=("hung",)) is None
