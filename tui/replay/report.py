"""report.html: one page that tells the whole incident, by itself: no script, nothing to load.

All text of the recording is somebody else's: it goes through ``escape`` and stands in elements, never in
attributes, styles or addresses.
"""

from collections.abc import Iterator, Sequence
from html import escape

from tui.benchmark import BenchResult
from tui.engines.marks import Progress
from tui.engines.phase import Phase
from tui.replay.evidence import Ended, Evidence
from tui.replay.evidence_bench import HEADS, RUNS, bench_head, bench_more, bench_rows, bench_times
from tui.replay.evidence_head import Made, asked_rows, began_text, heading, ready_after_s, sentence, subject
from tui.replay.evidence_log import LeftOut
from tui.replay.evidence_text import UNKNOWN, environment_groups, environment_notes, flag, left_out, versions
from tui.replay.report_chart import chart, legend
from tui.replay.report_parts import section, table
from tui.replay.report_style import STYLE
from tui.replay.report_verdict import verdicts
from tui.watch.log_buffer import BufferedLine
from tui.watch.meaning import Meaning
from tui.watch.words import FAULT_KIND_WORDS, clock_text

CHANGES = 200
BANDS = 60
_OUTCOMES = ("ready", "failed", "timeout", "lost")
_WORDS = (
    "What changes: the phase of the load; the readiness of its port, from process to a generated token; the "
    "verdict on the server; and fault, the sort of failure, told once a load when log, process or port first "
    "tell of it."
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def report_html(evidence: Evidence, ended: Ended, made: Made) -> str:
    """Return the page."""
    title = f"{heading(evidence, ended)} ({subject(evidence)}) - tminus"
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>",
        *_top(evidence, ended),
        *_why(evidence),
        *verdicts(evidence),
        *_phases(evidence),
        *_gpus(evidence),
        *_readiness(evidence.state),
        *_benchmarks(evidence.state.bench.results),
        *_changes(evidence),
        *_log(evidence),
        *_notices(evidence.state),
        *_environment(evidence),
        *_versions(evidence, made),
        "</body></html>\n",
    ]
    return "\n".join(parts)


def _top(evidence: Evidence, ended: Ended) -> Iterator[str]:
    kind = ended.outcome if ended.outcome in _OUTCOMES else "timeout"
    yield f'<header><p class="soft">{escape(subject(evidence))}</p>'
    yield f'<h1 class="{kind}">{escape(heading(evidence, ended))}</h1>'
    said = sentence(evidence, ended)
    if said:
        yield f"<p>{escape(said)}</p>"
    yield f'<p class="soft">{escape(_times(evidence))}</p></header>'


def _times(evidence: Evidence) -> str:
    took_s = ready_after_s(evidence)
    ready = "" if took_s is None else f"; ready {clock_text(took_s)} after its start"
    return f"Recorded {_moment(evidence)}, {clock_text(evidence.length_s)} long{ready}"


def _moment(evidence: Evidence) -> str:
    began = began_text(evidence)
    return f"at a time that is {began}" if began == UNKNOWN else began


def _why(evidence: Evidence) -> Iterator[str]:
    cause = evidence.cause
    if cause is None:
        return
    yield from section(
        "Root cause",
        '<div class="panel">',
        f"<p><strong>{escape(FAULT_KIND_WORDS[cause.kind])}</strong>: {escape(cause.cause)}</p>",
        f"<p>Next step: {escape(cause.next_step)}</p>",
        f"<pre>{cause.quote.number:7} {escape(cause.quote.text)}</pre></div>",
    )


def _phases(evidence: Evidence) -> Iterator[str]:
    now_s = evidence.now_s
    rows: list[list[str]] = []
    for span in evidence.state.phases:
        began_t = evidence.t_of(span.began_s)
        seconds = None if now_s is None else span.seconds(now_s)
        rows.append(
            [
                span.phase.words,
                "not seen" if began_t is None else f"{began_t:.1f} s",
                "not known" if seconds is None else f"{seconds:.1f} s",
                "" if span.longest_silence_s is None else f"{span.longest_silence_s:.1f} s",
                "" if span.progress is None else _done(span.progress),
            ]
        )
    heads = ("phase", "began", "took", "longest silence", "progress")
    note = "<p>No phase was seen.</p>" if not rows else table(heads, rows, frozenset((1, 2, 3)))
    yield from section("Phases", note, '<p class="soft">Seconds of the recording.</p>')


def _done(progress: Progress) -> str:
    total = "" if progress.total is None else f" of {progress.total:g}"
    return f"{progress.done:g}{total} {progress.unit}"


