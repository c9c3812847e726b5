"""``tminus export FILE --bundle OUT``: a recording as something to attach to a bug report."""

from dataclasses import dataclass

from tui.settings import Choices, UsageFault


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to export, as it was written on the command line."""

    recording: str | None
    bundle: str | None
    anonymise: bool
    mask: bool


def run(wanted: Wanted, choices: Choices) -> int:
    """Write the bundle; return the exit code."""
    raise UsageFault("recordings cannot be exported yet")
