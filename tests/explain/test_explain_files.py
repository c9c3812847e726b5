"""Where logs come from: standard input, gzip, pipes; and several files that are one load."""

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tui import cli

RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings"

Write = Callable[..., str]
Explain = Callable[..., dict[str, Any]]
Tminus = Callable[..., subprocess.CompletedProcess[bytes]]


def without_names(report: dict[str, Any]) -> dict[str, Any]:
    """Return a report without the names of files."""
    text = json.dumps(report)
    for each in report["files"]:
        text = text.replace(json.dumps(each["file"]), '"FILE"')
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.fixture
def node_0(load: str) -> str:
    """Return the log of the first of two nodes."""
    return load.replace("nnodes=1", "nnodes=2")


@pytest.fixture
def node_1(load: str) -> str:
    """Return the log of the second node, which starts 5 s later than the first."""
    lines = (
        load.replace("nnodes=1", "nnodes=2").replace("node_rank=0", "node_rank=1").splitlines(keepends=True)
    )
    lines[0] = lines[0].replace("10:00:00", "10:00:05")
    return "".join(lines).replace("TP1]", "TP3]").replace("TP0]", "TP2]")


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_says_the_same_as_the_file(
    write: Write, explain: Explain, tminus: Tminus, failed: str, packed: bool
) -> None:
    data = failed.encode()
    done = tminus("-", "--json", given=gzip.compress(data) if packed else data)

    assert done.returncode == 0
    assert without_names(json.loads(done.stdout)) == without_names(explain(write(failed)))


def test_a_gz_is_read_whatever_it_is_called(write: Write, explain: Explain, failed: str) -> None:
    plain = without_names(explain(write(failed)))
    packed = gzip.compress(failed[:600].encode()) + gzip.compress(failed[600:].encode())

    assert without_names(explain(write(packed, "server.log.gz"))) == plain
    assert without_names(explain(write(packed, "server.log.1"))) == plain


def test_a_named_pipe_is_read(explain: Explain, tmp_path: Path, failed: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(failed,))
    writer.start()
    report = explain(str(pipe))
    writer.join()

    assert report["fault"]["line_number"] == 20


def test_a_reader_that_goes_away_ends_it_quietly(write: Write, failed: str) -> None:
    path = write(failed * 300)
    command = f"{sys.executable} -m tui explain {path} | head -n 1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, timeout=60, check=False)

    assert done.stdout.startswith(b"FAILED in capture")
    assert done.stderr == b""


def test_two_nodes_are_one_load_with_all_ranks(
    write: Write, explain: Explain, node_0: str, node_1: str, ready: str, load: str
) -> None:
    head = write(node_0 + ready.removeprefix(load), "node0.log")
    other = write(node_1, "node1.log")
    report = explain(head, other)

    assert (report["outcome"], report["phase"], report["earlier"]) == ("ready", "ready", [])
    assert report["started"] == "2026-11-29T10:00:00"
    assert [(rank["rank"], rank["file"]) for rank in report["ranks"]] == [
        ("TP0", head), ("TP1", head), ("TP2", other), ("TP3", other),
    ]  # fmt: skip
    assert [each["file"] for each in report["files"]] == [head, other]
    assert [each["name"] for each in report["phases"]].count("weights") == 1


def test_the_order_of_the_files_changes_nothing_but_their_order(
    write: Write, explain: Explain, node_0: str, node_1: str
) -> None:
    head, other = write(node_0, "node0.log"), write(node_1, "node1.log")
    one, two = explain(head, other), explain(other, head)

    assert one == two


FIRST = "  0%|          | 0/12 [00:00<?, ?it/s]\rCapturing batches (bs=8):   0%|  | 0/12 [00:00<?, ?it/s]\r"
BAR = FIRST + "".join(
    f"Capturing batches (bs=8):  50%|  | {n}/12 [00:{n:02}<00:10, 1.0s/it]\r" for n in range(1, 13)
)


@pytest.mark.parametrize("names", [("a.log", "b.log"), ("b.log", "a.log")])
def test_a_nodes_bar_is_read_at_the_time_that_it_shows(
    write: Write, explain: Explain, node_0: str, node_1: str, names: tuple[str, str]
) -> None:
    end = "[2026-11-29 10:01:16 TP{}] Capture cuda graph end. Time elapsed: 12.00 s. avail mem=26.00 GB\n"
    serving = "[2026-11-29 10:01:16] INFO:     Started server process [4242]\n"
    head = write(node_0 + BAR + "\n" + end.format(0) + end.format(1) + serving, names[0])
    other = write(node_1 + end.format(2) + end.format(3), names[1])
    for files in ((head, other), (other, head)):
        phases = explain(*files)["phases"]

        assert [(each["name"], each["began"]) for each in phases][-3:] == [
            ("kv_cache", 62.0), ("capture", 64.0), ("start_api", 76.0),
        ]  # fmt: skip
        assert phases[-2]["progress"] == {"done": 12, "total": 12, "unit": "sizes"}


