"""The per-request records of AIPerf: profile_export.jsonl, a line a request."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec

from tui.benchmark import BenchRecord
from tui.runs.importing.figures import Count
from tui.runs.importing.reading import Found
from tui.runs.importing.requests import Request

Milliseconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
Stamp = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]


class Time(msgspec.Struct, frozen=True, kw_only=True):
    """A latency of a request."""

    value: Milliseconds


class Times(msgspec.Struct, frozen=True, kw_only=True):
    """Several latencies of a request."""

    value: list[Milliseconds]


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """A count of a request."""

    value: Count


class Metrics(msgspec.Struct, frozen=True, kw_only=True):
    """What is read of a request's metrics."""

    time_to_first_token: Time | None = None
    time_to_first_output_token: Time | None = None
    request_latency: Time | None = None
    inter_chunk_latency: Times | None = None
    usage_completion_tokens: Tokens | None = None
    output_sequence_length: Tokens | None = None
    usage_prompt_tokens: Tokens | None = None
    input_sequence_length: Tokens | None = None


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """When a request ran, and in which phase."""

    request_start_ns: Stamp
    request_end_ns: Stamp
    benchmark_phase: str = "profiling"


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request failed."""

    code: int | None = None


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One request."""

    metadata: Metadata
    metrics: Metrics
    error: Failure | None = None


def recognises(fields: Mapping[str, object]) -> bool:
    """Whether an object is one of AIPerf's records."""
    return {"metadata", "metrics"} <= fields.keys()


def requests_of(records: Sequence[Found], run: Found, completed: int) -> list[Request]:
    """Return the measured requests. Raises ImportFault where they are not those of the run."""
    lines = [line for line in (found.read_as(Line) for found in records) if _measured(line)]
    good = sum(1 for line in lines if line.error is None)
    if good != completed:
        records[0].refuse(
            f"these are not the requests of {run.path.name}: {good} succeeded, there {completed}"
        )
    began_ns = min((line.metadata.request_start_ns for line in lines), default=0)
    return [_request(line, began_ns) for line in lines]


def _measured(line: Line) -> bool:
    return line.metadata.benchmark_phase == "profiling"


def _request(line: Line, began_ns: int) -> Request:
    told, when = line.metrics, line.metadata
    gaps = None if told.inter_chunk_latency is None else told.inter_chunk_latency.value
    fault = ""
    if line.error is not None:
        fault = "error" if line.error.code is None else f"http_{line.error.code}"
    record = BenchRecord(
        sent_s=(when.request_start_ns - began_ns) / 1e9,
        ttft_ms=_ms(told.time_to_first_token),
        ttfo_ms=_ms(told.time_to_first_output_token),
        last_ms=_ms(told.request_latency),
        end_ms=max(0, when.request_end_ns - when.request_start_ns) / 1e6,
        output_tokens=_count(told.usage_completion_tokens, told.output_sequence_length),
        input_tokens=_count(told.usage_prompt_tokens, told.input_sequence_length),
        chunks=None if gaps is None else len(gaps) + 1,
        fault=fault,
    )
    return Request(record, gaps)


def _ms(time: Time | None) -> float | None:
    return None if time is None else time.value


def _count(first: Tokens | None, other: Tokens | None) -> int | None:
    told = first or other
    return None if told is None else told.value
