"""A tape run through without a screen."""

import msgspec
import pytest
from tapes import BEGAN_S, LOG, WALL_AHEAD_S, Clocks, load, tape

from tui.events import AnyEvent, Log, Tick
from tui.replay.headless import Run, Step, play
from tui.replay.tape import Tape
from tui.watch.options import WatchOptions
from tui.watch.state import WatchState


def test_it_plays_to_the_end_and_tells_what_changed() -> None:
    played = play(tape(load(dies_at=55)))
    assert played.length_s == 60.0
    assert played.state.outcome == "failed"
    assert [(each.t, each.kind, each.after) for each in played.transitions][-3:] == [
        (55.0, "readiness", None),
        (55.0, "verdict", "dead"),
        (55.0, "fault", "died"),
    ]


def test_each_step_has_its_event_in_the_state_already() -> None:
    run = Run(tape(load()))
    for step in run.steps():
        assert step.t == run.t == step.event.client_s - BEGAN_S
        if any(each.after == "ready" for each in step.changes):
            assert run.state.ready


def test_it_can_be_stopped_where_something_is_reached() -> None:
    def ready(step: Step, state: WatchState) -> bool:
        return state.ready and step.t >= 50.0

    played = play(tape(load()), ready)
    assert played.length_s == 50.0
    assert played.transitions[-1].after == "ready"


def test_an_empty_tape_has_no_length_and_no_changes() -> None:
    played = play(tape([]))
    assert (played.length_s, played.transitions, played.state.unheard) == (0.0, (), True)


def test_time_never_runs_back() -> None:
    events = load()
    events[30] = msgspec.structs.replace(events[30], client_s=BEGAN_S - 5.0)
    times = [step.t for step in Run(tape(events)).steps()]
    assert times == sorted(times)


def test_what_was_read_ahead_is_known_without_reading() -> None:
    run = Run(tape(load()))
    assert (run.peeked_t, run.over) == (None, False)
    assert run.next_t() == run.peeked_t == 0.0
    for _ in run.steps():
        assert not run.over
    assert (run.next_t(), run.peeked_t, run.over) == (None, None, True)


def test_the_wall_clock_is_the_hosts() -> None:
    events: list[AnyEvent] = [Tick(mono_s=0.0, wall_s=5.0, client_s=BEGAN_S), *load(2)]
    run = Run(tape(events))
    assert run.wall_s is None
    run.advance()
    assert run.wall_s == 5.0
    for _ in run.steps():
        pass
    assert run.wall_s == pytest.approx(BEGAN_S + WALL_AHEAD_S + 2.0)


def test_a_tape_is_read_from_its_beginning_each_time() -> None:
    made = tape(load())
    assert play(made).transitions == play(made).transitions


def test_the_options_of_the_tape_count() -> None:
    made = tape(load(), WatchOptions(ready_on="health"))
    assert isinstance(made, Tape)
    ready = [each for each in play(made).transitions if each.after == "ready" and each.kind == "readiness"]
    assert [each.reason for each in ready] == ["200 OK"]


def test_a_phase_that_an_unfinished_bar_began_has_the_bar_for_its_reason_not_the_ports_answer() -> None:
    clocks = Clocks()
    bar = "Capturing batches (bs=512 avail_mem=9.71 GB):   0%|          | 0/52 [00:00<?, ?it/s]"
    refused = load(31)[-1]
    unfinished = Log(
        **clocks.at(32.0), lines=[], tail=bar, returns=[], path=LOG, device=1, inode=2, offset=10_000
    )

    changes = play(tape([*load(29, ready_at=None), refused, unfinished])).transitions

    assert [(each.after, each.reason) for each in changes if each.after == "capture"] == [("capture", bar)]
