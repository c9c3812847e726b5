"""Memory and utilisation of every GPU over time, as few points as a chart needs."""

from dataclasses import dataclass, field

from tui.events import Gpus

POINTS = 600


@dataclass(frozen=True, slots=True)
class GpuPoint:
    """One moment at ``t`` seconds, or several joined: the most memory and the highest utilisation of them."""

    t: float
    used_mib: float | None
    utilisation_pct: float | None


@dataclass(slots=True)
class GpuSeries:
    """One GPU. Above 600 points neighbours are joined two by two, so that memory stays bounded."""

    index: int
    total_mib: float | None = None
    points: list[GpuPoint] = field(default_factory=list[GpuPoint])
    _each: int = 1
    _waiting: int = 0

    def add(self, point: GpuPoint) -> None:
        """Take a reading in."""
        if self.points and self._waiting:
            self.points[-1] = _joined(self.points[-1], point)
        else:
            self.points.append(point)
        self._waiting = (self._waiting + 1) % self._each
        if len(self.points) > POINTS:
            pairs = zip(self.points[::2], self.points[1::2], strict=False)
            odd = self.points[len(self.points) // 2 * 2 :]
            self.points = [_joined(one, other) for one, other in pairs] + odd
            self._each *= 2
            self._waiting = 0


class GpuChart:
    """The series of all GPUs, gathered event by event."""

    def __init__(self) -> None:
        self._series: dict[int, GpuSeries] = {}

    def take(self, event: Gpus, t: float) -> None:
        """Take one reading of every GPU in."""
        for sample in event.gpus:
            series = self._series.setdefault(sample.index, GpuSeries(sample.index))
            series.total_mib = sample.memory_total_mib or series.total_mib
            series.add(GpuPoint(t, sample.memory_used_mib, sample.utilisation_pct))

    def series(self) -> tuple[GpuSeries, ...]:
        """Return the series by index."""
        return tuple(self._series[index] for index in sorted(self._series))


def _joined(one: GpuPoint, other: GpuPoint) -> GpuPoint:
    return GpuPoint(
        one.t, _most(one.used_mib, other.used_mib), _most(one.utilisation_pct, other.utilisation_pct)
    )


def _most(one: float | None, other: float | None) -> float | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)
