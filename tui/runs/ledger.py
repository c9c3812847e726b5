"""The ledger: benchmarks and loads that are kept between watches, in one SQLite file of this user.

Every call may block for as long as others keep the file locked, 5 s at most: a program with an event loop
calls it in a thread (``await asyncio.to_thread(ledger.add_run, entry)``), from any thread and from several
at once. Several tminus may write at a time. Nothing is kept and no file is made with ``write`` False.
"""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from tui.runs import packing
from tui.runs.adding import add_load, add_run, model_of
from tui.runs.entry import LoadEntry, RunEntry
from tui.runs.file import BUSY_S, LedgerFault, LedgerFile

__all__ = ["Ledger", "LedgerFault"]

_RUNS = (
    "SELECT runs.id, runs.body, fingerprints.body FROM runs"
    " JOIN fingerprints ON fingerprints.id = runs.fingerprint"
)
_NEWEST_RUNS = " ORDER BY runs.made_wall_s DESC, runs.number DESC LIMIT ?"
_LOADS = (
    "SELECT loads.body, fingerprints.body FROM loads"
    " JOIN fingerprints ON fingerprints.id = loads.fingerprint"
    " ORDER BY loads.began_wall_s DESC, loads.number DESC LIMIT ?"
)
_ALL = -1
"""What LIMIT takes for all there are."""
_NAMED_AT_MOST = 4
T = TypeVar("T")


