"""A server that is ready, in a thread of the test: health, one model, one token."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class OpenAi(BaseHTTPRequestHandler):
    """A server that is ready: health, one model, one token; with a key where one is set."""

    key = ""

    def do_GET(self) -> None:
        self._answer({"data": [{"id": "org/model"}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        choice = {"message": {"content": "Hello"}}
        self._answer({"model": asked["model"], "choices": [choice], "usage": {"completion_tokens": 1}})

    def _answer(self, body: dict[str, object]) -> None:
        allowed = not self.key or self.headers.get("Authorization") == f"Bearer {self.key}"
        data = json.dumps(body).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""


@pytest.fixture
def ready_port() -> Iterator[int]:
    """Return the port of such a server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), OpenAi) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()
