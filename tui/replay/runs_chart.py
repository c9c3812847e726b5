"""Charts of runs: figures over the runs, a sweep's curve, requests by latency, ratios, a load's phases."""

import math
from collections.abc import Callable, Iterator, Sequence

from tui.benchmark import BenchComparison, BenchRecord, BenchResult
from tui.replay.runs_axes import (
    Plot,
    Scale,
    dot,
    drawing,
    frame,
    from_zero,
    line,
    short_figure,
    text,
    told,
    x_ticks,
)
from tui.runs.entry import LoadEntry, RunEntry
from tui.runs.exporting.selection import Groups

WIDTH = 960
KINDS = 8
"""So many colours; configurations and runs beyond share them."""
POINTS = 240
"""More points than this in one curve of requests are thinned out."""
Read = Callable[[BenchResult], float | None]
PANELS: tuple[tuple[str, Read], ...] = (
    ("output tokens/s", lambda result: result.output_tokens_per_s),
    ("TTFT p50, ms", lambda result: result.ttft_ms.p50),
    ("TPOT mean, ms", lambda result: result.tpot_ms.mean),
)
REQUESTS: tuple[tuple[str, Callable[[BenchRecord], float | None]], ...] = (
    ("TTFT, ms", lambda record: record.ttft_ms),
    ("E2E, ms", lambda record: record.last_ms),
)


def kind_of(place: int) -> str:
    """Return the class that a configuration or run of that place is drawn in."""
    return f"s{place % KINDS}"


# Figures over the runs.


def over_runs(entries: Sequence[RunEntry], groups: Groups) -> str:
    """Return throughput, TTFT and TPOT of each run, in the order of time; a band is one start of a server."""
    colours = {entry.id: kind_of(place) for place, group in enumerate(groups) for entry in group}
    width = (WIDTH - 20 - 60 * len(PANELS)) / len(PANELS)
    parts: list[str] = []
    for place, (title, read) in enumerate(PANELS):
        figures = [read(entry.result) for entry in entries]
        known = [value for value in figures if value is not None]
        plot = Plot(
            50 + place * (width + 60), 26, width, 170, Scale(0.5, len(entries) + 0.5), from_zero(known)
        )
        parts += [*_starts(plot, entries), *frame(plot, title)]
        numbers = range(1, len(entries) + 1)
        parts += x_ticks(plot, list(numbers))
        for number, entry, value in zip(numbers, entries, figures, strict=True):
            if value is not None:
                words = f"{entry.id}: {told(value)}"
                parts.append(dot(plot, number, value, colours[entry.id], words))
    return drawing(WIDTH, 222, "Throughput, TTFT and TPOT of each run", parts)


def _starts(plot: Plot, entries: Sequence[RunEntry]) -> Iterator[str]:
    """Iterate over a band for every second start of a server that is known."""
    begun, shaded = 0, False
    for place in range(1, len(entries) + 1):
        key = entries[begun].instance.key
        if place < len(entries) and key and entries[place].instance.key == key:
            continue
        shaded = not shaded
        if shaded and key:
            left, right = plot.at(begun + 0.5, 0)[0], plot.at(place + 0.5, 0)[0]
            yield (
                f'<rect class="band" x="{left:.1f}" y="{plot.top:g}" width="{right - left:.1f}" '
                f'height="{plot.height:g}" opacity="0.1"/>'
            )
        begun = place


# A sweep.


def sweep(levels: Sequence[RunEntry]) -> str:
    """Return tokens/s against the concurrency (or rate) of each level, TTFT beside it."""
    rates = all(entry.result.spec.rate_per_s for entry in levels)
    asked = [entry.result.spec.rate_per_s or float(entry.result.spec.concurrency) for entry in levels]
    x = Scale(min(asked), max(asked), powers=min(asked) > 0)
    of = "requests/s offered" if rates else "streams"
    width = (WIDTH - 150) / 2
    parts: list[str] = []
    for place, (title, read) in enumerate(PANELS[:2]):
        points = [(at, read(entry.result)) for at, entry in zip(asked, levels, strict=True)]
        known = [(at, value) for at, value in points if value is not None]
        plot = Plot(50 + place * (width + 60), 26, width, 200, x, from_zero([value for _, value in known]))
        parts += [*frame(plot, f"{title} against {of}"), *x_ticks(plot, sorted(set(asked)))]
        parts.append(line(plot, sorted(known), kind_of(place)))
        parts += [dot(plot, at, value, kind_of(place), f"{at:g} {of}: {told(value)}") for at, value in known]
    return drawing(WIDTH, 252, "Sweep", parts)


# Single requests.


def requests(entries: Sequence[RunEntry]) -> str:
    """Return which share of a run's requests was as fast as that, "" where no run has its requests."""
    kept = [entry for entry in entries if any(not one.fault for one in entry.records)][:KINDS]
    if not kept:
        return ""
    width = (WIDTH - 150) / 2
    parts: list[str] = []
    for place, (title, read) in enumerate(REQUESTS):
        curves = [_curve(entry.records, read) for entry in kept]
        most = from_zero([points[-1][0] for points in curves if points])
        plot = Plot(50 + place * (width + 60), 26, width, 200, most, Scale(0.0, 100.0))
        parts += [*frame(plot, f"% of requests within so much {title}"), *x_ticks(plot, _even(most))]
        parts += [line(plot, points, kind_of(number)) for number, points in enumerate(curves) if points]
    return drawing(WIDTH, 252, "Share of requests by latency", parts)


