"""A run of the ledger from what one client's file tells."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from tui.benchmark import BenchRecord, BenchResult
from tui.runs.entry import Fingerprint, Instance, RunEntry
from tui.runs.importing.reading import Found
from tui.runs.importing.requests import Times, failures_of, known, per_second
from tui.runs.importing.workload import Asked


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person adds to a file: the server's host, and a name of the configuration; "" where not."""

    host: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Outside:
    """A run as a client tells it, in this project's definitions. None is not known.

    ``notes`` say what could not be translated, each in a few words. ``failed`` None: no count was kept.
    """

    origin: Literal["sglang", "vllm", "aiperf"]
    client: str
    made_wall_s: float
    asked: Asked
    fingerprint: Fingerprint
    model: str | None
    completed: int
    failed: int | None
    times: Times
    duration_s: float | None
    output_tokens: int | None
    counted_by_usage: bool
    input_tokens: int | None = None
    concurrency: float | None = None
    url: str = ""
    failures: dict[str, int] = field(default_factory=dict[str, int])
    records: tuple[BenchRecord, ...] = ()
    cancelled: bool = False
    notes: Sequence[str] = ()


def entry_of(found: Found, run: Outside, wanted: Wanted) -> RunEntry:
    """Return the run for the ledger; its id is of its content, so that it is the same run again."""
    return RunEntry(
        result=_result(identity(run.origin, found.fields), run),
        workload=run.asked.words,
        fingerprint=run.fingerprint,
        instance=Instance(host=wanted.host, pid=None, started_wall_s=None),
        made_wall_s=run.made_wall_s,
        host=wanted.host,
        origin=run.origin,
        records=run.records,
    )


def identity(origin: str, fields: dict[str, object]) -> str:
    """Return eight hexadecimal digits of a run's content."""
    whole = json.dumps([origin, fields], sort_keys=True, default=str)
    return hashlib.sha256(whole.encode("utf-8", "backslashreplace")).hexdigest()[:8]


def _result(run_id: str, run: Outside) -> BenchResult:
    failures = run.failures or failures_of(run.records)
    duration_s = known(run.duration_s)
    return BenchResult(
        mono_s=0.0,
        wall_s=run.made_wall_s,
        run=run_id,
        outcome="cancelled" if run.cancelled else "done" if run.completed else "failed",
        sentence="; ".join([f"measured by {run.client}", *run.notes]),
        spec=run.asked.spec(run.url, run.model),
        model=run.model,
        completed=run.completed,
        failed=run.failed or 0,
        failures=failures,
        ttft_ms=run.times.ttft_ms,
        ttfo_ms=run.times.ttfo_ms,
        itl_ms=run.times.itl_ms,
        tpot_ms=run.times.tpot_ms,
        e2e_ms=run.times.e2e_ms,
        output_tokens=run.output_tokens,
        input_tokens=run.input_tokens,
        tokens_counted_by="usage" if run.counted_by_usage and run.output_tokens is not None else None,
        duration_s=duration_s,
        output_tokens_per_s=per_second(run.output_tokens, duration_s),
        requests_per_s=per_second(run.completed, duration_s),
        achieved_concurrency=known(run.concurrency),
        client_cpu_fraction=None,
        measured_on="elsewhere",
        failed_known=run.failed is not None,
    )
