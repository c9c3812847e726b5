"""``tminus explain LOG...``: what the log of a load says, in words or as JSON."""

import os
import sys
from collections.abc import Sequence

import msgspec

from tui import parse
from tui.engines.base import Engine
from tui.engines.generic import GENERIC
from tui.engines.registry import ENGINES, engine_named
from tui.explain import words
from tui.explain.report import Report, explain
from tui.explain.sources import LogFault
from tui.settings import Choices, UsageFault

_COLOURS = {"failed": "1;31", "stopped": "1;33", "ready": "1;32", "unfinished": "1"}


def run(logs: Sequence[str], choices: Choices) -> int:
    """Print what the logs say, which are the files of one load. Return 0 whatever that is.

    Raises UsageFault for what cannot be read as a log.
    """
    engine = _engine(choices.engine)
    try:
        report = explain(logs, engine)
    except LogFault as fault:
        raise UsageFault(str(fault)) from None
    text = encoded(report) if choices.json else "\n".join(_coloured(report))
    # A log may hold characters that the terminal's encoding lacks.
    sys.stdout.buffer.write((text + "\n").encode("utf-8" if choices.json else _encoding(), "replace"))
    sys.stdout.buffer.flush()
    return 0


def encoded(report: Report) -> str:
    """Return a report as one JSON line, without the newline."""
    return msgspec.json.encode(report).decode()


def _encoding() -> str:
    return sys.stdout.encoding or "utf-8"


def _engine(name: str | None) -> Engine | None:
    if name is None:
        return None
    engine = engine_named(name)
    if engine is None:
        names = tuple(engine.name for engine in (*ENGINES, GENERIC))
        hint = parse.nearest(name, names)
        raise UsageFault(f"--engine must be {', '.join(names[:-1])} or {names[-1]}, not {name!r}{hint}")
    return engine


def _coloured(report: Report) -> Sequence[str]:
    first, *rest = words.lines(report)
    if sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        first = f"\x1b[{_COLOURS[report.outcome]}m{first}\x1b[0m"
    return [first, *rest]
