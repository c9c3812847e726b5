"""What an engine is to tminus: data about its processes, arguments, endpoints and log, and no behaviour.

An engine is one ``Engine`` value in one file and one line in ``registry.py``. Everything here is pure: no
I/O, no clock. What its log says is a table of rules (``rules.py``), read by ``reader.py``.
"""

import re
from dataclasses import dataclass
from typing import Literal

from tui.engines import endpoints as http
from tui.engines.header import HeaderForm
from tui.engines.lines import Level, troubling
from tui.engines.phase import Phase
from tui.engines.rules import FaultRule, Rule
from tui.events import Outcome
from tui.requests import Matcher

RoleKind = Literal["launcher", "rank", "engine_core", "detokenizer", "controller", "helper"]

ENVIRONMENT = [
    "NCCL_", "CUDA_", "NVIDIA_", "SGLANG_", "SGL_", "VLLM_", "TORCH_", "TORCHINDUCTOR_", "PYTORCH_", "OMP_",
    "TRITON_", "UCX_", "GLOO_", "HF_", "TRANSFORMERS_", "LLAMA_", "GGML_", "FLASHINFER_", "NVSHMEM_", "RAY_",
]  # fmt: skip
"""Prefixes of the environment variables that concern engines and GPUs."""


@dataclass(frozen=True, slots=True)
class RoleRule:
    """A process whose title (or joined arguments) holds ``pattern`` plays ``kind``.

    The pattern's optional group ``rank`` names the rank as the engine does ("TP0", "DP1_TP3").
    """

    kind: RoleKind
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Role:
    """What one process of a server does, and which rank it is (None when it is none or says not)."""

    kind: RoleKind
    rank: str | None = None

    @property
    def words(self) -> str:
        """The role as it is shown: "rank TP0", "engine core"."""
        name = self.kind.replace("_", " ")
        return f"{name} {self.rank}" if self.rank else name


