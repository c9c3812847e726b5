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


class MarkMaker:
    """Makes the marks of one rule: knows what its pattern's groups can hold and looks for nothing else."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        places = rule.pattern.groupindex
        self._kind = MarkKind.HEARTBEAT if rule.heartbeat and rule.phase is None else rule.kind
        self._steady = _SteadyPlaces(places) if not _STEADY_NAMES.isdisjoint(places) else None
        self._only_steady = self._steady is not None and _STEADY_NAMES.issuperset(places) and not rule.unit
        self._same: dict[Speaker, Mark] = {}

    def mark(self, found: re.Match[str], speaker: Speaker, bar: Bar | None = None) -> Mark:
        """Return the mark that a match means; ``bar`` is the drawing that a bar row was found in."""
        texts = found.groups()
        if bar is None and texts.count(None) == len(texts):
            return self._same.get(speaker) or self._without_values(speaker)
        steady = None if self._steady is None else self._steady.read(texts)
        if self._only_steady and bar is None:
            rule = self.rule
            return Mark(self._kind, speaker, rule.phase, rule.each, rule.part, steady=steady)
        return self._with_values(found, speaker, bar, steady)

    def _without_values(self, speaker: Speaker) -> Mark:
        rule = self.rule
        if len(self._same) >= _SPEAKERS:
            self._same.clear()
        mark = Mark(self._kind, speaker, rule.phase, rule.each, rule.part, heartbeat=rule.heartbeat)
        self._same[speaker] = mark
        return mark

    def _with_values(
        self, found: re.Match[str], speaker: Speaker, bar: Bar | None, steady: Steady | None
    ) -> Mark:
        rule = self.rule
        groups: dict[str, str] = {name: text for name, text in found.groupdict().items() if text is not None}
        seconds = groups.get("seconds")
        return Mark(
            self._kind,
            speaker,
            rule.phase,
            rule.each,
            groups.get("part", rule.part).strip(),
            seconds=None if seconds is None else number(seconds),
            progress=_progress(rule, groups, bar),
            steady=steady,
            identity=_identity(groups) if rule.kind is MarkKind.IDENTITY else None,
            figures=_figures(groups),
            version=groups.get("version"),
            arguments=groups.get("arguments"),
            heartbeat=rule.heartbeat,
        )


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

    def read(self, texts: tuple[str | None, ...]) -> Steady | None:
        """Return the figures, None where none of them is printed."""
        texts = (*texts, None)
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


def _progress(rule: Rule, groups: Mapping[str, str], bar: Bar | None) -> Progress | None:
    if rule.kind is not MarkKind.PROGRESS and not rule.unit:
        return None
    if "done_share" in groups or "done_dots" in groups:
        return _hundredths(groups)
    done = number(bar.done if bar is not None else groups.get("done", ""))
    total = number(bar.total if bar is not None else groups.get("total", ""))
    if done is None or (total is not None and (total <= 0 or done > total)):
        return None
    text = bar.text if bar is not None else ""
    return Progress(done, total, rule.unit, text, groups.get("current", ""))


def _hundredths(groups: Mapping[str, str]) -> Progress | None:
    """Progress in per cent: a share of 1 (``done_share``), or a dot for each hundredth (``done_dots``)."""
    share = number(groups.get("done_share", ""))
    done = float(len(groups.get("done_dots", ""))) if share is None else round(share * 100, 1)
    return Progress(done, 100.0, "%") if 0 <= done <= 100 else None


def _identity(groups: Mapping[str, str]) -> RankIdentity:
    return RankIdentity(
        **{name: int(text) for name, text in groups.items() if name in _IDENTITY and text.isdigit()}
    )


def _figures(groups: Mapping[str, str]) -> tuple[Figure, ...]:
    found: list[Figure] = []
    for name, text in groups.items():
        value = number(text) if name.endswith(_UNITS) and name not in _STEADY else None
        if value is not None:
            found.append(Figure(name, value))
        share = number(text) if name.endswith("_share") and name not in _NO_FIGURES else None
        if share is not None:
            found.append(Figure(name.removesuffix("share") + "pct", share * 100))
    return tuple(found)


def fault_mark(rule: FaultRule, found: re.Match[str], *, terminal: bool) -> FaultMark:
    """Return what a fault row's match means; braces in its sentences take the pattern's groups."""
    groups = {name: text or "?" for name, text in found.groupdict().items()}
    return FaultMark(
        rule.kind,
        rule.weight,
        terminal,
        rule.cause.format_map(groups) if groups else rule.cause,
        rule.next_step.format_map(groups) if groups else rule.next_step,
        rule.phase,
        rule.while_loading,
    )
