"""What is put into the ledger comes out of it as it was."""

import sqlite3
from contextlib import closing

import pytest
from ledger_writer import entry_of
from msgspec.structs import replace
from run_entries import WALL_S, fingerprint, instance, result, run_entry, runs_of, spec

from tui.runs.entry import Fingerprint, Instance, LoadEntry, StageTime, VerdictTime
from tui.runs.ledger import Ledger, LedgerFault

NOBODY = Instance(host="gpu-box", pid=None, started_wall_s=None)


def load(outcome: str = "ready", *, number: int = 1, digest: str = "conf-a", **changes: object) -> LoadEntry:
    fields: dict[str, object] = {
        "instance": instance(number),
        "fingerprint": fingerprint(digest),
        "host": "gpu-box",
        "began_wall_s": WALL_S + 600.0 * number,
        "outcome": outcome,
        "ready_s": 123.5 if outcome == "ready" else None,
        "phases": (StageTime(phase="weights", began_s=10.0, seconds=60.25),),
        "verdicts": (VerdictTime(word="quiet", sentence="nothing moves", began_s=20.0, seconds=5.0),),
    }
    return LoadEntry(**(fields | changes))  # pyright: ignore[reportArgumentType]


def rows(ledger: Ledger, table: str) -> int:
    with closing(sqlite3.connect(ledger.path)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


# Runs.


def test_a_run_comes_out_whole_by_its_id_and_without_records_in_a_list(ledger: Ledger) -> None:
    entry = entry_of("aa", 1)

    assert ledger.add_run(entry) == ""

    assert ledger.run(entry.id) == entry
    assert ledger.runs() == [replace(entry, records=())]
    assert ledger.notice() == ""


def test_adding_a_run_again_changes_nothing(ledger: Ledger) -> None:
    ledger.add_run(entry_of("aa", 1))

    assert ledger.add_run(entry_of("aa", 1)) == ""
    assert len(ledger.runs()) == 1


def test_another_run_of_the_same_id_does_not_replace_the_first(ledger: Ledger) -> None:
    ledger.add_run(run_entry())

    assert ledger.add_run(run_entry(host="other")) == (
        "run aaaa0001 is not kept: another run of that id is in the ledger"
    )
    assert ledger.run("aaaa0001").host == "gpu-box"


def test_a_fingerprint_and_an_instance_are_stored_once(ledger: Ledger) -> None:
    for number in range(3):
        ledger.add_run(entry_of("aa", number))

    assert (rows(ledger, "fingerprints"), rows(ledger, "instances"), rows(ledger, "runs")) == (1, 1, 3)


def test_fingerprints_of_one_digest_that_differ_are_both_kept(ledger: Ledger) -> None:
    here, there = fingerprint(NCCL_ALGO="Ring"), replace(fingerprint(), environment_known="unknown")
    ledger.add_run(run_entry(result=result("aa000001"), fingerprint=here))
    ledger.add_run(run_entry(result=result("aa000002"), fingerprint=there))

    assert [each.fingerprint for each in ledger.runs(digest="conf-a")] == [here, there]


def test_a_run_of_which_nothing_is_known_is_kept_and_equals_no_other(ledger: Ledger) -> None:
    for number in (1, 2):
        unknown = {"fingerprint": Fingerprint(digest=""), "instance": NOBODY}
        ledger.add_run(run_entry(result=result(f"aa00000{number}"), **unknown))

    assert [each.instance for each in ledger.runs()] == [NOBODY, NOBODY]
    assert rows(ledger, "instances") == 2
    assert ledger.configuration("", run_entry().workload) == []
    assert ledger.repeats(run_entry().workload) == []
    assert ledger.instance_numbers() == {}


def test_a_list_is_newest_last_and_holds_the_newest(ledger: Ledger) -> None:
    entries = runs_of("conf-a", [1000.0, 1001.0, 1002.0])
    for entry in reversed(entries):
        ledger.add_run(entry)

    assert ledger.runs() == entries
    assert ledger.runs(newest=2) == entries[1:]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"workload": "1 stream"}, ["b"]),
        ({"digest": "conf-b"}, ["c"]),
        ({"model": "llama"}, ["d"]),
        ({"origin": "vllm"}, ["e"]),
        ({"host": "gpu02"}, ["f"]),
        ({"profile": "decode", "series": "s1"}, ["g"]),
        ({"since_wall_s": WALL_S + 5000.0}, ["h"]),
        ({"model": "qwen", "host": "gpu02"}, ["f"]),
        ({"model": "phi"}, []),
        ({"model": "' OR '1'='1"}, []),
    ],
)
def test_a_list_can_be_narrowed(ledger: Ledger, asked: dict[str, str], found: list[str]) -> None:
    others = {
        "b": run_entry(result=result("b"), workload="1 stream"),
        "c": run_entry(result=result("c"), fingerprint=fingerprint("conf-b")),
        "d": run_entry(result=result("d", model="llama")),
        "e": run_entry(result=result("e"), origin="vllm"),
        "f": run_entry(result=result("f"), host="gpu02"),
        "g": run_entry(result=result("g", spec=spec(profile="decode", series="s1"))),
        "h": run_entry(result=result("h"), made_wall_s=WALL_S + 6000.0),
    }
    for entry in (run_entry(result=result("a")), *others.values()):
        ledger.add_run(entry)

    assert [each.id for each in ledger.runs(**asked)] == found  # pyright: ignore[reportArgumentType]