def test_a_recorded_load_of_two_nodes_is_the_same_by_either_order(write: Write, explain: Explain) -> None:
    folder = RECORDINGS / "x1-sglang-2rank-hang-capture-and-serving"
    if not folder.exists():
        pytest.skip("needs the recordings of loads beside the checkout")
    one = write((folder / "server.log").read_bytes(), "n0.log")
    other = write((folder / "node1.log").read_bytes(), "n1.log")
    report = explain(one, other)

    assert report == explain(other, one)
    assert [(each["name"], each["seconds"]) for each in report["phases"]][-4:-1] == [
        ("kv_cache", 0.0), ("capture", 79.0), ("start_api", 0.0),
    ]  # fmt: skip
    assert report["phases"][-3]["progress"] == {"done": 12, "total": 12, "unit": "sizes"}


def test_the_bar_of_the_node_that_is_behind_counts(
    write: Write, explain: Explain, node_0: str, node_1: str
) -> None:
    further = (
        "[2026-11-29 10:01:10 TP2] Capture cuda graph end. Time elapsed: 6.00 s. avail mem=26.00 GB\n"
        "[2026-11-29 10:01:10 TP3] Capture cuda graph end. Time elapsed: 6.00 s. avail mem=26.00 GB\n"
        "[2026-11-29 10:01:10] Dummy health check server started in background thread at 127.0.0.1:30001\n"
    )
    report = explain(write(node_0 + BAR, "node0.log"), write(node_1 + further, "node1.log"))

    assert (report["phase"], report["phases"][-1]["progress"]["done"]) == ("capture", 12)


def test_the_load_stands_where_its_slowest_node_stands(
    write: Write, explain: Explain, node_0: str, node_1: str
) -> None:
    loading = node_0.index("[2026-11-29 10:01:02 TP0]")
    until = node_1.index("[2026-11-29 10:00:20 TP2]")
    report = explain(write(node_0[:loading], "node0.log"), write(node_1[:until], "node1.log"))

    assert (report["outcome"], report["phase"]) == ("unfinished", "distributed")
    assert [rank["rank"] for rank in report["ranks"] if rank["lags"]] == ["TP2", "TP3"]


def test_a_node_that_never_got_beyond_its_launch_holds_the_others_back(
    write: Write, explain: Explain, node_0: str, node_1: str
) -> None:
    until = node_0.index("[2026-11-29 10:00:20 TP0]")
    report = explain(write(node_0[:until], "node0.log"), write(node_1.splitlines()[0], "node1.log"))

    assert report["phase"] == "launch"


def test_the_first_true_cause_of_all_files_is_told_with_its_file(
    write: Write, explain: Explain, node_0: str, node_1: str, failed: str, load: str
) -> None:
    cause = failed.removeprefix(load).replace("TP1", "TP3")
    echo = (
        "[2026-11-29 10:01:40 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
        "RuntimeError: [gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.2]:30000\n"
    )
    report = explain(write(node_0 + echo, "node0.log"), write(node_1 + cause, "node1.log"))

    assert (report["outcome"], report["phase"]) == ("failed", "capture")
    assert (report["fault"]["kind"], report["fault"]["line_number"]) == ("oom_capture", 20)
    assert report["fault"]["file"].endswith("node1.log")


def test_only_the_last_start_of_each_file_counts(
    write: Write, explain: Explain, node_0: str, node_1: str, failed: str
) -> None:
    report = explain(
        write(failed + node_0.replace(" 10:0", " 12:0"), "node0.log"),
        write(node_1.replace(" 10:0", " 12:0"), "node1.log"),
    )

    assert (report["outcome"], report["started"]) == ("unfinished", "2026-11-29T12:00:00")
    assert [(each["outcome"], each["file"].endswith("node0.log")) for each in report["earlier"]] == [
        ("failed", True)
    ]
    assert [each["start_line"] for each in report["files"]] == [21, 1]


def test_standard_input_may_be_one_of_them(write: Write, tminus: Tminus, node_0: str, node_1: str) -> None:
    done = tminus("-", write(node_1, "node1.log"), "--json", given=gzip.compress(node_0.encode()))
    report = json.loads(done.stdout)

    assert done.returncode == 0
    assert report["files"][0]["file"] == "standard input"
    assert len(report["ranks"]) == 4


def test_files_of_different_engines_are_no_load(
    write: Write, node_0: str, capfd: pytest.CaptureFixture[str]
) -> None:
    vllm = "(APIServer pid=1) INFO 11-29 13:44:29 [api_server.py:1]  vLLM API server version 0.12.0\n" * 3
    code = cli.run(["explain", write(node_0, "a.log"), write(vllm, "b.log")])
    out, err = capfd.readouterr()

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "a.log is a log of SGLang" in err
    assert "b.log one of vLLM" in err


def test_one_bad_file_among_several_is_named(
    write: Write, node_0: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["explain", write(node_0), "/no/such.log"]) == 2
    assert capfd.readouterr().err.startswith("tminus: /no/such.log cannot be read: No such file")
