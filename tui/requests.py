"""What a client asks of a source: sent to the agent as one JSON object a line."""

from typing import Literal

import msgspec

from tui.agent import wire
from tui.benchmark import BenchSpec
from tui.event_base import Part


class Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True):
    """A request to the agent; a source that is no agent ignores what it cannot do."""


class Matcher(Part, frozen=True, kw_only=True):
    """How to know an engine's processes: regular expressions over the command line and over the title.

    A process matches when one of ``argv`` is found (re.search) in its arguments joined with single spaces, or
    one of ``titles`` in its title. Environment names that start with one of ``environment`` are reported.
    """

    engine: str
    argv: list[str]
    titles: list[str]
    environment: list[str]


class WatchRequest(Request, frozen=True, kw_only=True, tag=wire.WATCH):
    """The first command: what to look for and how often."""

    matchers: list[Matcher]
    interval_s: float = 1.0
    ping_timeout_s: float = wire.PING_TIMEOUT_S
    gpus: bool = True
    discover: bool = True


class LogPosition(Part, frozen=True, kw_only=True):
    """Where a log was read to: enough to tell rotation, truncation and inode re-use apart.

    ``fingerprint_bytes`` (at most 64) and ``fingerprint_crc`` (CRC-32) cover the bytes before ``offset``, at
    0 the first ones; without any, the agent keeps there when the file was seen empty.
    """

    path: str
    device: int
    inode: int
    offset: int
    fingerprint_bytes: int
    fingerprint_crc: int


class ProbePlan(Part, frozen=True, kw_only=True):
    """What to ask the server, in order of the ladder. Paths are relative to ``url``.

    ``url`` is scheme://host:port with any path prefix, no trailing slash. ``ready_on`` says at which rung to
    stop. ``token_path`` is asked with a one-token chat completion of ``expected_model`` (or, without one,
    the first listed id). Engines whose health answer ``health_costs_a_token`` are asked at most once a
    second once an answer took over 500 ms. ``api_key`` goes to the server as a bearer token and nowhere
    else; without one, and with ``key_from_argv``, the agent may use the key in the server's own arguments.
    """

    url: str
    health_path: str = "/health"
    models_path: str = "/v1/models"
    token_path: str = "/v1/chat/completions"
    expected_model: str | None = None
    ready_on: Literal["token", "model", "health"] = "token"
    health_costs_a_token: bool = False
    api_key: str | None = None
    key_from_argv: bool = False
    insecure: bool = False
    ca_file: str | None = None
    health_timeout_s: float = 25.0
    token_timeout_s: float = 60.0


class CheckpointPlan(Part, frozen=True, kw_only=True):
    """Whose weight files to add up: the model argument of a server, and what tells where it lies.

    ``model`` is a path (relative to ``cwd``) or a name on the hub, looked for in ``hub_cache`` (as the server
    was told) and in the caches that ``environment`` (its HF_ variables, as far as known) and its home name.
    """

    model: str
    cwd: str | None = None
    hub_cache: str | None = None
    revision: str | None = None
    environment: dict[str, str] | None = None


class FollowRequest(Request, frozen=True, kw_only=True, tag=wire.FOLLOW):
    """Follow one server: its process, its log, its endpoints. A later one replaces it; all None lets go.

    With ``checkpoint`` the agent answers once with the size of the model's weight files.

    Without ``resume`` the log is read from this start's first line: the last line, within the last 256 MiB,
    in which one of the regular expressions ``first_lines`` is found; without such a line from the file's
    beginning; from its end when the file was last written before the process started.

    ``log_to_runtime``: the output goes where, in a container, its runtime may read it (a pipe, a socket, the
    terminal of its first process), so that the client can ask that for the log; the agent cannot.
    """

    pid: int | None
    started_s: float | None = None
    log_path: str | None = None
    log_to_runtime: bool = False
    first_lines: list[str] = []
    resume: LogPosition | None = None
    probe: ProbePlan | None = None
    checkpoint: CheckpointPlan | None = None


class PingRequest(Request, frozen=True, kw_only=True, tag=wire.PING):
    """The heartbeat of the client; answered with Pong."""

    sent_s: float


