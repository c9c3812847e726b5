"""What the screen and the command say of a bare log."""

from pathlib import Path

import pytest
from bare_logs import loaded, played

from tui import present
from tui.commands import replay
from tui.commands.replay import Wanted
from tui.settings import Choices, UsageFault


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text(loaded())
    return path


def test_ready_is_the_logs_word_and_counts_from_its_first_line(path: Path) -> None:
    values = present.present(played(path).state, 70.0)

    assert values.ladder.headline == "ready 1:10 after its first line: its log says so: tiny"
    assert (values.header.host, values.header.model) == ("unknown host", "tiny")
    assert {rung.state for rung in values.ladder.rungs} == {"not known", "not asked"}


def test_a_log_without_stamps_shows_no_clock(path: Path) -> None:
    path.write_text("main: server is listening on http://127.0.0.1:8080 - starting the main loop\n")
    values = present.present(played(path).state, 70.0)

    assert values.ladder.headline == "ready: its log says so"
    assert values.header.clock == ""


def test_a_recording_and_a_log_are_not_played_together(path: Path) -> None:
    with pytest.raises(UsageFault, match="leave the recording out"):
        replay.run(Wanted("some.jsonl.gz", str(path)), Choices(json=True))


def test_a_log_is_run_through_by_the_command(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.run(Wanted(server_log=str(path)), Choices(json=True)) == 0
    assert '"outcome":"ready"' in capsys.readouterr().out


def test_a_log_that_cannot_be_read_is_a_fault_of_use(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match="is a directory"):
        replay.run(Wanted(server_log=str(tmp_path)), Choices(json=True))
