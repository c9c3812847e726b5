"""The workload in the words of AIPerf's own configuration, which its summary carries."""

import hashlib
import json
from collections.abc import Iterator
from typing import cast

import msgspec

from tui.runs.importing.figures import Count
from tui.runs.importing.reading import Found, short
from tui.runs.importing.workload import Arrival, Asked, Length, about, exact


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """A length: drawn about a mean."""

    mean: float | None = None
    stddev: float | None = None


class Prompts(msgspec.Struct, frozen=True, kw_only=True):
    """Lengths of made prompts."""

    isl: Spread | float | None = None
    osl: Spread | float | None = None


class Dataset(msgspec.Struct, frozen=True, kw_only=True):
    """Where prompts come from."""

    name: str = ""
    type: str = "synthetic"
    prompts: Prompts | None = None


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the run with one sort of arrivals."""

    kind: str = "profiling"
    type: str = "concurrency"
    requests: Count | None = None
    concurrency: Count | None = None
    rate: float | None = None
    duration: float | None = None


class EndpointConfig(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked, and how."""

    urls: list[str] = []
    type: str = ""
    extra: dict[str, object] = {}


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """A model that was asked for."""

    name: str


class Models(msgspec.Struct, frozen=True, kw_only=True):
    """The models that were asked for."""

    items: list[Model] = []


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of a run."""

    models: Models = Models()
    endpoint: EndpointConfig = EndpointConfig()
    datasets: list[Dataset] = []
    phases: list[Phase] = []

    @property
    def model(self) -> str:
        """The one model, "" where there are none or several."""
        return self.models.items[0].name if len(self.models.items) == 1 else ""

    @property
    def url(self) -> str:
        """The one URL, "" where there are none or several."""
        return self.endpoint.urls[0] if len(self.endpoint.urls) == 1 else ""


_READ = {
    "phases": {"name", "kind", "type", "requests", "concurrency", "rate", "duration", "sessions", "seamless"},
    "datasets": {"name", "type", "prompts", "entries"},
    "prompts": {"isl", "osl"},
}
"""What of a phase, a data set and its prompts is in the words; anything more is told by its digest."""


def asked(found: Found, config: Config, sent: int) -> Asked:
    """Return the workload of a run of so many requests."""
    phases = [each for each in config.phases if each.kind == "profiling"]
    phase = phases[0] if len(phases) == 1 else Phase(type="unknown")
    dataset = config.datasets[0] if len(config.datasets) == 1 else Dataset(type="several")
    prompts = dataset.prompts if dataset.type == "synthetic" else None
    ends_early = config.endpoint.extra.get("ignore_eos") is not True
    output = _length(None if prompts is None else prompts.osl)
    return Asked(
        arrival=_arrival(phase),
        input=_length(None if prompts is None else prompts.isl),
        output=Length(f"{output.words} or less", output.tokens) if ends_early else output,
        requests=sent if phase.requests is None else phase.requests,
        whole=phase.requests is not None,
        data="" if prompts is not None else f"aiperf {short(dataset.type)} {short(dataset.name)}".rstrip(),
        duration_s=phase.duration,
        more=tuple(_more(found.fields)),
    )


def _arrival(phase: Phase) -> Arrival:
    if phase.type == "concurrency":
        return Arrival(phase.concurrency)
    if phase.rate and phase.type == "poisson":
        return Arrival(phase.concurrency, phase.rate, "poisson")
    if phase.rate and phase.type == "constant":
        return Arrival(phase.concurrency, phase.rate, "constant")
    rate = f" {phase.rate:g}/s" if phase.rate else ""
    return Arrival(phase.concurrency, words=f"{short(phase.type)}{rate} arrivals")


def _length(spread: Spread | float | None) -> Length:
    mean = spread.mean if isinstance(spread, Spread) else spread
    deviation = spread.stddev if isinstance(spread, Spread) else None
    if mean is None:
        return about(None)
    if deviation:
        return Length(f"{mean:g} ± {deviation:g}", round(mean))
    return exact(round(mean)) if mean == round(mean) else about(mean)


def _more(fields: dict[str, object]) -> Iterator[str]:
    """Iterate over words for options that have none here, so that their workload equals no other."""
    config = _table(fields.get("input_config"))
    phases = [_rest(each, "phases") for each in _list(config.get("phases"))]
    datasets = [_rest(each, "datasets") for each in _list(config.get("datasets"))]
    prompts = [_rest(_table(each).get("prompts"), "prompts") for each in _list(config.get("datasets"))]
    left = [each for each in (*phases, *datasets, *prompts) if each]
    if left:
        digest = hashlib.sha256(json.dumps(left, sort_keys=True, default=str).encode()).hexdigest()
        yield f"other options of AIPerf {digest[:6]}"


def _rest(value: object, sort: str) -> dict[str, object]:
    return {name: each for name, each in _table(value).items() if name not in _READ[sort]}


def _table(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
