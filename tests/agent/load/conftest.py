"""A scripted HTTP server over real sockets, and the load generator run against it in this process."""

import gc
import json
import os
import select
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, Literal, cast

import msgspec
import pytest

from tui import events
from tui.agent.load import run as load_run
from tui.agent.worker import Channel
from tui.benchmark import BenchProgress, BenchRecord, BenchRecords, BenchResult, BenchSpec
from tui.events import AnyEvent
from tui.requests import BenchCancelRequest, BenchRequest

BOTH_LOOPS = {f"test_load_{name}" for name in ("answers", "odd_streams", "open", "run", "tls")}
_PORT_S = 10.0
OUTPUT_TOKENS = 100  # above what the preflight asks for (4), so that a script can tell them apart

Step = bytes | float | Literal["close", "reset", "restart"]
Reply = Callable[["Asked"], Iterable[Step]]


@dataclass
class Asked:
    """A request as the server saw it."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    connection: int

    @property
    def tokens(self) -> int:
        """How many tokens it asks for (0 for a GET)."""
        return int(self.body.get("max_tokens", 0))

    @property
    def measured(self) -> bool:
        """True for a request of the workload (of the measurement, where there is no warm-up)."""
        return self.tokens == OUTPUT_TOKENS


def head(status: str = "200 OK", *fields: str, kind: str = "text/event-stream") -> bytes:
    """Return a response head."""
    return "\r\n".join([f"HTTP/1.1 {status}", f"Content-Type: {kind}", *fields, "", ""]).encode()


def sized(body: bytes, status: str = "200 OK", *fields: str) -> bytes:
    """Return a whole response with a length."""
    return head(status, f"Content-Length: {len(body)}", *fields, kind="application/json") + body


def chunk(data: bytes) -> bytes:
    """Return one chunk of a chunked body."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def delta(content: Any = "word", **more: Any) -> bytes:
    """Return the JSON of a chat completion chunk whose delta has this content."""
    changes: dict[str, Any] = more.pop("choice", {})
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": None, **changes}
    return json.dumps({"model": "m", "choices": [choice], **more}, ensure_ascii=False).encode()


def finish(reason: str = "length") -> bytes:
    """Return the JSON of a chunk that only ends."""
    nothing: dict[str, str] = {}
    choice = {"index": 0, "delta": nothing, "finish_reason": reason}
    return json.dumps({"model": "m", "choices": [choice]}).encode()


def usage(output: int, prompt: int = 8) -> bytes:
    """Return the JSON of the usage chunk."""
    counts = {"prompt_tokens": prompt, "completion_tokens": output}
    return json.dumps({"model": "m", "choices": [], "usage": counts}).encode()


def event(data: bytes) -> bytes:
    """Return one server-sent event."""
    return b"data: " + data + b"\n\n"


def whole(asked: Asked) -> Iterator[Step]:
    """Reply as a healthy server: role, as many tokens as asked, finish, usage, [DONE]."""
    yield head("200 OK", "Transfer-Encoding: chunked")
    yield chunk(event(delta("", choice={"delta": {"role": "assistant", "content": ""}})))
    for _ in range(asked.tokens):
        yield chunk(event(delta()))
    yield chunk(event(finish())) + chunk(event(usage(asked.tokens))) + chunk(event(b"[DONE]")) + b"0\r\n\r\n"


@dataclass
class Server:
    """Answers on loopback; ``measured`` scripts the requests of the measurement, ``chat`` all others.

    ``paths`` scripts what is asked of any other path.
    """

    port: int = 0
    tls: ssl.SSLContext | None = None
    models: list[str] = field(default_factory=lambda: ["m"])
    measured: Reply = whole
    chat: Reply = whole
    models_reply: bytes | None = None
    paths: dict[str, Reply] = field(default_factory=dict[str, Reply])
    asked: list[Asked] = field(default_factory=list[Asked])
    most_at_once: int = 0
    down_s: float = 0.3

    def __post_init__(self) -> None:
        self._open: set[socket.socket] = set()
        self._busy = 0
        self._lock = threading.Lock()
        self._connections = 0
        self._listen()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def measurements(self) -> list[Asked]:
        """The requests of the measurement."""
        return [asked for asked in self.asked if asked.measured]

    def _listen(self) -> None:
        self._listener = socket.socket()
        try:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._listener.bind(("127.0.0.1", self.port))
            self._listener.listen(512)
        except OSError:
            self._listener.close()
            raise
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def close(self) -> None:
        """Refuse new connections and reset the others."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in list(self._open):
                _reset(connection)

    def _restart(self) -> None:
        self.close()
        time.sleep(self.down_s)
        end_s = time.monotonic() + _PORT_S
        while True:
            try:
                return self._listen()
            except OSError:  # another test's connection has the port for a moment
                if time.monotonic() > end_s:
                    raise
                time.sleep(0.05)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._lock:
            self._open.add(connection)
            self._connections += 1
            number = self._connections
        with suppress(OSError):
            if self.tls is not None:
                connection = self.tls.wrap_socket(connection, server_side=True)
            while (asked := _read_request(connection, number)) is not None and self._answer(
                connection, asked
            ):
                pass
        with self._lock:
            self._open.discard(connection)
        connection.close()

    def _answer(self, connection: socket.socket, asked: Asked) -> bool:
        with self._lock:
            self.asked.append(asked)
            self._busy += 1
            self.most_at_once = max(self.most_at_once, self._busy)
        try:
            return all(self._step(connection, step) for step in self._reply(asked))
        finally:
            with self._lock:
                self._busy -= 1

    def _reply(self, asked: Asked) -> Iterable[Step]:
        if asked.path in self.paths:
            return self.paths[asked.path](asked)
        if asked.method == "GET":
            listed = {"object": "list", "data": [{"id": one} for one in self.models]}
            return [self.models_reply or sized(json.dumps(listed).encode())]
        return self.measured(asked) if asked.measured else self.chat(asked)

    def _step(self, connection: socket.socket, step: Step) -> bool:
        if isinstance(step, bytes):
            connection.sendall(step)
        elif isinstance(step, float):
            time.sleep(step)
        elif step == "reset":
            _reset(connection)
        elif step == "restart":
            threading.Thread(target=self._restart, daemon=True).start()
        return not isinstance(step, str)


def _reset(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        # A thread blocked in recv keeps the socket open in the kernel: closing alone would not end it.
        connection.shutdown(socket.SHUT_RD)
        connection.close()


def _read_request(connection: socket.socket, number: int) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    top, _, body = data.partition(b"\r\n\r\n")
    first, *lines = top.decode().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    return Asked(method, path, headers, json.loads(body) if body else {}, number)


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Start a scripted server; keywords are the fields of Server."""
    servers: list[Server] = []

    def start(**fields: Any) -> Server:
        servers.append(Server(**fields))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


