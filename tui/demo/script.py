"""The log of a scenario as a script: what is printed when, on the scenario's clock.

Two clocks meet here. The recording's is that of the log file and of the GPUs' curve; the scenario's runs the
same but for stretches that are slow and for where a rank freezes.
"""

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files

from tui.demo.scenario import (
    LogEnds,
    LogPart,
    Prints,
    RankFreezes,
    RankKilled,
    Scenario,
    ScenarioFault,
    ServerExits,
    Slow,
)

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ELAPSED = re.compile(r"(?<=elapsed=)([\d.]+)(?= s\b)")
_BAR = re.compile(r"\[(\d+):(\d\d)<(\d+):(\d\d|\?), +([\d.?]+)(s/it|it/s)\]")

Moment = RankFreezes | RankKilled | ServerExits | LogEnds | Prints


@dataclass(frozen=True, slots=True)
class Cue:
    """One piece of output: seconds since launch, and the text with its marks."""

    at_s: float
    text: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Seconds of the recording that take ``factor`` times as long."""

    began_s: float
    ended_s: float
    factor: float


@dataclass(frozen=True, slots=True)
class Pause:
    """From this second of the scenario the recording stands still; for ever with an infinite length."""

    began_s: float
    length_s: float


@dataclass(frozen=True, slots=True)
class Clocks:
    """The way from the recording's clock to the scenario's and back."""

    stretches: tuple[Stretch, ...] = ()
    pauses: tuple[Pause, ...] = ()

    def scenario_s(self, recorded_s: float) -> float:
        """Return when a moment of the recording comes; infinite where it never does."""
        t = recorded_s + sum(
            max(0.0, min(recorded_s, each.ended_s) - each.began_s) * (each.factor - 1)
            for each in self.stretches
        )
        for pause in self.pauses:
            t += pause.length_s if t > pause.began_s else 0.0
        return t

    def recorded_s(self, t: float) -> float:
        """Return where the recording is at a moment of the scenario."""
        for pause in reversed(self.pauses):
            t = max(pause.began_s, t - pause.length_s) if t > pause.began_s else t
        for each in self.stretches:
            into = t - each.began_s
            slow_s = (each.ended_s - each.began_s) * each.factor
            if into > 0:
                t = each.began_s + (
                    into / each.factor if into < slow_s else into - slow_s + slow_s / each.factor
                )
        return t


@dataclass(frozen=True, slots=True)
class Script:
    """A scenario's output in order, its clocks, and when what happens does (places as in the scenario)."""

    cues: tuple[Cue, ...]
    clocks: Clocks
    moments: tuple[float, ...]

    def when(self, words: str | None) -> float:
        """Return when the first line with these words is printed, infinite where none is."""
        return next((cue.at_s for cue in self.cues if words is not None and words in cue.text), math.inf)


def cues(name: str = "server.jsonl") -> list[Cue]:
    """Return a whole log of the package, in order. Raises ScenarioFault where there is none."""
    try:
        lines = files("tui.demo").joinpath("data", name).read_text("utf-8").splitlines()
    except FileNotFoundError:
        raise ScenarioFault(f"the demo has no log named {name}") from None
    return [Cue(float(at_s), _COLOUR.sub("", str(text))) for at_s, text in map(json.loads, lines)]


def script(scenario: Scenario) -> Script:
    """Return what is printed in a scenario. Raises ScenarioFault where it names lines that there are not."""
    recorded = cues(scenario.log.file)
    clocks = Clocks(tuple(sorted((_stretch(each, recorded, scenario) for each in scenario.slow), key=_began)))
    slow = [_slowed(cue, clocks) for cue in recorded]
    moments = tuple(_moment(scenario, slow, each) for each in scenario.happens)
    pauses = [
        Pause(at_s, math.inf if each.for_s is None else each.for_s)
        for at_s, each in zip(moments, scenario.happens, strict=True)
        if isinstance(each, RankFreezes)
    ]
    paused = replace(clocks, pauses=tuple(sorted(pauses, key=lambda pause: pause.began_s)))
    late = Clocks(pauses=paused.pauses)
    moved = [replace(cue, at_s=late.scenario_s(cue.at_s)) for cue in slow]
    kept = [cue for cue in moved if cue.at_s < math.inf and not _unprinted(cue, scenario, moments)]
    whole = sorted([*kept, *_printed(scenario, moments)], key=lambda cue: cue.at_s)
    return Script(tuple(whole), _stopped(paused, scenario, moments), moments)


