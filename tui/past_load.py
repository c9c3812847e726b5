"""A past load, as the file of past loads holds it, and the event that brings past loads."""

from typing import Literal, Protocol

import msgspec

from tui.agent import wire
from tui.event_base import Event, Part


class PhaseTime(Part, frozen=True, kw_only=True):
    """How long one stay of a past load in a phase took; None where that was not seen.

    ``longest_silence_s`` is that of the log alone, ``joint_silence_s`` that of all channels of all ranks.
    """

    phase: str
    seconds: float | None
    longest_silence_s: float | None = None
    joint_silence_s: float | None = None


class PastLoad(Part, frozen=True, kw_only=True):
    """A load that became ready: what it ran and how long each phase took.

    ``phases`` are its stays in order: a phase stands there twice where the load came back to it (a draft
    model). Arguments that were not given are None.

    ``ready_s`` counts from the server's start to READY. ``pcie_received_mib`` is what one GPU received over
    PCIe by the end of the weights (the mean over the load's GPUs). ``cache`` says whether compiled kernels
    were found ("warm") or made ("cold"), None where the log does not tell. ``weights_mib_s`` is how fast the
    weights reached one GPU on average.
    """

    engine: str
    version: str | None
    model: str | None
    host: str
    gpus: int | None
    gpu_name: str | None
    tensor_parallel: int | None
    pipeline_parallel: int | None
    data_parallel: int | None
    wall_s: float
    ready_s: float
    phases: list[PhaseTime]
    pcie_received_mib: float | None = None
    cache: Literal["cold", "warm"] | None = None
    quantization: str | None = None
    weights_mib_s: float | None = None


class History(Event, frozen=True, kw_only=True, tag=wire.HISTORY):
    """What past loads tell, read once from outside the stream, newest last."""

    sentence: str
    loads: list[PastLoad] = msgspec.field(default_factory=list[PastLoad])


class Past(Protocol):
    """Where past loads are kept. Neither call raises: what failed is in the sentence."""

    def of(self, engine: str, model: str) -> tuple[list[PastLoad], str]:
        """Return the loads of an engine and model, newest last, and a sentence on the reading."""
        ...

    def add(self, load: PastLoad) -> str:
        """Keep a load; return why that failed, "" when it did not."""
        ...
