"""A scripted HTTP server on loopback, and a ladder climbed against it round by round."""

import datetime
import ipaddress
import json
import select
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from msgspec import to_builtins
from msgspec.structs import replace

from tui import events
from tui.agent.probe.ladder import Prober
from tui.agent.probe.plan import Plan
from tui.requests import ProbePlan

READY = [("port", "ok"), ("health", "ok"), ("models", "ok"), ("token", "ok")]
Step = bytes | float | Literal["close", "reset", "hang"]
KEY = "sk-a-key-that-must-not-be-shown"


@dataclass
class Asked:
    """A request as the server saw it, and when (monotonic seconds)."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at_s: float
    connection: int


Answer = Callable[[Asked], Sequence[Step]]


def http(body: bytes = b"", status: str = "200 OK", *fields: str) -> bytes:
    """Return a whole response."""
    return (
        "\r\n".join([f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields, "", ""]).encode() + body
    )


def as_json(value: object, status: str = "200 OK") -> bytes:
    """Return a whole response with a JSON body."""
    return http(json.dumps(value).encode(), status, "Content-Type: application/json", "Server: llama.cpp")


@dataclass
class Engine:
    """How an engine answers; change the fields to move it along."""

    health: Sequence[Step] = (http(),)
    models: Sequence[Step] = (as_json({"object": "list", "data": [{"id": "tiny", "object": "model"}]}),)
    token: Sequence[Step] = (
        as_json(
            {
                "model": "tiny",
                "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 1},
            }
        ),
    )
    prefix: str = ""
    key: str | None = None
    others: dict[str, Sequence[Step]] = field(default_factory=dict[str, Sequence[Step]])

    def __call__(self, asked: Asked) -> Sequence[Step]:
        """Answer one request."""
        path = asked.path.removeprefix(self.prefix)
        if (
            self.key is not None
            and path != "/health"
            and asked.headers.get("authorization") != f"Bearer {self.key}"
        ):
            said = {"error": {"message": f"Incorrect key: {asked.headers.get('authorization')}"}}
            return (as_json(said, "401 Unauthorized"),)
        known = {"/health": self.health, "/v1/models": self.models, "/v1/chat/completions": self.token}
        known |= self.others
        return (
            known.get(path, (http(b"no", "404 Not Found"),))
            if asked.path.startswith(self.prefix)
            else ("close",)
        )


class ProbedServer:
    """Serves ``answer`` until stopped; may be started again on its port."""

    def __init__(self, answer: Answer, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        self.answer = answer
        self.requests: list[Asked] = []
        self.connections = 0
        self.greeting = b""
        self._tls = tls
        self._family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.host, self.port = host, 0
        self._listener = self._reserved()
        self.port = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []

    @property
    def paths(self) -> list[str]:
        """The paths asked so far, in order."""
        return [asked.path for asked in self.requests]

    def start(self) -> None:
        """Listen."""
        self._listener.listen(16)
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def stop(self) -> None:
        """Refuse from now on; open connections are cut, as at a server's death."""
        self.close()
        self._listener = self._reserved()

    def close(self) -> None:
        """Let go of the port."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _reserved(self) -> socket.socket:
        """Hold the port without listening, so that it refuses and nobody else gets it."""
        listener = socket.socket(self._family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.host, self.port))
        return listener

    def cut(self) -> None:
        """End all open connections."""
        while self._open:
            with suppress(OSError):
                self._open.pop().shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection, self.connections), daemon=True).start()

    def _serve(self, plain: socket.socket, number: int) -> None:
        with (
            plain,
            suppress(OSError),
            self._tls.wrap_socket(plain, server_side=True) if self._tls else plain as connection,
        ):
            self._converse(connection, number)

    def _converse(self, connection: socket.socket, number: int) -> None:
        self._open.append(connection)
        connection.sendall(self.greeting)
        while (asked := _read_request(connection, number)) is not None:
            self.requests.append(asked)
            if not _play(connection, self.answer(asked)):
                return


def _read_request(connection: socket.socket, number: int) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    method, path, _ = first.split(" ")
    return Asked(method, path, headers, json.loads(body or b"{}"), time.monotonic(), number)


def _play(connection: socket.socket, steps: Sequence[Step]) -> bool:
    for step in steps:
        if isinstance(step, bytes):
            connection.sendall(step)
        elif step == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        elif step == "close":
            return False
        elif step == "hang":
            connection.recv(1)
            return False
        else:
            time.sleep(step)
    return True


def wait(descriptor: int, events_wanted: int, deadline_s: float) -> None:
    """Wait as the worker does, without a channel."""
    poll = select.poll()
    poll.register(descriptor, events_wanted)
    if not poll.poll(max(0.0, deadline_s - time.monotonic()) * 1000):
        raise TimeoutError


class Climbing:
    """One ladder, climbed a round at a time; ``probes`` is what was told, decoded strictly."""

    def __init__(self, url: str, pid: int | None = None, **fields: Any) -> None:
        plan = replace(ProbePlan(url=url), **fields)
        self.messages: list[dict[str, Any]] = []
        self.prober = Prober(Plan(to_builtins(plan), pid), self.messages.append, wait)

    def round(self) -> float:
        """Do one round; return the pause after it."""
        return self.prober.round()

    @property
    def probes(self) -> list[events.Probe]:
        """All probes told."""
        told = [events.convert(message) for message in self.messages]
        return [probe for probe in told if isinstance(probe, events.Probe)]

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        """Rungs and outcomes told, in order."""
        return [(probe.rung, probe.outcome) for probe in self.probes]

    def last(self, rung: str) -> events.Probe:
        """The last answer of a rung."""
        return [probe for probe in self.probes if probe.rung == rung][-1]


Serve = Callable[..., ProbedServer]
Climb = Callable[..., Climbing]


def url(server: ProbedServer, path: str = "", scheme: str = "http") -> str:
    """Return a server's URL."""
    host = f"[{server.host}]" if ":" in server.host else server.host
    return f"{scheme}://{host}:{server.port}{path}"


def certificate(folder: Path, name: str = "127.0.0.1") -> tuple[Path, ssl.SSLContext]:
    """Make a self-signed certificate for an address; return its file and a server's context."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "probed")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(name))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "server.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return file, context
