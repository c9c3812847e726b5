"""A file of any older version is brought to this one, wholly or not at all."""

import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from ledger_writer import entry_of
from run_entries import run_entry

from tui.runs import packing, schema
from tui.runs.ledger import Ledger, LedgerFault

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ledgers"
KEPT = ("aa000001", "aa000002", "bb000001")


def layout(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        return sorted(connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))


def of_version(path: Path, version: int) -> Path:
    """Make a file as it was left by the first ``version`` steps."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN")
        if version:
            schema.migrate(connection, schema.STEPS[:version])
        connection.execute("COMMIT")
    return path


@pytest.mark.parametrize("version", range(schema.VERSION + 1))
def test_a_file_of_each_version_becomes_one_of_this(ledger: Ledger, tmp_path: Path, version: int) -> None:
    new = Ledger(tmp_path / "new" / "runs.sqlite")
    new.add_run(entry_of("aa", 1))
    of_version(ledger.path, version)

    assert ledger.runs() == []
    assert ledger.add_run(entry_of("aa", 1)) == ""

    assert layout(ledger.path) == layout(new.path)
    with closing(sqlite3.connect(ledger.path)) as connection:
        assert schema.version_of(connection) == schema.VERSION
        assert connection.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION_ID,)
    assert ledger.run("aa000001") == entry_of("aa", 1)


@pytest.mark.parametrize("version", range(1, schema.VERSION + 1))
def test_a_file_that_a_tminus_of_each_version_left_is_read_and_written(ledger: Ledger, version: int) -> None:
    left = (FIXTURES / f"version-{version}.sqlite").read_bytes()
    ledger.path.parent.mkdir(parents=True)
    ledger.path.write_bytes(left)

    reader = Ledger(ledger.path, write=False)
    assert tuple(each.id for each in reader.runs()) == KEPT
    assert [each.outcome for each in reader.loads()] == ["ready", "failed"]
    assert [each.id for each in reader.baselines()] == ["aa000001"]
    assert reader.run("aa000001").records == entry_of("aa", 1, 20).records
    assert ledger.path.read_bytes() == left

    assert ledger.add_run(entry_of("cc", 1)) == ""
    assert {each.id for each in ledger.runs()} == {*KEPT, "cc000001"}


def test_an_older_file_that_is_only_read_stays_as_it_is(ledger: Ledger) -> None:
    of_version(ledger.path, 0)
    before = ledger.path.read_bytes()

    assert Ledger(ledger.path, write=False).runs() == ledger.loads() == []
    assert ledger.path.read_bytes() == before


def test_a_step_that_fails_leaves_the_older_file(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.add_run(run_entry())
    before = layout(ledger.path)

    def full(connection: sqlite3.Connection) -> None:
        connection.execute("CREATE TABLE more (x)")
        raise LedgerFault("the disk is full")

    with monkeypatch.context() as later:
        later.setattr(schema, "VERSION", schema.VERSION + 1)
        later.setattr(schema.migrate, "__defaults__", ((*schema.STEPS, full),))
        assert ledger.add_run(entry_of("aa", 1)) == "run aa000001 is not kept: the disk is full"

    assert layout(ledger.path) == before
    assert ledger.runs() == [run_entry()]


def test_a_step_keeps_what_was_there(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.add_run(run_entry())

    def more(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE runs ADD COLUMN note TEXT")

    with monkeypatch.context() as later:
        later.setattr(schema, "VERSION", schema.VERSION + 1)
        later.setattr(schema.migrate, "__defaults__", ((*schema.STEPS, more),))
        assert Ledger(ledger.path, write=False).runs() == [run_entry()]  # in memory alone
        assert ledger.add_run(entry_of("aa", 1)) == ""
        assert len(ledger.runs()) == 2

    with pytest.raises(LedgerFault, match=f"of version {schema.VERSION + 1}"):
        ledger.runs()


# Bodies.


def test_what_a_later_tminus_has_added_is_left_out() -> None:
    entry = entry_of("aa", 1)
    body = msgspec.json.decode(packing.packed_run(entry))
    body["weather"] = "fine"
    body["result"]["mood"] = {"good": True}
    body["result"]["spec"]["colour"] = "red"
    body["result"]["ttft_ms"]["p999"] = 1.5
    body["result"]["counters"] = [{"name": "c", "before": 1.0, "after": 2.0, "unit": "s"}]
    own = msgspec.json.decode(packing.packed_fingerprint(entry.fingerprint)[1])
    own["settings"][0]["since"] = 5

    read = packing.unpacked_run(msgspec.json.encode(body), msgspec.json.encode(own))

    assert read is not None
    assert [each.name for each in read.result.counters] == ["c"]
    assert read.fingerprint == entry.fingerprint
    assert read.result.spec == entry.result.spec


def test_records_of_a_later_tminus_are_read_as_far_as_they_are_known() -> None:
    import zlib

    records = entry_of("aa", 1, 3).records
    longer = [[*msgspec.to_builtins(each), "more"] for each in records]

    assert packing.unpacked_records(zlib.compress(msgspec.json.encode(longer))) == records


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'{"result": 5}', b"\xff\xfe", b"[" * 100_000])
def test_a_broken_body_is_no_entry(body: bytes) -> None:
    own = packing.packed_fingerprint(run_entry().fingerprint)[1]

    assert packing.unpacked_run(body, own) is None
    assert packing.unpacked_load(body, own) is None
    assert packing.unpacked_run(packing.packed_run(run_entry()), body) is None
    assert packing.unpacked_records(body) is None


def test_records_cut_short_are_none() -> None:
    packed = packing.packed_records(entry_of("aa", 1).records)

    assert packing.unpacked_records(packed[:-10]) is None
