"""``tminus replay FILE``: a recording on the screen or, with ``--json`` or ``--headless``, run through."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from tui.commands import records, start
from tui.commands.records import EndRecord
from tui.commands.report import Reporter, Talker, timed, words
from tui.commands.watch import check_terminal
from tui.journal.reader import ABOUT, NOT_OURS, RecordingFault
from tui.replay.bare_log import log_tape
from tui.replay.ending import ending
from tui.replay.headless import Played, Run, Step, play
from tui.replay.opening import found, open_tape
from tui.replay.player import Player
from tui.replay.tape import Tape
from tui.settings import Choices, UsageFault
from tui.watch.state import WatchState
from tui.watch.transitions import Transition

Stop = Callable[[Step, WatchState], bool]


def to_its_end(_step: Step, _state: WatchState) -> bool:
    """Stop nowhere before the end of the tape."""
    return False


IMPORTED = ("import", "recording")
"""What notices are about that say how a foreign file was read."""
WITHOUT_SCREEN = "add --json for what changed and the end, or --headless for plain lines"


class TransitionPart(msgspec.Struct, frozen=True, kw_only=True, rename={"before": "from", "after": "to"}):
    """One change; ``t`` is in seconds since the first event (of a recorder's file: its own t)."""

    t: float
    kind: str
    before: str | None
    after: str | None
    reason: str
    rank: str | None
    pid: int | None


class ReplayReport(msgspec.Struct, frozen=True, kw_only=True):
    """What ``replay --json`` prints: every change of phase, verdict and readiness, and the end."""

    transitions: list[TransitionPart]
    end: EndRecord


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to play, as it was written on the command line."""

    recording: str | None = None
    server_log: str | None = None
    nvidia_smi: str | None = None


def run(wanted: Wanted, choices: Choices) -> int:
    """Play a recording; return 0, whatever it tells. Raises UsageFault for what cannot be read."""
    try:
        tape = _tape(wanted)
        if choices.json or choices.headless:
            headless(tape, json=choices.json)
            return 0
        check_terminal(WITHOUT_SCREEN)
        from tui.commands.replay_screen import show_player

        async def opened() -> Player:
            return Player(tape, speed=choices.speed or 1.0)

        return asyncio.run(show_player(opened, choices))
    except RecordingFault as fault:
        hint = "; a server's log is played with --log" if str(fault).endswith(NOT_OURS) else ""
        raise UsageFault(f"{fault}{hint}") from None


def _tape(wanted: Wanted) -> Tape:
    if wanted.server_log is None and wanted.nvidia_smi is None:
        return open_tape(found(wanted.recording, start.recordings_folder()))
    if wanted.recording is not None:
        raise UsageFault("--log and --nvidia-smi are played by themselves: leave the recording out")
    return log_tape(wanted.server_log, wanted.nvidia_smi)


def headless(tape: Tape, *, json: bool, stop: Stop = to_its_end) -> EndRecord:
    """Run a tape through and print it: one JSON object, or lines as ``wait`` prints them.

    ``stop`` ends it after the step for which it says so.
    """
    if json:
        played = play(tape, stop)
        report = reported(played)
        _write(msgspec.json.encode(report).decode())
        for notice in played.state.notices:
            if notice.about == ABOUT or (notice.about in IMPORTED and notice.level != "info"):
                start.say(notice.sentence)
        return report.end
    end = _told(tape, stop)
    _write(timed(end.t, words(end)))
    return end


def _told(tape: Tape, stop: Stop) -> EndRecord:
    run, reporter, talker = Run(tape), Reporter(), Talker()
    for step in run.steps():
        found = list(reporter.records(step.event, run.state, step.t))
        for text in talker.lines(step.event, run.state, found):
            if text:
                _write(timed(step.t, text))
        if stop(step, run.state):
            break
    return records.end_record(run.state, *ending(run.state, run.t), records.seconds(run.t), run.now_s)


def reported(played: Played) -> ReplayReport:
    """Return what a run came to as the object that is printed."""
    end = ending(played.state, played.length_s)
    return ReplayReport(
        transitions=list(_parts(played.transitions)),
        end=records.end_record(played.state, *end, records.seconds(played.length_s), played.now_s),
    )


def _parts(changes: tuple[Transition, ...]) -> Iterator[TransitionPart]:
    for each in changes:
        if each.kind != "fault":
            yield TransitionPart(
                t=records.seconds(each.t),
                kind=each.kind,
                before=each.before,
                after=each.after,
                reason=each.reason,
                rank=each.rank,
                pid=each.pid,
            )


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
