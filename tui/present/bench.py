"""The benchmark pane. Definitions of the metrics: tui/agent/load/metrics.py."""

from collections.abc import Iterator

from tui.bench.client_bound import client_bound
from tui.bench.profiles import MANY
from tui.bench.report import STAGES
from tui.benchmark import BenchProgress, BenchResult, BenchSpec, Percentiles
from tui.present.bench_compared import compared_panel
from tui.present.figures import figure, latency_text
from tui.watch.bench import BenchState
from tui.watch.benching import Benching
from tui.watch.meaning import Meaning
from widgets.values import BenchPanel, BenchRow, Mood, ProfileRow

COLUMNS = ("mean", "p50", "p90", "p99")
SWEEP_COLUMNS = ("tok/s", "TTFT p50", "TPOT", "in flight")


def bench_panel(state: Meaning) -> BenchPanel:
    """Return the pane: what runs, else the last result, else what would start one."""
    bench = state.bench
    if bench.running is not None:
        return _running(bench)
    if bench.results:
        return compared_panel(_result(bench), bench)
    mood = Mood.WAITING if bench.armed else Mood.IDLE
    return BenchPanel(_idle_text(bench, ready=state.ready), mood, pending=bench.armed)


def profile_rows(benching: Benching) -> tuple[ProfileRow, ...]:
    """Return the workloads that a person can choose from."""
    return tuple(
        ProfileRow(each.name, each.about, each.words, chosen=each is benching.chosen)
        for each in benching.workloads.values()
    )


def _idle_text(bench: BenchState, *, ready: bool) -> str:
    named = f" {bench.profile}" if bench.profile else ""
    if bench.armed:
        return f"armed:{named} will fire when the server is ready; Esc disarms it"
    return f"no run yet: b runs{named or ' one'}" if ready else "no run yet: b arms it until ready"


# While it runs.


def _running(bench: BenchState) -> BenchPanel:
    progress, name = bench.progress, _name(bench.spec)
    if progress is None:
        return BenchPanel(f"{name}starting", Mood.ACTIVE, pending=True)
    words = [f"{name}{STAGES[progress.stage]}", *_live(progress)]
    failed = (f"{progress.failed} failed",) if progress.failed else ()
    mood = Mood.WARNING if progress.failed else Mood.ACTIVE
    return BenchPanel(", ".join(words), mood, True, _fraction(progress), warnings=failed)


def _name(spec: BenchSpec | None) -> str:
    if spec is None or not (spec.profile or spec.levels > 1):
        return ""
    level = f" {spec.level} of {spec.levels}" if spec.levels > 1 else ""
    return f"{spec.profile or 'sweep'}{level}: "


def _live(progress: BenchProgress) -> Iterator[str]:
    if progress.output_tokens and progress.output_tokens_per_s is not None:
        yield f"{figure(progress.output_tokens_per_s)} tok/s"
    if progress.ttft_ms is not None:
        yield f"TTFT {latency_text(progress.ttft_ms)}"
    if progress.itl_ms is not None:
        yield f"ITL {latency_text(progress.itl_ms)}"
    done = progress.completed + progress.failed
    of = "" if progress.requests >= MANY else f" of {progress.requests}"  # a duration alone ends it
    yield f"{done}{of} {'request' if (progress.requests if of else done) == 1 else 'requests'}"
    yield f"{progress.in_flight} in flight"


def _fraction(progress: BenchProgress) -> float | None:
    if progress.stage != "measure":
        return None
    if progress.fraction is not None:
        return min(1.0, progress.fraction)
    done = progress.completed + progress.failed
    return min(1.0, done / progress.requests) if progress.requests > 0 else None


# When it is done.


def _result(bench: BenchState) -> BenchPanel:
    result, series = bench.results[-1], bench.series
    several = len(series) > 1
    rows = tuple(_level(each) for each in series) if several else tuple(_latencies(result))
    notes = (*_notes(result), *(("armed: fires when the next server is ready",) if bench.armed else ()))
    return BenchPanel(
        _name(result.spec) + headline(result),
        _mood(result),
        bench.armed,
        None,
        (SWEEP_COLUMNS if several else COLUMNS) if rows else (),
        rows,
        notes,
        warnings=tuple(_warnings(result)),
    )


