"""What adding an entry changes in the tables of the ledger; the caller has begun a transaction."""

import sqlite3

from tui.runs import packing
from tui.runs.entry import Fingerprint, Instance, LoadEntry, RunEntry

_TELLS = {"left": 0, "gone": 1, "stopped": 2, "failed": 2, "ready": 3}
"""How much an outcome tells: of two entries of one load the one that tells more is kept."""


def model_of(entry: RunEntry) -> str | None:
    """Return the model that a run is filed under: the one that answered, else the one that was asked for."""
    return entry.result.model or entry.result.spec.model


def add_run(connection: sqlite3.Connection, entry: RunEntry) -> str:
    """Add a run that is not there yet; return why it can not be, "" when it is there."""
    body = packing.packed_run(entry)
    before = connection.execute("SELECT body FROM runs WHERE id = ?", (entry.id,)).fetchone()
    if before is not None:
        same = before[0] == body
        return "" if same else f"run {entry.id} is not kept: another run of that id is in the ledger"
    spec = entry.result.spec
    number = connection.execute(
        "INSERT INTO runs (id, made_wall_s, host, model, profile, workload, series, origin, outcome,"
        " fingerprint, instance, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            entry.id,
            entry.made_wall_s,
            entry.host,
            model_of(entry),
            spec.profile,
            entry.workload,
            spec.series,
            entry.origin,
            entry.result.outcome,
            _fingerprint(connection, entry.fingerprint),
            _instance(connection, entry.instance),
            body,
        ),
    ).lastrowid
    if entry.records:
        connection.execute(
            "INSERT INTO records (run, count, body) VALUES (?, ?, ?)",
            (number, len(entry.records), packing.packed_records(entry.records)),
        )
    return ""


def add_load(connection: sqlite3.Connection, entry: LoadEntry) -> str:
    """Add a load, unless what is there of it tells more; return ""."""
    instance = _instance(connection, entry.instance)
    before = connection.execute(
        "SELECT loads.outcome, fingerprints.digest FROM loads"
        " JOIN fingerprints ON fingerprints.id = loads.fingerprint WHERE loads.instance = ?",
        (instance,),
    ).fetchone()
    if before is not None and not _tells_more(entry, *before):
        return ""
    connection.execute("DELETE FROM loads WHERE instance = ?", (instance,))
    connection.execute(
        "INSERT INTO loads (began_wall_s, host, outcome, ready_s, fingerprint, instance, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            entry.began_wall_s,
            entry.host,
            entry.outcome,
            entry.ready_s,
            _fingerprint(connection, entry.fingerprint),
            instance,
            packing.packed_load(entry),
        ),
    )
    return ""


def _tells_more(entry: LoadEntry, outcome: str, digest: str) -> bool:
    new, old = _TELLS[entry.outcome], _TELLS.get(outcome, 0)
    if new == old:
        return entry.outcome == "left" or (not digest and bool(entry.fingerprint.digest))
    return new > old


def _fingerprint(connection: sqlite3.Connection, fingerprint: Fingerprint) -> int:
    content, body = packing.packed_fingerprint(fingerprint)
    found = connection.execute("SELECT id FROM fingerprints WHERE content = ?", (content,)).fetchone()
    if found is not None:
        return int(found[0])
    added = connection.execute(
        "INSERT INTO fingerprints (digest, content, body) VALUES (?, ?, ?)",
        (fingerprint.digest, content, body),
    )
    return added.lastrowid or 0


def _instance(connection: sqlite3.Connection, instance: Instance) -> int:
    """Return the row of an instance; one that is not known equals no other and gets its own."""
    found = connection.execute(
        "SELECT id FROM instances WHERE key = ? AND key != ''", (instance.key,)
    ).fetchone()
    if found is not None:
        return int(found[0])
    added = connection.execute(
        "INSERT INTO instances (key, host, pid, started_wall_s) VALUES (?, ?, ?, ?)",
        (instance.key, instance.host, instance.pid, instance.started_wall_s),
    )
    return added.lastrowid or 0
