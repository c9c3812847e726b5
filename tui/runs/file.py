"""The ledger's file: opened for one piece of work at a time, whatever has become of it.

Each call opens a connection of its own, so any thread may call, nothing is held between two calls, and a
file that was replaced is found. Reading never changes a file: without a log of SQLite's beside it (``-wal``)
it is read as it lies, which is repeated where somebody wrote meanwhile; an older version is brought up to
date in memory. Writing is one transaction. A damaged file is kept aside by the next write, under a lock of
the folder that all writers share, so that no file is ever swapped below one of them.
"""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from tui import files
from tui.runs import schema

BUSY_S = 5.0
"""So long others may keep the file locked before a call gives up."""
PAUSE_S = 0.005
CHECKED_BYTES = 32 * 1024 * 1024
"""A file up to this size is looked through before the first write to it (measured: 20 ms)."""
FOLDER_MODE, FILE_MODE = 0o700, 0o600
TRIES = 3
BESIDE = ("-wal", "-shm")

_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_LEAST_ROOM_BYTES = 64 * 1024
_DOUBTFUL = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT)
"""A mistake of ours, or tables that are damaged."""

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]
_Identity = tuple[int, int]


class LedgerFault(Exception):
    """Why the ledger can not be read or written: one sentence."""


class _Damaged(Exception):
    """The file is none, or broken; ``identity`` tells which file that was."""

    def __init__(self, identity: _Identity | None, why: str) -> None:
        super().__init__(why)
        self.identity = identity


class _Changed(Exception):
    """Somebody wrote while the file was read as it lies."""


