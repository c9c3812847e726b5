"""Files of the H200 recorder for tests: a piece cut from a real one, and ones of a few lines."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tui.events import AnyEvent
from tui.journal.h200 import H200Recording

CUT = Path(__file__).parents[1] / "fixtures" / "h200" / "two-ranks"
Line = dict[str, Any]


def launch(engine: str = "sglang", served: str = "m", **more: Any) -> Line:
    command = ["python3", "-m", "sglang.launch_server", "--port", "30000", "--served-model-name", served]
    return {"k": "events", "t": 0.001, "ev": "launch", "pid": 7, "cmd": command, "engine": engine, **more}


def started() -> list[Line]:
    return [
        launch(),
        {"k": "proc", "t": 0.01, "new": 7, "ppid": 1, "comm": "python3", "cmd": " ".join(launch()["cmd"])},
        {"k": "proc", "t": 0.02, "p": {"7": ["S", 1, 2]}},
    ]


def written(folder: Path, lines: Sequence[Line]) -> Path:
    path = folder / "recording.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def events_of(folder: Path, lines: Sequence[Line]) -> list[AnyEvent]:
    return list(H200Recording(written(folder, lines)).events())


def health(t: float, status: int | str, ms: float = 1.0) -> Line:
    return {"k": "http", "t": t, "p": "/health", "st": status, "ms": ms, "body": "", "len": 0}
