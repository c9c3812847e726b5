"""A moment of the followed load, laid out for the rules."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice

from tui.engines.marks import NOBODY, Speaker
from tui.engines.phase import Phase
from tui.watch.gpus import GpuBook
from tui.watch.judging import Judging, blame, fallen
from tui.watch.ladder import NEEDS_A_PERSON
from tui.watch.lanes import Lane
from tui.watch.load import Load
from tui.watch.log_buffer import LogBuffer
from tui.watch.ranks import launcher_of
from tui.watch.target import Server
from tui.watch.transfer import Transfer, gpus_of
from tui.watch.verdict.ends import first_of
from tui.watch.verdict.situation import End, GpuFault, Past, Rank, Situation
from tui.watch.verdict.words import Cause

# fmt: off
NETWORK = frozenset((
    "nfs", "nfs4", "lustre", "ceph", "cifs", "smb3", "beegfs", "gpfs", "glusterfs", "afs", "fuse", "wekafs",
    "pvfs2", "orangefs", "9p",
))
# fmt: on
"""File systems that fetch what is read from elsewhere; also all named "fuse.something"."""
NAMED_WITHIN = 200
"""So many of the log's last lines may name the lock that is waited for: it is written again each minute."""
_ROOT = re.compile(r"/proc/\d+/root(?=/)")
_ASKED = ("health", "model", "token")


def circumstances(
    load: Load,
    server: Server,
    judging: Judging,
    book: GpuBook,
    now_s: float,
    *,
    past: Past,
    transfer: Transfer | None,
    others: Collection[Server] = (),
    log: LogBuffer | None = None,
) -> Situation:
    """Return the moment at ``now_s`` of the host's monotonic clock.

    ``others`` are the servers that are on the host now.
    """
    ranks = _placed(_phased(judging.ranks_of(server), load), server, book)
    blamed = _blamed(load)
    gone = fallen(judging.gone, blamed, now_s if load.ended_s is None else load.ended_s)
    away = {rank.pid for rank in gone}
    # Where all ranks have gone, the main process that is left is none.
    left_over = (rank for rank in ranks if rank.pid not in away and not (gone and rank.pid == server.pid))
    everyone = blame((*gone, *left_over), blamed)
    span = load.timeline.spans[-1] if load.timeline.spans else None
    left = _left_behind(server, others) if load.ended else ""
    return Situation(
        now_s=now_s,
        phase=None if span is None else span.phase,
        phase_since_s=None if span is None else span.began_s,
        ranks=everyone,
        launcher=launcher_of(server, ranks),
        ready=load.ready,
        ready_since_s=load.ready_s,
        end=_end(load, [rank for rank in everyone if rank.gone], server.pid if left else None),
        failure=_failure(load),
        shutting_down=load.log_phases.shutdown is not None,
        parent_gone=left,
        faults=_own_faults(judging.faults, ranks, server, book),
        locks=tuple(replace(lock, named=_named(lock.path, log)) for lock in judging.locks(now_s)),
        proofs=judging.proofs,
        past=past,
        rate_mib_s=_rate(transfer),
        nodes=server.arguments.nodes or 1,
        network_storage=_over_network(judging),
        downloading=_downloads(load),
        unanswered_s=_unanswered(load, now_s),
        answers=_answers(load),
        pids=frozenset(member.pid for member in server.members),
    )


def _phased(ranks: tuple[Rank, ...], load: Load) -> tuple[Rank, ...]:
    """Give each rank the place that its own lines tell."""
    lanes = list(load.log_phases.lanes)
    lagging = {id(lane) for lane in load.log_phases.lanes.lagging}
    return tuple(_with_lane(rank, lanes, lagging) for rank in ranks)


def _with_lane(rank: Rank, lanes: list[Lane], lagging: set[int]) -> Rank:
    lane = next((each for each in lanes if each.pid == rank.pid or each.name == rank.name), None)
    return rank if lane is None else replace(rank, phase=lane.phase, behind=id(lane) in lagging)


def _placed(ranks: tuple[Rank, ...], server: Server, book: GpuBook) -> tuple[Rank, ...]:
    """Give each rank its GPU where the driver names none of them (in a container it numbers differently)."""
    held = book.held_by({pid for rank in ranks for pid in rank.pids})
    if held:
        return ranks
    order = visible(server) or sorted(gpus_of(server.arguments, (), book.by_index))
    if len(order) != len(ranks):
        return ranks
    return tuple(replace(rank, gpus=(gpu,)) for rank, gpu in zip(ranks, order, strict=True))


