"""``tminus wait``: no screen, lines as things change, and an exit code that a script can go by."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from tui.commands import records, start
from tui.commands.ask import terminal_asker
from tui.commands.records import AnyRecord, EndRecord, Outcome
from tui.commands.report import Reporter, Talker, timed, words
from tui.commands.turns import Turns
from tui.events import AnyEvent, Notice
from tui.replay.ending import EXIT_CODES, not_yet
from tui.session import Session
from tui.settings import Choices, UsageFault
from tui.terminal import exit_signals
from tui.watch.state import WatchState
from tui.watch.verdict.verdict import SEVERITY, Verdict, Word

INTERRUPTED = "interrupted"
SEVERAL_S = 5.0
"""So long several servers must stand side by side: one that is being replaced may take a moment to go."""
Updates = Callable[[], AsyncIterator[AnyEvent]]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a wait ended. ``elsewhere``: another host decided it; this one's verdict tells nothing of it."""

    outcome: Outcome
    fault: str | None
    reason: str
    elsewhere: bool = False


class Printer:
    """Writes what changes to standard output: words for people, or one JSON object a line.

    ``host`` is the host that it is of, "" where there is one alone.
    """

    def __init__(self, *, json: bool, began_s: float, host: str = "") -> None:
        self._json = json
        self._began_s = began_s
        self._host = host
        self._reporter = Reporter()
        self._talker = Talker(host)

    @property
    def is_beside(self) -> bool:
        """Whether what is said beside the output stands right under it, and need not say the same again."""
        return not self._json and sys.stdout.isatty() and sys.stderr.isatty()

    def elapsed_s(self) -> float:
        """Return the seconds since the command began."""
        return records.seconds(time.monotonic() - self._began_s)

    def show(self, event: AnyEvent, state: WatchState) -> None:
        """Print what this event, already taken into the state, has changed."""
        t = self.elapsed_s()
        found = list(self._reporter.records(event, state, t))
        if self._json:
            self.write(self.line(record) for record in found)
            if isinstance(event, Notice) and event.level != "info":
                self.say(event.sentence)
        else:
            said = self._talker.lines(event, state, found)
            self.write(self.told(t, text) for text in said if text)

    def end(self, record: EndRecord) -> None:
        """Print the last line."""
        self.write([self.line(record) if self._json else self.told(record.t, words(record, self._host))])

    def line(self, record: AnyRecord) -> str:
        """Return a record as it is printed with --json."""
        return records.line(record)

    def told(self, t: float, text: str) -> str:
        """Return a line for people."""
        return timed(t, text)

    def say(self, sentence: str) -> None:
        """Tell something beside the output."""
        start.say(sentence)

    def write(self, lines: Iterable[str]) -> None:
        """Print lines."""
        text = "".join(f"{line}\n" for line in lines)
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()


def run(choices: Choices) -> int:
    """Wait for the server that was chosen; return the exit code."""
    began_s = time.monotonic()
    asker = terminal_asker(choices)
    if choices.others:
        from tui.commands.wait_hosts import wait_hosts

        return asyncio.run(wait_hosts(choices, None if asker is None else Turns(asker), began_s))
    session = start.open_session(choices, asker=asker)
    return asyncio.run(wait(session, choices, began_s))