def _mood(result: BenchResult) -> Mood:
    if result.fault == "busy":
        return Mood.WARNING
    moods = {"done": Mood.GOOD, "failed": Mood.BAD, "cancelled": Mood.WARNING, "cut": Mood.WARNING}
    return Mood.WARNING if result.outcome == "done" and result.failed else moods[result.outcome]


def headline(result: BenchResult) -> str:
    """Return a result in one line."""
    if result.fault == "busy":
        return f"not run: {result.sentence}; b runs it all the same"
    if result.outcome != "done" or result.output_tokens_per_s is None:
        return f"{result.outcome}: {result.sentence}" if result.sentence else result.outcome
    total = result.completed + result.failed
    return f"{figure(result.output_tokens_per_s)} output tokens/s, {result.completed} of {total} requests"


def _latencies(result: BenchResult) -> Iterator[BenchRow]:
    reasons = result.ttfo_ms.samples and result.ttfo_ms != result.ttft_ms
    named = (
        ("TTFT ms", result.ttft_ms),
        *((("TTFO ms", result.ttfo_ms),) if reasons else ()),
        ("ITL ms", result.itl_ms),
        ("TPOT ms", result.tpot_ms),
        ("E2E ms", result.e2e_ms),
    )
    for name, values in named:
        if values.samples:
            yield BenchRow(name, _cells(values))


def _cells(values: Percentiles) -> tuple[str, ...]:
    return tuple(figure(value) for value in (values.mean, values.p50, values.p90, values.p99))


def _level(result: BenchResult) -> BenchRow:
    spec = result.spec
    name = str(spec.concurrency) if spec.rate_per_s is None else f"{spec.rate_per_s:g}/s"
    return BenchRow(
        name if result.completed and result.outcome != "cut" else f"{name} {result.outcome}",
        (
            figure(result.output_tokens_per_s),
            figure(result.ttft_ms.p50),
            figure(result.tpot_ms.mean),
            figure(result.achieved_concurrency),
        ),
    )


def _warnings(result: BenchResult) -> Iterator[str]:
    if result.failures:
        yield "failed: " + ", ".join(f"{name} {count}" for name, count in sorted(result.failures.items()))
    if bound := client_bound(result):
        yield f"client-bound: {bound}, so the server may be faster"
    if result.warmup is not None and result.warmup.agreed is False:
        yield f"the rate had not settled after {result.warmup.seconds:.0f} s of warm-up"
    if result.others_running:
        yield f"{result.others_running:.0f} requests of others ran at its start"
    if result.tokens_counted_by == "chunks":
        yield "tokens counted by chunks: the server gave no usage"


def _notes(result: BenchResult) -> Iterator[str]:
    if rates := _rates(result):
        yield rates
    spec = result.spec
    where = "beside the server" if result.measured_on == "server_host" else "from this machine"
    measured = f", measured {where}" if result.completed else " were asked for"
    what = f"data set {spec.data}" if spec.data else f"{spec.input_tokens} in, {spec.output_tokens} out"
    count = "" if spec.requests >= MANY else f"{spec.requests} "
    yield f"{count}requests of {what}{measured}"


def _rates(result: BenchResult) -> str:
    words: list[str] = []
    if result.steady_tokens_per_s is not None:
        words.append(f"steady {figure(result.steady_tokens_per_s)} tok/s")
    if result.requests_per_s is not None:
        words.append(f"{figure(result.requests_per_s)} requests/s")
    if result.achieved_concurrency is not None:
        words.append(f"concurrency {figure(result.achieved_concurrency)} of {result.spec.concurrency}")
    if result.goodput_per_s is not None:
        words.append(f"goodput {figure(result.goodput_per_s)}/s")
    if result.duration_s is not None:
        words.append(f"{figure(result.duration_s)} s")
    return ", ".join(words)
