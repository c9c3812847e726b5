"""``tminus runs import FILE...``: what other clients measured, as runs of the ledger."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tui import parse
from tui.runs.entry import RunEntry
from tui.runs.importing.entry import Wanted
from tui.runs.importing.files import entries
from tui.runs.importing.reading import ImportFault, short
from tui.runs.ledger import Ledger, LedgerFault
from tui.settings import UsageFault


@dataclass(frozen=True, slots=True)
class Import:
    """What to import, as it was written on the command line."""

    files: Sequence[str]
    host: str | None = None
    label: str | None = None


def run(wanted: Import, path: Path) -> int:
    """Keep the runs of the files in the ledger at ``path``, all or none; return 0. Raises UsageFault."""
    try:
        own = Wanted(host=short(wanted.host or ""), label=short(wanted.label or ""))
        found = entries([parse.local_path(name) for name in wanted.files], own)
        new = set(Ledger(path).add_runs(found))
    except (ImportFault, LedgerFault) as fault:
        raise UsageFault(str(fault)) from None
    lines = [_told(entry, new=entry.id in new) for entry in found]
    lines.append(f"{len(new)} of {len(found)} runs are new")
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode(encoding, "replace"))
    sys.stdout.buffer.flush()
    return 0


def _told(entry: RunEntry, *, new: bool) -> str:
    result = entry.result
    rate = result.output_tokens_per_s
    speed = "tokens/s not known" if rate is None else f"{rate:,.1f} tokens/s"
    mark = "" if new else " (was there already)"
    return f"{entry.id}{mark}  {speed}  {entry.workload}\n  {result.sentence}"
