"""A line of sglang's bench_serving (0.5): arguments, ``server_info``, a summary, and requests if asked.

How it differs from our definitions (tui/agent/load/metrics.py):

- On /generate its ITL is a chunk's gap spread over the chunk's tokens, and with a known acceptance length on
  the OpenAI routes it is spread likewise: no gap between chunks, so ITL is None.
- On the OpenAI routes it counts the tokens that were asked for, whatever came. They are taken where the text
  that came has as many by the client's own tokenizer, else every figure made of them is None.
- E2E goes to the last line of the stream, and so does its TPOT; both are worked out anew from the requests
  where the file has them (--output-details).
- It counts no failures and does not say how many requests it sent; with its requests both are known.
- Its duration also holds what it does after the last request.
- A random length of N is drawn from ratio * N to N.
"""

from collections.abc import Iterator, Mapping

import msgspec

from tui.benchmark import BenchRecord
from tui.runs.entry import Setting
from tui.runs.importing.configuration import arguments, fingerprint, setting
from tui.runs.importing.entry import Outside, Wanted
from tui.runs.importing.figures import Count, Lists, Seconds, whole_lists
from tui.runs.importing.reading import Found, short
from tui.runs.importing.requests import Request, Times, known, summary, times_of
from tui.runs.importing.workload import Arrival, Asked, Length, about, between, exact

