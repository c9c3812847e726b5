"""What the processes of a simulated server use while they do what their log tells: figures from a file."""

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import msgspec

from tui.demo.scenario import Scenario, ScenarioFault
from tui.demo.script import Cue, cues, mark
from tui.event_base import Part


class Pace(Part, frozen=True, kw_only=True):
    """How a process fares from a line of its log on (from its start without one) to the next.

    ``states`` and ``waits`` (wchan) take turns, second by second. ``cpu`` is cores; faults, KiB and wake-ups
    are those of a second. Resident memory goes evenly to ``rss_file_mib`` and ``rss_anon_mib`` (None: it
    stays); with ``file_saw_mib`` its file part rises between two figures with each shard instead.
    ``faults_per_mib`` and ``disk_share`` are faults and bytes from the disk for what is loaded of weights.
    ``only`` names the ranks that it is meant for, all without one. ``io_some_pct`` is the host's pressure
    meanwhile.
    """

    states: list[str]
    waits: list[str]
    line: str = ""
    only: list[int] = msgspec.field(default_factory=list[int])
    cpu: float = 0.0
    minor_faults: float = 0.0
    major_faults: float = 0.0
    read_chars_kib: float = 0.0
    write_kib: float = 0.0
    wakeups: float = 0.0
    rss_file_mib: float | None = None
    rss_anon_mib: float | None = None
    file_saw_mib: tuple[float, float] | None = None
    faults_per_mib: float = 0.0
    disk_share: float = 0.0
    io_some_pct: float = 0.0


class Build(Part, frozen=True, kw_only=True):
    """Compilers under a rank between two lines of the log: cores, and starts of a second.

    ``names`` holds which are at work, in turn.
    """

    rank: int
    line: str
    until_line: str
    names: list[list[str]]
    cpu: float
    starts: float


class Paces(Part, frozen=True, kw_only=True):
    """One file: the launched process, its ranks, its helpers, and the compilers under ranks."""

    main: list[Pace]
    rank: list[Pace]
    helper: list[Pace]
    builds: list[Build] = msgspec.field(default_factory=list[Build])


@dataclass(frozen=True, slots=True)
class Stretch:
    """A pace on the recording's clock, and what memory there is at its beginning and end."""

    pace: Pace
    began_s: float
    ended_s: float
    file_mib: tuple[float, float]
    anon_mib: tuple[float, float]

    def seconds(self, recorded_s: float) -> float:
        """Return how much of it is over."""
        return max(0.0, min(recorded_s, self.ended_s) - self.began_s)

    def level(self, ends: tuple[float, float], recorded_s: float) -> float:
        """Return what has become of a figure on its way between two."""
        if self.ended_s == math.inf:
            return ends[1]
        return ends[0] + (ends[1] - ends[0]) * self.seconds(recorded_s) / (self.ended_s - self.began_s)


def paces(name: str) -> Paces:
    """Read a file of the package. Raises ScenarioFault in one sentence."""
    try:
        text = files("tui.demo").joinpath("data", name).read_text("utf-8")
        return msgspec.convert(tomllib.loads(text), Paces)
    except FileNotFoundError:
        raise ScenarioFault(f"the demo has no figures of processes named {name}") from None
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ScenarioFault(f"{name}: {error}") from None


def stretches(
    known: Sequence[Pace], scenario: Scenario, began_s: float, rank: int | None = None
) -> list[Stretch]:
    """Lay a process's paces out on the recording's clock, from its start on.

    A rank goes by its own lines where it has them. A pace whose line is never printed is left out; of two
    that begin at once the later one counts.
    """
    recorded = cues(scenario.log.file)
    own = None if rank is None else mark(scenario.log, rank)
    begins: dict[float, Pace] = {}
    for pace in known:
        if pace.only and rank not in pace.only:
            continue
        at_s = began_s if not pace.line else said_s(recorded, pace.line, own)
        if at_s < math.inf:
            begins[at_s] = pace
    times = sorted(begins)
    laid: list[Stretch] = []
    file_mib = anon_mib = 0.0
    for at_s, ended_s in zip(times, [*times[1:], math.inf], strict=True):
        pace = begins[at_s]
        files_mib = (file_mib, file_mib if pace.rss_file_mib is None else pace.rss_file_mib)
        anons_mib = (anon_mib, anon_mib if pace.rss_anon_mib is None else pace.rss_anon_mib)
        file_mib, anon_mib = files_mib[1], anons_mib[1]
        laid.append(Stretch(pace, at_s, ended_s, files_mib, anons_mib))
    return laid


def said_s(recorded: Sequence[Cue], words: str, own: str | None = None) -> float:
    """Return when a line is printed, a rank's own where there is one; infinite where none is."""
    told = [cue for cue in recorded if words in cue.text]
    mine = [cue for cue in told if own is not None and own in cue.text]
    return min((cue.at_s for cue in mine or told), default=math.inf)
