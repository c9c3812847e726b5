"""Several hosts on one screen, driven by keys."""

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any, cast

import pytest
from textual.pilot import Pilot

from tui.app import HostsApp, TminusApp
from tui.screens.hosts import HostsScreen
from tui.view import StillView
from widgets.line_widget import LineWidget
from widgets.values import HostRow, LoadRow, LogLine, Mood, ScreenValues

NAMES = ("gpu-a", "gpu-b", "gpu-c")


class Hosts:
    """Three hosts whose values a test sets."""

    def __init__(self, made: ScreenValues, line: Callable[[int], LogLine]) -> None:
        self.rows = [HostRow(name, Mood.ACTIVE, word="loading", load="weights", link="up") for name in NAMES]
        self.views = [HostStillView(made, self, index) for index in range(len(NAMES))]
        for index, view in enumerate(self.views):
            view.log = [line(number) for number in range(100 + index)]
            view.farewell = [f"{NAMES[index]} was left"]

    def change(self, index: int, **values: object) -> None:
        """Change the row of a host, and its alerts."""
        self.rows[index] = replace(self.rows[index], **cast("dict[str, Any]", values))


class HostStillView(StillView):
    """One of the three."""

    def __init__(self, shown: ScreenValues, hosts: Hosts, index: int) -> None:
        super().__init__(shown)
        self._hosts, self._index = hosts, index
        self.benches = 0

    def values(self) -> ScreenValues:
        rows = [replace(row, shown=at == self._index) for at, row in enumerate(self._hosts.rows)]
        own = rows[self._index]
        header = replace(self.shown.header, host=own.name, phase=own.load)
        return replace(self.shown, header=header, alerts=own.alerts, hosts=tuple(rows))

    def start_bench(self) -> str:
        self.benches += 1
        return "it runs"


@pytest.fixture
def hosts(view: StillView, fake: ModuleType) -> Hosts:
    return Hosts(view.shown, fake.log_line)


def picture(app: TminusApp) -> str:
    """Return what stands on the screen, as lines of text."""
    width, height = app.size
    rows = [[" "] * width for _ in range(height)]
    for widget in app.screen.query(LineWidget):
        if widget.placed:
            region = widget.region
            for y in range(region.height):
                text = widget.render_line(y).text
                rows[region.y + y][region.x : region.x + len(text)] = list(text)
    return "\n".join("".join(row).rstrip() for row in rows)


async def settle(pilot: Pilot[None], app: TminusApp) -> str:
    """Let everything that was asked for happen and paint once; return what stands there."""
    await pilot.pause()
    app.main.flush_log()
    app.main.paint()
    await pilot.pause()
    return picture(app)


async def test_a_line_of_tabs_names_all_hosts_and_the_panes_are_those_of_one(hosts: Hosts) -> None:
    app = HostsApp(hosts.views)
    async with app.run_test(size=(80, 24)) as pilot:
        first = await settle(pilot, app)
        await pilot.press("right_square_bracket")
        second = await settle(pilot, app)
        await pilot.press("left_square_bracket", "left_square_bracket")
        third = await settle(pilot, app)
    assert [text.split()[0] for text in (first, second, third)] == ["gpu-a", "gpu-b", "gpu-c"]
    assert {text.splitlines()[1] for text in (first, second, third)} == {" ► gpu-a  ► gpu-b  ► gpu-c"}
    assert "h hosts" in first


@pytest.mark.parametrize(("size", "rows"), [((80, 24), 1), ((120, 40), 4), ((200, 50), 4), ((60, 12), 1)])
async def test_each_host_has_a_row_where_the_panes_keep_their_room(
    hosts: Hosts, size: tuple[int, int], rows: int
) -> None:
    app = HostsApp(hosts.views)
    async with app.run_test(size=size) as pilot:
        await settle(pilot, app)
        assert app.main.hosts.region.height == rows


async def test_the_log_of_each_host_keeps_its_place_and_its_search(hosts: Hosts) -> None:
    app = HostsApp(hosts.views)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", *"shards", "enter", "z")
        before = await settle(pilot, app)
        await pilot.press("right_square_bracket")
        other = await settle(pilot, app)
        await pilot.press("left_square_bracket")
        after = await settle(pilot, app)
    assert "'shards' " in before
    assert "'shards'" not in other
    assert after.splitlines()[2:] == before.splitlines()[2:]


