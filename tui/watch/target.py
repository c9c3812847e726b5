"""Which server to follow: the servers among the processes of a host, and the choice between them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tui.engines.arguments import read_arguments
from tui.engines.base import Engine, Role, ServerArguments
from tui.engines.registry import engine_named
from tui.events import Process, Processes
from tui.watch.options import WatchOptions

GONE_STATES = ("Z", "X", "x")
SAME_S = 0.5


@dataclass(frozen=True, slots=True)
class Member:
    """One process of a server's tree. ``inner_pid``: its own number for itself in a container."""

    pid: int
    title: str
    state: str
    role: Role
    ppid: int = 0
    inner_pid: int | None = None

    @property
    def logged_pid(self) -> int:
        """The pid that the server's log knows it by."""
        return self.pid if self.inner_pid is None else self.inner_pid


@dataclass(frozen=True, slots=True)
class Server:
    """A server found on the host: its main process (the launcher), what its arguments say, its tree.

    ``started_s`` is on the host's monotonic clock. ``orphan`` is True for ranks whose launcher is gone: they
    hold GPU memory and serve nobody.
    """

    engine: Engine
    main: Process
    arguments: ServerArguments
    members: tuple[Member, ...]
    orphan: bool = False

    @property
    def pid(self) -> int:
        """Process id of the main process."""
        return self.main.pid

    @property
    def started_s(self) -> float:
        """When the main process started, on the host's monotonic clock."""
        return self.main.started_s

    @property
    def key(self) -> tuple[int, float]:
        """What tells it from the others in one list of processes."""
        return (self.main.pid, self.main.started_s)

    def same_as(self, other: "Server | None") -> bool:
        """Whether both are the same start of a server; another agent may date it some milliseconds off."""
        return other is not None and self.pid == other.pid and abs(self.started_s - other.started_s) < SAME_S

    @property
    def port(self) -> int:
        """The port from the arguments, else the engine's default."""
        return self.arguments.port if self.arguments.port is not None else self.engine.default_port

    @property
    def model(self) -> str | None:
        """The name to show: served name, else the model argument."""
        return self.arguments.served_name or self.arguments.model

    @property
    def words(self) -> str:
        """The server in a list of several: pid, engine, port, model."""
        model = f", {self.model}" if self.model else ""
        return f"pid {self.pid} ({self.engine.title}, port {self.port}{model})"


@dataclass(frozen=True, slots=True)
class Choice:
    """Which server to follow. ``server`` is None when there is none yet or a person has to choose.

    ``sentence`` says why nothing is followed ("" while one is).
    """

    kind: Literal["follow", "several", "none"]
    server: Server | None
    sentence: str
    candidates: tuple[Server, ...] = ()


def servers(event: Processes) -> list[Server]:
    """Return the servers among the processes, oldest first.

    Of several matched processes in one tree (launcher, ranks, a wrapping script) the topmost is the main
    one.
    """
    by_pid = {process.pid: process for process in event.processes}
    trees: dict[int, list[Process]] = {}
    for process in event.processes:
        top = _topmost(process, by_pid)
        if top is not None:
            trees.setdefault(top.pid, []).append(process)
    found = [_server(by_pid[pid], members) for pid, members in trees.items()]
    return sorted((server for server in found if server is not None), key=lambda server: server.started_s)


def _topmost(process: Process, by_pid: dict[int, Process]) -> Process | None:
    """Return the highest matched process above (or at) this one; a loop of parents ends the climb."""
    top: Process | None = None
    seen: set[int] = set()
    at: Process | None = process
    while at is not None and at.pid not in seen:
        seen.add(at.pid)
        if at.matched is not None:
            top = at
        at = by_pid.get(at.ppid)
    return top


