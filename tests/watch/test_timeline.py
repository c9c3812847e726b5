"""The phases of a load with their times and silences."""

from tui.engines.marks import Mark, MarkKind, Progress
from tui.engines.phase import Phase
from tui.watch.timeline import SPANS, Timeline


def test_a_phase_lasts_until_the_next_begins() -> None:
    timeline = Timeline()
    assert timeline.move(Phase.LAUNCH, 10.0)
    assert timeline.move(Phase.WEIGHTS, 14.0)
    launch, weights = timeline.spans
    assert (launch.seconds(99.0), weights.seconds(20.0)) == (4.0, 6.0)
    assert (timeline.phase, timeline.since_s) == (Phase.WEIGHTS, 14.0)


def test_the_phase_where_it_stands_is_no_move() -> None:
    timeline = Timeline()
    timeline.move(Phase.WEIGHTS, 1.0)
    assert not timeline.move(Phase.WEIGHTS, 5.0)
    assert [span.began_s for span in timeline.spans] == [1.0]


def test_a_phase_that_comes_twice_has_two_spans() -> None:
    timeline = Timeline()
    for at_s, phase in enumerate((Phase.WEIGHTS, Phase.CAPTURE, Phase.WEIGHTS, Phase.CAPTURE)):
        timeline.move(phase, float(at_s))
    assert [span.phase for span in timeline.spans] == [
        Phase.WEIGHTS,
        Phase.CAPTURE,
        Phase.WEIGHTS,
        Phase.CAPTURE,
    ]


def test_no_seconds_are_invented_where_a_moment_was_not_seen() -> None:
    timeline = Timeline()
    timeline.move(Phase.LAUNCH, 1.0)
    timeline.move(Phase.WEIGHTS, None)
    timeline.move(Phase.CAPTURE, 9.0)
    assert [span.seconds(20.0) for span in timeline.spans] == [None, None, 11.0]


def test_the_longest_silence_is_that_between_two_lines_of_progress() -> None:
    timeline = Timeline()
    timeline.move(Phase.WEIGHTS, 0.0)
    for at_s in (1.0, 6.0, 7.0):
        timeline.heard(at_s)
    timeline.move(Phase.CAPTURE, 8.0)
    timeline.heard(30.0)
    assert [span.longest_silence_s for span in timeline.spans] == [5.0, 22.0]


def test_lines_that_come_late_or_without_a_time_make_no_silence() -> None:
    timeline = Timeline()
    timeline.heard(3.0)
    timeline.move(Phase.WEIGHTS, 5.0)
    timeline.heard(4.0)
    timeline.heard(None)
    assert timeline.spans[-1].longest_silence_s is None


def test_progress_is_of_the_phase_where_it_stands() -> None:
    timeline = Timeline()
    timeline.went_on(Progress(1, 2, "shards"))
    assert timeline.progress is None
    timeline.move(Phase.WEIGHTS, 0.0)
    timeline.went_on(Progress(3, 4, "shards"))
    assert timeline.progress == Progress(3, 4, "shards")
    timeline.move(Phase.CAPTURE, 1.0)
    assert timeline.progress is None


def test_an_end_taken_back_goes_on_from_the_same_beginning() -> None:
    timeline = Timeline()
    timeline.move(Phase.WEIGHTS, 0.0)
    timeline.close(5.0)
    assert timeline.spans[-1].seconds(99.0) == 5.0
    timeline.reopen()
    assert timeline.spans[-1].seconds(99.0) == 99.0


def test_a_log_that_turns_for_ever_does_not_grow_memory() -> None:
    timeline = Timeline()
    timeline.move(Phase.LAUNCH, 0.0)
    for at_s in range(10 * SPANS):
        timeline.move(Phase.WEIGHTS if at_s % 2 else Phase.CAPTURE, float(at_s))
    assert len(timeline.spans) == SPANS
    assert timeline.spans[0].phase is Phase.LAUNCH
    assert timeline.spans[-1].began_s == 10 * SPANS - 1


def took(phase: Phase, seconds: float, kind: MarkKind = MarkKind.ENDS) -> tuple[Mark, ...]:
    return (Mark(kind, phase=phase, seconds=seconds),)


def test_what_took_so_long_began_so_long_ago_and_the_phase_before_ended_then() -> None:
    timeline = Timeline()
    timeline.move(Phase.KV_CACHE, 10.0)
    timeline.move(Phase.CAPTURE, 40.0)
    assert timeline.told(took(Phase.CAPTURE, 25.0), 41.0)
    assert [(span.began_s, span.ended_s) for span in timeline.spans] == [(10.0, 16.0), (16.0, None)]
    assert [span.longest_silence_s for span in timeline.spans] == [6.0, 24.0]


def test_a_shorter_time_of_a_part_moves_nothing() -> None:
    timeline = Timeline()
    timeline.move(Phase.KV_CACHE, 10.0)
    timeline.move(Phase.CAPTURE, 40.0)
    assert not timeline.told(took(Phase.CAPTURE, 0.5), 41.0)
    assert timeline.since_s == 40.0


def test_a_time_of_another_phase_or_until_ready_moves_nothing() -> None:
    timeline = Timeline()
    timeline.move(Phase.CAPTURE, 40.0)
    timeline.move(Phase.READY, 50.0)
    assert not timeline.told(took(Phase.CAPTURE, 30.0), 51.0)
    assert not timeline.told(took(Phase.READY, 30.0, MarkKind.READY), 51.0)
    assert timeline.since_s == 50.0


def test_no_phase_becomes_shorter_than_the_log_spoke_of_it() -> None:
    timeline = Timeline()
    timeline.move(Phase.KV_CACHE, 10.0)
    timeline.told((Mark(MarkKind.WITHIN, phase=Phase.KV_CACHE),), 35.0)
    timeline.move(Phase.CAPTURE, 40.0)
    timeline.told(took(Phase.CAPTURE, 900.0), 41.0)
    assert [(span.began_s, span.ended_s) for span in timeline.spans] == [(10.0, 35.0), (35.0, None)]


def test_the_first_phase_may_have_begun_before_the_clock_did() -> None:
    timeline = Timeline()
    timeline.move(Phase.COMPILE, 0.0)
    timeline.told(took(Phase.COMPILE, 2222.5), 0.0)
    assert timeline.since_s == -2222.5


def test_a_beginning_that_was_not_seen_is_known_by_how_long_it_took() -> None:
    timeline = Timeline()
    timeline.move(Phase.LAUNCH, None)
    timeline.move(Phase.WEIGHTS, None)
    timeline.told(took(Phase.WEIGHTS, 30.0), 100.0)
    assert timeline.since_s == 70.0
    assert timeline.spans[0].seconds(200.0) is None


def test_with_whole_seconds_less_than_one_proves_nothing() -> None:
    timeline = Timeline()
    timeline.move(Phase.COMPILE, 10.0)
    assert not timeline.told(took(Phase.COMPILE, 2.9), 12.0, whole_s=True)
    assert timeline.told(took(Phase.COMPILE, 3.5), 12.0, whole_s=True)
    assert timeline.since_s == 8.0
