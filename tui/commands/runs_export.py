"""``tminus runs export ID...``: runs of the ledger as CSV, JSON, Markdown or one page of HTML."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tui import __version__, parse
from tui.benchmark import BenchComparison
from tui.replay.evidence import Evidence
from tui.runs.against import compare_runs, comparison_of
from tui.runs.entry import RunEntry
from tui.runs.exporting.exchange import json_text
from tui.runs.exporting.markdown import markdown
from tui.runs.exporting.selection import Selection, pair
from tui.runs.exporting.table import requests_csv, runs_csv
from tui.runs.ledger import Ledger, LedgerFault
from tui.settings import UsageFault
from tui.transport.clean import clean

FORMATS = ("csv", "json", "md", "html")
LOADS = 2000
"""So many loads are looked through for those of the runs' servers."""


@dataclass(frozen=True, slots=True)
class Export:
    """What to export, as it was written on the command line."""

    runs: Sequence[str]
    form: str | None = None
    output: str | None = None
    requests: bool = False
    recording: str | None = None
    force: bool = False


def run(wanted: Export, path: Path) -> int:
    """Write the runs of the ledger at ``path`` to a file or to the output; return 0. Raises UsageFault."""
    form = _form(wanted)
    output = None if wanted.output is None else parse.local_path(wanted.output)
    if output is not None and os.path.lexists(output) and not wanted.force:
        raise UsageFault(f"{output} exists already and is kept: give another --output, or --force")
    text = _text(form, wanted, Ledger(path, write=False))
    data = text.encode("utf-8", "backslashreplace")
    if output is None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return 0
    try:
        _write(output, data, replace=wanted.force)
    except OSError as error:
        raise UsageFault(f"{output} cannot be written: {error.strerror}") from None
    sys.stdout.write(f"wrote {clean(str(output))}\n")
    return 0


def _write(output: Path, data: bytes, *, replace: bool) -> None:
    """Write a file whole or not at all; one that is replaced stays as it was until then. Raises OSError."""
    beside = output.with_name(f".{output.name}.{os.getpid()}") if replace and output.is_file() else output
    try:
        with beside.open("xb" if beside is not output or not replace else "wb") as file:
            file.write(data)
        if beside is not output:
            beside.replace(output)
    except OSError:
        if beside is not output:
            beside.unlink(missing_ok=True)
        raise


def _form(wanted: Export) -> str:
    """Return the format: the one that is named, else that of the output's name, else Markdown."""
    ending = "" if wanted.output is None else Path(wanted.output).suffix.removeprefix(".").lower()
    form = wanted.form or (ending if ending in FORMATS else "md")
    if form not in FORMATS:
        raise UsageFault(f"--format {form!r} is none: {', '.join(FORMATS)}")
    if wanted.requests and form != "csv":
        raise UsageFault(
            "--requests is for --format csv: JSON has every request anyway, the others have none"
        )
    if wanted.recording is not None and form != "html":
        raise UsageFault("--recording is for --format html, which shows its GPUs")
    return form


def _text(form: str, wanted: Export, ledger: Ledger) -> str:
    try:
        named = list({entry.id: entry for entry in map(ledger.run, wanted.runs)}.values())
        entries = sorted(named, key=lambda entry: entry.made_wall_s)
        if form == "csv":
            return requests_csv(entries) if wanted.requests else runs_csv(entries)
        if form == "json":
            return json_text(entries)
        selection = Selection(entries, ledger.loads(LOADS), _compared(ledger, named))
    except LedgerFault as fault:
        raise UsageFault(str(fault)) from None
    return markdown(selection) if form == "md" else _html(selection, wanted.recording)


def _compared(ledger: Ledger, named: Sequence[RunEntry]) -> BenchComparison | None:
    """Return B against A, in the order in which they were named, where there are two configurations."""
    sides = pair(named)
    if sides is None:
        return None
    a, b = sides[0][-1], sides[1][-1]
    return comparison_of(a, b, compare_runs(ledger, a, b))


def _html(selection: Selection, recording: str | None) -> str:
    from tui.replay.runs_report import runs_html

    return runs_html(selection, None if recording is None else _evidence(recording), __version__)


def _evidence(recording: str) -> Evidence:
    """Return what a recording tells, with its secrets hidden. Raises UsageFault."""
    from tui.commands.export import prepared
    from tui.commands.start import recordings_folder
    from tui.journal.reader import RecordingFault
    from tui.replay.evidence import gather
    from tui.replay.opening import found

    try:
        source = prepared(found(recording, recordings_folder()), mask=True, anonymise=False)
        return gather(source.tape, source.header, lambda _: None)
    except RecordingFault as fault:
        raise UsageFault(str(fault)) from None
