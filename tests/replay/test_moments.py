"""What a tape holds to jump to."""

from collections.abc import Iterator
from dataclasses import replace

from tapes import load, tape

from tui.events import AnyEvent
from tui.replay.moments import Moments, look_through
from tui.watch.transitions import Transition

WEIGHTS = Transition(10.0, "phase", "launch", "weights")
PORT = Transition(45.0, "readiness", "process", "port")
BACK = Transition(50.0, "phase", "capture", "weights")
POOL = Transition(50.0, "phase", "weights", "kv_cache")
GONE = Transition(60.0, "verdict", "ready", None)
ALL = [WEIGHTS, PORT, BACK, POOL, GONE]


def looked() -> Moments:
    return Moments(list(ALL), 70.0, complete=True)


def test_the_next_change_is_later_and_the_last_one_earlier_than_now() -> None:
    moments = looked()
    assert moments.after(0.0) == WEIGHTS
    assert moments.after(10.0) == PORT
    assert moments.after(60.0) is None
    assert moments.before(70.0) == GONE
    assert moments.before(45.0) == WEIGHTS
    assert moments.before(10.0) is None


def test_of_several_changes_at_one_moment_the_first_comes_next_and_the_last_came_before() -> None:
    assert looked().after(45.0) == BACK
    assert looked().before(60.0) == POOL


def test_a_kind_passes_over_the_others() -> None:
    assert looked().after(0.0, "readiness") == PORT
    assert looked().before(70.0, "phase") == POOL
    assert looked().after(0.0, "fault") is None


def test_a_word_is_reached_next_after_now_else_for_the_first_time() -> None:
    moments = looked()
    assert moments.reached("weights", 0.0) == WEIGHTS
    assert moments.reached("weights", 10.0) == BACK
    assert moments.reached("weights", 50.0) == WEIGHTS
    assert moments.reached("ready", 0.0) is None


def test_a_word_may_be_as_it_is_shown_or_as_it_is_in_json() -> None:
    assert looked().reached("kv_cache", 0.0) == POOL
    warm_up = Moments([Transition(1.0, "phase", None, "warmup")])
    assert warm_up.reached("warmup", 0.0) == warm_up.reached("warm-up", 0.0) == warm_up.changes[0]


def test_looking_through_finds_every_change_and_the_length() -> None:
    moments = Moments()
    for _ in look_through(tape(load()), moments):
        assert not moments.complete
    assert moments.complete
    assert moments.length_s == 60.0
    assert [(each.t, each.after) for each in moments.changes if each.kind == "phase"] == [
        (0.0, "launch"),
        (10.0, "weights"),
        (30.0, "capture"),
        (45.0, "warmup"),
        (50.0, "ready"),
    ]


def test_a_tape_without_events_has_no_length() -> None:
    moments = Moments()
    assert list(look_through(tape([]), moments)) == []
    assert (moments.complete, moments.length_s, moments.changes) == (True, 0.0, [])


def test_a_tape_without_end_is_looked_through_by_its_outline() -> None:
    def endless() -> Iterator[AnyEvent]:
        raise AssertionError

    moments = Moments()
    made = replace(tape([]), read=endless, outline=lambda: iter(load()))
    assert len(list(look_through(made, moments))) == len(load())
    assert moments.length_s == 60.0