def visible(server: Server) -> list[int]:
    """Return the GPUs that the environment lets the server see, in its order; empty where it does not say."""
    told = (server.main.environment or {}).get("CUDA_VISIBLE_DEVICES", "")
    words = [word.strip() for word in told.split(",")]
    numbers = [int(word) for word in words if word.isascii() and word.isdigit()]
    return numbers if len(numbers) == len(words) else []


def _own_faults(
    faults: Collection[GpuFault], ranks: Collection[Rank], server: Server, book: GpuBook
) -> tuple[GpuFault, ...]:
    """Leave out what happened on GPUs of others, where it is known which are the server's."""
    own = book.held_by({member.pid for member in server.members})
    own |= {gpu for rank in ranks for gpu in rank.gpus}
    return tuple(fault for fault in faults if fault.gpu is None or not own or fault.gpu in own)


def _blamed(load: Load) -> Speaker:
    """Return who failed first by the line that tells the root cause."""
    cause = load.log_phases.suspect
    return NOBODY if cause is None else cause.blamed


def _end(load: Load, gone: Sequence[Rank], launcher: int | None) -> End | None:
    """Return how it ended, by whom; ``launcher`` is the pid of one that went and left its ranks behind."""
    end = load.end
    if end is None:
        return None
    shut_down = end.fault == "shut_down"
    if launcher is not None and not shut_down and not gone:
        return End(end.reason, "launcher", launcher, at_s=end.at_s)
    if shut_down or not gone:
        return End(end.reason, shut_down=shut_down, at_s=end.at_s)
    first = first_of(gone)
    named = (None, None) if first is None else (first.name, first.pid)
    return End(end.reason, *named, at_s=end.at_s)


def _failure(load: Load) -> Cause | None:
    """Return why it has failed by its log."""
    end = load.end
    told = load.log_failure if end is None else end.cause
    return None if told is None else Cause(f"the log tells why: {told.cause}", told.next_step, "")


def _left_behind(server: Server, others: Collection[Server]) -> str:
    pids = {member.pid for member in server.members}
    orphans = [each for each in others if each.orphan]
    left = sorted(member.pid for each in orphans for member in each.members if member.pid in pids)
    if not left:
        return ""
    listed = ", ".join(str(pid) for pid in left[:8])
    return f"the launcher (pid {server.pid}) is gone and its ranks are left: pid {listed}"


def _rate(transfer: Transfer | None) -> float | None:
    """Return how fast weights reach one GPU, the mean over all."""
    if transfer is None or transfer.rate_mib_s is None:
        return None
    return transfer.rate_mib_s / len(transfer.gpus)


def _downloads(load: Load) -> bool:
    """Whether the log's last word is of files that come over the network."""
    progress = load.timeline.progress
    return load.timeline.phase in (Phase.LAUNCH, Phase.WEIGHTS) and load.downloading and progress is not None


def _unanswered(load: Load, now_s: float) -> float | None:
    """Return for how long a server that was ready has not answered what it is asked, None while it does."""
    if not load.ready:
        return None
    rungs = [load.ladder.rung(name) for name in _ASKED]
    since = [rung.since_s for rung in rungs if rung.state == "waiting" and rung.since_s is not None]
    return max(0.0, now_s - min(since)) if since else None


def _answers(load: Load) -> str:
    """Return what is wrong with the answers of a server that has come as far as its port."""
    if load.ready or load.timeline.phase not in (Phase.START_API, Phase.WARMUP):
        return ""
    wrong = [rung for rung in load.ladder.rungs if rung.state == "bad" and rung.outcome in NEEDS_A_PERSON]
    return f"{wrong[-1].name}: {wrong[-1].answer}" if wrong else ""


def _over_network(judging: Judging) -> bool:
    """Whether the model lies on a file system that has to fetch it."""
    host = judging.movement.host
    kind = None if host is None else host.model_file_system
    return kind is not None and (
        kind in NETWORK or (kind.startswith("fuse.") and kind != "fuse.fuse-overlayfs")
    )


def _named(path: str, log: LogBuffer | None) -> bool:
    """Whether one of the log's last lines names a file, by its path as the server sees it."""
    if log is None:
        return False
    seen = _ROOT.sub("", path, count=1)
    return any(seen in line.text for line in islice(reversed(log.lines), NAMED_WITHIN))
