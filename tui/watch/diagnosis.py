"""What a diagnosis that a person asked for has found: stacks compared over its rounds, and NCCL RAS.

A stack that stands still is no hang by itself: it is said to stand unchanged, and counts as a proof (R4 f, g)
only beside channels on which nothing moves. One whose leaf changes is progress (P8).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from tui.signals import Evidence
from tui.watch.ras import Finding, RasReport, read_ras, unchanged
from tui.watch.verdict.situation import Proof
from tui.watch.words import shortened

ROUNDS = 3
"""So many equal dumps are an unchanged stack."""
SILENT_S = 60.0
SHOWN_FRAMES = 6
_STACK_LENGTH = 400
# Threads that wake up and sleep again whatever the process does tell of neither work nor a hang.
_HOUSEKEEPING = re.compile(r"tqdm\W?_?monitor|\bTimer\.run\b|watchdog|heartbeat", re.IGNORECASE)
_THREAD = re.compile(r"(?P<name>.*?) (?P<number>\d+): (?P<frames>.*)", re.DOTALL)

Names = Mapping[int, str]
Standing = Literal["moved", "unchanged", "open", "unread"]


@dataclass(frozen=True, slots=True)
class Dump:
    """One stack dump: frames of each thread by its number, leaf first; ``main`` is the main thread's."""

    at_s: float
    threads: Mapping[int, tuple[str, ...]]
    main: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Looked:
    """What the dumps of one process came to.

    ``moved_s`` is when its leaf was last seen to have changed (host's monotonic clock), ``span_s`` how far
    apart the first and the last dump are. unchanged: all dumps are equal and there are at least three; open:
    too few to tell; unread: there is none, and ``why`` says so.
    """

    pid: int
    standing: Standing
    span_s: float = 0.0
    moved_s: float | None = None
    stack: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Processes whose stacks lead to the same place."""

    looked: tuple[Looked, ...]

    @property
    def read(self) -> bool:
        """Whether there is a stack at all."""
        return self.looked[0].standing != "unread"


@dataclass(slots=True)
class Diagnosis:
    """The newest diagnosis. ``began_s`` is None before the first one; times are the host's."""

    began_s: float | None = None
    running: bool = False
    heard_s: float = 0.0
    plan: str = ""
    outcome: str = ""
    failures: list[str] = field(default_factory=list[str])
    _dumps: dict[int, list[Dump]] = field(default_factory=dict[int, list[Dump]])
    _unread: dict[int, str] = field(default_factory=dict[int, str])
    _ras: list[tuple[float, RasReport | None]] = field(default_factory=list[tuple[float, RasReport | None]])
    _ras_said: str = ""

    def take(self, event: Evidence, outer_pids: Mapping[int, int] | None = None) -> None:
        """Note one answer; what comes of one that began in an earlier load is none.

        ``outer_pids``: the host's numbers of processes by those that they have in their container.
        """
        if not self.running and event.asked != "diagnosis":
            return
        self.heard_s = event.mono_s
        match event.asked:
            case "diagnosis" if event.last:
                self.running, self.outcome = False, event.sentence
            case "diagnosis":
                self._begin(event)
            case "stacks":
                self._take_stacks(event)
            case "ras":
                self._take_ras(event, outer_pids)

    def busy(self, now_s: float) -> bool:
        """Whether more is to come; one that has been silent for a minute is over."""
        return self.running and now_s - self.heard_s < SILENT_S

    def cut(self) -> None:
        """The link is lost: nothing more comes."""
        if self.running:
            self.running, self.outcome = False, "the diagnosis was cut off with the link"

    def _begin(self, event: Evidence) -> None:
        self.began_s, self.running, self.plan, self.outcome = event.mono_s, True, event.sentence, ""
        for each in (self.failures, self._dumps, self._unread, self._ras):
            each.clear()
        self._ras_said = ""

    def _take_stacks(self, event: Evidence) -> None:
        if event.pid is None:
            self.failures.append(event.sentence)
        elif event.found:
            self._dumps.setdefault(event.pid, []).append(_dump(event))
            self._unread.pop(event.pid, None)
        else:
            self._unread[event.pid] = event.sentence

    def _take_ras(self, event: Evidence, outer_pids: Mapping[int, int] | None) -> None:
        self._ras_said = event.sentence
        if event.found:
            self._ras.append((event.mono_s, read_ras(event.lines, outer_pids)))
        else:
            self.failures.append(event.sentence)

    # Telling.

    @property
    def moved(self) -> dict[int, float]:
        """P8: the pids whose leaf changed between two dumps, and when that was last seen."""
        return {each.pid: each.moved_s for each in self.looked() if each.moved_s is not None}

    def looked(self) -> tuple[Looked, ...]:
        """Return what the dumps of each process came to, by pid."""
        return tuple(self._of(pid) for pid in sorted({*self._dumps, *self._unread}))

    def groups(self) -> tuple[Group, ...]:
        """Return the processes grouped by where their main threads are, the smallest group first.

        Those that could not be read come last.
        """
        by_place: dict[tuple[str, ...] | None, list[Looked]] = {}
        for each in self.looked():
            by_place.setdefault(None if each.standing == "unread" else _place(each.stack), []).append(each)
        found = [Group(tuple(each)) for each in by_place.values()]
        return tuple(sorted(found, key=lambda group: (not group.read, len(group.looked))))

    def proofs(self, names: Names) -> tuple[Proof, ...]:
        """Return what proves a hang where nothing else moves (R4 f, g), NCCL RAS first."""
        return (*self._ras_proofs(names), *self._stack_proofs(names))

    def lines(self, names: Names) -> tuple[str, ...]:
        """Return all that was found, for a person: the plan, the groups, RAS, the end."""
        if self.began_s is None:
            return ()
        told = [f"asked for: {self.plan}"]
        told += [line for group in self.groups() for line in group_lines(group, names)]
        told += self.failures
        told += self._ras_lines(names)
        told += [f"ended: {self.outcome}"] if self.outcome else ["it still looks"]
        return tuple(told)

    def _of(self, pid: int) -> Looked:
        dumps = self._dumps.get(pid, [])
        if not dumps:
            return Looked(pid, "unread", why=self._unread.get(pid, ""))
        span_s = dumps[-1].at_s - dumps[0].at_s
        moved_s = [after.at_s for before, after in pairwise(dumps) if _leaf_moved(before, after)]
        why = self._unread.get(pid, "")
        standing: Standing = "open"
        if moved_s:
            standing = "moved"
        elif len(dumps) >= ROUNDS and not why and all(_same(dumps[0], dump) for dump in dumps[1:]):
            standing = "unchanged"
        return Looked(pid, standing, span_s, max(moved_s, default=None), dumps[-1].main, why)

    def _stack_proofs(self, names: Names) -> Iterator[Proof]:
        """Give the proof of three equal stacks, if every process that was looked at stands unchanged."""
        looked = self.looked()
        if self.running or not looked or any(each.standing != "unchanged" for each in looked):
            return
        sizes = [len(group.looked) for group in self.groups()]
        alone = len(sizes) > 1 and sizes[0] == 1 < sizes[1]
        culprit = self.groups()[0].looked[0] if alone or sizes == [1] else None
        span = f"unchanged over {min(each.span_s for each in looked):.0f} s"
        if culprit is None:
            sentence = f"the stacks of all {len(looked)} processes are {span}"
            yield Proof("stacks", sentence, began_s=self.began_s)
            return
        name = name_of(culprit.pid, names)
        leaf = culprit.stack[0] if culprit.stack else "no Python frame"
        sentence = f"the stack of {name} is {span} in {leaf}"
        sentence += f", unlike the other {len(looked) - 1}" if alone else ""
        yield Proof("stacks", sentence, names.get(culprit.pid), culprit.pid, self.began_s)

    def _ras_proofs(self, names: Names) -> Iterator[Proof]:
        """Give what two answers found alike, but not of processes that RAS calls dead and that may live.

        Whoever was stopped for a minute is called dead for ever (measured: both of two ranks that served on).
        """
        reports = [(at_s, report) for at_s, report in self._ras if report is not None]
        if len(reports) < 2:
            return
        (began_s, first), (_, second) = reports[0], reports[-1]
        for finding in unchanged(first, second):
            if finding.kind == "error" or not self._is_own(finding, names):
                continue
            if any(rank.pid in second.dead and rank.pid not in self._unread for rank in finding.ranks):
                continue
            pid = next((rank.pid for rank in finding.ranks if rank.pid in names), None)
            alone = pid if len(finding.ranks) == 1 else None
            sentence = f"{finding.text}, unchanged in two answers"
            yield Proof("ras", sentence, names.get(alone or -1), alone, began_s)

    def _is_own(self, finding: Finding, names: Names) -> bool:
        """Whether it is of this server: several jobs of one user answer at the same port."""
        pids = [rank.pid for rank in finding.ranks if rank.pid is not None]
        return not pids or any(pid in names for pid in pids)

    def _lives_on(self, pid: int | None, report: RasReport) -> bool:
        """Whether RAS calls a process dead that was read just now: one that was stopped for a while."""
        return pid in report.dead and pid in self._dumps and pid not in self._unread

    def _ras_lines(self, names: Names) -> Iterator[str]:
        if not self._ras:
            return
        report = self._ras[-1][1]
        if report is None:
            yield "NCCL RAS: its answer is not understood"
            return
        own = [finding for finding in report.findings if self._is_own(finding, names)]
        for finding in own:
            again = len(self._ras) > 1 and self._ras[0][1] is not None and finding in self._ras[0][1].findings
            yield f"NCCL RAS: {finding.text}" + (", unchanged in two answers" if again else "")
            if any(self._lives_on(rank.pid, report) for rank in finding.ranks):
                yield "NCCL RAS calls a process dead that lives: it was stopped for a while"
        if not own:
            yield "NCCL RAS: nothing wrong that it can see (it does not count captured collectives)"
        if len(own) < len(report.findings):
            yield "NCCL RAS: what it found of another job is left out"
        if report.invented:
            yield "NCCL RAS: communicators that cannot be are left out"


