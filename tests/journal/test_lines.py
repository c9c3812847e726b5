"""Lines come out of a file as far as it is whole, and never more of it than a bound is in memory."""

import gzip
import os
import resource
import zlib
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.journal.lines import LineFile, open_plain

TEXT = b"".join(b"line %d of a recording\n" % number for number in range(20_000))


def lines_of(path: Path, limit_bytes: int = 1 << 20) -> tuple[bytes, LineFile]:
    file = LineFile(path, limit_bytes)
    return b"".join(line + b"\n" for line in file), file


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        gzip.compress(TEXT),
        gzip.compress(TEXT[:1000]) + gzip.compress(TEXT[1000:]),
        gzip.compress(b"") + gzip.compress(TEXT) + gzip.compress(b""),
        gzip.compress(TEXT) + bytes(1024),
        gzip.compress(TEXT[:1000]) + bytes(16 * 1024 * 3 + 5) + gzip.compress(TEXT[1000:]),
    ],
    ids=["plain", "one member", "two members", "empty members", "padded", "padded within"],
)
def test_a_whole_file_gives_all_its_lines(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "file").write_bytes(data)
    text, file = lines_of(tmp_path / "file")
    assert text == TEXT
    assert (file.end, file.torn) == ("whole", False)


@given(st.lists(st.integers(0, len(TEXT)), max_size=6), st.integers(0, 9))
def test_members_may_be_cut_anywhere(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], level: int
) -> None:
    places = [0, *sorted(cuts), len(TEXT)]
    parts = [TEXT[begin:end] for begin, end in pairwise(places)]
    path = tmp_path_factory.mktemp("members") / "file"
    path.write_bytes(b"".join(gzip.compress(part, level) for part in parts))
    assert lines_of(path)[0] == TEXT


@given(st.floats(0, 1))
def test_a_cut_gzip_file_gives_whole_lines_and_at_most_one_torn_one(
    tmp_path_factory: pytest.TempPathFactory, share: float
) -> None:
    data = gzip.compress(TEXT)
    path = tmp_path_factory.mktemp("cut") / "file"
    path.write_bytes(data[: 2 + int((len(data) - 3) * share)])
    text, file = lines_of(path)
    assert file.end == "unfinished"
    assert text == b"" or text[:-1] == TEXT[: len(text) - 1]


def test_a_file_without_its_last_newline_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(TEXT[:-1])
    text, file = lines_of(tmp_path / "file")
    assert (text, file.torn, file.end) == (TEXT, True, "whole")


def test_a_fault_in_the_middle_costs_nothing_of_what_stands_before_it(tmp_path: Path) -> None:
    squeeze = zlib.compressobj(6, zlib.DEFLATED, 31)
    good = squeeze.compress(TEXT) + squeeze.flush(zlib.Z_SYNC_FLUSH)
    (tmp_path / "file").write_bytes(good + b"\xff" * 1000)
    text, file = lines_of(tmp_path / "file")
    assert (text, file.end) == (TEXT, "damaged")


@pytest.mark.parametrize("behind", [b"garbage", b"\x1f", b"\0\0\0garbage"])
def test_what_stands_behind_the_end_of_gzip_data_is_damage(tmp_path: Path, behind: bytes) -> None:
    (tmp_path / "file").write_bytes(gzip.compress(TEXT) + behind)
    text, file = lines_of(tmp_path / "file")
    assert (text, file.end) == (TEXT, "damaged")


def test_a_wrong_checksum_is_damage(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(TEXT))
    data[-6] ^= 1
    (tmp_path / "file").write_bytes(data)
    text, file = lines_of(tmp_path / "file")
    assert (text, file.end) == (TEXT, "damaged")


def test_a_line_beyond_the_limit_ends_the_reading_within_bounded_memory(tmp_path: Path) -> None:
    squeeze = zlib.compressobj(1, zlib.DEFLATED, 31)
    with (tmp_path / "bomb").open("wb") as file:
        file.write(squeeze.compress(b"first\n"))
        for _ in range(200):
            file.write(squeeze.compress(b"x" * 1024 * 1024))
        file.write(squeeze.flush())
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    text, read = lines_of(tmp_path / "bomb", 4 << 20)
    assert (text, read.end) == (b"first\n", "too_long")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 64 * 1024


def test_a_long_line_within_the_limit_is_whole(tmp_path: Path) -> None:
    line = b"x" * 3_000_000
    (tmp_path / "file").write_bytes(gzip.compress(b"a\n" + line + b"\nb\n"))
    assert list(LineFile(tmp_path / "file", 4 << 20)) == [b"a", line, b"b"]


def test_a_directory_and_a_pipe_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError, match="directory"):
        open_plain(tmp_path)
    with pytest.raises(OSError, match="no plain file"):
        open_plain(tmp_path / "pipe")
    with pytest.raises(FileNotFoundError):
        open_plain(tmp_path / "missing")
