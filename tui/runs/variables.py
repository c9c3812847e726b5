"""One value for each environment variable of a server, out of what its processes and its log show.

What decides is what the ranks have. Their environment is often overwritten by their titles; then that of
Python's resource_tracker counts, which is started as they are and keeps it, then the main process's, which
shows what it was started with and not what the engine set since. NCCL's own lines tell what it really read,
its configuration files included. Where two of them disagree, the source says so.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tui.engines.given import comparable
from tui.provenance import ProcessEnvironment
from tui.runs.configuration import ENVIRONMENT
from tui.runs.entry import Setting
from tui.watch.target import Member

Known = Literal["whole", "partly", "unknown"]
LOG = "log: set by environment"
_SAID = re.compile(r"\b(NCCL_[A-Z0-9_]+) set by environment to (.+?)\.?\s*$")
_RANKS = ("rank", "engine_core")


@dataclass(frozen=True, slots=True)
class Seen:
    """An environment with the words for whose it is; ``rank`` for a process that computes."""

    words: str
    process: ProcessEnvironment
    rank: bool


@dataclass(frozen=True, slots=True)
class Variables:
    """The variables as settings, and whether one that is missing is surely unset."""

    settings: tuple[Setting, ...]
    known: Known


def variables(
    environments: Sequence[ProcessEnvironment], members: Iterable[Member], lines: Iterable[str]
) -> Variables:
    """Return what all sources together say. ``lines`` are those of this start's log."""
    roles = {member.pid: member for member in members}
    seen = [_seen(process, roles.get(process.pid)) for process in environments]
    groups = (
        [each for each in seen if each.rank],
        [each for each in seen if each.process.role == "resource_tracker"],
        [each for each in seen if each.process.role == "main"],
    )
    if not any(each.process.variables for group in groups for each in group):
        groups = (*groups, [each for each in seen if each.process.role == "worker" and not each.rank])
    said = said_by_log(lines)
    names = {name for group in groups for each in group for name in each.process.variables} | said.keys()
    settings = tuple(_setting(name, groups, said.get(name)) for name in sorted(names))
    return Variables(settings, _known(seen))


def said_by_log(lines: Iterable[str]) -> dict[str, str]:
    """Return the variables that NCCL says it read, and their values; what ranks say differently, joined."""
    said: dict[str, list[str]] = {}
    for line in lines:
        found = _SAID.search(line) if "set by environment to" in line else None
        if found is not None and found[2] not in said.setdefault(found[1], []):
            said[found[1]].append(found[2])
    return {name: _joined(values) for name, values in said.items()}


def _seen(process: ProcessEnvironment, member: Member | None) -> Seen:
    if process.role == "main":
        return Seen("main process", process, rank=False)
    if process.role == "resource_tracker":
        return Seen("resource_tracker", process, rank=False)
    rank = member is not None and member.role.kind in _RANKS
    name = process.title if member is None else member.role.rank or member.role.words
    return Seen(f"worker {process.pid} ({name})" if name else f"worker {process.pid}", process, rank)


def _setting(name: str, groups: Sequence[list[Seen]], said: str | None) -> Setting:
    """Return what the first group says that has the variable, and in the source who says otherwise."""
    told: list[tuple[str, str]] = []
    others: list[str] = []
    for group in groups:
        with_it = [
            (each.words, each.process.variables[name]) for each in group if name in each.process.variables
        ]
        lacking = [each.words for each in group if _lacks(each, name)]
        if not told:
            told = with_it
        else:
            others += _against(_joined(value for _, value in told), with_it)
            others += [f"not set in the {words}" for words in lacking]
    value = _joined(value for _, value in told)
    if said is not None and (not told or comparable(said) != comparable(value)):
        others = [*_against(said, told), *others]
        return Setting(name=ENVIRONMENT + name, value=said, source="; ".join((LOG, *others)))
    return Setting(name=ENVIRONMENT + name, value=value, source="; ".join((*_who(told), *others)))


def _who(told: list[tuple[str, str]]) -> Iterator[str]:
    """Say who has it; each with its value where they are not one."""
    values = {value for _, value in told}
    if len(values) == 1:
        words = [words for words, _ in told]
        yield ", ".join(words[:1]) + (f" and {len(words) - 1} more" if len(words) > 1 else "")
    else:
        yield from (f"{words}: {value}" for words, value in told)


def _against(value: str, told: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{words}: {other}" for words, other in told if comparable(other) != comparable(value)]


def _lacks(seen: Seen, name: str) -> bool:
    return seen.process.state == "read" and name not in seen.process.variables


def _joined(values: Iterable[str]) -> str:
    return " | ".join(sorted(set(values)))


def _read(some: Iterable[Seen]) -> bool:
    return all(each.process.state == "read" for each in some)


def _known(seen: Sequence[Seen]) -> Known:
    ranks = [each for each in seen if each.rank]
    workers = ranks or [each for each in seen if each.process.role == "worker"]
    trackers = [each for each in seen if each.process.role == "resource_tracker"]
    main = [each for each in seen if each.process.role == "main"]
    as_spawned = any(each.process.state == "read" for each in trackers)
    if as_spawned or (workers and _read(workers)) or (main and not workers and _read(main)):
        return "whole"
    known = any(each.process.state == "read" or each.process.variables for each in seen)
    return "partly" if known else "unknown"
