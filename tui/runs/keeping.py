"""Keeps the benchmarks and loads of one watch in the ledger, and says how a run stands to the baseline."""

from pathlib import Path

from msgspec.structs import replace

from tui.bench.workload import workload_of
from tui.benchmark import BenchComparison, BenchResult
from tui.event_base import Event
from tui.runs.against import against_baseline
from tui.runs.entry import Fingerprint, LoadEntry, RunEntry
from tui.runs.gathering import fingerprint_of, instance_of
from tui.runs.ledger import Ledger
from tui.runs.load_entry import LoadsSeen
from tui.watch.meaning import Meaning
from tui.watch.proving import prove_request

PROOF_S = 10.0
"""So long after ready a load waits to be kept for the host to tell under what it runs (it takes 0.1 s)."""


class KeptRuns:
    """The ledger as a watch uses it. Calls that may block, for as long as others write, say so."""

    def __init__(self, path: Path, *, write: bool = True) -> None:
        self._ledger = Ledger(path, write=write)
        self._loads = LoadsSeen(_fingerprint, instance_of)

    def entry(self, state: Meaning, result: BenchResult) -> RunEntry | None:
        """Return what is to be kept of a result; None for a run of which nothing was measured.

        One that failed before its load began (nobody listens, the wrong model) tells nothing of a server.
        """
        if not result.completed + result.failed or result.fault == "busy":
            return None
        if not result.completed and result.warmup is None:
            return None
        began_s = result.mono_s - (result.duration_s or 0.0)
        return RunEntry(
            result=result,
            workload=workload_of(result.spec),
            fingerprint=_fingerprint(state),
            instance=instance_of(state),
            made_wall_s=result.wall_s,
            host=instance_of(state).host,
            ready_for_s=_between(state.ready_s if state.ready_seen else None, began_s),
            records=state.bench.records_of(result.run),
        )

    def keep(self, entry: RunEntry, clocks: Event) -> tuple[BenchComparison, str]:
        """Keep a run; return how it stands to the baseline, and a sentence on what went wrong. May block."""
        fault = self._ledger.add_run(entry)
        compared = against_baseline(self._ledger, entry, clocks)
        compared = replace(compared, kept=self._ledger.writes and not fault)
        return compared, "; ".join(each for each in (fault, self._ledger.notice()) if each)

    def loads(self, state: Meaning, event: Event) -> list[LoadEntry]:
        """Return the loads that are to be kept after an event, which was taken in: most often none."""
        return [] if _awaits_proof(state, event.mono_s) else self._loads.take(state)

    def loads_left(self, state: Meaning) -> list[LoadEntry]:
        """Return the load that the watch ends in, where it has not come to its own end."""
        return self._loads.left(state)

    def keep_loads(self, loads: list[LoadEntry]) -> str:
        """Keep loads; return a sentence on what went wrong, "" for nothing. May block."""
        faults = [self._ledger.add_load(load) for load in loads]
        return "; ".join(each for each in (*faults, self._ledger.notice()) if each)


def _fingerprint(state: Meaning) -> Fingerprint:
    return fingerprint_of(state, state.provenance)


def _awaits_proof(state: Meaning, now_s: float) -> bool:
    """Tell whether a load has just become ready and its host has not yet told under what it runs."""
    if not state.ready or state.ready_s is None or prove_request(state) is None:
        return False
    return now_s - state.ready_s < PROOF_S


def _between(since_s: float | None, now_s: float | None) -> float | None:
    return None if since_s is None or now_s is None else max(0.0, now_s - since_s)
