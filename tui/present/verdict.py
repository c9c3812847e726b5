"""The verdict in a row or three: how the load is, since when, who waits for whom, what to do."""

import re
from collections.abc import Sequence
from dataclasses import replace

from tui.present.deadlines import nearest
from tui.watch.deadlines import RunningDeadline
from tui.watch.verdict.verdict import Verdict, Word
from tui.watch.verdict.words import CONFIDENCE_WORDS
from tui.watch.words import clock_text
from widgets.values import Mood, VerdictPanel

MOODS: dict[Word, Mood] = {
    "ready": Mood.GOOD, "progressing": Mood.ACTIVE, "slow": Mood.WARNING, "quiet": Mood.WARNING,
    "stalled": Mood.BAD, "hung": Mood.BAD, "suspended": Mood.BAD, "dead": Mood.BAD,
}  # fmt: skip
_TIMED = ("slow", "quiet", "stalled", "hung", "suspended")
_FOR = re.compile(r" ?for (?:\d+ d )?\d+(?::\d\d)+$")
_NUMBERED = re.compile(r"(?P<stem>.*?)(?P<number>\d+)")


def with_deadline(panel: VerdictPanel, found: Sequence[RunningDeadline]) -> VerdictPanel:
    """Return the panel with the time-out that strikes next, if it is near or the load stands still."""
    near = nearest(found, standing=panel.mood is Mood.BAD) if panel.word else None
    if near is None or near.left_s is None:
        return panel
    left = clock_text(near.left_s)
    return replace(panel, deadline=f"{near.name} time-out in {left}", deadline_left=left)


def verdict_panel(found: Verdict | None, now_s: float, *, ended: bool = False) -> VerdictPanel:
    """Return the panel at a time of the host; empty where nothing is known, or all is well and said.

    ``ended``: the load has ended, and the phases tell why and what to do.
    """
    if found is None or found.word == "ready":
        return VerdictPanel()
    panel = told_of(found, now_s, brief=ended or found.word == "progressing")
    # What runs on after the end is no evidence.
    return replace(panel, figures=()) if ended else panel


def told_of(found: Verdict, now_s: float, *, brief: bool) -> VerdictPanel:
    """Return all that a verdict says of itself."""
    place, told = parts(found)
    return VerdictPanel(
        word=found.word.upper(),
        mood=MOODS[found.word],
        clock=clock_text(now_s - found.since_s) if found.word in _TIMED else "",
        place=place,
        told=told,
        countdown=_countdown(found, now_s),
        cause=cause_text(found),
        figures=found.figures,
        waiting=ranks_text(found.waiting),
        next_step=found.next_step,
        not_to_do=found.not_to_do,
        brief=brief,
    )


def parts(found: Verdict) -> tuple[str, str]:
    """Return where the load stands and what is told of it, without word and duration, which stand apart."""
    rest = found.sentence.removeprefix(found.word)
    if rest == found.sentence:
        return "", rest
    place, _, told = rest.partition(": ") if not rest.startswith(":") else ("", "", rest[1:])
    return _FOR.sub("", place.strip()), told.strip()


def cause_text(found: Verdict) -> str:
    """Return the suspected cause with how sure it is, "" where none is."""
    return f"{found.cause} ({CONFIDENCE_WORDS[found.confidence]})" if found.cause else ""


def ranks_text(names: tuple[str, ...]) -> str:
    """Return the names of ranks, those in a row as one: "TP0-TP4, TP6"."""
    told: list[tuple[str, int, int]] = []
    others: list[str] = []
    for name in names:
        match = _NUMBERED.fullmatch(name)
        if match is None:
            others.append(name)
            continue
        stem, number = match["stem"], int(match["number"])
        if told and told[-1][0] == stem and told[-1][2] == number - 1:
            told[-1] = (stem, told[-1][1], number)
        else:
            told.append((stem, number, number))
    return ", ".join([*map(_range_text, told), *others])


def _range_text(run: tuple[str, int, int]) -> str:
    stem, first, last = run
    if first == last:
        return f"{stem}{first}"
    return f"{stem}{first}{', ' if last == first + 1 else '-'}{stem}{last}"


def _countdown(found: Verdict, now_s: float) -> str:
    """Return when a quiet load will count as stalled, and how long past loads have been quiet."""
    if found.word != "quiet":
        return ""
    known = found.longest_s is not None and found.longest_s >= 1
    longest = f"longest before {clock_text(found.longest_s or 0.0)}" if known else ""
    stalled = "" if found.until_s is None else f"{found.then} in {clock_text(found.until_s - now_s)}"
    return ", ".join(text for text in (stalled, longest) if text)
