"""The head of a report: how it came out in a few words, what it was, when, and with which options."""

from dataclasses import dataclass
from datetime import UTC, datetime

from tui.engines.phase import Phase
from tui.journal.h200 import HOST as HOST_UNKNOWN
from tui.replay.evidence import Ended, Evidence
from tui.watch.words import FAULT_KIND_WORDS, clock_text

NOT_GIVEN = "not given"
_EARLIEST_S = 946_684_800.0
"""The year 2000: an earlier wall clock was never set, or counts from something else."""
_LATEST_S = 253_402_300_799.0
_FAULTS = {
    "died": "the server ended",
    "refused": "the port refuses connections",
    "log_failure": "its log tells of a failure",
    "wrong_model": "wrong model",
    "dead": "a part of the server is gone",
}


@dataclass(frozen=True, slots=True)
class Made:
    """How a bundle was made: by which tminus, whether secrets were masked and names replaced on export."""

    tminus: str
    masked: bool
    anonymised: bool


def heading(evidence: Evidence, ended: Ended) -> str:
    """Return how it came out in a few words."""
    place = _place(evidence)
    match ended.outcome:
        case "ready":
            took_s = ready_after_s(evidence)
            return "Ready" if took_s is None else f"Ready after {clock_text(took_s)}"
        case "failed" if ended.fault == "shut_down":
            return f"Stopped{place}"
        case "failed":
            cause = evidence.cause
            why = _fault_words(ended.fault) if cause is None else FAULT_KIND_WORDS[cause.kind]
            return f"Failed{place}: {why}"
        case "lost":
            return f"Link lost{place}"
        case _:
            return f"Not ready at the end of the recording{',' if place else ''}{place}"


def _fault_words(fault: str | None) -> str:
    return "cause not known" if fault is None else _FAULTS.get(fault, fault.replace("_", " "))


def _place(evidence: Evidence) -> str:
    state = evidence.state
    end = state.last_end if state.outcome == "failed" else None
    phase = state.phase if end is None else end.phase
    if phase is None:
        return ""
    return " while ready" if phase is Phase.READY else f" in {phase.words}"


def ready_after_s(evidence: Evidence) -> float | None:
    """Return how long after its start the server was ready, None where that was not seen."""
    state = evidence.state
    if state.ready_s is None or state.started_s is None or not state.ready_seen or not state.ready_known:
        return None
    return state.ready_s - state.started_s


def sentence(evidence: Evidence, ended: Ended) -> str:
    """Return the reason in a sentence, without the line of the log that stands under the root cause."""
    cause = evidence.cause
    text = ended.reason if cause is None else ended.reason.removesuffix(cause.quote.text)
    text = text.strip().removesuffix(":")
    stop = "" if not text or text.endswith((".", "…", "!", "?")) else "."
    return text[:1].upper() + text[1:] + stop


def subject(evidence: Evidence) -> str:
    """Return engine, model and host as far as they are known."""
    state = evidence.state
    engine = "" if state.engine is None else f"{state.engine.title} {state.engine_version or ''}".strip()
    host = host_words(evidence)
    return ", ".join(text for text in (engine, state.model or "", host) if text) or "server"


def host_words(evidence: Evidence) -> str:
    """Return what the host was called, "" where the recording does not say."""
    host = evidence.header.host
    return "" if host == HOST_UNKNOWN else host


def utc_text(wall_s: float) -> str | None:
    """Return a moment in UTC, None where the clock that told it was not set."""
    if not _EARLIEST_S <= wall_s <= _LATEST_S:
        return None
    return f"{datetime.fromtimestamp(wall_s, UTC):%Y-%m-%d %H:%M:%S} UTC"


def began_text(evidence: Evidence) -> str:
    """Return when the recording began."""
    return utc_text(evidence.header.began_wall_s) or "not known"


def asked_rows(evidence: Evidence) -> list[tuple[str, str]]:
    """Return the options that the recording was made with: pairs of a name and a value."""
    asked = evidence.header.asked
    given = {
        "host": host_words(evidence) or "not known",
        "port": asked.port,
        "url": asked.url,
        "log": asked.log_path,
        "pid": asked.pid,
        "model": asked.model,
        "interval": f"{asked.interval_s:g} s",
        "ready-on": asked.ready_on,
        "bench-on-ready": "yes" if asked.bench_on_ready else "no",
    }
    return [(name, NOT_GIVEN if value is None else str(value)) for name, value in given.items()]


def made_rows(made: Made) -> list[tuple[str, str]]:
    """Return what was done to the recording on export."""
    return [
        ("secrets on export", "masked" if made.masked else "NOT MASKED (--no-mask)"),
        ("names on export", "replaced (--anonymise)" if made.anonymised else "as recorded"),
    ]
