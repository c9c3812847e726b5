"""Under what a server runs, as its host tells: raw material of a fingerprint. Unknown is None.

Meaning is given to it elsewhere (tui/runs/gathering.py); the agent masks secrets before it sends this.
"""

from typing import Literal

from tui.agent import wire
from tui.event_base import Event, Part


class ProcessEnvironment(Part, frozen=True, kw_only=True):
    """The environment of one process of the server's tree, as /proc/PID/environ has it.

    ``state`` overwritten: the process wrote its title over that area (SGLang's ranks do), so that a variable
    that is missing here is unknown and not unset. ``variables`` are those that concern engines and GPUs.
    """

    pid: int
    started_s: float
    role: Literal["main", "worker", "resource_tracker"]
    title: str
    state: Literal["read", "overwritten", "unreadable", "gone"]
    variables: dict[str, str]


class Library(Part, frozen=True, kw_only=True):
    """A library that the server has loaded (nccl, cudart, torch …); version None: its name does not tell."""

    name: str
    version: str | None
    path: str


class Provenance(Event, frozen=True, kw_only=True, tag=wire.PROVENANCE):
    """What a followed server runs under, read once when asked.

    ``topology`` has a row and a column for each GPU: NV18 (so many NVLinks), PIX, PXB, PHB, NODE, SYS, X for
    itself; None where the driver does not tell. ``revision`` is that of the model's snapshot folder.
    """

    pid: int
    started_s: float | None
    environments: list[ProcessEnvironment]
    libraries: list[Library]
    topology: list[list[str | None]] | None = None
    power_limits_w: list[float | None] | None = None
    persistence: list[bool | None] | None = None
    revision: str | None = None
    kernel: str | None = None
    sentence: str = ""
