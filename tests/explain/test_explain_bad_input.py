"""What is no log: one clear line on standard error, exit code 2, never a traceback."""

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tui import cli

Write = Callable[..., str]
Tminus = Callable[..., subprocess.CompletedProcess[bytes]]
Refuse = Callable[..., str]


@pytest.fixture
def refuse(capfd: pytest.CaptureFixture[str]) -> Refuse:
    """Return a function that runs ``explain``, which must refuse, and returns its sentence."""

    def refuse(*arguments: str) -> str:
        code = cli.run(["explain", *arguments])
        out, err = capfd.readouterr()
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("tminus: ")
        return err.removeprefix("tminus: ").rstrip("\n")

    return refuse


def test_a_directory(refuse: Refuse, tmp_path: Path) -> None:
    assert refuse(str(tmp_path)) == f"{tmp_path} is a directory; name the log file in it"


def test_a_file_that_is_not_there(refuse: Refuse) -> None:
    said = refuse("/no/such/file.log")

    assert said.startswith("/no/such/file.log cannot be read: No such file or directory; check the path")


def test_a_file_that_may_not_be_read(refuse: Refuse, write: Write) -> None:
    path = write("text")
    os.chmod(path, 0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")

    assert refuse(path).startswith(f"{path} cannot be read: Permission denied; read it as its owner")


def test_a_file_whose_reading_fails_on_the_way(refuse: Refuse) -> None:
    if not Path("/proc/self/mem").exists():
        pytest.skip("this system has no /proc")

    assert refuse("/proc/self/mem").startswith("/proc/self/mem cannot be read: Input/output error; copy")


BINARIES = {
    "a program": Path(sys.executable).read_bytes()[:100_000],
    "an image": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)) * 20,
    "zeros": bytes(300_000),
    "noise": bytes((n * n * 7919 >> 3) & 255 for n in range(50_000)),
}


@pytest.mark.parametrize("name", BINARIES)
def test_a_binary_file(refuse: Refuse, write: Write, name: str) -> None:
    path = write(BINARIES[name])
    said = refuse(path)

    assert said.startswith(f"{path} ")
    assert "binary" in said or "zero bytes" in said


PACKED = {"bzip2": bz2.compress(b"text"), "xz": lzma.compress(b"text"), "zstd": b"\x28\xb5\x2f\xfd\x04\x00"}


@pytest.mark.parametrize("program", PACKED)
def test_a_log_packed_otherwise_is_told_how_to_unpack(refuse: Refuse, write: Write, program: str) -> None:
    assert f"is packed by {program}; unpack it: " in refuse(write(PACKED[program]))


def test_text_of_16_bits_a_character_is_told_how_to_convert(refuse: Refuse, write: Write) -> None:
    assert "is UTF-16 text; convert it: iconv" in refuse(write("INFO ready\n".encode("utf-16")))


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (gzip.compress(b"a line\n" * 9000)[:-20], "it ends too early"),
        (gzip.compress(b"a line\n" * 9000)[:40] + b"broken" * 40, "it is damaged"),
        (b"\x1f\x8b\x08", "it ends too early"),
        (b"\x1f\x8bno gzip at all, whatever it says", "it is damaged"),
    ],
    ids=["cut off", "damaged", "a header alone", "no gzip"],
)
def test_a_broken_gz(refuse: Refuse, write: Write, broken: bytes, why: str) -> None:
    path = write(broken, "server.log.gz")

    assert refuse(path).startswith(f"{path} cannot be unpacked: {why}; ")


def test_standard_input_named_twice(refuse: Refuse) -> None:
    assert refuse("-", "-") == "- is named twice; name each log once"


def test_one_file_by_two_names(refuse: Refuse, write: Write, tmp_path: Path) -> None:
    path = write("text")
    (tmp_path / "other.log").symlink_to(path)

    assert refuse(path, str(tmp_path / "other.log")).endswith("other.log is named twice; name each log once")


