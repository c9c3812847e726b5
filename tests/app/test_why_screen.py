"""The verdict on the screen, and the one over it that says why."""

from dataclasses import replace

import pytest
from textual.pilot import Pilot

from tui.app import TminusApp
from tui.screens.why import ARMED_PAINTS, WhyScreen
from tui.view import StillView
from widgets.line_widget import LineWidget
from widgets.values import LaneRow, Mood, RuleRow, VerdictPanel, WhyPanel

HUNG = VerdictPanel(
    word="HUNG",
    mood=Mood.BAD,
    clock="1:12",
    place="in capture (12 of 52)",
    told="7 wait for TP5 (pid 4711), which does nothing",
    cause="the other ranks wait in a collective (by a known pattern)",
    next_step="py-spy dump --nonblocking --pid 4711",
    not_to_do="do not kill it yet",
)
LANES = (LaneRow("TP5", "4711", "5", "capture", "66.0 GiB", "120.4 GiB", "S", "sleeping", Mood.BAD),)
WHY = WhyPanel(
    verdict=HUNG,
    since="for 1:12",
    rules=tuple(
        RuleRow(f"R{number} rule", Mood.IDLE, "no", f"number {number} of many") for number in range(40)
    ),
    lanes=LANES,
)


@pytest.fixture
def judged(view: StillView) -> StillView:
    view.shown = replace(view.shown, verdict=HUNG, lanes=LANES)
    view.reason = WHY
    return view


def drawn(app: TminusApp) -> str:
    """Return what stands on the screen that is on top."""
    widgets = [widget for widget in app.screen.query(LineWidget) if widget.placed]
    return "\n".join(widget.render_line(y).text for widget in widgets for y in range(widget.size.height))


async def why(pilot: Pilot[None]) -> WhyScreen:
    await pilot.press("w")
    await pilot.pause()
    screen = pilot.app.screen
    assert isinstance(screen, WhyScreen)
    return screen


async def test_the_verdict_stands_under_the_header_with_what_to_type_next_on_a_small_screen(
    judged: StillView,
) -> None:
    app = TminusApp(judged)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert (app.main.verdict.region.y, app.main.verdict.size.height) == (1, 2)
        assert " ✕ HUNG 1:12 · 7 wait for TP5 (pid 4711), which does nothing" in drawn(app)
        assert "   next: py-spy dump --nonblocking --pid 4711" in drawn(app)


async def test_a_larger_screen_has_cause_and_advice_too(judged: StillView) -> None:
    app = TminusApp(judged)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        text = drawn(app)
        assert "next: py-spy dump --nonblocking --pid 4711 · do not kill it yet" in text
        assert "the other ranks wait in a collective" in text


async def test_nothing_is_taken_from_the_log_before_anything_is_known(view: StillView) -> None:
    app = TminusApp(view)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert not app.main.verdict.placed


@pytest.mark.parametrize("key", ["escape", "w", "q"])
async def test_w_says_why_and_is_left_again(judged: StillView, key: str) -> None:
    app = TminusApp(judged)
    async with app.run_test(size=(80, 24)) as pilot:
        await why(pilot)
        text = drawn(app)
        await pilot.press(key)
        await pilot.pause()
        assert app.screen is app.main
        assert app.is_running
    assert "✕ HUNG for 1:12" in text
    assert "R0 rule" in text
    assert "copy a bug report" in text


async def test_it_is_kept_up_to_date_and_stays_where_it_was_scrolled_to(judged: StillView) -> None:
    app = TminusApp(judged)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await why(pilot)
        await pilot.press("pagedown", "pagedown")
        assert "R30 rule" in drawn(app)
        rules = (*WHY.rules[:30], RuleRow("R30 rule", Mood.WARNING, "nearly", "other numbers"))
        judged.reason = replace(WHY, rules=(*rules, *WHY.rules[31:]))
        screen.paint()
        assert "R30 rule nearly other numbers" in " ".join(drawn(app).split())


async def test_y_sends_a_report_and_writes_it_and_says_where(judged: StillView) -> None:
    app = TminusApp(judged)
    async with app.run_test(size=(80, 24)) as pilot:
        await why(pilot)
        await pilot.press("y")
        await pilot.pause()
        assert "the bug report is kept" in drawn(app)
        assert judged.kept == [judged.bug_report()]
        notes = "\n".join("".join(span.text for span in line) for line in app.main.notes.body(80))
    assert "sent to terminal (" in notes
    assert "the bug report is kept" in notes


async def test_w_is_a_letter_where_something_is_typed(judged: StillView) -> None:
    app = TminusApp(judged)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", "w")
        await pilot.pause()
        assert app.screen is app.main


async def test_6_gives_the_ranks_their_room(judged: StillView) -> None:
    app = TminusApp(judged)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert not app.main.lanes.placed
        await pilot.press("6")
        await pilot.pause()
        assert app.main.lanes.has_focus
        assert " 6 Ranks " in drawn(app)
        assert "sleeping" in drawn(app)


async def test_d_says_first_what_it_touches_and_does_it_when_pressed_again(judged: StillView) -> None:
    judged.plan = "3 stack dumps of TP5 (pid 4711) by py-spy"
    app = TminusApp(judged)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("d")
        await pilot.pause()
        assert isinstance(app.screen, WhyScreen)
        assert "d again does this: 3 stack dumps of TP5 (pid 4711) by py-spy" in drawn(app)
        assert judged.diagnosed == 0
        await pilot.press("d")
        await pilot.pause()
        assert judged.diagnosed == 1
        assert "d again" not in drawn(app)
        assert "asked for: 3 stack dumps" in drawn(app)


async def test_what_was_announced_too_long_ago_is_announced_anew(judged: StillView) -> None:
    judged.plan = "3 stack dumps"
    app = TminusApp(judged)
    async with app.run_test(size=(80, 24)) as pilot:
        screen = await why(pilot)
        await pilot.press("d")
        for _ in range(ARMED_PAINTS):
            screen.paint()
        assert "d again" not in drawn(app)
        await pilot.press("d")
        assert "d again" in drawn(app)
        assert judged.diagnosed == 0


async def test_d_says_why_there_is_nothing_to_look_into(judged: StillView) -> None:
    app = TminusApp(judged)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("d", "d")
        await pilot.pause()
        assert "no server is followed: there is nothing to look into" in drawn(app)
        assert judged.diagnosed == 0
