"""``tminus compare``: the real command over a ledger, in a pipe and on a terminal."""

import json
import os
import pty
import subprocess
import sys

import msgspec
import pytest
from run_entries import fingerprint, result, run_entry, runs_of
from tminus_command import Tminus

from tui.runs.entry import RunEntry
from tui.runs.ledger import Ledger

A = runs_of("conf-a", [1000.0, 1010.0, 990.0], first=1, step=2)
B = runs_of("conf-b", [1200.0, 1215.0, 1190.0], first=2, step=2)
LONG = "/opt/" + "nccl-plugins/" * 20


def with_settings(runs: list[RunEntry], digest: str, **variables: str) -> list[RunEntry]:
    return [msgspec.structs.replace(run, fingerprint=fingerprint(digest, **variables)) for run in runs]


@pytest.fixture
def ledger(tminus: Tminus) -> Ledger:
    """Return the ledger that the command reads, with three starts of either configuration."""
    kept = Ledger(tminus.folder / "tminus" / "runs.sqlite")
    for run in (
        *with_settings(A, "conf-a", NCCL_ALGO="Ring"),
        *with_settings(B, "conf-b", NCCL_ALGO="Tree", LD_LIBRARY_PATH=LONG),
    ):
        assert kept.add_run(run) == ""
    return kept


def on_terminal(tminus: Tminus, *arguments: str, columns: int = 80) -> str:
    """Return what the command writes to a terminal of that width."""
    ours, theirs = pty.openpty()
    sizes = {"COLUMNS": str(columns), "LINES": "24", "TERM": "xterm-256color"}
    environment = {name: value for name, value in tminus.environment().items() if name != "NO_COLOR"} | sizes
    process = subprocess.Popen(
        [sys.executable, "-m", "tui", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=environment,
    )
    os.close(theirs)
    told = b""
    while piece := _read(ours):
        told += piece
    os.close(ours)
    _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (0, b"")
    return told.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""  # how Linux tells that nobody has the other end open


@pytest.mark.usefixtures("ledger")
def test_in_a_pipe_all_is_told_in_full_and_without_colour(tminus: Tminus) -> None:
    done = tminus.run("compare", A[0].id[:8], B[0].id)

    lines = done.out.splitlines()
    assert (done.code, done.err) == (0, "")
    assert lines[0].startswith(f"A  {A[0].id}  2025-11-")
    assert any(line.split() == ["environment", "NCCL_ALGO", "Ring", "Tree"] for line in lines)
    assert any(LONG in line for line in lines)
    assert any(line.startswith("better: output tokens/s 1.202 times that of A") for line in lines)
    assert any(line.startswith("noise floor: 7.0% of output tokens/s: a first guess") for line in lines)
    assert "\x1b" not in done.out


@pytest.mark.usefixtures("ledger")
def test_a_terminal_has_80_columns_and_colours_for_three_a_side(tminus: Tminus) -> None:
    told = on_terminal(tminus, "compare", A[0].id, B[0].id)

    assert "\x1b[1;32mbetter: output tokens/s" in told
    plain = told.replace("\x1b[1;32m", "").replace("\x1b[0m", "")
    assert max(map(len, plain.splitlines())) <= 80
    assert "…" in plain


def test_a_single_start_a_side_has_no_colour_on_a_terminal(tminus: Tminus) -> None:
    kept = Ledger(tminus.folder / "tminus" / "runs.sqlite")
    for run in (A[0], B[0]):
        assert kept.add_run(run) == ""

    told = on_terminal(tminus, "compare", A[0].id, B[0].id)

    assert "\x1b" not in told
    assert "needs 3 instances a side" in told


def test_baseline_stands_for_the_one_of_the_other_runs_workload(tminus: Tminus, ledger: Ledger) -> None:
    none = tminus.run("compare", "baseline", B[0].id)
    ledger.set_baseline(A[0].id)
    forth = tminus.run("compare", "baseline", B[0].id, "--json")
    back = tminus.run("compare", B[0].id, "baseline", "--json")

    assert none.code == 2
    assert "there is no baseline for qwen, 16 streams" in none.err
    assert words_of(forth.out) == (A[0].id, B[0].id, "better")
    assert words_of(back.out) == (B[0].id, A[0].id, "worse")


def words_of(text: str) -> tuple[str, str, str]:
    told = json.loads(text)
    return told["a"]["id"], told["b"]["id"], told["comparison"]["word"]


@pytest.mark.usefixtures("ledger")
def test_json_has_the_whole_values_and_each_metric(tminus: Tminus) -> None:
    told = json.loads(tminus.run("compare", A[0].id, B[0].id, "--json").out)

    [path, algorithm] = sorted(told["comparison"]["differences"], key=lambda each: each["name"])
    assert (path["a"], path["b"], algorithm["b"]) == (None, LONG, "Tree")
    assert {each["word"] for each in told["comparison"]["ratios"]} == {"better"}
    assert told["a"]["configuration"] == "conf-a"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ffff", "b"), "there is no run 'ffff'"),
        (("a", "b0000002"), "several runs begin with 'a'"),
        (("a0000001", "a0000001"), "A and B are one run, a0000001"),
        (("baseline", "baseline"), "name a run to compare with the baseline"),
        (("a0000001",), "missing argument 'B'"),
    ],
)
@pytest.mark.usefixtures("ledger")
def test_what_names_no_two_runs_is_said_in_one_line(
    tminus: Tminus, arguments: tuple[str, ...], said: str
) -> None:
    done = tminus.run("compare", *arguments)

    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err


def test_without_any_run_that_is_said(tminus: Tminus) -> None:
    done = tminus.run("compare", "aaaa", "bbbb")

    assert done.code == 2
    assert "there is no run" in done.err
    assert not (tminus.folder / "tminus" / "runs.sqlite").exists()


def test_another_workload_is_no_comparison(tminus: Tminus, ledger: Ledger) -> None:
    other = run_entry(result=result("cccc0001"), workload="1 stream, 8 in, 8 out, 4 requests")
    assert ledger.add_run(other) == ""

    done = tminus.run("compare", A[0].id, other.id)

    assert done.code == 0
    assert "cannot tell: the workloads differ" in done.out
