"""The self-test's server in a process of its own, also with streams as odd as real servers send them."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tui.agent.load import mock
from tui.agent.load.mock import DONE, ROLE, TOKEN, Mock, event, usage

PLUGINS = str(Path(__file__).parent)
ROOT = str(Path(__file__).parent.parent.parent)
Pieces = Iterator[tuple[float, bytes | None]]


class Odd(Mock):
    """Keeps the schedule, in one of the manners of ``MANNERS``; the first piece of an answer is due first."""

    def __init__(self, manner: str, first_s: float = mock.FIRST_S, token_s: float = mock.TOKEN_S) -> None:
        super().__init__(first_s, token_s)
        self._manner = MANNERS[manner]

    def pieces(self, prompt: int, tokens: int) -> Pieces:
        """Give the pieces of an answer in this manner."""
        for number, data in self._manner(prompt, tokens):
            yield self.first_s + number * self.token_s, data


Manner = Callable[[int, int], Iterator[tuple[int, bytes | None]]]


def _end(prompt: int, tokens: int) -> bytes:
    return event({}, "length") + usage(prompt, tokens) + DONE


def _healthy(prompt: int, tokens: int) -> Iterator[tuple[int, bytes | None]]:
    for number in range(tokens):
        yield number, (TOKEN if number else ROLE + TOKEN)
    yield tokens - 1, _end(prompt, tokens)


def _each(change: Callable[[bytes], bytes]) -> Manner:
    """Return the manner of a healthy server, each piece changed."""

    def manner(prompt: int, tokens: int) -> Iterator[tuple[int, bytes | None]]:
        for number, data in _healthy(prompt, tokens):
            yield number, None if data is None else change(data)

    return manner


def _named(name: str) -> Manner:
    """Return the manner of a server that reasons in its first half."""
    thought = event({name: mock.STAMP.decode(), "content": None})

    def manner(prompt: int, tokens: int) -> Iterator[tuple[int, bytes | None]]:
        for number in range(tokens):
            yield number, thought if number < tokens // 2 else TOKEN
        yield tokens - 1, _end(prompt, tokens)

    return manner


def _half(last: bytes | None) -> Manner:
    """Return the manner of a server that says something else after half an answer."""

    def manner(_: int, tokens: int) -> Iterator[tuple[int, bytes | None]]:
        for number in range(tokens // 2):
            yield number, TOKEN
        yield tokens // 2, last

    return manner


def _bundled(prompt: int, tokens: int) -> Iterator[tuple[int, bytes | None]]:
    """Four tokens a chunk, as speculative decoding gives them, when the last of them is due."""
    for number in range(0, tokens, 4):
        yield number, event({"content": "four tokens at once "})
    yield tokens - 1, _end(prompt, tokens)


def _without_usage(_: int, tokens: int) -> Iterator[tuple[int, bytes | None]]:
    for number in range(tokens):
        yield number, TOKEN
    yield tokens - 1, event({}, "length") + DONE


def _short(prompt: int, tokens: int) -> Iterator[tuple[int, bytes | None]]:
    for number in range(tokens // 2):
        yield number, TOKEN
    yield tokens // 2, _end(prompt, tokens // 2)


def _of_another_model(data: bytes) -> bytes:
    return data.replace(b'"model": "mock"', b'"model": "another"')


MANNERS: dict[str, Manner] = {
    "healthy": _healthy,
    "four tokens a chunk": _bundled,
    "reasoning": _named("reasoning"),
    "reasoning_content": _named("reasoning_content"),
    "comments": _each(lambda data: b": ping\n\n" + data),
    "no usage": _without_usage,
    "usage null": _each(lambda data: data.replace(b'"object"', b'"usage": null, "object"')),
    "error object": _half(b'data: {"error": {"message": "CUDA error", "code": 500}}\n\n'),
    "cut": _half(None),
    "short": _short,
    "another model": _each(_of_another_model),
}


class Running:
    """A server that runs; ``url`` is where."""

    def __init__(self, manner: str, first_s: float, token_s: float) -> None:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            self.port = str(listening.getsockname()[1])
            own = [str(listening.fileno()), manner, str(first_s), str(token_s)]
            self._process = subprocess.Popen(
                [sys.executable, "-m", "odd_server", *own],
                stdin=subprocess.PIPE,
                pass_fds=[listening.fileno()],
                env=os.environ | {"PYTHONPATH": os.pathsep.join((PLUGINS, ROOT))},
            )
            # Connections are taken from now on, and answered as soon as the process is there.
            listening.listen(512)
        self.url = f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.communicate()


def main(arguments: list[str]) -> None:
    """Serve until standard input ends."""
    descriptor, manner, first_s, token_s = arguments
    mock.serve(socket.socket(fileno=int(descriptor)), 0, Odd(manner, float(first_s), float(token_s)))


@pytest.fixture
def odd_server() -> Iterator[Callable[..., Running]]:
    """Start a server: ``odd_server("cut")`` keeps the schedule but for that; arguments are those of Odd."""
    running: list[Running] = []

    def begin(
        manner: str = "healthy", first_s: float = mock.FIRST_S, token_s: float = mock.TOKEN_S
    ) -> Running:
        running.append(Running(manner, first_s, token_s))
        return running[-1]

    yield begin
    for each in running:
        each.close()


if __name__ == "__main__":
    main(sys.argv[1:])