@dataclass(frozen=True, slots=True)
class Flags:
    """Which command-line flags say what; of a flag given twice the last counts.

    ``model_after`` is the subcommand after which a bare argument is the model, ``model_program`` the program
    whose first bare argument it is where that subcommand may be left out. ``many`` are flags that take
    several values, ``names_by_comma`` says that one value holds several served names. ``variables`` lists
    (argument, environment variable) pairs that count where the command line does not say. ``rendezvous`` is
    where the nodes of a load meet, in one flag ("host:port") or in two; ``rendezvous_default`` is what counts
    where neither of the two is given. What has a default here is spelt alike in all engines that have it.
    """

    host: tuple[str, ...]
    port: tuple[str, ...]
    model: tuple[str, ...]
    served_name: tuple[str, ...]
    tensor_parallel: tuple[str, ...] = ()
    pipeline_parallel: tuple[str, ...] = ()
    data_parallel: tuple[str, ...] = ()
    api_key: tuple[str, ...] = ()
    tls: tuple[str, ...] = ()
    config: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    node_rank: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ("--nnodes",)
    rendezvous: tuple[str, ...] = ()
    rendezvous_host: tuple[str, ...] = ()
    rendezvous_port: tuple[str, ...] = ()
    rendezvous_default: tuple[str | None, int | None] = (None, None)
    quantization: tuple[str, ...] = ("--quantization", "-q")
    headless: tuple[str, ...] = ()
    hub_cache: tuple[str, ...] = ("--download-dir", "--huggingface-hub-cache")
    revision: tuple[str, ...] = ("--revision",)
    load_format: tuple[str, ...] = ("--load-format",)
    expert_parallel: tuple[str, ...] = ("--enable-expert-parallel", "--enable-dp-attention")
    many: tuple[str, ...] = ()
    model_after: str | None = None
    model_program: str | None = None
    names_by_comma: bool = False
    variables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ServerArguments:
    """What a server's command line says. None is "not given there" (a default or a configuration file).

    ``served_name`` is the first name that the server lists its model under, None where the command line
    does not settle it. ``serves_api`` is False on a node of a multi-node load that never answers requests
    (node rank above 0, vLLM ``--headless``). ``expert_parallel``: data-parallel ranks share the experts.
    ``rendezvous`` is host and port at which the nodes of a load on several meet.
    """

    host: str | None = None
    port: int | None = None
    model: str | None = None
    served_name: str | None = None
    tensor_parallel: int | None = None
    pipeline_parallel: int | None = None
    data_parallel: int | None = None
    api_key: bool = False
    tls: bool = False
    config_path: str | None = None
    prefix: str = ""
    serves_api: bool = True
    node_rank: int | None = None
    hub_cache: str | None = None
    revision: str | None = None
    load_format: str | None = None
    expert_parallel: bool = False
    nodes: int | None = None
    quantization: str | None = None
    rendezvous: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Metrics:
    """Names of Prometheus series, by what they count; None where the engine has none.

    ``kv_used`` is a share, 0 to 1. ``generated_tokens`` is a counter: it stands still when nothing is
    generated. ``older`` lists what a field was called before: (field, name, versions).
    """

    running: str | None = None
    queued: str | None = None
    kv_used: str | None = None
    generated_tokens: str | None = None
    prompt_tokens: str | None = None
    ttft: str | None = None
    itl: str | None = None
    older: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Engine:
    """All that tminus knows of one engine.

    ``name`` is the identifier in events and JSON, ``title`` the name shown. ``port_opens_early`` is True
    where the port answers during the load (llama.cpp), False where it is refused until the model is loaded.
    ``health_costs_a_token``: /health generates a token, so it is asked at most once a second.
    ``model_is_name``: without a served name on the command line the server lists the model argument itself.
    ``log_stream`` is the stream that carries phase lines. ``first_lines`` are regular expressions of which
    one is found in the first line of every start. ``sign`` is found in lines that only this engine writes,
    ``leaning`` in lines that others may quote: they count where nothing better comes. ``order`` is the
    order of its phases where it is not the usual one. ``header``, ``rules``, ``faults`` and ``frames`` are
    what ``reader.py`` reads its log by; ``frames`` gives the phase of functions in tracebacks. ``access``
    matches an access line (groups ``client``, ``method``, ``path``, ``code``), ``access_hint`` is a text in
    every such line; ``echo`` matches another line that a probe of ours causes. ``metrics`` names the
    Prometheus series for what tminus asks (None: not served), ``flush_cache`` is the call that empties the
    prefix cache ("POST /flush_cache"). ``endpoints`` says what its answers mean.
    """

    name: str
    title: str
    matcher: Matcher
    default_port: int
    flags: Flags
    roles: tuple[RoleRule, ...]
    header: HeaderForm
    sign: re.Pattern[str]
    rules: tuple[Rule, ...]
    faults: tuple[FaultRule, ...]
    frames: tuple[tuple[Phase, frozenset[str]], ...]
    error: re.Pattern[str]
    warning: re.Pattern[str]
    access: re.Pattern[str]
    access_hint: str
    first_lines: tuple[str, ...]
    order: tuple[Phase, ...] = tuple(Phase)
    leaning: re.Pattern[str] | None = None
    echo: re.Pattern[str] | None = None
    default_host: str = "127.0.0.1"
    health_path: str = "/health"
    models_path: str = "/v1/models"
    token_path: str = "/v1/chat/completions"
    health_costs_a_token: bool = False
    port_opens_early: bool = False
    model_is_name: bool = True
    log_stream: Literal["stdout", "stderr"] = "stderr"
    server_header: str | None = None
    metrics: Metrics | None = None
    flush_cache: str | None = None
    endpoints: tuple[http.Endpoint, ...] = ()

    def place(self, phase: Phase) -> int:
        """Return the place of a phase in this engine's loads."""
        return self.order.index(phase) if phase in self.order else phase.order

    def meaning(
        self, path: str, status: int | None, outcome: Outcome | None, version: str | None = None
    ) -> str | None:
        """Return what an answer means, in a short phrase; None where that is not known of this version."""
        row = http.meaning(self.endpoints, path, status, outcome, version)
        return None if row is None else row.phrase

    def level(self, line: str) -> Level:
        """Return whether a log line tells of an error or a warning."""
        if not troubling(line):
            return ""
        if self.error.search(line):
            return "error"
        return "warning" if self.warning.search(line) else ""

    def role(self, title: str) -> Role:
        """Return the role of a process by its title or its joined arguments; "helper" for any other."""
        for row in self.roles:
            found = row.pattern.search(title)
            if found:
                rank = found.groupdict().get("rank")
                return Role(row.kind, rank.strip("_") if rank else None)
        return Role("helper")
