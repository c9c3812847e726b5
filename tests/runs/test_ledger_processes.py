"""The ledger among real processes: killed in mid-write, many at once, a full disk, a file held by others."""

import asyncio
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from ledger_writer import HERE, entry_of, start

from tui.runs import file
from tui.runs.ledger import Ledger

ROOT = HERE.parent.parent
KILLS = 12
IMPORTS = """
import os, sys
from pathlib import Path
from ledger_writer import entry_of
from tui.runs.ledger import Ledger
"""
Needs = Callable[[str], str]


def child(code: str, *arguments: str, before: tuple[str, ...] = (), **environment: str) -> list[str]:
    """Run code in a Python of its own and return the lines that it printed."""
    begin = "import os, sys\nfrom pathlib import Path\nfrom ledger_writer import entry_of\n"
    done = subprocess.run(
        [
            *before,
            sys.executable,
            "-c",
            begin + "from tui.runs.ledger import Ledger, LedgerFault\n" + code,
            *arguments,
        ],
        env={"PYTHONPATH": f"{HERE}:{ROOT}", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def whole(path: Path, name: str, said: list[str]) -> list[str]:
    """Check that the file is sound and that each run that was said to be kept is there as it was."""
    ledger = Ledger(path)
    for each in said:
        assert ledger.run(each) == entry_of(name, int(each[2:], 16))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        bare = "SELECT count(*) FROM runs WHERE number NOT IN (SELECT run FROM records)"
        assert connection.execute(bare).fetchone() == (0,)
    assert ledger.notice() == ""
    return [each.id for each in ledger.runs(newest=100_000) if each.id.startswith(name)]


def test_a_writer_killed_in_mid_write_leaves_every_run_that_it_had_kept(ledger: Ledger) -> None:
    moments = random.Random(6)
    for kill in range(KILLS):
        name = f"{kill:02x}"
        with start(ledger.path, name, 10_000) as writer:
            assert writer.stdout is not None
            first = writer.stdout.readline()
            time.sleep(moments.uniform(0.0, 0.05))
            writer.kill()
            # The last line may be torn, and its run is kept all the same.
            said = [
                line for line in (first + writer.stdout.read()).splitlines() if len(line) == len("00000000")
            ]

        kept = whole(ledger.path, name, said)

        assert len(said) <= len(kept) <= len(said) + 1
    assert not list(ledger.path.parent.glob("*damaged*"))


def test_a_write_that_is_torn_in_its_middle_costs_no_run_but_its_own(
    ledger: Ledger, tmp_path: Path, needs: Needs
) -> None:
    library = tmp_path / "torn_write.so"
    source = ROOT / "tests" / "stubs" / "torn_write.c"
    subprocess.run([needs("gcc"), "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    for number, place in enumerate((1, 2, 3, 5, 8, 13, 21, 34, 55, 89)):
        name = f"{number:02x}"
        torn = {"LD_PRELOAD": str(library), "TORN_WRITE": str(place)}
        with start(ledger.path, name, 10_000, **torn) as writer:
            said = writer.communicate(timeout=60)[0].split()
        assert writer.returncode == -9

        assert ledger.add_run(entry_of("ff", number)) == ""
        assert len(whole(ledger.path, name, said)) <= len(said) + 1
    assert len(whole(ledger.path, "ff", [])) == 10
    assert not list(ledger.path.parent.glob("*damaged*"))


@pytest.mark.parametrize("writers", [2, 8])
def test_writers_at_once_lose_nothing(ledger: Ledger, writers: int) -> None:
    each = 160 // writers
    running = [start(ledger.path, f"{number:02x}", each) for number in range(writers)]
    said = [process.communicate(timeout=120)[0].split() for process in running]

    for number in range(writers):
        name = f"{number:02x}"
        assert said[number] == [f"{name}{place:06x}" for place in range(each)]
        assert sorted(whole(ledger.path, name, said[number])) == said[number]


def test_a_damaged_file_is_kept_aside_once_by_writers_at_once(ledger: Ledger) -> None:
    ledger.path.parent.mkdir(parents=True)
    ledger.path.write_text("none" * 10_000)

    running = [start(ledger.path, f"{number:02x}", 10) for number in range(4)]
    said = [process.communicate(timeout=120)[0].split() for process in running]

    assert len(list(ledger.path.parent.glob("*damaged*"))) == 1
    for number in range(4):
        assert len(said[number]) == 10
        whole(ledger.path, f"{number:02x}", said[number])


def test_reading_beside_writers_sees_whole_runs(ledger: Ledger) -> None:
    reader = Ledger(ledger.path, write=False)
    seen = 0
    with start(ledger.path, "aa", 150) as writer:
        while writer.poll() is None:
            found = reader.runs(newest=1000)
            assert len(found) >= seen
            seen = len(found)
            if found:
                assert reader.run(found[-1].id) == entry_of("aa", int(found[-1].id[2:], 16))
    assert len(reader.runs(newest=1000)) == 150


# A disk that is full.


def test_a_full_database_is_said_and_loses_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ledger.add_run(entry_of("aa", 1)) == ""
    prepare = file.LedgerFile._prepare  # pyright: ignore[reportPrivateUsage]

    def bounded(self: file.LedgerFile, connection: sqlite3.Connection) -> None:
        prepare(self, connection)
        connection.execute("PRAGMA max_page_count = 1")

    with monkeypatch.context() as patched:
        patched.setattr(file.LedgerFile, "_prepare", bounded)
        told = ledger.add_run(entry_of("aa", 2, 4000))

    assert told == (
        f"run aa000002 is not kept: the ledger {ledger.path} can not grow: the disk is full; "
        "what was kept before is still there"
    )
    assert whole(ledger.path, "aa", ["aa000001"]) == ["aa000001"]
    assert ledger.add_run(entry_of("aa", 2)) == ""


FILL = """
ledger, number = Ledger(Path(sys.argv[1])), 0
told = ""
while not told and number < 2000:
    told, number = ledger.add_run(entry_of("aa", number)), number + 1
found = ledger.runs(newest=5000)
print(len(found) == number - 1 and all(ledger.run(each.id).records for each in found), told)
"""


def test_a_file_that_may_not_grow_is_said_and_loses_nothing(tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"

    (told,) = child(limit + FILL, str(tmp_path / "runs.sqlite"))

    assert told.startswith("True run aa")
    assert "can not be read or written: disk I/O error" in told
    assert len(whole(tmp_path / "runs.sqlite", "aa", ["aa000000"])) > 5


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    small = f'mount -t tmpfs -o size=600k none {tmp_path} && exec "$@"'
    before = ("unshare", "-m", "sh", "-c", small, "sh")
    if subprocess.run([*before, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")

    (told,) = child(FILL, str(tmp_path / "tminus" / "runs.sqlite"), before=before)

    assert told.startswith("True run aa")
    assert "can not grow: the disk is full" in told


BRIM = """
ledger = Ledger(Path(sys.argv[1]))
ledger.add_run(entry_of("aa", 1))
with open(Path(sys.argv[1]).with_name("fill"), "wb", buffering=0) as filling:
    try:
        while filling.write(bytes(4096)):
            continue
    except OSError:
        pass
print(Ledger(Path(sys.argv[1])).add_run(entry_of("aa", 2)))
"""


def test_a_disk_without_room_for_anything_is_said(tmp_path: Path) -> None:
    small = f'mount -t tmpfs -o size=400k none {tmp_path} && exec "$@"'
    before = ("unshare", "-m", "sh", "-c", small, "sh")
    if subprocess.run([*before, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here")

    (told,) = child(BRIM, str(tmp_path / "runs.sqlite"), before=before)

    assert "its disk is full; what was kept before is still there" in told


# Others hold it.


def test_a_file_that_others_hold_is_given_up_after_the_busy_time(ledger: Ledger) -> None:
    ledger.add_run(entry_of("aa", 1))
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began_s = time.monotonic()
        told = ledger.add_run(entry_of("aa", 2))
        took_s = time.monotonic() - began_s

        assert "was locked by others for 0.3 s" in told
        assert took_s >= 0.25
        assert [each.id for each in ledger.runs()] == ["aa000001"]  # a reader does not wait for a writer
    assert ledger.add_run(entry_of("aa", 2)) == ""


def test_a_reader_that_stays_holds_up_no_writer(ledger: Ledger) -> None:
    ledger.add_run(entry_of("aa", 1))
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM runs").fetchone()

        assert ledger.add_run(entry_of("aa", 2)) == ""
        assert other.execute("SELECT count(*) FROM runs").fetchone() == (1,)


async def test_called_in_a_thread_it_does_not_hold_up_the_event_loop(ledger: Ledger) -> None:
    ledger.add_run(entry_of("aa", 1))
    turns = 0
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        adding = asyncio.create_task(asyncio.to_thread(ledger.add_run, entry_of("aa", 2)))
        while not adding.done():
            turns += 1
            await asyncio.sleep(0.005)

    assert "was locked" in adding.result()
    assert turns > 10


async def test_threads_at_once_lose_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "runs.sqlite", busy_s=60.0)
    entries = [entry_of("aa", number) for number in range(40)]

    told = await asyncio.gather(*(asyncio.to_thread(ledger.add_run, entry) for entry in entries))

    assert set(told) == {""}
    ids = [each.id for each in entries]
    assert sorted(whole(ledger.path, "aa", ids)) == ids


# Places that can not be written or locked.

READ_ONLY = """
folder = Path(sys.argv[1])
folder.chmod(0o555)
if os.geteuid() == 0:
    os.seteuid(65534)
ledger = Ledger(folder / "runs.sqlite")
print([each.id for each in ledger.runs()])
print(ledger.add_run(entry_of("aa", 2)))
print(Ledger(folder / "new.sqlite").add_run(entry_of("aa", 2)))
print(Ledger(folder / "new" / "runs.sqlite").add_run(entry_of("aa", 2)))
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Return a folder that every user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="tminus-ledger-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_in_a_folder_that_is_read_only_it_can_be_read(open_folder: Path) -> None:
    path = open_folder / "runs.sqlite"
    Ledger(path).add_run(entry_of("aa", 1))
    path.chmod(0o444)

    kept, *told = child(READ_ONLY, str(open_folder))

    assert kept == "['aa000001']"
    for each, name in zip(told, ("runs.sqlite", "new.sqlite", "new/runs.sqlite"), strict=True):
        assert each.startswith(f"run aa000002 is not kept: the ledger {open_folder / name} can not be ")


LOCKLESS = """
ledger = Ledger(Path(sys.argv[1]), busy_s=0.2)
print(ledger.add_run(entry_of("aa", 2)))
print([each.id for each in ledger.runs()])
"""


def test_a_file_system_without_locks_is_said(ledger: Ledger, tmp_path: Path, needs: Needs) -> None:
    library = tmp_path / "no_locks.so"
    source = ROOT / "tests" / "stubs" / "no_locks.c"
    subprocess.run([needs("gcc"), "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    ledger.add_run(entry_of("aa", 1))

    told, kept = child(LOCKLESS, str(ledger.path), LD_PRELOAD=str(library))

    assert "lies on a file system without locks; XDG_DATA_HOME names another place for it" in told
    assert kept == "['aa000001']"  # what nobody writes is read without a lock
