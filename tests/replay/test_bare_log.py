"""A bare server log, played by its own time stamps."""

import gzip
from pathlib import Path

import pytest
from bare_logs import FAILED, events, loaded, moments, played, sentences, stamped, told

from tui.engines.phase import Phase
from tui.events import Hello, Log, LogSource, Tick
from tui.journal.reader import RecordingFault
from tui.replay.bare_log import log_tape
from tui.replay.headless import Run
from tui.watch.ladder import RUNGS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "server.log"


def spans(path: Path) -> list[tuple[str, float | None]]:
    state = played(path).state
    now_s = state.source_now(0.0)
    assert now_s is not None
    return [(span.phase.value, span.seconds(now_s)) for span in state.phases if span.ended_s is not None]


def test_a_load_that_becomes_ready_is_ready_by_its_log(path: Path) -> None:
    path.write_text(loaded())
    result = played(path)
    state = result.state

    assert told(state) == ("ready", "ready", None)
    assert (state.ready_s, state.ready_seen, state.verdict, state.alerts) == (70.0, True, "ready", 1)
    assert state.model == "tiny"
    assert spans(path)[:3] == [("launch", 10.0), ("distributed", 2.0), ("weights", 31.0)]
    assert [(each.t, each.after) for each in result.transitions if each.kind == "readiness"] == [
        (70.0, "ready")
    ]


def test_what_nobody_asked_is_not_known(path: Path) -> None:
    path.write_text(loaded())
    state = played(path).state

    assert [rung.state for rung in state.ladder] == ["unknown"] * len(RUNGS)
    assert (state.shown, state.target, state.attempts, state.started_s) == (None, None, 0, None)


def test_a_load_under_way_says_what_is_missing(path: Path) -> None:
    path.write_text(loaded(4))
    state = played(path).state

    assert told(state) == ("unfinished", "weights", None)
    assert state.reason == "the log does not say that it is ready"


def test_a_failure_is_the_end_with_its_cause(path: Path) -> None:
    path.write_text(loaded(7) + stamped(50, f"Scheduler hit an exception: {FAILED}"))
    result = played(path)
    end = result.state.last_end

    assert told(result.state) == ("failed", "capture", "oom_capture")
    assert end is not None
    assert (end.fault, end.was_ready, end.lasted_s) == ("log_failure", False, None)
    assert end.quote is not None
    assert FAILED in end.quote.text
    assert result.state.verdict == "dead"


def test_a_failure_that_the_server_outlived_was_none(path: Path) -> None:
    path.write_text(
        loaded(7)
        + stamped(50, f"Scheduler hit an exception: {FAILED}")
        + "".join(stamped(60 + each, "The server is fired up and ready to roll!") for each in range(3))
    )
    run = Run(log_tape(str(path), None))
    outcomes = [run.state.outcome for step in run.steps() if isinstance(step.event, Log)]

    assert "failed" in outcomes
    assert told(run.state) == ("ready", "ready", None)
    assert run.state.last_end is None


def test_a_shutdown_that_was_asked_for_is_one(path: Path) -> None:
    path.write_text(loaded() + "INFO:     Shutting down\n")
    state = played(path).state

    assert told(state) == ("stopped", "ready", None)
    assert (state.outcome, state.fault) == ("failed", "shut_down")
    assert "while ready" in state.reason


def test_each_start_in_a_file_is_a_load_of_its_own(path: Path) -> None:
    path.write_text(loaded(7) + stamped(50, f"Scheduler hit an exception: {FAILED}") + loaded(4, first=600))
    run = Run(log_tape(str(path), None))
    loads = [run.state.loads for step in run.steps() if isinstance(step.event, Log)]
    state = run.state

    assert sorted(set(loads)) == [1, 2]
    assert told(state) == ("unfinished", "weights", None)
    assert state.last_end is not None
    assert state.last_end.phase is Phase.CAPTURE
    assert state.began_s == 600.0


def test_lines_before_the_engine_is_known_are_read_by_its_rules(path: Path) -> None:
    # Of its first lines other engines may have written any, as far as "Load weight begin".
    path.write_text("a launcher's own line\n" * 50 + loaded()[len(loaded(1)) :])

    assert spans(path)[:2] == [("distributed", 2.0), ("weights", 31.0)]


def test_the_tape_tells_what_it_is_and_ages_each_second(path: Path) -> None:
    path.write_text(loaded(2))
    found = events(path)

    assert isinstance(found[0], Hello)
    assert found[0].host == "unknown host"
    assert any(isinstance(event, LogSource) and event.state == "open" for event in found)
    assert [event.client_s for event in found if isinstance(event, Tick)] == [float(t) for t in range(1, 11)]
    assert sentences(found) == [
        "server.log is played by its own time stamps, which show whole seconds; "
        "the server itself was not asked"
    ]


