"""What NCCL RAS answered, read: which ranks are behind, missing or dead. Evidence, not a verdict.

Its counts are of collectives launched by the host (graph-captured ones are not counted), and its answers can
be wrong: communicators with more missing ranks than the job has GPUs are invented, and a process that was
stopped for a minute counts as dead for ever although it goes on (measured with NCCL 2.28.9).
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

Kind = Literal["mismatch", "missing", "error"]


@dataclass(frozen=True, slots=True)
class RasRank:
    """One rank as RAS names it; what it does not tell is None."""

    rank: int
    pid: int | None = None
    gpu: str | None = None
    node: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that RAS found wrong; two equal ones are an unchanged one. ``text`` is it in words.

    mismatch: ``ranks`` have launched fewer operations than the others, as far as they are named.
    missing: ``ranks`` do not answer the others. error: nothing is said of a culprit.
    """

    kind: Kind
    communicator: str
    ranks: tuple[RasRank, ...]
    text: str


@dataclass(frozen=True, slots=True)
class RasReport:
    """One answer. ``dead`` are the pids that RAS calls dead, ``invented`` counts what was left out."""

    version: str | None
    findings: tuple[Finding, ...]
    dead: frozenset[int] = frozenset()
    invented: int = 0


def read_ras(lines: Sequence[str], outer_pids: Mapping[int, int] | None = None) -> RasReport | None:
    """Return what an answer says, None where it is not understood.

    ``outer_pids``: RAS of a container tells the container's pids; which ones they are on the host.
    """
    lines = [_on_host(line, outer_pids) for line in lines] if outer_pids else lines
    first = next((line.lstrip() for line in lines if line.strip()), "")
    return _of_json("\n".join(lines)) if first.startswith("{") else _of_text(lines)


def unchanged(first: RasReport, second: RasReport) -> tuple[Finding, ...]:
    """Return what both answers found alike."""
    return tuple(finding for finding in second.findings if finding in first.findings)


_PID = re.compile(r"(\b[Pp]rocess |\"pid\"\s*:\s*)(\d{1,9})\b")


def _on_host(line: str, outer_pids: Mapping[int, int]) -> str:
    def outer(found: re.Match[str]) -> str:
        inner = int(found[2])
        return f"{found[1]}{outer_pids.get(inner, inner)}"

    return _PID.sub(outer, line)


# Text.

_VERSION = re.compile(r"(?:NCCL|RCCL) version (\d+\.\d+\.\d+)")
_JOB_ROW = re.compile(r"\s*\d+(?:\s+\d+(?:-\d+)?){3}\s+(\d+)\s*$")
_GROUP_ROW = re.compile(r"\s*\d+\s+\d+\s+\d+\s+\S+\s+\d+\s+\d+\s+[A-Z]+\s+[A-Z]+\s*$")
_HEAD = re.compile(r"#\d+-\d+ \((\w+)\) ([A-Z]+)\s*$")
_TOP = re.compile(r"(INCOMPLETE|DEAD|ERROR|TIMEOUT|MISMATCH)\s*$")
_PROCESS = re.compile(r"\s+Process (\d+) on node (\S+)(?: managing GPUs? (.+?))?\s*$")
_MISSING = re.compile(r"\s+Missing communicator data from (\d+) ranks?\s*$")
_LISTED = re.compile(r"\s+The missing ranks?: ([\d, -]+)")
_WHAT = re.compile(r"\s+Communicator ranks have different (.*?)\s*$")
_MANY = re.compile(r"\s+(\d+) ranks have (launched up to operation (\d+)|not launched|status (\w+))")
_RANK = re.compile(
    r"\s+Rank (-?\d+)(?: has (launched up to operation (\d+)|not launched[^-]*|status (\w+)))?"
    r"(?: -- (?:GPU (\S+) managed by process (\d+) on node (\S+))?.*)?\s*$"
)
_STATUS_ORDER = {"INIT": 0, "RUNNING": 1, "FINALIZE": 2, "ABORT": 3}