def _gpus(evidence: Evidence) -> Iterator[str]:
    drawn = chart(evidence)
    if not drawn:
        yield from section("GPUs", "<p>No GPU was read.</p>")
        return
    key = "Blue, filled: memory used (left axis). Orange: utilisation (right axis). Bands: phases, numbered."
    bands = legend(evidence)
    items = "".join(f"<li>{escape(text)}</li>" for text in bands[:BANDS])
    more = f'<p class="soft">{len(bands) - BANDS} more phases are in summary.json.</p>'
    yield from section(
        "GPUs",
        drawn,
        f'<p class="soft">{key} Where points are joined the highest is shown.</p>',
        f'<ol class="soft bands">{items}</ol>' if items else "",
        more if len(bands) > BANDS else "",
    )


def _readiness(state: Meaning) -> Iterator[str]:
    rows = [
        [rung.name, rung.state, rung.answer, "" if rung.latency_ms is None else f"{rung.latency_ms:.1f} ms"]
        for rung in state.ladder
    ]
    asked = f'<p class="soft">{state.attempts} questions were put to the port.</p>'
    yield from section(
        "Readiness", table(("rung", "state", "answer", "latency"), rows, frozenset((3,))), asked
    )


def _benchmarks(results: Sequence[BenchResult]) -> Iterator[str]:
    if not results:
        return
    parts: list[str] = []
    for number, result in enumerate(results[:RUNS], start=1):
        figures = frozenset(range(1, len(HEADS)))
        parts += [
            f"<h3>{escape(bench_head(result, number, len(results)))}</h3>",
            table(HEADS, bench_times(result), figures),
            table(("run", ""), bench_rows(result)),
        ]
    if len(results) > RUNS:
        parts.append(f'<p class="soft">{bench_more(len(results))}</p>')
    yield from section("Benchmark", *parts, '<p class="soft">- is not known.</p>')


def _changes(evidence: Evidence) -> Iterator[str]:
    changes = evidence.transitions
    rows = [
        [f"{each.t:.1f} s", each.kind, _word(each.before), _word(each.after), each.reason]
        for each in changes[:CHANGES]
    ]
    more = len(changes) - CHANGES
    note = f'<p class="soft">{more} more are left out; the journal has them all.</p>' if more > 0 else ""
    listed = table(("t", "what", "from", "to", "why"), rows, frozenset((0,)))
    yield from section("What changed", f'<p class="soft">{_WORDS}</p>', listed, note)


def _word(word: str | None) -> str:
    return "–" if word is None else Phase(word).words if word in set(Phase) else word  # noqa: RUF001


def _log(evidence: Evidence) -> Iterator[str]:
    cause = evidence.cause
    number = None if cause is None else cause.quote.number
    lines = "\n".join(_line(line, number) for line in evidence.log)
    body = f'<pre class="tall">{lines}</pre>' if lines else "<p>No line of a log was recorded.</p>"
    yield from section("The log lines that matter", body)


def _line(line: BufferedLine | LeftOut, cause: int | None) -> str:
    if isinstance(line, LeftOut):
        return f'<span class="soft">        {escape(left_out(line))}</span>'
    text = f"{line.number:7} {escape(flag(line))} {escape(line.text)}"
    kind = "cause" if line.number == cause else line.level or ("mark" if line.mark is not None else "")
    return f'<span class="{kind}">{text}</span>' if kind else text


def _notices(state: Meaning) -> Iterator[str]:
    rows = [[notice.level, notice.about, notice.sentence] for notice in state.notices]
    if state.dropped:
        rows.append(["warning", "link", f"{state.dropped} samples were left out, because the link was slow"])
    if rows:
        yield from section("Notices", table(("level", "about", "sentence"), rows))


def _environment(evidence: Evidence) -> Iterator[str]:
    """The processes, each group folded but the first: that of the followed server itself."""
    notes = " ".join(environment_notes(evidence))
    parts = [f'<p class="soft">{escape(notes)}</p>']
    for place, (head, lines) in enumerate(environment_groups(evidence)):
        block = escape("\n".join(lines))
        unfolded = "" if place else " open"
        parts.append(f"<details{unfolded}><summary>{escape(head)}</summary><pre>{block}</pre></details>")
    yield from section("Environment", *parts)


def _versions(evidence: Evidence, made: Made) -> Iterator[str]:
    listed = table(("what", "version"), versions(evidence, made))
    printed = "\n".join(f"{line.number:7}   {escape(line.text)}" for line in evidence.printed)
    said = f'<p class="soft">What the log prints of versions:</p><pre>{printed}</pre>' if printed else ""
    yield from section("Versions", listed, said)
    yield from section("Options that tminus watched with", table(("option", "value"), asked_rows(evidence)))
