"""The event vocabulary: everything that tminus knows arrives as one of these.

Events are frozen msgspec structs, one JSON object a line in a journal. Every event carries three clocks:
``mono_s`` (monotonic clock of the host that it tells of), ``wall_s`` (that host's wall clock, seconds since
1970) and ``client_s`` (monotonic clock of the machine that watches, stamped on arrival). Durations are
differences of ``mono_s``. ``None`` means "not known" or "not available" and is never shown as 0.
"""

from typing import Literal

import msgspec

from tui.agent import wire
from tui.benchmark import BenchChoice, BenchComparison, BenchProgress, BenchRecords, BenchResult
from tui.event_base import Event, Part
from tui.past_load import History
from tui.provenance import Provenance
from tui.signals import Evidence, GpuFault, HostSignals, Locks, Signals

VERSION = 5


# The host and its gpus.


class Hello(Event, frozen=True, kw_only=True, tag=wire.HELLO):
    """The first event of an agent (or of a URL watched without one): who and where it is.

    ``place`` is set by the client where the agent was started in a container, a pod or a job: which one, and
    on which host ("docker:vllm on gpu-box"); ``host`` is then what the inside calls itself.
    """

    protocol: int
    host: str
    user: str
    uid: int | None
    pid: int
    boot_id: str
    python: str
    kernel: str
    cpu_count: int | None
    memory_total_mib: int | None
    place: str | None = None


class Notice(Event, frozen=True, kw_only=True, tag=wire.NOTICE):
    """One plain sentence for the person who watches."""

    level: Literal["info", "warning", "error"]
    about: str
    sentence: str


class GpuDriver(Event, frozen=True, kw_only=True, tag=wire.GPU_DRIVER):
    """The state of the NVIDIA driver; sent when it changes and each second while it does not answer."""

    state: Literal["ok", "absent", "failed", "silent"]
    sentence: str
    version: str | None = None
    silent_s: float | None = None
    code: int | None = None


class GpuFact(Part, frozen=True, kw_only=True):
    """What does not change about one GPU."""

    index: int
    uuid: str | None
    name: str | None
    bus_id: str | None
    memory_total_mib: float | None
    power_limit_w: float | None
    pcie_generation_max: int | None
    pcie_width_max: int | None


class GpuFacts(Event, frozen=True, kw_only=True, tag=wire.GPU_FACTS):
    """All GPUs of the host, once per start of the reader."""

    gpus: list[GpuFact]


class GpuSample(Part, frozen=True, kw_only=True):
    """The fast tier of one GPU. ``state`` lost keeps the row and its index."""

    index: int
    state: Literal["ok", "lost", "error"]
    memory_used_mib: float | None
    memory_reserved_mib: float | None
    memory_total_mib: float | None
    utilisation_pct: float | None
    memory_utilisation_pct: float | None
    power_w: float | None
    sentence: str | None = None


class Gpus(Event, frozen=True, kw_only=True, tag=wire.GPUS):
    """One fast-tier reading of every GPU. Droppable."""

    gpus: list[GpuSample]
    cost_ms: float


class GpuDetail(Part, frozen=True, kw_only=True):
    """The slow tier (each 5 s; ECC, memory clock and link 15 s) of one GPU. ``event_reasons`` is a bit mask.

    ``pcie_received_mib`` came over PCIe since the reader's start or the GPU's return; None: it cannot say.
    """

    index: int
    temperature_c: float | None
    sm_clock_mhz: float | None
    memory_clock_mhz: float | None
    event_reasons: int | None
    ecc_uncorrected: int | None
    pcie_generation: int | None
    pcie_width: int | None
    pcie_received_mib: float | None = None
    sm_pct: float | None = None
    tensor_pct: float | None = None
    dram_pct: float | None = None
    nvlink_received_mib_s: float | None = None


class GpuDetails(Event, frozen=True, kw_only=True, tag=wire.GPU_DETAILS):
    """One slow-tier reading of every GPU. Droppable."""

    gpus: list[GpuDetail]
    cost_ms: float


class GpuProcess(Part, frozen=True, kw_only=True):
    """GPU memory held by one process; ``memory_mib`` None where the driver does not say.

    ``foreign``: the agent lives in a container and cannot show that ``pid`` is the container's own number
    for it; then it is the host's, and must not be joined with a process of the same number.
    """

    index: int
    pid: int
    memory_mib: float | None
    foreign: bool = False


class GpuProcesses(Event, frozen=True, kw_only=True, tag=wire.GPU_PROCESSES):
    """Which process holds memory on which GPU; sent only after memory moved."""

    processes: list[GpuProcess]


class Process(Part, frozen=True, kw_only=True):
    """One process of an engine's tree, arguments and environment already masked on the host.

    ``started_s`` is on the host's monotonic clock. ``matched`` names the matcher that found it (its engine),
    None for a descendant. ``environment`` is None when it could not be read (another user's process), and
    holds only variables that concern engines and GPUs. ``stdout`` and ``stderr`` are link targets
    (``/path``, ``pipe:[1]``, ``/dev/pts/3``, ``socket:[2]``), None when not readable. ``state`` is the
    letter of /proc/PID/stat. ``inner_pid`` is the process's own number for itself where it lives in a
    container that the agent looks into from outside: the one that its log tells.
    """

    pid: int
    ppid: int
    started_s: float
    uid: int
    user: str
    state: str
    title: str
    argv: list[str] | None
    matched: str | None
    cwd: str | None
    stdout: str | None
    stderr: str | None
    container: str | None
    environment: dict[str, str] | None
    api_key_in_argv: bool = False
    inner_pid: int | None = None


