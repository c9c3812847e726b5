"""A profile_export_aiperf.json of AIPerf (0.13, schema 1.4), and its profile_export.jsonl where given.

How it differs from our definitions (tui/agent/load/metrics.py):

- ``inter_token_latency`` is a request's (latency - TTFT) / (tokens - 1): our TPOT. ``inter_chunk_latency`` is
  our ITL.
- Its tokens are counted by its own tokenizer. Where the server's usage is in the file, that is taken; TPOT is
  worked out anew from the requests, and without them kept only where both counts agree.
- ``benchmark_duration`` is from the first request's start to the last response, as ours; its own rates are
  over the longer time of the whole phase, so they are worked out anew.
- Its config tells the workload. Answers may end early unless ``ignore_eos`` is in the extra inputs.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import msgspec

from tui.benchmark import NO_SAMPLES, BenchRecord, Percentiles
from tui.runs.entry import Setting
from tui.runs.importing.aiperf_config import Config, asked
from tui.runs.importing.aiperf_records import requests_of
from tui.runs.importing.configuration import fingerprint, setting
from tui.runs.importing.entry import Outside, Wanted
from tui.runs.importing.figures import Count
from tui.runs.importing.reading import Found, short
from tui.runs.importing.requests import Request, Times, in_flight_s, known, span_s, summary, times_of

SAME_SHARE = 0.02
"""So far apart may two counts of tokens be that TPOT is taken for the same."""


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One metric; of a single figure ``avg`` is that figure."""

    unit: str = ""
    avg: float | None = None
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    count: Count | None = None


class Details(msgspec.Struct, frozen=True, kw_only=True):
    """What one sort of failure was."""

    code: int | None = None
    type: str | None = None


class Failures(msgspec.Struct, frozen=True, kw_only=True):
    """How often one sort of failure came."""

    error_details: Details
    count: Count


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """A GPU of its telemetry."""

    gpu_name: str = ""


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where telemetry came from."""

    gpus: dict[str, Gpu] = {}


class Telemetry(msgspec.Struct, frozen=True, kw_only=True):
    """Its telemetry of GPUs."""

    endpoints: dict[str, Endpoint] = {}


class File(msgspec.Struct, frozen=True, kw_only=True):
    """The fields that are read."""

    benchmark_duration: Metric
    request_count: Metric | None = None
    error_request_count: Metric | None = None
    aiperf_version: str = ""
    start_time: str | None = None
    was_cancelled: bool = False
    is_complete: bool = True
    incomplete_reason: str | None = None
    input_config: Config = Config()
    error_summary: list[Failures] | None = None
    telemetry_data: Telemetry = Telemetry()
    time_to_first_token: Metric | None = None
    time_to_first_output_token: Metric | None = None
    inter_token_latency: Metric | None = None
    inter_chunk_latency: Metric | None = None
    request_latency: Metric | None = None
    total_osl: Metric | None = None
    total_isl: Metric | None = None
    total_usage_completion_tokens: Metric | None = None
    total_usage_prompt_tokens: Metric | None = None
    effective_concurrency: Metric | None = None
    goodput: Metric | None = None

    @property
    def from_usage(self) -> bool:
        """Whether the server told its own count of tokens."""
        return bool(count(self.total_usage_completion_tokens))

    @property
    def counts_agree(self) -> bool:
        """Whether its tokenizer counted what the server counted."""
        own, server = count(self.total_osl) or 0, count(self.total_usage_completion_tokens) or 0
        return abs(own - server) <= SAME_SHARE * server


def recognises(fields: Mapping[str, object]) -> bool:
    """Whether an object is AIPerf's summary of a run."""
    return "benchmark_duration" in fields and bool({"aiperf_version", "schema_version"} & fields.keys())


