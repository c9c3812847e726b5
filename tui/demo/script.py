"""The recorded log as a script: what is printed when, and when the port opens and the server is ready."""

import json
import time
from dataclasses import dataclass
from importlib.resources import files

PORT_LINE = "Uvicorn running on"
READY_LINE = "The server is fired up"


@dataclass(frozen=True, slots=True)
class Cue:
    """One piece of output: seconds since launch, and the text with its marks."""

    at_s: float
    text: str


def cues() -> list[Cue]:
    """Return the whole log, in order."""
    lines = files("tui.demo").joinpath("data/server.jsonl").read_text("utf-8").splitlines()
    return [Cue(float(at_s), str(text)) for at_s, text in map(json.loads, lines)]


def moment(script: list[Cue], words: str) -> float:
    """Return when the first line with these words is printed, in seconds since launch."""
    return next(cue.at_s for cue in script if words in cue.text)


def filled(text: str, port: int, pid: int) -> str:
    """Return a text with its marks filled in as of now."""
    now = time.strftime("[%Y-%m-%d %H:%M:%S")
    return text.replace("[@NOW@", now).replace("@PORT@", str(port)).replace("@PID@", str(pid))
