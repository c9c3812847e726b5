"""Where a person asks to go: a time, or something that the tape comes to."""

import re

from tui.replay.player import Player
from tui.watch.transitions import Kind, Transition
from tui.watch.words import clock_text

_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d{1,2}(?:\.\d+)?)")
_SECONDS = re.compile(r"([+-]?)(\d+(?:\.\d+)?)\s*(s|m|h)?")
_UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}
_KINDS: dict[str, Kind] = {"phase": "phase", "verdict": "verdict", "readiness": "readiness", "fault": "fault"}
HELP = "12:30, 90s, +30, -30, start, end, ready, fault, verdict, phase or a phase's name"


def go_to(player: Player, wish: str) -> str:
    """Move the needle to where ``wish`` says; return what was done, or why it cannot be, in a sentence."""
    word = wish.strip().lower().replace(" ", "_")
    seconds = _time(word, player.t)
    if word in ("start", "end"):
        seconds = 0.0 if word == "start" else player.moments.length_s
    if seconds is not None:
        player.seek(seconds)
        return f"at {clock_text(max(0.0, seconds))}"
    return _to_change(player, word, wish)


def jump(player: Player, direction: int) -> str:
    """Go to the next (1) or previous (-1) change of phase, readiness or verdict, or fault."""
    # Playing on right after a jump must not make the way further back end where it began.
    t = player.t
    found = player.moments.after(t) if direction > 0 else player.moments.before(t - 1.0)
    return _show(player, found, "nothing changes after this" if direction > 0 else "nothing changed before")


def _to_change(player: Player, word: str, wish: str) -> str:
    kind = _KINDS.get(word)
    if kind is not None:
        found = player.moments.after(player.t, kind) or player.moments.after(-1.0, kind)
        return _show(player, found, f"the recording tells of no {word}" + _so_far(player))
    found = player.moments.reached(word, player.t)
    return _show(player, found, f"there is no {wish.strip()!r} in the recording{_so_far(player)}; {HELP}")


def _show(player: Player, found: Transition | None, otherwise: str) -> str:
    if found is None:
        return otherwise
    player.seek(found.t)
    what = found.after or f"{found.before} no more"
    return f"{found.kind}: {what} at {clock_text(found.t)}"


def _so_far(player: Player) -> str:
    return "" if player.moments.complete else " as far as it is read"


def _time(word: str, now_t: float) -> float | None:
    clock = _CLOCK.fullmatch(word)
    if clock is not None:
        return int(clock[1] or 0) * 3600 + int(clock[2]) * 60 + float(clock[3])
    found = _SECONDS.fullmatch(word)
    if found is None:
        return None
    seconds = float(found[2]) * _UNITS_S[found[3]]
    return now_t + float(f"{found[1]}{seconds}") if found[1] else seconds
