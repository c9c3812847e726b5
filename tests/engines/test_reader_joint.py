"""Joint logs: what stood before the first record stands before all; other containers have no say."""

import pytest

from tui.engines.marks import MarkKind
from tui.engines.reader import LineReader
from tui.engines.sglang import SGLANG
from tui.engines.vllm import VLLM

VLLM_RECORD = "(APIServer pid=1) INFO 11-29 20:00:01 [api_server.py:1] Using max model len 32768"
UVICORN = "INFO:     Application startup complete."
ADDRESS = "OSError: [Errno 98] Address already in use"


def kinds(reader: LineReader, line: str) -> list[MarkKind]:
    return [mark.kind for mark in reader.read(line).marks]


@pytest.mark.parametrize("prefix", ["vllm-1     | ", "pod-0 container ", "> ", "node1: "])
def test_a_bare_line_is_read_behind_the_prefix_of_the_records(prefix: str) -> None:
    reader = LineReader(VLLM)
    reader.read(prefix + VLLM_RECORD)
    assert kinds(reader, prefix + UVICORN) == [MarkKind.READY]


@pytest.mark.parametrize("line", [UVICORN, ADDRESS, "INFO:     Shutting down", "webui: Killed"])
def test_another_container_of_a_joint_log_has_no_say(line: str) -> None:
    reader = LineReader(VLLM)
    reader.read("vllm-1     | " + VLLM_RECORD)
    assert kinds(reader, "litellm-1  | " + line) == []
    assert kinds(reader, "litellm-1  | Traceback (most recent call last):") == []


def test_another_node_of_the_same_server_is_heard_by_its_records() -> None:
    reader = LineReader(SGLANG)
    reader.read("node0-1  | [2026-11-29 13:48:34 TP0] Load weight begin. avail mem=9 GB")
    heard = kinds(reader, "node1-1  | [2026-11-29 13:48:34 TP8] Load weight begin. avail mem=9 GB")
    assert heard == [MarkKind.BEGINS]


def test_without_a_prefix_at_the_records_every_line_counts() -> None:
    reader = LineReader(VLLM)
    reader.read(VLLM_RECORD)
    assert kinds(reader, "vllm-1  | " + UVICORN) == [MarkKind.READY]
