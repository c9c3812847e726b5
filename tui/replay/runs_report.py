"""One page that tells of benchmark runs, by itself: no script, nothing to load, light and dark.

All text is somebody else's (names of models, hosts, words of other clients): it goes through ``escape`` and
stands in elements, never in attributes, styles or addresses.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from tui.benchmark import BenchComparison
from tui.replay import runs_chart
from tui.replay.evidence import Evidence
from tui.replay.evidence_bench import HEADS, bench_figure, bench_times
from tui.replay.report_chart import chart, legend
from tui.replay.report_parts import section, table
from tui.replay.report_style import STYLE
from tui.runs.entry import Fingerprint, RunEntry, difference_words, value_words
from tui.runs.exporting.markdown import basis, ratio_words, said
from tui.runs.exporting.selection import (
    Groups,
    Selection,
    configurations,
    load_of,
    model_of,
    succeeded,
    sweeps,
    told_of,
)
from tui.runs.exporting.table import moment
from tui.watch.words import clock_text

DETAILED = 50
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_COLOURS = """
:root { --s0: #0969da; --s1: #bc4c00; --s2: #1a7f37; --s3: #8250df; --s4: #bf3989; --s5: #0e7490;
  --s6: #9a6700; --s7: #57606a; }
@media (prefers-color-scheme: dark) { :root { --s0: #58a6ff; --s1: #f0883e; --s2: #3fb950; --s3: #a371f7;
  --s4: #f778ba; --s5: #56d4dd; --s6: #d29922; --s7: #8b949e; } }
svg .head { fill: var(--ink); } svg .line { fill: none; stroke-width: 1.6; } svg .bar { opacity: .55; }
.better { color: var(--good); } .worse { color: var(--bad); }
.key { display: inline-block; width: .7rem; height: .7rem; border-radius: 50%; margin-right: .35rem; }
ul.keys { list-style: none; padding: 0; margin: .25rem 0; }
""" + "\n".join(
    f".dot.s{n}, .bar.s{n} {{ fill: var(--s{n}); }} .line.s{n} {{ stroke: var(--s{n}); }} "
    f".key.s{n} {{ background: var(--s{n}); }}"
    for n in range(runs_chart.KINDS)
)


def runs_html(selection: Selection, evidence: Evidence | None, tminus: str) -> str:
    """Return the page of some runs; ``evidence`` is of the recording that was made meanwhile, if any."""
    groups = configurations(selection.entries)
    title = f"{_heading(selection.entries)} - tminus"
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{escape(title)}</title><style>{STYLE}{_COLOURS}</style></head><body>",
        *_top(selection.entries),
        *_comparison(selection.compared),
        *_runs(selection.entries, groups),
        *_sweeps(selection.entries),
        *_requests(selection.entries),
        *_latencies(selection.entries),
        *_loads(selection),
        *_gpus(evidence),
        *_settings(groups),
        f'<p class="soft">Made by tminus {escape(tminus)}.</p></body></html>\n',
    ]
    return "\n".join(parts)


def _heading(entries: Sequence[RunEntry]) -> str:
    models = sorted({model_of(entry) for entry in entries})
    of = models[0] if len(models) == 1 else f"{len(models)} models"
    return f"{len(entries)} benchmark run{'' if len(entries) == 1 else 's'} of {of}"


def _top(entries: Sequence[RunEntry]) -> Iterator[str]:
    hosts = sorted({entry.host or "an unknown host" for entry in entries})
    yield f'<header><p class="soft">{escape(", ".join(hosts[:5]))}</p>'
    yield f"<h1>{escape(_heading(entries))}</h1>"
    for workload in sorted({entry.workload for entry in entries})[:10]:
        yield f"<p>{escape(workload)}</p>"
    times = sorted(entry.made_wall_s for entry in entries)
    span = moment(times[0]) if times[0] == times[-1] else f"{moment(times[0])} to {moment(times[-1])}"
    yield f'<p class="soft">{span}</p></header>'


def _comparison(compared: BenchComparison | None) -> Iterator[str]:
    if compared is None:
        return
    kind = compared.word if compared.word in ("better", "worse") else "soft"
    reasons = "".join(f"<li>{escape(reason)}</li>" for reason in (*compared.blockers, *compared.notes))
    yield from section(
        "B against A",
        f'<p class="{kind}"><strong>{escape(said(compared))}</strong></p>',
        f"<ul>{reasons}</ul>" if reasons else "",
        "<h3>Settings that differ</h3>",
        _differences(compared),
        "<h3>Figures</h3>",
        runs_chart.ratios(compared),
        _ratios(compared),
        f'<p class="soft">{escape(basis(compared))} The band is that floor.</p>',
        f'<p class="soft">To measure next: {escape(compared.due)}</p>' if compared.due else "",
    )


def _differences(compared: BenchComparison) -> str:
    rows = [(each.name, *difference_words(each)) for each in compared.differences]
    return table(("setting", "A", "B"), rows) if rows else "<p>No setting is known to differ.</p>"


def _ratios(compared: BenchComparison) -> str:
    rows = [
        (
            f"{each.metric} ({each.unit})" if each.unit else each.metric,
            bench_figure(each.a),
            bench_figure(each.b),
            ratio_words(each),
            each.word,
        )
        for each in compared.ratios
    ]
    return table(("metric", "A", "B", "B/A (interval)", "B is"), rows, frozenset((1, 2, 3)))


def _runs(entries: Sequence[RunEntry], groups: Groups) -> Iterator[str]:
    place_of = {entry.id: place for place, group in enumerate(groups) for entry in group}
    heads = (
        "", "run", "made", "configuration", "start", "succeeded", "tokens/s", "requests/s", "TTFT p50 ms",
        "TPOT mean ms", "ITL p99 ms",
    )  # fmt: skip
    rows = [(str(number), *_row(entry, place_of)) for number, entry in enumerate(entries, start=1)]
    keys = _keys(_configuration(place, group) for place, group in enumerate(groups[: runs_chart.KINDS]))
    said = [(entry.id, words) for entry in entries if (words := told_of(entry.result))]
    yield from section(
        "Runs",
        runs_chart.over_runs(entries, groups),
        keys,
        '<p class="soft">In the order of time. A band is one start of a server.</p>',
        table(heads, rows, frozenset((0, *range(6, 11)))),
        table(("run", "what is said of it"), said) if said else "",
    )


def _row(entry: RunEntry, place_of: dict[str, int]) -> tuple[str, ...]:
    result = entry.result
    return (
        entry.id,
        moment(entry.made_wall_s),
        f"{place_of[entry.id] + 1}",
        entry.instance.key or "not known",
        succeeded(result),
        bench_figure(result.output_tokens_per_s),
        bench_figure(result.requests_per_s),
        bench_figure(result.ttft_ms.p50),
        bench_figure(result.tpot_ms.mean),
        bench_figure(result.itl_ms.p99),
    )


def _configuration(place: int, group: Sequence[RunEntry]) -> str:
    name = group[0].fingerprint.digest[:8] or "not known"
    return f"configuration {place + 1} ({name}): {len(group)} run{'' if len(group) == 1 else 's'}"


def _keys(names: Iterable[str]) -> str:
    """Return what each colour stands for."""
    items = (
        f'<li><span class="key {runs_chart.kind_of(place)}"></span>{escape(name)}</li>'
        for place, name in enumerate(names)
    )
    return f'<ul class="keys soft">{"".join(items)}</ul>'


def _sweeps(entries: Sequence[RunEntry]) -> Iterator[str]:
    for levels in sweeps(entries):
        yield from section(f"Sweep {levels[0].result.spec.profile}".rstrip(), runs_chart.sweep(levels))


def _requests(entries: Sequence[RunEntry]) -> Iterator[str]:
    drawn = runs_chart.requests(entries)
    if drawn:
        kept = [entry for entry in entries if any(not one.fault for one in entry.records)]
        keys = _keys(entry.id for entry in kept[: runs_chart.KINDS])
        more = len(kept) - runs_chart.KINDS
        left = f'<p class="soft">{more} more runs are not drawn.</p>' if more > 0 else ""
        yield from section("Requests", drawn, keys, left)


def _latencies(entries: Sequence[RunEntry]) -> Iterator[str]:
    blocks: list[str] = []
    for entry in entries[:DETAILED]:
        figures = table(HEADS, bench_times(entry.result), frozenset(range(1, len(HEADS))))
        blocks.append(f"<details><summary>run {escape(entry.id)}</summary>{figures}</details>")
    yield from section("Latencies", *blocks)


def _loads(selection: Selection) -> Iterator[str]:
    shown = {
        entry.instance.key: load
        for entry in selection.entries
        if (load := load_of(entry, selection.loads)) is not None
    }
    for load in list(shown.values())[:10]:
        ready = "" if load.ready_s is None else f", ready after {clock_text(load.ready_s)}"
        rows = [(each.word, each.sentence, f"{each.began_s:.0f} s") for each in load.verdicts]
        yield from section(
            "Load of the server",
            f'<p class="soft">{escape(load.instance.key)}: {load.outcome}{ready}</p>',
            runs_chart.load(load) or "<p>No phase was seen.</p>",
            table(("verdict", "", "began"), rows, frozenset((2,))) if rows else "",
        )


def _gpus(evidence: Evidence | None) -> Iterator[str]:
    if evidence is None:
        return
    drawn = chart(evidence)
    key = "Blue, filled: memory used (left axis). Orange: utilisation (right axis). Bands: phases, numbered."
    items = "".join(f"<li>{escape(words)}</li>" for words in legend(evidence)[:60])
    yield from section(
        "GPUs",
        drawn or "<p>No GPU was read in this recording.</p>",
        f'<p class="soft">Recording {escape(evidence.name)}. {key}</p>',
        f'<ol class="soft bands">{items}</ol>' if items else "",
    )


def _settings(groups: Groups) -> Iterator[str]:
    blocks: list[str] = []
    for place, group in enumerate(groups[:DETAILED]):
        head = escape(_configuration(place, group))
        blocks.append(f"<details><summary>{head}</summary>{_fingerprint(group[0].fingerprint)}</details>")
    yield from section("What the servers ran under", *blocks)


def _fingerprint(fingerprint: Fingerprint) -> str:
    rows = [
        (each.name, value_words(each.value, known=each.known, name=each.name), each.source or "-")
        for each in fingerprint.settings
    ]
    words = {
        "whole": "The environment is known as a whole: a variable that is missing was unset.",
        "partly": "The environment is known in part: a variable that is missing is not known.",
        "unknown": "The environment is not known.",
    }
    note = f'<p class="soft">{words[fingerprint.environment_known]}</p>'
    return (table(("setting", "value", "seen in"), rows) if rows else "") + note