def outside(found: Found, wanted: Wanted, records: Sequence[Found] = ()) -> Outside:
    """Return the run of a summary and of its records, if there are any. Raises ImportFault."""
    file = found.read_as(File)
    completed, failed = count(file.request_count) or 0, count(file.error_request_count) or 0
    requests = requests_of(records, found, completed) if records else None
    kept = () if requests is None else tuple(each.record for each in requests)
    model = file.input_config.model
    return Outside(
        origin="aiperf",
        client=f"AIPerf {short(file.aiperf_version)}".rstrip(),
        made_wall_s=_made(found, file.start_time),
        asked=asked(found, file.input_config, completed + failed),
        fingerprint=fingerprint(_settings(file), wanted.label),
        model=short(model) if model else None,
        completed=completed,
        failed=failed,
        failures=_failures(file, failed),
        times=_summary(file, completed) if requests is None else _times(file, requests),
        duration_s=span_s(kept) or _seconds(found, file.benchmark_duration),
        output_tokens=count(file.total_usage_completion_tokens) or count(file.total_osl),
        counted_by_usage=file.from_usage,
        input_tokens=count(file.total_usage_prompt_tokens) or count(file.total_isl),
        concurrency=_concurrency(file, kept),
        url=short(file.input_config.url),
        records=kept,
        cancelled=file.was_cancelled or not file.is_complete,
        notes=tuple(_notes(file, requests)),
    )


def count(metric: Metric | None) -> int | None:
    """Return a metric that counts, None where it is none."""
    value = None if metric is None else known(metric.avg)
    return None if value is None or value > 1e12 else round(value)


def _concurrency(file: File, records: Sequence[BenchRecord]) -> float | None:
    duration_s = span_s(records)
    if duration_s is not None:
        return sum(in_flight_s(each) for each in records) / duration_s
    return None if file.effective_concurrency is None else file.effective_concurrency.avg


def _times(file: File, requests: Sequence[Request]) -> Times:
    own = times_of(requests)
    if file.from_usage:
        return own
    return replace(own, tpot_ms=_percentiles(file.inter_token_latency, own.tpot_ms.samples))


def _summary(file: File, completed: int) -> Times:
    same = not file.from_usage or file.counts_agree
    return Times(
        ttft_ms=_percentiles(file.time_to_first_token, completed),
        ttfo_ms=_percentiles(file.time_to_first_output_token, completed),
        itl_ms=_percentiles(file.inter_chunk_latency, completed),
        tpot_ms=_percentiles(file.inter_token_latency, completed) if same else NO_SAMPLES,
        e2e_ms=_percentiles(file.request_latency, completed),
    )


def _percentiles(metric: Metric | None, samples: int) -> Percentiles:
    if metric is None or metric.unit not in ("ms", ""):
        return NO_SAMPLES
    told = samples if metric.count is None else metric.count
    return summary(metric.avg, metric.p50, metric.p90, metric.p99, told)


def _failures(file: File, failed: int) -> dict[str, int]:
    classes: dict[str, int] = {}
    for each in file.error_summary or ():
        name = "error" if each.error_details.code is None else f"http_{each.error_details.code}"
        classes[name] = classes.get(name, 0) + each.count
    return classes if sum(classes.values()) == failed else {"error": failed} if failed else {}


def _seconds(found: Found, duration: Metric) -> float:
    value = known(duration.avg)
    if not value or duration.unit not in ("sec", "s", "seconds"):
        found.refuse("benchmark_duration is no time in seconds")
    return value


def _made(found: Found, start: str | None) -> float:
    """Return when it began: the client's own time, mostly without its zone."""
    if start is None:
        return found.written_wall_s
    try:
        wall_s = datetime.fromisoformat(start).timestamp()
    except (ValueError, OverflowError):
        found.refuse(f"its start_time is none: {short(start)}")
    return wall_s if math.isfinite(wall_s) else found.written_wall_s


def _settings(file: File) -> Iterator[Setting | None]:
    yield setting("client", f"AIPerf {file.aiperf_version}, {file.input_config.endpoint.type}", "file")
    yield setting("model", file.input_config.model, "file")
    gpus = [gpu for each in file.telemetry_data.endpoints.values() for gpu in each.gpus.values()]
    if gpus:
        yield setting("gpus", str(len(gpus)), "telemetry")
        yield setting("gpu name", ", ".join(sorted({gpu.gpu_name for gpu in gpus})), "telemetry")


def _notes(file: File, requests: Sequence[Request] | None) -> Iterator[str]:
    if not file.is_complete or file.was_cancelled:
        yield f"it did not end: {short(file.incomplete_reason or 'cancelled')}"
    if not file.from_usage:
        yield "output tokens counted by its own tokenizer"
    elif requests is None and not file.counts_agree:
        yield "its time per token is left out: its own tokenizer counted other tokens than the server"
    if file.goodput is not None:
        yield "its goodput is left out"