def _curve(
    records: Sequence[BenchRecord], read: Callable[[BenchRecord], float | None]
) -> list[tuple[float, float]]:
    values = sorted(value for one in records if not one.fault and (value := read(one)) is not None)
    if not values:
        return []
    step = math.ceil(len(values) / POINTS)
    places = sorted({*range(0, len(values), step), len(values) - 1})
    return [(values[0], 0.0), *((values[place], 100.0 * (place + 1) / len(values)) for place in places)]


def _even(scale: Scale) -> list[float]:
    return [scale.high * number / 4 for number in range(5)]


# A comparison.


def ratios(compared: BenchComparison) -> str:
    """Return each metric's ratio of B to A with its interval, around 1; "" without any."""
    rows = [each for each in compared.ratios if each.ratio > 0]
    if not rows:
        return ""
    reach = max(1.05, *(value for each in rows for value in _ends(each.low, each.high, each.ratio)))
    plot = Plot(170, 30, WIDTH - 330, 26 * len(rows), Scale(1 / reach, reach, powers=True), Scale(0.0, 1.0))
    parts = [*_floor(plot, compared.noise), _upright(plot, 1.0)]
    parts += x_ticks(plot, [1 / reach, 1.0, reach], [f"{1 / reach:.2f}", "1 (as A)", f"{reach:.2f}"])
    for place, each in enumerate(rows):
        y = plot.top + 26 * (place + 0.5)
        left, middle, right = (
            plot.at(value or each.ratio, 0)[0] for value in (each.low, each.ratio, each.high)
        )
        parts.append(text(plot.left - 8, y + 4, each.metric, anchor="end"))
        if each.low is not None and each.high is not None:
            parts.append(f'<line class="line s1" x1="{left:.1f}" y1="{y:g}" x2="{right:.1f}" y2="{y:g}"/>')
        parts.append(f'<circle class="dot s1" cx="{middle:.1f}" cy="{y:g}" r="4"/>')
        parts.append(text(plot.left + plot.width + 8, y + 4, f"{each.ratio:.3f} {each.word}"))
    return drawing(WIDTH, plot.top + plot.height + 22, "Ratios of B to A", parts)


def _ends(low: float | None, high: float | None, ratio: float) -> Iterator[float]:
    for value in (low, high, ratio):
        if value is not None and value > 0 and math.isfinite(value):
            yield max(value, 1 / value)


def _floor(plot: Plot, noise: float | None) -> Iterator[str]:
    """Iterate over the band in which runs of one configuration differ."""
    if noise:
        left, right = plot.at(1 / (1 + noise), 0)[0], plot.at(1 + noise, 0)[0]
        yield (
            f'<rect class="band" x="{left:.1f}" y="{plot.top:g}" width="{right - left:.1f}" '
            f'height="{plot.height:g}" opacity="0.12"/>'
        )


def _upright(plot: Plot, value: float) -> str:
    x, _ = plot.at(value, 0)
    return f'<line class="edge" x1="{x:.1f}" y1="{plot.top:g}" x2="{x:.1f}" y2="{plot.top + plot.height:g}"/>'


# A load.


def load(entry: LoadEntry) -> str:
    """Return the phases of a load as bars in seconds after the server's start, "" where no time is known."""
    stages = [stage for stage in entry.phases if stage.began_s is not None and stage.seconds is not None]
    if not stages:
        return ""
    longest = max([(stage.began_s or 0) + (stage.seconds or 0) for stage in stages] + [entry.ready_s or 0.0])
    plot = Plot(170, 26, WIDTH - 200, 22 * len(stages), from_zero([longest]), Scale(0.0, 1.0))
    title = f"seconds after the server's start; {entry.outcome}"
    parts = [text(plot.left, plot.top - 8, title, kind="head"), *x_ticks(plot, _even(plot.x))]
    for place, stage in enumerate(stages):
        y = plot.top + 22 * place
        began, seconds = stage.began_s or 0.0, stage.seconds or 0.0
        left, right = plot.at(began, 0)[0], plot.at(began + seconds, 0)[0]
        place_and_width = f'x="{left:.1f}" width="{max(right - left, 1):.1f}"'
        parts.append(text(plot.left - 8, y + 15, stage.phase, anchor="end"))
        parts.append(f'<rect class="bar s0" {place_and_width} y="{y + 3:g}" height="16"/>')
        parts.append(text(min(right + 5, WIDTH - 60), y + 15, f"{short_figure(round(seconds, 1))} s"))
    if entry.ready_s is not None:
        parts.append(_upright(plot, entry.ready_s))
    return drawing(WIDTH, plot.top + plot.height + 22, "Phases of the load", parts)