class Processes(Event, frozen=True, kw_only=True, tag=wire.PROCESSES):
    """All processes of all engine trees found, whenever that set or a state in it changed.

    ``hidden`` counts processes that may be servers but whose arguments this user may not read.
    """

    processes: list[Process]
    hidden: int = 0


class Exit(Event, frozen=True, kw_only=True, tag=wire.EXIT):
    """A followed process, or one of its descendants, is gone (or a zombie)."""

    pid: int
    main: bool
    title: str
    how: Literal["gone", "zombie"]
    code: int | None = None
    sentence: str = ""


class LogSource(Event, frozen=True, kw_only=True, tag=wire.LOG_SOURCE):
    """Where the log is read from, or the sentence why it cannot be."""

    path: str | None
    state: Literal["open", "missing", "unreadable", "not_a_file", "none"]
    sentence: str


class Log(Event, frozen=True, kw_only=True, tag=wire.LOG):
    """Cleaned lines, in order. ``tail`` is the unfinished line at the end ("" when there is none).

    ``lines`` were split on newline and carriage return; ``returns`` lists the indexes of lines that ended in
    a carriage return (a bar redrawn in place). ``offset`` is the byte offset after the last byte taken in.
    """

    lines: list[str]
    tail: str
    returns: list[int]
    path: str
    device: int
    inode: int
    offset: int
    behind_bytes: int = 0


class Gap(Event, frozen=True, kw_only=True, tag=wire.GAP):
    """Log bytes that are really lost, and why; those of a backlog, or skipped as asked, are just not read."""

    path: str
    lost_bytes: int | None
    why: Literal["truncated", "replaced", "backlog", "skipped", "unknown"]
    sentence: str


# Readiness.

Rung = Literal["port", "health", "models", "token"]
# fmt: off
Outcome = Literal[
    "ok", "refused", "reset", "timeout", "status", "unreachable", "tls",
    "not_http", "wrong_model", "key_needed", "empty",
]
# fmt: on


class Probe(Event, frozen=True, kw_only=True, tag=wire.PROBE):
    """One answer to one question put to the server's port.

    ``detail`` is the answer in words ("503 Service Unavailable", "connection refused"). ``models`` lists the
    ids of /v1/models when that was asked. ``model`` and ``text`` belong to the token rung: who generated
    what.
    """

    rung: Rung
    outcome: Outcome
    latency_ms: float
    detail: str
    url: str
    status: int | None = None
    models: list[str] | None = None
    model: str | None = None
    text: str | None = None
    server: str | None = None


class Dropped(Event, frozen=True, kw_only=True, tag=wire.DROPPED):
    """How many samples were dropped since the last such event, because the link is slow."""

    samples: int


class Pong(Event, frozen=True, kw_only=True, tag=wire.PONG):
    """The answer to a ping; ``sent_s`` is the client's own clock, returned."""

    sent_s: float


class Link(Event, frozen=True, kw_only=True, tag=wire.LINK):
    """A change of the link to the host, made by the client.

    ``fault`` names the class of an end that will not be retried: usage, dns, refused, auth, host_key,
    timeout, no_python, agent, lost.
    """

    state: Literal["connecting", "up", "lost", "failed", "closed"]
    sentence: str
    fault: str | None = None
    retry_in_s: float | None = None
    banner: str = ""


class Goodbye(Event, frozen=True, kw_only=True, tag=wire.GOODBYE):
    """The agent ends of its own accord, and why."""

    sentence: str


class Tick(Event, frozen=True, kw_only=True, tag=wire.TICK):
    """A second has passed on the client; lets a replay age as the live watch did."""


class Checkpoint(Event, frozen=True, kw_only=True, tag=wire.CHECKPOINT):
    """The size of the model's weight files, by directory entries alone: none is opened. None is not known."""

    model: str
    weight_bytes: int | None
    files: int
    sentence: str = ""


# fmt: off
AnyEvent = (
    Hello | Notice | GpuDriver | GpuFacts | Gpus | GpuDetails | GpuProcesses
    | Processes | Exit | LogSource | Log | Gap | Probe | Dropped
    | Pong | Link | Goodbye | Tick | History | Checkpoint | Signals | HostSignals
    | Locks | GpuFault | Evidence
    | Provenance
    | BenchChoice | BenchProgress | BenchRecords | BenchResult | BenchComparison
)
# fmt: on

_decoder: "msgspec.json.Decoder[AnyEvent]" = msgspec.json.Decoder(AnyEvent)
_encoder = msgspec.json.Encoder()


def decode(line: bytes | str) -> AnyEvent:
    """Decode one journal line. Raises msgspec.ValidationError for what is not an event of this version."""
    return _decoder.decode(line)


def encode(event: AnyEvent) -> bytes:
    """Encode one event as a JSON line without its newline."""
    return _encoder.encode(event)


def convert(message: object) -> AnyEvent:
    """Turn a decoded JSON object into an event. Raises msgspec.ValidationError."""
    return msgspec.convert(message, AnyEvent)
