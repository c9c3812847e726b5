"""What a watch keeps in the ledger: its runs and loads, with what their server ran under."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from watched_host import WatchedHost

from tui.benchmark import BenchRecord, BenchRecords
from tui.runs.keeping import KeptRuns
from tui.runs.ledger import Ledger
from tui.watch.options import WatchOptions


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "runs.sqlite"


@pytest.fixture
def measured() -> WatchedHost:
    """Return a host whose server became ready in this watch and was benchmarked once, a minute later."""
    host = WatchedHost(WatchOptions())
    host.hello()
    host.starts()
    host.refuses()
    host.wait(30)
    host.becomes_ready()
    host.wait(60)
    record = BenchRecord(0.0, 20.0, 20.0, 100.0, 101.0, 16, 8, 16)
    host.happen(BenchRecords(**host.when, run="r1", records=[record]))
    host.bench_result()
    return host


def test_a_run_is_kept_with_its_requests_instance_and_how_long_the_server_was_ready(
    path: Path, measured: WatchedHost
) -> None:
    runs = KeptRuns(path)
    result = measured.state.bench.results[-1]
    entry = runs.entry(measured.state, result)
    assert entry is not None
    compared, fault = runs.keep(entry, result)

    kept = Ledger(path).run("r1")
    assert (fault, compared.against, compared.word) == ("", "", "cannot tell")
    assert kept == entry
    assert len(kept.records) == 1
    assert kept.instance.key
    assert kept.ready_for_s is not None
    assert 40.0 < kept.ready_for_s <= 60.0
    longer = runs.entry(measured.state, replace(result, duration_s=(result.duration_s or 0.0) + 20.0))
    assert longer is not None
    assert longer.ready_for_s == pytest.approx(kept.ready_for_s - 20.0)  # until it began, not until it ended


@pytest.mark.parametrize(
    "changes",
    [
        {"completed": 0, "failed": 0},
        {"fault": "busy"},
        {"completed": 0, "failed": 1, "fault": "refused", "warmup": None},
    ],
    ids=["nothing", "busy", "refused"],
)
def test_a_run_of_which_nothing_was_measured_is_not_kept(
    path: Path, measured: WatchedHost, changes: dict[str, object]
) -> None:
    result = replace(measured.state.bench.results[-1], **changes)
    assert KeptRuns(path).entry(measured.state, result) is None


def test_without_writing_no_file_is_made_and_nothing_is_wrong(path: Path, measured: WatchedHost) -> None:
    runs = KeptRuns(path, write=False)
    result = measured.state.bench.results[-1]
    entry = runs.entry(measured.state, result)
    assert entry is not None
    compared, fault = runs.keep(entry, result)
    assert (compared.kept, fault) == (False, "")
    assert not path.parent.exists()


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path, measured: WatchedHost) -> None:
    (tmp_path / "data").write_text("a file")
    runs = KeptRuns(tmp_path / "data" / "runs.sqlite")
    result = measured.state.bench.results[-1]
    entry = runs.entry(measured.state, result)
    assert entry is not None
    compared, fault = runs.keep(entry, result)
    assert fault.startswith("run r1 is not kept: ")
    assert (compared.word, compared.kept) == ("cannot tell", False)


def test_a_load_waits_for_what_it_runs_under_and_is_kept_without_it_after_a_while(path: Path) -> None:
    host = WatchedHost(WatchOptions())
    runs = KeptRuns(path)
    host.hello()
    host.starts()
    host.refuses()
    host.wait(30)
    assert runs.loads(host.state, host.events[-1]) == []
    host.becomes_ready()
    assert runs.loads(host.state, host.events[-1]) == []
    host.wait(11)
    host.gpus(1.0)
    (load,) = runs.loads(host.state, host.events[-1])
    assert load.outcome == "ready"
    assert runs.keep_loads([load]) == ""
    assert [each.outcome for each in Ledger(path).loads()] == ["ready"]
    assert runs.loads_left(host.state) == []
