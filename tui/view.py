"""What a screen may ask of the watch behind it; the app implements it over a session."""

from collections.abc import Sequence
from typing import Protocol

from widgets.values import LogLine, ScreenValues


class View(Protocol):
    """The watch as a screen sees it: values to draw, lines to add, and the few things a key can start."""

    def values(self) -> ScreenValues:
        """Return what one paint needs, as of now."""
        ...

    def lines_after(self, number: int) -> Sequence[LogLine]:
        """Return the log lines with a higher number, oldest first (at most the newest 20,000)."""
        ...

    def start_bench(self) -> str:
        """Fire the benchmark, or arm it until ready; return the sentence that says which."""
        ...

    def cancel_bench(self) -> str:
        """Cancel or disarm the benchmark; return what was done in one sentence."""
        ...
