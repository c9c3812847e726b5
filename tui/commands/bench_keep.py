"""Keeping a benchmark in the ledger, and what the ledger says of it."""

import socket
import time

from tui.bench.workload import workload_of
from tui.benchmark import BenchRecord, BenchResult
from tui.commands import start
from tui.runs.entry import RunEntry
from tui.runs.gathering import fingerprint_of, instance_of
from tui.runs.ledger import Ledger
from tui.watch.meaning import Meaning


def keep(
    result: BenchResult, records: tuple[BenchRecord, ...], state: Meaning, *, write: bool = True
) -> list[str]:
    """Keep a run with its records; return what a person is told of it. Nothing is kept without ``write``.

    A run of which nothing was measured is none. May block for as long as others keep the ledger locked.
    """
    if not write or result.duration_s is None:
        return []
    entry = entry_of(result, records, state)
    ledger = Ledger(start.ledger_path())
    try:
        problem = ledger.add_run(entry)
        if problem:
            return [problem]
        return [f"kept as run {entry.id}; tminus baseline {entry.id} makes it the baseline"]
    finally:
        ledger.close()


def entry_of(result: BenchResult, records: tuple[BenchRecord, ...], state: Meaning) -> RunEntry:
    """Return the entry of a run, with what is known now of the server that it measured."""
    instance = instance_of(state)
    return RunEntry(
        result=result,
        workload=workload_of(result.spec),
        fingerprint=fingerprint_of(state, state.provenance),
        instance=instance,
        made_wall_s=time.time(),
        host=instance.host or socket.gethostname(),
        records=records,
    )
