"""What one line of a log says, as values: the vocabulary between engines and watch."""

from enum import StrEnum

import msgspec

from tui.engines.phase import Phase


class MarkKind(StrEnum):
    """What a mark says of the load.

    START: a new start of the server begins (everything before belongs to an earlier one). BEGINS: the phase
    begins, also one that lies behind (a draft model's weights). WITHIN: the phase is reached, never a way
    back. ENDS: the phase is over for the speaker. PROGRESS: n of N within the phase. READY: the engine says
    that it serves. STEADY: figures of a server that serves. IDENTITY: which rank a process is. FACT:
    figures, version or arguments alone. HEARTBEAT: a line that repeats without progress. FAULT: see
    ``Mark.fault``. SHUTDOWN: the end was asked for. ACCESS: a request was answered. FRAME: a traceback went
    through this phase, which counts only if the load has failed.
    """

    START = "start"
    BEGINS = "begins"
    WITHIN = "within"
    ENDS = "ends"
    PROGRESS = "progress"
    READY = "ready"
    STEADY = "steady"
    IDENTITY = "identity"
    FACT = "fact"
    HEARTBEAT = "heartbeat"
    FAULT = "fault"
    SHUTDOWN = "shutdown"
    ACCESS = "access"
    FRAME = "frame"


class FaultKind(StrEnum):
    """Why a load failed. The value is what --json prints."""

    OOM_WEIGHTS = "oom_weights"
    OOM_KV = "oom_kv"
    OOM_CAPTURE = "oom_capture"
    OOM_HOST = "oom_host"
    PORT_IN_USE = "port_in_use"
    MISSING_MODEL = "missing_model"
    BAD_CONFIG = "bad_config"
    NCCL = "nccl"
    DRIVER = "driver"
    COMPILE = "compile"
    RANK_DIED = "rank_died"
    WARMUP_FAILED = "warmup_failed"
    TIMEOUT = "timeout"
    UNKNOWN = "unknown"


class Weight(StrEnum):
    """How much a fault line says of the true cause, the best first.

    CAUSE names it. ERROR is an exception of unknown kind. QUOTED is a cause as the source line of a traceback
    quotes it. CONSEQUENCE follows the failure of another process (a collective's time-out, a lost peer).
    REPORT says that a process died, not why. ECHO repeats another process's failure.
    """

    CAUSE = "cause"
    ERROR = "error"
    QUOTED = "quoted"
    CONSEQUENCE = "consequence"
    REPORT = "report"
    ECHO = "echo"


CACHE_WARM = "from the compile cache"
CACHE_COLD = "into the compile cache"
"""``Mark.part`` of lines that say whether compiled graphs were found or had to be made."""


class Speaker(msgspec.Struct, frozen=True, cache_hash=True):
    """Who wrote a line, as far as its prefix says. ``rank`` is the engine's own text ("TP0", "DP1 TP3").

    ``role`` is the process's name in the prefix ("Worker", "EngineCore", "APIServer"), "" where there is
    none. ``depth`` counts from the process that was started: 0 main, 1 engine core, 2 worker or rank; None
    where the line does not say.
    """

    rank: str | None = None
    role: str = ""
    pid: int | None = None
    depth: int | None = None


NOBODY = Speaker()


class Figure(msgspec.Struct, frozen=True):
    """A figure that the engine printed. ``name`` ends in its unit: ``weights_gib``, ``kv_cache_tokens``."""

    name: str
    value: float


class Progress(msgspec.Struct, frozen=True):
    """So much of a phase is done. ``total`` None where the log does not say. ``text`` is the bar's own text.

    ``current`` is what is being worked on now ("bs=16": named before it is done, so it is not counted).
    """

    done: float
    total: float | None
    unit: str
    text: str = ""
    current: str = ""


class Steady(msgspec.Struct, frozen=True):
    """What a serving engine prints of itself; None is not printed. Rates in tokens/s, ``kv_used_pct`` 0-100.

    ``acceptance_length`` is the mean of tokens per verification step, with the bonus token.
    """

    output_tokens_per_s: float | None = None
    prompt_tokens_per_s: float | None = None
    running: int | None = None
    queued: int | None = None
    kv_used_pct: float | None = None
    acceptance_length: float | None = None


def together(before: Steady | None, now: Steady) -> Steady:
    """Return what is printed now and, where that says nothing, what was before (prefill, then decode)."""
    if before is None:
        return now
    return Steady(
        before.output_tokens_per_s if now.output_tokens_per_s is None else now.output_tokens_per_s,
        before.prompt_tokens_per_s if now.prompt_tokens_per_s is None else now.prompt_tokens_per_s,
        before.running if now.running is None else now.running,
        before.queued if now.queued is None else now.queued,
        before.kv_used_pct if now.kv_used_pct is None else now.kv_used_pct,
        before.acceptance_length if now.acceptance_length is None else now.acceptance_length,
    )


class RankIdentity(msgspec.Struct, frozen=True):
    """Which rank a process is: its place in the world and in each parallelism, None where not said."""

    world_size: int | None = None
    global_rank: int | None = None
    local_rank: int | None = None
    dp: int | None = None
    pp: int | None = None
    tp: int | None = None
    ep: int | None = None


class FaultMark(msgspec.Struct, frozen=True):
    """What a fault line says. ``kind`` None: out of GPU memory, of which kind the phase decides.

    ``terminal``: with this line the load has failed; else it only explains a failure told elsewhere.
    ``phase`` is where such a thing happens, None where the line does not say. ``while_loading``: terminal
    only until the server is ready. ``uncaught``: an exception that ended its process, which is an end at any
    time. ``cause`` and ``next_step`` are one sentence each.
    """

    kind: FaultKind | None
    weight: Weight
    terminal: bool
    cause: str = ""
    next_step: str = ""
    phase: Phase | None = None
    while_loading: bool = False
    uncaught: bool = False


class Mark(msgspec.Struct, frozen=True):
    """One thing that a line says. Fields beside ``kind`` and ``speaker`` are set where they apply.

    ``each``: every rank prints this line, so that a rank without it lags. ``part`` says what of the phase
    ("draft model", "decode"). ``heartbeat``: it proves no progress. ``seconds`` is the engine's own word
    for how long it took. ``text`` is a version or the arguments.
    """

    kind: MarkKind
    speaker: Speaker = NOBODY
    phase: Phase | None = None
    each: bool = False
    part: str = ""
    seconds: float | None = None
    progress: Progress | None = None
    steady: Steady | None = None
    identity: RankIdentity | None = None
    figures: tuple[Figure, ...] = ()
    version: str | None = None
    arguments: str | None = None
    heartbeat: bool = False
    fault: FaultMark | None = None


def somebodys_request(marks: tuple[Mark, ...]) -> bool:
    """Return whether a line says only that a request was answered: most of a long log, and moves no load."""
    return len(marks) == 1 and marks[0].kind is MarkKind.ACCESS


def tells_progress(marks: tuple[Mark, ...]) -> bool:
    """Return whether a line is more than a heartbeat or somebody's request; a line without marks is."""
    for mark in marks:
        if mark.heartbeat or mark.kind is MarkKind.HEARTBEAT or mark.kind is MarkKind.ACCESS:
            return False
    return True
