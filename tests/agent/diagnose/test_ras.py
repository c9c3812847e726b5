"""The client of NCCL RAS against a server that speaks its protocol, and against what else may listen."""

import contextlib
import socket
from types import SimpleNamespace

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


class Dripper:
    """Who lets each part of an answer come at the last moment, on a clock of its own."""

    def __init__(self, parts: list[tuple[float, bytes]]) -> None:
        self.now_s = 0.0
        self._parts = parts
        self._timeout_s = 0.0

    def __enter__(self) -> "Dripper":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def connect(self, _address: tuple[str, int], timeout_s: float) -> "Dripper":
        self._pass(0.97, timeout_s)
        return self

    def settimeout(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s

    def sendall(self, _data: bytes) -> None:
        pass

    def recv(self, _size: int) -> bytes:
        late_s, data = self._parts.pop(0) if self._parts else (1000.0, b"")
        self._pass(late_s, self._timeout_s)
        return data

    def _pass(self, seconds: float, timeout_s: float) -> None:
        self.now_s += min(seconds, timeout_s)
        if seconds > timeout_s:
            raise TimeoutError


def dripped(line: bytes, *last_s: float) -> list[tuple[float, bytes]]:
    """Return a line that comes byte by byte, the last of them late."""
    late = [0.0] * (len(line) - len(last_s)) + list(last_s)
    return [(late_s, bytes([byte])) for late_s, byte in zip(late, line, strict=True)]


@pytest.mark.parametrize("late_s", [(0.97,), (0.5, 0.97)], ids=["in time", "a byte at a time"])
def test_every_wait_is_announced_as_long_as_it_may_last(
    late_s: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = dripped(b"SERVER PROTOCOL 2\n", *late_s) + dripped(b"OK\n", 0.97) + [(0.0, b"1 rank")]
    dripper = Dripper(parts)
    monkeypatch.setattr(ras, "CONNECT_S", 1.0)
    monkeypatch.setattr(ras, "time", SimpleNamespace(monotonic=lambda: dripper.now_s))
    monkeypatch.setattr(
        ras, "socket", SimpleNamespace(timeout=TimeoutError, create_connection=dripper.connect)
    )
    announced: list[tuple[float, float]] = []
    with contextlib.suppress(ras.NoAnswer):
        ras.ask(1, lambda seconds: announced.append((dripper.now_s, seconds)))
    ends_s = [at_s for at_s, _ in announced[1:]] + [dripper.now_s]
    for (began_s, seconds), ended_s in zip(announced, ends_s, strict=True):
        assert ended_s - began_s <= seconds