def filled(text: str, port: int, pid: int, wall_s: float) -> str:
    """Return a text with its marks filled in as of a time of day (UTC)."""
    now = time.strftime("[%Y-%m-%d %H:%M:%S", time.gmtime(wall_s))
    return text.replace("[@NOW@", now).replace("@PORT@", str(port)).replace("@PID@", str(pid))


def line_time(recorded: Sequence[Cue], words: str) -> float | None:
    """Return when the first line with these words is printed, None where none is."""
    return next((cue.at_s for cue in recorded if words in cue.text), None)


def _began(stretch: Stretch) -> float:
    return stretch.began_s


def _stretch(slow: Slow, recorded: Sequence[Cue], scenario: Scenario) -> Stretch:
    began_s = _known(line_time(recorded, slow.line), slow.line, scenario)
    ended_s = _known(line_time(recorded, slow.until_line), slow.until_line, scenario)
    return Stretch(began_s, ended_s, slow.factor)


def _known(at_s: float | None, words: str, scenario: Scenario) -> float:
    if at_s is None:
        raise ScenarioFault(f"scenario {scenario.name}: {scenario.log.file} has no line with {words!r}")
    return at_s


def _moment(scenario: Scenario, slow: Sequence[Cue], each: object) -> float:
    """Return when something happens, before a rank that freezes has moved anything."""
    at_s, line, after_s = (getattr(each, name) for name in ("at_s", "line", "after_s"))
    if line is not None:
        at_s = _known(line_time(slow, line), line, scenario)
    return float(at_s or 0.0) + float(after_s)


def _unprinted(cue: Cue, scenario: Scenario, moments: Sequence[float]) -> bool:
    """Say whether a line of the recording is not printed for what has happened before it."""
    for at_s, each in zip(moments, scenario.happens, strict=True):
        if cue.at_s <= at_s:
            continue
        if isinstance(each, ServerExits | LogEnds):
            return True
        if isinstance(each, RankKilled) and mark(scenario.log, each.rank) in cue.text:
            return True
    return False


def _printed(scenario: Scenario, moments: Sequence[float]) -> Iterator[Cue]:
    for at_s, each in zip(moments, scenario.happens, strict=True):
        if isinstance(each, Prints):
            yield from (Cue(at_s + after_s, f"{text}\n") for after_s, text in each.lines)


def _stopped(clocks: Clocks, scenario: Scenario, moments: Sequence[float]) -> Clocks:
    """Let the recording stand still from where its log is no longer printed."""
    ends = [
        at_s
        for at_s, each in zip(moments, scenario.happens, strict=True)
        if isinstance(each, ServerExits | LogEnds)
    ]
    if not ends:
        return clocks
    return replace(clocks, pauses=(*clocks.pauses, Pause(min(ends), math.inf)))


def mark(log: LogPart, rank: int) -> str:
    """Return what stands in a rank's own lines."""
    return log.rank_mark.format(rank=rank)


# Figures of time inside a line, worked out again for a load that is slower.


def _slowed(cue: Cue, clocks: Clocks) -> Cue:
    now_s = clocks.scenario_s(cue.at_s)
    if not clocks.stretches:
        return cue

    def longer(seconds: float) -> float:
        return now_s - clocks.scenario_s(cue.at_s - seconds)

    text = _ELAPSED.sub(lambda found: f"{longer(float(found[1])):.2f}", cue.text)
    return Cue(now_s, _BAR.sub(lambda found: _slow_bar(found, longer, clocks, cue.at_s), text))


def _slow_bar(found: re.Match[str], longer: Callable[[float], float], clocks: Clocks, at_s: float) -> str:
    minutes, seconds, left_minutes, left_seconds, rate, unit = found.groups()
    if "?" in (left_seconds, rate):
        return found[0]
    done_s, left_s = int(minutes) * 60 + int(seconds), int(left_minutes) * 60 + int(left_seconds)
    factor = next((each.factor for each in clocks.stretches if each.began_s < at_s <= each.ended_s), 1.0)
    per_s = (float(rate) if unit == "s/it" else 1 / float(rate)) * factor
    pace = f"{per_s:5.2f}s/it" if per_s > 1 else f"{1 / per_s:5.2f}it/s"
    return f"[{_clock(longer(done_s))}<{_clock(left_s * factor)}, {pace}]"


def _clock(seconds: float) -> str:
    minutes, left = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes:02}:{left:02}"
