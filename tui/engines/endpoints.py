"""What an engine's HTTP endpoints answer and what that means, by version.

A table of ``Endpoint`` rows stands in each engine's file; ``meaning`` looks an answer up. Versions are
written as they are read: "all", "0.5.20+", "to 0.4.10", "0.4.7 to 0.5.20". A bound of fewer numbers holds
for all releases under it: "to 0.11" covers 0.11.2. Where a version is not known, only what is true of every
version counts.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

from tui.events import Outcome

PORT = ""
"""The path of the port itself: whether it can be connected to."""

State = Literal["loading", "ready", "ill", "up", "absent", "unclear"]
Key = int | Literal["refused", "timeout"]
VersionKey = tuple[tuple[int, ...], int, int]

_VERSION = re.compile(
    r"(?:v|b)?(?P<release>\d{1,9}(?:\.\d{1,9}){0,4})"
    r"(?:\.?(?P<stage>rc|post)(?P<number>\d{1,6})(?:\.dev\d{1,9})?)?(?:[+-][\w.+-]{1,100})?$"
)
_STAGES = {"rc": -1, None: 0, "post": 1}
_RANGE = re.compile(r"(?:(?P<since>\S+?)(?P<plus>\+)|(?:(?P<first>\S+) )?to (?P<last>\S+))$")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer: an HTTP status, "refused" or "timeout", and in a short phrase what it says.

    ``state`` is "up" where the server answers and that says nothing of the model, "absent" where the path
    is not served, "unclear" where it may be one or the other. A row of all versions is what counts where
    the version is not known, or is in none of the others.
    """

    said: Key
    phrase: str
    state: State
    versions: str = "all"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A path, the versions that serve it, its answers, and what asking costs or needs ("" for nothing)."""

    path: str
    versions: str
    answers: tuple[Answer, ...]
    note: str = ""


@cache
def version_key(text: str | None) -> VersionKey | None:
    """Return a version ("0.4.10.post2", "0.11.0rc1", llama.cpp's build "4800") to compare, None if unknown.

    A version that a source checkout made up ("0.1.dev7+g1a2b3c") is unknown.
    """
    found = _VERSION.match(text) if text is not None else None
    if found is None:
        return None
    release = tuple(int(number) for number in found["release"].split("."))
    return release, _STAGES[found["stage"]], int(found["number"] or 0)


@cache
def covers(versions: str, version: str | None) -> bool | None:
    """Return whether a version is among ``versions``, None where one of them cannot be compared."""
    if versions == "all":
        return True
    key = version_key(version)
    span = _RANGE.match(versions)
    if key is None or span is None:
        return None
    first, last = span["since"] or span["first"], span["last"]
    low, high = version_key(first), version_key(last)
    if (first and low is None) or (last and high is None):
        return None
    return (low is None or not _below(key, low)) and (high is None or not _above(key, high))


def meaning(
    endpoints: tuple[Endpoint, ...],
    path: str,
    status: int | None,
    outcome: Outcome | None,
    version: str | None = None,
) -> Answer | None:
    """Return the row for an answer, None where none is true of what is known."""
    key = _key(status, outcome)
    if key is None:
        return None
    rows = _rows(endpoints, path, key)
    if not rows and not isinstance(key, int):
        rows = _rows(endpoints, PORT, key)
    return _pick(rows, version)


def _key(status: int | None, outcome: Outcome | None) -> Key | None:
    if status is not None:
        return status
    if outcome == "refused" or outcome == "timeout":
        return outcome
    return None


def _rows(endpoints: tuple[Endpoint, ...], path: str, key: Key) -> list[Answer]:
    return [row for each in endpoints if each.path == path for row in each.answers if row.said == key]


def _pick(rows: list[Answer], version: str | None) -> Answer | None:
    narrow = [row for row in rows if row.versions != "all"]
    known = [row for row in narrow if covers(row.versions, version)]
    if len(known) == 1:
        return known[0]
    return next((row for row in rows if row.versions == "all"), None)


def _padded(key: VersionKey, length: int) -> VersionKey:
    release = key[0]
    return (*release, *[0] * (length - len(release))), key[1], key[2]


def _below(key: VersionKey, bound: VersionKey) -> bool:
    length = max(len(key[0]), len(bound[0]))
    return _padded(key, length) < _padded(bound, length)


def _above(key: VersionKey, bound: VersionKey) -> bool:
    size = len(bound[0])
    if len(key[0]) > size:
        return key[0][:size] > bound[0]
    length = max(len(key[0]), size)
    return _padded(key, length) > _padded(bound, length)
