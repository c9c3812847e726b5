"""The phases in a row, the work under way, and the time to ready."""

from tui.engines.generic import GENERIC
from tui.engines.phase import Phase
from tui.present.figures import gib
from tui.present.header import known_at
from tui.watch.eta import Estimate
from tui.watch.meaning import Meaning
from tui.watch.root_cause import Cause
from tui.watch.words import FAULT_KIND_WORDS, clock_text
from widgets.values import Mood, PhaseCell, PhasePanel

_LAGGING_NAMED = 2
_UNSEEN = (Phase.FAILED, Phase.STOPPED)


def phase_panel(state: Meaning, client_now_s: float) -> PhasePanel:
    """Return the phases of the load; nothing while nothing tells of any."""
    if state.phase is None:
        return PhasePanel()
    now_s = state.source_now(client_now_s)
    cells = tuple(_cells(state, now_s))
    if state.outcome == "failed":
        return PhasePanel(cells, sentence=_end(state), mood=Mood.BAD if _died(state) else Mood.WARNING)
    if state.log_failure is not None:
        told = f"the log tells of a failure, the process lives on: {_advice(state.log_failure)}"
        return PhasePanel(cells, sentence=told, mood=Mood.BAD)
    if state.ready:
        return PhasePanel(cells, mood=Mood.GOOD)
    known_s = known_at(state, client_now_s)
    found = None if known_s is None else state.estimate(known_s)
    return PhasePanel(
        cells,
        fraction=None if now_s is None else _fraction(state, now_s),
        work=_work(state, now_s, found),
        waits=_waits(state),
        estimate="T- unknown" if state.judged is not None and state.judged.stands else _estimate(found),
        mood=Mood.ACTIVE,
    )


def _cells(state: Meaning, now_s: float | None) -> list[PhaseCell]:
    """Return the phases seen, each once, then those that the engine has yet to come to."""
    current = state.phase
    times = _times(state, now_s)
    cells = [_cell(phase, Mood.GOOD, times[phase]) for phase in times if phase is not current]
    if current is not None:
        cells.append(_cell(current, _mood(state), None if state.ready else times.get(current)))
    engine = state.engine or GENERIC
    place = engine.place(current) if current is not None else -1
    to_come = [
        phase
        for phase in engine.order
        if phase not in _UNSEEN and engine.place(phase) > place and phase not in times
    ]
    return cells + [PhaseCell(phase.words, Mood.IDLE) for phase in to_come]


def _cell(phase: Phase, mood: Mood, seconds: float | None) -> PhaseCell:
    if seconds is None:
        return PhaseCell(phase.words, mood)
    return PhaseCell(phase.words, mood, clock_text(seconds), int(seconds))


def _mood(state: Meaning) -> Mood:
    if state.log_failure is not None:
        return Mood.BAD
    if state.outcome == "failed":
        return Mood.BAD if _died(state) else Mood.WARNING
    return Mood.GOOD if state.ready else Mood.ACTIVE


def _died(state: Meaning) -> bool:
    end = state.last_end
    return end is None or end.fault != "shut_down"


def _times(state: Meaning, now_s: float | None) -> dict[Phase, float | None]:
    """Return what each phase took, all its stays together; None where a stay was not timed."""
    seconds: dict[Phase, float | None] = {}
    for span in state.phases:
        stay_s = span.seconds(now_s) if now_s is not None else None
        before_s = seconds.get(span.phase, 0.0)
        seconds[span.phase] = None if stay_s is None or before_s is None else before_s + stay_s
    return seconds


def _fraction(state: Meaning, now_s: float) -> float | None:
    """Return how much of the phase is done; a bar that is full while the phase goes on tells nothing."""
    fraction = state.phase_fraction(now_s)
    return None if fraction is None or fraction >= 1 else fraction


def _work(state: Meaning, now_s: float | None, found: Estimate | None) -> str:
    progress = state.phase_progress
    if progress is None:
        counted = "" if now_s is None else _received(state, now_s)
    elif progress.total is not None and progress.done >= progress.total:
        return f"all {progress.total:g} {progress.unit} done"
    else:
        total = "" if progress.total is None else f" of {progress.total:g}"
        counted = f"{progress.done:g}{total} {progress.unit}".strip()
    current = f"{progress.current} under way" if progress is not None and progress.current else ""
    return ", ".join(text for text in (counted, _left(found), current) if text)


def _left(found: Estimate | None) -> str:
    """Return how long the work under way still takes, where that is all that can be said."""
    if found is None or not found.of_phase or found.remaining_s is None:
        return ""
    return f"{'at most ' if found.at_most else ''}{clock_text(found.remaining_s)} left"


def _received(state: Meaning, now_s: float) -> str:
    """Return what came over PCIe, where that is all that tells of the weights."""
    came = state.transfer(now_s) if state.phase is Phase.WEIGHTS else None
    if came is None or came.fraction is None or came.expected_mib is None:
        return ""
    return f"{gib(came.received_mib)} of {gib(came.expected_mib * len(came.gpus))} GiB received"


def _waits(state: Meaning) -> str:
    lagging = [lane.name for lane in state.lagging_ranks]
    if not lagging:
        return ""
    named = ", ".join(lagging[:_LAGGING_NAMED])
    more = len(lagging) - _LAGGING_NAMED
    return f"waits for {named}" + (f" and {more} more" if more > 0 else "")


def _estimate(found: Estimate | None) -> str:
    """Return the time to ready as it is shown; how long the work under way takes is said beside the work."""
    if found is None or found.of_phase:
        return "T- no estimate yet"
    slower = f"slower than {'the last load' if found.loads == 1 else f'all {found.loads} loads'}"
    if found.remaining_s is None:
        return f"T- unknown, {slower}"
    left = clock_text(found.remaining_s)
    return f"T- at least {left}, {slower}" if found.at_least else f"T- {left}{_range(found)}"


def _range(found: Estimate) -> str:
    """Return what the estimate rests on: the range and number of past loads."""
    loads = "1 load" if found.loads == 1 else f"{found.loads} loads"
    if found.low_s is None or found.high_s is None or found.loads < 2:
        return f" ({loads})"
    return f" ({clock_text(found.low_s)} to {clock_text(found.high_s)}, {loads})"


def _end(state: Meaning) -> str:
    end = state.last_end
    if end is None:
        return "failed"
    return end.reason if end.cause is None else _advice(end.cause)


def _advice(cause: Cause) -> str:
    return f"{FAULT_KIND_WORDS[cause.kind]}: {cause.cause} {cause.next_step} (e shows the line)"
