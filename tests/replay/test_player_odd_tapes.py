"""Tapes that are empty, short, broken, out of order or without end."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import msgspec
import pytest
from playing import Hand, Played
from tapes import BEGAN_S, Clocks, load, tape

from tui.events import AnyEvent, Tick
from tui.journal.reader import RecordingFault
from tui.replay.player import END, Player
from tui.replay.tape import Tape
from tui.watch.options import WatchOptions


def test_an_empty_tape_is_at_its_end_at_once() -> None:
    played = Played(tape([])).settle()
    player = played.player
    assert (player.ended, player.t, player.moments.length_s, player.wall_now_s()) == (True, 0.0, 0.0, None)
    player.toggle()
    player.seek(10.0)
    player.seek(-1.0)
    played.after(1.0)
    assert (player.ended, player.t) == (True, 0.0)


def test_a_tape_of_one_event_can_be_played_again_and_again() -> None:
    played = Played(tape(load()[:1])).settle()
    for _ in range(3):
        assert played.player.ended
        played.player.toggle()
        played.after(1.0)
    assert played.player.state.hello is not None


def test_clocks_that_run_a_little_backwards_are_played_in_the_order_of_arrival() -> None:
    events = load()
    events[40] = msgspec.structs.replace(events[40], client_s=events[40].client_s - 0.7)
    played = Played(tape(events)).settle()
    seen = [played.after(0.5).player.client_now_s() for _ in range(100)]
    assert seen == sorted(seen)
    assert played.after(100.0).player.state.ready


def test_time_counts_from_where_the_tape_says() -> None:
    played = Played(replace(tape(load()), origin_s=BEGAN_S - 100.0)).settle()
    assert played.player.moments.length_s == 160.0
    played.player.seek(120.0)
    played.settle()
    assert played.newest.endswith("line 20")


class Breaks:
    """A tape whose file cannot be read any more after so many events."""

    def __init__(self, count: int) -> None:
        self.count = count

    def read(self) -> Iterator[AnyEvent]:
        yield from load()[: self.count]
        raise RecordingFault("the file is gone")


async def test_a_file_that_cannot_be_read_any_more_ends_the_player_with_its_sentence() -> None:
    player = Player(Tape("broken", WatchOptions(), Breaks(20).read), speed=100.0)
    with pytest.raises(RecordingFault, match="the file is gone"):
        await asyncio.wait_for(player.run(), 5.0)


def test_what_is_shown_and_the_keys_never_read_the_file() -> None:
    player = Player(Tape("broken", WatchOptions(), Breaks(0).read), clock=Hand())
    assert not player.ended
    assert not player.caught_up
    assert (player.t, player.wall_now_s(), player.client_now_s()) == (0.0, None, 0.0)
    player.seek(10.0)
    player.toggle()
    player.faster(1)
    with pytest.raises(RecordingFault):
        player.work()


def test_a_tape_without_end_is_played_beyond_what_was_looked_through() -> None:
    def endless() -> Iterator[AnyEvent]:
        yield from load()
        clocks = Clocks()
        for second in range(61, 100_000):
            yield Tick(**clocks.at(float(second)))

    made = Tape("demo", WatchOptions(), endless, outline=lambda: iter(load()))
    played = Played(made).settle().after(500.0)
    assert played.player.t == 500.0
    played.player.pause()
    played.player.seek(501.0)
    played.settle()
    assert (played.player.t, played.player.generation) == (501.0, 0)
    played.player.seek(END)
    played.settle()
    assert played.player.t <= 600.0
