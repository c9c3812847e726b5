"""What the ledger keeps: runs, what they ran under, and on which start of the server.

A *configuration* is everything that a fingerprint holds; its ``digest`` names it. An *instance* is one start
of a server. Runs on one instance are repeats; instances are the samples of a configuration.
"""

from typing import Literal

import msgspec

from tui.benchmark import BenchRecord, BenchResult, Difference
from tui.event_base import Part

ARGUMENT = "argument "
"""How the names of settings begin that stand in the command line."""
Origin = Literal["tminus", "sglang", "vllm", "aiperf"]


class Setting(Part, frozen=True, kw_only=True):
    """One fact that a server ran under. ``value`` None with ``known`` True: it is surely unset.

    ``known`` False: nobody can tell (an environment that could not be read, or was overwritten). ``source``
    says in words where it was seen: "main process", "worker 1234", "resource_tracker", "log", "driver",
    "arguments", "kernel", "" for what is not known.
    """

    name: str
    value: str | None
    source: str = ""
    known: bool = True


def value_words(value: str | None, *, known: bool, name: str) -> str:
    """Return a setting's value in words: unknown, unset, given (a switch), two quotes where it is empty."""
    if not known:
        return "unknown"
    if value is None:
        return "unset"
    return value or ("given" if name.startswith(ARGUMENT) else '""')


def difference_words(each: Difference) -> tuple[str, str]:
    """Return what a setting was in A and in B, in words."""
    return (
        value_words(each.a, known=each.a_known, name=each.name),
        value_words(each.b, known=each.b_known, name=each.name),
    )


class Fingerprint(Part, frozen=True, kw_only=True):
    """What a server ran under. Secrets were masked on the host.

    ``settings`` are in order of their names: ``engine``, ``engine version``, ``argument --tp`` (a switch has
    the value ""), ``environment NCCL_ALGO``, ``nccl``, ``model``, ``model revision``, ``model bytes``,
    ``gpus``, ``gpu name``, ``driver``, ``power limit W``, ``topology``, ``kernel``, ``host`` … A name that is
    missing was not looked for, unless it is an environment variable: ``environment_known`` then says whether
    its absence means unset ("whole"), or nothing ("partly", "unknown").

    ``digest`` is of the settings that make a configuration: all but what differs between two starts of one
    (ports, paths of logs). "" where nothing is known of the server (a URL alone, an import without it).
    """

    digest: str
    settings: tuple[Setting, ...] = ()
    environment_known: Literal["whole", "partly", "unknown"] = "unknown"

    def setting(self, name: str) -> Setting | None:
        """Return the setting of that name, None when it was not looked for (or is unset)."""
        return next((each for each in self.settings if each.name == name), None)


class Instance(Part, frozen=True, kw_only=True):
    """One start of a server: host, process and when that started (wall clock of the host).

    ``started_s`` is the same on the monotonic clock of the boot ``boot_id``: no clock that is set changes it.
    """

    host: str
    pid: int | None
    started_wall_s: float | None
    boot_id: str = ""
    started_s: float | None = None

    @property
    def key(self) -> str:
        """A name for it; "" where it is not known, and then it equals no other."""
        if self.pid is None or self.started_wall_s is None:
            return ""
        if self.boot_id and self.started_s is not None:
            # Read again it may come out some milliseconds later.
            return f"{self.host}/{self.boot_id}/{self.pid}/{int(self.started_s + 0.003)}"
        return f"{self.host}/{self.pid}/{self.started_wall_s:.0f}"


class RunEntry(Part, frozen=True, kw_only=True):
    """One benchmark in the ledger; ``result.run`` is its id.

    ``workload`` is what must be the same for two runs to be compared (tui/bench/workload.py makes it from a
    spec). ``origin`` tells who measured; an outside run lacks what its client kept to itself. ``ready_for_s``
    is how long the server had been ready.
    """

    result: BenchResult
    workload: str
    fingerprint: Fingerprint
    instance: Instance
    made_wall_s: float
    host: str
    origin: Origin = "tminus"
    ready_for_s: float | None = None
    records: tuple[BenchRecord, ...] = ()

    @property
    def id(self) -> str:
        """Its name in the ledger: eight hexadecimal digits."""
        return self.result.run


class StageTime(Part, frozen=True, kw_only=True):
    """One stay of a load in a phase, in seconds after the server's start; None where it was not seen."""

    phase: str
    began_s: float | None
    seconds: float | None


class VerdictTime(Part, frozen=True, kw_only=True):
    """A verdict that stood during a load, in seconds after the server's start."""

    word: str
    sentence: str
    began_s: float
    seconds: float


class LoadEntry(Part, frozen=True, kw_only=True):
    """One load in the ledger, ready or not: its timeline, outcome and verdicts.

    ``outcome``: ready, failed, stopped, gone (it ended unseen), left (the watch ended before it).
    """

    instance: Instance
    fingerprint: Fingerprint
    host: str
    began_wall_s: float
    outcome: Literal["ready", "failed", "stopped", "gone", "left"]
    ready_s: float | None
    phases: tuple[StageTime, ...] = ()
    verdicts: tuple[VerdictTime, ...] = ()
    sentence: str = ""


decode_run = msgspec.json.Decoder(RunEntry).decode
encode = msgspec.json.Encoder().encode