def group_lines(group: Group, names: Names) -> tuple[str, ...]:
    """Return a group in words: who, what became of the stacks, and where they are, leaf first."""
    if not group.read:
        return tuple(f"{name_of(each.pid, names)}: no stack: {each.why}" for each in group.looked)
    who = ", ".join(name_of(each.pid, names) for each in group.looked)
    stack = shortened(" < ".join(group.looked[0].stack[:SHOWN_FRAMES]) or "no Python frame", _STACK_LENGTH)
    standings = {each.standing for each in group.looked}
    spans = f"{min(each.span_s for each in group.looked):.0f} s"
    if standings == {"unchanged"}:
        how = f"stack unchanged over {spans}"
    elif standings == {"moved"}:
        how = f"stack changed within {spans}: it moves on"
    elif "moved" in standings:
        moved = ", ".join(name_of(each.pid, names) for each in group.looked if each.standing == "moved")
        how = f"stack of {moved} changed within {spans}"
    else:
        whys = {each.why for each in group.looked if each.why}
        how = "; ".join(["stack read too few times to compare", *sorted(whys)])
    return (f"{who}: {how}", f"  {stack}")


def name_of(pid: int, names: Names) -> str:
    """Return a process as it is shown."""
    return f"{names[pid]} (pid {pid})" if pid in names else f"pid {pid}"


def _dump(event: Evidence) -> Dump:
    threads: dict[int, tuple[str, ...]] = {}
    main: tuple[str, ...] = ()
    for text in event.stacks:
        match = _THREAD.fullmatch(text)
        if match is None:
            continue
        number, frames = int(match["number"]), _frames(match["frames"])
        if number == event.pid:
            main = frames
        if number == event.pid or not _HOUSEKEEPING.search(text):
            threads[number] = frames
    return Dump(event.mono_s, threads, main)


def _frames(text: str) -> tuple[str, ...]:
    return tuple(text.split(" < ")) if text else ()


def _leaf_moved(before: Dump, after: Dump) -> bool:
    """Whether a thread that is in both has another leaf frame, or another line in it."""
    return any(
        before.threads[number][:1] != after.threads[number][:1]
        for number in before.threads.keys() & after.threads.keys()
    )


def _same(one: Dump, other: Dump) -> bool:
    return one.threads == other.threads


def _place(stack: Sequence[str]) -> tuple[str, ...]:
    """Return a stack without its line numbers."""
    return tuple(re.sub(r":\d+\)$", ")", frame) for frame in stack)
