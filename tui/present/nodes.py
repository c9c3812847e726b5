"""A load over several hosts in a line, and what it makes of the verdict on the screen of one of them."""

from dataclasses import replace

from tui.engines.phase import Phase
from tui.present.verdict import MOODS, verdict_panel
from tui.watch.nodes.load import NodesLoad
from tui.watch.words import clock_text
from widgets.values import Ladder, LoadRow, Mood, ScreenValues

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
    )


def _mood(load: NodesLoad) -> Mood:
    mood = Mood.WAITING if load.word is None else MOODS[load.word]
    return Mood.WARNING if load.missing and mood in (Mood.ACTIVE, Mood.GOOD, Mood.WAITING) else mood


def _phase(load: NodesLoad) -> str:
    if load.phase is None:
        return "no phase known yet"
    if load.outcome == "failed":
        return f"failed {'while' if load.phase is Phase.READY else 'in'} {load.phase.words}"
    return load.phase.words


def sentence(load: NodesLoad) -> str:
    """Return what matters most of a load, with the model where nothing does."""
    return load.sentence or (load.model or "" if load.outcome == "ready" else "")


def over(values: ScreenValues, load: NodesLoad | None, at: int, now_s: float | None) -> ScreenValues:
    """Return what one paint of a host needs where the other nodes of its load say more than it does alone.

    ``at`` is the host's place among all, ``now_s`` its own time.
    """
    if load is None or now_s is None:
        return values
    values = replace(values, ladder=_ladder(values.ladder, load, at))
    told, own = load.told(at), values.verdict
    if told is None:
        return values
    panel = verdict_panel(told, now_s, ended=told.word == "dead")
    if panel.word:
        panel = replace(panel, deadline=own.deadline, deadline_left=own.deadline_left)
    if told.word == "ready":
        values = replace(values, header=replace(values.header, phase="ready", mood=Mood.GOOD))
    return replace(values, verdict=panel)


def _ladder(ladder: Ladder, load: NodesLoad, at: int) -> Ladder:
    """Say on a node that is never asked itself which one is."""
    head = load.nodes[0]
    node = next((node for node in load.nodes if node.at == at), None)
    if head.at is None or node is None or node is head or node.standing != "loading":
        return ladder
    mood = Mood.GOOD if load.outcome == "ready" else Mood.WAITING
    return replace(ladder, headline=f"{head.words} answers for this load", mood=mood)
