"""Everything that speaks for a verdict: the sentence, its evidence, and every rule with its numbers."""

from dataclasses import replace

from tui.present.beside import Beside
from tui.present.deadlines import deadline_rows
from tui.present.verdict import MOODS, told_of
from tui.watch.meaning import Meaning
from tui.watch.verdict.verdict import Match, RuleResult, Verdict
from tui.watch.words import clock_text
from widgets.values import Mood, RuleRow, WhyPanel

_STATES: dict[Match, str] = {"yes": "holds too", "nearly": "nearly", "no": "no"}
_ORDER: dict[Match, int] = {"yes": 0, "nearly": 1, "no": 2}


def why_values(state: Meaning, client_now_s: float, beside: Beside | None = None) -> WhyPanel:
    """Return what speaks for the verdict as of the client's monotonic time, or why there is none."""
    now_s, found = state.source_now(client_now_s), state.judged
    if found is None or now_s is None:
        return WhyPanel(sentence=no_verdict(state))
    panel = why_panel(found, now_s, state.origin_s)
    beside = beside or Beside()
    beside.look(state, now_s)
    judging = state.judging
    return replace(
        panel,
        lanes=beside.lanes,
        deadlines=deadline_rows(beside.deadlines(now_s)),
        diagnosis=judging.diagnosis.lines(judging.names),
    )


def why_panel(found: Verdict, now_s: float, origin_s: float | None) -> WhyPanel:
    """Return what speaks for a verdict at a time of the host; ``origin_s`` is when the load started."""
    return WhyPanel(
        verdict=told_of(found, now_s, brief=False),
        since=_since(found, now_s, origin_s),
        rules=rule_rows(found),
    )


def no_verdict(state: Meaning) -> str:
    """Return why nothing can be judged."""
    if state.shown is not None:
        return "nothing is judged yet: the first readings of the server's processes are awaited"
    if state.url_alone:
        return "a URL alone is watched: what its server does on the host is not seen, so it cannot be judged"
    if state.loading:
        return "a log alone tells of this load: what its processes do is not seen, so it cannot be judged"
    return "there is no load to judge" + (f": {state.choice.sentence}" if state.choice.sentence else "")


def rule_rows(found: Verdict) -> tuple[RuleRow, ...]:
    """Return every rule: the one that made the verdict first, then what matches too, and what nearly does."""
    maker = next((each for each in found.rules if each.matched == "yes"), None)
    ordered = sorted(found.rules, key=lambda each: (each is not maker, _ORDER[each.matched]))
    return tuple(_row(each, MOODS[found.word] if each is maker else None) for each in ordered)


def _row(rule: RuleResult, made: Mood | None) -> RuleRow:
    if made is not None:
        return RuleRow(rule.words, made, "made the verdict", rule.numbers)
    mood = Mood.IDLE if rule.matched == "no" else Mood.WARNING
    return RuleRow(rule.words, mood, _STATES[rule.matched], rule.numbers)


def _since(found: Verdict, now_s: float, origin_s: float | None) -> str:
    told = f"for {clock_text(now_s - found.since_s)}"
    return told if origin_s is None else f"{told}, since T+ {clock_text(found.since_s - origin_s)}"
