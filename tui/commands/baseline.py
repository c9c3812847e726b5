"""``tminus baseline [ID]``: which runs others are compared with; one for each workload and model."""

import sys
from pathlib import Path

from tui.commands import start
from tui.commands.runs import figure, when
from tui.runs.entry import RunEntry
from tui.runs.ledger import Ledger, LedgerFault
from tui.settings import UsageFault
from tui.transport.clean import clean


def run(name: str | None, path: Path, *, clear: bool) -> int:
    """List the baselines, set one or take one (without a name: all) back; return 0. Raises UsageFault."""
    ledger = Ledger(path, write=clear or name is not None)
    try:
        lines = _cleared(ledger, name) if clear else _listed(ledger) if name is None else _set(ledger, name)
    except LedgerFault as fault:
        raise UsageFault(str(fault)) from None
    if ledger_says := ledger.notice():
        start.say(clean(ledger_says))
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.buffer.write("".join(f"{clean(line)}\n" for line in lines).encode(encoding, "replace"))
    sys.stdout.buffer.flush()
    return 0


def _listed(ledger: Ledger) -> list[str]:
    found = ledger.baselines()
    if not found:
        start.say("there is no baseline; tminus baseline ID makes a run one")
    return [_told(entry) for entry in found]


def _set(ledger: Ledger, name: str) -> list[str]:
    entry = ledger.run(name)
    before = ledger.baseline(entry.workload, entry.result.model or entry.result.spec.model)
    ledger.set_baseline(entry.id)
    instead = "" if before is None or before.id == entry.id else f"; it was run {before.id}"
    return [f"the baseline is now {_told(entry)}{instead}"]


def _cleared(ledger: Ledger, name: str | None) -> list[str]:
    before = ledger.baselines()
    gone = before if name is None else [each for each in before if each.id == ledger.run(name).id]
    if name is None:
        ledger.set_baseline(None)
    else:
        ledger.clear_baseline(name)
    return [f"no baseline any more: {_told(entry)}" for entry in gone] or ["there was no such baseline"]


def _told(entry: RunEntry) -> str:
    model = entry.result.model or entry.result.spec.model or "unknown model"
    speed = figure(entry.result.output_tokens_per_s)
    return f"{entry.id}  {when(entry.made_wall_s)}  {speed} tok/s  {model}, {entry.workload}"