def test_a_run_can_be_named_by_the_beginning_of_its_id(ledger: Ledger) -> None:
    for name in ("ab120000", "ab12ffff", "ab"):
        ledger.add_run(run_entry(result=result(name)))

    assert ledger.run("AB12f").id == "ab12ffff"
    assert ledger.run("ab").id == "ab"
    with pytest.raises(
        LedgerFault, match=r"^several runs begin with 'ab12': ab12....(, ab12....)+; give more"
    ):
        ledger.run("ab12")


@pytest.mark.parametrize("name", ["", "ff", "%", "_b", "ab1200001"])
def test_an_unknown_run_is_said_to_be_unknown(ledger: Ledger, name: str) -> None:
    ledger.add_run(run_entry(result=result("ab120000")))

    with pytest.raises(LedgerFault, match="there is no run"):
        ledger.run(name)


def test_repeats_are_grouped_by_configuration(ledger: Ledger) -> None:
    ours, theirs = runs_of("conf-a", [1.0, 2.0]), runs_of("conf-b", [3.0])
    for entry in (*ours, *theirs, run_entry(result=result("c"), workload="another")):
        ledger.add_run(entry)

    assert ledger.repeats(ours[0].workload) == [ours, theirs]
    assert ledger.configuration("conf-a", ours[0].workload) == ours


def test_instances_are_numbered_within_their_configuration(ledger: Ledger) -> None:
    first, second, third = runs_of("conf-a", [1.0, 2.0, 3.0])
    again = replace(third, instance=first.instance)
    other = runs_of("conf-b", [1.0])[0]
    for entry in (first, second, again, other):
        ledger.add_run(entry)

    assert ledger.instance_numbers() == {first.id: 1, second.id: 2, again.id: 1, other.id: 1}


# Baselines.


def test_each_workload_and_model_has_its_baseline(ledger: Ledger) -> None:
    first, second = runs_of("conf-a", [1.0, 2.0])
    small = run_entry(result=result("c"), workload="1 stream")
    for entry in (first, second, small):
        ledger.add_run(entry)
    for entry in (first, small, second):
        ledger.set_baseline(entry.id[:8])

    assert ledger.baselines() == [small, second]
    assert ledger.baseline(first.workload, "qwen") == second
    assert ledger.baseline("1 stream", "qwen") == small
    assert ledger.baseline("1 stream", "llama") is None


def test_a_baseline_can_be_taken_back_alone_and_with_all_others(ledger: Ledger) -> None:
    entries = [run_entry(result=result(name), workload=name) for name in ("a", "b", "c")]
    for entry in entries:
        ledger.add_run(entry)
        ledger.set_baseline(entry.id)

    ledger.clear_baseline("a")
    assert ledger.baselines() == entries[1:]
    ledger.set_baseline(None)
    assert ledger.baselines() == []
    assert len(ledger.runs()) == 3


def test_a_run_without_a_success_is_no_baseline(ledger: Ledger) -> None:
    ledger.add_run(run_entry(result=result("a", completed=0, failed=64)))

    with pytest.raises(LedgerFault, match="no request of it succeeded"):
        ledger.set_baseline("a")


# Deleting.


def test_a_deleted_run_takes_with_it_what_belongs_to_it_alone(ledger: Ledger) -> None:
    ledger.add_run(entry_of("aa", 1))
    ledger.add_run(run_entry(result=result("b"), fingerprint=fingerprint("conf-b"), instance=instance(2)))
    ledger.set_baseline("aa")

    assert ledger.delete("aa") == "aa000001"

    assert [each.id for each in ledger.runs()] == ["b"]
    assert [rows(ledger, each) for each in ("baselines", "records", "fingerprints", "instances")] == [
        0,
        0,
        1,
        1,
    ]


# Loads.


def test_loads_come_out_as_they_were_newest_last(ledger: Ledger) -> None:
    entries = [load(number=number) for number in (1, 2, 3)]
    for entry in reversed(entries):
        assert ledger.add_load(entry) == ""

    assert ledger.loads() == entries
    assert ledger.loads(newest=1) == entries[2:]


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        (load("left"), load("ready"), "second"),
        (load("left"), load("left", sentence="later"), "second"),
        (load("gone"), load("failed"), "second"),
        (load("ready"), load("failed"), "first"),
        (load("ready"), load("left"), "first"),
        (load("ready"), load("ready", sentence="again"), "first"),
        (load("ready", digest=""), load("ready"), "second"),
    ],
)
def test_of_two_entries_of_one_load_the_one_that_tells_more_is_kept(
    ledger: Ledger, first: LoadEntry, second: LoadEntry, kept: str
) -> None:
    ledger.add_load(first)
    ledger.add_load(second)

    assert ledger.loads() == [first if kept == "first" else second]


def test_loads_of_unknown_instances_are_all_kept(ledger: Ledger) -> None:
    for _ in range(2):
        ledger.add_load(load(instance=NOBODY))

    assert len(ledger.loads()) == 2


# --no-record.


def test_without_writing_nothing_is_kept_and_nothing_made(ledger: Ledger) -> None:
    reader = Ledger(ledger.path, write=False)

    assert reader.add_run(run_entry()) == reader.add_load(load()) == ""
    assert reader.runs() == reader.loads() == reader.baselines() == []
    with pytest.raises(LedgerFault, match="not written"):
        reader.set_baseline(None)
    assert not ledger.path.parent.parent.exists()


def test_without_writing_what_was_kept_is_read_and_nothing_is_made(ledger: Ledger) -> None:
    ledger.add_run(run_entry())
    reader = Ledger(ledger.path, write=False)

    assert reader.runs() == [run_entry()]
    assert [each.name for each in ledger.path.parent.iterdir()] == [ledger.path.name]
