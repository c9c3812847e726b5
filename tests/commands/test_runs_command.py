"""``tminus runs`` and ``tminus baseline``: what the ledger holds, on a terminal and for programs."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from run_entries import WALL_S, fingerprint, instance, result, run_entry, spec

from tui import cli
from tui.benchmark import BenchRecord
from tui.commands.runs import remarks, runs_table, since_wall_s, start_text
from tui.runs.entry import Fingerprint, LoadEntry, RunEntry, Setting, VerdictTime
from tui.runs.ledger import Ledger
from tui.settings import UsageFault
from widgets.cells import width

LONG = "/models/" + "m" * 300
Told = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """Return this user's ledger with three runs, one of them a baseline."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "none.toml").touch()
    monkeypatch.setenv("TMINUS_CONFIG", str(tmp_path / "none.toml"))
    monkeypatch.delenv("TMINUS_JSON", raising=False)
    ledger = Ledger(tmp_path / "tminus" / "runs.sqlite")
    record = BenchRecord(0.5, 20.0, None, 500.0, 501.5, 256, 1024, 250)
    ledger.add_run(run_entry(result=result("aa000001"), records=(record,)))
    ledger.add_run(
        run_entry(
            result=result("aa000002", outcome="cancelled", failed=3, model="llama", client_cpu_fraction=0.9),
            instance=instance(2), host="gpu02", made_wall_s=WALL_S + 86_400.0,
        )
    )  # fmt: skip
    ledger.add_run(
        run_entry(
            result=result("bb000001", spec=spec(profile="decode")), fingerprint=Fingerprint(digest=""),
            made_wall_s=WALL_S + 2 * 86_400.0, origin="vllm",
        )
    )  # fmt: skip
    ledger.set_baseline("aa000001")
    return ledger


@pytest.fixture
def told(capfd: pytest.CaptureFixture[str]) -> Told:
    """Return a caller of a command line: its code, its lines of output, what it said beside them."""

    def call(*arguments: str) -> tuple[int, list[str], str]:
        capfd.readouterr()
        code = cli.run(arguments)
        out, err = capfd.readouterr()
        return code, out.splitlines(), err

    return call


# The list.


def test_runs_are_listed_newest_last(ledger: Ledger, told: Told) -> None:
    code, (head, *lines), err = told("runs")

    assert (code, err) == (0, "")
    assert head.split() == [
        "ID", "WHEN", "HOST", "MODEL", "PROFILE", "WORKLOAD", "TOK/S", "TTFT", "p50", "TPOT", "p50", "START",
        "REMARKS",
    ]  # fmt: skip
    assert [line.split()[0] for line in lines[:-1]] == ["aa000001*", "aa000002", "bb000001"]
    assert "1,000.0     95.0    15.20 conf#1" in lines[0]
    assert lines[1].endswith("conf#2 cancelled, 3 failed, client-bound")
    assert lines[2].endswith("-      from vllm")
    assert "*: baseline" in lines[-1]


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (("--host", "gpu02"), ["aa000002"]),
        (("--model", "llama"), ["aa000002"]),
        (("--profile", "decode"), ["bb000001"]),
        (("--since", "2025-11-30 07:00+00:00"), ["aa000002", "bb000001"]),
        (("--newest", "1"), ["bb000001"]),
        (("--model", "phi"), []),
    ],
)
def test_runs_can_be_narrowed(
    ledger: Ledger, told: Told, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], ids: list[str]
) -> None:
    monkeypatch.setenv("TMINUS_HOST", "not-the-one")  # a setting of the watch has no say here

    _, lines, err = told("runs", "--json", *arguments)

    assert [json.loads(line)["id"] for line in lines] == ids
    assert ("no run is kept that fits" in err) == (not ids)


def test_each_object_says_where_a_run_belongs(ledger: Ledger, told: Told) -> None:
    objects = [json.loads(line) for line in told("runs", "--json")[1]]

    names = ("id", "baseline", "configuration", "instance_number", "failed", "outcome", "origin")
    assert [tuple(each[name] for name in names) for each in objects] == [
        ("aa000001", True, "conf-a", 1, 0, "done", "tminus"),
        ("aa000002", False, "conf-a", 2, 3, "cancelled", "tminus"),
        ("bb000001", False, None, None, 0, "done", "vllm"),
    ]
    assert objects[0]["output_tokens_per_s"] == 1000.0
    assert objects[0]["ttft_ms"]["p99"] is None


