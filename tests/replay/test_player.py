"""The needle over a tape: where it is, what is shown there, and what each key does to it."""

import msgspec
import pytest
from playing import Played
from tapes import BEGAN_S, WALL_AHEAD_S, load, tape

from tui.engines.phase import Phase
from tui.events import AnyEvent, Link, Tick
from tui.replay.player import END, IDLE_S, Player


@pytest.fixture
def played() -> Played:
    """Return a load of 60 s that is ready at 50 s, at its beginning."""
    return Played(tape(load())).settle()


def test_it_plays_as_fast_as_the_clock(played: Played) -> None:
    played.after(20.0)
    assert played.player.t == 20.0
    assert played.newest.endswith("line 20")
    assert played.player.client_now_s() == BEGAN_S + 20.0


def test_the_time_of_day_is_the_hosts_also_where_the_watching_machine_was_wrong() -> None:
    events = [replaced(event, 7200.0) if isinstance(event, Tick | Link) else event for event in load()]
    played = Played(tape(events)).settle().after(20.5)
    assert played.player.wall_now_s() == pytest.approx(BEGAN_S + WALL_AHEAD_S + 20.5)


def replaced(event: AnyEvent, late_s: float) -> AnyEvent:
    return msgspec.structs.replace(event, wall_s=event.wall_s + late_s)


def test_no_time_of_day_is_made_up_where_none_was_recorded() -> None:
    events = [msgspec.structs.replace(event, wall_s=0.0) for event in load()]
    assert Played(tape(events)).settle().after(20.0).player.wall_now_s() is None


def test_a_pause_holds_everything_and_playing_goes_on_from_there(played: Played) -> None:
    played.after(20.0).player.toggle()
    played.after(100.0)
    assert (played.player.playing, played.player.t, played.player.client_now_s()) == (
        False,
        20.0,
        BEGAN_S + 20,
    )
    played.player.toggle()
    played.after(1.0)
    assert (played.player.playing, played.player.t) == (True, 21.0)


def test_pausing_twice_changes_nothing(played: Played) -> None:
    played.after(20.0).player.pause()
    played.after(5.0).player.pause()
    assert played.player.t == 20.0


def test_another_speed_counts_from_now_on(played: Played) -> None:
    played.after(10.0).player.set_speed(10.0)
    played.after(1.0)
    assert played.player.t == pytest.approx(20.0)
    played.player.set_speed(0.1)
    played.after(10.0)
    assert played.player.t == pytest.approx(21.0)


@pytest.mark.parametrize(("asked", "given"), [(0.0, 0.1), (-3.0, 0.1), (1000.0, 100.0), (3.0, 3.0)])
def test_a_speed_stays_between_a_tenth_and_a_hundred(played: Played, asked: float, given: float) -> None:
    played.player.set_speed(asked)
    assert played.player.speed == given
    assert Player(played.player.tape, speed=asked).speed == given


def test_speeds_go_up_and_down_in_steps_and_stop_at_both_ends(played: Played) -> None:
    player = played.player
    player.set_speed(3.0)
    player.faster(1)
    assert player.speed == 5.0
    player.faster(-1)
    assert player.speed == 2.0
    for _ in range(20):
        player.faster(1)
    assert player.speed == 100.0
    for _ in range(20):
        player.faster(-1)
    assert player.speed == 0.1


def test_going_forward_keeps_the_state_and_going_back_begins_a_new_one(played: Played) -> None:
    state = played.player.state
    played.player.pause()
    played.player.seek(40.0)
    played.settle()
    assert played.player.state is state
    assert (played.player.generation, played.player.state.phase) == (0, Phase.CAPTURE)
    played.player.seek(20.0)
    played.settle()
    assert played.player.state is not state
    assert (played.player.generation, played.player.state.phase) == (1, Phase.WEIGHTS)
    assert played.newest.endswith("line 20")


def test_what_happens_at_the_very_moment_is_shown(played: Played) -> None:
    played.player.pause()
    for t in (30.0, 29.999, 30.0):
        played.player.seek(t)
        played.settle()
        assert played.player.state.phase is (Phase.CAPTURE if t == 30.0 else Phase.WEIGHTS)


def test_going_to_where_it_is_changes_nothing(played: Played) -> None:
    played.player.pause()
    played.player.seek(30.0)
    played.settle()
    played.player.seek(30.0)
    played.settle()
    assert (played.player.t, played.player.generation) == (30.0, 0)


@pytest.mark.parametrize("target", [1e9, END, 60.0])
def test_beyond_the_end_is_the_end(played: Played, target: float) -> None:
    played.player.pause()
    played.player.seek(target)
    played.settle()
    assert (played.player.t, played.player.ended) == (60.0, True)


def test_before_the_beginning_is_the_beginning(played: Played) -> None:
    played.after(20.0).player.pause()
    played.player.seek(-5.0)
    played.settle()
    assert (played.player.t, played.player.generation) == (0.0, 1)
    assert not played.player.state.log.lines