@dataclass(slots=True)
class _Count:
    value: int
    number: int
    ranks: list[RasRank] = field(default_factory=list[RasRank])


@dataclass(slots=True)
class _Block:
    """What stands under one headline."""

    kind: str
    communicator: str
    missing: int = 0
    what: str = ""
    ranks: list[RasRank] = field(default_factory=list[RasRank])
    counts: list[_Count] = field(default_factory=list[_Count])
    processes: list[RasRank] = field(default_factory=list[RasRank])
    said: list[str] = field(default_factory=list[str])

    def take(self, line: str) -> None:
        """Read one line of it."""
        missing, listed, what, many = (each.match(line) for each in (_MISSING, _LISTED, _WHAT, _MANY))
        process, rank = _PROCESS.match(line), _RANK.match(line)
        if missing is not None:
            self.missing = int(missing[1])
        elif listed is not None:
            self.ranks += [RasRank(int(number)) for number in re.findall(r"-?\d+", listed[1])]
        elif what is not None:
            self.what, self.counts = self.what or what[1], []
        elif many is not None:
            self.counts.append(_Count(_value(many[3], many[4]), int(many[1])))
        elif process is not None:
            self.processes.append(RasRank(-1, int(process[1]), process[3], process[2]))
        elif rank is not None:
            self._take_rank(rank)
        if line.strip():
            self.said.append(line.strip())

    def _take_rank(self, match: re.Match[str]) -> None:
        pid = None if match[6] is None else int(match[6])
        rank = RasRank(int(match[1]), pid, match[5], match[7])
        if match[2] is not None:
            self.counts.append(_Count(_value(match[3], match[4]), 1, [rank]))
        elif self.kind == "MISMATCH" and self.counts:
            self.counts[-1].ranks.append(rank)
        else:
            self.ranks.append(rank)

    def finding(self) -> Finding | None:
        """Return what it comes to, None for what tells of no rank."""
        if self.kind == "MISMATCH" and self.counts:
            return self._mismatch()
        if self.kind == "INCOMPLETE" and self.communicator and (self.ranks or self.missing):
            number = max(self.missing, len(self.ranks))
            text = f"{_ranks_words(number, self.ranks)} not answering the others"
            return Finding("missing", self.communicator, tuple(self.ranks), text)
        if self.kind == "ERROR" and self.communicator:
            return Finding("error", self.communicator, (), "; ".join(self.said[:3]) or "an error")
        return None

    def _mismatch(self) -> Finding | None:
        most = max(count.value for count in self.counts)
        late = [count for count in self.counts if count.value < most]
        if not late:
            return None
        ranks = tuple(rank for count in late for rank in count.ranks)
        number = sum(count.number for count in late)
        lowest = min(count.value for count in late)
        text = f"{_ranks_words(number, ranks)} behind: {self.what or 'counts'} at {lowest}, others at {most}"
        return Finding("mismatch", self.communicator, ranks, text)


def _of_text(lines: Iterable[str]) -> RasReport | None:
    version: str | None = None
    gpus: int | None = None
    understood = False
    blocks: list[_Block] = []
    for line in lines:
        head, top, job = _HEAD.match(line), _TOP.match(line), _JOB_ROW.match(line)
        named = _VERSION.search(line)
        version = named[1] if named is not None and version is None else version
        understood = understood or job is not None or _GROUP_ROW.match(line) is not None
        if head is not None:
            blocks.append(_Block(head[2], head[1]))
        elif top is not None:
            blocks.append(_Block(top[1], ""))
        elif job is not None and gpus is None:
            gpus = int(job[1])
        elif blocks:
            blocks[-1].take(line)
    if not understood:
        return None
    kept = [each for each in blocks if gpus is None or max(each.missing, len(each.ranks)) <= gpus]
    dead = {
        rank.pid for each in blocks if each.kind == "DEAD" for rank in each.processes if rank.pid is not None
    }
    found = tuple(finding for block in kept if (finding := block.finding()) is not None)
    return RasReport(version, found, frozenset(dead), len(blocks) - len(kept))


