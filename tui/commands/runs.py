"""``tminus runs``: the benchmarks and loads of the ledger, newest last, as tables or JSON objects."""

import json
import shutil
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from tui import parse
from tui.bench.client_bound import client_bound
from tui.bench.report import json_object
from tui.commands import start
from tui.commands.columns import Columns
from tui.commands.run_shown import run_lines
from tui.engines.counters import figures_of
from tui.runs.entry import LoadEntry, RunEntry, VerdictTime
from tui.runs.ledger import Ledger, LedgerFault
from tui.settings import UsageFault
from tui.transport.clean import clean
from tui.watch.verdict.verdict import SEVERITY
from tui.watch.words import clock_text

UNKNOWN = "-"
NARROW, USUAL = 40, 80
RUNS = Columns(
    head=(
        "ID", "WHEN", "HOST", "MODEL", "PROFILE", "WORKLOAD", "TOK/S", "TTFT p50", "TPOT p50", "START",
        "REMARKS",
    ),
    least={"HOST": 6, "MODEL": 8, "PROFILE": 6, "WORKLOAD": 10, "REMARKS": 9},
    dropped=("HOST", "PROFILE", "WHEN", "MODEL", "WORKLOAD"),
    right=frozenset(("TOK/S", "TTFT p50", "TPOT p50")),
)  # fmt: skip
LOADS = Columns(
    head=("BEGAN", "HOST", "ENGINE", "MODEL", "TOOK", "OUTCOME", "WORST VERDICT", "REASON"),
    least={"HOST": 6, "MODEL": 8, "REASON": 8},
    dropped=("ENGINE", "HOST", "REASON", "MODEL"),
    right=frozenset(("TOOK",)),
)
_DAYS_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Filters:
    """Which runs to list, as it was written on the command line; None is any."""

    host: str | None = None
    model: str | None = None
    profile: str | None = None
    since: str | None = None
    newest: str | None = None


def run(filters: Filters, path: Path, *, json_wanted: bool) -> int:
    """List the runs; return 0. Raises UsageFault."""
    newest = _count(filters.newest, 200)
    since_s = None if filters.since is None else since_wall_s(filters.since, time.time())
    ledger = Ledger(path, write=False)
    try:
        entries = ledger.runs(
            newest=newest,
            host=filters.host,
            model=filters.model,
            profile=filters.profile,
            since_wall_s=since_s,
        )
        starts, marked = ledger.instance_numbers(), {each.id for each in ledger.baselines()}
    except LedgerFault as fault:
        raise UsageFault(str(fault)) from None
    _tell(ledger, "" if entries else "no run is kept that fits; tminus bench makes one")
    if json_wanted:
        _write(json.dumps(run_object(each, starts.get(each.id), each.id in marked)) for each in entries)
    elif entries:
        _write(runs_table(entries, starts, marked, _columns()))
    return 0


def show(name: str, path: Path, *, json_wanted: bool) -> int:
    """Print everything of one run; return 0. Raises UsageFault."""
    ledger = Ledger(path, write=False)
    try:
        entry = ledger.run(name)
        number, marked = (
            ledger.instance_numbers().get(entry.id),
            entry.id in {e.id for e in ledger.baselines()},
        )
    except LedgerFault as fault:
        raise UsageFault(str(fault)) from None
    _tell(ledger)
    if json_wanted:
        whole = run_object(entry, number, marked) | {"entry": msgspec.to_builtins(entry)}
        _write([json.dumps(whole)])
    else:
        _write(clean(line) for line in run_lines(entry, number, baseline=marked))
    return 0


def loads(newest: str | None, path: Path, *, json_wanted: bool) -> int:
    """List the loads, ready or not; return 0. Raises UsageFault."""
    ledger = Ledger(path, write=False)
    try:
        entries = ledger.loads(_count(newest, 50))
    except LedgerFault as fault:
        raise UsageFault(str(fault)) from None
    _tell(ledger, "" if entries else "no load is kept yet; each watch keeps the ones that it sees")
    if json_wanted:
        _write(msgspec.json.encode(entry).decode() for entry in entries)
    elif entries:
        _write(LOADS.lines([_load_cells(entry) for entry in entries], _columns()))
    return 0


def delete(name: str, path: Path) -> int:
    """Delete one run and say which; return 0. Raises UsageFault."""
    ledger = Ledger(path)
    try:
        entry = ledger.run(name)
        baseline = entry.id in {each.id for each in ledger.baselines()}
        ledger.delete(entry.id)
    except LedgerFault as fault:
        raise UsageFault(str(fault)) from None
    _tell(ledger)
    was = ", which was a baseline" if baseline else ""
    _write([clean(f"deleted run {entry.id} of {when(entry.made_wall_s)}{was}: {entry.workload}")])
    return 0