async def test_keys_act_on_the_host_that_is_shown(hosts: Hosts) -> None:
    app = HostsApp(hosts.views)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("right_square_bracket", "b")
        await pilot.pause()
        assert app.main.screen is app.screen
    assert [view.benches for view in hosts.views] == [0, 1, 0]


async def test_a_bracket_can_be_searched_for(hosts: Hosts) -> None:
    app = HostsApp(hosts.views)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", *("right_square_bracket", "h"))
        await pilot.pause()
        assert app.focused is not None
        assert getattr(app.focused, "value", "") == "]h"
        assert (await settle(pilot, app)).split()[0] == "gpu-a"


async def test_the_overview_shows_the_host_that_is_chosen(hosts: Hosts) -> None:
    hosts.change(2, mood=Mood.BAD, word="not reached", link="refused", sentence="nobody listens there")
    app = HostsApp(hosts.views)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot, app)
        await pilot.press("h", "j", "j")
        await pilot.pause()
        overview = picture(app)
        await pilot.press("enter")
        await pilot.pause()
        shown = await settle(pilot, app)
        await pilot.press("h")
        await pilot.pause()
        assert isinstance(app.screen, HostsScreen)
        await pilot.press("h")
        await pilot.pause()
        assert app.screen is app.main
    assert "3 hosts: 2 loading, 1 not reached" in overview
    assert "nobody listens there" in overview
    assert shown.split()[0] == "gpu-c"


async def test_the_bell_rings_once_for_a_host_that_is_not_shown_and_says_which(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = HostsApp(hosts.views)
    rung: list[str] = []
    async with app.run_test(size=(80, 24)) as pilot:
        monkeypatch.setattr(app, "bell", lambda: rung.append(app.title))
        await settle(pilot, app)
        hosts.change(1, load="ready", alerts=1)
        text = await settle(pilot, app)
        assert "gpu-b: ready" in text.splitlines()[-2]
        assert app.title == "gpu-b: ready"
        await pilot.press("right_square_bracket")
        await settle(pilot, app)
        await pilot.press("left_square_bracket")
        await settle(pilot, app)
        assert app.title == "gpu-a: weights"
        assert len(rung) == 1
        hosts.change(0, load="failed", alerts=1)
        await settle(pilot, app)
    assert len(rung) == 2


async def test_what_happened_while_another_host_was_shown_rings_no_second_time(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = HostsApp(hosts.views)
    rung: list[int] = []
    async with app.run_test(size=(80, 24)) as pilot:
        monkeypatch.setattr(app, "bell", lambda: rung.append(1))
        await pilot.press("right_square_bracket")
        await settle(pilot, app)
        hosts.change(0, alerts=1)
        await settle(pilot, app)
        await pilot.press("left_square_bracket")
        await settle(pilot, app)
    assert rung == [1]


async def test_the_theme_is_that_of_all_hosts(hosts: Hosts) -> None:
    app = HostsApp(hosts.views)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("T", "right_square_bracket")
        await settle(pilot, app)
        palettes = {id(screen.header.palette) for screen in app.main_screens()}
    assert len(palettes) == 1


async def test_with_one_host_the_keys_of_several_do_nothing_and_are_not_named(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        before = await settle(pilot, app)
        await pilot.press("right_square_bracket", "h")
        assert await settle(pilot, app) == before
        assert not [key for key in app.keys if key.group == "hosts"]
    assert "h hosts" not in before


def test_what_stays_in_the_terminal_is_a_block_of_each_host(hosts: Hosts) -> None:
    assert HostsApp(hosts.views).exit_lines() == [f"{name} was left" for name in NAMES]


async def test_a_load_over_several_hosts_is_noted_when_its_meaning_changes_and_not_its_figures(
    hosts: Hosts,
) -> None:
    app = HostsApp(hosts.views)
    load = LoadRow("SGLang on 2 nodes", (0, 1), Mood.WARNING)
    told = (
        ("", ()),
        ("not known yet", ()),
        ("quiet for 0:32", (1,)),
        ("quiet for 0:33", (1,)),
        ("dead", (2,)),
    )
    async with app.run_test(size=(80, 24)) as pilot:
        for sentence, news in told:
            hosts.change(0, joined=replace(load, sentence=sentence, news=news))
            await settle(pilot, app)
        notes = "\n".join("".join(span.text for span in line) for line in app.main.notes.body(80))
    assert notes.count("SGLang on 2 nodes: ") == 2
    assert "quiet for 0:32" in notes
    assert "SGLang on 2 nodes: dead" in notes
