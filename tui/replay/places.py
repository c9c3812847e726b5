"""Where a person asks to go: a time, or something that the tape comes to."""

import re

from tui.replay.player import END, Player
from tui.watch.transitions import Kind, Transition
from tui.watch.words import clock_text

_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):([0-5]?\d(?:\.\d+)?)", re.ASCII)
_SECONDS = re.compile(r"([+-]?)(\d{1,9}(?:\.\d+)?)_?(s|m|h)?", re.ASCII)
_UNITS_S = {"s": 1.0, "m": 60.0, "h": 3600.0, None: 1.0}
_KINDS: dict[str, Kind] = {"phase": "phase", "verdict": "verdict", "readiness": "readiness", "fault": "fault"}
_GRACE_S = 1.0
HELP = "12:30, 90s, +30, -30, start, end, ready, fault, verdict, phase or a phase's name"


def go_to(player: Player, wish: str) -> str:
    """Move the needle to where ``wish`` says; return what was done, or why it cannot be, in a sentence."""
    word = "_".join(wish.lower().split())
    if not word:
        return f"where to? {HELP}"
    seconds = _place(player, word)
    if seconds is None:
        return _to_change(player, word, wish)
    player.seek(seconds)
    if word == "end":
        return "at the end"
    return f"at {clock_text(player.t)}{'' if seconds <= player.t else ', the end'}"


def jump(player: Player, direction: int) -> str:
    """Go to the next (1) or previous (-1) change of phase, readiness or verdict, or fault."""
    t = player.t
    if direction > 0:
        return _show(player, player.moments.after(t), f"nothing changes after this{_so_far(player)}")
    # Playing on right after a jump must not make the way further back end where it began.
    grace_s = _GRACE_S * player.speed if player.playing and not player.seeking else 0.0
    found = player.moments.before(t - grace_s)
    if found is None and t > 0:
        player.seek(0.0)
        return "at the start"
    return _show(player, found, "nothing changed before this")


def _to_change(player: Player, word: str, wish: str) -> str:
    kind = _KINDS.get(word)
    if kind is not None:
        found = player.moments.after(player.t, kind) or player.moments.after(-1.0, kind)
        return _show(player, found, f"the recording tells of no {word}{_so_far(player)}")
    found = player.moments.reached(word, player.t)
    return _show(player, found, f"there is no {wish.strip()!r} in the recording{_so_far(player)}; {HELP}")


def _show(player: Player, found: Transition | None, otherwise: str) -> str:
    if found is None:
        return otherwise
    player.seek(found.t)
    return f"{found.kind}: {found.words} at {clock_text(found.t)}"


def _so_far(player: Player) -> str:
    return "" if player.moments.complete else " as far as it is read"


def _place(player: Player, word: str) -> float | None:
    """Return the seconds that a word stands for, None where it names no time."""
    if word == "start":
        return 0.0
    if word == "end":
        return END if player.tape.outline is None else player.moments.length_s
    clock = _CLOCK.fullmatch(word)
    if clock is not None:
        return int(clock[1] or 0) * 3600 + int(clock[2]) * 60 + float(clock[3])
    found = _SECONDS.fullmatch(word)
    if found is None:
        return None
    seconds = float(found[2]) * _UNITS_S[found[3]]
    return max(0.0, player.t + float(f"{found[1]}{seconds}")) if found[1] else seconds
