"""The screen over a tape, driven by keys."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tapes import load, tape
from textual.pilot import Pilot

from tui.app import TminusApp
from tui.commands.replay_screen import PlayerView
from tui.replay.player import Player
from widgets.lines import text_of

LOOKS = 1000


class Hand:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Shown:
    """A replay on a screen, whose time goes on only when a test says so."""

    def __init__(self, pilot: Pilot[None], player: Player, hand: Hand) -> None:
        self.pilot = pilot
        self.player = player
        self.hand = hand
        assert isinstance(pilot.app, TminusApp)
        self.app = pilot.app

    async def after(self, seconds: float) -> None:
        """Let time go on, and everything be read and drawn that is due by then."""
        self.hand.now_s += seconds
        await self.settle()

    async def press(self, *keys: str) -> None:
        """Press keys and let them have their effect."""
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Wait until the player has nothing to do, and paint."""
        for _ in range(LOOKS):
            if self._caught_up():
                break
            await asyncio.sleep(0.01)
        assert self._caught_up()
        self.app.main.flush_log()
        self.app.main.paint()
        await self.pilot.pause()

    def _caught_up(self) -> bool:
        return self.player.moments.complete and self.player.caught_up

    @property
    def bar(self) -> str:
        """The line of the replay."""
        return "".join(text_of(line) for line in self.app.main.replay_bar.lines(100, 1))

    @property
    def verdict(self) -> str:
        """The verdict as drawn."""
        return self.app.main.verdict.render_line(0).text

    @property
    def header(self) -> str:
        """The top line."""
        return text_of(self.app.main.header.lines(100, 1)[0])

    @property
    def newest_line(self) -> str:
        """The newest log line."""
        buffer = self.app.main.log_tail.buffer
        return buffer[buffer.end - 1].text


@asynccontextmanager
async def shown(player: Player, hand: Hand) -> AsyncGenerator[Shown]:
    """Show a player on a screen of 100x30."""
    view = PlayerView(player, rings=False)
    app = TminusApp(view, needle=view)
    async with app.run_test(size=(100, 30)) as pilot:
        playing = asyncio.create_task(player.run())
        screen = Shown(pilot, player, hand)
        await screen.settle()
        try:
            yield screen
        finally:
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)


@pytest.fixture
async def screen(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Shown]:
    """Return a screen over a load of 60 s that is ready at 50 s, at its beginning."""
    monkeypatch.setenv("TERM", "xterm-256color")
    hand = Hand()
    async with shown(Player(tape(load()), clock=hand), hand) as each:
        yield each


async def test_it_plays_with_the_clock_of_the_recording(screen: Shown) -> None:
    await screen.after(20.0)
    assert "REPLAY  1x 0:20 / 1:00" in screen.bar
    assert "capture in 0:10" in screen.bar
    assert "T+ 0:20" in screen.header
    assert screen.newest_line.endswith("line 20")


async def test_space_pauses_and_plays_on_where_it_was(screen: Shown) -> None:
    await screen.after(20.0)
    await screen.press("space")
    await screen.after(30.0)
    assert "paused 0:20" in screen.bar
    await screen.press("space")
    await screen.after(5.0)
    assert "1x 0:25" in screen.bar


async def test_a_full_stop_goes_one_second_on_and_a_comma_one_back(screen: Shown) -> None:
    await screen.after(20.0)
    await screen.press("full_stop")
    assert "paused 0:21" in screen.bar
    await screen.press("comma", "comma")
    assert "paused 0:19" in screen.bar
    assert screen.newest_line.endswith("line 19")


async def test_plus_and_minus_change_the_speed(screen: Shown) -> None:
    await screen.press("plus")
    await screen.after(5.0)
    assert "2x 0:10" in screen.bar
    await screen.press("minus", "minus")
    await screen.after(10.0)
    assert "0.5x 0:15" in screen.bar


async def test_brackets_go_to_the_next_change_and_back(screen: Shown) -> None:
    await screen.after(1.0)
    await screen.press("space", "right_square_bracket")
    assert "paused 0:02" in screen.bar
    assert "PROGRESSING" in screen.verdict
    await screen.press("right_square_bracket")
    assert "paused 0:10" in screen.bar
    assert "weights" in screen.header
    await screen.press("right_square_bracket")
    assert "paused 0:30" in screen.bar
    assert "capture" in screen.header
    await screen.press("left_square_bracket")
    assert "paused 0:10" in screen.bar
    assert "weights" in screen.header


@pytest.mark.parametrize(
    ("wish", "now"), [("0:12", "0:12"), ("ready", "0:50"), ("capture", "0:30"), ("end", "1:00")]
)
async def test_t_goes_to_a_time_or_to_what_is_named(screen: Shown, wish: str, now: str) -> None:
    await screen.press("space", "t", *wish, "enter")
    assert f" {now} / 1:00" in screen.bar


async def test_what_is_typed_as_a_place_is_not_searched_for_in_the_log(screen: Shown) -> None:
    await screen.press("space", "t", *"30", "enter")
    assert screen.app.main.log_tail.buffer.needle == ""
    await screen.press("slash", *"line 7", "enter")
    assert screen.app.main.log_tail.buffer.needle == "line 7"
    assert "paused 0:30" in screen.bar


async def test_a_jump_back_shows_the_log_and_the_phases_of_that_moment(screen: Shown) -> None:
    await screen.after(55.0)
    assert "ready" in screen.header
    await screen.press("space", "t", *"0:12", "enter")
    assert screen.newest_line.endswith("line 12")
    assert "weights" in screen.header
    buffer = screen.app.main.log_tail.buffer
    assert buffer[buffer.first].text.endswith("line 1")


async def test_the_end_is_said_and_space_begins_anew(screen: Shown) -> None:
    await screen.after(70.0)
    assert "the end 1:00 / 1:00" in screen.bar
    await screen.press("space")
    await screen.after(3.0)
    assert "1x 0:03" in screen.bar


async def test_a_benchmark_of_a_recording_is_refused_in_words(screen: Shown) -> None:
    await screen.press("b")
    assert "no server to benchmark" in text_of(screen.app.main.status.lines(100, 1)[0])


async def test_notes_are_dated_by_the_recording(screen: Shown) -> None:
    await screen.after(20.0)
    values = PlayerView(screen.player, rings=False).values()
    assert values.time_of_day != ""
    before = values.time_of_day
    await screen.after(10.0)
    assert PlayerView(screen.player, rings=False).values().time_of_day != before
