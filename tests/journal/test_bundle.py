"""A bundle can be unpacked anywhere, and nothing is left of one that was broken off by a signal."""

import os
import signal
import tarfile
from pathlib import Path

import pytest

from tui.journal.bundle import folder_name, new_bundle
from tui.terminal import undone_by_signals


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("one.tar.gz", "one"),
        ("one.tgz", "one"),
        ("v1.2.tar.gz", "v1.2"),
        (".tar.gz", "bundle"),
        ("..tar.gz", "bundle"),
        ("...tar.gz", "bundle"),
        (" . .tar.gz", "bundle"),
        ("a\x1b[31m\nb.tar.gz", "ab"),
        ("\x1b[31m.tar.gz", "bundle"),
        ("..\\..\\x.tar.gz", ".._.._x"),
        ("\udcff.tar.gz", "bundle"),
    ],
)
def test_the_folder_is_named_after_the_file_where_that_is_a_name(name: str, expected: str) -> None:
    assert folder_name(name) == expected


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_removes_what_was_begun_and_tells_the_exit_code(tmp_path: Path, number: int) -> None:
    # Whoever runs the tests may ignore it (nohup).
    outside, before = signal.signal(number, signal.SIG_DFL), signal.SIG_DFL

    def broken_off() -> None:
        with undone_by_signals(), new_bundle(tmp_path / "one.tar.gz", "one") as bundle:
            assert [name.endswith(".part") for name in os.listdir(tmp_path)] == [True]
            os.kill(os.getpid(), number)
            bundle.add("a.txt", b"a")

    try:
        with pytest.raises(SystemExit) as left:
            broken_off()
        assert left.value.code == 128 + number
        assert os.listdir(tmp_path) == []
        assert signal.getsignal(number) is before
    finally:
        signal.signal(number, outside)


def test_an_ignored_hang_up_stays_ignored(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with undone_by_signals(), new_bundle(tmp_path / "one.tar.gz", "one") as bundle:
            os.kill(os.getpid(), signal.SIGHUP)
            bundle.add("a.txt", b"a")
    finally:
        signal.signal(signal.SIGHUP, before)
    with tarfile.open(tmp_path / "one.tar.gz") as tar:
        assert tar.getnames() == ["one", "one/a.txt"]


def test_a_bundle_is_for_its_owner_alone(tmp_path: Path) -> None:
    with new_bundle(tmp_path / "one.tar.gz", "one"):
        pass
    assert (tmp_path / "one.tar.gz").stat().st_mode & 0o777 == 0o600


def test_what_a_killed_export_left_goes_with_the_next_and_one_under_way_stays(tmp_path: Path) -> None:
    old, fresh, other = (tmp_path / name for name in (".tminus-0a.part", ".tminus-0b.part", ".0c.part"))
    with new_bundle(tmp_path / "one.tar.gz", "one"):
        (under_way,) = tmp_path.glob(".tminus-*.part")
        for each in (old, fresh, other):
            each.touch()
        for each in (old, other, under_way):
            os.utime(each, (1.0, 1.0))
        with new_bundle(tmp_path / "two.tar.gz", "two"):
            assert not old.exists()
            assert fresh.exists()
            assert other.exists()
            assert under_way.exists()
    assert {path.name for path in tmp_path.glob("*.tar.gz")} == {"one.tar.gz", "two.tar.gz"}
