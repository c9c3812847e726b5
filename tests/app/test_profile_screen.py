"""Choosing what the benchmark key fires, and cancelling with Esc."""

from dataclasses import replace

import pytest
from textual.pilot import Pilot

from tui.app import TminusApp
from tui.screens.profiles import ProfileScreen
from tui.view import StillView
from widgets.values import BenchPanel, ProfileRow

PROFILES = [
    ProfileRow("decode", "the figure people quote as tok/s", "1 stream, 64 in, 256 out", chosen=True),
    ProfileRow("serve", "a server under load", "16 streams, 1024 in, 256 out"),
    ProfileRow("sweep", "where it saturates", "1, 2, 4 streams"),
]


@pytest.fixture
def stocked(view: StillView) -> StillView:
    view.workloads = list(PROFILES)
    return view


async def opened(pilot: Pilot[None]) -> ProfileScreen:
    await pilot.press("B")
    await pilot.pause()
    screen = pilot.app.screen
    assert isinstance(screen, ProfileScreen)
    return screen


def drawn(screen: ProfileScreen) -> str:
    return "\n".join(screen.pane.render_line(y).text for y in range(screen.pane.size.height))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
async def test_the_profiles_stand_with_what_they_are_for(stocked: StillView, size: tuple[int, int]) -> None:
    async with TminusApp(stocked).run_test(size=size) as pilot:
        text = drawn(await opened(pilot))
    for profile in PROFILES:
        assert profile.name in text
        assert profile.about in text
        assert profile.words in text
    assert text.count("b runs it") == 1


async def test_enter_chooses_what_the_pointer_stands_on(stocked: StillView) -> None:
    async with TminusApp(stocked).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("down", "enter")
        await pilot.pause()
        assert pilot.app.screen is not None
        assert not isinstance(pilot.app.screen, ProfileScreen)
    assert [row.name for row in stocked.workloads if row.chosen] == ["serve"]


@pytest.mark.parametrize("key", ["escape", "q", "B"])
async def test_it_closes_without_a_choice(stocked: StillView, key: str) -> None:
    async with TminusApp(stocked).run_test(size=(80, 24)) as pilot:
        await opened(pilot)
        await pilot.press("down", key)
        await pilot.pause()
        assert not isinstance(pilot.app.screen, ProfileScreen)
    assert [row.name for row in stocked.workloads if row.chosen] == ["decode"]


async def test_many_profiles_scroll_with_the_pointer(stocked: StillView) -> None:
    stocked.workloads = [ProfileRow(f"mine-{number}", "one of many", "1 stream") for number in range(30)]
    async with TminusApp(stocked).run_test(size=(80, 24)) as pilot:
        screen = await opened(pilot)
        await pilot.press(*["down"] * 29)
        assert "mine-29" in drawn(screen)


async def test_escape_cancels_what_runs_or_is_armed_and_nothing_else(view: StillView) -> None:
    cancelled: list[str] = []

    def cancel() -> str:
        cancelled.append("now")
        return "cancelling the benchmark"

    view.cancel_bench = cancel
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("escape")
        assert cancelled == []
        view.shown = replace(view.shown, bench=BenchPanel("measuring", pending=True))
        app.main.paint()
        await pilot.press("z", "escape")
        assert cancelled == [], "the first Esc leaves the zoom"
        await pilot.press("escape")
        assert cancelled == ["now"]
