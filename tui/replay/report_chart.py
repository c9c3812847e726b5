"""Memory and utilisation of every GPU over time as an inline SVG, the phases as bands behind them."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from tui.engines.phase import Phase
from tui.replay.evidence import Evidence
from tui.replay.evidence_gpus import GpuPoint, GpuSeries
from tui.watch.words import clock_text

WIDTH = 960
LEFT = 62
RIGHT = 44
HEAD = 34
ROW = 84
GAP = 14
FOOT = 22
LETTER = 6.3
"""How wide a letter is at most, on average."""
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400)
_TICKS = 10


@dataclass(frozen=True, slots=True)
class Band:
    """A phase from ``from_t`` to ``to_t`` seconds; bands are numbered from 1."""

    number: int
    name: str
    from_t: float
    to_t: float


def chart(evidence: Evidence) -> str:
    """Return the SVG, "" where no GPU was read."""
    if not any(series.points for series in evidence.gpus):
        return ""
    length_s = max(evidence.length_s, 1.0)
    height = HEAD + len(evidence.gpus) * (ROW + GAP) + FOOT
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-label="GPU memory and utilisation over time, phases as bands">',
        *_bands(_phases(evidence), length_s, height),
    ]
    for place, series in enumerate(evidence.gpus):
        parts += _row(series, HEAD + place * (ROW + GAP), length_s)
    parts += [*_axis(length_s, height), "</svg>"]
    return "\n".join(parts)


def _x(t: float, length_s: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * min(max(t / length_s, 0.0), 1.0)


def _phases(evidence: Evidence) -> list[Band]:
    bounds = [each for each in evidence.transitions if each.kind == "phase" or each.after == "dead"]
    ends = [each.t for each in bounds[1:]] + [evidence.length_s]
    known = [
        (Phase(each.after).words, each.t, end)
        for each, end in zip(bounds, ends, strict=True)
        if each.kind == "phase" and each.after is not None
    ]
    return [Band(number, *band) for number, band in enumerate(known, start=1)]


def legend(evidence: Evidence) -> list[str]:
    """Return what each band is, in the order of their numbers from 1."""
    return [f"{band.name}: {band.from_t:.1f} s to {band.to_t:.1f} s" for band in _phases(evidence)]


def _bands(bands: Sequence[Band], length_s: float, height: int) -> Iterator[str]:
    for band in bands:
        left, right = _x(band.from_t, length_s), _x(band.to_t, length_s)
        shade = 0.05 if band.number % 2 else 0.12
        title = f"{band.name}: {clock_text(band.from_t)} to {clock_text(band.to_t)}"
        yield (
            f'<rect class="band" x="{left:.1f}" y="0" width="{max(right - left, 0.5):.1f}" '
            f'height="{height - FOOT}" opacity="{shade}"><title>{escape(title)}</title></rect>'
        )
    yield from labels(bands, length_s)


def labels(bands: Sequence[Band], length_s: float) -> Iterator[str]:
    """Iterate over the labels, in two rows: number and name where a band is wide enough, else its number."""
    ends = {12: 0.0, 26: 0.0}
    for band in bands:
        left, right = _x(band.from_t, length_s), _x(band.to_t, length_s)
        whole, number = f"{band.number} {band.name}", str(band.number)
        text = whole if right - left >= len(whole) * LETTER + 4 else number
        start = left + 3 if text is whole else (left + right - len(number) * LETTER) / 2
        row = next((y for y, end in ends.items() if start >= end), None)
        if row is not None:
            ends[row] = start + len(text) * LETTER + 2
            yield f'<text x="{start:.1f}" y="{row}">{escape(text)}</text>'


def _row(series: GpuSeries, top: int, length_s: float) -> Iterator[str]:
    used = [point.used_mib for point in series.points if point.used_mib is not None]
    full_mib = series.total_mib or max(used, default=0.0) or 1.0
    right = WIDTH - RIGHT + 4
    yield f'<rect class="frame" x="{LEFT}" y="{top}" width="{WIDTH - LEFT - RIGHT}" height="{ROW}"/>'
    yield f'<text x="2" y="{top + ROW / 2 + 4:g}">GPU {series.index}</text>'
    yield f'<text x="{LEFT - 4}" y="{top + 10}" text-anchor="end">{full_mib / 1024:.0f} GiB</text>'
    yield f'<text x="{LEFT - 4}" y="{top + ROW}" text-anchor="end">0</text>'
    yield f'<text x="{right}" y="{top + 10}">100 %</text>'
    yield f'<text x="{right}" y="{top + ROW}">0 %</text>'

    def memory(point: GpuPoint) -> float | None:
        return None if point.used_mib is None else point.used_mib / full_mib

    def busy(point: GpuPoint) -> float | None:
        return None if point.utilisation_pct is None else point.utilisation_pct / 100

    for run in _runs(series.points, memory, top, length_s):
        first, last = run[0].partition(",")[0], run[-1].partition(",")[0]
        yield f'<polygon class="area" points="{first},{top + ROW} {" ".join(run)} {last},{top + ROW}"/>'
        yield f'<polyline class="memory" points="{" ".join(run)}"/>'
    for run in _runs(series.points, busy, top, length_s):
        yield f'<polyline class="busy" points="{" ".join(run)}"/>'


def _runs(
    points: Sequence[GpuPoint], share: Callable[[GpuPoint], float | None], top: int, length_s: float
) -> Iterator[list[str]]:
    """Iterate over unbroken stretches: what was not read is no zero and no straight line."""
    run: list[str] = []
    for point in points:
        value = share(point)
        if value is None:
            if run:
                yield run
            run = []
            continue
        y = top + ROW * (1 - min(max(value, 0.0), 1.0))
        run.append(f"{_x(point.t, length_s):.1f},{y:.1f}")
    if run:
        yield run


def axis_step_s(length_s: float) -> int:
    """Return how far apart the times on the axis stand: ten at most, whatever a clock has jumped."""
    fitting = (step for step in _STEPS_S if length_s / step <= _TICKS)
    return next(fitting, _STEPS_S[-1] * math.ceil(length_s / _TICKS / _STEPS_S[-1]))


def _axis(length_s: float, height: int) -> Iterator[str]:
    step_s = axis_step_s(length_s)
    for number in range(int(length_s // step_s) + 1):
        t = number * step_s
        x = _x(t, length_s)
        yield f'<line class="edge" x1="{x:.1f}" y1="{HEAD}" x2="{x:.1f}" y2="{height - FOOT}"/>'
        yield f'<text x="{x:.1f}" y="{height - 6}" text-anchor="middle">{clock_text(t)}</text>'
