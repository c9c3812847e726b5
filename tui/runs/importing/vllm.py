"""A file of ``vllm bench serve`` (0.33): what was asked, a summary, and lists with --save-detailed.

How it differs from our definitions (tui/agent/load/metrics.py):

- TTFT, ITL (gaps between chunks), TPOT and E2E are the same. It knows no delta ``reasoning_content``: against
  a server that sends one its TTFT is that of the first other text.
- Its duration is that of the whole gathering; with --save-detailed it is worked out from the requests, from
  the first one's start to the last one's end.
- It tells no asked lengths, no data set and no limits of its goodput. Lengths are those seen; without
  --save-detailed only their means are known.
- Tokens come from usage, and where there is none from its own tokenizer: which it was is not told.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec

from tui.benchmark import BenchRecord
from tui.runs.entry import Setting
from tui.runs.importing.configuration import fingerprint, setting
from tui.runs.importing.entry import Outside, Wanted
from tui.runs.importing.figures import Count, Lists, Seconds, whole_lists
from tui.runs.importing.reading import Found, short
from tui.runs.importing.requests import Request, Times, in_flight_s, known, span_s, summary, times_of
from tui.runs.importing.workload import Arrival, Asked, about, seen

METADATA = 100


class File(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that are read. Times of requests are in seconds, those of the summary in milliseconds."""

    date: str
    model_id: str
    duration: Seconds
    completed: Count
    num_prompts: Count
    total_output_tokens: Count
    total_input_tokens: Count
    failed: Count | None = None
    backend: str | None = None
    label: str | None = None
    request_rate: float | str | None = None
    burstiness: float | None = None
    max_concurrency: Count | None = None
    ramp_up_strategy: str | None = None
    ramp_up_start_rps: float | None = None
    ramp_up_end_rps: float | None = None
    request_goodput: float | None = None
    spec_decode_acceptance_length: float | None = None
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
    mean_e2el_ms: float | None = None
    median_e2el_ms: float | None = None
    p90_e2el_ms: float | None = None
    p99_e2el_ms: float | None = None
    ttfts: list[float] | None = None
    itls: list[list[float]] | None = None
    input_lens: list[Count] | None = None
    output_lens: list[Count] | None = None
    errors: list[str | None] | None = None
    start_times: list[float] | None = None
    latencies: list[float] | None = None


_NO_METADATA = frozenset(File.__struct_fields__) | {
    "endpoint_type", "tokenizer_id", "request_throughput", "output_throughput", "total_token_throughput",
    "rtfx", "max_output_tokens_per_s", "max_concurrent_requests", "generated_texts", "queue_times",
    "rps_change_events", "server_queue_times", "server_ttfts",
}  # fmt: skip
_OWN_FIGURES = ("mean_", "median_", "std_", "p", "spec_decode_", "diffusion_", "server_", "probe_")


def recognises(fields: Mapping[str, object]) -> bool:
    """Whether an object is a result of ``vllm bench serve``."""
    return {"model_id", "num_prompts", "duration", "completed", "total_output_tokens"} <= fields.keys()


def outside(found: Found, wanted: Wanted) -> Outside:
    """Return the run of a file. Raises ImportFault."""
    file = found.read_as(File)
    lists = whole_lists(found, file.ttfts, file.itls, file.input_lens, file.output_lens, file.errors)
    starts = _starts(found, file, lists)
    requests = None if lists is None else [_request(*each) for each in zip(lists, starts, strict=True)]
    records = () if requests is None else tuple(each.record for each in requests)
    failed = file.failed
    if failed is None and requests is not None:
        failed = sum(1 for each in records if each.fault)
    return Outside(
        origin="vllm",
        client="vllm bench serve",
        made_wall_s=_made(found, file.date),
        asked=_asked(file, lists),
        fingerprint=fingerprint(_settings(file, found.fields), wanted.label),
        model=short(file.model_id),
        completed=file.completed,
        failed=failed,
        failures={"error": failed} if failed and not records else {},
        times=_summary(file) if requests is None else times_of(requests),
        duration_s=span_s(records) or file.duration,
        output_tokens=file.total_output_tokens,
        counted_by_usage=False,
        input_tokens=file.total_input_tokens,
        concurrency=_concurrency(file, records),
        records=records,
        notes=tuple(_notes(file, detailed=lists is not None)),
    )