def test_lines_without_a_stamp_are_played_with_the_one_before(path: Path) -> None:
    path.write_text("no stamp yet\n" + stamped(0, "a") + "b\n" + stamped(2, "c") + "d\n")

    assert [t for t, _ in moments(events(path))] == [0.0, 0.0, 0.0, 2.0, 2.0]


def test_the_same_log_packed_or_with_other_ends_of_lines_is_the_same(path: Path, tmp_path: Path) -> None:
    path.write_text(loaded())
    plain = moments(events(path))
    packed = tmp_path / "server.log.gz"
    packed.write_bytes(gzip.compress(loaded().replace("\n", "\r\n").encode()))
    prefixed = tmp_path / "compose.log"
    prefixed.write_text("".join(f"sglang-1  | {line}\n" for line in loaded().splitlines()))

    assert moments(events(packed)) == plain
    assert [t for t, _ in moments(events(prefixed))] == [t for t, _ in plain]


def test_a_bar_that_is_drawn_over_stays_one_line(path: Path) -> None:
    bars = "\r".join(
        f"Loading safetensors checkpoint shards: {n}% Completed | {n}/100 [00:01<00:09]" for n in (1, 2)
    )
    path.write_text(loaded(4) + bars + "\n")
    state = played(path).state

    assert sum("Loading safetensors" in line.text for line in state.log.after(0)) <= 1
    assert state.log.total == 5


def test_a_clock_that_is_set_back_turns_no_time_around(path: Path) -> None:
    path.write_text(stamped(7200, "a") + stamped(0, "b") + stamped(7201, "c"))

    assert [t for t, _ in moments(events(path))] == [0.0, 0.0, 1.0]


def test_a_second_start_with_an_earlier_clock_goes_on_with_its_own_times(path: Path) -> None:
    path.write_text(loaded(first=7200) + "INFO:     Shutting down\n" + loaded())
    state = played(path).state

    assert state.ready_s == 140.0
    assert state.began_s == 70.0


def test_a_jump_of_years_keeps_its_time_and_costs_few_ticks(path: Path) -> None:
    path.write_text(stamped(0, "a", "2002-01-01") + stamped(5, "b") + stamped(8, "c"))
    found = events(path)
    times = [t for t, _ in moments(found)]

    assert times[2] - times[1] == 3.0
    assert times[1] > 24 * 365 * 86_400
    assert sum(isinstance(event, Tick) for event in found) < 100_000
    late = [event.client_s for event in found if isinstance(event, Tick) and event.client_s > times[1]]
    assert [t - times[1] for t in late] == [1.0, 2.0, 3.0]


def test_a_log_without_stamps_is_playable_and_names_no_durations(path: Path) -> None:
    bare = [
        "build: 6000 (abc) with gcc\n",
        "llama_model_loader: loaded meta data with 20 key-value pairs\n",
        "load_tensors: loading model tensors, this can take a while...\n",
        "llama_context: constructing llama_context\n",
        "main: server is listening on http://127.0.0.1:8080 - starting the main loop\n",
    ]
    path.write_text("".join(bare) * 20)
    found = events(path)
    state = played(path).state

    assert "no time stamps" in sentences(found)[0]
    assert moments(found)[-1][0] > 1.0
    assert told(state) == ("ready", "ready", None)
    assert (state.ready_s, state.began_s, state.phase_since_s) == (None, None, None)
    assert all(span.began_s is None and span.longest_silence_s is None for span in state.phases)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x7fELF" + bytes(range(256)) * 20, "binary file"),
        ("[2026-11-29 10:00:00] a\n".encode("utf-16"), "tminus replay --log -"),
        (b"\0" * 100, "zero bytes"),
    ],
)
def test_what_is_no_log_is_one_clear_line(path: Path, data: bytes, said: str) -> None:
    path.write_bytes(data)
    with pytest.raises(RecordingFault, match=said) as fault:
        log_tape(str(path), None)
    assert "\n" not in str(fault.value)


def test_a_log_that_is_not_there_is_one_clear_line(path: Path) -> None:
    with pytest.raises(RecordingFault, match="No such file"):
        log_tape(str(path), None)


def test_a_recording_is_no_log() -> None:
    recording = Path(__file__).parents[1] / "fixtures" / "recordings" / "version-1-url.jsonl.gz"
    with pytest.raises(RecordingFault, match=r"is a recording, no log; tminus replay .* plays it"):
        log_tape(str(recording), None)
