"""Whether the load generator itself was the limit, so that the figures are its own and not the server's."""

from tui.benchmark import BenchResult

CPU_AT_MOST = 0.7
"""Of a core: above, the one thread of an event loop has no room for a burst (llm-bench.md, section 6)."""
LAG_OF_ITL_AT_MOST = 0.1
"""The loop's own lateness at p99, as a part of the mean ITL (same place). The mean: chunks that come in one
read have gaps of 0, which would make a median 0."""


def client_bound(result: BenchResult) -> str:
    """Return in words why the generator was the limit; "" when it was not, or when that is not known."""
    cpu, lag_ms, itl_ms = result.client_cpu_fraction, result.lag_ms.p99, result.itl_ms.mean
    if cpu is not None and cpu > CPU_AT_MOST:
        return f"the load generator used {cpu:.0%} of a core"
    if lag_ms is not None and itl_ms is not None and lag_ms > LAG_OF_ITL_AT_MOST * itl_ms:
        return f"the load generator was {lag_ms:.1f} ms late at p99, of {itl_ms:.1f} ms between chunks"
    return ""
