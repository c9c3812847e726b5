"""The screen over a session: the view that it pulls from, and both run side by side to a polite end."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from tui import __version__, parse, present, theme
from tui.app import TminusApp, run_screen
from tui.commands import start
from tui.commands.ask import drop_typed
from tui.commands.ask_on_screen import ScreenAsker
from tui.commands.keep_report import keep_report
from tui.session import Session
from tui.settings import Choices, UsageFault
from tui.transport.pipe import LinkFault
from widgets.values import LogLine, ProfileRow, ScreenValues, WhyPanel

LOST = 4
Opened = Callable[[], Awaitable[tuple[Session, LinkFault | None]]]
TRY_AGAIN = "r"
"""The key of the main screen that wakes a link that rests."""
THEME_PREFIX = "tminus-"


class SessionView:
    """A session as the screen sees it. ``name`` is what the person called the host, "" for this machine."""

    def __init__(self, session: Session, name: str = "") -> None:
        self._session = session
        self._name = name
        self.width: int | None = None
        self.is_lost = False
        """Whether the screen ends because the host was never reached, which is said apart, once."""
        self._beside = present.Beside()
        self._drawn: tuple[tuple[int, int, int | None], ScreenValues] | None = None

    def values(self) -> ScreenValues:
        """Return what one paint needs, as of now; worked out again when an event or a second has passed."""
        now_s = time.monotonic()
        moment = (self._session.changes, int(now_s), self.width)
        if self._drawn is None or self._drawn[0] != moment:
            values = present.present(self._session.state, now_s, self.width, self._beside, self._name)
            if self._name:
                header = present.named(values.header, self._session.state, self._name)
                values = replace(values, header=header)
            if self._session.rests:
                values = replace(values, status=f"{TRY_AGAIN} tries again: {values.status}")
            self._drawn = (moment, values)
        return self._drawn[1]

    def lines_after(self, number: int) -> Sequence[LogLine]:
        """Return the log lines with a higher number, oldest first."""
        return present.log_lines(self._session.state, number)

    def why(self) -> WhyPanel:
        """Return all that speaks for the verdict."""
        return present.why_values(self._session.state, time.monotonic(), self._beside)

    def bug_report(self) -> str:
        """Return what a person can post."""
        return present.report_text(self._session.state, time.monotonic(), version=__version__)

    def keep_report(self, report: str) -> str:
        """Write a bug report to a file; return where it is."""
        return keep_report(report, present.host_text(self._session.state))

    def skip_log(self) -> str:
        """Jump to the end of a log that is far behind."""
        return self._session.skip_log()

    def start_bench(self) -> str:
        """Fire the benchmark, or arm it until ready."""
        return self._session.start_bench()

    def cancel_bench(self) -> str:
        """Cancel or disarm the benchmark."""
        return self._session.cancel_bench()

    def profiles(self) -> Sequence[ProfileRow]:
        """Return the workloads that can be fired."""
        return present.profile_rows(self._session.benching)

    def choose_profile(self, name: str) -> str:
        """Choose what the benchmark key fires."""
        return self._session.choose_profile(name)

    def can_diagnose(self) -> bool:
        """Return whether there is something to look into."""
        return self._session.can_diagnose

    def diagnose_plan(self) -> str:
        """Say what a diagnosis would touch."""
        return self._session.diagnosis_plan()

    def diagnose(self) -> str:
        """Look into the quiet ranks."""
        return self._session.diagnose()

    def try_again(self) -> str:
        """Connect again where the link rests."""
        return self._session.try_again()

    def exit_lines(self) -> Sequence[str]:
        """Return what stays in the terminal; nothing of a host that was never reached: that is said apart."""
        if self.is_lost:
            return []
        return present.exit_summary(self._session.state, time.monotonic(), self._name)


def name_of(choices: Choices) -> str:
    """Return what the person called the place, "" for this machine itself, which has a name of its own."""
    return "" if start.is_here(choices) else start.place_of(choices) or ""


def theme_named(asked: str | None) -> str | None:
    """Return the full name of a theme, which may be asked for without its prefix. Raises UsageFault."""
    names = theme.names()
    for name in (asked, f"{THEME_PREFIX}{asked}"):
        if name is None or name in names:
            return name
    short = {name.removeprefix(THEME_PREFIX): name for name in names}
    hint = parse.nearest(str(asked), (*short, *names))
    raise UsageFault(f"--theme {asked}: there is no such theme; there are {', '.join(names)}{hint}")


async def show(opened: Opened, choices: Choices, asker: ScreenAsker | None = None) -> int:
    """Run the screen over the session that ``opened`` gives; return the exit code.

    ``opened`` also says why the host cannot be reached, where that is known already. ``asker`` is who asks
    for the session, in dialogs from here on.
    """
    named = theme_named(choices.theme)
    session, fault = await opened()
    if fault is not None:
        await session.close()
        start.say(fault.sentence + start.host_hint(choices, fault.fault))
        return LOST
    view = SessionView(session, name_of(choices))
    glyphs = None if choices.glyphs == "auto" else choices.glyphs
    app = TminusApp(view, theme=named, glyphs=glyphs, mouse=choices.mouse)
    if asker is not None:
        asker.move_to(app.questions)
        drop_typed()
    watching = asyncio.create_task(follow(session, app, view, asker))
    watching.add_done_callback(lambda task: _broken(task, app))
    try:
        code = await run_screen(app)
    finally:
        await start.let_go(watching, session)
    if watching.done() and not watching.cancelled():
        watching.result()
    if code == LOST:
        link = session.state.link
        start.say(link.sentence + start.host_hint(choices, link.fault))
    return code


async def follow(session: Session, app: TminusApp, view: SessionView, asker: ScreenAsker | None) -> None:
    """Keep the state up to date; leave the screen when the host could not be reached at all.

    Where a person was asked on the way, one is there to try again.
    """
    async for _ in session.updates():
        view.width = app.size.width
        link = session.state.link.state
        if link == "failed" and session.state.hello is None and not (asker is not None and asker.asked):
            view.is_lost = True
            app.leave(LOST)
            return
        if asker is not None and link != "connecting":
            for line in asker.login_over("" if link == "up" else session.state.link.sentence):
                app.main.answer(line)


def _broken(task: "asyncio.Task[None]", app: TminusApp) -> None:
    """Leave the screen when the watch behind it has broken: a still picture would look like a live one."""
    if not task.cancelled() and task.exception() is not None:
        app.leave(1)
