"""The screen, driven by keys."""

import re
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest
from textual.events import MouseScrollUp
from textual.geometry import Region
from textual.pilot import Pilot

from tui.app import TminusApp
from tui.view import StillView, skeleton
from widgets.line_widget import LineWidget
from widgets.lines import text_of
from widgets.values import BenchPanel, LogLine

SIZES = [(80, 24), (120, 40), (200, 50)]


def picture(app: TminusApp) -> str:
    """Return what stands on the screen, as lines of text."""
    width, height = app.size
    rows: list[list[str]] = [[" "] * width for _ in range(height)]
    for widget in app.screen.query(LineWidget):
        if widget.placed:
            region = widget.region
            for y in range(region.height):
                text = widget.render_line(y).text
                rows[region.y + y][region.x : region.x + len(text)] = list(text)
    return "\n".join("".join(row) for row in rows)


async def settle(pilot: Pilot[None]) -> None:
    """Let everything that was asked for happen, and paint once."""
    await pilot.pause()
    app = pilot.app
    assert isinstance(app, TminusApp)
    app.main.flush_log()
    app.main.paint()
    await pilot.pause()


@pytest.mark.parametrize("size", SIZES)
async def test_the_first_frame_holds_all_panes_at_every_size(view: StillView, size: tuple[int, int]) -> None:
    app = TminusApp(view)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        text = picture(app)
    assert "gpu01 · sglang 0.5.6 · Qwen3-235B" in text
    assert "T+ 0:40  ► LOADING" in text
    for index in range(8):
        assert f"\n   {index} ━" in text
    for words in ("health answers 503", "503 Service Unavailable", "41 tries", "12 ms", "0:35"):
        assert " ".join(words.split()) in " ".join(text.split()), words
    assert "3 Log" in text
    assert "follow" in text
    assert "watching pid 41207" in text
    assert "q quit" in text
    assert ("Notes" in text) == (size != (80, 24))


async def test_the_skeleton_says_connecting_in_every_pane() -> None:
    app = TminusApp(StillView(skeleton("gpu01")))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert picture(app).count("connecting to gpu01") == 4


async def test_q_ends_with_nought_and_ctrl_c_with_130(view: StillView) -> None:
    for key, code in (("q", 0), ("ctrl+q", 0), ("ctrl+c", 130)):
        app = TminusApp(view)
        async with app.run_test() as pilot:
            await pilot.press(key)
        assert app.return_code == code


async def test_pause_holds_all_but_the_header(view: StillView, fake: ModuleType) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("space")
        before = picture(app)
        view.shown = fake.values(100.0, 8)
        view.log.append(LogLine(100, "a new line"))
        app.main.beat()
        app.main.paint()
        held = picture(app)
        await pilot.press("space")
        after = picture(app)
    assert "PAUSED" in before
    assert "T+ 1:40" in held
    assert held.splitlines()[1:] == before.splitlines()[1:]
    assert "PAUSED" not in after
    assert "a new line" in after


