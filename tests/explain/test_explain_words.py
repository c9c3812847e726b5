"""``tminus explain`` in words: the verdict first, nothing wider than 80 columns, nothing invented."""

import itertools
import re
import subprocess
from collections.abc import Callable

import msgspec
import pytest

from tui import cli
from tui.explain.report import explain as report_of
from tui.explain.words import WIDTH, duration, fit, lines, wrapped

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
    assert ["weights", "21", "s", "41", "s", "20", "s", "4", "of", "4", "shards"] in map(str.split, said)
    assert "silence    20 s at most, in weights, from line 8 to line 9" in said
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
    assert "           TP1 is in distributed since 11 s" in said


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
    ("seconds", "text"),
    [
        (None, "-"),
        (0.0, "0 s"),
        (10.0, "10 s"),
        (59.94, "59.9 s"),
        (61.0, "1:01"),
        (3723.0, "1:02:03"),
        (-61.0, "-1:01"),
    ],
)
def test_durations_are_short(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_a_long_path_is_broken_at_a_slash_and_nothing_of_it_is_lost() -> None:
    path = "/mnt/" + "some-folder-of-a-name/" * 6 + "model.safetensors"
    rows = wrapped(f"No such file: {path} is missing", 40)

    assert max(map(len, rows)) <= 40
    assert "".join(rows).replace(" ", "") == f"Nosuchfile:{path}ismissing"
    assert all(row.endswith("/") for row in rows[:-2])
    assert wrapped("x" * 90, 40) == ["x" * 40, "x" * 40, "x" * 10]


def test_a_word_that_fits_a_row_is_not_broken() -> None:
    assert wrapped("see /one/two/three for it", 16) == ["see", "/one/two/three", "for it"]


def test_there_are_never_two_empty_lines_nor_one_at_the_end(write: Write, say: Say, failed: str) -> None:
    for text in ("", failed, failed * 2, "vLLM API server version 0.9\n" * 2):
        said = say(write(text))
        assert "" not in (said[0], said[-1])
        assert ("", "") not in itertools.pairwise(said)


def test_figures_have_two_decimals_and_names_of_their_own(write: Write) -> None:
    report = report_of([write("")])
    figures = {
        "checkpoint_gib": 0.0, "engine_init_s": 34.114, "graph_gib": -0.01, "kv_cache_s": 6.68,
        "kv_cache_tokens": 2999808.0, "weights_gib": 14.9595,
    }  # fmt: skip
    text = " ".join(" ".join(lines(msgspec.structs.replace(report, figures=figures))).split())

    assert text.endswith(
        "figures checkpoint about 0 GiB, engine start took 34.11 s, graph about 0 GiB, "
        "KV cache allocation took 6.68 s, KV cache 2,999,808 tokens, weights 14.96 GiB"
    )


def test_a_failure_whose_line_has_no_time_leaves_the_duration_open(write: Write, say: Say) -> None:
    head = "[2026-11-29 10:00:00] server_args=ServerArgs(model_path='m')\n"
    error = (
        "Traceback (most recent call last):\n"
        '  File "/x/launch_server.py", line 1, in <module>\n'
        "ValueError: no such thing\n"
    )
    said = say(write(head + error))

    assert said[0].startswith("FAILED in launch")
    assert ["launch", "0", "s", "0", "s+", "-"] in [line.split() for line in said]


def test_the_lines_of_the_last_start_are_told(write: Write, say: Say, failed: str, ready: str) -> None:
    assert any(line.endswith("lines 21-44") for line in say(write(failed + ready)))


def test_a_phase_that_began_before_the_log_says_so(write: Write, say: Say) -> None:
    core = "(EngineCore_DP0 pid=64) INFO 02-12 15:00:36 [monitor.py:34] "
    said = say(write(core + "torch.compile takes 2222.52 s in total\n"))

    assert ["compile", "-37:03", "37:03+", "-"] in [line.split() for line in said]


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