class LedgerFile:
    """One file; ``told`` takes a sentence on what has happened to it. No error of SQLite comes out."""

    def __init__(self, path: Path, told: Callable[[str], None], *, busy_s: float = BUSY_S) -> None:
        self.path = path
        self._told = told
        self._busy_s = busy_s
        self._checked = False

    def read(self, work: Work[T]) -> T:
        """Do work on the file as it is (on an empty one where there is none). Raises LedgerFault."""
        until_s = time.monotonic() + self._busy_s
        while True:
            try:
                return self._read(work, until_s)
            except _Changed:
                self._pause(until_s)
            except _Damaged as damage:
                raise LedgerFault(
                    f"the ledger {self.path} is damaged ({damage}); nothing was changed: the next run that "
                    "is kept begins a new one and keeps this one aside"
                ) from None
            except sqlite3.DatabaseError as error:
                self._give_up_or_pause(error, until_s)
            except OSError as error:
                raise LedgerFault(f"the ledger {self.path} can not be read: {error.strerror}") from None

    def write(self, work: Work[T]) -> T:
        """Do work in one transaction; make the file where there is none. Raises LedgerFault."""
        until_s = time.monotonic() + self._busy_s
        for _ in range(TRIES):
            try:
                return self._write_when_free(work, until_s)
            except _Damaged as damage:
                self._keep_aside(damage, until_s)
        raise LedgerFault(f"the ledger {self.path} is damaged again and again: look at its disk")

    # Reading.

    def _read(self, work: Work[T], until_s: float) -> T:
        if not self.path.exists():
            with closing(_in_memory()) as connection:
                return work(connection)
        if self._lies() is None:
            with _shared(self.path.parent):
                return self._read_beside_writers(work, until_s)
        with _alone(self.path.parent, until_s):
            return self._read_as_it_lies(work, until_s)

    def _read_as_it_lies(self, work: Work[T], until_s: float) -> T:
        """Read a file that no writer has open; where folders can not be locked, its time stamp must tell."""
        before = self._lies()
        if before is None:
            raise _Changed
        try:
            with closing(self._connect("immutable=1", until_s)) as connection:
                found = self._read_any(connection, work)
        except (sqlite3.DatabaseError, _Damaged):
            if self._lies() != before:
                raise _Changed from None
            raise
        if self._lies() != before:
            raise _Changed
        return found

    def _lies(self) -> tuple[int, ...] | None:
        """Return what tells whether the file was written; None while a log of SQLite's lies beside it."""
        if _beside(self.path, "-wal").exists():
            return None
        try:
            facts = self.path.stat()
        except FileNotFoundError:
            return ()
        return (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns)

    def _read_beside_writers(self, work: Work[T], until_s: float) -> T:
        # What the file itself tells of its version is known before its log is touched.
        with closing(self._connect("immutable=1", until_s)) as connection:
            self._check_header(connection)
        with closing(self._connect("mode=ro", until_s)) as connection:
            return self._read_any(connection, work)

    def _check_header(self, connection: sqlite3.Connection) -> None:
        """Refuse a newer file; anything else is seen better with the log."""
        try:
            self._refuse_newer(connection)
        except sqlite3.DatabaseError:
            return

    def _read_any(self, connection: sqlite3.Connection, work: Work[T]) -> T:
        """Do work on a file of this version or an older one."""
        with self._recognised(connection):
            self._refuse_newer(connection)
            self._refuse_foreign(connection)
            if schema.version_of(connection) == schema.VERSION:
                connection.execute("BEGIN")
                return work(connection)
            with closing(_in_memory(connection)) as copy:
                return work(copy)

    # Writing.

    def _write_when_free(self, work: Work[T], until_s: float) -> T:
        while True:
            try:
                return self._write(work, until_s)
            except _Changed:
                self._pause(until_s)
            except sqlite3.DatabaseError as error:
                self._give_up_or_pause(error, until_s)
            except (FileExistsError, NotADirectoryError):
                raise LedgerFault(
                    f"the ledger {self.path} can not be written: {self.path.parent} is no folder"
                ) from None
            except OSError as error:
                raise LedgerFault(f"the ledger {self.path} can not be written: {error.strerror}") from None

    def _write(self, work: Work[T], until_s: float) -> T:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
        if self.path.exists() and self.path.stat().st_size:
            # What is newer, foreign or none is known before anything is opened for writing.
            self._read(lambda _: None, until_s)
        with (
            _shared(self.path.parent),
            closing(self._opened(until_s)) as connection,
            self._recognised(connection),
        ):
            self._prepare(connection)
            return self._in_transaction(connection, work)

    def _in_transaction(self, connection: sqlite3.Connection, work: Work[T]) -> T:
        connection.execute("BEGIN IMMEDIATE")
        try:
            self._refuse_newer(connection)
            schema.migrate(connection)
            done = work(connection)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        return done

    def _opened(self, until_s: float) -> sqlite3.Connection:
        new = not self.path.exists()
        connection = self._connect("mode=rwc", until_s)
        if new:
            self.path.chmod(FILE_MODE)  # its logs get the same mode, and it is empty still
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        if not self._checked and self.path.stat().st_size <= CHECKED_BYTES:
            said = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if said != "ok":
                raise _Damaged(_identity(self.path), str(said).splitlines()[-1])
        self._checked = True

    # What is wrong with it.

    @contextmanager
    def _recognised(self, connection: sqlite3.Connection) -> Generator[None]:
        """Raise _Damaged for errors that come from the file's content."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            if _code(error) in _DAMAGED or (_code(error) in _DOUBTFUL and not _is_whole(connection)):
                raise _Damaged(_identity(self.path), str(error)) from None
            raise

    def _refuse_newer(self, connection: sqlite3.Connection) -> None:
        version = schema.version_of(connection)
        if version > schema.VERSION:
            raise LedgerFault(
                f"the ledger {self.path} is of version {version}, and this tminus knows versions up to "
                f"{schema.VERSION}: nothing was changed; use the newer tminus that wrote it"
            )

    def _refuse_foreign(self, connection: sqlite3.Connection) -> None:
        if schema.is_foreign(connection):
            raise LedgerFault(
                f"{self.path} is a database of another program: nothing was changed; move it away"
            )

    def _give_up_or_pause(self, error: sqlite3.DatabaseError, until_s: float) -> None:
        """Wait a moment where others hold the file. Raises LedgerFault, and an error that is a mistake."""
        code = _code(error)
        if code in _BUSY and time.monotonic() < until_s:
            time.sleep(PAUSE_S)
            return
        if code in _DOUBTFUL or not isinstance(error, sqlite3.OperationalError):
            raise error
        raise LedgerFault(f"the ledger {self.path} {self._words(code, error)}") from None

    def _words(self, code: int, error: sqlite3.DatabaseError) -> str:
        if code in _BUSY:
            return (
                f"was locked by others for {self._busy_s:g} s, or lies on a file system without locks; "
                "XDG_DATA_HOME names another place for it"
            )
        if code == sqlite3.SQLITE_FULL:
            return "can not grow: the disk is full; what was kept before is still there"
        if code == sqlite3.SQLITE_IOERR and _is_full(self.path.parent):
            return "can not be used: its disk is full; what was kept before is still there"
        if code == sqlite3.SQLITE_IOERR:
            return f"can not be read or written: {error} ({error.sqlite_errorname}); look at its disk"
        return f"can not be opened: {error}"

    def _pause(self, until_s: float) -> None:
        if time.monotonic() >= until_s:
            raise LedgerFault(f"the ledger {self.path} is written by others all the time; try again")
        time.sleep(PAUSE_S)

    def _keep_aside(self, damage: _Damaged, until_s: float) -> None:
        """Rename the damaged file and its logs, unless another tminus has done so."""
        try:
            with _alone(self.path.parent, until_s):
                if damage.identity is None or _identity(self.path) != damage.identity:
                    return
                aside = _free_name(self.path)
                # The logs go first: one that is left behind would be taken for that of the new file.
                for ending in (*BESIDE, ""):
                    if _beside(self.path, ending).exists():
                        _beside(self.path, ending).rename(_beside(aside, ending))
        except OSError as error:
            raise LedgerFault(
                f"the ledger {self.path} is damaged ({damage}) and can not be kept aside: {error.strerror}"
            ) from None
        self._checked = False
        self._told(f"the ledger was damaged ({damage}) and a new one was begun; it is kept as {aside}")

    def _connect(self, how: str, until_s: float) -> sqlite3.Connection:
        return sqlite3.connect(
            f"file:{quote(str(self.path.absolute()))}?{how}",
            uri=True,
            isolation_level=None,
            timeout=max(0.0, until_s - time.monotonic()),
        )


def _in_memory(source: sqlite3.Connection | None = None) -> sqlite3.Connection:
    """Return a ledger of this version in memory: an empty one, or what an older file holds."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    if source is not None:
        source.backup(connection)
    schema.migrate(connection)
    return connection


