"""Where a bug report is written to: beside the recordings, for this user's eyes only."""

import os
import re
import time
from pathlib import Path

from tui import files
from tui.commands import start

FOLDER = "reports"


def keep_report(report: str, host: str) -> str:
    """Write a bug report to a file of its own; return where it is, or why that failed, in a sentence."""
    folder = start.state_folder() / FOLDER
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", host)[:60] or "host"
    path = folder / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = os.open(path, files.WRITE | files.NO_LINK | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(file, "w", encoding="utf-8", errors="backslashreplace") as opened:
            opened.write(report)
    except OSError as error:
        return f"the bug report cannot be written to {shown(path)}: {error.strerror or error}"
    return f"the bug report is in {shown(path)}"


def shown(path: Path) -> str:
    """Return a path as short as a person writes it."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
