"""Whatever lies in place of the ledger's file is said in a sentence, and nothing is lost by it."""

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from ledger_writer import entry_of

from tui.runs import schema
from tui.runs.ledger import Ledger, LedgerFault

MANY = 40
OURS = [entry_of("aa", number) for number in range(MANY)]


@pytest.fixture
def full(ledger: Ledger) -> Ledger:
    """Return a ledger with runs enough for some hundred pages."""
    for entry in OURS:
        assert ledger.add_run(entry) == ""
    return Ledger(ledger.path, busy_s=0.3)


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return what lies in a folder, and when it was written."""
    return {each.name: (each.read_bytes(), each.stat().st_mtime_ns) for each in folder.iterdir()}


def aside(ledger: Ledger) -> list[Path]:
    return sorted(ledger.path.parent.glob("runs.damaged-*.sqlite"))


def test_the_file_is_for_its_user_alone(ledger: Ledger) -> None:
    before = os.umask(0)
    try:
        ledger.add_run(OURS[0])
        writer = sqlite3.connect(ledger.path)
        with closing(writer):
            writer.execute("UPDATE runs SET host = 'x'")
            modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in ledger.path.parent.iterdir()}
    finally:
        os.umask(before)

    assert modes == dict.fromkeys(("runs.sqlite", "runs.sqlite-wal", "runs.sqlite-shm"), 0o600)
    assert stat.S_IMODE(ledger.path.parent.stat().st_mode) == 0o700


def test_the_file_is_in_wal_mode_and_nothing_lies_beside_it_between_calls(full: Ledger) -> None:
    with closing(sqlite3.connect(full.path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert [each.name for each in full.path.parent.iterdir()] == ["runs.sqlite"]


# A newer file, a foreign one.


def made_newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")


def left_behind(path: Path, change: Callable[[sqlite3.Connection], object], into: Path) -> Ledger:
    """Change the file by a writer that never closes it, and return the copy with its log."""
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        change(writer)
        into.mkdir()
        for ending in ("", "-wal", "-shm"):
            (into / f"runs.sqlite{ending}").write_bytes(path.with_name(path.name + ending).read_bytes())
    return Ledger(into / "runs.sqlite", busy_s=0.3)


def refused(ledger: Ledger, word: str) -> None:
    """Check that every call says so and that not a byte is changed."""
    before = content(ledger.path.parent)

    told = ledger.add_run(entry_of("bb", 0))
    assert word in told
    assert str(ledger.path) in told
    for call in (ledger.runs, ledger.loads, lambda: ledger.run("aa"), lambda: ledger.set_baseline("aa")):
        with pytest.raises(LedgerFault, match=word):
            call()
    assert content(ledger.path.parent) == before


def test_a_file_of_a_newer_version_is_left_as_it_is(full: Ledger) -> None:
    made_newer(full.path)

    refused(
        full, f"is of version {schema.VERSION + 1}, and this tminus knows versions up to {schema.VERSION}"
    )


def test_a_newer_file_is_not_touched_with_a_log_beside_it(full: Ledger, tmp_path: Path) -> None:
    made_newer(full.path)
    newer = left_behind(full.path, lambda db: db.execute("UPDATE runs SET host = 'x'"), tmp_path / "newer")

    refused(newer, "is of version")


def test_a_version_that_stands_in_the_log_alone_counts(full: Ledger, tmp_path: Path) -> None:
    newer = left_behind(full.path, lambda db: db.execute("PRAGMA user_version = 99"), tmp_path / "newer")
    with closing(sqlite3.connect(f"file:{newer.path}?immutable=1", uri=True)) as as_it_lies:
        assert schema.version_of(as_it_lies) == schema.VERSION
    logged = {name: each for name, each in content(newer.path.parent).items() if "shm" not in name}

    assert "is of version 99" in newer.add_run(entry_of("bb", 0))
    after = content(newer.path.parent)
    assert {name: each for name, each in after.items() if "shm" not in name} == logged


def test_a_database_of_another_program_is_left_as_it_is(ledger: Ledger) -> None:
    ledger.path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(ledger.path)) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")

    refused(ledger, "database of another program")


# A damaged file.


def overwritten(path: Path, begin: float, length: int) -> None:
    data = bytearray(path.read_bytes())
    at = int(len(data) * begin)
    data[at : at + length] = bytes((7 * each + 13) % 256 for each in range(len(data[at : at + length])))
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "header": lambda path: overwritten(path, 0.0, 100),
    "first page": lambda path: overwritten(path, 0.0, 4096),
    "middle": lambda path: overwritten(path, 0.3, 200_000),
    "truncated": lambda path: os.truncate(path, path.stat().st_size // 2 // 4096 * 4096),
    "torn": lambda path: os.truncate(path, path.stat().st_size // 3 + 77),
    "beginning": lambda path: os.truncate(path, 50),
    "text": lambda path: path.write_text("[mysettings]\n" * 1000),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_kept_aside_and_a_new_one_begun(
    full: Ledger, damage: Callable[[Path], object]
) -> None:
    damage(full.path)
    as_it_was = full.path.read_bytes()

    assert full.add_run(entry_of("bb", 1)) == ""

    (kept,) = aside(full)
    assert kept.read_bytes() == as_it_was
    told = full.notice()
    assert str(kept) in told
    assert "damaged" in told
    assert full.runs() == [entry_of("bb", 1, 0)]
    assert stat.S_IMODE(full.path.stat().st_mode) == 0o600


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_reading_a_damaged_file_changes_nothing(full: Ledger, damage: Callable[[Path], object]) -> None:
    damage(full.path)
    before = content(full.path.parent)

    with pytest.raises(LedgerFault, match=f"the ledger {full.path} is damaged .*; nothing was changed"):
        Ledger(full.path, write=False).runs()
    assert content(full.path.parent) == before


def test_a_second_damaged_file_is_kept_beside_the_first(full: Ledger) -> None:
    for _ in range(2):
        full.path.write_text("none" * 1000)
        full.add_run(OURS[0])

    assert len(aside(full)) == 2


def test_the_log_of_a_damaged_file_goes_with_it(full: Ledger, tmp_path: Path) -> None:
    crashed = left_behind(
        full.path, lambda db: db.execute("UPDATE runs SET host = 'x'"), tmp_path / "crashed"
    )
    crashed.path.write_text("none" * 1000)
    log = crashed.path.with_name("runs.sqlite-wal").read_bytes()

    assert crashed.add_run(OURS[0]) == ""

    (kept,) = aside(crashed)
    assert kept.with_name(kept.name + "-wal").read_bytes() == log
    assert crashed.runs() == [entry_of("aa", 0, 0)]


def test_records_that_were_overwritten_spoil_their_own_run_alone(full: Ledger) -> None:
    with closing(sqlite3.connect(full.path)) as connection, connection:
        connection.execute("UPDATE records SET body = zeroblob(length(body)) WHERE run = 3")
        connection.execute("UPDATE runs SET body = '{\"broken' WHERE number = 5")

    for name in (OURS[2].id, OURS[4].id):
        with pytest.raises(LedgerFault, match=f"run {name} can not be read: its entry in .* is damaged"):
            full.run(name)
    assert [each.id for each in full.runs()] == [each.id for each in OURS if each is not OURS[4]]
    assert OURS[4].id in full.notice()
    assert full.notice() == ""


# Places where it can not be.


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "tminus").write_text("")
    ledger = Ledger(tmp_path / "tminus" / "runs.sqlite")

    assert ledger.add_run(OURS[0]) == (
        f"run {OURS[0].id} is not kept: the ledger {ledger.path} can not be written: "
        f"{tmp_path / 'tminus'} is no folder"
    )
    assert ledger.runs() == []


def test_a_file_that_is_a_folder_is_named(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)

    assert f"the ledger {tmp_path} can not be opened" in ledger.add_run(OURS[0])
    with pytest.raises(LedgerFault, match="can not be opened"):
        ledger.runs()


def test_a_place_where_no_folder_can_be_made_is_named() -> None:
    if not Path("/proc/self").exists():
        pytest.skip("this system has no /proc")

    told = Ledger(Path("/proc/self/tminus/runs.sqlite")).add_run(OURS[0])

    assert told.startswith(
        f"run {OURS[0].id} is not kept: the ledger /proc/self/tminus/runs.sqlite can not be"
    )
