"""Figures that follow from a result's own, for those who compare and draw."""

from tui.benchmark import BenchResult


def tokens_per_chunk(result: BenchResult) -> float | None:
    """Return how many tokens a chunk with text carried on average, None where tokens were not counted.

    Above 1 (speculative decoding, a server that bundles) ITL and TPOT differ by this factor. None too for a
    run of another client, whose ITL may have one sample a request, or none.
    """
    chunks = result.chunks
    if chunks is None and result.measured_on != "elsewhere":
        chunks = result.itl_ms.samples + result.completed  # recorded before chunks were counted
    if result.tokens_counted_by != "usage" or not result.output_tokens or not chunks:
        return None
    return result.output_tokens / chunks
