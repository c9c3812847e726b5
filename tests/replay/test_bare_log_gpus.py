"""nvidia-smi's table beside a bare log, and alone."""

from pathlib import Path

import pytest
from bare_logs import events, loaded, moments, played, sentences, told

from tui.events import Gpus
from tui.journal.reader import RecordingFault
from tui.replay.bare_log import log_tape

HEAD = "timestamp, index, memory.used [MiB], utilization.gpu [%]\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "server.log"
    path.write_text(loaded())
    return path


@pytest.fixture
def gpus(tmp_path: Path) -> Path:
    return tmp_path / "gpus.csv"


def write(gpus: Path, *clocks: str) -> None:
    rows = "".join(f"{clock}, 0, {place * 100} MiB, 7 %\n" for place, clock in enumerate(clocks))
    gpus.write_text(HEAD + rows)


def readings(path: Path | None, gpus: Path) -> list[float]:
    return [event.client_s for event in events(path, gpus) if isinstance(event, Gpus)]


def test_both_lie_on_one_wall_clock(path: Path, gpus: Path) -> None:
    write(gpus, "2026/11/29 10:00:12.500", "2026/11/29 10:01:00.000")

    assert readings(path, gpus) == [12.5, 60.0]
    state = played(path, gpus).state
    assert told(state).outcome == "ready"
    assert state.gpus.by_index[0].peak_mib == 100.0


def test_a_table_that_begins_before_the_log_begins_the_tape(path: Path, gpus: Path) -> None:
    write(gpus, "2026/11/29 09:59:50.000", "2026/11/29 10:00:01.000")

    assert readings(path, gpus) == [0.0, 11.0]
    assert moments(events(path, gpus))[0][0] == 10.0
    assert played(path, gpus).state.ready_s == 80.0


def test_a_log_without_years_is_of_the_year_of_the_table(path: Path, gpus: Path) -> None:
    path.write_text(
        "INFO 12-31 23:59:50 [api_server.py:1] vLLM API server version 0.11.0\n"
        "INFO 01-01 00:00:05 [model_runner.py:1] Starting to load model org/tiny...\n"
    )
    write(gpus, "2027/01/01 00:00:00.000")

    assert readings(path, gpus) == [10.0]


def test_what_does_not_overlap_is_said_and_not_moved(path: Path, gpus: Path) -> None:
    write(gpus, "2026/11/29 18:00:00.000", "2026/11/29 18:01:00.000")

    assert readings(path, gpus) == [8 * 3600.0, 8 * 3600.0 + 60]
    said = sentences(events(path, gpus))[-1]
    assert "server.log (2026-11-29 10:00:00 to 2026-11-29 10:01:10)" in said
    assert "do not overlap: perhaps their clocks show different time zones" in said


def test_a_log_without_a_time_of_day_is_not_laid_beside_a_table(path: Path, gpus: Path) -> None:
    path.write_text("0.00.100.000 I main: loading model\n")
    write(gpus, "2026/11/29 10:00:00.000")

    with pytest.raises(RecordingFault, match="names no time of day"):
        log_tape(str(path), str(gpus))


def test_a_table_alone_tells_of_gpus_and_of_no_server(gpus: Path) -> None:
    write(gpus, "2026/11/29 10:00:00.000", "2026/11/29 10:00:03.000")
    found = events(None, gpus)

    assert readings(None, gpus) == [0.0, 3.0]
    assert sentences(found) == ["gpus.csv is played by its time stamps; it tells of GPUs alone"]
