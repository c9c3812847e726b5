"""The benchmark's part of the event vocabulary: what is asked for, how far it is, what came of it.

Definitions of the metrics: tui/agent/load/metrics.py. ``None`` means "not known" and is never shown as 0.
"""

from typing import Literal

import msgspec

from tui.agent import wire
from tui.event_base import Event, Part


class Percentiles(Part, frozen=True, kw_only=True):
    """Milliseconds. ``p99`` is None under 100 samples, all None without one."""

    mean: float | None
    p50: float | None
    p90: float | None
    p99: float | None
    samples: int


NO_SAMPLES = Percentiles(mean=None, p50=None, p90=None, p99=None, samples=0)


class Limits(Part, frozen=True, kw_only=True):
    """What a request must keep to count as goodput, in milliseconds; None is not limited."""

    ttft_ms: float | None = None
    tpot_ms: float | None = None
    e2e_ms: float | None = None


class BenchSpec(Part, frozen=True, kw_only=True):
    """A workload of streaming chat completions.

    ``arrival`` closed keeps ``concurrency`` streams busy. constant and poisson send ``rate_per_s`` requests a
    second whatever became of those before; ``concurrency`` is then the most in flight, and a request that
    finds no free slot waits in its own TTFT. The run ends after ``requests``, or starts none after
    ``duration_s`` where that is given and comes first. ``warmup_s`` is the longest warm-up, 0 none.

    ``turns`` is how many requests a conversation has, each with all before it in its prompt.
    ``prefix_tokens`` of the ``input_tokens`` are the same in every prompt of the run. ``data`` names the data
    set that the prompts come from ("" for made ones; then lengths are ``input_tokens`` and
    ``output_tokens``), with a digest of its content.

    ``despite_load`` measures though others use the server. ``series`` is shared by the ``levels`` runs of one
    sweep, of which this is number ``level``, from 1.
    """

    url: str
    model: str | None
    concurrency: int
    requests: int
    input_tokens: int
    output_tokens: int
    timeout_s: float = 300.0
    insecure: bool = False
    ca_file: str | None = None
    seed: int = 0
    profile: str = ""
    arrival: Literal["closed", "constant", "poisson"] = "closed"
    rate_per_s: float | None = None
    duration_s: float | None = None
    warmup_s: float = 30.0
    turns: int = 1
    prefix_tokens: int = 0
    data: str = ""
    flush_cache: bool = False
    despite_load: bool = False
    limits: Limits | None = None
    series: str = ""
    level: int = 1
    levels: int = 1


class BenchChoice(Event, frozen=True, kw_only=True, tag=wire.BENCH_CHOICE):
    """What the person chose to do with the benchmark.

    ``chosen`` names the ``profile`` that will be fired; ``run`` and ``spec`` belong to one that was started.
    """

    choice: Literal["armed", "disarmed", "started", "chosen"]
    run: str | None = None
    profile: str = ""
    spec: BenchSpec | None = None


class BenchProgress(Event, frozen=True, kw_only=True, tag=wire.BENCH_PROGRESS):
    """A benchmark on its way, twice a second at most.

    ``requests`` is how many there will be at most. ``ttft_ms`` and ``itl_ms`` are medians of what ended in
    the last seconds, None without any.
    """

    run: str
    stage: Literal["preflight", "warmup", "measure"]
    completed: int
    failed: int
    in_flight: int
    requests: int
    output_tokens: int
    elapsed_s: float
    output_tokens_per_s: float | None
    fraction: float | None = None
    ttft_ms: float | None = None
    itl_ms: float | None = None


class BenchRecord(msgspec.Struct, frozen=True, array_like=True):
    """One measured request. Times are from the start of the measurement; None for what did not come.

    An outside client may have kept neither ``sent_s`` nor ``end_ms`` nor ``chunks``: None as well.

    ``fault`` is its class of failure, "" for a success (tui/agent/load/judge.py lists them).
    """

    sent_s: float | None
    ttft_ms: float | None
    ttfo_ms: float | None
    last_ms: float | None
    end_ms: float | None
    output_tokens: int | None
    input_tokens: int | None
    chunks: int | None
    fault: str = ""


class BenchRecords(Event, frozen=True, kw_only=True, tag=wire.BENCH_RECORDS):
    """Some of a run's measured requests, before its result, in the order of their ends."""

    run: str
    records: list[BenchRecord]


class Warmup(Part, frozen=True, kw_only=True):
    """What came before the measurement. ``agreed``: two windows showed one rate; None: none was asked."""

    requests: int
    seconds: float
    agreed: bool | None


class Counter(Part, frozen=True, kw_only=True):
    """One of the engine's own counters, summed over its labels, at the measurement's start and end."""

    name: str
    before: float | None
    after: float | None


class Spilled(Part, frozen=True, kw_only=True):
    """What the warm-up had asked and got during the measurement: the engine's counters hold it, too.

    ``tokens`` is the whole output of those requests, ``arrived`` what of it came after the beginning.
    """

    requests: int
    tokens: int
    arrived: int


