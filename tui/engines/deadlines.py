"""The time-outs that end a server which loads too long: what its arguments and environment say of them.

Read in the sources of SGLang 0.5.5 to 0.5.14, vLLM 0.24.0 and PyTorch's NCCL process group. Left out is what
only warns (SGLang's soft watchdog, vLLM's ring buffer, its VLLM_ENGINE_ITERATION_TIMEOUT_S) and what cannot
strike before the server is ready. Other engines are known to have none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tui.engines.base import Engine
from tui.engines.phase import Phase
from tui.engines.told import Setting, Told, number

Origin = Literal["process", "phase", "weights", "model", "wait", "silence", "frozen"]

GROUP_S = 600.0
"""PyTorch's default for a group over NCCL, and for its ranks to meet."""
HEARTBEAT_S = 480.0

_LOADING = frozenset((Phase.DISTRIBUTED, Phase.WEIGHTS, Phase.KV_CACHE, Phase.COMPILE, Phase.CAPTURE))
_API = frozenset((Phase.START_API, Phase.WARMUP))


@dataclass(frozen=True, slots=True)
class Deadline:
    """One time-out. ``seconds`` is None where it cannot be read; ``source`` then says why.

    It can strike in ``phases``, so long after ``counts_from``: the start of the process, of the phase, the
    first rank's end of the weights phase while others load, the port that names its model, a GPU that waits
    for others, the last movement of a load that stands still, that of a rank that is stuck in the kernel.
    ``strikes`` says what it does, ``unless`` under which condition.
    """

    name: str
    seconds: float | None
    source: str
    phases: frozenset[Phase]
    counts_from: Origin
    strikes: str
    unless: str


def deadlines_of(
    engine: Engine, argv: Sequence[str] | None, environment: Mapping[str, str] | None
) -> tuple[Deadline, ...]:
    """Return the time-outs of a server by its command line and environment (None: not readable)."""
    told = Told(engine, argv, environment)
    if engine.name == "sglang":
        return _known(*_sglang(told))
    return _known(*_vllm(told)) if engine.name == "vllm" else ()


def _known(*found: Deadline | None) -> tuple[Deadline, ...]:
    return tuple(each for each in found if each is not None)


def _made(
    name: str, setting: Setting, phases: frozenset[Phase], origin: Origin, strikes: str, unless: str
) -> Deadline:
    return Deadline(name, setting.seconds, setting.source, phases, origin, strikes, unless)


# PyTorch.


def _meeting(told: Told, setting: Setting) -> Deadline | None:
    """The store at which all ranks meet first."""
    if told.single:
        return None
    phases = frozenset((Phase.DISTRIBUTED,))
    return _made("rendezvous", setting, phases, "phase", "ends the ranks", "if not all of them meet")


def _collective(told: Told, setting: Setting, phases: frozenset[Phase]) -> Deadline | None:
    """A group's limit for one collective; one that is captured into a graph has none."""
    handling = (told.environment or {}).get("TORCH_NCCL_ASYNC_ERROR_HANDLING", "").strip()
    if told.single or handling in ("0", "2"):
        return None
    return _made("NCCL group", setting, phases, "wait", "ends the ranks", "if this collective does not end")


def _gloo(told: Told, setting: Setting, phases: frozenset[Phase]) -> Deadline | None:
    if told.single:
        return None
    return _made("gloo group", setting, phases, "silence", "ends the ranks", "if a rank does not come")


def _heartbeat(told: Told) -> Deadline | None:
    """The monitor of NCCL's watchdog thread: it sees it stuck after one period, and waits for a second."""
    if told.off("TORCH_NCCL_ENABLE_MONITORING"):
        return None
    period = told.variable("TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC", HEARTBEAT_S)
    setting = period.times(2, "twice")
    after = (_LOADING | _API) - {Phase.DISTRIBUTED}
    return _made("NCCL heartbeat", setting, after, "frozen", "kills the rank", "if it stays stuck")


# SGLang.


def _sglang(told: Told) -> tuple[Deadline | None, ...]:
    group = told.flag("--dist-timeout", GROUP_S, "PyTorch's")
    eager = frozenset((Phase.DISTRIBUTED, Phase.KV_CACHE, Phase.COMPILE, Phase.WARMUP))
    on_cpu = frozenset((Phase.DISTRIBUTED, Phase.KV_CACHE, Phase.CAPTURE))
    return (
        _meeting(told, group),
        _collective(told, _subgroups(told, group), eager),
        _gloo(told, Setting(7200.0, "fixed in SGLang"), on_cpu),
        _barrier(told),
        _heartbeat(told),
        _own_port(told),
        _warmup(told),
        _watchdog(told),
    )


def _subgroups(told: Told, group: Setting) -> Setting:
    """The flag was for the group of all ranks alone at first, which no collective of the load uses."""
    return group.times(1, "from SGLang 0.5.11 on") if told.given("--dist-timeout") else group


