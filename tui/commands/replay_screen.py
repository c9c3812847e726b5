"""The screen over a player: the view that it pulls from, and both side by side to a polite end."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from tui import __version__, present
from tui.app import TminusApp, run_screen
from tui.commands.keep_report import keep_report
from tui.commands.screen import theme_named
from tui.engines.phase import Phase
from tui.replay import places
from tui.replay.player import Player
from tui.settings import Choices
from tui.watch.transitions import Transition
from tui.watch.words import clock_text
from widgets.values import LogLine, ProfileRow, ReplayPanel, ScreenValues, WhyPanel

CLOSE_S = 5.0
STEP_S = 1.0
NOTHING_YET = "it was left before anything had been played"


class PlayerView:
    """A player as the screen sees it, and its needle as the keys do."""

    def __init__(self, player: Player, *, rings: bool) -> None:
        self._player = player
        self._rings = rings
        self._beside = present.Beside()
        self.width: int | None = None

    # What is drawn.

    def values(self) -> ScreenValues:
        """Return what one paint needs, as of where the needle is."""
        player = self._player
        values = present.present(player.state, player.client_now_s(), self.width, self._beside)
        return replace(
            values,
            alerts=values.alerts if self._rings else 0,
            replay=self._panel(),
            generation=player.generation,
            time_of_day=self._time_of_day(),
        )

    def lines_after(self, number: int) -> Sequence[LogLine]:
        """Return the log lines with a higher number, oldest first."""
        return present.log_lines(self._player.state, number)

    def why(self) -> WhyPanel:
        """Return all that speaks for the verdict."""
        return present.why_values(self._player.state, self._player.client_now_s(), self._beside)

    def bug_report(self) -> str:
        """Return what a person can post."""
        return present.report_text(self._player.state, self._player.client_now_s(), version=__version__)

    def keep_report(self, report: str) -> str:
        """Write a bug report to a file; return where it is."""
        return keep_report(report, present.host_text(self._player.state))

    def skip_log(self) -> str:
        """Say that a tape has its log as it was read."""
        return "this is a recording: its log is shown as it was read"

    def start_bench(self) -> str:
        """Fire the benchmark, or arm it until ready."""
        return self._player.start_bench()

    def cancel_bench(self) -> str:
        """Cancel or disarm the benchmark."""
        return self._player.cancel_bench()

    def profiles(self) -> Sequence[ProfileRow]:
        """Return the workloads that can be fired at the demo's server; a recording has none."""
        benching = self._player.benching
        return () if benching is None else present.profile_rows(benching)

    def choose_profile(self, name: str) -> str:
        """Choose what the benchmark key fires."""
        return self._player.choose_profile(name)

    def can_diagnose(self) -> bool:
        """Return that there is nothing to look into."""
        return False

    def diagnose_plan(self) -> str:
        """Say that there is nothing to look into."""
        return "this is a recording: there is no process to look into"

    def diagnose(self) -> str:
        """Say that there is nothing to look into."""
        return self.diagnose_plan()

    def try_again(self) -> str:
        """Say that there is no link."""
        return "this is a recording: there is no link to try again"

    def exit_lines(self) -> Sequence[str]:
        """Return what stays in the terminal."""
        state, now_s = self._player.state, self._player.client_now_s()
        return present.exit_summary(state, now_s, unheard=NOTHING_YET)

    def _panel(self) -> ReplayPanel:
        player = self._player
        length_s = player.moments.length_s if player.moments.complete else None
        if length_s is not None and player.t > length_s and not player.ended:
            length_s = None  # a demo goes on when its story is over
        coming = player.moments.after(player.t)
        following = ""
        if coming is not None:
            following = f"{words(coming)} in {clock_text(coming.t - player.t)}"
        return ReplayPanel(
            caption=player.tape.caption,
            state=self._playing(),
            now=clock_text(player.t),
            length="" if length_s is None else clock_text(length_s),
            fraction=None if not length_s else min(1.0, player.t / length_s),
            following=following,
        )

    def _playing(self) -> str:
        if self._player.ended:
            return "the end"
        return f"{self._player.speed:g}x" if self._player.playing else "paused"

    def _time_of_day(self) -> str:
        wall_s = self._player.wall_now_s()
        return "" if wall_s is None else time.strftime("%H:%M:%S", time.localtime(wall_s))

    # What keys do.

    def toggle(self) -> str:
        """Pause, or play on."""
        self._player.toggle()
        return ""

    def step(self, direction: int) -> str:
        """Pause and go one second on or back."""
        self._player.pause()
        self._player.seek(self._player.t + direction * STEP_S)
        return ""

    def faster(self, direction: int) -> str:
        """Play faster or slower."""
        self._player.faster(direction)
        return f"{self._player.speed:g} times as fast"

    def jump(self, direction: int) -> str:
        """Go to the next or previous change."""
        return places.jump(self._player, direction)

    def go_to(self, wish: str) -> str:
        """Go to a time or to what the recording comes to."""
        return places.go_to(self._player, wish)


def words(change: Transition) -> str:
    """Return what a change comes to in a few words."""
    if change.after is None:
        return f"{change.kind} lost"
    if change.kind == "phase":
        return Phase(change.after).words
    return change.after.replace("_", " ")


async def show_player(
    opened: Callable[[], Awaitable[Player]], choices: Choices, *, rings: bool = False
) -> int:
    """Run the screen over the player that ``opened`` gives; return the exit code."""
    named = theme_named(choices.theme)
    player = await opened()
    view = PlayerView(player, rings=rings)
    glyphs = None if choices.glyphs == "auto" else choices.glyphs
    app = TminusApp(view, theme=named, glyphs=glyphs, mouse=choices.mouse, needle=view)
    playing = asyncio.create_task(player.run())
    playing.add_done_callback(lambda task: _broken(task, app))
    try:
        return await run_screen(app)
    finally:
        playing.cancel()
        await asyncio.wait({playing, asyncio.ensure_future(player.close())}, timeout=CLOSE_S)
        if playing.done() and not playing.cancelled():
            playing.result()


def _broken(task: "asyncio.Task[None]", app: TminusApp) -> None:
    """Leave the screen when the player has broken: a still picture would look like a live one."""
    if not task.cancelled() and task.exception() is not None:
        app.leave(1)
