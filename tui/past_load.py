"""A past load, as the history event and the file of past loads hold it."""

from typing import Literal

from tui.event_base import Part


class PhaseTime(Part, frozen=True, kw_only=True):
    """What a past load spent in one phase, all its stays there together; None where that was not seen."""

    phase: str
    seconds: float | None
    longest_silence_s: float | None = None


class PastLoad(Part, frozen=True, kw_only=True):
    """A load that became ready: what it ran and how long each phase took.

    ``ready_s`` counts from the server's start to READY. ``pcie_received_mib`` is what one GPU received over
    PCIe by the end of the weights (the mean over the load's GPUs). ``cache`` says whether compiled kernels
    were found ("warm") or made ("cold"), None where the log does not tell.
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
