"""A load over several hosts in a line, and what it makes of the verdict on the screen of one of them."""

from dataclasses import replace

from tui.engines.phase import Phase
from tui.present.verdict import MOODS, verdict_panel
from tui.watch.nodes.load import NodesLoad
from tui.watch.words import age_text, clock_text
from widgets.values import HostRow, Ladder, LoadRow, Mood, ScreenValues

_SAID = {"failed": ("dead",), "ready": ("ready",)}
"""Words that say no more than the phase beside them."""


def load_row(load: NodesLoad) -> LoadRow:
    """Return the line of a load."""
    return LoadRow(
        name=f"{load.engine.title} on {len(load.nodes)} nodes",
        members=load.members,
        mood=_mood(load),
        load=_phase(load),
        left="" if load.left_s is None else f"T- {clock_text(load.left_s)}",
        verdict=""
        if load.word is None or load.word in _SAID.get(load.outcome or "", ())
        else load.word.upper(),
        sentence=sentence(load),
        news=() if load.unknown and load.sentence == load.missing else load.meaning,
    )


def _mood(load: NodesLoad) -> Mood:
    mood = Mood.WAITING if load.word is None else MOODS[load.word]
    return (
        Mood.WARNING
        if load.missing and not load.unknown and mood in (Mood.ACTIVE, Mood.GOOD, Mood.WAITING)
        else mood
    )


def _phase(load: NodesLoad) -> str:
    if load.phase is None:
        return "no phase known yet"
    if load.outcome == "failed":
        return f"failed {'while' if load.phase is Phase.READY else 'in'} {load.phase.words}"
    return load.phase.words


def sentence(load: NodesLoad) -> str:
    """Return what matters most of a load: also that it is ready, with which node and model."""
    if load.outcome != "ready":
        return load.sentence
    ready = f"{ready_with(load)}: {load.model}" if load.model else ready_with(load)
    return "; ".join(text for text in (ready, load.sentence) if text)


def ready_with(load: NodesLoad) -> str:
    """Return with which node a load is ready."""
    return f"ready with {load.nodes[0].words}"


def told_line(row: LoadRow, *more: str) -> str:
    """Return where a load stands and what matters of it, no word of it twice."""
    phase = "" if row.sentence.startswith(f"{row.load} ") else row.load
    return "; ".join(text for text in (phase, row.verdict.lower(), row.sentence, *more) if text)


def outcome_of(load: NodesLoad | None, at: int) -> str:
    """Return what is left to say of a node that is never asked itself, "" where its host tells that."""
    node = None if load is None else next((node for node in load.nodes if node.at == at), None)
    if load is None or node is None or load.outcome != "ready" or node is load.nodes[0]:
        return ""
    if node.standing == "unheard":
        return f"{ready_with(load)}; this node was last heard {age_text(node.unheard_s or 0.0)} ago"
    return ready_with(load) if node.standing == "loading" else ""


def over(values: ScreenValues, load: NodesLoad | None, at: int, now_s: float | None) -> ScreenValues:
    """Return what one paint of a host needs where the other nodes of its load say more than it does alone.

    ``at`` is the host's place among all, ``now_s`` its own time.
    """
    if load is None or now_s is None:
        return values
    values = replace(values, ladder=_ladder(values.ladder, load, at))
    if _is_ready_elsewhere(load, at):
        # Its own log tells of no end of the load: T+ and T- would run on.
        header, phases = replace(values.header, clock=""), replace(values.phases, estimate="")
        values = replace(values, header=header, phases=phases)
    told, own = load.told(at), values.verdict
    if told is None:
        return values
    panel = verdict_panel(told, now_s, ended=told.word == "dead")
    if panel.word:
        panel = replace(panel, deadline=own.deadline, deadline_left=own.deadline_left)
    if told.word == "ready":
        values = replace(values, header=replace(values.header, phase="ready", mood=Mood.GOOD))
    return replace(values, verdict=panel)


def row_over(row: HostRow, load: NodesLoad | None, at: int) -> HostRow:
    """Return the row of a host without times that its load has no more once another node is ready."""
    return replace(row, clock="", left="") if _is_ready_elsewhere(load, at) else row


def _is_ready_elsewhere(load: NodesLoad | None, at: int) -> bool:
    """Whether a node that is never asked itself belongs to a load whose first node has answered."""
    if load is None or not load.nodes[0].is_ready or load.outcome == "failed":
        return False
    return any(node.at == at and node.standing in ("loading", "unheard") for node in load.nodes[1:])


def _ladder(ladder: Ladder, load: NodesLoad, at: int) -> Ladder:
    """Say on a node that is never asked itself which one is."""
    head = load.nodes[0]
    node = next((node for node in load.nodes if node.at == at), None)
    if head.at is None or node is None or node is head or node.standing not in ("loading", "unheard"):
        return ladder
    headline = f"{head.words} answers for this load"
    if node.standing == "unheard":
        return replace(ladder, headline=f"{headline}; this node is not heard", mood=Mood.WARNING)
    return replace(ladder, headline=headline, mood=Mood.GOOD if load.outcome == "ready" else Mood.WAITING)