@pytest.mark.parametrize("columns", [40, 80, 100, 132, 400])
def test_every_line_fits_and_the_figures_are_whole(columns: int) -> None:
    entry = run_entry(
        result=result("aaaa0001", model=LONG, failed=3, outcome="cancelled", spec=spec(profile="東京" * 30)),
        host="h" * 300,
    )

    head, line, *_ = runs_table([entry], {"aaaa0001": 12}, {"aaaa0001"}, columns)

    assert width(line) <= columns
    assert line.startswith("aaaa0001*")
    if columns >= 80:
        for text in ("1,000.0", "95.0", "15.20", "conf#12", "cancelled", "16 streams"):
            assert text in line
        assert "TTFT p50" in head


def test_a_run_cannot_draw_on_the_terminal(ledger: Ledger, told: Told) -> None:
    hostile = "x\x1b[31mred\x07"
    setting = Setting(name="environment NCCL_ALGO", value=hostile, source=hostile)
    ledger.add_run(
        run_entry(
            result=result("cc000001", model=hostile, sentence=hostile, spec=spec(profile=hostile)),
            host=hostile, workload=hostile, fingerprint=Fingerprint(digest=hostile, settings=(setting,)),
        )
    )  # fmt: skip
    ledger.set_baseline("cc")
    for arguments in (("runs",), ("runs", "show", "cc"), ("baseline",), ("runs", "delete", "cc")):
        _, lines, err = told(*arguments)
        assert all(line.isprintable() for line in (*lines, *err.splitlines()))
        assert any("red" in line for line in lines)


def test_without_a_run_it_says_how_to_make_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: Told
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "none"))

    assert told("runs") == (0, [], "tminus: no run is kept that fits; tminus bench makes one\n")
    assert not (tmp_path / "none").exists()


def test_remarks_are_empty_for_a_good_run() -> None:
    assert remarks(run_entry()) == []
    assert remarks(run_entry(result=result(others_running=2.0))) == ["others used it"]


def test_a_start_of_an_unknown_number_shows_that() -> None:
    assert start_text(run_entry(), None) == "conf#?"
    assert start_text(run_entry(fingerprint=Fingerprint(digest="")), None) == "-"


@pytest.mark.parametrize(
    ("text", "ago_s"),
    [("90m", 5400.0), ("12h", 43_200.0), ("3d", 259_200.0), ("30", 30.0), ("30d", 2_592_000.0)],
)
def test_since_takes_how_long_ago(text: str, ago_s: float) -> None:
    assert since_wall_s(text, WALL_S) == WALL_S - ago_s


@pytest.mark.parametrize("text", ["", "x", "d", "-1h", "2026-13-01", "2026-11-30 25:00", "1w"])
def test_since_refuses_what_is_no_time(text: str) -> None:
    with pytest.raises(UsageFault, match="is no time: write 90m"):
        since_wall_s(text, WALL_S)


# One run.


def test_a_run_is_shown_with_its_figures_and_all_that_its_server_ran_under(
    ledger: Ledger, told: Told
) -> None:
    settings = (
        Setting(name="argument --enable-mixed", value="", source="arguments"),
        Setting(name="environment NCCL_ALGO", value="Ring", source="worker 1234"),
        Setting(name="environment NCCL_DEBUG", value=None, source="main process"),
        Setting(name="environment NCCL_PROTO", value=None, known=False),
        Setting(name="topology", value="NV18 " * 30, source="driver"),
    )
    own = replace(fingerprint("3fa1c0de"), settings=settings, environment_known="partly")
    ledger.add_run(run_entry(result=result("cc000001"), fingerprint=own, ready_for_s=75.0))

    code, lines, _ = told("runs", "show", "cc")

    assert code == 0
    text = "\n".join(lines)
    assert "run cc000001, made " in text
    assert "start 1 of its configuration, ready for 1:15 before" in text.replace("\n  ", " ")
    assert "configuration 3fa1c0de" in lines
    assert [" ".join(line.split()) for line in lines if line.startswith("  ")][-6:] == [
        "argument --enable-mixed given [arguments]",
        "environment NCCL_ALGO Ring [worker 1234]",
        "environment NCCL_DEBUG unset [main process]",
        "environment NCCL_PROTO unknown",
        "topology [driver]",
        ("NV18 " * 30).strip(),
    ]
    assert lines[-1] == "the environment is known in part: a variable that is not listed may be set"
    assert "1,000.0 output tokens/s" in text