def _starts(found: Found, file: File, lists: list[Lists] | None) -> list[float | None]:
    """Return when each request was sent, in seconds after the first."""
    if lists is None or file.start_times is None:
        return [None] * len(lists or ())
    starts = file.start_times
    if len(starts) != len(lists) or any(known(each) is None for each in starts):
        found.refuse("start_times holds what is no time, or is not as long as the other lists")
    return [each - min(starts) for each in starts]


def _request(one: Lists, sent_s: float | None) -> Request:
    if one.failed:
        record = BenchRecord(sent_s, None, None, None, None, None, one.input_tokens, None, "error")
        return Request(record, None)
    gaps = [gap * 1e3 for gap in one.gaps_s]
    ttft_ms = one.ttft_s * 1e3
    record = BenchRecord(
        sent_s=sent_s,
        ttft_ms=ttft_ms,
        ttfo_ms=None,
        last_ms=ttft_ms + sum(gaps),
        end_ms=None,
        output_tokens=one.output_tokens,
        input_tokens=one.input_tokens,
        chunks=len(gaps) + 1,
    )
    return Request(record, gaps)


def _concurrency(file: File, records: tuple[BenchRecord, ...]) -> float | None:
    """Return the mean number in flight: time in flight over duration."""
    flights_s = [in_flight_s(each) for each in records] or file.latencies
    return sum(flights_s) / (span_s(records) or file.duration) if flights_s else None


def _summary(file: File) -> Times:
    done = file.completed
    return Times(
        ttft_ms=summary(file.mean_ttft_ms, file.median_ttft_ms, file.p90_ttft_ms, file.p99_ttft_ms, done),
        itl_ms=summary(file.mean_itl_ms, file.median_itl_ms, file.p90_itl_ms, file.p99_itl_ms, done),
        tpot_ms=summary(file.mean_tpot_ms, file.median_tpot_ms, file.p90_tpot_ms, file.p99_tpot_ms, done),
        e2e_ms=summary(file.mean_e2el_ms, file.median_e2el_ms, file.p90_e2el_ms, file.p99_e2el_ms, done),
    )


def _asked(file: File, lists: list[Lists] | None) -> Asked:
    done = file.completed or None
    good = [one for one in lists or () if not one.failed]
    return Asked(
        arrival=_arrival(file),
        input=seen([one.input_tokens for one in lists])
        if lists
        else about(file.total_input_tokens / done if done else None),
        output=seen([one.output_tokens for one in good])
        if lists
        else about(file.total_output_tokens / done if done else None),
        requests=file.num_prompts,
        whole=True,
    )


def _arrival(file: File) -> Arrival:
    if file.ramp_up_strategy is not None:
        begin, end = file.ramp_up_start_rps or 0.0, file.ramp_up_end_rps or 0.0
        return Arrival(
            file.max_concurrency, words=f"{begin:g} to {end:g}/s {short(file.ramp_up_strategy)} ramp"
        )
    rate = known(file.request_rate) if isinstance(file.request_rate, float) else None
    if rate and file.burstiness not in (None, 1.0):
        return Arrival(file.max_concurrency, words=f"{rate:g}/s gamma of burstiness {file.burstiness:g}")
    return Arrival(file.max_concurrency, rate_per_s=rate or None)


def _settings(file: File, fields: Mapping[str, object]) -> Iterator[Setting | None]:
    yield setting("client", f"vllm bench serve, backend {file.backend or 'unknown'}", "file")
    yield setting("model", file.model_id, "file")
    yield setting("tag", file.label, "file")
    told = [name for name in fields if name not in _NO_METADATA and not name.startswith(_OWN_FIGURES)]
    for name in told[:METADATA]:
        value = fields[name]
        # --metadata KEY=VALUE stands among the figures; its values are text.
        if isinstance(value, str):
            yield setting(f"metadata {name}", value, "file")


def _made(found: Found, date: str) -> float:
    """Return when a run was saved: the file has the client's own time without its zone."""
    try:
        return datetime.strptime(date, "%Y%m%d-%H%M%S").timestamp()
    except (ValueError, OverflowError):
        found.refuse(f"its date is none: {short(date)}")


def _notes(file: File, *, detailed: bool) -> Iterator[str]:
    if file.failed is None and not detailed:
        yield "it kept no count of failures"
    if not detailed:
        yield "lengths are means: it was run without --save-detailed"
    if file.request_goodput is not None:
        yield "its goodput is left out: the file has no limits"
    if file.spec_decode_acceptance_length is not None:
        yield f"acceptance length {file.spec_decode_acceptance_length:.2f}"
    yield "output tokens counted by usage or by its own tokenizer"