async def test_numbers_and_tab_move_between_panes(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        seen: list[str | None] = []
        for key in ("1", "2", "4", "5", "3", "tab", "shift+tab"):
            await pilot.press(key)
            await pilot.pause()
            seen.append(app.focused.id if app.focused else None)
    assert seen == ["gpus", "ladder", "bench", "notes", "log", "bench", "log"]


async def test_zoom_gives_a_pane_the_screen_and_escape_takes_it_back(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("2", "z")
        await settle(pilot)
        zoomed = picture(app)
        await pilot.press("escape")
        await settle(pilot)
        back = picture(app)
        await pilot.press("escape")
        assert app.is_running
    assert "3 Log" not in zoomed
    assert "connected to 127.0.0.1:30000" in zoomed
    assert "3 Log" in back


async def test_a_search_marks_steps_and_is_left_by_escape(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", "w", "q", "backspace", "a", "r", "n", "enter")
        await settle(pilot)
        found = picture(app)
        await pilot.press("N")
        stepped = picture(app)
        await pilot.press("escape")
        left = picture(app)
    assert "'warn' 20 of 20" in found
    assert "'warn' 19 of 20" in stepped
    assert "held" in stepped
    assert "'warn'" not in left


async def test_escape_leaves_the_search_box_without_searching(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", "x", "escape")
        await settle(pilot)
        assert app.focused is app.main.log_tail
        assert app.main.log_tail.buffer.pattern is None
        assert "watching pid 41207" in picture(app)


async def test_following_wrapping_and_moving_act_on_the_log(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        window = app.main.log_tail.window
        await pilot.press("pageup")
        assert not window.follows
        await pilot.press("g")
        assert window.cursor == 0
        await pilot.press("G")
        assert window.follows
        await pilot.press("W", "up")
        assert (window.wrap, window.follows) == (True, False)
        await pilot.press("f")
        assert window.follows


async def test_the_benchmark_gets_its_room_and_answers(view: StillView, fake: ModuleType) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        done: BenchPanel = fake.BENCH_DONE
        view.shown = replace(view.shown, bench=done)
        await pilot.press("b")
        await settle(pilot)
        text = picture(app)
        await pilot.press("B")
        answered = picture(app)
    assert "there is no server to benchmark" in text
    for row in done.rows:
        assert row.name in text
    assert "there is no server to benchmark" in answered


async def test_copying_says_sent_and_keeps_a_note(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("y")
        await settle(pilot)
        text = picture(app)
    assert text.count("sent to terminal (") == 2


async def test_a_note_bears_the_time_of_day(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("b")
        await settle(pilot)
        text = "".join(text_of(line) for line in app.main.notes.lines(80, 5))
    assert re.search(r"\b\d\d:\d\d:\d\d\b", text)


async def test_the_help_lies_over_the_screen_and_closes(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        shown = picture(app)
        await pilot.press("end")
        end = picture(app)
        await pilot.press("q")
        await pilot.pause()
        assert app.screen is app.main
    assert "Run the benchmark" in shown
    assert "Hold Shift" in end


async def test_themes_go_round_and_are_in_the_palette(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        first = app.theme
        await pilot.press("T")
        await pilot.pause()
        assert app.theme != first
        titles = [command.title for command in app.get_system_commands(app.screen)]
        assert {"Theme: tminus-light", "Search the log", "Quit"} < set(titles)
        await pilot.press("ctrl+p")
        await pilot.press(*"tminus-light")
        await pilot.pause(0.3)
        await pilot.press("enter")
        await pilot.pause(0.1)
        assert app.theme == "tminus-light"


async def test_equal_values_repaint_nothing_and_one_change_one_line(
    view: StillView, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        asked: list[tuple[str | None, int]] = []
        real: Callable[..., object] = LineWidget.refresh

        def counting(widget: LineWidget, *regions: Region, **how: bool) -> object:
            asked.append((widget.id, len(regions)))
            return real(widget, *regions, **how)

        monkeypatch.setattr(LineWidget, "refresh", counting)
        for _ in range(20):
            app.main.flush_log()
            app.main.paint()
        assert asked == []
        rows = view.shown.gpus.rows
        changed = (*rows[:3], replace(rows[3], power_w=1.0), *rows[4:])
        view.shown = replace(view.shown, gpus=replace(view.shown.gpus, rows=changed))
        app.main.paint()
        assert asked == [("gpus", 1)]


async def test_data_paints_nothing_until_the_timer_asks(
    view: StillView, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        frames: list[int] = []
        monkeypatch.setattr(app, "post_display_hook", lambda: frames.append(1))
        view.log += [LogLine(number, f"line {number}") for number in range(100, 1100)]
        await pilot.pause()
        assert frames == []
        app.main.flush_log()
        await pilot.pause(0.05)
        assert len(frames) == 1
        assert text_of(app.main.log_tail.lines(80, 9)[-2]) == "line 1099"


async def test_the_bell_rings_once_for_each_alert(view: StillView, monkeypatch: pytest.MonkeyPatch) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)):
        rung: list[int] = []
        monkeypatch.setattr(app, "bell", lambda: rung.append(1))
        app.main.paint()
        view.shown = replace(view.shown, alerts=1)
        app.main.paint()
        app.main.paint()
        view.shown = replace(view.shown, alerts=2)
        app.main.paint()
    assert len(rung) == 2


async def test_a_terminal_that_shrinks_keeps_what_matters(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(120, 40)) as pilot:
        for size in ((40, 8), (10, 3), (1, 1), (80, 24)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
        assert "health answers 503" in picture(app)


async def test_the_mouse_selects_log_text_and_ctrl_c_sends_it(view: StillView) -> None:
    view.log = [LogLine(number, f"line number {number}") for number in range(20)]
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        tail = app.main.log_tail
        await pilot.mouse_down(tail, offset=(5, 2))
        await pilot.hover(tail, offset=(3, 3))
        await pilot.mouse_up(tail, offset=(3, 3))
        await settle(pilot)
        assert app.screen.get_selected_text() == "number 14\nline"
        assert not tail.window.follows
        await pilot.press("ctrl+c")
        await settle(pilot)
        assert app.is_running
        assert "sent to terminal (14 characters" in picture(app)


async def test_the_wheel_moves_the_log(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        tail = app.main.log_tail
        tail.post_message(MouseScrollUp(tail, 5, 5, 0, -1, 0, False, False, False, 5, 5))
        await pilot.pause()
        assert not tail.window.follows


async def test_the_key_that_skips_a_log_says_what_it_does(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("J")
        await settle(pilot)
        assert "there is nothing to skip" in picture(app)


async def test_panes_about_a_host_that_is_not_heard_are_dim_but_for_their_titles(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(120, 40)) as pilot:
        bright = [app.main.ladder.render_line(y) for y in range(3)]
        view.shown = replace(view.shown, stale=True)
        await settle(pilot)
        dim = [app.main.ladder.render_line(y) for y in range(3)]
        assert [strip.text for strip in dim] == [strip.text for strip in bright]
        assert dim[0] == bright[0]
        assert all(old != new for old, new in zip(bright[1:], dim[1:], strict=True))
        view.shown = replace(view.shown, stale=False)
        await settle(pilot)
        assert [app.main.ladder.render_line(y) for y in range(3)] == bright