NATIVE = ("sglang", "sglang-native")
COUNTED_SHARE = 0.95
"""So much of the credited tokens must stand in the text: tokenizing text anew changes counts a little."""
SOURCE = "server_info"
_STATE = frozenset(
    (
        "status", "version", "internal_states", "max_total_num_tokens", "max_req_input_len", "model_path",
        "revision",
    )
)  # fmt: skip
"""What of ``server_info`` is no argument, or has a name of its own here."""


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a line that are read. Times of requests are in seconds, of the summary in ms."""

    backend: str
    duration: Seconds
    completed: Count
    dataset_name: str | None = None
    request_rate: float | str | None = None
    max_concurrency: Count | None = None
    random_input_len: Count | None = None
    random_output_len: Count | None = None
    random_range_ratio: float | None = None
    tag: str | None = None
    server_info: dict[str, object] | None = None
    total_input_tokens: Count | None = None
    total_output_tokens: Count | None = None
    total_output_tokens_retokenized: Count | None = None
    concurrency: float | None = None
    accept_length: float | None = None
    mean_ttft_ms: float | None = None
    median_ttft_ms: float | None = None
    p90_ttft_ms: float | None = None
    p99_ttft_ms: float | None = None
    mean_tpot_ms: float | None = None
    median_tpot_ms: float | None = None
    p90_tpot_ms: float | None = None
    p99_tpot_ms: float | None = None
    mean_itl_ms: float | None = None
    median_itl_ms: float | None = None
    p90_itl_ms: float | None = None
    p99_itl_ms: float | None = None
    mean_e2e_latency_ms: float | None = None
    median_e2e_latency_ms: float | None = None
    p90_e2e_latency_ms: float | None = None
    p99_e2e_latency_ms: float | None = None
    ttfts: list[float] | None = None
    itls: list[list[float]] | None = None
    input_lens: list[Count] | None = None
    output_lens: list[Count] | None = None
    errors: list[str | None] | None = None

    @property
    def gaps_are_of_chunks(self) -> bool:
        """Whether its ITL is a gap between chunks."""
        return self.backend not in NATIVE and not self.accept_length

    @property
    def counted(self) -> bool:
        """Whether its output tokens were counted and not just credited."""
        credited, seen = self.total_output_tokens, self.total_output_tokens_retokenized
        return self.backend in NATIVE or (seen or 0) >= COUNTED_SHARE * (credited or 0)


def recognises(fields: Mapping[str, object]) -> bool:
    """Whether an object is a line of bench_serving."""
    return {"backend", "dataset_name", "duration", "completed", "mean_ttft_ms"} <= fields.keys()


def outside(found: Found, wanted: Wanted) -> Outside:
    """Return the run of a line. Raises ImportFault."""
    line = found.read_as(Line)
    lists = whole_lists(found, line.ttfts, line.itls, line.input_lens, line.output_lens, line.errors)
    requests = None if lists is None else [_request(line, one) for one in lists]
    info = line.server_info or {}
    model = info.get("served_model_name") or info.get("model_path")
    records = () if requests is None else tuple(each.record for each in requests)
    failed = None if lists is None else sum(1 for each in records if each.fault)
    return Outside(
        origin="sglang",
        client="sglang bench_serving",
        made_wall_s=found.written_wall_s,
        asked=_asked(line, None if lists is None else len(lists)),
        fingerprint=fingerprint(_settings(line, info), wanted.label),
        model=short(model) if isinstance(model, str) else None,
        completed=line.completed,
        failed=failed,
        times=_summary(line) if requests is None else times_of(requests),
        duration_s=line.duration,
        output_tokens=line.total_output_tokens if line.counted else None,
        counted_by_usage=line.backend in NATIVE,
        input_tokens=line.total_input_tokens,
        concurrency=line.concurrency,
        records=records,
        notes=tuple(_notes(line, failed)),
    )


def _request(line: Line, one: Lists) -> Request:
    failed = one.failed
    last_ms = None if failed else (one.ttft_s + sum(one.gaps_s)) * 1e3
    gaps = [gap * 1e3 for gap in one.gaps_s] if line.gaps_are_of_chunks and not failed else None
    record = BenchRecord(
        sent_s=None,
        ttft_ms=None if failed else one.ttft_s * 1e3,
        ttfo_ms=None,
        last_ms=last_ms,
        end_ms=None,
        output_tokens=one.output_tokens if line.counted and not failed else None,
        input_tokens=one.input_tokens,
        chunks=None if gaps is None else len(gaps) + 1,
        fault="error" if failed else "",
    )
    return Request(record, gaps)


def _summary(line: Line) -> Times:
    done = line.completed
    nothing = summary(None, None, None, None, 0)
    itl = summary(line.mean_itl_ms, line.median_itl_ms, line.p90_itl_ms, line.p99_itl_ms, done)
    tpot = summary(line.mean_tpot_ms, line.median_tpot_ms, line.p90_tpot_ms, line.p99_tpot_ms, done)
    return Times(
        ttft_ms=summary(line.mean_ttft_ms, line.median_ttft_ms, line.p90_ttft_ms, line.p99_ttft_ms, done),
        itl_ms=itl if line.gaps_are_of_chunks else nothing,
        tpot_ms=tpot if line.counted else nothing,
        e2e_ms=summary(
            line.mean_e2e_latency_ms,
            line.median_e2e_latency_ms,
            line.p90_e2e_latency_ms,
            line.p99_e2e_latency_ms,
            done,
        ),
    )


def _asked(line: Line, sent: int | None) -> Asked:
    name = line.dataset_name or "unknown"
    ratio = line.random_range_ratio
    drawn = name.startswith("random") and ratio is not None
    return Asked(
        arrival=_arrival(line),
        input=_length(line.random_input_len, ratio) if drawn else about(None),
        output=_length(line.random_output_len, ratio) if drawn else about(None),
        requests=line.completed if sent is None else sent,
        whole=sent is not None,
        data="" if drawn else f"sglang {short(name)}",
    )


def _length(tokens: int | None, ratio: float | None) -> Length:
    if tokens is None or ratio is None or not 0 <= ratio <= 1:
        return about(tokens)
    return exact(tokens) if ratio == 1 else between(max(1, int(tokens * ratio)), tokens)


def _arrival(line: Line) -> Arrival:
    rate = line.request_rate
    if isinstance(rate, str) and rate not in ("inf", "Infinity"):
        return Arrival(line.max_concurrency, words=f"arrivals of its {short(rate)}")
    finite = known(rate) if isinstance(rate, float) else None
    return Arrival(line.max_concurrency, rate_per_s=finite or None)


def _settings(line: Line, info: Mapping[str, object]) -> Iterator[Setting | None]:
    yield setting("client", f"sglang bench_serving, backend {line.backend}", "file")
    yield setting("tag", line.tag, "file")
    if info:
        yield setting("engine", "sglang", SOURCE)
        yield setting("engine version", info.get("version"), SOURCE)
        yield setting("model", info.get("model_path"), SOURCE)
        yield setting("model revision", info.get("revision"), SOURCE)
        yield from arguments({k: v for k, v in info.items() if k not in _STATE}, SOURCE)


def _notes(line: Line, failed: int | None) -> Iterator[str]:
    if failed is None:
        yield "it kept no count of failures"
    if not line.gaps_are_of_chunks:
        yield "its ITL is a time per token, no gap between chunks, and is left out"
    if not line.counted:
        yield "its output tokens are those asked for, not counted, and are left out"
    elif line.backend not in NATIVE:
        yield "its output tokens are those asked for; its own tokenizer finds about as many in the text"
    if failed is None:
        yield "E2E and TPOT end with the last line of the stream"
    if line.accept_length:
        yield f"acceptance length {line.accept_length:.2f} over the server's life"
    yield "its duration holds what it did after the last request"
