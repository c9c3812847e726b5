"""What past loads teach the next one: how long nothing may move, and how fast bytes come."""

from watched_host import Watch

from tui.engines.phase import Phase
from tui.watch.history import LoadKey, past_load, past_of
from tui.watch.silences import Silences
from tui.watch.timeline import PhaseSpan

KEY = LoadKey("vllm", "qwen", tensor_parallel=2, pipeline_parallel=None, data_parallel=None)


def stay(phase: Phase, began_s: float, ended_s: float) -> PhaseSpan:
    return PhaseSpan(phase, began_s, ended_s)


def test_a_past_load_keeps_the_longest_joint_silence_of_each_stay_and_its_rate() -> None:
    silences = Silences()
    for silence_s in (1.0, 7.0, 2.0):
        silences.note(0, silence_s, 10.0)
    silences.note(1, 9.0, 4.0)
    spans = [stay(Phase.WEIGHTS, 0.0, 20.0), stay(Phase.CAPTURE, 20.0, 30.0)]
    load = past_load(KEY, spans, 30.0, 0.0, 4000.0, silences)
    assert [each.joint_silence_s for each in load.phases] == [7.0, 4.0]
    assert load.weights_mib_s == 200.0


def test_a_stay_in_which_standing_still_could_not_be_told_has_no_silence() -> None:
    silences = Silences()
    silences.note(0, 5.0, 10.0)
    silences.note(0, None, 11.0)
    load = past_load(KEY, [stay(Phase.WEIGHTS, 0.0, 20.0)], 30.0, 0.0, None, silences)
    assert [each.joint_silence_s for each in load.phases] == [None]
    assert past_of([load], Phase.WEIGHTS).silences_s == ()


def test_a_silence_in_which_a_load_hung_teaches_nothing_though_it_came_through() -> None:
    silences = Silences()
    for second in range(70):
        silences.note(0, float(second), 200.0, hung=second >= 60)
    assert silences.of(0) is None
    for second in (1.0, 2.0, 3.0, 0.0, 1.0):
        silences.note(0, second, 200.0)
    assert silences.of(0) == 3.0


def test_a_silence_that_goes_on_into_the_next_phase_counts_in_both() -> None:
    silences = Silences()
    silences.note(0, 8.0, 20.0)
    silences.note(1, 9.0, 1.0)
    silences.note(1, 10.0, 2.0)
    assert (silences.of(0), silences.of(1)) == (8.0, 2.0)


def test_past_loads_tell_times_silences_and_the_best_rate_of_a_phase() -> None:
    silences = Silences()
    silences.note(1, 12.0, 40.0)
    spans = [stay(Phase.WEIGHTS, 0.0, 20.0), stay(Phase.CAPTURE, 20.0, 50.0)]
    loads = [past_load(KEY, spans, 50.0, 0.0, received, silences) for received in (4000.0, 8000.0)]
    told = past_of(loads, Phase.CAPTURE)
    assert (told.silences_s, told.durations_s) == ((12.0, 12.0), (30.0, 30.0))
    assert told.best_rate_mib_s == 400.0
    assert past_of(loads, Phase.DISTRIBUTED).durations_s == ()


def test_a_watched_load_teaches_the_next_one_its_silences(watched: Watch) -> None:
    host = watched()
    host.loads_to_capture()
    host.becomes_ready()
    kept = host.state.finished
    assert kept is not None
    # Without signals of its processes, standing still cannot be told.
    assert {each.joint_silence_s for each in kept.phases} == {None}
