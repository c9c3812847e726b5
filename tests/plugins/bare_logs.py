"""Bare logs as tapes: small SGLang starts, written and played."""

from pathlib import Path
from typing import NamedTuple

from tui.events import AnyEvent, Log, Notice
from tui.replay.bare_log import log_tape
from tui.replay.headless import Played, play
from tui.watch.state import WatchState

LOADED = (
    (0, "server_args=ServerArgs(model_path='org/tiny', served_model_name='tiny', port=30000)"),
    (10, "Init torch distributed begin."),
    (11, "Init torch distributed ends. mem usage=0.5 GB"),
    (12, "Load weight begin. avail mem=100.00 GB"),
    (42, "Load weight end. type=LlamaForCausalLM, avail mem=40.00 GB, mem usage=60.00 GB."),
    (43, "KV Cache is allocated. #tokens: 1000, K size: 1.00 GB, V size: 1.00 GB"),
    (44, "Capture cuda graph begin. This can take up to several minutes. avail mem=19.00 GB"),
    (64, "Capture cuda graph end. Time elapsed: 20.00 s. avail mem=18.00 GB."),
    (65, "INFO:     Application startup complete."),
    (70, "The server is fired up and ready to roll!"),
)
FAILED = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."


class Told(NamedTuple):
    """What a state says at the end, in the words of ``explain``."""

    outcome: str
    phase: str | None
    cause: str | None


def stamped(second: int, text: str, day: str = "2026-11-29") -> str:
    """Return a line as SGLang writes it, so many seconds after 10:00."""
    return f"[{day} {10 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}] {text}\n"


def loaded(count: int = len(LOADED), first: int = 0) -> str:
    """Return the first lines of a load that becomes ready after 70 s."""
    return "".join(stamped(first + second, text) for second, text in LOADED[:count])


def played(path: Path, table: Path | None = None) -> Played:
    """Run a log, and a table beside it, to the end."""
    return play(log_tape(str(path), None if table is None else str(table)))


def events(path: Path | None, table: Path | None = None) -> list[AnyEvent]:
    """Return the events of a tape."""
    return list(log_tape(None if path is None else str(path), None if table is None else str(table)).read())


def sentences(found: list[AnyEvent]) -> list[str]:
    """Return what the notices say."""
    return [event.sentence for event in found if isinstance(event, Notice)]


def moments(found: list[AnyEvent]) -> list[tuple[float, str]]:
    """Return each line of the log with the moment at which it is played."""
    return [(event.client_s, line) for event in found if isinstance(event, Log) for line in event.lines]


def told(state: WatchState) -> Told:
    """Return what the state says."""
    end = state.last_end if state.outcome == "failed" else None
    outcome = "ready" if state.ready else "unfinished"
    if end is not None:
        outcome = "stopped" if end.fault == "shut_down" else "failed"
    cause = None if end is None or end.cause is None else end.cause.kind.value
    return Told(outcome, None if state.phase is None else state.phase.value, cause)
