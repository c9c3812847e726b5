"""From choices to a watch: keys, paths, sources and recordings."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tui.commands import start
from tui.events import Probe
from tui.journal.reader import Recording
from tui.settings import Choices, UsageFault, choose
from tui.watch.options import WatchOptions

HEARD = Probe(
    mono_s=1.0, wall_s=1.0, client_s=1.0, rung="port", outcome="refused", latency_ms=1.0,
    detail="connection refused", url="http://127.0.0.1:8000",
)  # fmt: skip


@pytest.fixture(autouse=True)
def no_key_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_without_host_and_url_it_is_this_machine() -> None:
    assert start.host_of(Choices()) == "local"
    assert start.host_of(Choices(url="http://h:1")) is None
    assert start.host_of(Choices(host="gpu-box", url="http://h:1")) == "gpu-box"


def test_choices_become_options(tmp_path: Path) -> None:
    choices = Choices(
        port=8000, model="m", ready_on="model", interval=2.0, bench_on_ready=True, insecure=True
    )

    options = start.options_for(choices)

    assert (options.port, options.model, options.ready_on, options.interval_s) == (8000, "m", "model", 2.0)
    assert (options.bench_on_ready, options.insecure, options.api_key) == (True, True, None)


def test_the_key_comes_from_the_usual_variable_or_the_one_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "usual")
    monkeypatch.setenv("OWN_KEY", "own")

    assert start.api_key(Choices()) == "usual"
    assert start.api_key(Choices(api_key_env="OWN_KEY")) == "own"


def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret\nX-Other: 1")

    with pytest.raises(UsageFault) as caught:
        start.api_key(Choices())

    assert "secret" not in str(caught.value)


def test_a_local_log_is_named_from_where_the_command_was_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("server.log").touch()

    assert start.options_for(Choices(log="server.log")).log_path == str(tmp_path / "server.log")
    assert capsys.readouterr().err == ""


def test_a_local_log_that_does_not_exist_is_said_and_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "later.log")

    assert start.options_for(Choices(log=missing)).log_path == missing
    assert capsys.readouterr().err == f"tminus: --log {missing} does not exist yet; waiting for it\n"


def test_a_log_on_another_host_is_left_as_it_is() -> None:
    assert start.options_for(Choices(host="gpu-box", log="logs/server.log")).log_path == "logs/server.log"


def test_a_recording_is_kept_for_this_user_alone(tmp_path: Path) -> None:
    _begin_and_end(Choices(host="gpu-box"))

    folder = tmp_path / "state" / "tminus" / "recordings"
    assert [path.name.endswith("-gpu-box.jsonl.gz") for path in folder.iterdir()] == [True]
    assert folder.stat().st_mode & 0o077 == 0


def test_no_record_keeps_none(tmp_path: Path) -> None:
    assert start.journal_for(Choices(record=False), WatchOptions()) is None
    assert not (tmp_path / "state").exists()


def test_a_recording_tells_what_was_asked_for_and_no_key() -> None:
    asked = WatchOptions(port=8000, model="m", interval_s=0.5, ready_on="model", api_key="hunter2")

    _begin_and_end(Choices(host="gpu-box"), asked)

    [path] = start.recordings_folder().iterdir()
    header = Recording(path).header
    kept = header.asked
    assert (kept.port, kept.model, kept.interval_s, kept.ready_on) == (8000, "m", 0.5, "model")
    assert "hunter2" not in str(header)


def test_how_many_recordings_are_kept_is_a_setting(tmp_path: Path) -> None:
    folder = start.recordings_folder()
    folder.mkdir(parents=True)
    for number in range(4):
        (folder / f"{number}.jsonl.gz").write_bytes(bytes(1024 * 1024))
        os.utime(folder / f"{number}.jsonl.gz", (number, number))

    few = choose({}, {"TMINUS_KEEP_RECORDINGS": "4"}, None)
    _begin_and_end(few)
    assert sorted(path.name[0] for path in folder.iterdir()) == ["1", "2", "2", "3"]

    (tmp_path / "config.toml").write_text("keep_recordings_mib = 2\n")
    _begin_and_end(choose({}, {}, tmp_path / "config.toml"))
    assert [path.name[0] for path in folder.glob("?.jsonl.gz")] == ["3"]


def _begin_and_end(choices: Choices, options: WatchOptions | None = None) -> None:
    journal = start.journal_for(choices, options or WatchOptions())
    assert journal is not None
    journal.append(HEARD)
    journal.close()


def test_a_snapshot_leaves_the_recordings_alone(tmp_path: Path) -> None:
    session = start.open_session(Choices(url="http://127.0.0.1:1"), recorded=False)

    assert session.state.options.url == "http://127.0.0.1:1"
    assert not (tmp_path / "state" / "tminus" / "recordings").exists()


@pytest.mark.parametrize("record", [True, False])
def test_past_loads_lie_beside_the_recordings_and_are_kept_unless_nothing_is_recorded(
    record: bool, tmp_path: Path
) -> None:
    past = start.past_loads_for(Choices(record=record))

    assert past.path == tmp_path / "state" / "tminus" / "loads.jsonl"
    assert past.writes is record
    assert not (tmp_path / "state").exists()


def test_a_place_that_cannot_be_written_is_said_and_the_watch_goes_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))

    assert start.journal_for(Choices(), WatchOptions()) is None
    assert "the watch goes on" in capsys.readouterr().err


def test_the_workload_is_what_was_asked_for() -> None:
    spec = start.spec_for(Choices(concurrency=(3,), requests=5, input_tokens=7, output_tokens=9))

    assert (spec.concurrency, spec.requests, spec.input_tokens, spec.output_tokens) == (3, 5, 7, 9)


@pytest.mark.parametrize("name", ["port", "pid", "log"])
def test_what_needs_a_host_is_refused_beside_a_url_alone(name: str) -> None:
    choices = replace(Choices(url="http://h:1"), **{name: 1 if name != "log" else "/x"})

    with pytest.raises(UsageFault, match=f"--{name} needs a HOST"):
        start.options_for(choices)
    start.options_for(replace(choices, host="gpu-box"))


def test_the_nearest_command_is_named_for_a_host_without_a_name() -> None:
    assert start.host_hint(Choices(host="wiat"), "dns") == "; did you mean tminus wait?"
    assert start.host_hint(Choices(host="wiat"), "refused") == ""
    assert start.host_hint(Choices(host="gpu-box-7"), "dns") == ""


def test_relative_paths_open_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "server.log").touch()

    assert start.options_for(Choices(log="~/server.log")).log_path == os.path.join(tmp_path, "server.log")