async def wait(session: Session, choices: Choices, began_s: float) -> int:
    """Print the watch until it is decided, the time is up or a signal comes; return the exit code."""
    printer = Printer(json=choices.json, began_s=began_s)
    stop: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    watching = asyncio.create_task(decide(session.updates, session.state, printer, choices))
    left_s = max(0.0, choices.timeout - (time.monotonic() - began_s))
    try:
        with exit_signals(lambda code: stop.done() or stop.set_result(code)):
            await asyncio.wait({watching, stop}, timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
        code = stop.result() if stop.done() else None
        ended = watching.result() if watching.done() else cut_short(session.state, code, choices)
        tell_end(session.state, ended, printer, choices)
        return EXIT_CODES[ended.outcome] if code is None else code
    finally:
        await start.let_go(watching, session)


def tell_end(state: WatchState, ended: Ending, printer: Printer, choices: Choices) -> None:
    """Print the last line of a wait, and beside the output what is wrong with the way to the server."""
    t, now_s = printer.elapsed_s(), state.source_now(time.monotonic())
    record = records.end_record(state, ended.outcome, ended.fault, ended.reason, t, now_s)
    printer.end(replace(record, judgement=None) if ended.elsewhere else record)
    gone = ended.outcome == "lost" and ended.fault != INTERRUPTED
    hint = start.host_hint(choices, ended.fault)
    if (gone or ended.fault == "not_http") and (hint or not printer.is_beside):
        printer.say(ended.reason + hint)


async def decide(
    updates: Updates,
    state: WatchState,
    printer: Printer,
    choices: Choices,
    told: Callable[[], Verdict | None] = lambda: None,
) -> Ending:
    """Follow the updates of a watch until its state says how it ends.

    ``told`` gives the verdict where other hosts make it another one than this host alone would. Raises
    UsageFault where a person has to say which of several servers is meant.
    """
    several_s: float | None = None
    async for event in updates():
        printer.show(event, state)
        several_s = _several_since(state, event.client_s, several_s)
        if several_s is not None and event.client_s - several_s >= SEVERAL_S:
            raise UsageFault(state.choice.sentence)
        judged = told() if choices.fail_on else None
        ended = ending_of(state, restarts=choices.restarts, fail_on=choices.fail_on, told=judged)
        if ended is not None:
            return ended
    link = state.link
    return Ending("lost", link.fault or "lost", link.sentence or "the source of events has ended")


def _several_since(state: WatchState, now_s: float, since_s: float | None) -> float | None:
    """Return since when several servers could be meant, none of which was ever followed; None where not."""
    if state.choice.kind != "several" or state.loads:
        return None
    return now_s if since_s is None else since_s


def ending_of(
    state: WatchState, *, restarts: bool, fail_on: Collection[Word] = (), told: Verdict | None = None
) -> Ending | None:
    """Return how the wait ends by what is known, None to go on.

    ``fail_on`` are the verdicts that end it, each with all that are as bad or worse; ``told`` is the verdict
    where it is another one than the state's. Raises UsageFault for a host that cannot be one.
    """
    if state.ready:
        return Ending("ready", None, state.reason)
    if state.link.state == "failed":
        if state.link.fault == "usage":
            raise UsageFault(state.link.sentence)
        return Ending("lost", state.link.fault or "lost", state.link.sentence)
    if state.without_python and state.choice.sentence:  # nobody can tell it when that one is ready
        raise UsageFault(state.choice.sentence)
    if state.outcome == "failed":
        return None if restarts else Ending("failed", state.fault, state.reason)
    return _given_up(told or state.judged, fail_on, restarts=restarts)


def _given_up(found: Verdict | None, fail_on: Collection[Word], *, restarts: bool) -> Ending | None:
    """Return the end by a verdict that was asked for; a death is none where a restart is waited for."""
    least = min((SEVERITY[word] for word in fail_on), default=None)
    if found is None or least is None or found.severity < least or (restarts and found.word == "dead"):
        return None
    return Ending("failed", found.word, found.sentence)


def cut_short(state: WatchState, code: int | None, choices: Choices) -> Ending:
    """Return how a wait ends that was not decided: by a signal, or by the clock."""
    if code is not None:
        return Ending("lost", INTERRUPTED, "interrupted before it was decided")
    if state.fault == "wrong_model":
        return Ending("failed", "wrong_model", state.reason)
    why = not_yet(state) or _stuck_at(state) or state.choice.sentence or "no answer yet"
    return Ending("timeout", state.fault, f"not ready within {choices.timeout:g} s: {why}")


def _stuck_at(state: WatchState) -> str:
    """Return the lowest rung above an answered one that is not ok, in words; empty when none was answered."""
    last = next((each for each in reversed(state.ladder) if each.state == "ok"), None)
    if last is None:
        return ""
    rung = next((each for each in state.ladder if each.state != "ok" and each.name != "process"), last)
    return f"{rung.name}: {rung.answer or 'no answer yet'}"
