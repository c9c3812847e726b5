"""The tables of the ledger's file, and the steps that bring an older file to this version.

The version of a file is its ``user_version``. A step that has been released is never changed; another one
is added behind it. What an entry holds beyond the columns lies in ``body`` as JSON (tui/runs/packing.py):
a new field of an entry needs no step.
"""

import sqlite3
from collections.abc import Callable, Sequence

Step = Callable[[sqlite3.Connection], None]

APPLICATION_ID = 0x544D494E
"""Says in the header of the file that it is a ledger of tminus ("TMIN")."""
TABLES = ("fingerprints", "instances", "runs", "records", "loads", "baselines")


def _first(connection: sqlite3.Connection) -> None:
    """Version 1: a fingerprint is stored once by its content; an instance once, where it is known."""
    for statement in (
        "CREATE TABLE fingerprints (id INTEGER PRIMARY KEY, digest TEXT NOT NULL,"
        " content TEXT NOT NULL UNIQUE, body BLOB NOT NULL)",
        "CREATE INDEX fingerprints_by_digest ON fingerprints (digest)",
        "CREATE TABLE instances (id INTEGER PRIMARY KEY, key TEXT NOT NULL, host TEXT NOT NULL,"
        " pid INTEGER, started_wall_s REAL)",
        "CREATE UNIQUE INDEX instances_by_key ON instances (key) WHERE key != ''",
        "CREATE TABLE runs (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
        " made_wall_s REAL NOT NULL, host TEXT NOT NULL, model TEXT, profile TEXT NOT NULL,"
        " workload TEXT NOT NULL, series TEXT NOT NULL, origin TEXT NOT NULL, outcome TEXT NOT NULL,"
        " fingerprint INTEGER NOT NULL REFERENCES fingerprints (id),"
        " instance INTEGER NOT NULL REFERENCES instances (id), body BLOB NOT NULL)",
        "CREATE INDEX runs_by_time ON runs (made_wall_s, number)",
        "CREATE INDEX runs_by_workload ON runs (workload)",
        "CREATE INDEX runs_by_fingerprint ON runs (fingerprint)",
        "CREATE INDEX runs_by_instance ON runs (instance)",
        "CREATE TABLE records (run INTEGER PRIMARY KEY REFERENCES runs (number) ON DELETE CASCADE,"
        " count INTEGER NOT NULL, body BLOB NOT NULL)",
        "CREATE TABLE loads (number INTEGER PRIMARY KEY, began_wall_s REAL NOT NULL, host TEXT NOT NULL,"
        " outcome TEXT NOT NULL, ready_s REAL,"
        " fingerprint INTEGER NOT NULL REFERENCES fingerprints (id),"
        " instance INTEGER NOT NULL UNIQUE REFERENCES instances (id), body BLOB NOT NULL)",
        "CREATE INDEX loads_by_time ON loads (began_wall_s, number)",
        "CREATE INDEX loads_by_fingerprint ON loads (fingerprint)",
        "CREATE TABLE baselines (workload TEXT NOT NULL, model TEXT NOT NULL,"
        " run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE, set_wall_s REAL NOT NULL,"
        " PRIMARY KEY (workload, model))",
        "CREATE INDEX baselines_by_run ON baselines (run)",
    ):
        connection.execute(statement)


STEPS: tuple[Step, ...] = (_first,)
"""The step at place N brings a file of version N to version N + 1."""
VERSION = len(STEPS)


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of a file, 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_foreign(connection: sqlite3.Connection) -> bool:
    """Whether the database belongs to another program: one of ours says so, or has no table yet."""
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    if application == APPLICATION_ID:
        return False
    return application != 0 or bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def has_tables(connection: sqlite3.Connection) -> bool:
    """Whether all tables of a file of this version are there."""
    found = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return found.issuperset(TABLES)


def migrate(connection: sqlite3.Connection, steps: Sequence[Step] = STEPS) -> None:
    """Bring a file to the newest version, inside the transaction that the caller has begun."""
    version = version_of(connection)
    if version >= len(steps):
        return
    for step in steps[version:]:
        step(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(steps)}")
