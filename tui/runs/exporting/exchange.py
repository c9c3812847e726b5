"""Runs as JSON, whole: what is written here is read back equal, by this version and later ones.

``{"format": "tminus runs", "version": 1, "tminus": "0.1.0", "runs": [RunEntry, …]}``; the fields of a run are
those of tui/runs/entry.py and tui/benchmark.py, units in their names.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, cast

import msgspec

from tui import __version__
from tui.runs.entry import RunEntry
from tui.runs.importing.reading import Found
from tui.transport.clean import clean

FORMAT = "tminus runs"
VERSION = 1
_ID = re.compile("[0-9a-f]{8}")


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """A file of runs."""

    format: Literal["tminus runs"] = FORMAT
    version: int = VERSION
    tminus: str = ""
    runs: list[RunEntry]


def json_text(entries: Sequence[RunEntry]) -> str:
    """Return the runs with all of their requests as one JSON object over several lines."""
    packed = msgspec.json.encode(Exchange(tminus=__version__, runs=list(entries)))
    return msgspec.json.format(packed, indent=1).decode() + "\n"


def recognises(fields: Mapping[str, object]) -> bool:
    """Whether an object is such a file."""
    return fields.get("format") == FORMAT


def runs_of(found: Found) -> list[RunEntry]:
    """Return the runs of a file. Raises ImportFault for a later version and for what is none."""
    version = found.fields.get("version")
    if isinstance(version, int) and version > VERSION:
        found.refuse(f"it was written by a newer tminus (version {version} of the format): use that one")
    fields = cast("dict[str, object]", _cleaned(found.fields, found))
    runs = replace(found, fields=fields).read_as(Exchange).runs
    for each in runs:
        if not _ID.fullmatch(each.id):
            found.refuse(f"a run in it is called {each.id[:40]!r}: eight hexadecimal digits name a run")
    return runs


def _cleaned(value: object, found: Found) -> object:
    """Return a value with all texts in it cleaned: somebody else may have written the file."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float) and not math.isfinite(value):
        found.refuse("it holds a figure that is none (NaN or Infinity)")
    if isinstance(value, list):
        return [_cleaned(each, found) for each in cast("list[object]", value)]
    if isinstance(value, dict):
        table = cast("dict[str, object]", value)
        return {clean(name): _cleaned(each, found) for name, each in table.items()}
    return value
