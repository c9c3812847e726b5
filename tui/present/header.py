"""The top line and the status line."""

from dataclasses import replace

from tui.engines.phase import Phase
from tui.watch.meaning import Meaning
from tui.watch.words import age_text, clock_text
from widgets.values import Header, Mood

FAULT_WORDS = {
    "wrong_model": "wrong model",
    "key_needed": "key needed",
    "tls": "TLS fault",
    "not_http": "not HTTP",
}
"""What a person has to mend, as it is shown."""
LASTING = "no_python"
"""A notice about that holds for the whole watch: it gives way to warnings alone."""


def header(state: Meaning, client_now_s: float) -> Header:
    """Return the top line."""
    phase, mood = _phase(state, client_now_s)
    return Header(
        host=host_text(state),
        engine=engine_text(state),
        model=state.model or "",
        clock=_clock(state, client_now_s),
        phase=phase,
        mood=mood,
        link=_link(state, client_now_s),
    )


def named(top: Header, state: Meaning, name: str) -> Header:
    """Return the top line under the name that a person gave the host, beside it its own if that differs."""
    own = "" if state.hello is None or state.hello.place is not None else state.hello.host
    said = name.removeprefix("ssh://").rpartition("@")[2].partition(":")[0]
    alike = said.partition(".")[0].lower() == own.partition(".")[0].lower()
    return replace(top, host=name, own="" if alike else own)


def known_at(state: Meaning, client_now_s: float) -> float | None:
    """Return the host's time, no later than that of its last news where what is shown may be old."""
    return state.source_now(client_now_s - (state.link.stale_s(client_now_s) or 0.0))


def host_text(state: Meaning) -> str:
    """Return where the watch looks: the host, else the URL, "" before either is known."""
    if state.hello is not None:
        return state.hello.place or state.hello.host
    return state.options.url or ""


def engine_text(state: Meaning) -> str:
    """Return the engine with its parallelism: "SGLang TP8 DP2"."""
    if state.engine is None:
        return ""
    words = [state.engine.title]
    if state.shown is not None:
        arguments = state.shown.arguments
        sizes = {
            "TP": arguments.tensor_parallel,
            "PP": arguments.pipeline_parallel,
            "DP": arguments.data_parallel,
        }
        words += [f"{name}{size}" for name, size in sizes.items() if size is not None and size > 1]
    return " ".join(words)


def _clock(state: Meaning, client_now_s: float) -> str:
    """Return T+, frozen at ready and at the end. The uptime of a server found ready counts minutes."""
    if not state.loading:
        end = state.last_end if state.outcome == "failed" else None
        return f"T+ {clock_text(end.lasted_s)}" if end is not None and end.lasted_s is not None else ""
    now_s = state.source_now(client_now_s)
    began_s = state.origin_s
    if now_s is None or began_s is None:
        return ""
    if not state.ready:
        return (
            f"T+ {clock_text(now_s - began_s)}"
            if state.started_s is not None
            else clock_text(now_s - began_s)
        )
    if state.ready_seen and state.ready_s is not None:
        return f"T+ {'' if state.ready_known else 'under '}{clock_text(state.ready_s - began_s)}"
    return f"up {age_text(now_s - began_s)}" if state.started_s is not None else ""


def _phase(state: Meaning, client_now_s: float) -> tuple[str, Mood]:
    if state.link.state == "failed" and not state.loading:
        return "no link", Mood.BAD
    if state.outcome == "failed":
        return _end_phase(state)
    if state.log_failure is not None:
        return "failed by its log", Mood.BAD
    if state.ready:
        return "ready", Mood.GOOD
    if not state.loading:
        return _no_load(state)
    if state.fault is not None:
        return FAULT_WORDS.get(state.fault, state.fault), Mood.WARNING
    if state.phase is None:
        return "waiting" if state.shown is None else "loading, no log", Mood.ACTIVE
    now_s = state.source_now(client_now_s)
    if state.phase_since_s is None or now_s is None or state.phase is Phase.LAUNCH:
        return state.phase.words, Mood.ACTIVE
    return f"{state.phase.words} {clock_text(now_s - state.phase_since_s)}", Mood.ACTIVE


def _no_load(state: Meaning) -> tuple[str, Mood]:
    if state.choice.kind == "several":
        return "choose a server", Mood.WARNING
    if state.unheard:
        return "", Mood.WAITING
    if state.without_python:
        return "server not known", Mood.IDLE
    return ("no server", Mood.IDLE) if state.choice.sentence else ("looking", Mood.WAITING)


def _end_phase(state: Meaning) -> tuple[str, Mood]:
    end = state.last_end
    if end is not None and end.fault == "shut_down":
        return "shut down", Mood.WARNING
    if end is None or end.phase is None:
        return "failed", Mood.BAD
    return f"failed {'while' if end.was_ready else 'in'} {end.phase.words}", Mood.BAD


def _link(state: Meaning, client_now_s: float) -> str:
    link = state.link
    stale_s = link.stale_s(client_now_s)
    if stale_s is not None:
        return f"stale {age_text(stale_s)}"
    return {"connecting": "connecting", "lost": "link lost", "failed": "no link", "closed": "closed"}.get(
        link.state, ""
    )


def status(state: Meaning, client_now_s: float) -> str:
    """Return the one sentence that matters beside the panes: link, missing host parts, the last end."""
    link = state.link
    if link.state in ("connecting", "lost", "failed", "closed") and link.sentence:
        return link.sentence
    end = state.last_end
    if state.loading and end is not None and state.loads > 1:
        return f"before this load: {end.reason}"
    if not state.loading and state.outcome is None:
        return _nothing_here(state)
    newest = state.notices[-1] if state.notices else None
    if newest is not None and newest.level != "info":
        return newest.sentence
    now_s = state.source_now(client_now_s)
    if now_s is not None and state.log_lag.is_far(now_s):
        return "the log is read far behind its writing: J jumps to its end"
    if state.dropped:
        return f"the link is slow: {state.dropped} samples were left out"
    lasting = next((each for each in state.notices if each.about == LASTING), newest)
    return lasting.sentence if lasting is not None else ""


def _nothing_here(state: Meaning) -> str:
    """On a machine without a driver and a server, say what else there is to do."""
    if state.choice.kind == "several":
        return state.choice.sentence
    no_driver = state.driver is not None and state.driver.state == "absent"
    if no_driver and state.choice.sentence and not state.servers:
        return (
            "no NVIDIA driver and no server here: `tminus demo` shows a simulated load, "
            "`tminus HOST` watches another machine"
        )
    return state.notices[-1].sentence if state.notices else ""
