"""``tminus recordings``: what is kept, newest last."""

from tui.settings import Choices, UsageFault


def run(choices: Choices) -> int:
    """List the recordings; return the exit code."""
    raise UsageFault("recordings cannot be listed yet")
