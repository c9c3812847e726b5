"""A comparison in lines, and when a word has a colour: never for a sample of one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.benchmark import BenchComparison, Difference, MetricRatio, Word
from tui.commands.compare import painted
from tui.present.bench_compared import compared_panel
from tui.present.comparison import Line, comparison_lines, mood_of
from tui.watch.bench import BenchState
from widgets.cells import width
from widgets.values import BenchPanel, BenchRow, Mood

ROOT = Path(__file__).parents[2]
WORDS: tuple[Word, ...] = ("better", "worse", "no difference seen", "cannot tell")
words = st.sampled_from(WORDS)
counts = st.integers(0, 8)
positive = st.floats(1e-6, 1e9)


def ratio(
    word: Word = "better", a: int = 3, b: int = 3, metric: str = "TPOT", value: float = 1.2
) -> MetricRatio:
    return MetricRatio(
        metric=metric, unit="ms", a=10.0, b=10.0 * value, ratio=value, low=value * 0.9, high=value * 1.1,
        word=word, a_instances=a, b_instances=b, level=0.99,
    )  # fmt: skip


def compared(word: Word, a: int, b: int, *ratios: MetricRatio, **changes: object) -> BenchComparison:
    fields: dict[str, object] = {
        "mono_s": 1.0, "wall_s": 1.0, "run": "bbbb0001", "against": "aaaa0001", "against_wall_s": 1.0,
        "word": word, "sentence": f"{word}: so it is", "ratios": ratios, "a_instances": a, "b_instances": b,
        "metric": "output tokens/s",
    }  # fmt: skip
    return BenchComparison(**(fields | changes))  # pyright: ignore[reportArgumentType]


@given(words, counts, counts)
def test_only_better_and_worse_with_three_instances_a_side_have_a_colour(word: Word, a: int, b: int) -> None:
    coloured = {"better": Mood.GOOD, "worse": Mood.BAD}

    expected = coloured.get(word, Mood.IDLE) if a >= 3 and b >= 3 else Mood.IDLE

    assert mood_of(word, a, b) is expected


@given(words, words, counts, positive, st.booleans())
def test_a_sample_of_one_has_no_colour_in_the_command_and_none_in_the_pane(
    whole: Word, single: Word, count: int, value: float, turned: bool
) -> None:
    sizes = (count, 1) if turned else (1, count)
    told = compared(whole, *sizes, ratio(single, *sizes, value=value), differences=(UNKNOWN,))

    printed = [painted(line, coloured=True) for line in comparison_lines(told, 80)]
    pane = shown_in_pane(told)

    assert not any("\x1b" in line for line in printed)
    assert {pane.compared_mood, *(row.mood for row in pane.rows)} == {Mood.IDLE}


UNKNOWN = Difference(name="driver", a="580.95", b=None, b_known=False)


def shown_in_pane(told: BenchComparison) -> BenchPanel:
    """Return the pane after a run that has this comparison."""
    from run_entries import result

    bench = BenchState()
    bench.take(result("bbbb0001"))
    bench.take(told)
    return compared_panel(BenchPanel("done", columns=("mean",), rows=(BenchRow("TPOT ms", ("16",)),)), bench)


def test_three_a_side_are_coloured_in_both() -> None:
    told = compared("better", 3, 3, ratio("worse"))

    printed = [painted(line, coloured=True) for line in comparison_lines(told, 80)]
    pane = shown_in_pane(told)

    assert any(line.endswith("\x1b[1;31mworse\x1b[0m") for line in printed)
    assert any(line.startswith("\x1b[1;32mbetter: so it is") for line in printed)
    assert (pane.compared_mood, pane.rows[0].mood) == (Mood.GOOD, Mood.BAD)
    assert not any("\x1b" in painted(line, coloured=False) for line in comparison_lines(told, 80))


def test_no_other_place_gives_a_word_of_a_comparison_a_colour() -> None:
    paths = [*(ROOT / "tui" / "present").glob("*.py"), *(ROOT / "tui" / "commands").glob("*.py")]
    paths += [*(ROOT / "tui" / "screens").glob("*.py"), *(ROOT / "widgets").glob("*.py")]

    naming = {path.name for path in paths if '"better"' in path.read_text("utf-8")}

    assert naming == {"comparison.py"}


# Lines.


def texts(told: BenchComparison, columns: int | None) -> list[str]:
    return [line.text for line in comparison_lines(told, columns)]


def test_what_differs_comes_first_in_two_columns_with_unknown_and_unset() -> None:
    switch = Difference(name="argument --enable-metrics", a="", b=None)
    lines = texts(compared("better", 3, 3, ratio(), differences=(switch, UNKNOWN)), 80)

    assert lines[0].split() == ["DIFFERS", "IN", "A", "B"]
    assert lines[1].split()[-2:] == ["given", "unset"]
    assert lines[2].split() == ["driver", "580.95", "unknown"]


def test_nothing_differs_is_said() -> None:
    assert texts(compared("better", 3, 3), 80)[0] == "nothing differs between what is known of the two"


def test_a_long_value_is_cut_to_the_width_and_whole_in_a_pipe() -> None:
    long = Difference(name="environment LD_LIBRARY_PATH", a="/a" * 80, b="/b" * 90)
    told = compared("better", 3, 3, ratio(), differences=(long,))

    assert any("…" in line for line in texts(told, 80))
    assert any("/b" * 90 in line for line in texts(told, None))


def test_a_metric_has_its_ratio_interval_instances_and_word() -> None:
    [line] = [each for each in texts(compared("better", 3, 4, ratio("better", 3, 4)), 80) if "TPOT" in each]

    assert line.split() == ["TPOT", "ms", "10.00", "12.00", "1.20", "1.08-1.32", "3+4", "better"]


def test_how_many_more_are_needed_stands_beside_cannot_tell() -> None:
    few = MetricRatio(
        metric="E2E", unit="ms", a=1.0, b=2.0, ratio=2.0, low=None, high=None, word="cannot tell",
        a_instances=1, b_instances=1, needed=4,
    )  # fmt: skip

    [line] = [each for each in texts(compared("cannot tell", 1, 1, few), 80) if "E2E" in each]

    assert line.endswith("2.00        - 1+1 cannot tell (4 more)")


def test_blockers_doubts_floor_and_what_is_due_follow_the_verdict() -> None:
    told = compared(
        "cannot tell", 3, 3, ratio(), blockers=("the models differ",), notes=("a drift",), noise=0.07,
        noise_source="a first guess", due="A: it has fewer",
    )  # fmt: skip

    assert [line for line in texts(told, 80) if ":" in line][:5] == [
        "cannot tell: so it is",
        "blocked: the models differ",
        "doubt: a drift",
        "noise floor: 7.0% of output tokens/s: a first guess",
        "due next: A: it has fewer",
    ]


def metric_ratios() -> st.SearchStrategy[MetricRatio]:
    names = st.sampled_from(["output tokens/s", "acceptance length", "TTFT mean"])
    return st.builds(
        MetricRatio,
        metric=names, unit=st.sampled_from(["ms", "tokens/s"]), a=positive, b=positive, ratio=positive,
        low=st.none() | positive, high=st.none() | positive, word=words, a_instances=counts,
        b_instances=counts, needed=st.none() | st.integers(0, 99),
    )  # fmt: skip


@given(
    st.lists(metric_ratios(), max_size=4),
    st.lists(
        st.builds(Difference, name=st.text(max_size=60), a=st.none() | st.text(), b=st.text()), max_size=3
    ),
    st.sampled_from([40, 60, 80, 200]),
)
def test_no_line_is_wider_than_the_terminal_whatever_stands_in_it(
    ratios: list[MetricRatio], found: list[Difference], columns: int
) -> None:
    told = compared("better", 3, 3, *ratios, differences=tuple(found), blockers=("word " * 40,))

    assert max(width(line) for line in texts(told, columns)) <= columns


def test_usual_figures_fit_into_80_columns_with_their_words() -> None:
    rows = [
        ratio("no difference seen", 12, 12, "acceptance length"),
        ratio("cannot tell", 10, 10, "TTFT mean"),
        MetricRatio(
            metric="steady tokens/s", unit="tokens/s", a=123456.0, b=113456.0, ratio=0.92, low=0.88,
            high=0.96, word="cannot tell", a_instances=3, b_instances=3, needed=12,
        ),
    ]  # fmt: skip

    assert not any("…" in line for line in texts(compared("better", 3, 3, *rows), 80))


@pytest.mark.parametrize("text", ["\x1b]0;title\x07x", "a\u202eb"])
def test_a_value_cannot_draw_on_the_terminal(text: str) -> None:
    assert (
        painted(Line(text, Mood.GOOD), coloured=True)
        .removeprefix("\x1b[1;32m")
        .removesuffix("\x1b[0m")
        .isprintable()
    )