def test_the_end_stops_it_and_playing_on_begins_anew(played: Played) -> None:
    played.after(1000.0)
    assert (played.player.playing, played.player.ended, played.player.t) == (False, True, 60.0)
    assert played.player.client_now_s() == BEGAN_S + 60.0
    played.player.toggle()
    played.settle()
    assert (played.player.playing, played.player.ended, played.player.generation) == (True, False, 1)
    assert played.after(10.0).player.t == pytest.approx(10.0)


def test_from_the_end_it_can_be_taken_back_and_plays_on(played: Played) -> None:
    played.after(1000.0).player.seek(55.0)
    played.settle()
    assert not played.player.ended
    played.player.toggle()
    assert played.after(2.0).player.t == pytest.approx(57.0)


# While the state is on its way.


def test_the_clock_is_never_ahead_of_the_state_while_it_is_on_its_way_forward(played: Played) -> None:
    played.after(5.0)
    played.player.seek(50.0)
    played.slow()
    shown: list[float] = []
    while played.player.seeking:
        played.player.work()
        shown.append(played.player.client_now_s() - BEGAN_S)
        assert played.player.t == pytest.approx(50.0, abs=0.1)
    assert shown == sorted(shown)
    assert len(set(shown)) > 10
    assert shown[0] < 7.0


def test_the_old_picture_stays_whole_until_the_new_one_is_there(played: Played) -> None:
    played.after(40.0)
    old = played.player.state
    played.player.seek(35.0)
    played.slow()
    for _ in range(20):
        played.player.work()
        assert played.player.seeking
        assert played.player.state is old
        assert played.player.client_now_s() == BEGAN_S + 40.0
        assert played.player.t == 35.0
    played.quick()
    played.settle()
    assert played.player.state is not old
    assert played.player.client_now_s() == pytest.approx(BEGAN_S + 35.0)


def test_it_plays_on_from_where_it_was_sent_however_long_the_way_took(played: Played) -> None:
    played.after(40.0)
    played.player.seek(10.0)
    played.slow()
    while played.player.seeking:
        played.player.work()
    played.quick()
    before = played.player.t
    assert before == pytest.approx(10.0, abs=0.1)
    assert played.after(5.0).player.t == pytest.approx(before + 5.0)


def test_keys_on_the_way_back_need_no_second_way(played: Played) -> None:
    played.after(40.0).player.pause()
    played.player.seek(30.0)
    played.slow()
    for _ in range(5):
        played.player.work()
    played.player.seek(31.0)
    played.player.seek(29.0)
    played.quick()
    played.settle()
    assert (played.player.t, played.player.generation, played.newest[-7:]) == (29.0, 1, "line 29")


def test_going_forward_again_on_the_way_back_drops_the_way_back(played: Played) -> None:
    played.after(40.0).player.pause()
    played.player.seek(30.0)
    played.slow()
    played.player.work()
    played.player.seek(41.0)
    played.quick()
    played.settle()
    assert (played.player.t, played.player.generation) == (41.0, 0)


def test_a_tape_that_is_read_more_slowly_than_it_should_play_plays_more_slowly() -> None:
    played = Played(tape(load()), speed=100.0)
    played.settle()
    played.slow()
    for _ in range(20):
        played.player.work()
        assert played.player.client_now_s() - BEGAN_S <= played.player.t + 1e-6
    assert played.player.t < 40.0


# While the tape is still being looked through.


def test_keys_work_before_the_tape_was_looked_through() -> None:
    played = Played(tape(load()))
    played.slow()
    played.player.work()
    assert not played.player.moments.complete
    played.player.seek(40.0)
    played.player.pause()
    assert played.player.t == 40.0
    played.quick()
    played.settle()
    assert (played.player.t, played.player.state.phase) == (40.0, Phase.CAPTURE)


@pytest.mark.parametrize("target", [END, 5000.0])
def test_the_end_is_found_before_the_tape_was_looked_through(target: float) -> None:
    played = Played(tape(load()))
    played.player.pause()
    played.player.seek(target)
    assert played.player.t in (0.0, target)
    played.settle()
    assert (played.player.t, played.player.ended) == (60.0, True)


def test_the_player_works_a_short_while_at_a_time() -> None:
    played = Played(tape(load(600)))
    played.hand.look_s = 0.001
    for _ in range(20):
        before_s = played.hand.now_s
        played.player.work()
        assert played.hand.now_s - before_s <= 0.03


def test_it_rests_no_longer_than_until_the_next_event(played: Played) -> None:
    played.after(10.0)
    assert played.player.work() <= IDLE_S
    played.player.set_speed(100.0)
    played.hand.now_s += 0.0099
    played.settle()
    assert played.player.work() <= 0.0002
    played.player.pause()
    assert played.player.work() == IDLE_S