def _barrier(told: Told) -> Deadline | None:
    """The barrier behind the weights."""
    if told.single or told.text("--elastic-ep-backend") == "mooncake":
        return None
    setting = Setting(480.0, "fixed from SGLang 0.5.6 on, 300 s before")
    weights = frozenset((Phase.WEIGHTS,))
    return _made("load barrier", setting, weights, "weights", "ends the server", "if a rank is not loaded")


def _own_port(told: Told) -> Deadline | None:
    if told.given("--skip-server-warmup"):
        return None
    setting = Setting(120.0, "120 tries in SGLang")
    phases = frozenset((Phase.START_API,))
    return _made("own port", setting, phases, "phase", "kills the server", "if its port does not answer it")


def _warmup(told: Told) -> Deadline | None:
    if told.given("--skip-server-warmup"):
        return None
    apart = told.text("--disaggregation-mode") in ("prefill", "decode")
    setting = told.variable("SGLANG_WARMUP_TIMEOUT", 1800.0 if apart else 600.0)
    phases = frozenset((Phase.WARMUP,))
    unless = "if the warm-up request is not answered"
    return _made("warm-up request", setting, phases, "phase", "kills the server", unless)


def _watchdog(told: Told) -> Deadline:
    """It looks each half of its time, so it strikes up to half as late again."""
    setting = told.flag("--watchdog-timeout", 300.0, "SGLang's")
    phases = frozenset((Phase.WARMUP,))
    return _made("watchdog", setting, phases, "phase", "kills the server", "if this batch does not end")


# vLLM.


def _vllm(told: Told) -> tuple[Deadline | None, ...]:
    meeting = told.flag("--distributed-timeout-seconds", GROUP_S, "PyTorch's")
    on_cpu = told.flag("--cpu-distributed-timeout-seconds", 1800.0, "PyTorch's")
    return (
        _meeting(told, meeting),
        _torch_collective(told),
        _gloo(told, on_cpu, frozenset((Phase.DISTRIBUTED, Phase.CAPTURE))),
        _heartbeat(told),
        _engine_ready(told),
        _handshake(told),
        _placement(told),
        _execute(told),
    )


def _torch_collective(told: Told) -> Deadline | None:
    """vLLM calls NCCL by itself, which has no limit; without that its groups have PyTorch's own."""
    if (told.environment or {}).get("VLLM_DISABLE_PYNCCL", "").strip().lower() not in ("1", "true"):
        return None
    eager = frozenset((Phase.DISTRIBUTED, Phase.KV_CACHE, Phase.COMPILE))
    return _collective(told, Setting(GROUP_S, "PyTorch's default, as VLLM_DISABLE_PYNCCL is set"), eager)


def _engine_ready(told: Told) -> Deadline | None:
    """Several API servers wait for the engines with a limit; one that starts them waits without."""
    if told.argv is None or _api_servers(told) < 2:
        return None
    setting = told.variable("VLLM_ENGINE_READY_TIMEOUT_S", 600.0)
    phases = _LOADING | {Phase.LAUNCH}
    return _made("engine ready", setting, phases, "process", "ends the API servers", "if no engine is ready")


def _api_servers(told: Told) -> int:
    """Return how many API servers a command line starts; as many as replicas where it does not say."""
    alone = ("--headless", "--data-parallel-rank", "--data-parallel-external-lb", "--enable-elastic-ep")
    if told.given(*alone):
        return 0
    count = number(told.text("--api-server-count"))
    if count is None and told.given("--data-parallel-hybrid-lb", "--data-parallel-start-rank"):
        count = number(told.text("--data-parallel-size-local"))
    elif count is None:
        count = told.arguments.data_parallel
    return int(count or 1)


def _handshake(told: Told) -> Deadline | None:
    if not told.given("--headless"):
        return None
    setting = Setting(300.0, "fixed in vLLM 0.24")
    phases = frozenset((Phase.LAUNCH,))
    return _made("front end", setting, phases, "process", "ends the engine core", "if it does not answer")


def _placement(told: Told) -> Deadline | None:
    if "ray" not in (told.text("--distributed-executor-backend"), told.text("--data-parallel-backend")):
        return None
    setting = Setting(1800.0, "fixed in vLLM 0.24")
    phases = frozenset((Phase.LAUNCH,))
    return _made("Ray placement", setting, phases, "process", "ends the server", "if Ray grants no GPUs")


def _execute(told: Told) -> Deadline | None:
    """The limit of one step, which workers in processes of their own alone have."""
    if told.single and told.text("--distributed-executor-backend") not in ("mp", "ray"):
        return None
    setting = told.variable("VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS", 300.0)
    return _made("model step", setting, _API, "model", "ends the engine", "if this step does not end")
