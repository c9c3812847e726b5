"""Runs as Markdown for a pull request: what differs first, then the comparison, then each run's figures.

Names are somebody else's: nothing in them may become a link, a mention, a cell or markup.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from tui.benchmark import BenchComparison, MetricRatio
from tui.runs.entry import RunEntry, difference_words
from tui.runs.exporting.selection import Selection, model_of, succeeded, told_of
from tui.runs.exporting.table import moment

UNKNOWN = "-"
_MARKUP = re.compile(r"([\\`*_\[\]|~])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# Hosts of repositories make links and mentions of the text that shows: no escape stops them, a comment does.
_LINKS = re.compile(r"(www(?=\.)|:(?=//)|[@#])", re.IGNORECASE)


def markdown(selection: Selection) -> str:
    """Return the text."""
    parts = [*_compared(selection.compared), *_runs(selection.entries), *_notes(selection.entries)]
    return "\n".join(parts) + "\n"


def plain(text: str) -> str:
    """Return a text that shows as it is, whatever it holds."""
    safe = "".join(_ENTITIES.get(letter, letter) for letter in text)
    return _LINKS.sub(r"\1<!-- -->", _MARKUP.sub(r"\\\1", safe))


def figure(value: float | None) -> str:
    """Return a figure with three digits or more."""
    if value is None:
        return UNKNOWN
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"


def ratio_words(each: MetricRatio) -> str:
    """Return a ratio with its interval and how sure that is, as far as there is one."""
    if each.low is None or each.high is None:
        return f"{each.ratio:.3f}"
    return f"{each.ratio:.3f} ({each.low:.3f} to {each.high:.3f} at {each.level:.0%})"


def said(compared: BenchComparison) -> str:
    """Return the verdict on B: its word, and what that rests on."""
    word, sentence = compared.word, compared.sentence
    return sentence if sentence.startswith(word) else f"{word}: {sentence}"


def basis(compared: BenchComparison) -> str:
    """Return in a sentence what a comparison rests on."""
    noise = "" if compared.noise is None else f"; noise floor {compared.noise:.1%}"
    source = f", {compared.noise_source}" if noise and compared.noise_source else ""
    starts = f"{compared.a_instances} of A, {compared.b_instances} of B"
    return f"Means over starts of the server: {starts}{noise}{source}."


def _compared(compared: BenchComparison | None) -> Iterator[str]:
    if compared is None:
        return
    yield f"**B against A:** {plain(said(compared))}"
    yield ""
    if compared.differences:
        rows = [(each.name, *difference_words(each)) for each in compared.differences]
        yield from _table(("differs", "A", "B"), rows)
    else:
        yield "No setting is known to differ."
    yield ""
    ratios = [
        (
            f"{each.metric} ({each.unit})" if each.unit else each.metric,
            figure(each.a),
            figure(each.b),
            ratio_words(each),
            each.word,
        )
        for each in compared.ratios
    ]
    yield from _table(("metric", "A", "B", "B/A (interval)", "B is"), ratios, numbers=frozenset((1, 2, 3)))
    yield ""
    yield plain(basis(compared))
    yield from (f"- {plain(reason)}" for reason in (*compared.blockers, *compared.notes))
    yield ""


def _runs(entries: Sequence[RunEntry]) -> Iterator[str]:
    heads = (
        "run", "made", "model", "workload", "succeeded", "tokens/s", "requests/s", "TTFT p50 ms",
        "TTFT p99 ms", "TPOT mean ms", "ITL p99 ms", "E2E p50 ms",
    )  # fmt: skip
    rows = [
        (
            entry.id,
            moment(entry.made_wall_s),
            model_of(entry),
            entry.workload,
            succeeded(entry.result),
            figure(entry.result.output_tokens_per_s),
            figure(entry.result.requests_per_s),
            figure(entry.result.ttft_ms.p50),
            figure(entry.result.ttft_ms.p99),
            figure(entry.result.tpot_ms.mean),
            figure(entry.result.itl_ms.p99),
            figure(entry.result.e2e_ms.p50),
        )
        for entry in entries
    ]
    yield from _table(heads, rows, numbers=frozenset(range(5, 12)))


def _notes(entries: Sequence[RunEntry]) -> Iterator[str]:
    told = [(entry.id, words) for entry in entries if (words := told_of(entry.result))]
    if told:
        yield ""
    for run, words in told:
        yield f"- {run}: {plain(words)}"


def _table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], numbers: frozenset[int] = frozenset()
) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join('--:' if place in numbers else '---' for place in range(len(heads)))} |"
    for row in rows:
        yield f"| {' | '.join(plain(cell) for cell in row)} |"
