"""``tminus explain`` in words: the verdict first, nothing wider than 80 columns, nothing invented."""

import re
import subprocess
from collections.abc import Callable

import pytest

from tui import cli
from tui.explain.report import explain as report_of
from tui.explain.words import WIDTH, duration, fit, lines

Write = Callable[..., str]
Tminus = Callable[..., subprocess.CompletedProcess[bytes]]
Say = Callable[..., list[str]]


@pytest.fixture
def say(capfd: pytest.CaptureFixture[str]) -> Say:
    """Return a function that runs ``explain`` and returns the lines that it printed."""

    def say(*arguments: str) -> list[str]:
        assert cli.run(["explain", *arguments]) == 0
        out, err = capfd.readouterr()
        assert err == ""
        return out.splitlines()

    return say


def test_a_failure_is_told_with_cause_next_step_and_line(write: Write, say: Say, failed: str) -> None:
    said = say(write(failed))

    assert said[0] == "FAILED in capture: out of GPU memory (line 20)"
    assert said[1].startswith("cause      ")
    assert any(line.startswith("next step  ") for line in said)
    assert any(line.startswith("line 20    torch.OutOfMemoryError: CUDA out of memory.") for line in said)


def test_a_ready_load_says_after_how_long(write: Write, say: Say, ready: str) -> None:
    said = say(write(ready))

    assert said[0] == "READY after 1:25"
    assert ["weights", "21.0", "s", "41.0", "s", "20.0", "s", "4", "of", "4", "shards"] in map(
        str.split, said
    )
    assert "silence    20.0 s at most, in weights, from line 8 to line 9" in said
    assert "ranks      2 (TP0 to TP1)" in said


def test_an_unfinished_load_says_where_it_stands_and_for_how_long(write: Write, say: Say, load: str) -> None:
    beat = '[2026-11-29 10:11:04] INFO:     127.0.0.1:5 - "GET /health HTTP/1.1" 503 Service Unavailable\n'
    said = say(write(load + beat))

    assert said[0] == "UNFINISHED in capture, for 10:00 at least"
    assert ["capture", "1:04", "10:00+", "10:00"] in [line.split() for line in said]


def test_a_stop_that_was_asked_for_is_no_failure(write: Write, say: Say, ready: str) -> None:
    said = say(
        write(ready + "[2026-11-29 11:00:00] SIGTERM received. signum=15 frame=None. Draining requests\n")
    )

    assert said[0].startswith("STOPPED while ready, as it was asked to (line 25)")


def test_ranks_that_lag_are_named(write: Write, say: Say, load: str) -> None:
    said = say(write(load[: load.index("[2026-11-29 10:00:21 TP1]")]))

    assert "ranks      2 (TP0 to TP1), 1 behind the others" in said
    assert "           TP1 is in distributed since 11.0 s" in said


def test_what_is_unknown_is_a_dash(write: Write, say: Say) -> None:
    said = say(write(""))

    assert said[0] == "UNFINISHED in launch"
    assert "server     unknown engine, 0 lines" in said
    assert ["launch", "-", "-", "-"] in [line.split() for line in said]


def test_earlier_starts_come_last(write: Write, say: Say, failed: str, ready: str) -> None:
    said = say(write(failed * 7 + ready))

    assert said[-6] == "7 earlier starts in this log, the last 5 of them:"
    assert said[-5] == "  from line 41: failed in capture: out of GPU memory (line 60)"


def test_the_file_is_named_where_there_are_several(write: Write, say: Say, load: str, failed: str) -> None:
    other = load.replace("TP0]", "TP2]").replace("TP1]", "TP3]")
    node_0, node_1 = write(failed, "0.log"), write(other, "1.log")
    said = "\n".join(say(node_0, node_1))

    assert said.startswith("FAILED in capture: out of GPU memory (line 20)\n")
    assert "0.log" in said.partition("\nof file    ")[2]
    assert "in 2 files" in said


def test_no_line_is_wider_than_80_columns(write: Write, failed: str) -> None:
    wide = failed.replace("3.00 GiB", "3.00 GiB " + "模型 " * 400).replace("TP1", "TP1")
    for text in (wide, failed.replace("torch.Out", "x" * 500 + " torch.Out"), wide * 3):
        for line in lines(report_of([write(text)])):
            assert sum(2 if ord(c) > 0x2E80 else 1 for c in line) <= WIDTH


def test_a_text_is_cut_to_columns_with_an_ellipsis() -> None:
    assert fit("abcdef", 6) == "abcdef"
    assert fit("abcdefg", 6) == "abcde…"
    assert fit("模型模型", 6) == "模型…"
    assert fit("é" * 6, 6) == "é" * 6


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "-"), (0.0, "0.0 s"), (59.94, "59.9 s"), (61.0, "1:01"), (3723.0, "1:02:03")]
)
def test_durations_are_short(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_without_a_terminal_there_are_no_colours(write: Write, tminus: Tminus, failed: str) -> None:
    assert b"\x1b" not in tminus(write(failed)).stdout


def test_a_terminal_that_lacks_characters_gets_a_question_mark(
    write: Write, tminus: Tminus, failed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = tminus(write(failed.replace("3.00 GiB", "3.00 Gi模B")))

    assert done.returncode == 0
    assert b"Gi?B" in done.stdout
    assert re.match(rb"FAILED in capture", done.stdout)