def _is_whole(connection: sqlite3.Connection) -> bool:
    try:
        sound = connection.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok"
        return sound and schema.has_tables(connection)
    except sqlite3.DatabaseError:
        return False


def _is_full(folder: Path) -> bool:
    """Tell whether SQLite has no room even for what lies beside a ledger that is only read (64 KiB)."""
    try:
        return shutil.disk_usage(folder).free < _LEAST_ROOM_BYTES
    except OSError:
        return False


def _code(error: sqlite3.Error) -> int:
    """Return the primary code of SQLite's error."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _identity(path: Path) -> _Identity | None:
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _free_name(path: Path) -> Path:
    stamp = time.strftime("%Y%m%dT%H%M%S")
    names = [
        f"{path.stem}.damaged-{stamp}{more}{path.suffix}" for more in ("", *(f"-{n}" for n in range(2, 100)))
    ]
    found = (path.with_name(name) for name in names)
    return next(each for each in found if not each.exists())


# The lock of the folder.


@contextmanager
def _shared(folder: Path) -> Generator[None]:
    """Keep others from renaming the file. Where folders can not be locked, nothing is done."""
    file = files.open_folder(folder)
    try:
        if file is not None:
            files.lock(file, alone=False, waits=True)
        yield
    finally:
        if file is not None:
            os.close(file)


@contextmanager
def _alone(folder: Path, until_s: float) -> Generator[None]:
    """Keep every other tminus from the file. Raises OSError where they do not let go of it."""
    file = files.open_folder(folder)
    try:
        while file is not None and files.lock(file, alone=True) is False:
            if time.monotonic() >= until_s:
                raise OSError(0, "others use it all the time")
            time.sleep(PAUSE_S)
        yield
    finally:
        if file is not None:
            os.close(file)