class Bench:
    """Runs the load generator in this process over a real channel, and keeps what it told."""

    def __init__(self, loop_name: str) -> None:
        self._loop_name = loop_name
        self.progress: list[BenchProgress] = []
        self.batches: list[BenchRecords] = []
        self.others: list[AnyEvent] = []

    def __call__(
        self, url: str, *, cancel: bool = False, cancel_when: Callable[[], bool] | None = None, **fields: Any
    ) -> BenchResult:
        """Run one benchmark; ``cancel`` it before it begins, or once ``cancel_when`` holds."""
        more = {name: fields.pop(name) for name in ("api_key", "counters", "prompts") if name in fields}
        spec = make_spec(url, **fields)
        request = BenchRequest(run="r", spec=spec, measured_on="this_machine", **more)
        (request_out, request_in), (message_out, message_in) = os.pipe(), os.pipe()
        channel = Channel(request_out, message_in)
        if cancel:
            _cancel(request_in)
        if cancel_when is not None:
            threading.Thread(target=_cancel, args=(request_in, cancel_when), daemon=True).start()
        # It looks for garbage before it measures: not among what this process holds for all its tests.
        gc.freeze()
        try:
            load_run.run(channel, msgspec.json.decode(msgspec.json.encode(request)))
            return self._take(message_out)
        finally:
            for descriptor in (request_out, request_in, message_out, message_in):
                os.close(descriptor)

    @property
    def records(self) -> list[BenchRecord]:
        """All records of the run."""
        return [record for batch in self.batches for record in batch.records]

    def _take(self, descriptor: int) -> BenchResult:
        data = b""
        while select.select([descriptor], [], [], 0)[0]:
            data += os.read(descriptor, 1 << 20)
        told = [events.decode(line) for line in data.splitlines()]
        self.progress = [one for one in told if isinstance(one, BenchProgress)]
        results = [one for one in told if isinstance(one, BenchResult)]
        self.batches = [one for one in told if isinstance(one, BenchRecords)]
        known = BenchProgress | BenchResult | BenchRecords
        self.others = [one for one in told if not isinstance(one, known)]
        assert len(results) == 1
        assert results[0].event_loop == self._loop_name
        return results[0]


def _cancel(descriptor: int, when: Callable[[], bool] = lambda: True) -> None:
    while not when():
        time.sleep(0.002)
    os.write(descriptor, msgspec.json.encode(BenchCancelRequest(run="r")) + b"\n")


def make_spec(url: str, **fields: Any) -> BenchSpec:
    """Return a small workload."""
    small: dict[str, Any] = {
        "model": None,
        "concurrency": 1,
        "requests": 2,
        "input_tokens": 8,
        "output_tokens": OUTPUT_TOKENS,
        "timeout_s": 10.0,
        "warmup_s": 0.0,
    }
    return BenchSpec(url=url, **{**small, **fields})


def once(first: Reply, then: Reply = whole) -> Reply:
    """Reply to the first request with one script, to all others with another."""
    replies = [first]
    return lambda asked: (replies.pop() if replies else then)(asked)


def refusing(status: str, when: Callable[[Asked], bool] = lambda _: True) -> Reply:
    """Refuse, in a server's usual words, the requests that ``when`` picks."""
    body = json.dumps({"error": {"message": "loading model"}}).encode()
    return lambda asked: [sized(body, status)] if when(asked) else whole(asked)


class Say:
    """The pieces of which scripts are made."""

    head = staticmethod(head)
    sized = staticmethod(sized)
    chunk = staticmethod(chunk)
    delta = staticmethod(delta)
    finish = staticmethod(finish)
    usage = staticmethod(usage)
    event = staticmethod(event)
    whole = staticmethod(whole)
    once = staticmethod(once)
    refusing = staticmethod(refusing)
    spec = staticmethod(make_spec)
    tokens = OUTPUT_TOKENS


@pytest.fixture
def say() -> type[Say]:
    """Return the pieces of which scripts are made."""
    return Say


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run what depends on the event loop with both of them, where uvloop is installed; the rest with one."""
    if "loop_name" in metafunc.fixturenames:
        both = metafunc.definition.path.stem in BOTH_LOOPS and find_spec("uvloop")
        metafunc.parametrize("loop_name", ["asyncio", "uvloop"] if both else ["asyncio"])


@pytest.fixture
def bench(loop_name: str, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """Run a benchmark: ``bench(url, concurrency=4, ...)`` returns its result."""
    if loop_name == "asyncio":
        monkeypatch.setitem(cast("dict[str, Any]", sys.modules), "uvloop", None)
    return Bench(loop_name)
