"""A scenario file: what a demo shows, of what it is made, and what happens in it.

``scenarios/NAME.toml`` beside this module; the log and the curve of the GPUs are files of ``data``. A moment
is ``at_s`` (seconds of the scenario), or ``line`` (the first line with these words) and ``after_s``.
A new scenario is a new file: nothing here knows one by its name.
"""

import difflib
import tomllib
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Literal

import msgspec

from tui.event_base import Part

SUFFIX = ".toml"
DEFAULT = "ready"


class ScenarioFault(Exception):
    """A scenario that there is not, or a file that is none; the message is one sentence."""


class Story(Part, frozen=True, kw_only=True):
    """What of a scenario is recorded, what scaled, what invented, each in plain sentences."""

    recorded: str
    scaled: str
    invented: str


class Asked(Part, frozen=True, kw_only=True):
    """What the person who watches asked for: the model that has to answer, where one is named."""

    model: str | None = None


class ServerPart(Part, frozen=True, kw_only=True):
    """The server: its command line (``@PORT@`` is filled in), its processes, what it serves.

    ``rank_title`` holds ``{rank}``. The ranks and ``helpers`` are forked ``ranks_at_s`` after the start.
    ``weights_gib`` is what one rank loads, ``lists`` the ids that /v1/models tells (else the served name).
    """

    engine: str
    argv: list[str]
    model: str
    served: str
    ranks: int
    rank_title: str
    weights_gib: float
    helpers: list[str] = msgspec.field(default_factory=list[str])
    ranks_at_s: float = 4.6
    environment: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    lists: list[str] | None = None
    port: int = 30000
    pid: int = 4100


class LogPart(Part, frozen=True, kw_only=True):
    """The log (``[seconds, text]`` a line) and the words of the lines that tell what the demo needs to know.

    ``rank_mark`` holds ``{rank}`` and tells whose line it is. At the line with ``opens`` the port opens, at
    the one with ``ready`` the server generates; None where it never does. Between its own two lines of the
    weights a rank receives its share.
    """

    file: str = "server.jsonl"
    rank_mark: str = " TP{rank}]"
    opens: str | None = "Uvicorn running on"
    ready: str | None = "The server is fired up"
    weights_begin: str = "Load weight begin"
    weights_end: str = "Load weight end"


class Slow(Part, frozen=True, kw_only=True):
    """A stretch of the recording that takes ``factor`` times as long, from the first line with words on."""

    line: str
    until_line: str
    factor: float


class _Moment(Part, frozen=True, kw_only=True, tag_field="what"):
    """When something happens; without both it is at the start."""

    at_s: float | None = None
    line: str | None = None
    after_s: float = 0.0


class RankFreezes(_Moment, frozen=True, kw_only=True, tag="rank_freezes"):
    """A rank stops where it is, in a process state, and with it all that wait for it in a collective.

    It goes on after ``for_s``, never without it. The GPUs of those that wait show 100 % and idle power.
    """

    rank: int
    state: Literal["R", "S", "D", "T"]
    for_s: float | None = None


class RankKilled(_Moment, frozen=True, kw_only=True, tag="rank_killed"):
    """The process of a rank is gone, and what it would have printed."""

    rank: int


class ServerExits(_Moment, frozen=True, kw_only=True, tag="server_exits"):
    """The main process ends, and with it the log of the recording and every other process.

    ``code`` is None where nobody learns it: killed from outside.
    """

    code: int | None = None


class LogEnds(_Moment, frozen=True, kw_only=True, tag="log_ends"):
    """Nothing more of the recording is printed; the GPUs stay as they are then."""


class Prints(_Moment, frozen=True, kw_only=True, tag="prints"):
    """Lines that are not in the recording: ``[seconds after the moment, text]``, without line ends."""

    lines: list[tuple[float, str]]


class PortTaken(_Moment, frozen=True, kw_only=True, tag="port_taken"):
    """From here on another server answers on the port, ready, and lists its own models."""

    models: list[str]
    server: str = "uvicorn"


class LinkLost(_Moment, frozen=True, kw_only=True, tag="link_lost"):
    """The link to the host is cut, for so long (for good without a length)."""

    for_s: float | None = None


Happening = RankFreezes | RankKilled | ServerExits | LogEnds | Prints | PortTaken | LinkLost


class Scenario(Part, frozen=True, kw_only=True):
    """One scenario; ``name`` is that of its file.

    ``gpus`` and ``processes`` are files of ``data``: the curve of the GPUs and what processes use.
    ``past`` names a scenario that was watched the day before, so that there is a past load to compare with.
    """

    name: str
    title: str
    story: Story
    server: ServerPart
    log: LogPart = LogPart()
    gpus: str = "gpus.json"
    processes: str = "processes.toml"
    asked: Asked = Asked()
    past: str | None = None
    slow: list[Slow] = msgspec.field(default_factory=list[Slow])
    happens: list[Happening] = msgspec.field(default_factory=list[Happening])


def scenarios() -> list[Scenario]:
    """Return all scenarios by name, the default first."""
    return [scenario(name) for name in names()]


def names() -> list[str]:
    """Return the names of all scenarios, the default first."""
    found = [each.name.removesuffix(SUFFIX) for each in _folder().iterdir() if each.name.endswith(SUFFIX)]
    return sorted(found, key=lambda name: (name != DEFAULT, name))


def scenario(name: str) -> Scenario:
    """Read a scenario. Raises ScenarioFault in one sentence."""
    known = names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else "see tminus demo --list"
        raise ScenarioFault(f"there is no scenario {name!r}; {hint}")
    return read(name, _folder().joinpath(name + SUFFIX).read_text("utf-8"))


def read(name: str, text: str) -> Scenario:
    """Return what the text of a scenario file says. Raises ScenarioFault in one sentence."""
    try:
        return msgspec.convert({"name": name, **tomllib.loads(text)}, Scenario)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ScenarioFault(f"scenario {name}{SUFFIX}: {error}") from None


def _folder() -> Traversable:
    return files("tui.demo").joinpath("scenarios")
