"""What a generator's own host adds to its figures: measured against a server that keeps a schedule.

The server is tui/agent/load/mock.py: the first token 20 ms after a request, then one each 5 ms. Its counters
say what it really did, so that only what the generator adds is left. What is allowed is what the generator
holds on two cores (TTFT, TPOT, concurrency), and the share of a core above which published clients drift.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tui.benchmark import BenchResult, BenchSpec
from tui.requests import Counters

CONCURRENCIES = (1, 16, 64)
ANSWERS = 12
"""Requests a stream: 4 s of answers of 64 tokens."""
OUTPUT_TOKENS = 64
FIRST_MS, TOKEN_MS = 20.0, 5.0
TTFT_ALLOWED_MS = 5.0
TPOT_ALLOWED = 0.02
CONCURRENCY_NEEDED = 0.95
CPU_ALLOWED = 0.7
COUNTERS = Counters(names=("mock:requests_total", "mock:ttft_seconds_total", "mock:tpot_seconds_total"))


@dataclass(frozen=True, slots=True)
class Added:
    """What one number of streams came out as. ``ttft_ms`` and ``tpot`` (a fraction) are what was added.

    ``doubt`` says why the figures are not to be trusted, "" where they are.
    """

    streams: int
    ttft_ms: float | None
    tpot: float | None
    concurrency: float | None
    cpu: float | None
    lag_ms: float | None
    doubt: str


def specs() -> list[BenchSpec]:
    """Return the runs of the self-test; the agent fills in where its server is."""
    return [
        BenchSpec(
            url="http://127.0.0.1",
            model=None,
            concurrency=streams,
            requests=ANSWERS * streams,
            input_tokens=32,
            output_tokens=OUTPUT_TOKENS,
            timeout_s=20.0,
            profile="self-test",
            warmup_s=2.0,
        )
        for streams in CONCURRENCIES
    ]


def added(result: BenchResult) -> Added:
    """Return what the generator added to the figures of one run."""
    true_ttft_ms, true_tpot_ms = _truth(result)
    ttft, tpot, reached = result.ttft_ms.mean, result.tpot_ms.mean, result.achieved_concurrency
    found = Added(
        streams=result.spec.concurrency,
        ttft_ms=None if ttft is None else ttft - true_ttft_ms,
        tpot=None if tpot is None else tpot / true_tpot_ms - 1,
        concurrency=None if reached is None else reached / result.spec.concurrency,
        cpu=result.client_cpu_fraction,
        lag_ms=result.lag_ms.p99 if result.lag_ms.p99 is not None else result.lag_ms.p90,
        doubt="",
    )
    doubt = _doubt(found) if result.completed == result.spec.requests else result.sentence
    return found if not doubt else _with(found, doubt)


def trusted(levels: Sequence[Added]) -> int:
    """Return up to how many streams the figures can be trusted: 0 for not even one."""
    streams = 0
    for level in levels:
        if level.doubt:
            break
        streams = level.streams
    return streams


def sentence(levels: Sequence[Added], where: str) -> str:
    """Return the one sentence in which the self-test ends."""
    streams = trusted(levels)
    wrong = next((level for level in levels if level.doubt), None)
    but = "" if wrong is None else f"; at {wrong.streams} {wrong.doubt}"
    if not streams:
        return f"figures taken on {where} cannot be trusted{but}"
    noun = "one stream" if streams == 1 else f"{streams} streams"
    more = "" if wrong is not None else ", the most that was tried"
    return f"figures taken on {where} can be trusted up to {noun}{more}{but}"


def table(levels: Sequence[Added]) -> list[str]:
    """Return what was added as lines of at most 80 columns."""
    names = ("streams", "TTFT added", "TPOT added", "in flight", "CPU", "lag")
    lines = ["".join(name.rjust(12) for name in names)]
    for level in levels:
        cells = (
            str(level.streams),
            _text(level.ttft_ms, "{:+.2f} ms"),
            _text(level.tpot, "{:+.2%}"),
            _text(level.concurrency, "{:.1%}"),
            _text(level.cpu, "{:.0%}"),
            _text(level.lag_ms, "{:.2f} ms"),
        )
        lines.append("".join(cell.rjust(12) for cell in cells))
    return lines


def _truth(result: BenchResult) -> tuple[float, float]:
    """Return the mean TTFT and TPOT, in ms, by the server's own account; the schedule where it gave none."""
    rises = [
        each.after - each.before if each.after is not None and each.before is not None else 0.0
        for name in COUNTERS.names
        for each in result.counters
        if each.name == name
    ]
    if len(rises) != len(COUNTERS.names) or rises[0] <= 0:
        return FIRST_MS, TOKEN_MS
    requests, ttft_s, tpot_s = rises
    return ttft_s / requests * 1e3, tpot_s / requests * 1e3


def _doubt(found: Added) -> str:
    if found.ttft_ms is None or found.tpot is None or found.concurrency is None or found.cpu is None:
        return "not all could be measured"
    if abs(found.ttft_ms) > TTFT_ALLOWED_MS:
        return f"{found.ttft_ms:.1f} ms are added to TTFT ({TTFT_ALLOWED_MS:g} ms are allowed)"
    if abs(found.tpot) > TPOT_ALLOWED:
        return f"TPOT is off by {found.tpot:+.1%} ({TPOT_ALLOWED:.0%} are allowed)"
    if found.concurrency < CONCURRENCY_NEEDED:
        return f"only {found.concurrency:.0%} of them were in flight ({CONCURRENCY_NEEDED:.0%} are needed)"
    if found.cpu > CPU_ALLOWED:
        return f"the generator uses {found.cpu:.0%} of a core ({CPU_ALLOWED:.0%} are allowed)"
    return ""


def _with(found: Added, doubt: str) -> Added:
    return Added(found.streams, found.ttft_ms, found.tpot, found.concurrency, found.cpu, found.lag_ms, doubt)


def _text(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)
