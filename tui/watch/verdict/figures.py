"""Three to five figures that show a verdict, each with its window."""

from tui.engines.phase import Phase
from tui.watch.verdict.channels import Channel
from tui.watch.verdict.meters import FRESH_S, WINDOW_S
from tui.watch.verdict.movement import RankMoves
from tui.watch.verdict.scene import Scene
from tui.watch.words import clock_text

MOST = 5
LEAST_PCT = 1.0


def figures(scene: Scene, culprit: RankMoves | None, *, slow: bool = False) -> tuple[str, ...]:
    """Return figures of the culprit, of one who waits, of all; then what was not seen or cannot be read.

    ``slow``: that is what the load is said to be.
    """
    told: list[str] = []
    if culprit is not None:
        told.append(_process(culprit))
        told += [gpu.figure for gpu in culprit.gpus[:1]]
    waiting = [each for each in scene.waiting if each is not culprit]
    for each in waiting[:1]:
        gpu = each.gpus[0].figure if each.gpus else ""
        told.append(f"{each.rank.name} waits for {clock_text(each.waiting_s or 0.0)}: {gpu}")
    told.append(_silence(scene))
    if any(each.in_kernel for each in scene.ranks) or (slow and scene.situation.phase is Phase.WEIGHTS):
        told.append(_storage(scene))
    if scene.unseen_s:
        told.append(f"{clock_text(scene.unseen_s)} were not seen: silence counts from their end")
    unread = _unread(scene)
    if unread:
        told.append(unread)
    return tuple(text for text in told if text)[:MOST]


def _process(rank: RankMoves) -> str:
    if rank.rank.gone:
        return f"{rank.rank.words} {rank.rank.gone}"
    parts = [f"state {rank.state} for {clock_text(rank.state_s)}"] if rank.state != "?" else []
    if rank.wchan not in (None, "", "0"):
        parts.append(f"in {rank.wchan}")
    if rank.cpu_pct is not None:
        parts.append(f"CPU {rank.cpu_pct:.0f} % of a core in {WINDOW_S:.0f} s")
    return f"{rank.rank.words}: " + ", ".join(parts or ["nothing is read of it"])


def _silence(scene: Scene) -> str:
    moved = [reading for each in (*scene.ranks, scene.rest) for reading in each.moved]
    if moved:
        best = max(moved, key=lambda reading: (reading.moved_s or 0.0, reading.amount or 0.0))
        return best.figure or f"{best.channel.words} moved in {WINDOW_S:.0f} s"
    return f"no log, file, memory, compiler or GPU work for {clock_text(scene.silence_s)}"


def _storage(scene: Scene) -> str:
    """Return what the kernel says of waits for storage; it says the same of slow and of dead storage."""
    host, told = scene.movement.host, list[str]()
    if host is not None and scene.now_s - host.mono_s <= FRESH_S and (host.io_some_pct or 0.0) >= LEAST_PCT:
        told.append(f"I/O pressure {host.io_some_pct:.0f} % of the last 10 s")
    hung = scene.movement.hung_tasks
    if hung:
        told.append(
            f"the kernel counts {hung} more hung {'task' if hung == 1 else 'tasks'} since the load began"
        )
    return ", ".join(told)


def _unread(scene: Scene) -> str:
    told = {channel for each in scene.ranks for channel in each.unknown}
    hidden = [channel.words for channel in Channel if channel in told]
    return f"cannot be read: {', '.join(hidden)}" if hidden else ""
