"""``tminus compare A B``: what differs between two runs' configurations, and what that did to the figures."""

import os
import shutil
import sys
from pathlib import Path

import msgspec

from tui.benchmark import BenchComparison
from tui.commands.runs import when
from tui.present.comparison import Line, comparison_lines
from tui.runs.adding import model_of
from tui.runs.against import compare_runs, comparison_of
from tui.runs.entry import RunEntry
from tui.runs.ledger import Ledger, LedgerFault
from tui.settings import UsageFault
from tui.transport.clean import clean
from widgets.cells import clip
from widgets.values import Mood

BASELINE = "baseline"
NARROW, USUAL = 40, 80
_COLOURS = {Mood.GOOD: "1;32", Mood.BAD: "1;31"}


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """A run as ``--json`` names it. What is not known is null."""

    id: str
    made_wall_s: float
    host: str
    model: str | None
    workload: str
    configuration: str | None
    origin: str


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """The one object of ``--json``; ``comparison`` is as in tui/benchmark.py, settings in full."""

    a: Named
    b: Named
    comparison: BenchComparison


def run(a: str, b: str, path: Path, *, json_wanted: bool) -> int:
    """Compare two runs, each an id, the beginning of one, or ``baseline``; return 0. Raises UsageFault."""
    ledger = Ledger(path, write=False)
    try:
        one, other = _chosen(ledger, a, b)
        found = comparison_of(one, other, compare_runs(ledger, one, other))
    except LedgerFault as fault:
        raise UsageFault(str(fault)) from None
    if notice := ledger.notice():
        sys.stderr.write(f"tminus: {clean(notice)}\n")
    if json_wanted:
        lines = [msgspec.json.encode(Compared(a=_named(one), b=_named(other), comparison=found)).decode()]
    else:
        lines = text_lines(one, other, found, _columns(), coloured=_wants_colour())
    encoding = "utf-8" if json_wanted else sys.stdout.encoding or "utf-8"
    sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode(encoding, "replace"))
    sys.stdout.buffer.flush()
    return 0


def text_lines(
    a: RunEntry, b: RunEntry, found: BenchComparison, columns: int | None, *, coloured: bool
) -> list[str]:
    """Return the comparison as lines of at most so many cells (None: nothing is cut)."""
    heads = [_head("A", a), _head("B", b), f"workload {b.workload}", ""]
    shown = [Line(text if columns is None else clip(text, columns)) for text in heads]
    return [painted(line, coloured=coloured) for line in (*shown, *comparison_lines(found, columns))]


def painted(line: Line, *, coloured: bool) -> str:
    """Return a line without what could draw on a terminal, its end in the colour of its mood."""
    colour = _COLOURS.get(line.mood) if coloured else None
    if colour is None or not line.text[line.begins :]:
        return clean(line.text)
    return f"{clean(line.text[: line.begins])}\x1b[{colour}m{clean(line.text[line.begins :])}\x1b[0m"


def _head(name: str, entry: RunEntry) -> str:
    digest = entry.fingerprint.digest[:8] or "of an unknown configuration"
    model = model_of(entry) or "an unknown model"
    host = f" on {entry.host}" if entry.host else ""
    return f"{name}  {entry.id}  {when(entry.made_wall_s)}  {digest}  {model}{host}"


# Which runs.


def _chosen(ledger: Ledger, a: str, b: str) -> tuple[RunEntry, RunEntry]:
    if a == BASELINE and b == BASELINE:
        raise UsageFault("name a run to compare with the baseline: tminus compare baseline ID")
    if a == BASELINE:
        other = ledger.run(b)
        return _baseline(ledger, other), other
    one = ledger.run(a)
    other = _baseline(ledger, one) if b == BASELINE else ledger.run(b)
    if one.id == other.id:
        raise UsageFault(f"A and B are one run, {one.id}; tminus runs lists all")
    return one, other


def _baseline(ledger: Ledger, entry: RunEntry) -> RunEntry:
    """Return the baseline that stands for a run's workload and model."""
    found = ledger.baseline(entry.workload, model_of(entry))
    if found is None:
        raise UsageFault(
            f"there is no baseline for {model_of(entry) or 'an unknown model'}, {entry.workload}; "
            "tminus baseline ID makes a run one"
        )
    if found.id == entry.id:
        raise UsageFault(f"run {entry.id} is the baseline itself; name another one")
    return found


def _named(entry: RunEntry) -> Named:
    return Named(
        id=entry.id,
        made_wall_s=entry.made_wall_s,
        host=entry.host,
        model=model_of(entry),
        workload=entry.workload,
        configuration=entry.fingerprint.digest or None,
        origin=entry.origin,
    )


# The terminal.


def _columns() -> int | None:
    """Return how wide a line may be; None where no terminal shows it."""
    return max(NARROW, shutil.get_terminal_size((USUAL, 24)).columns) if sys.stdout.isatty() else None


def _wants_colour() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
