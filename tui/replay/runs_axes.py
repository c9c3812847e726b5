"""Axes for small inline SVG charts: scales, ticks, frames and labels."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from tui.replay.evidence_bench import bench_figure

TICKS = 5


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from ``low`` to ``high``; ``powers`` True puts equal factors at equal distances."""

    low: float
    high: float
    powers: bool = False

    def share(self, value: float) -> float:
        """Return where a value lies, from 0 to 1."""
        low, high, at = self.low, self.high, value
        if self.powers:
            low, high, at = math.log(low), math.log(high), math.log(max(value, low))
        return 0.5 if high <= low else min(max((at - low) / (high - low), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class Plot:
    """A rectangle of a drawing, in its units, with its scales."""

    left: float
    top: float
    width: float
    height: float
    x: Scale
    y: Scale

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a point."""
        return self.left + self.width * self.x.share(x), self.top + self.height * (1 - self.y.share(y))


def from_zero(values: Sequence[float]) -> Scale:
    """Return a scale from 0 to a round value above all of these."""
    most = max((value for value in values if math.isfinite(value)), default=0.0)
    if most <= 0:
        return Scale(0.0, 1.0)
    step = _step(most)
    return Scale(0.0, step * math.ceil(most * 1.02 / step))


def _step(most: float) -> float:
    """Return 1, 2 or 5 times a power of ten, five or so to the whole."""
    raw = most / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    return next((each * power for each in (1, 2, 5) if each * power >= raw), 10 * power)


def ticks(scale: Scale) -> list[float]:
    """Return round values from 0 on."""
    step = _step(scale.high)
    return [step * number for number in range(int(scale.high / step + 1e-6) + 1)]


def frame(plot: Plot, title: str) -> Iterator[str]:
    """Iterate over a plot's frame, its title above and the ticks of its left axis."""
    yield (
        f'<rect class="frame" x="{plot.left:g}" y="{plot.top:g}" width="{plot.width:g}" '
        f'height="{plot.height:g}"/>'
    )
    yield text(plot.left, plot.top - 8, title, kind="head")
    for value in ticks(plot.y):
        _, y = plot.at(plot.x.low, value)
        right = plot.left + plot.width
        yield f'<line class="edge" x1="{plot.left:g}" y1="{y:.1f}" x2="{right:.1f}" y2="{y:.1f}"/>'
        yield text(plot.left - 5, y + 4, short_figure(value), anchor="end")


def x_ticks(plot: Plot, values: Sequence[float], words: Sequence[str] | None = None) -> Iterator[str]:
    """Iterate over the ticks of the lower axis, without those that would touch the one before."""
    free = -math.inf
    for place, value in enumerate(values):
        x, _ = plot.at(value, plot.y.low)
        told = short_figure(value) if words is None else words[place]
        half = len(told) * 3.2
        if x - half > free:
            free = x + half + 4
            yield text(x, plot.top + plot.height + 14, told, anchor="middle")


def text(x: float, y: float, words: str, *, anchor: str = "start", kind: str = "") -> str:
    """Return a label; ``anchor`` and ``kind`` are ours, ``words`` may be anybody's."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def dot(plot: Plot, x: float, y: float, kind: str, words: str) -> str:
    """Return a point with words that show where the pointer rests on it."""
    place_x, place_y = plot.at(x, y)
    title = f"<title>{escape(words)}</title>"
    return f'<circle class="dot {kind}" cx="{place_x:.1f}" cy="{place_y:.1f}" r="4">{title}</circle>'


def line(plot: Plot, points: Sequence[tuple[float, float]], kind: str) -> str:
    """Return a line through points."""
    places = " ".join("{:.1f},{:.1f}".format(*plot.at(x, y)) for x, y in points)
    return f'<polyline class="line {kind}" points="{places}"/>'


def drawing(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    """Return an SVG of these parts; ``label`` is ours."""
    head = f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{label}">'
    return "\n".join([head, *parts, "</svg>"])


def short_figure(value: float) -> str:
    """Return a tick's value."""
    return f"{value:g}" if value < 10_000 else f"{value / 1000:g}k"


def told(value: float | None) -> str:
    """Return a figure for words beside a point."""
    return bench_figure(value)