class Ledger:
    """Runs, loads and baselines. No call raises for what may fail but LedgerFault, which is one sentence."""

    def __init__(self, path: Path, *, write: bool = True, busy_s: float = BUSY_S) -> None:
        self.path = path
        self.writes = write
        self._notices: list[str] = []
        self._file = LedgerFile(path, self._tell, busy_s=busy_s)

    def notice(self) -> str:
        """Return, once, what has happened to the file or could not be read of it; "" when all is well."""
        told = "; ".join(self._notices)
        self._notices.clear()
        return told

    def _tell(self, sentence: str) -> None:
        if sentence not in self._notices:
            self._notices.append(sentence)

    # Runs.

    def add_run(self, entry: RunEntry) -> str:
        """Keep a run with its records; return why it is not kept, "" when it is (or nothing is to be).

        Adding one again changes nothing.
        """
        if not self.writes:
            return ""
        try:
            return self._file.write(lambda connection: add_run(connection, entry))
        except LedgerFault as fault:
            return f"run {entry.id} is not kept: {fault}"

    def add_runs(self, entries: Sequence[RunEntry]) -> list[str]:
        """Keep runs, all or none, and leave those whose id is there; return the ids that are new."""

        def add(connection: sqlite3.Connection) -> list[str]:
            new = [each for each in entries if not _is_there(connection, each.id)]
            for entry in new:
                add_run(connection, entry)
            return [each.id for each in new]

        return self._written(add)

    def runs(
        self,
        *,
        newest: int = 200,
        workload: str | None = None,
        digest: str | None = None,
        model: str | None = None,
        origin: str | None = None,
        host: str | None = None,
        profile: str | None = None,
        series: str | None = None,
        since_wall_s: float | None = None,
    ) -> list[RunEntry]:
        """Return the newest runs that fit, without their records, newest last."""
        given = {
            "runs.workload = ?": workload,
            "fingerprints.digest = ?": digest,
            "runs.model = ?": model,
            "runs.origin = ?": origin,
            "runs.host = ?": host,
            "runs.profile = ?": profile,
            "runs.series = ?": series,
            "runs.made_wall_s >= ?": since_wall_s,
        }
        return self._select(given, newest)

    def run(self, name: str) -> RunEntry:
        """Return a run by its id, or the beginning of it, with its records."""
        return self._file.read(lambda connection: self._whole(connection, name))

    def configuration(self, digest: str, workload: str) -> list[RunEntry]:
        """Return all runs of a workload on one configuration, newest last; none where that is not known."""
        return self.runs(newest=_ALL, digest=digest, workload=workload) if digest else []

    def repeats(self, workload: str) -> list[list[RunEntry]]:
        """Return all runs of a workload by their configuration; without those whose one is not known."""
        groups: dict[str, list[RunEntry]] = {}
        for entry in self.runs(newest=_ALL, workload=workload):
            if entry.fingerprint.digest:
                groups.setdefault(entry.fingerprint.digest, []).append(entry)
        return list(groups.values())

    def instance_numbers(self) -> dict[str, int]:
        """Return for each run on which start of its configuration's server it was made, from 1.

        Runs whose configuration or instance is not known are not there.
        """
        return self._file.read(_instance_numbers)

    def delete(self, name: str) -> str:
        """Delete a run by its id, or the beginning of it, also as a baseline; return its id."""
        return self._written(lambda connection: _delete(connection, name, self.path))

    # Baselines.

    def set_baseline(self, name: str | None) -> None:
        """Make a run the baseline of its workload and model; None: leave no baseline at all."""
        self._written(lambda connection: self._set_baseline(connection, name))

    def clear_baseline(self, name: str) -> None:
        """Let a run be no baseline any more."""
        self._written(
            lambda connection: connection.execute(
                "DELETE FROM baselines WHERE run = ?", (_number(connection, name, self.path),)
            )
        )

    def baseline(self, workload: str, model: str | None) -> RunEntry | None:
        """Return the baseline of a workload and model without its records, None when there is none."""
        found = self._baselines(
            " WHERE baselines.workload = ? AND baselines.model = ?", (workload, model or "")
        )
        return found[0] if found else None

    def baselines(self) -> list[RunEntry]:
        """Return all baselines without their records, the one that was set last at the end."""
        return self._baselines("", ())

    # Loads.

    def add_load(self, entry: LoadEntry) -> str:
        """Keep a load; return why it is not kept, "" when it is (or nothing is to be).

        Of two entries of one instance the one that tells more is kept: each watch of it may bring one.
        """
        if not self.writes:
            return ""
        try:
            return self._file.write(lambda connection: add_load(connection, entry))
        except LedgerFault as fault:
            return f"this load is not kept: {fault}"

    def loads(self, newest: int = 50) -> list[LoadEntry]:
        """Return the newest loads, newest last."""

        def select(connection: sqlite3.Connection) -> list[LoadEntry]:
            rows = connection.execute(_LOADS, (newest,)).fetchall()[::-1]
            read = [packing.unpacked_load(body, fingerprint) for body, fingerprint in rows]
            found = [entry for entry in read if entry is not None]
            if len(found) < len(read):
                lost = len(read) - len(found)
                self._tell(f"{lost} loads can not be read: {self.path} is damaged")
            return found

        return self._file.read(select)

    # What is common.

    def _written(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if not self.writes:
            raise LedgerFault("the ledger is not written: nothing is to be recorded")
        return self._file.write(work)

    def _select(self, given: Mapping[str, object], newest: int) -> list[RunEntry]:
        wanted = {condition: value for condition, value in given.items() if value is not None}
        where = f" WHERE {' AND '.join(wanted)}" if wanted else ""
        query, values = _RUNS + where + _NEWEST_RUNS, (*wanted.values(), newest)
        return self._file.read(
            lambda connection: self._runs(connection.execute(query, values).fetchall()[::-1])
        )

    def _baselines(self, where: str, values: tuple[str, ...]) -> list[RunEntry]:
        query = f"{_RUNS} JOIN baselines ON baselines.run = runs.number{where} ORDER BY baselines.set_wall_s"
        return self._file.read(lambda connection: self._runs(connection.execute(query, values).fetchall()))

    def _runs(self, rows: Sequence[tuple[str, bytes, bytes]]) -> list[RunEntry]:
        found: list[RunEntry] = []
        for name, body, fingerprint in rows:
            entry = packing.unpacked_run(body, fingerprint)
            if entry is None:
                self._tell(f"run {name} can not be read: its entry in {self.path} is damaged")
            else:
                found.append(entry)
        return found

    def _whole(self, connection: sqlite3.Connection, name: str) -> RunEntry:
        number = _number(connection, name, self.path)
        row = connection.execute(f"{_RUNS} WHERE runs.number = ?", (number,)).fetchone()
        entry = packing.unpacked_run(row[1], row[2])
        packed = connection.execute("SELECT body FROM records WHERE run = ?", (number,)).fetchone()
        records = () if packed is None else packing.unpacked_records(packed[0])
        if entry is None or records is None:
            raise LedgerFault(f"run {row[0]} can not be read: its entry in {self.path} is damaged")
        return replace(entry, records=records)

    def _set_baseline(self, connection: sqlite3.Connection, name: str | None) -> None:
        if name is None:
            connection.execute("DELETE FROM baselines")
            return
        entry = self._whole(connection, name)
        if not entry.result.completed:
            raise LedgerFault(f"run {entry.id} is no baseline: no request of it succeeded")
        connection.execute(
            "INSERT OR REPLACE INTO baselines (workload, model, run, set_wall_s) VALUES (?, ?, ?, ?)",
            (
                entry.workload,
                model_of(entry) or "",
                _number(connection, entry.id, self.path),
                time.time(),
            ),
        )


def _is_there(connection: sqlite3.Connection, name: str) -> bool:
    return connection.execute("SELECT 1 FROM runs WHERE id = ?", (name,)).fetchone() is not None


def _delete(connection: sqlite3.Connection, name: str, path: Path) -> str:
    number = _number(connection, name, path)
    (deleted,) = connection.execute("SELECT id FROM runs WHERE number = ?", (number,)).fetchone()
    connection.execute("DELETE FROM runs WHERE number = ?", (number,))
    for table, column in (("fingerprints", "fingerprint"), ("instances", "instance")):
        used = f"SELECT {column} FROM runs UNION SELECT {column} FROM loads"
        connection.execute(f"DELETE FROM {table} WHERE id NOT IN ({used})")
    return deleted


def _number(connection: sqlite3.Connection, name: str, path: Path) -> int:
    """Return the number of the run with this id, or the only one whose id begins so. Raises LedgerFault."""
    begin = name.strip().lower()
    rows = connection.execute(
        "SELECT id, number FROM runs WHERE substr(id, 1, ?) = ? ORDER BY id != ?, made_wall_s DESC LIMIT ?",
        (len(begin), begin, begin, _NAMED_AT_MOST),
    ).fetchall()
    if not rows or not begin:
        raise LedgerFault(f"there is no run {name!r} in {path}; tminus runs lists them")
    if len(rows) > 1 and rows[0][0] != begin:
        named = ", ".join(row[0] for row in rows)
        raise LedgerFault(f"several runs begin with {name!r}: {named}; give more of the id")
    return int(rows[0][1])


def _instance_numbers(connection: sqlite3.Connection) -> dict[str, int]:
    found: dict[str, int] = {}
    starts: dict[str, dict[int, int]] = {}
    for run, digest, instance in connection.execute(
        "SELECT runs.id, fingerprints.digest, runs.instance FROM runs"
        " JOIN fingerprints ON fingerprints.id = runs.fingerprint"
        " JOIN instances ON instances.id = runs.instance"
        " WHERE fingerprints.digest != '' AND instances.key != '' ORDER BY runs.made_wall_s, runs.number"
    ):
        seen = starts.setdefault(digest, {})
        found[run] = seen.setdefault(instance, len(seen) + 1)
    return found
