"""The client of NCCL RAS against a server that speaks its protocol, and against what else may listen."""

import socket

import pytest
from ras_server import HEALTHY, mismatch, ras_server

from tui.agent.diagnose import ras


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ras, "CONNECT_S", 0.2)
    monkeypatch.setattr(ras, "STATUS_S", 0.3)


def test_the_whole_answer_comes_and_the_protocol_is_kept() -> None:
    with ras_server(mismatch(17)) as server:
        answer = ras.ask(server.port)

    assert answer.text == mismatch(17)
    assert answer.silent == 0
    assert server.commands == ["client protocol 2", "timeout 5", "verbose status"]


def test_a_connection_that_is_taken_and_not_answered_is_followed_by_another() -> None:
    with ras_server(HEALTHY, silent=2) as server:
        answer = ras.ask(server.port)

    assert answer.text == HEALTHY
    assert (answer.silent, server.connections) == (2, 3)


def test_after_three_more_tries_it_is_said_that_a_rank_is_stopped() -> None:
    with ras_server(HEALTHY, silent=99) as server:
        with pytest.raises(ras.NoAnswer, match="took 4 connections and answered none"):
            ras.ask(server.port)

        assert (server.connections, server.questions) == (4, 0)


def test_a_port_on_which_nothing_listens_is_told(free_port: int) -> None:
    with pytest.raises(ras.NoAnswer, match=f"nothing listens on port {free_port}"):
        ras.ask(free_port)


def test_another_program_is_not_asked_on() -> None:
    with ras_server(HEALTHY, greeting="HTTP/1.1 400 Bad Request\r\n\r\n") as server:
        with pytest.raises(ras.NoAnswer, match="is not NCCL RAS"):
            ras.ask(server.port)

        assert server.commands == ["client protocol 2"]


def test_an_endless_greeting_ends_it() -> None:
    with ras_server(HEALTHY, greeting="x" * 100_000) as server, pytest.raises(ras.NoAnswer):
        ras.ask(server.port)


def test_a_very_long_answer_is_cut() -> None:
    with ras_server("x" * 1_000_000) as server:
        assert len(ras.ask(server.port).text) == ras.ANSWER_BYTES


def test_a_question_that_gets_no_answer_is_not_put_again() -> None:
    with ras_server("") as server:
        with pytest.raises(ras.NoAnswer, match="gave no answer"):
            ras.ask(server.port)

        assert server.questions == 1


def test_a_listener_that_never_accepts_is_left_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1) as mute:
        port = mute.getsockname()[1]
        with pytest.raises(ras.NoAnswer):
            ras.ask(port)
