"""A comparison of two configurations in words and lines, and the one place that gives a word a colour."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from tui.bench.statistics import LEAST_INSTANCES
from tui.benchmark import BenchComparison, Difference, MetricRatio, Word
from tui.present.figures import figure
from tui.runs.entry import difference_words
from widgets.cells import clip, plain, width
from widgets.values import Mood

_MOODS: dict[Word, Mood] = {"better": Mood.GOOD, "worse": Mood.BAD}
_HEAD = ("METRIC", "A", "B", "B/A", "INTERVAL", "N", "B IS")
_TEXT_COLUMNS = 100
"""Where no terminal shows them, sentences are wrapped all the same; tables are not cut."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, the end of which may have a colour: all from the cell ``begins`` on."""

    text: str
    mood: Mood = Mood.IDLE
    begins: int = 0


def mood_of(word: Word, a_instances: int, b_instances: int) -> Mood:
    """Return the mood of a word for B: good and bad alone have colours, and only with 3 instances a side.

    Nothing else may colour a comparison, so that a sample of one never yields a coloured arrow.
    """
    return _MOODS.get(word, Mood.IDLE) if min(a_instances, b_instances) >= LEAST_INSTANCES else Mood.IDLE


def ratio_mood(ratio: MetricRatio) -> Mood:
    """Return the mood of one metric."""
    return mood_of(ratio.word, ratio.a_instances, ratio.b_instances)


def comparison_mood(compared: BenchComparison) -> Mood:
    """Return the mood of the whole: that of its word, by the instances that have its metric."""
    return mood_of(compared.word, compared.a_instances, compared.b_instances)


def word_text(ratio: MetricRatio) -> str:
    """Return the word of a metric, with how many more instances would settle what can not be told."""
    more = f" ({ratio.needed} more)" if ratio.word == "cannot tell" and ratio.needed else ""
    return ratio.word + more


def comparison_lines(compared: BenchComparison, columns: int | None) -> list[Line]:
    """Return a comparison as lines: what differs, each metric, the verdict and what speaks against it.

    ``columns`` is how wide a line may be; None: nothing is cut.
    """
    return [
        *_differing(compared.differences, columns),
        Line(""),
        *_table(compared.ratios, columns),
        *([Line("")] if compared.ratios else []),
        *_verdict(compared, columns),
    ]


# What differs.


def _differing(found: Sequence[Difference], columns: int | None) -> list[Line]:
    if not found:
        text = "nothing differs between what is known of the two"
        return [Line(each) for each in _wrapped(text, columns or _TEXT_COLUMNS)]
    rows = [("DIFFERS IN", "A", "B")]
    rows += [(each.name, *difference_words(each)) for each in found]
    rows = [(plain(name), plain(a), plain(b)) for name, a, b in rows]
    widths = [max(width(row[place]) for row in rows) for place in range(3)]
    if columns is not None:
        widths = _shared(widths, columns - 4)
    return [Line("  ".join(_cell(*pair) for pair in zip(row, widths, strict=True)).rstrip()) for row in rows]


def _shared(widths: Sequence[int], room: int) -> list[int]:
    """Return widths that fit into the room: the widest gives way first."""
    fitted = list(widths)
    while sum(fitted) > max(room, 3):
        fitted[fitted.index(max(fitted))] -= 1
    return fitted


def _cell(text: str, room: int) -> str:
    shown = clip(text, room)
    return shown + " " * (room - width(shown))


# The metrics.


def _table(ratios: Sequence[MetricRatio], columns: int | None) -> list[Line]:
    if not ratios:
        return []
    rows = [_HEAD, *(_cells(each) for each in ratios)]
    widths = [max(width(row[place]) for row in rows) for place in range(len(_HEAD) - 1)]
    begins = sum(widths) + len(widths)
    moods = [Mood.IDLE, *map(ratio_mood, ratios)]
    lines: list[Line] = []
    for row, mood in zip(rows, moods, strict=True):
        figures = [text.rjust(room) for text, room in zip(row[1:-1], widths[1:], strict=True)]
        text = " ".join((row[0].ljust(widths[0]), *figures, row[-1]))
        lines.append(Line(text if columns is None else clip(text, columns), mood, begins))
    return lines


def _cells(each: MetricRatio) -> tuple[str, ...]:
    interval = "-" if each.low is None or each.high is None else f"{_ratio(each.low)}-{_ratio(each.high)}"
    name = f"{each.metric} ms" if each.unit == "ms" else each.metric
    return (
        name,
        figure(each.a),
        figure(each.b),
        _ratio(each.ratio),
        interval,
        f"{each.a_instances}+{each.b_instances}",
        word_text(each),
    )


def _ratio(value: float) -> str:
    """Return a ratio in five cells or so, never 0 for what is above it."""
    if value >= 1000 or value < 0.005:
        return f"{value:.0e}"
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


# The verdict.


def _verdict(compared: BenchComparison, columns: int | None) -> list[Line]:
    room = columns or _TEXT_COLUMNS
    mood = comparison_mood(compared)
    lines = [Line(text, mood) for text in _wrapped(compared.sentence, room)]
    listed = [("blocked", each) for each in compared.blockers] + [("doubt", each) for each in compared.notes]
    if compared.noise is not None:
        source = f"{compared.noise:.1%} of {compared.metric}: {compared.noise_source}"
        listed.append(("noise floor", source))
    listed += [("due next", compared.due)] if compared.due else []
    for name, sentence in listed:
        lines += [Line(text) for text in _wrapped(f"{name}: {sentence}", room)]
    return lines + [Line(text) for text in _wrapped(_legend(compared), room)]


def _legend(compared: BenchComparison) -> str:
    if not compared.ratios:
        return ""
    told = "N: instances, which are starts of the server; a ratio is of their geometric means"
    others = sorted({f"{each.level:.0%}" for each in compared.ratios if each.metric != compared.metric})
    if others:
        told += (
            f"; intervals hold at 95% for {compared.metric} and at {others[0]} for the rest, "
            "of which one or another would differ by chance"
        )
    return told


def _wrapped(text: str, columns: int) -> list[str]:
    # A line is wrapped by characters; one of wide characters is cut.
    return [clip(line, columns) for line in textwrap.wrap(plain(text), columns, subsequent_indent="  ")]
