"""Which server to follow, and what to ask of the source for it."""

from dataclasses import dataclass
from typing import Literal

from tui.engines.base import Engine, Role, ServerArguments
from tui.events import Process, Processes
from tui.requests import FollowRequest
from tui.watch.options import WatchOptions


@dataclass(frozen=True, slots=True)
class Member:
    """One process of a server's tree."""

    pid: int
    title: str
    state: str
    role: Role


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
        """What tells this start of a server from every other on the host."""
        return (self.main.pid, self.main.started_s)

    @property
    def port(self) -> int:
        """The port from the arguments, else the engine's default."""
        return self.arguments.port if self.arguments.port is not None else self.engine.default_port

    @property
    def model(self) -> str | None:
        """The name to show: served name, else the model argument."""
        return self.arguments.served_name or self.arguments.model


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
    """Return the servers among the processes, oldest first."""
    raise NotImplementedError


def choose(found: list[Server], options: WatchOptions, following: Server | None, hidden: int = 0) -> Choice:
    """Return which server to follow.

    ``following`` is the one followed last (it may have ended): it is kept while it is there, and of several
    new ones the one on its port is its successor. ``hidden`` as in the Processes event.
    """
    raise NotImplementedError


def log_sentence(server: Server, options: WatchOptions) -> str:
    """Return why the server's log cannot be followed and what to do, "" when it can."""
    raise NotImplementedError


def follow_request(server: Server | None, options: WatchOptions) -> FollowRequest | None:
    """Return what to ask of the source: process, log and endpoints of the server.

    Without a server, a URL in the options is probed alone; None when there is nothing to follow.
    """
    raise NotImplementedError
