"""The ranks of the followed load side by side: where each stands and what it does or waits for."""

from dataclasses import dataclass, replace
from typing import Literal

from tui.engines.phase import Phase
from tui.watch.gpus import GpuBook
from tui.watch.meaning import Meaning
from tui.watch.transfer import Transfer
from tui.watch.verdict.channels import Channel
from tui.watch.verdict.movement import RankMoves
from tui.watch.verdict.process_moves import HELD
from tui.watch.verdict.scene import BUSY_PCT, Scene, scene
from tui.watch.verdict.verdict import Verdict

# fmt: off
Wait = Literal[
    "computing", "reading", "compiling", "collective", "lock", "storage", "sleeping", "stopped", "gone",
    "unknown",
]
# fmt: on
IDLE_PCT = 5.0
"""Less is what threads use that look after others now and then."""


@dataclass(frozen=True, slots=True)
class RankLane:
    """One rank at one moment. Sizes are in MiB, durations in seconds, None is not known.

    ``received_mib`` is what its GPUs received over PCIe for the weights, ``memory_mib`` what is used there.
    ``wait`` is what it does or waits for, ``waits_s`` for how long its GPUs have waited in a collective.
    ``odd``: unlike the others, the one that a quiet load waits for.
    """

    name: str
    pid: int | None
    gpus: tuple[int, ...]
    phase: Phase | None
    received_mib: float | None
    memory_mib: float | None
    state: str
    wait: Wait
    waits_s: float | None
    quiet_s: float | None
    odd: bool


def rank_lanes(state: Meaning, now_s: float) -> tuple[RankLane, ...]:
    """Return the ranks at a time of the host, none where no process of a server is known."""
    moment = state.circumstances(now_s)
    if moment is None:
        return ()
    laid = scene(moment, state.judging.movement)
    odd = _odd(laid, state.judged)
    came = state.transfer(now_s)
    lanes = (_lane(each, state.gpus, came, now_s, odd=each is odd) for each in laid.ranks)
    polled = any(lock.kind == "existence" for lock in moment.locks)
    return tuple(replace(lane, wait="lock") if polled and _polls(laid, lane) else lane for lane in lanes)


def _polls(laid: Scene, lane: RankLane) -> bool:
    """Whether a rank looks again and again, as for a lock file that is there."""
    rank = next(each for each in laid.ranks if each.rank.pid == lane.pid and each.rank.name == lane.name)
    return lane.wait == "sleeping" and (rank.rests_in or "").startswith("hrtimer_nanosleep")


def _odd(laid: Scene, judged: Verdict | None) -> RankMoves | None:
    """Return the one that the verdict names, else the one unlike the others."""
    if len(laid.ranks) < 2:
        return None
    named = None if judged is None else (judged.rank, judged.pid)
    return next((each for each in laid.ranks if (each.rank.name, each.rank.pid) == named), laid.odd)


def _lane(rank: RankMoves, book: GpuBook, came: Transfer | None, now_s: float, *, odd: bool) -> RankLane:
    gpus = tuple(gpu.index for gpu in rank.gpus)
    return RankLane(
        name=rank.rank.name,
        pid=rank.rank.pid,
        gpus=gpus,
        phase=rank.rank.phase,
        received_mib=_received(gpus, came),
        memory_mib=_memory(gpus, book),
        state=rank.state,
        wait=wait_of(rank),
        waits_s=rank.waiting_s,
        quiet_s=None if not rank.signals else max(0.0, now_s - rank.quiet_since_s),
        odd=odd,
    )


def wait_of(rank: RankMoves) -> Wait:
    """Return what a rank does or waits for, by its processes and its GPUs; the surest sign counts."""
    if rank.rank.gone or rank.state in ("Z", "X", "x"):
        return "gone"
    if rank.state in HELD:
        return "stopped"
    if rank.waiting_s is not None:
        return "collective"
    if rank.state_of(Channel.COMPILE) == "moved":
        return "compiling"
    if "moved" in (rank.state_of(Channel.FILE), rank.state_of(Channel.PCIE)):
        return "reading"
    if rank.state == "D":
        return "storage"
    return _at_work(rank)


def _at_work(rank: RankMoves) -> Wait:
    if "lock" in (rank.wchan or ""):
        return "lock"
    if rank.state_of(Channel.GPU_WORK) == "moved" or (rank.cpu_pct or 0.0) >= BUSY_PCT:
        return "computing"
    if rank.cpu_pct is not None and rank.cpu_pct < IDLE_PCT and rank.signals:
        return "sleeping"
    return "unknown"


def _received(gpus: tuple[int, ...], came: Transfer | None) -> float | None:
    told = [gpu.received_mib for gpu in came.gpus if gpu.index in gpus] if came is not None else []
    return sum(told) if told else None


def _memory(gpus: tuple[int, ...], book: GpuBook) -> float | None:
    found = [book.by_index[index].sample for index in gpus if index in book.by_index]
    used = [sample.memory_used_mib for sample in found if sample is not None]
    known = [each for each in used if each is not None]
    return sum(known) if known and len(known) == len(used) else None
