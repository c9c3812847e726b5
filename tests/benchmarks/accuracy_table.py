"""The rows of bench_accuracy.py: claims beside the truth, and whether ours are within the goals."""

from dataclasses import asdict, dataclass

from accuracy_clients import Claim
from accuracy_cpu import Shares
from accuracy_mock import Truth

TTFT_ERROR_MS = {1: 1.0, 16: 2.0, 64: 5.0, 256: 10.0}
TPOT_ERROR = 0.02
CONCURRENCY = 0.95
CPU_STREAMS = 64
CPU_QUICK, CPU_PLAIN = 0.25, 0.60
COLUMNS = (
    ("client", 26),
    ("TTFT p50", 8),
    ("true", 6),
    ("p99", 7),
    ("true", 6),
    ("TPOT", 6),
    ("true", 6),
    ("tok/s", 7),
    ("true", 7),
    ("in flight", 9),
    ("true", 6),
    ("CPU %", 6),
    ("wall s", 6),
    ("others", 6),
    ("goals", 5),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One run of a client, ``wall_s`` long in all. ``quick`` is None for one that is not ours."""

    client: str
    streams: int
    claim: Claim
    truth: Truth
    shares: Shares
    wall_s: float
    quick: bool | None

    @property
    def missed(self) -> list[str] | None:
        """Return the goals that ours missed, with figures; None for other clients."""
        if self.quick is None:
            return None
        return [words for words, met in self._goals() if not met]

    def _goals(self) -> list[tuple[str, bool]]:
        ttft_ms = self.claim.ttft_p50_ms - self.truth.ttft_p50_ms
        tpot = self.claim.tpot_mean_ms / self.truth.tpot_mean_ms - 1
        achieved = (self.claim.concurrency or 0.0) / self.streams
        goals = [
            (f"TPOT {tpot:+.1%}", abs(tpot) <= TPOT_ERROR),
            (f"concurrency {achieved:.1%}", achieved >= CONCURRENCY),
        ]
        if self.streams in TTFT_ERROR_MS:
            goals.append((f"TTFT {ttft_ms:+.2f} ms", abs(ttft_ms) <= TTFT_ERROR_MS[self.streams]))
        if self.streams == CPU_STREAMS:
            cpu = self.cpu
            goals.append((f"CPU {cpu:.0%}", cpu <= (CPU_QUICK if self.quick else CPU_PLAIN)))
        return goals

    @property
    def cpu(self) -> float:
        """The client's cores while it measured, all its processes: as seen from outside, and by itself."""
        return max(self.shares.client, self.claim.cpu or 0.0)

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        claim, true, missed = self.claim, self.truth, self.missed
        return (
            self.client,
            f"{claim.ttft_p50_ms:.2f}",
            f"{true.ttft_p50_ms:.2f}",
            "-" if claim.ttft_p99_ms is None else f"{claim.ttft_p99_ms:.1f}",
            f"{true.ttft_p99_ms:.1f}",
            f"{claim.tpot_mean_ms:.3f}",
            f"{true.tpot_mean_ms:.3f}",
            f"{claim.tokens_per_s:.0f}",
            f"{true.tokens_per_s:.0f}",
            "-" if claim.concurrency is None else f"{claim.concurrency:.1f}",
            f"{true.concurrency:.1f}",
            f"{self.cpu * 100:.0f}",
            f"{self.wall_s:.1f}",
            f"{self.shares.others:.2f}",
            "" if missed is None else "FAIL: " + ", ".join(missed) if missed else "PASS",
        )

    def fields(self) -> dict[str, object]:
        """Return the row for JSON."""
        return {**asdict(self), "missed": self.missed}


def line(cells: tuple[str, ...]) -> str:
    """Return one line of the table."""
    first, *rest = zip(cells, COLUMNS, strict=True)
    texts = [first[0].ljust(first[1][1]), *(cell.rjust(width) for cell, (_, width) in rest)]
    return "  ".join(texts)


def headings() -> str:
    """Return the line of headings."""
    return line(tuple(name for name, _ in COLUMNS))
