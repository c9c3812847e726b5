"""The verdict in the page of a report: what was thought of the load, and all that spoke for it."""

from collections.abc import Iterator
from html import escape

from tui.replay.evidence import Evidence
from tui.replay.report_parts import section, table
from tui.watch.verdict.verdict import SEVERITY, Match, Verdict, Word
from tui.watch.verdict.words import CONFIDENCE_WORDS
from tui.watch.words import clock_text

_MATCHED: dict[Match, str] = {"yes": "holds", "nearly": "nearly", "no": "no"}


def verdicts(evidence: Evidence) -> Iterator[str]:
    """Yield the section: the verdict at the end, and before it the last by which the load was stuck.

    A person who sees a load hang ends it, as a rule: then the end tells little.
    """
    last, stuck = evidence.state.judged, evidence.stuck
    if stuck is not None and stuck is not last:
        yield from _verdict("Verdict before the end", stuck, evidence)
    if last is not None:
        yield from _verdict("Verdict", last, evidence)


def _verdict(title: str, found: Verdict, evidence: Evidence) -> Iterator[str]:
    facts = [
        ("cause", f"{found.cause} ({CONFIDENCE_WORDS[found.confidence]})" if found.cause else ""),
        ("who", _who(found)),
        ("waiting", ", ".join(found.waiting)),
        *(("figure", figure) for figure in found.figures),
        ("next step", found.next_step),
        ("caution", found.not_to_do),
    ]
    rules = [(each.words, _MATCHED[each.matched], each.numbers) for each in found.rules]
    yield from section(
        title,
        f'<div class="panel"><p class="{_colour(found.word)}"><strong>{escape(found.word)}</strong> '
        f"{escape(_since(found, evidence))}</p><p>{escape(found.sentence)}</p></div>",
        table(("what", ""), [(name, text) for name, text in facts if text]),
        f"<details><summary>{len(rules)} rules: the first that holds makes the verdict</summary>"
        f"{table(('rule', 'holds', 'numbers'), rules)}</details>",
    )


def _who(found: Verdict) -> str:
    pid = "" if found.pid is None else f"pid {found.pid}"
    return ", ".join(text for text in (found.rank or "", pid) if text)


def _since(found: Verdict, evidence: Evidence) -> str:
    since_t = evidence.t_of(found.since_s)
    return "" if since_t is None else f"since {clock_text(since_t)} of the recording"


def _colour(word: Word) -> str:
    if word in ("ready", "progressing"):
        return "ready"
    return "failed" if SEVERITY[word] >= SEVERITY["hung"] else "timeout"