class AckRequest(Request, frozen=True, kw_only=True, tag=wire.ACK):
    """So many bytes of messages with log in them have arrived since the agent's start: more may be sent.

    A client has to say so from time to time: no more than ``wire.LOG_WINDOW_BYTES`` are under way.
    """

    log_bytes: int


class SkipRequest(Request, frozen=True, kw_only=True, tag=wire.SKIP):
    """Leave out what is still to be read of the log, and go on at its end; answered with a gap."""


class Prompt(Part, frozen=True, kw_only=True):
    """One conversation of a data set: what the user says, turn by turn, and how long each answer is to be.

    ``system`` comes before it, "" for none. ``output_tokens`` None: as the workload says.
    """

    turns: list[str]
    system: str = ""
    output_tokens: int | None = None


class Flush(Part, frozen=True, kw_only=True):
    """How an engine is asked to empty its prefix cache; the sum of ``hits`` then must not rise.

    ``needs`` says without which setting it has no such call, "" when it always has.
    """

    method: str
    path: str
    hits: tuple[str, ...]
    needs: str = ""


class Counters(Part, frozen=True, kw_only=True):
    """Which of an engine's own counters to read around a run, by the names of its metrics page.

    ``running`` are those that say how many requests the server works on or keeps waiting; once idle they may
    be behind by ``settle_s``. Names are summed over their labels, but of those in ``highest`` the greatest
    value counts. ``needs`` says without which setting there is no such page. ``flush`` None: not known how.
    """

    path: str = "/metrics"
    running: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    highest: tuple[str, ...] = ()
    settle_s: float = 0.0
    needs: str = ""
    flush: Flush | None = None


class BenchRequest(Request, frozen=True, kw_only=True, tag=wire.BENCH):
    """Run a benchmark beside the server, in a process of its own.

    ``measured_on`` is returned in the result: this_machine where the agent is a local child and the server
    is known by its URL alone. ``prompts`` come from a data set, [] for made ones. With ``self_test`` the
    server is the agent's own mock beside it, whatever the URL.
    """

    run: str
    spec: BenchSpec
    prompts: list[Prompt] = []
    counters: Counters | None = None
    api_key: str | None = None
    key_from_argv: bool = False
    measured_on: Literal["server_host", "this_machine"] = "server_host"
    self_test: bool = False


class BenchCancelRequest(Request, frozen=True, kw_only=True, tag=wire.BENCH_CANCEL):
    """Stop the benchmark; what was measured comes as a cancelled result."""

    run: str


class DiagnoseRequest(Request, frozen=True, kw_only=True, tag=wire.DIAGNOSE):
    """Look into processes, as a person asked: stack dumps by py-spy, then NCCL RAS where a port is given.

    ``tool`` is py-spy's path where the client knows one on that host. ``rounds`` dumps are made ``every_s``
    seconds apart, and so are at most two questions to NCCL RAS. ``ras_port`` is its port on the host, None:
    it is not asked, and ``ras_refusal`` says why. ``nccl_version`` is what the log says; without it the host
    tells by the library's name. RAS of an unknown or old version is not asked.
    """

    pids: list[int]
    tool: str | None = None
    rounds: int = 3
    every_s: float = 10.0
    ras_port: int | None = None
    ras_refusal: str = ""
    nccl_version: str | None = None


class ProveRequest(Request, frozen=True, kw_only=True, tag=wire.PROVE):
    """Tell once under what the followed server runs; answered with Provenance.

    ``environment`` are prefixes of the variables to tell. ``hub_model`` is looked for where the hub's client
    keeps models (``hub_cache`` as the server was told), at ``revision`` or the newest known.
    """

    pid: int
    started_s: float | None
    environment: list[str]
    hub_model: str | None = None
    hub_cache: str | None = None
    revision: str | None = None


class ByeRequest(Request, frozen=True, kw_only=True, tag=wire.BYE):
    """End now, leaving nothing behind."""


AnyRequest = (
    WatchRequest
    | FollowRequest
    | PingRequest
    | AckRequest
    | SkipRequest
    | BenchRequest
    | BenchCancelRequest
    | DiagnoseRequest
    | ProveRequest
    | ByeRequest
)
