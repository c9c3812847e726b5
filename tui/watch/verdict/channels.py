"""The channels on which a load can be seen to move, and what one of them said."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from tui.watch.verdict.meters import WINDOW_S


class Channel(StrEnum):
    """P1 to P9 of the stalls research; P8, the stack, is there once it was asked for."""

    LOG = "P1"
    GPU_MEMORY = "P2"
    FILE = "P3"
    HOST_MEMORY = "P4"
    COMPILE = "P5"
    WRITTEN = "P6"
    GPU_WORK = "P7"
    STACK = "P8"
    PCIE = "P9"

    @property
    def words(self) -> str:
        """The channel as it is shown."""
        return _WORDS[self]


_WORDS = {
    Channel.LOG: "log",
    Channel.GPU_MEMORY: "GPU memory",
    Channel.FILE: "file data",
    Channel.HOST_MEMORY: "host memory",
    Channel.COMPILE: "compilers",
    Channel.WRITTEN: "written bytes",
    Channel.GPU_WORK: "GPU work",
    Channel.STACK: "Python stack",
    Channel.PCIE: "bytes to the GPU",
}

ChannelState = Literal["moved", "still", "unknown"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One channel of one rank at one moment.

    ``moved_s`` is when it last moved (host's monotonic clock), None if never seen to. ``state`` is unknown
    where any of its figures cannot be read and none of the others moved: what is not seen may move.
    ``amount`` is what moved in the last 30 s in the channel's own unit (``figure`` says it in words).
    """

    channel: Channel
    state: ChannelState
    moved_s: float | None
    amount: float | None
    figure: str


def reading(
    channel: Channel, now_s: float, moved_s: float | None, *, known: bool, amount: float | None, figure: str
) -> Reading:
    """Return a reading with its state."""
    if moved_s is not None and now_s - moved_s <= WINDOW_S:
        return Reading(channel, "moved", moved_s, amount, figure)
    if not known:
        return Reading(channel, "unknown", moved_s, None, f"{channel.words} cannot be read")
    return Reading(channel, "still", moved_s, amount, figure)


def log_reading(moved_s: float | None, now_s: float) -> Reading:
    """Return P1 by its last line of progress."""
    figure = (
        "no line of progress" if moved_s is None else f"last line of progress {now_s - moved_s:.0f} s ago"
    )
    return reading(Channel.LOG, now_s, moved_s, known=True, amount=0.0, figure=figure)


def stack_reading(moved_s: float, now_s: float) -> Reading:
    """Return P8 by the last change of the stack."""
    figure = f"the stack changed {now_s - moved_s:.0f} s ago"
    return reading(Channel.STACK, now_s, moved_s, known=True, amount=0.0, figure=figure)


def joined(readings: list[Reading]) -> Reading:
    """Return what several processes or GPUs say of one channel: one that moves is enough."""
    best = max(readings, key=lambda each: (_RANK[each.state], each.amount or 0.0))
    moved = [each.moved_s for each in readings if each.moved_s is not None]
    return Reading(best.channel, best.state, max(moved, default=None), best.amount, best.figure)


_RANK = {"moved": 2, "unknown": 1, "still": 0}


def amount_words(mib: float) -> str:
    """Return an amount of bytes in words."""
    return f"{mib / 1024:.1f} GiB" if mib >= 1024 else f"{mib:.0f} MiB"


def level_words(what: str, value: float | None, change: float | None) -> str:
    """Return what a level in MiB stands at, and how it last changed; "" where it is not known."""
    if value is None:
        return ""
    if change is None:
        return f"{what} {amount_words(value)}"
    return f"{what} {'+' if change > 0 else '-'}{amount_words(abs(change))}, now {amount_words(value)}"
