"""The readiness ladder in words."""

from tui.engines.endpoints import PORT
from tui.present.figures import latency_text
from tui.present.header import FAULT_WORDS
from tui.watch.ladder import READY_RUNG, RUNGS, Rung, missing
from tui.watch.meaning import Meaning
from tui.watch.words import clock_text
from widgets.values import Ladder, LadderRung, Mood

_NAMES = {"token": "first token"}
_MOODS = {"unknown": Mood.IDLE, "waiting": Mood.WAITING, "ok": Mood.GOOD, "bad": Mood.BAD}


def ladder(state: Meaning) -> Ladder:
    """Return the rungs with the sentence over them."""
    headline, mood = _headline(state)
    return Ladder(tuple(_rung(state, rung) for rung in state.ladder), headline, mood)


def _rung(state: Meaning, rung: Rung) -> LadderRung:
    asks_port = rung.name != "process"
    past = asks_port and state.outcome == "failed" and rung.state != "unknown"
    return LadderRung(
        name=_NAMES.get(rung.name, rung.name),
        mood=Mood.IDLE if past else _MOODS[rung.state],
        state=f"was {_state_word(state, rung)}" if past else _state_word(state, rung),
        since=_since(state, rung),
        tries=rung.tries if asks_port and rung.tries else None,
        latency=latency_text(rung.latency_ms),
        answer=_answer(state, rung),
    )


def _answer(state: Meaning, rung: Rung) -> str:
    """Return the last answer with what it means for this engine, where the answer does not say it itself."""
    engine = state.engine
    if engine is None or state.outcome == "failed" or rung.state == "bad" or ": " in rung.answer:
        return rung.answer
    paths = {"port": PORT, "health": engine.health_path, "model": engine.models_path}
    if rung.name not in paths:
        return rung.answer
    meaning = engine.meaning(paths[rung.name], rung.status, rung.outcome, state.engine_version)
    return f"{rung.answer}: {meaning}" if meaning and rung.answer else rung.answer


def _state_word(state: Meaning, rung: Rung) -> str:
    match rung.state:
        case "ok":
            return "alive" if rung.name == "process" else "ok"
        case "waiting":
            return "waiting"
        case "bad":
            return "gone" if rung.name == "process" else FAULT_WORDS.get(rung.outcome or "", "wrong")
        case "unknown":
            needed = RUNGS.index(READY_RUNG[state.options.ready_on])
            if RUNGS.index(rung.name) > needed:
                return "not needed"
            return "not known" if rung.name == "process" else "not asked"


def _since(state: Meaning, rung: Rung) -> str:
    """Return the moment since which it is so, as T+ of the load: a text that does not run on."""
    if rung.since_s is None or state.origin_s is None:
        return ""
    return f"T+ {clock_text(rung.since_s - state.origin_s)}"


def _headline(state: Meaning) -> tuple[str, Mood]:
    if state.outcome == "failed":
        end = state.last_end
        calm = end is not None and end.fault == "shut_down"
        return state.reason, Mood.WARNING if calm else Mood.BAD
    if state.ready:
        return _ready_text(state), Mood.GOOD
    if not state.loading:
        mood = Mood.WARNING if state.choice.kind == "several" else Mood.IDLE
        return ("" if state.unheard else state.choice.sentence or "looking for a server"), mood
    if state.shown is not None and not state.shown.arguments.serves_api:
        return "this node of a multi-node load answers no requests: watch its first node", Mood.WARNING
    mood = Mood.BAD if state.fault is not None else Mood.WAITING
    return f"not ready: {state.reason or _awaited(state)}", mood


def _awaited(state: Meaning) -> str:
    """Return what is waited for while no answer says no: the rung above those that hold."""
    if state.ladder[RUNGS.index("port")].state != "ok":
        return "not asked yet"
    name = next(
        (rung.name for rung in state.ladder[1:] if rung.state != "ok"), READY_RUNG[state.options.ready_on]
    )
    return f"{_NAMES.get(name, name)}: no answer yet"


def _ready_text(state: Meaning) -> str:
    by = {
        "token": "a token came back",
        "model": "the model is listed",
        "health": "health is ok",
        "log": "its log says so",
    }
    text = f"{_ready_when(state)}: {by[state.options.ready_on]}"
    if state.model is not None and state.options.ready_on != "health":
        text += f" from {state.model}" if state.options.ready_on == "token" else f": {state.model}"
    since = [
        rung for rung in state.ladder if rung.since_s is not None and rung.since_s > (state.ready_s or 0)
    ]
    trouble = missing(tuple(since))
    return f"{_ready_when(state)}, but now {trouble}" if trouble else text


def _ready_when(state: Meaning) -> str:
    """Return "ready" with the moment, which comes first: a narrow screen cuts the model's name instead."""
    if state.options.ready_on == "log":
        if not state.ready_seen or state.ready_s is None or state.began_s is None:
            return "ready"
        return f"ready {clock_text(state.ready_s - state.began_s)} after its first line"
    if not state.ready_seen:
        return "ready since before the watch began"
    if state.ready_s is None or state.started_s is None:
        return "ready"
    least = "" if state.ready_known else "at most "
    return f"ready {least}{clock_text(state.ready_s - state.started_s)} after the start"
