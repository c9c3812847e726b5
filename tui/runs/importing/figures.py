"""Kinds of figures in a client's file, and its per-request lists put together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec

from tui.runs.importing.reading import Found

Count = Annotated[int, msgspec.Meta(ge=0, le=10**12)]
Seconds = Annotated[float, msgspec.Meta(gt=0, le=10**9)]


@dataclass(frozen=True, slots=True)
class Lists:
    """One request of a file that has a list for each thing. Seconds."""

    ttft_s: float
    gaps_s: Sequence[float]
    input_tokens: int
    output_tokens: int
    error: str

    @property
    def failed(self) -> bool:
        """The client's own success, which is not written: it leaves all at nothing where it failed."""
        return bool(self.error) or (self.ttft_s <= 0 and not self.gaps_s and self.output_tokens == 0)


def whole_lists(
    found: Found,
    ttfts: Sequence[float] | None,
    gaps: Sequence[Sequence[float]] | None,
    inputs: Sequence[int] | None,
    outputs: Sequence[int] | None,
    errors: Sequence[str | None] | None,
) -> list[Lists] | None:
    """Return the requests, None where the file has none. Raises ImportFault for lists that do not match."""
    if ttfts is None or gaps is None or inputs is None or outputs is None or errors is None:
        return None
    lengths = {len(ttfts), len(gaps), len(inputs), len(outputs), len(errors)}
    if len(lengths) != 1:
        found.refuse(
            "the lists of its requests differ in length: ttfts, itls, input_lens, output_lens, errors"
        )
    made = [Lists(*one[:4], one[4] or "") for one in zip(ttfts, gaps, inputs, outputs, errors, strict=True)]
    for place, one in enumerate(made, start=1):
        if not all(0 <= value < 10**9 for value in (one.ttft_s, *one.gaps_s)):
            found.refuse(f"request {place} has a time that is none")
    return made
