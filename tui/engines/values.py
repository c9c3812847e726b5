"""From a rule and what its pattern found to the mark that it means."""

import re
from collections.abc import Mapping

from tui.engines.marks import FaultMark, Figure, Mark, MarkKind, Progress, RankIdentity, Speaker, Steady
from tui.engines.rules import FaultRule, Rule

_UNITS = ("_gib", "_mib", "_tokens", "_s", "_pct", "_bytes", "_x")
_SCALES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_STEADY = frozenset(Steady.__struct_fields__)
_STEADY_NAMES = _STEADY | {"kv_used_share"}
_NO_FIGURES = {"kv_used_share", "done_share"}
_WHOLE = frozenset(("running", "queued"))
_IDENTITY = frozenset(RankIdentity.__struct_fields__)
QUOTE_LENGTH = 300


def number(text: str) -> float | None:
    """Return a printed figure ("1,001,650", "83.0k", "12."), None where it is none."""
    bare = text.replace(",", "").strip()
    scale = _SCALES.get(bare[-1:], 1.0)
    try:
        return float(bare[:-1] if scale != 1.0 else bare) * scale
    except ValueError:
        return None


def mark_of(rule: Rule, found: re.Match[str], speaker: Speaker, bar: re.Match[str] | None = None) -> Mark:
    """Return the mark that a rule's match means; ``bar`` is the drawing that a bar row was found in."""
    groups: dict[str, str] = {name: text for name, text in found.groupdict().items() if text is not None}
    if not groups and bar is None:
        return Mark(
            MarkKind.HEARTBEAT if rule.heartbeat and rule.phase is None else rule.kind,
            speaker,
            rule.phase,
            rule.each,
            rule.part,
            heartbeat=rule.heartbeat,
        )
    seconds = groups.get("seconds")
    return Mark(
        rule.kind,
        speaker,
        rule.phase,
        rule.each,
        groups.get("part", rule.part).strip(),
        seconds=None if seconds is None else number(seconds),
        progress=_progress(rule, groups, bar),
        steady=None if _STEADY_NAMES.isdisjoint(groups) else _steady(groups),
        identity=_identity(groups) if rule.kind is MarkKind.IDENTITY else None,
        figures=_figures(groups),
        version=groups.get("version"),
        arguments=groups.get("arguments"),
        heartbeat=rule.heartbeat,
    )


def _progress(rule: Rule, groups: Mapping[str, str], bar: re.Match[str] | None) -> Progress | None:
    if rule.kind is not MarkKind.PROGRESS and not rule.unit:
        return None
    if "done_share" in groups or "done_dots" in groups:
        return _hundredths(groups)
    done = number(bar["done"] if bar is not None else groups.get("done", ""))
    total = number(bar["total"] if bar is not None else groups.get("total", ""))
    if done is None or (total is not None and (total <= 0 or done > total)):
        return None
    text = bar["text"].strip() if bar is not None else ""
    return Progress(done, total, rule.unit, text, groups.get("current", ""))


def _hundredths(groups: Mapping[str, str]) -> Progress | None:
    """Progress in per cent: a share of 1 (``done_share``), or a dot for each hundredth (``done_dots``)."""
    share = number(groups.get("done_share", ""))
    done = float(len(groups.get("done_dots", ""))) if share is None else round(share * 100, 1)
    return Progress(done, 100.0, "%") if 0 <= done <= 100 else None


def _steady(groups: Mapping[str, str]) -> Steady:
    values = {name: number(text) for name, text in groups.items() if name in _STEADY}
    whole = {name: int(value) for name, value in values.items() if value is not None and name in _WHOLE}
    share = number(groups["kv_used_share"]) if "kv_used_share" in groups else None
    return Steady(
        output_tokens_per_s=values.get("output_tokens_per_s"),
        prompt_tokens_per_s=values.get("prompt_tokens_per_s"),
        running=whole.get("running"),
        queued=whole.get("queued"),
        kv_used_pct=values.get("kv_used_pct") if share is None else share * 100,
        acceptance_length=values.get("acceptance_length"),
    )


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
