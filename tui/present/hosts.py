"""Each of several hosts in a row: what its load does, what its GPUs hold, how it is reached."""

from dataclasses import replace

from tui.engines.phase import Phase
from tui.present.header import engine_text, header, known_at, status
from tui.present.verdict import MOODS
from tui.watch.meaning import Meaning
from tui.watch.verdict.verdict import Verdict
from tui.watch.words import clock_text
from widgets.values import Header, HostRow, Mood

FAULT_WORDS = {
    "usage": "no such host",
    "dns": "unknown name",
    "refused": "refused",
    "auth": "login refused",
    "host_key": "host key",
    "timeout": "no answer",
    "no_python": "no python3",
    "agent": "agent failed",
    "lost": "cut",
}
"""Why a host is given up, in a word or two; the whole sentence stands elsewhere."""


def host_row(state: Meaning, client_now_s: float, name: str, told: Verdict | None = None) -> HostRow:
    """Return the row of a host that is called so, as of the client's monotonic time.

    ``told`` is the verdict where other nodes of its load make it another one than the host alone would.
    """
    top = header(state, client_now_s)
    if told is not None and told.word == "ready":
        top = replace(top, phase="ready", mood=Mood.GOOD)
    link, link_mood = _link(state, top)
    heard = state.hello is not None
    verdict = state.verdict if told is None else told.word
    verdict_mood = MOODS[verdict] if verdict is not None else Mood.IDLE
    return HostRow(
        name=name,
        mood=_worst(link_mood, verdict_mood, top.mood if heard else Mood.WAITING),
        word=_word(state, client_now_s, told),
        load=top.phase if heard else "",
        load_mood=top.mood,
        clock=top.clock,
        left=_left(state, client_now_s),
        memory=_memory(state),
        utilisation=_utilisation(state),
        verdict=(verdict or "").upper(),
        verdict_mood=verdict_mood,
        link=link,
        link_mood=link_mood,
        node=_node(state),
        model=" ".join(text for text in (engine_text(state), state.model or "") if text),
        sentence=_sentence(state, client_now_s, told),
        alerts=state.alerts,
    )


def _link(state: Meaning, top: Header) -> tuple[str, Mood]:
    link = state.link
    if link.state == "failed" or _is_away(state):
        return FAULT_WORDS.get(link.fault or "", "no link"), Mood.BAD
    if top.link:
        return top.link, Mood.WARNING if state.hello is not None else Mood.WAITING
    return ("up", Mood.IDLE) if link.state == "up" else ("connecting", Mood.WAITING)


def _is_away(state: Meaning) -> bool:
    """Return whether a host that has never answered is to be tried again."""
    return state.link.state == "lost" and state.hello is None


def _worst(*moods: Mood) -> Mood:
    """Return what a person should see of several moods: the bad ones before what goes well."""
    order = (Mood.BAD, Mood.WARNING, Mood.WAITING, Mood.ACTIVE, Mood.GOOD, Mood.IDLE)
    return min(moods, key=order.index)


def _word(state: Meaning, client_now_s: float, told: Verdict | None) -> str:
    if state.link.state == "failed" or _is_away(state):
        return "not reached" if state.hello is None else "lost"
    if state.hello is None:
        return "connecting"
    if state.link.stale_s(client_now_s) is not None:
        return "stale" if state.link.state == "up" else "link lost"
    if state.outcome == "failed":
        return "failed"
    judged = told or state.judged
    if judged is not None and judged.stands:
        return judged.word
    if state.ready or (told is not None and told.word == "ready"):
        return "ready"
    return "loading" if state.loading else "without a server"


def _left(state: Meaning, client_now_s: float) -> str:
    now_s = known_at(state, client_now_s)
    if now_s is None or not state.loading or state.ready or state.phase in (Phase.FAILED, Phase.STOPPED):
        return ""
    found = state.estimate(now_s)
    if found is None or found.of_phase or found.remaining_s is None:
        return ""
    return f"T- {clock_text(found.remaining_s)}"


def _memory(state: Meaning) -> str:
    """Return memory in use of all there is on all GPUs, in whole GiB."""
    used_mib, total_mib = 0.0, 0.0
    for gpu in state.gpus.in_order():
        sample = gpu.sample
        if sample is None or sample.memory_used_mib is None or sample.memory_total_mib is None:
            continue
        used_mib += sample.memory_used_mib
        total_mib += sample.memory_total_mib
    return f"{used_mib / 1024:.0f}/{total_mib / 1024:.0f} GiB" if total_mib else ""


def _utilisation(state: Meaning) -> str:
    """Return the mean utilisation of the GPUs that tell it."""
    samples = [gpu.sample for gpu in state.gpus.in_order()]
    known = [
        each.utilisation_pct for each in samples if each is not None and each.utilisation_pct is not None
    ]
    return f"{sum(known) / len(known):.0f} %" if known else ""


def _node(state: Meaning) -> str:
    """Return which node of a load on several this is, counted as the engine does, from 0."""
    arguments = state.shown.arguments if state.shown is not None else None
    if arguments is None or arguments.nodes is None or arguments.nodes < 2 or arguments.node_rank is None:
        return ""
    return f"{arguments.node_rank} of {arguments.nodes}"


def _sentence(state: Meaning, client_now_s: float, told: Verdict | None) -> str:
    """Return what matters most: the link, the end, the verdict, what is missing."""
    if _is_away(state) and state.link.retry_in_s is not None:
        return f"tried again after {state.link.retry_in_s:.0f} s: {state.link.sentence}"
    if state.link.state != "up" and state.link.sentence:
        return state.link.sentence
    if state.outcome == "failed":
        return state.reason
    if told is not None:
        return told.sentence
    if state.judged is not None and state.judged.word not in ("ready", "progressing"):
        return state.judged.sentence
    return state.reason or status(state, client_now_s)
