"""Draws one headless frame with the installed tminus: run by .ci/run outside the checkout, on the wheel."""

import asyncio
import re
import sys
from pathlib import Path

import tui
from tui import present
from tui.app import TminusApp
from tui.view import StillView
from tui.watch.options import WatchOptions
from tui.watch.state import WatchState

WORDS = ("GPU", "Readiness", "Log", "quit")


async def frame() -> str:
    """Return the words of one frame of 80x24 cells."""
    app = TminusApp(StillView(present.present(WatchState(WatchOptions()), 0.0)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        picture = app.export_screenshot()
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture)).replace("&#160;", " ")


def main() -> int:
    """Say what was drawn and from where; 1 when a pane is missing."""
    drawn = asyncio.run(frame())
    missing = [word for word in WORDS if word not in drawn]
    place = Path(tui.__file__).parent
    sys.stdout.write(f"one frame of {len(drawn)} characters by {place}; missing: {missing or 'nothing'}\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
