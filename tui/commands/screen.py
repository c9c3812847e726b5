"""The screen over a session: the view that it pulls from, and both run side by side to a polite end."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from tui import __version__, parse, present, theme
from tui.app import TminusApp, run_screen
from tui.commands import start
from tui.commands.keep_report import keep_report
from tui.session import Session
from tui.settings import Choices, UsageFault
from tui.transport.pipe import LinkFault
from widgets.values import LogLine, ProfileRow, ScreenValues, WhyPanel

LOST = 4
Opened = Callable[[], Awaitable[tuple[Session, LinkFault | None]]]
THEME_PREFIX = "tminus-"


class SessionView:
    """A session as the screen sees it."""

    def __init__(self, session: Session, stage: "Stage | None" = None) -> None:
        self._session = session
        self._stage = stage
        self.width: int | None = None
        self._beside = present.Beside()
        self._drawn: tuple[tuple[int, int, int | None], ScreenValues] | None = None

    def values(self) -> ScreenValues:
        """Return what one paint needs, as of now; worked out again when an event or a second has passed."""
        now_s = time.monotonic()
        moment = (self._session.changes, int(now_s), self.width)
        if self._drawn is None or self._drawn[0] != moment:
            self._drawn = (moment, present.present(self._session.state, now_s, self.width, self._beside))
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

    def exit_lines(self) -> Sequence[str]:
        """Return what stays in the terminal; nothing where the screen comes back."""
        if self._stage is not None and self._stage.asked:
            return []
        return present.exit_summary(self._session.state, time.monotonic())


def theme_named(asked: str | None) -> str | None:
    """Return the full name of a theme, which may be asked for without its prefix. Raises UsageFault."""
    names = theme.names()
    for name in (asked, f"{THEME_PREFIX}{asked}"):
        if name is None or name in names:
            return name
    short = {name.removeprefix(THEME_PREFIX): name for name in names}
    hint = parse.nearest(str(asked), (*short, *names))
    raise UsageFault(f"--theme {asked}: there is no such theme; there are {', '.join(names)}{hint}")


class Stage:
    """Who has the terminal: the screen, or a question that came while it was up, which it makes way for."""

    def __init__(self) -> None:
        self.app: TminusApp | None = None
        self.asked = False
        self._empty = asyncio.Event()
        self._answered = asyncio.Event()

    @property
    def is_free(self) -> bool:
        """Whether no screen is up."""
        return self.app is None

    @asynccontextmanager
    async def room(self) -> AsyncGenerator[None]:
        """Wait until the screen is away; without one there is room."""
        if self.app is not None and not self.asked:
            self.asked = True
            self._answered.clear()
            self.app.leave(0)
            await self._empty.wait()
        yield

    def login_over(self) -> None:
        """Let the screen come back: there will be no further question."""
        self._answered.set()

    async def made_way(self, watching: "asyncio.Task[int]") -> bool:
        """Say whether the screen has left for a question; if so, once the questions are over."""
        if not self.asked:
            return False
        self.app = None
        self._empty.set()
        answered = asyncio.create_task(self._answered.wait())
        await asyncio.wait({answered, watching}, return_when=asyncio.FIRST_COMPLETED)
        answered.cancel()
        self.asked = False
        self._empty.clear()
        return True


async def show(opened: Opened, choices: Choices, stage: Stage | None = None) -> int:
    """Run the screen over the session that ``opened`` gives; return the exit code.

    ``opened`` also says why the host cannot be reached, where that is known already.
    """
    named, stage = theme_named(choices.theme), stage or Stage()
    session, fault = await opened()
    if fault is not None:
        await session.close()
        start.say(fault.sentence + start.host_hint(choices, fault.fault))
        return LOST
    view = SessionView(session, stage)
    watching = asyncio.create_task(_follow(session, stage, view))
    watching.add_done_callback(lambda task: _broken(task, stage))
    try:
        code = await _on_stage(stage, view, watching, named, choices)
    finally:
        await start.let_go(watching, session)
    if watching.done() and not watching.cancelled():
        watching.result()
    if code == LOST:
        link = session.state.link
        start.say(link.sentence + start.host_hint(choices, link.fault))
    return code


async def _on_stage(
    stage: Stage, view: SessionView, watching: "asyncio.Task[int]", named: str | None, choices: Choices
) -> int:
    """Run the screen, again after each time that it made way for questions; return the exit code."""
    glyphs = None if choices.glyphs == "auto" else choices.glyphs
    while True:
        app = TminusApp(view, theme=named, glyphs=glyphs, mouse=choices.mouse)
        stage.app = app
        code = await run_screen(app)
        if code != 0 or not await stage.made_way(watching):
            return code
        if watching.done() and not watching.cancelled():
            return watching.result()


async def _follow(session: Session, stage: Stage, view: SessionView) -> int:
    """Keep the state up to date; leave the screen when the host could not be reached at all."""
    async for _ in session.updates():
        if stage.app is not None:
            view.width = stage.app.size.width
        if session.state.link.state == "failed" and session.state.hello is None:
            if stage.app is not None:
                stage.app.leave(LOST)
            return LOST
        if session.state.link.state != "connecting":
            stage.login_over()
    return 0


def _broken(task: "asyncio.Task[int]", stage: Stage) -> None:
    """Leave the screen when the watch behind it has broken: a still picture would look like a live one."""
    if not task.cancelled() and task.exception() is not None and stage.app is not None:
        stage.app.leave(1)
