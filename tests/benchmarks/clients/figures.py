"""What the plain clients ask, and how they make figures of what they stamped."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Timed:
    """One request: when it was sent, when each chunk with text came, how many tokens the server counted."""

    sent_s: float
    ended_s: float = 0.0
    stamps_s: list[float] = field(default_factory=list[float])
    tokens: int = 0

    def add(self, now_s: float, chunk: dict[str, Any]) -> None:
        """Take one chunk."""
        if chunk["choices"] and chunk["choices"][0]["delta"].get("content"):
            self.stamps_s.append(now_s)
        if chunk.get("usage"):
            self.tokens = chunk["usage"]["completion_tokens"]


def chat(tokens: int, words: int) -> dict[str, Any]:
    """Return the body of a request."""
    content = " ".join(["word"] * words)
    return {
        "model": "mock",
        "messages": [{"role": "user", "content": content}],
        "max_tokens": tokens,
        "temperature": 0,
        "ignore_eos": True,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def quantile(values: list[float], fraction: float) -> float:
    """Interpolate linearly between order statistics."""
    ordered = sorted(values)
    rank = (len(ordered) - 1) * fraction
    low = int(rank)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (rank - low)


def figures(timed: list[Timed]) -> dict[str, float]:
    """Return the figures of a run, by the formulas of tui/agent/load/metrics.py."""
    ttft_ms = [(one.stamps_s[0] - one.sent_s) * 1e3 for one in timed]
    tpot_ms = [(one.stamps_s[-1] - one.stamps_s[0]) / (one.tokens - 1) * 1e3 for one in timed]
    seconds = max(one.ended_s for one in timed) - min(one.sent_s for one in timed)
    return {
        "requests": len(timed),
        "ttft_p50_ms": quantile(ttft_ms, 0.5),
        "ttft_p99_ms": quantile(ttft_ms, 0.99),
        "tpot_mean_ms": sum(tpot_ms) / len(tpot_ms),
        "tokens_per_s": sum(one.tokens for one in timed) / seconds,
        "concurrency": sum(one.ended_s - one.sent_s for one in timed) / seconds,
    }