def _server(main: Process, members: Iterable[Process]) -> Server | None:
    engine = engine_named(main.matched)
    if engine is None or main.state in GONE_STATES:
        return None
    by_pid = {process.pid: process for process in members}
    return Server(
        engine=engine,
        main=main,
        arguments=read_arguments(engine, main.argv, main.environment),
        members=tuple(_member(engine, main, each, by_pid.get(each.ppid)) for each in by_pid.values()),
        orphan=_role(engine, main).kind != "launcher",
    )


def _role(engine: Engine, process: Process) -> Role:
    role = engine.role(process.title)
    if role.kind == "helper" and process.argv:
        return engine.role(" ".join(process.argv))
    return role


def _member(engine: Engine, main: Process, process: Process, parent: Process | None) -> Member:
    role = _role(engine, process)
    if role.kind == "launcher" and process.pid != main.pid:
        role = Role("helper")  # forked before it was given a title of its own
    elif parent is not None and parent.title == process.title and _role(engine, parent) == role:
        role = Role("helper")  # forked by a rank, as compile workers are: it keeps the rank's title
    return Member(process.pid, process.title, process.state, role, process.ppid, process.inner_pid)


def choose(found: list[Server], options: WatchOptions, following: Server | None, hidden: int = 0) -> Choice:
    """Return which server to follow.

    ``following`` is the one followed last (it may have ended): it is kept while it is there; after it only
    one that started later is taken up, and of several the one on its port. ``hidden`` as in the Processes
    event.
    """
    kept = [server for server in found if server.same_as(following)]
    if kept:
        return Choice("follow", kept[0], "", tuple(found))
    serving = [server for server in found if not server.orphan]
    fitting = [server for server in serving if _asked_for(server, options, following)]
    if following is not None:
        fitting = [server for server in fitting if server.started_s > following.started_s + SAME_S]
        heirs = [server for server in fitting if server.port == following.port]
        fitting = heirs if len(heirs) == 1 else fitting
    if len(fitting) == 1:
        return Choice("follow", fitting[0], "", tuple(found))
    if fitting:
        return Choice("several", None, _several(fitting), tuple(found))
    return Choice("none", None, _none(found, serving, options, hidden), tuple(found))


def _asked_for(server: Server, options: WatchOptions, following: Server | None) -> bool:
    if options.pid is not None:
        if following is not None:  # the process asked for has ended: its successor has another number
            return server.port == following.port
        return any(member.pid == options.pid for member in server.members)
    port = options.port if options.port is not None else _port_of(options.url)
    return port is None or server.port == port


def _port_of(url: str | None) -> int | None:
    """Return the port that a normalised URL names, by its scheme where it names none."""
    if url is None:
        return None
    scheme, _, rest = url.partition("://")
    authority = rest.partition("/")[0]
    port = authority.rpartition("]")[2].rpartition(":")[2] if ":" in authority else ""
    if port.isascii() and port.isdigit():
        return int(port)
    return 443 if scheme == "https" else 80


def _several(fitting: list[Server]) -> str:
    listed = ", ".join(server.words for server in fitting[:4]) + (", …" if len(fitting) > 4 else "")
    return f"{len(fitting)} servers, choose one with --pid or --port: {listed}"


def _none(found: list[Server], serving: list[Server], options: WatchOptions, hidden: int) -> str:
    sentence = "no server yet: waiting for SGLang, vLLM or llama.cpp to start"
    if serving:
        wanted = f"process {options.pid}" if options.pid is not None else "that port"
        if options.port is not None and options.pid is None:
            wanted = f"port {options.port}"
        others = ", ".join(server.words for server in serving[:3])
        sentence = f"no server with {wanted} yet; found {others}"
    orphans = [str(server.pid) for server in found if server.orphan]
    if orphans:
        sentence += f"; left over without a launcher: pid {', '.join(orphans[:8])}"
    if hidden:
        whose = "1 process of another user" if hidden == 1 else f"{hidden} processes of other users"
        sentence += f"; {whose} may be one: only root or that user can read the arguments"
    return sentence