def _value(count: str | None, status: str | None) -> int:
    return int(count) if count is not None else _STATUS_ORDER.get(status or "", 0)


def _ranks_words(number: int, ranks: Sequence[RasRank]) -> str:
    """Return ranks in words with the verb: few by number, pid and GPU, more by their count."""
    if number == 1 and ranks:
        return f"rank {_rank_words(ranks[0])} is"
    if 1 < number == len(ranks) <= 4:
        return f"ranks {', '.join(map(_rank_words, ranks))} are"
    return f"{number} ranks are" if number != 1 else "1 rank is"


def _rank_words(rank: RasRank) -> str:
    place = [f"pid {rank.pid}"] if rank.pid is not None else []
    place += [f"GPU {rank.gpu}"] if rank.gpu is not None else []
    return f"{rank.rank} ({', '.join(place)})" if place else str(rank.rank)


# JSON, from NCCL 2.28.7 on.

# NCCL 2.28.9 leaves a comma out between the fields of a missing rank.
_NO_COMMA = re.compile(r'([\w"\]}])(\s*\n\s*)(?="[^"\n]*"\s*:)')

Json = dict[str, Any]


def _of_json(text: str) -> RasReport | None:
    whole = _decoded(text)
    if whole is None:
        return None
    try:
        communicators = cast("list[Json]", whole["communicators"])
        kept = [each for each in communicators if _is_real(each)]
        findings = tuple(finding for each in kept for finding in _findings(each))
        dead = {int(rank["pid"]) for each in kept for rank in each.get("missing_ranks", ()) if _is_dead(rank)}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None
    version = whole.get("nccl_version")
    known = _plain(version) if isinstance(version, str) else None
    return RasReport(known, findings, frozenset(dead), len(communicators) - len(kept))


def _decoded(text: str) -> Json | None:
    for attempt in (text, _NO_COMMA.sub(r"\1,\2", text)):
        try:
            whole: object = json.loads(attempt)
        except (ValueError, RecursionError):
            continue
        return cast("Json", whole) if isinstance(whole, dict) else None
    return None


def _findings(communicator: Json) -> Iterator[Finding]:
    name = _plain(communicator.get("hash", ""))
    missing = tuple(_json_rank(rank) for rank in communicator.get("missing_ranks", ()))
    if missing:
        text = f"{_ranks_words(len(missing), missing)} not answering the others"
        yield Finding("missing", name, missing, text)
    ranks: list[Json] = communicator.get("ranks", [])
    operations = sorted({name for rank in ranks for name in rank.get("collective_counts", {})})
    for operation in operations:
        counts = [int(rank.get("collective_counts", {}).get(operation, 0)) for rank in ranks]
        most = max(counts)
        late = tuple(_json_rank(rank) for rank, count in zip(ranks, counts, strict=True) if count < most)
        if late:
            where = f"{_plain(operation)} at {min(counts)}, others at {most}"
            yield Finding("mismatch", name, late, f"{_ranks_words(len(late), late)} behind: {where}")


def _json_rank(rank: Json) -> RasRank:
    pid, gpu = rank.get("pid"), rank.get("nvml_dev", rank.get("cuda_dev"))
    return RasRank(
        int(rank["rank"]),
        None if pid is None else int(pid),
        None if gpu is None else _plain(gpu),
        None if rank.get("host") is None else _plain(rank["host"]),
    )


def _plain(value: object) -> str:
    """Return a value as text that can be shown: what JSON escapes was hidden from the edge."""
    return "".join(filter(str.isprintable, str(value)))


def _is_real(communicator: Json) -> bool:
    """Return whether its missing ranks are numbers that it can have."""
    size = int(communicator["size"])
    return all(0 <= int(rank["rank"]) < size for rank in communicator.get("missing_ranks", ()))


def _is_dead(rank: Json) -> bool:
    status: Json = rank.get("status", rank)
    return rank.get("pid") is not None and bool(status.get("considered_dead"))
