"""Durations, ages and kinds of failure in words."""

from tui.engines.marks import FaultKind

FAULT_KIND_WORDS: dict[FaultKind, str] = {
    FaultKind.OOM_WEIGHTS: "out of memory for the weights",
    FaultKind.OOM_KV: "out of memory for the KV cache",
    FaultKind.OOM_CAPTURE: "out of GPU memory",
    FaultKind.OOM_HOST: "killed, or out of host memory",
    FaultKind.PORT_IN_USE: "port in use",
    FaultKind.MISSING_MODEL: "model missing or damaged",
    FaultKind.BAD_CONFIG: "configuration that cannot work",
    FaultKind.NCCL: "communication between ranks",
    FaultKind.DRIVER: "GPU or driver",
    FaultKind.COMPILE: "compilation failed",
    FaultKind.RANK_DIED: "a rank died",
    FaultKind.WARMUP_FAILED: "warm-up request failed",
    FaultKind.TIMEOUT: "time-out",
    FaultKind.UNKNOWN: "cause not recognised",
}
"""The kinds of failure as they are shown."""


def clock_text(seconds: float) -> str:
    """Return a duration as the clock shows it: 0:07, 3:07, 1:02:03, 2 d 3:04:05."""
    whole = max(0, int(seconds))
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, left = divmod(rest, 60)
    short = f"{hours}:{minutes:02}:{left:02}" if hours or days else f"{minutes}:{left:02}"
    return f"{days} d {short}" if days else short


def age_text(seconds: float) -> str:
    """Return an age in one or two units, coarser with time: 7 s, 3 min, 2 h 10 min, 3 d."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    if whole < 86_400:
        minutes = whole % 3600 // 60
        return f"{whole // 3600} h {minutes} min" if minutes else f"{whole // 3600} h"
    return f"{whole // 86_400} d"


def shortened(text: str, length: int) -> str:
    """Return a text of so many characters at most, with an ellipsis where something is missing."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
