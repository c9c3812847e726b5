"""``tminus diagnose``: look into the server's quiet ranks once, as a person asks, and end."""

import asyncio
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from tui.commands import start
from tui.commands.ask import terminal_asker
from tui.commands.records import JudgementPart, part_of
from tui.commands.report import timed
from tui.session import Session
from tui.settings import Choices, UsageFault
from tui.signals import Evidence
from tui.terminal import exit_signals
from tui.transport.faults import sentence_of
from tui.watch.diagnosing import Wanted
from tui.watch.diagnosis import Group, name_of
from tui.watch.state import WatchState
from tui.watch.verdict.proofs import LEAST_QUIET_S
from tui.watch.verdict.verdict import Verdict
from tui.watch.verdict.words import CONFIDENCE_WORDS

FAILED = 1
LOST = 4
SERVER_S = 10.0
"""So long after the host answered a server has to be found."""
LOG_S = 6.0
"""So long its log may take to tell where the load stands."""
SETTLE_S = 1.5
JUDGE_S = LEAST_QUIET_S + 2.0
LONGEST_S = 180.0


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a line of ``--json``."""


class PlanRecord(Part, frozen=True, kw_only=True, tag_field="event", tag="plan"):
    """The first line of ``--json``: what will be touched, and in which container, pod or job (null: none)."""

    t: float
    place: str | None
    pids: list[int]
    ras_port: int | None
    sentence: str


class GroupPart(Part, frozen=True, kw_only=True):
    """Processes whose stacks lead to the same place, the leaf first.

    ``standing`` is of each process: moved, unchanged, open (too few dumps), unread.
    """

    ranks: list[str | None]
    pids: list[int]
    standing: list[str]
    span_s: float
    stack: list[str]


class ProofPart(Part, frozen=True, kw_only=True):
    """What proves a hang where nothing else moves."""

    kind: str
    sentence: str
    rank: str | None
    pid: int | None


class DiagnosisRecord(Part, frozen=True, kw_only=True, tag_field="event", tag="diagnosis"):
    """The last line of ``--json``; ``groups`` come smallest first, ``lines`` is all of it in words.

    ``judgement`` is what is to be thought of the load with all that was found, ``verdict`` its word.
    """

    t: float
    found: bool
    reason: str
    groups: list[GroupPart]
    proofs: list[ProofPart]
    lines: list[str]
    verdict: str | None
    judgement: JudgementPart | None


@dataclass(frozen=True, slots=True)
class Ended:
    """How the command ends: its exit code, and why nothing was found ("" where something was)."""

    code: int
    reason: str = ""


class Teller:
    """Writes to standard output: lines for people, or one JSON object a line."""

    def __init__(self, *, json: bool) -> None:
        self._json = json
        self._began_s = time.monotonic()

    @property
    def t(self) -> float:
        """Seconds since the command began."""
        return round(time.monotonic() - self._began_s, 3)

    def plan(self, plan: Wanted, place: str | None) -> None:
        """Say what will be touched, and where that is."""
        request = plan.request
        record = PlanRecord(
            t=self.t, place=place, pids=request.pids, ras_port=request.ras_port, sentence=plan.sentence
        )
        where = "" if place is None else f"in {place}: "
        self._write(record, [timed(self.t, where + plan.sentence)])

    def heard(self, event: Evidence, state: WatchState) -> None:
        """Tell people of one answer as it comes."""
        if self._json or event.last:
            return
        who = "" if event.pid is None else f"{name_of(event.pid, state.judging.names)}: "
        self._out(timed(self.t, who + event.sentence))

    def end(self, state: WatchState, ended: Ended) -> None:
        """Print what was found, and the verdict."""
        t, now_s = self.t, state.source_now(time.monotonic())
        verdict = None if now_s is None else state.judgement(now_s)
        lines = state.judging.diagnosis.lines(state.judging.names)
        record = DiagnosisRecord(
            t=t,
            found=ended.code == 0,
            reason=ended.reason,
            groups=[_group(group, state) for group in state.judging.diagnosis.groups()],
            proofs=[
                ProofPart(kind=each.kind, sentence=each.sentence, rank=each.rank, pid=each.pid)
                for each in state.judging.proofs
            ],
            lines=list(lines),
            verdict=None if verdict is None else verdict.word,
            judgement=None if verdict is None else part_of(verdict, verdict.sentence, t, now_s),
        )
        words = ["", *lines[1:]] if lines else []
        words += [ended.reason] if ended.reason else []
        words += _verdict_words(verdict) if verdict is not None else []
        self._write(record, words)

    def _write(self, record: PlanRecord | DiagnosisRecord, words: list[str]) -> None:
        self._out(msgspec.json.encode(record).decode() if self._json else "\n".join(words))

    def _out(self, text: str) -> None:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


def run(choices: Choices) -> int:
    """Look into the host that was chosen; return the exit code."""
    if start.host_of(choices) is None:
        raise UsageFault("diagnose needs a HOST: with --url alone nothing on the server's machine is seen")
    return asyncio.run(run_on(choices))


async def run_on(choices: Choices) -> int:
    """Look into a host within a running loop; return the exit code."""
    session = start.open_session(choices, asker=terminal_asker(choices))
    teller = Teller(json=choices.json)
    stop: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    looking = asyncio.create_task(_look(session, teller))
    try:
        with exit_signals(lambda code: stop.done() or stop.set_result(code)):
            await asyncio.wait({looking, stop}, timeout=LONGEST_S, return_when=asyncio.FIRST_COMPLETED)
        if stop.done():
            return stop.result()
        late = Ended(FAILED, f"the diagnosis did not end within {LONGEST_S:g} s")
        ended = looking.result() if looking.done() else late
        if ended.code == LOST:
            start.say(ended.reason + start.host_hint(choices, session.state.link.fault))
            return LOST
        teller.end(session.state, ended)
        return ended.code
    finally:
        await start.let_go(looking, session)


async def _look(session: Session, teller: Teller) -> Ended:
    """Follow the watch until there is a server, ask, and follow it to the end of the answers."""
    state = session.state
    wait = _Wait()
    asked = False
    found: bool | None = None
    async for event in session.updates():
        if state.link.state == "failed" or (asked and state.link.state in ("lost", "closed")):
            return _lost(state)
        if asked and isinstance(event, Evidence):
            teller.heard(event, state)
            if event.last:
                found = event.found
        if found is not None and (not state.judging.proofs or wait.judged()):
            return Ended(0) if found else Ended(FAILED, "nothing could be read")
        if state.without_python:
            return Ended(FAILED, sentence_of("shell_no_diagnosis"))
        if not asked and wait.over(state):
            plan = session.diagnosis_wanted()
            if isinstance(plan, str):
                return Ended(FAILED, state.choice.sentence or plan)
            teller.plan(plan, None if state.hello is None else state.hello.place)
            asked = True
            session.diagnose()
    return _lost(state)


def _lost(state: WatchState) -> Ended:
    if state.link.fault == "usage":
        raise UsageFault(state.link.sentence)
    return Ended(LOST, state.link.sentence or "the host does not answer any more")


class _Wait:
    """For how long to wait before asking: for a server, then for its log to tell where the load stands."""

    def __init__(self) -> None:
        self._hello_s: float | None = None
        self._server_s: float | None = None

    def judged(self) -> bool:
        """Whether the server has been watched for so long that what was found can count."""
        return self._server_s is None or time.monotonic() - self._server_s > JUDGE_S

    def over(self, state: WatchState) -> bool:
        """Whether nothing more is worth waiting for."""
        now_s = time.monotonic()
        if state.hello is None:
            return False
        self._hello_s = self._hello_s or now_s
        if state.target is None:
            return now_s - self._hello_s > (SETTLE_S if state.choice.kind == "several" else SERVER_S)
        self._server_s = self._server_s or now_s
        waited_s = now_s - self._server_s
        source = state.log_source
        told = source is not None and (
            source.state != "open" or (state.log.total > 0 and state.log_behind_bytes == 0)
        )
        return waited_s > LOG_S or (told and waited_s > SETTLE_S)


def _group(group: Group, state: WatchState) -> GroupPart:
    names = state.judging.names
    return GroupPart(
        ranks=[names.get(each.pid) for each in group.looked],
        pids=[each.pid for each in group.looked],
        standing=[each.standing for each in group.looked],
        span_s=round(min(each.span_s for each in group.looked), 3),
        stack=list(group.looked[0].stack),
    )


def _verdict_words(found: Verdict) -> Iterator[str]:
    yield ""
    yield f"verdict: {found.sentence}"
    if found.cause:
        yield f"cause: {found.cause} ({CONFIDENCE_WORDS[found.confidence]})"
    if found.next_step:
        yield f"next step: {found.next_step}"
    if found.not_to_do:
        yield found.not_to_do
