"""What is gathered stays small however long the recording is, and keeps what matters."""

from hypothesis import given
from hypothesis import strategies as st

from tui.engines.lines import Level
from tui.journal.masking import Masking
from tui.replay.evidence_gpus import POINTS, GpuPoint, GpuSeries
from tui.replay.evidence_log import AROUND, FIRST, LAST, MARKED, LeftOut, LogDigest
from tui.watch.log_buffer import BufferedLine


def lines(count: int, level: Level = "") -> list[BufferedLine]:
    return [BufferedLine(number, f"line {number}", level) for number in range(1, count + 1)]


def shown(digest: LogDigest) -> list[int]:
    return [line.number for line in digest.lines() if isinstance(line, BufferedLine)]


def test_the_first_and_the_last_lines_are_kept_with_the_gap_told() -> None:
    digest = LogDigest()
    digest.take(lines(10_000))
    found = list(digest.lines())
    assert shown(digest) == [*range(1, FIRST + 1), *range(10_001 - LAST, 10_001)]
    assert found[FIRST] == LeftOut(10_000 - FIRST - LAST)


def test_the_surroundings_of_the_cause_are_kept_before_and_behind_it() -> None:
    digest = LogDigest()
    whole = lines(5000)
    digest.take(whole[:2000])
    digest.cause(2000, whole[1000:2000])
    digest.take(whole[2000:])
    assert set(range(2000 - AROUND, 2000 + AROUND + 1)) <= set(shown(digest))


def test_of_endless_warnings_the_first_and_the_last_are_kept() -> None:
    digest = LogDigest()
    digest.take(lines(50_000, "warning"))
    assert len(shown(digest)) == FIRST + MARKED + MARKED


@given(st.integers(min_value=0, max_value=3000), st.integers(min_value=1, max_value=3000))
def test_lines_and_gaps_together_are_the_whole_log(count: int, cause: int) -> None:
    digest = LogDigest()
    digest.cause(cause, lines(count)[-500:])
    digest.take(lines(count))
    total = sum(each.lines if isinstance(each, LeftOut) else 1 for each in digest.lines())
    assert total == count


def test_a_long_series_is_thinned_and_keeps_its_highest_point() -> None:
    series = GpuSeries(0)
    for second in range(20_000):
        series.add(GpuPoint(float(second), 9000.0 if second == 7777 else 10.0, None))
    assert len(series.points) <= POINTS
    assert max(point.used_mib or 0.0 for point in series.points) == 9000.0
    assert [point.t for point in series.points] == sorted(point.t for point in series.points)
    assert all(point.utilisation_pct is None for point in series.points)


def test_masking_counts_what_it_hides_and_what_was_hidden() -> None:
    masking = Masking()
    masking.texts("argv", ["--api-key", "plain-secret", "--hf-token=***"])
    masking.texts("lines", ["HF_TOKEN=abcdefgh", "nothing here"])
    assert (masking.recorded, masking.hidden) == (1, 2)


def test_masking_that_hides_nothing_still_cleans() -> None:
    masking = Masking(hide=False)
    assert masking.text("sentence", "a\x1b[31mb\u202e password=x1y2z3") == "ab password=x1y2z3"
    assert masking.hidden == 0
