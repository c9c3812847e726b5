"""From a rule and what its pattern found to the mark that it means."""

import re
from collections.abc import Mapping

from tui.engines.lines import Bar
from tui.engines.marks import FaultMark, Figure, Mark, MarkKind, Progress, RankIdentity, Speaker, Steady
from tui.engines.rules import FaultRule, Rule

_UNITS = ("_gib", "_mib", "_tokens", "_s", "_pct", "_bytes", "_x")
_SCALES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_STEADY = frozenset(Steady.__struct_fields__)
_STEADY_NAMES = _STEADY | {"kv_used_share"}
_NO_FIGURES = {"kv_used_share", "done_share"}
_IDENTITY = frozenset(RankIdentity.__struct_fields__)
_NO_STEADY = Steady()
_SPEAKERS = 1024


def number(text: str | None) -> float | None:
    """Return a printed figure ("1,001,650", "83.0k", "12."), None where it is none."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return _scaled(text)


def _scaled(text: str) -> float | None:
    bare = text.replace(",", "").strip()
    scale = _SCALES.get(bare[-1:], 1.0)
    try:
        return float(bare[:-1] if scale != 1.0 else bare) * scale
    except ValueError:
        return None


_Texts = tuple[str | None, ...]


class MarkMaker:
    """Makes the marks of one rule: knows what its pattern's groups can hold and looks for nothing else."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        places = rule.pattern.groupindex
        self._kind = MarkKind.HEARTBEAT if rule.heartbeat and rule.phase is None else rule.kind
        self._counts = rule.kind is MarkKind.PROGRESS or bool(rule.unit)
        self._identifies = rule.kind is MarkKind.IDENTITY
        self._places = _Places(places)
        self._steady = None if _STEADY_NAMES.isdisjoint(places) else _SteadyPlaces(places)
        self._figures = _figure_places(places)
        self._bare = not places
        self._same: dict[Speaker, Mark] = {}

    def mark(self, found: re.Match[str], speaker: Speaker, bar: Bar | None = None) -> Mark:
        """Return the mark that a match means; ``bar`` is the drawing that a bar row was found in."""
        texts = (*found.groups(), None)
        if bar is None and (self._bare or texts.count(None) == len(texts)):
            return self._same.get(speaker) or self._without_values(speaker)
        rule, places = self.rule, self._places
        part = texts[places.part]
        return Mark(
            self._kind,
            speaker,
            rule.phase,
            rule.each,
            rule.part if part is None else part.strip(),
            number(texts[places.seconds]),
            self._progress(texts, bar) if self._counts else None,
            None if self._steady is None else self._steady.read(texts),
            _identity(found) if self._identifies else None,
            _figures(self._figures, texts) if self._figures else (),
            texts[places.version],
            texts[places.arguments],
            rule.heartbeat,
        )

    def _without_values(self, speaker: Speaker) -> Mark:
        rule = self.rule
        if len(self._same) >= _SPEAKERS:
            self._same.clear()
        mark = Mark(self._kind, speaker, rule.phase, rule.each, rule.part, heartbeat=rule.heartbeat)
        self._same[speaker] = mark
        return mark

    def _progress(self, texts: _Texts, bar: Bar | None) -> Progress | None:
        places = self._places
        share, dots = texts[places.done_share], texts[places.done_dots]
        if share is not None or dots is not None:
            return _hundredths(share, dots)
        done = number(texts[places.done] if bar is None else bar.done)
        total = number(texts[places.total] if bar is None else bar.total)
        if done is None or (total is not None and (total <= 0 or done > total)):
            return None
        text = "" if bar is None else bar.text
        return Progress(done, total, self.rule.unit, text, texts[places.current] or "")


class _Places:
    """Where a pattern's groups stand among the texts of a match; -1, behind them, for those that it lacks."""

    def __init__(self, places: Mapping[str, int]) -> None:
        self.part = places.get("part", 0) - 1
        self.seconds = places.get("seconds", 0) - 1
        self.version = places.get("version", 0) - 1
        self.arguments = places.get("arguments", 0) - 1
        self.done = places.get("done", 0) - 1
        self.total = places.get("total", 0) - 1
        self.current = places.get("current", 0) - 1
        self.done_share = places.get("done_share", 0) - 1
        self.done_dots = places.get("done_dots", 0) - 1


class _SteadyPlaces:
    """Where a pattern's groups hold the figures of a server that serves; -1 for those that it lacks."""

    def __init__(self, places: Mapping[str, int]) -> None:
        self._output = places.get("output_tokens_per_s", 0) - 1
        self._prompt = places.get("prompt_tokens_per_s", 0) - 1
        self._running = places.get("running", 0) - 1
        self._queued = places.get("queued", 0) - 1
        self._used = places.get("kv_used_pct", 0) - 1
        self._share = places.get("kv_used_share", 0) - 1
        self._accepted = places.get("acceptance_length", 0) - 1

    def read(self, texts: _Texts) -> Steady | None:
        """Return the figures, None where none of them is printed."""
        share = number(texts[self._share])
        steady = Steady(
            number(texts[self._output]),
            number(texts[self._prompt]),
            _whole(texts[self._running]),
            _whole(texts[self._queued]),
            number(texts[self._used]) if share is None else share * 100,
            number(texts[self._accepted]),
        )
        return None if steady == _NO_STEADY else steady


def _whole(text: str | None) -> int | None:
    value = number(text)
    return None if value is None else int(value)


def _hundredths(share_text: str | None, dots: str | None) -> Progress | None:
    """Progress in per cent: a share of 1 (``done_share``), or a dot for each hundredth (``done_dots``)."""
    share = number(share_text)
    done = float(len(dots or "")) if share is None else round(share * 100, 1)
    return Progress(done, 100.0, "%") if 0 <= done <= 100 else None


def _identity(found: re.Match[str]) -> RankIdentity:
    groups: dict[str, str | None] = found.groupdict()
    return RankIdentity(
        **{name: int(text) for name, text in groups.items() if name in _IDENTITY and text and text.isdigit()}
    )


def _figure_places(places: Mapping[str, int]) -> tuple[tuple[int, str, float], ...]:
    """Return where figures stand, their names, and what they are multiplied by."""
    found: list[tuple[int, str, float]] = []
    for name, place in places.items():
        if name.endswith(_UNITS) and name not in _STEADY:
            found.append((place - 1, name, 1.0))
        elif name.endswith("_share") and name not in _NO_FIGURES:
            found.append((place - 1, name.removesuffix("share") + "pct", 100.0))
    return tuple(found)


def _figures(places: tuple[tuple[int, str, float], ...], texts: _Texts) -> tuple[Figure, ...]:
    values = [(name, number(texts[place]), factor) for place, name, factor in places]
    return tuple([Figure(name, value * factor) for name, value, factor in values if value is not None])


def fault_mark(rule: FaultRule, found: re.Match[str], *, uncaught: bool) -> FaultMark:
    """Return what a fault row's match means; braces in its sentences take the pattern's groups."""
    groups = {name: text or "?" for name, text in found.groupdict().items()}
    return FaultMark(
        rule.kind,
        rule.weight,
        rule.terminal or uncaught,
        rule.cause.format_map(groups) if groups else rule.cause,
        rule.next_step.format_map(groups) if groups else rule.next_step,
        rule.phase,
        rule.while_loading,
        uncaught,
    )
