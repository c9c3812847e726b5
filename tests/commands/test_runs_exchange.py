"""``tminus runs import`` and ``tminus runs export``, as a person calls them."""

import resource
from pathlib import Path

import pytest
from run_entries import runs_of

from tui.cli import run
from tui.runs.ledger import Ledger

FILES = Path(__file__).parents[1] / "fixtures" / "bench_results"
VLLM, SGLANG = str(FILES / "vllm.json"), str(FILES / "sglang.jsonl")


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """Return this user's ledger, empty."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "none.toml").touch()
    monkeypatch.setenv("TMINUS_CONFIG", str(tmp_path / "none.toml"))
    return Ledger(tmp_path / "tminus" / "runs.sqlite")


def test_an_import_keeps_runs_once(ledger: Ledger, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["runs", "import", VLLM, SGLANG, "--host", "gpu01"]) == 0
    assert run(["runs", "import", VLLM, SGLANG]) == 0

    told = capfdbinary.readouterr().out.decode()
    assert "3 of 3 runs are new" in told
    assert "0 of 3 runs are new" in told
    assert {entry.host for entry in ledger.runs()} == {"gpu01"}


def test_a_file_that_has_grown_brings_its_new_run_alone(ledger: Ledger, tmp_path: Path) -> None:
    first, second = Path(SGLANG).read_text().splitlines()
    grown = tmp_path / "grown.jsonl"
    grown.write_text(first + "\n")
    run(["runs", "import", str(grown)])
    grown.write_text(first + "\n" + second + "\n")

    assert run(["runs", "import", str(grown)]) == 0
    assert len(ledger.runs()) == 2


def test_a_broken_file_leaves_the_ledger_as_it_was(
    ledger: Ledger, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"model_id"')

    assert run(["runs", "import", VLLM, str(broken)]) == 2

    assert capfd.readouterr().err == f"tminus: {broken}, line 1: the JSON ends in the middle\n"
    assert ledger.runs() == []


def test_a_run_is_exported_whole_and_imported_elsewhere(
    ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(["runs", "import", VLLM])
    (entry,) = ledger.runs()
    file = tmp_path / "run.json"

    assert run(["runs", "export", entry.id, "--output", str(file)]) == 0
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    assert run(["runs", "import", str(file)]) == 0

    there = Ledger(tmp_path / "elsewhere" / "tminus" / "runs.sqlite")
    assert there.run(entry.id) == ledger.run(entry.id)


@pytest.mark.parametrize(
    ("options", "begins"),
    [
        ([], "| run | made |"),
        (["--format", "csv"], "run,made,origin"),
        (["--format", "csv", "--requests"], "run,request,sent_s"),
        (["--format", "json"], '{\n "format": "tminus runs"'),
        (["--format", "html"], "<!DOCTYPE html>"),
    ],
)
def test_each_format_goes_to_the_output(
    ledger: Ledger, capfdbinary: pytest.CaptureFixture[bytes], options: list[str], begins: str
) -> None:
    run(["runs", "import", VLLM])
    (entry,) = ledger.runs()
    capfdbinary.readouterr()

    assert run(["runs", "export", entry.id[:6], *options]) == 0
    assert capfdbinary.readouterr().out.decode().startswith(begins)


def test_two_configurations_are_compared_as_by_compare(
    ledger: Ledger, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    runs = [
        *runs_of("conf-a", [1000.0, 1004.0, 997.0]),
        *runs_of("conf-b", [1500.0, 1510.0, 1490.0], first=4),
    ]
    ledger.add_runs(runs)

    assert run(["runs", "export", runs[0].id, runs[3].id]) == 0

    told = capfdbinary.readouterr().out.decode()
    assert told.startswith("**B against A:** better: output tokens/s")
    assert "3 of A, 3 of B" in told


def test_a_file_is_replaced_only_by_force(
    ledger: Ledger, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    run(["runs", "import", VLLM])
    (entry,) = ledger.runs()
    file = tmp_path / "there.md"
    file.write_text("mine")

    assert run(["runs", "export", entry.id, "--output", str(file)]) == 2
    assert file.read_text() == "mine"
    assert "exists already and is kept" in capfd.readouterr().err
    assert run(["runs", "export", entry.id, "--output", str(file), "--force"]) == 0
    assert file.read_text().startswith("| run |")


def test_a_file_that_cannot_be_replaced_whole_stays_as_it_was(
    ledger: Ledger, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The disk is full as far as this process can tell: no file may grow beyond 16 bytes."""
    run(["runs", "import", VLLM])
    (entry,) = ledger.runs()
    file = tmp_path / "out" / "there.md"
    file.parent.mkdir()
    file.write_text("mine")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (16, before[1]))
    try:
        code = run(["runs", "export", entry.id, "--output", str(file), "--force"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert code == 2
    assert "cannot be written: " in capsys.readouterr().err
    assert file.read_text() == "mine"
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["0000"], "there is no run '0000' in "),
        (["0000", "--format", "xlsx"], "--format 'xlsx' is none: csv, json, md, html"),
        (["0000", "--requests"], "--requests is for --format csv"),
        (["0000", "--recording", "x"], "--recording is for --format html"),
    ],
)
def test_what_cannot_be_exported_is_one_sentence(
    ledger: Ledger, capfd: pytest.CaptureFixture[str], options: list[str], sentence: str
) -> None:
    run(["runs", "import", VLLM])
    capfd.readouterr()

    assert run(["runs", "export", *options]) == 2
    assert capfd.readouterr().err.startswith(f"tminus: {sentence}")
    assert len(ledger.runs()) == 1