class BenchResult(Event, frozen=True, kw_only=True, tag=wire.BENCH_RESULT):
    """A finished (or failed, or cancelled, or cut) benchmark. Definitions: tui/agent/load/metrics.py.

    A run is cut when its link is lost: what was counted of it is known, no figure.

    ``fault`` is the class of what ended a run without figures: a failure's class, busy (others use the
    server), "" otherwise. ``first_ttft_ms`` is that of the very first request, before any warm-up.
    ``achieved_concurrency`` is the mean over the whole measurement. ``steady_s`` is the part of it in which
    all streams were busy, ``steady_tokens_per_s`` the rate of tokens that arrived in it.
    ``lag_ms`` is how late the generator's own event loop ran; ``late_ms`` how late open-loop requests were
    sent. ``others_running`` is how many requests of others the server told of just before. ``flush`` says
    whether the prefix cache was emptied: not_asked, confirmed (its counters say so), unconfirmed, refused.
    ``records_dropped`` requests are in the figures and have no record. Of a run that was imported,
    ``measured_on`` is elsewhere, and ``failed_known`` False where its client kept no count of failures.
    """

    run: str
    outcome: Literal["done", "failed", "cancelled", "cut"]
    sentence: str
    spec: BenchSpec
    model: str | None
    completed: int
    failed: int
    failures: dict[str, int]
    ttft_ms: Percentiles
    itl_ms: Percentiles
    tpot_ms: Percentiles
    e2e_ms: Percentiles
    output_tokens: int | None
    input_tokens: int | None
    tokens_counted_by: Literal["usage", "chunks"] | None
    duration_s: float | None
    output_tokens_per_s: float | None
    requests_per_s: float | None
    achieved_concurrency: float | None
    client_cpu_fraction: float | None
    measured_on: Literal["server_host", "this_machine", "elsewhere"]
    fault: str = ""
    ttfo_ms: Percentiles = NO_SAMPLES
    lag_ms: Percentiles = NO_SAMPLES
    late_ms: Percentiles = NO_SAMPLES
    chunks: int | None = None
    ended_early: int = 0
    steady_s: float | None = None
    steady_tokens_per_s: float | None = None
    goodput_per_s: float | None = None
    good: int | None = None
    warmup: Warmup | None = None
    first_ttft_ms: float | None = None
    connect_ms: float | None = None
    counters: tuple[Counter, ...] = ()
    spilled: Spilled | None = None
    others_running: float | None = None
    flush: Literal["not_asked", "confirmed", "unconfirmed", "refused"] = "not_asked"
    flush_sentence: str = ""
    records_dropped: int = 0
    event_loop: Literal["asyncio", "uvloop"] | None = None
    failed_known: bool = True


# The comparison with another run.

Word = Literal["better", "worse", "no difference seen", "cannot tell"]


class Difference(Part, frozen=True, kw_only=True):
    """A setting in which two fingerprints differ. A value None is unset, or not known where that says so."""

    name: str
    a: str | None
    b: str | None
    a_known: bool = True
    b_known: bool = True


class MetricRatio(Part, frozen=True, kw_only=True):
    """One metric of B over that of A, with its interval; ``word`` says what B is.

    ``a`` and ``b`` are geometric means over instances. ``low`` and ``high`` hold the true ratio at ``level``
    and are None with fewer than two a side. ``noise`` is the floor as a fraction, ``needed`` how many more
    instances would settle it: 0 where it is settled, None where that is not known.
    """

    metric: str
    unit: str
    a: float
    b: float
    ratio: float
    low: float | None
    high: float | None
    word: Word
    a_instances: int = 0
    b_instances: int = 0
    level: float = 0.95
    higher_is_better: bool = True
    noise: float | None = None
    needed: int | None = None


class BenchComparison(Event, frozen=True, kw_only=True, tag=wire.BENCH_COMPARISON):
    """What the ledger says of run B, just finished, against the baseline A. ``against`` "": there is none.

    ``blockers`` are reasons in words for which B can not be called better. ``needed`` is how many more
    instances would settle it, None where that is not known. ``noise`` is the floor as a fraction, and
    ``noise_source`` where that comes from. ``notes`` are doubts that block nothing, ``due`` says which of the
    two is to be measured next and why. ``metric`` is the one that the word goes by. ``kept`` is False where
    the run is not in the ledger.
    """

    run: str
    against: str
    against_wall_s: float | None
    word: Word
    sentence: str
    ratios: tuple[MetricRatio, ...] = ()
    differences: tuple[Difference, ...] = ()
    a_instances: int = 0
    b_instances: int = 0
    noise: float | None = None
    blockers: tuple[str, ...] = ()
    needed: int | None = None
    metric: str = ""
    noise_source: str = ""
    notes: tuple[str, ...] = ()
    due: str = ""
    kept: bool = True