def test_a_name_of_odd_bytes_is_no_traceback_and_moves_no_cursor(
    write: Write, refuse: Refuse, tminus: Tminus, tmp_path: Path
) -> None:
    name = os.fsdecode(os.fsencode(str(tmp_path)) + b"/caf\xe9\x1b[2J.log")
    assert "\x1b" not in refuse(name)

    Path(name).write_text("text")
    done = tminus(name, "--json")

    assert (done.returncode, done.stderr) == (0, b"")
    assert b"caf.log" in done.stdout


def test_an_engine_that_is_unknown_is_answered_with_the_known_ones(refuse: Refuse, write: Write) -> None:
    said = refuse(write("text"), "--engine", "sglan")

    assert said.startswith("--engine must be sglang, vllm, llamacpp")
    assert said.endswith("or generic, not 'sglan'; did you mean sglang?")


def test_no_log_at_all(refuse: Refuse) -> None:
    assert "LOG..." in refuse()


def test_nothing_on_standard_input_is_an_empty_log(tminus: Tminus) -> None:
    done = tminus("-")

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"UNFINISHED in launch\n")


@pytest.mark.parametrize(
    "given",
    [b"\x00" * 70_000 + b"plain text\n", b"\xef\xbb\xbfplain\n", b"caf\xe9\n"],
    ids=["a hole of zeros first", "a byte order mark", "another encoding"],
)
def test_what_only_looks_odd_is_read(tminus: Tminus, given: bytes) -> None:
    assert tminus("-", given=given).returncode == 0


def test_binary_data_on_standard_input_is_refused(tminus: Tminus) -> None:
    done = tminus("-", given=BINARIES["noise"])

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"tminus: standard input is a binary file; name the text log of the server\n"


def test_closed_standard_input_is_an_empty_log() -> None:
    command = f"{sys.executable} -m tui explain - <&-"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, timeout=60, check=False)

    assert (done.returncode, done.stderr) == (0, b"")


# What another command plays.

OURS = b'{"tminus":"0.1.0","events":2,"host":"gpu01","began_wall_s":1.0}\n{"kind":"tick","mono_s":1.0}\n'
RECORDER = b'{"k":"events","t":0.001,"ev":"launch","pid":1687,"cmd":["bash"]}\n'


@pytest.mark.parametrize("first", [OURS, RECORDER], ids=["ours", "recorder"])
@pytest.mark.parametrize("packed", ["gzip", "unfinished", "plain"])
def test_a_recording(refuse: Refuse, tmp_path: Path, first: bytes, packed: str) -> None:
    path = tmp_path / "recording"
    squeeze = zlib.compressobj(6, zlib.DEFLATED, 31)
    begun = squeeze.compress(first) + squeeze.flush(zlib.Z_SYNC_FLUSH)
    path.write_bytes({"gzip": gzip.compress(first), "unfinished": begun, "plain": first}[packed])

    assert refuse(str(path)) == f"{path} is a recording, no log; tminus replay {path} plays it"


def test_a_recording_among_logs(refuse: Refuse, write: Write, tmp_path: Path) -> None:
    path = tmp_path / "recording"
    path.write_bytes(OURS)

    assert "is a recording" in refuse(write("INFO: a line\n"), str(path))


def test_a_recording_on_standard_input(tminus: Tminus) -> None:
    done = tminus("-", given=OURS)

    assert done.returncode == 2
    sentence = b"standard input is a recording, no log; save it as FILE: tminus replay FILE plays it"
    assert done.stderr == b"tminus: " + sentence + b"\n"


@pytest.mark.parametrize("first", ['{"events": 2}', '{"k": "x", "t": 1.0}', '{"tminus": 1}', "{", "[1]"])
def test_a_log_of_json_lines_is_no_recording(write: Write, first: str) -> None:
    assert cli.run(["explain", write(f"{first}\nINFO: a line\n")]) == 0
