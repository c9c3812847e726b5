"""The benchmark pane. Definitions of the metrics: tui/agent/load/metrics.py."""

from tui.benchmark import BenchProgress, BenchResult, Percentiles
from tui.present.figures import figure
from tui.watch.bench import BenchState
from tui.watch.meaning import Meaning
from widgets.values import BenchPanel, BenchRow, Mood

COLUMNS = ("mean", "p50", "p90", "p99")
_STAGES = {"preflight": "first request", "warmup": "warming up", "measure": "measuring"}


def bench_panel(state: Meaning) -> BenchPanel:
    """Return the pane: what runs, else the last result, else what would start one."""
    bench = state.bench
    if bench.running is not None:
        return _running(bench.progress)
    if bench.results:
        return _result(bench.results[-1], armed=bench.armed)
    return BenchPanel(_idle_text(bench, ready=state.ready), Mood.WAITING if bench.armed else Mood.IDLE)


def _idle_text(bench: BenchState, *, ready: bool) -> str:
    if bench.armed:
        return "armed: fires when the server is ready"
    return "no run yet" if ready else "no run yet: it can be armed before the server is ready"


def _running(progress: BenchProgress | None) -> BenchPanel:
    if progress is None:
        return BenchPanel("starting", Mood.ACTIVE)
    done = progress.completed + progress.failed
    noun = "request" if progress.requests == 1 else "requests"
    words = [f"{_STAGES[progress.stage]}: {done} of {progress.requests} {noun}"]
    if progress.failed:
        words.append(f"{progress.failed} failed")
    if progress.output_tokens and progress.output_tokens_per_s is not None:
        words.append(f"{figure(progress.output_tokens_per_s)} output tokens/s")
    measuring = progress.stage == "measure" and progress.requests > 0
    fraction = min(1.0, done / progress.requests) if measuring else None
    return BenchPanel(", ".join(words), Mood.ACTIVE, fraction)


def _result(result: BenchResult, *, armed: bool) -> BenchPanel:
    moods = {"done": Mood.GOOD, "failed": Mood.BAD, "cancelled": Mood.WARNING}
    mood = Mood.WARNING if result.outcome == "done" and result.failed else moods[result.outcome]
    rows = tuple(
        _row(name, values)
        for name, values in (
            ("TTFT ms", result.ttft_ms),
            ("ITL ms", result.itl_ms),
            ("TPOT ms", result.tpot_ms),
            ("E2E ms", result.e2e_ms),
        )
        if values.samples
    )
    notes = _notes(result) + (("armed: fires when the next server is ready",) if armed else ())
    return BenchPanel(headline(result), mood, None, COLUMNS if rows else (), rows, notes)


def headline(result: BenchResult) -> str:
    """Return a result in one line."""
    if result.outcome != "done" or result.output_tokens_per_s is None:
        return f"{result.outcome}: {result.sentence}" if result.sentence else result.outcome
    total = result.completed + result.failed
    return f"{figure(result.output_tokens_per_s)} output tokens/s, {result.completed} of {total} requests"


def _row(name: str, values: Percentiles) -> BenchRow:
    return BenchRow(name, tuple(figure(value) for value in (values.mean, values.p50, values.p90, values.p99)))


def _notes(result: BenchResult) -> tuple[str, ...]:
    spec = result.spec
    where = "beside the server" if result.measured_on == "server_host" else "from this machine"
    measured = f", measured {where}" if result.completed else " were asked for"
    notes = [
        f"{spec.requests} requests of {spec.input_tokens} in, {spec.output_tokens} out{measured}",
        _rates(result),
        ", ".join(f"{name}: {count}" for name, count in sorted(result.failures.items())),
    ]
    if result.tokens_counted_by == "chunks":
        notes.append("tokens counted by chunks: the server gave no usage")
    return tuple(note for note in notes if note)


def _rates(result: BenchResult) -> str:
    words: list[str] = []
    if result.requests_per_s is not None:
        words.append(f"{figure(result.requests_per_s)} requests/s")
    if result.achieved_concurrency is not None:
        words.append(f"concurrency {figure(result.achieved_concurrency)} of {result.spec.concurrency}")
    if result.duration_s is not None:
        words.append(f"{figure(result.duration_s)} s")
    return ", ".join(words)