def since_wall_s(text: str, now_s: float) -> float:
    """Return the time of ``3d``, ``90m`` (so long ago) or of a local date, ``2026-11-30``, or with a time."""
    days = text.removesuffix("d")
    try:
        if days != text and days.isascii() and days.isdigit():
            return now_s - int(days) * _DAYS_S
        if "-" not in text:
            return now_s - parse.duration_s(text)
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        raise UsageFault(
            f"--since {text!r} is no time: write 90m, 12h, 3d, 2026-11-30 or '2026-11-30 14:00'"
        ) from None


def run_object(entry: RunEntry, start_number: int | None, baseline: bool) -> dict[str, object]:
    """Return the object that ``tminus runs --json`` prints for a run; None (null) is what is not known."""
    return {
        "id": entry.id,
        "made_wall_s": entry.made_wall_s,
        "host": entry.host,
        "origin": entry.origin,
        "baseline": baseline,
        "configuration": entry.fingerprint.digest or None,
        "environment_known": entry.fingerprint.environment_known,
        "instance": entry.instance.key or None,
        "instance_number": start_number,
        "ready_for_s": entry.ready_for_s,
        **json_object(entry.result, figures_of(entry.result)),
        "workload": entry.workload,
    }


def runs_table(
    entries: Sequence[RunEntry], starts: dict[str, int], marked: set[str], columns: int | None
) -> list[str]:
    """Return the runs as lines, a head first and what START and * mean last."""
    rows = [_cells(entry, starts.get(entry.id), entry.id in marked) for entry in entries]
    legend = "times in ms; START: configuration#start of its server; *: baseline"
    return [*RUNS.lines(rows, columns), legend]


def when(wall_s: float) -> str:
    """Return a time of the calendar, as far as one goes: a file may claim anything."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(min(max(0.0, wall_s), 253e9)))


def remarks(entry: RunEntry) -> list[str]:
    """Return in a few words each what speaks against a run: cut short, failures, the client its limit."""
    result = entry.result
    found = [] if result.outcome == "done" else [result.outcome]
    if result.failed:
        found.append(f"{result.failed} failed")
    if client_bound(result):
        found.append("client-bound")
    if result.others_running:
        found.append("others used it")
    return found if entry.origin == "tminus" else [*found, f"from {entry.origin}"]


def start_text(entry: RunEntry, number: int | None) -> str:
    """Return on which start of which configuration a run was made: "3fa1#2"."""
    digest = entry.fingerprint.digest[:4]
    return f"{digest}#{'?' if number is None else number}" if digest else UNKNOWN


def _cells(entry: RunEntry, number: int | None, marked: bool) -> tuple[str, ...]:
    result = entry.result
    model = (result.model or result.spec.model or UNKNOWN).rstrip("/").rpartition("/")[2]
    cells = (
        entry.id + ("*" if marked else ""),
        when(entry.made_wall_s)[2:],
        entry.host or UNKNOWN,
        model,
        result.spec.profile or UNKNOWN,
        entry.workload,
        figure(result.output_tokens_per_s),
        figure(result.ttft_ms.p50),
        figure(result.tpot_ms.p50, 2),
        start_text(entry, number),
        ", ".join(remarks(entry)),
    )
    return tuple(clean(cell) for cell in cells)


def figure(value: float | None, digits: int = 1) -> str:
    """Return a figure as a report of a benchmark shows it."""
    return UNKNOWN if value is None else f"{value:,.{digits}f}"


def _load_cells(entry: LoadEntry) -> tuple[str, ...]:
    named = {name: entry.fingerprint.setting(name) for name in ("engine", "model")}
    engine, model = (each.value or UNKNOWN if each else UNKNOWN for each in named.values())
    found = max(entry.verdicts, key=lambda each: (_severity(each), each.seconds), default=None)
    worst = found if found is not None and _severity(found) else None
    cells = (
        when(entry.began_wall_s)[2:],
        entry.host or UNKNOWN,
        engine,
        model.rstrip("/").rpartition("/")[2],
        UNKNOWN if entry.ready_s is None else clock_text(entry.ready_s),
        entry.outcome,
        UNKNOWN if worst is None else f"{worst.word} {clock_text(worst.seconds)}",
        entry.sentence,
    )
    return tuple(clean(cell) for cell in cells)


def _severity(verdict: VerdictTime) -> int:
    return next((severity for word, severity in SEVERITY.items() if word == verdict.word), 0)


def _count(text: str | None, usual: int) -> int:
    try:
        return usual if text is None else parse.whole(text)
    except parse.Wrong as error:
        raise UsageFault(f"--newest {error}") from None


def _tell(ledger: Ledger, sentence: str = "") -> None:
    for each in (ledger.notice(), sentence):
        if each:
            start.say(clean(each))


def _columns() -> int | None:
    """Return how wide a line may be; None where no terminal shows it."""
    return max(NARROW, shutil.get_terminal_size((USUAL, 24)).columns) if sys.stdout.isatty() else None


def _write(lines: Iterable[str]) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode(encoding, "replace"))
    sys.stdout.buffer.flush()