def test_a_shown_run_is_one_object_with_its_records(ledger: Ledger, told: Told) -> None:
    _, (line,), _ = told("runs", "show", "aa000001", "--json")

    found = json.loads(line)
    assert (found["id"], found["baseline"], found["instance_number"]) == ("aa000001", True, 1)
    assert found["entry"]["records"] == [[0.5, 20.0, None, 500.0, 501.5, 256, 1024, 250, ""]]
    assert found["entry"]["fingerprint"]["settings"][0]["source"] == "arguments"


@pytest.mark.parametrize(
    "command", [("runs", "show"), ("runs", "delete"), ("baseline",), ("baseline", "--clear")]
)
def test_an_unknown_or_ambiguous_id_is_one_line_and_code_2(
    ledger: Ledger, told: Told, command: tuple[str, ...]
) -> None:
    for name, words in (("zz", "there is no run 'zz'"), ("aa", "several runs begin with 'aa': ")):
        code, lines, err = told(*command, name)
        assert (code, lines, err.count("\n")) == (2, [], 1)
        assert words in err


def test_deleting_says_what_was_deleted(ledger: Ledger, told: Told) -> None:
    code, (line,), _ = told("runs", "delete", "aa000001")

    assert code == 0
    assert line.startswith("deleted run aa000001 of 2025-11-")
    assert ", which was a baseline: 16 streams" in line
    assert [each.id for each in ledger.runs()] == ["aa000002", "bb000001"]


# Loads.


def test_loads_are_listed_with_their_worst_verdict(ledger: Ledger, told: Told) -> None:
    verdicts = (
        VerdictTime(word="progressing", sentence="", began_s=0.0, seconds=100.0),
        VerdictTime(word="quiet", sentence="", began_s=100.0, seconds=50.0),
        VerdictTime(word="hung", sentence="", began_s=150.0, seconds=9.0),
    )
    own = Fingerprint(digest="d", settings=(Setting(name="model", value="org/qwen"),))
    ledger.add_load(
        LoadEntry(
            instance=instance(1), fingerprint=own, host="gpu01", began_wall_s=WALL_S, outcome="failed",
            ready_s=None, verdicts=verdicts, sentence="the server ended",
        )
    )  # fmt: skip

    _, (_, line), _ = told("runs", "loads")
    assert line.split()[2:] == ["gpu01", "-", "qwen", "-", "failed", "hung", "0:09", "the", "server", "ended"]
    _, (line,), _ = told("runs", "loads", "--json")
    assert json.loads(line)["verdicts"][2]["word"] == "hung"


# Baselines.


def test_a_baseline_is_listed_set_and_taken_back(ledger: Ledger, told: Told) -> None:
    entry: RunEntry = run_entry(result=result("dd000001"))
    ledger.add_run(entry)

    assert [line.split()[0] for line in told("baseline")[1]] == ["aa000001"]
    (line,) = told("baseline", "dd")[1]
    assert line.startswith("the baseline is now dd000001 ")
    assert line.endswith("; it was run aa000001")
    assert told("baseline", "--clear", "aa000001")[1] == ["there was no such baseline"]
    assert told("baseline", "--clear")[1][0].startswith("no baseline any more: dd000001 ")
    assert told("baseline") == (0, [], "tminus: there is no baseline; tminus baseline ID makes a run one\n")


def test_a_run_without_a_success_is_refused_as_baseline(ledger: Ledger, told: Told) -> None:
    ledger.add_run(run_entry(result=result("ee", completed=0, failed=64)))

    assert told("baseline", "ee")[::2] == (2, "tminus: run ee is no baseline: no request of it succeeded\n")


# The file.


def test_a_damaged_ledger_is_one_line_and_stays(ledger: Ledger, told: Told) -> None:
    ledger.path.write_text("none" * 1000)

    code, lines, err = told("runs")

    assert (code, lines, err.count("\n")) == (2, [], 1)
    assert "is damaged" in err
    assert ledger.path.read_text() == "none" * 1000


def test_the_real_command_reads_the_ledger_of_its_user(ledger: Ledger) -> None:
    command = [sys.executable, "-m", "tui", "runs", "--json", "--newest", "1"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env=dict(os.environ), check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["id"] == "bb000001"
