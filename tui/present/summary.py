"""What stays in the terminal when the screen is left, and the window's title."""

from tui.present.bench import headline
from tui.present.figures import figure, gib
from tui.present.header import FAULT_WORDS, engine_text, host_text
from tui.watch.meaning import Meaning
from tui.watch.words import clock_text


def exit_summary(
    state: Meaning,
    client_now_s: float,
    name: str = "",
    unheard: str = "no host was reached",
    *,
    elsewhere: str = "",
) -> list[str]:
    """Return at most six lines: host and server, phases, outcome, peak memory, benchmark, the load before.

    ``name`` is what the person calls the host, ``unheard`` is said where nothing is known at all,
    ``elsewhere`` is the outcome where another host tells it.
    """
    if state.shown is None and not state.loading and state.outcome is None:
        where = name or host_text(state)
        told = state.choice.sentence if state.hello is not None or not name else _not_heard(state)
        return [f"tminus: {where}: {told}" if where else f"tminus: {unheard}"]
    lines = [
        _server(state, name or host_text(state)),
        _phases(state, client_now_s),
        elsewhere or _outcome(state, client_now_s),
        _memory(state),
        _bench(state),
        _before(state),
    ]
    return [text for text in lines if text]


def _not_heard(state: Meaning) -> str:
    """Return why a host was not heard, as far as that was found out."""
    return state.link.sentence if state.link.state in ("failed", "lost") else "it had not answered yet"


def _server(state: Meaning, host: str) -> str:
    server = state.shown
    words = [engine_text(state), state.model or ""]
    if server is not None:
        words.append(f"pid {server.pid}, port {server.port}")
    what = " · ".join(word for word in words if word)
    return ": ".join(text for text in ("tminus", host, what) if text)


def _phases(state: Meaning, client_now_s: float) -> str:
    now_s = state.source_now(client_now_s)
    words: list[str] = []
    for span in state.phases:
        seconds = span.seconds(now_s) if now_s is not None else None
        if span.phase.value != "ready":
            words.append(span.phase.words + (f" {clock_text(seconds)}" if seconds is not None else ""))
    return f"phases: {', '.join(words)}" if words else ""


def _outcome(state: Meaning, client_now_s: float) -> str:
    if state.outcome == "failed":
        return state.reason if state.fault == "shut_down" else f"failed: {state.reason}"
    started_s, ready_s = state.started_s, state.ready_s
    if state.ready:
        if state.ready_seen and ready_s is not None and started_s is not None:
            least = "" if state.ready_known else "at most "
            return f"ready {least}{clock_text(ready_s - started_s)} after the start"
        return "ready" if state.ready_seen else "ready before the watch began"
    now_s = state.source_now(client_now_s)
    since = f" at T+ {clock_text(now_s - started_s)}" if now_s is not None and started_s is not None else ""
    found = state.judged
    if found is not None and found.stands:
        return f"not ready{since}: {found.sentence}" + (
            f" (next: {found.next_step})" if found.next_step else ""
        )
    return f"not ready{since}: {state.reason}" if state.reason else f"not ready{since}"


def _memory(state: Meaning) -> str:
    peaks = [(gpu.index, gib(gpu.peak_mib)) for gpu in state.gpus.in_order() if gpu.peak_mib is not None]
    if not peaks:
        return ""
    if len({peak for _, peak in peaks}) == 1:
        which = f"GPU {peaks[0][0]}" if len(peaks) == 1 else f"{len(peaks)} GPUs"
        return f"peak GPU memory: {which} {peaks[0][1]} GiB{' each' if len(peaks) > 1 else ''}"
    return f"peak GPU memory: {', '.join(f'{index}: {peak}' for index, peak in peaks)} GiB"


def _bench(state: Meaning) -> str:
    if not state.bench.results:
        return ""
    result = state.bench.results[-1]
    ttft = result.ttft_ms.p50
    return f"benchmark: {headline(result)}" + (f", TTFT p50 {figure(ttft)} ms" if ttft is not None else "")


def _before(state: Meaning) -> str:
    end = state.last_end
    return f"before it: {end.reason}" if end is not None and state.outcome != "failed" else ""


def title(state: Meaning) -> str:
    """Return the terminal's title: what is the matter, with which model, where."""
    if state.outcome == "failed":
        first = "FAILED"
    elif state.judged is not None and state.judged.stands:
        first = state.judged.word.upper()
    elif state.ready:
        first = "READY"
    elif state.fault is not None:
        first = FAULT_WORDS.get(state.fault, state.fault)
    elif state.loading:
        first = state.phase.words if state.phase is not None else "waiting"
    else:
        blind = "server not known" if state.without_python else "no server"
        first = "connecting" if state.unheard else blind
    words = [first, state.model or "", host_text(state)]
    return " · ".join(word for word in words if word)
