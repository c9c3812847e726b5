"""Three to five figures that show a verdict, each with its window."""

from tui.watch.verdict.channels import Channel
from tui.watch.verdict.meters import WINDOW_S
from tui.watch.verdict.movement import RankMoves
from tui.watch.verdict.scene import Scene
from tui.watch.words import clock_text

MOST = 5


def figures(scene: Scene, culprit: RankMoves | None) -> tuple[str, ...]:
    """Return figures of the culprit, of one who waits, of all; then what was not seen or cannot be read."""
    told: list[str] = []
    if culprit is not None:
        told.append(_process(culprit))
        told += [gpu.figure for gpu in culprit.gpus[:1]]
    waiting = [each for each in scene.waiting if each is not culprit]
    for each in waiting[:1]:
        gpu = each.gpus[0].figure if each.gpus else ""
        told.append(f"{each.rank.name} waits for {clock_text(each.waiting_s or 0.0)}: {gpu}")
    told.append(_silence(scene))
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


def _unread(scene: Scene) -> str:
    told = {channel for each in scene.ranks for channel in each.unknown}
    hidden = [channel.words for channel in Channel if channel in told]
    return f"cannot be read: {', '.join(hidden)}" if hidden else ""
