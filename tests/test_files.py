"""Opening what may have no end, and what nobody writes to."""

import os
import threading
from pathlib import Path

import pytest

from tui.files import is_pipe, open_text


def test_a_pipe_that_nobody_writes_to_is_given_up_and_one_that_is_written_to_loses_nothing(
    tmp_path: Path,
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="it is a pipe that nobody writes to"):
        open_text(str(pipe), pipe_s=0.05)
    writer = threading.Thread(target=pipe.write_text, args=("abc",))
    writer.start()
    file = open_text(str(pipe))
    writer.join()
    with os.fdopen(file) as text:
        assert text.read() == "abc"
    assert threading.active_count() < 10


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_has_no_end_that_could_be_read_to(device: str) -> None:
    with pytest.raises(OSError, match="it is a device"):
        open_text(device)


def test_a_file_is_opened_and_a_missing_one_is_missing(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("abc")
    with os.fdopen(open_text(str(tmp_path / "log"))) as file:
        assert file.read() == "abc"
    with pytest.raises(FileNotFoundError):
        open_text(str(tmp_path / "none"))
    assert not is_pipe(tmp_path / "none")
