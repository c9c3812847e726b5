"""The load generator against the server that keeps a schedule, healthy and odd: what it claims is true."""

import os
import socket
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from odd_server import Running

from tui.agent.load import mock

OddServer = Callable[..., Running]
N = 24
RUN = {"concurrency": 2, "requests": 4, "output_tokens": N, "warmup_s": 0.0}


@pytest.mark.parametrize(
    "manner", ["healthy", "comments", "usage null", "reasoning", "reasoning_content", "four tokens a chunk"]
)
def test_odd_but_whole_streams_count_every_token_at_the_servers_pace(
    odd_server: OddServer, bench: Any, manner: str
) -> None:
    result = bench(odd_server(manner).url, **RUN)

    assert (result.completed, result.failed) == (4, 0)
    assert (result.output_tokens, result.tokens_counted_by) == (4 * N, "usage")
    assert 20.0 <= result.ttft_ms.p50 < 60.0
    assert 3.0 < result.tpot_ms.mean < 8.0


def test_four_tokens_a_chunk_make_gaps_of_four_times_the_token_time(
    odd_server: OddServer, bench: Any
) -> None:
    result = bench(odd_server("four tokens a chunk").url, **RUN)

    assert 17.0 < result.itl_ms.p50 < 26.0


@pytest.mark.parametrize("manner", ["reasoning", "reasoning_content"])
def test_reasoning_is_the_first_token_and_no_first_output(
    odd_server: OddServer, bench: Any, manner: str
) -> None:
    result = bench(odd_server(manner).url, **RUN)

    assert result.ttfo_ms.p50 - result.ttft_ms.p50 == pytest.approx(N // 2 * 5, abs=20)


def test_without_usage_chunks_are_counted_and_that_is_said(odd_server: OddServer, bench: Any) -> None:
    result = bench(odd_server("no usage").url, **RUN)

    assert (result.output_tokens, result.tokens_counted_by) == (4 * N, "chunks")


@pytest.mark.parametrize(
    ("manner", "fault"),
    [("error object", "stream_error"), ("cut", "cut"), ("short", "short"), ("another model", "wrong_model")],
)
def test_a_failure_inside_a_200_is_a_failure_of_its_class(
    odd_server: OddServer, bench: Any, manner: str, fault: str
) -> None:
    result = bench(odd_server(manner).url, **RUN)

    assert result.completed == 0
    # A cut also shows as a reset, where the system says so.
    assert set(result.failures) <= ({fault, "reset"} if fault == "cut" else {fault})
    assert result.outcome == "failed"


def test_the_server_takes_connections_before_its_process_has_come_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow_child(listening: socket.socket, lifeline: int) -> None:
        del listening, lifeline
        time.sleep(0.05)
        os._exit(0)

    monkeypatch.setattr(mock, "_child", slow_child)
    request: dict[str, Any] = {"spec": {}}
    with mock.beside(request):
        url: str = request["spec"]["url"]
        port = urlsplit(url).port
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass
