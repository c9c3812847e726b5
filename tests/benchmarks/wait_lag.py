"""Measures how late ``tminus wait`` says ready: from the moment a server could answer to the line it prints.

    python tests/benchmarks/wait_lag.py [--rounds 20]

A server on loopback refuses, then opens its port and is ready at once; the truth is the moment at which it
listens. The lag ends when the last line of ``tminus wait --port N --json`` arrives, so that the agent, its
probe with a generated token, the pipe and the client are all in it. Prints one JSON object, in seconds.
"""

import argparse
import json
import random
import socket
import statistics
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path

MODELS = json.dumps({"data": [{"id": "m"}]}).encode()
TOKEN = json.dumps({"choices": [{"message": {"content": "x"}}], "usage": {"completion_tokens": 1}}).encode()


class Ready(BaseHTTPRequestHandler):
    """Answers as a server that is ready."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(MODELS if "models" in self.path else b"")

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(TOKEN)

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def serve(server: HTTPServer) -> None:
    """Answer in the background."""
    threading.Thread(target=server.serve_forever, daemon=True).start()


def lag_s() -> float:
    """Return the lag of one wait; the server opens at a random moment of the probe's pace."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Ready, bind_and_activate=False)
    server.server_bind()
    port = server.server_address[1]
    program = [str(Path(sys.executable).with_name("tminus")), "wait", "--port", str(port), "--json"]
    with subprocess.Popen([*program, "--no-record", "--timeout", "60"], stdout=subprocess.PIPE) as wait:
        assert wait.stdout is not None
        while b'"refused"' not in wait.stdout.readline():
            pass
        time.sleep(1 + random.uniform(0, 0.25))
        server.socket.listen(socket.SOMAXCONN)
        truth_s = time.monotonic()
        serve(server)
        for line in wait.stdout:
            if b'"end"' in line:
                heard_s = time.monotonic()
                break
        else:
            raise SystemExit("the wait ended without its last line")
    server.shutdown()
    server.server_close()
    return heard_s - truth_s


def main() -> None:
    """Run the rounds and print median, 95th percentile and worst."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    lags = sorted(lag_s() for _ in range(rounds))
    p95 = statistics.quantiles(lags, n=20, method="inclusive")[-1]
    figures = {"rounds": rounds, "p50_s": statistics.median(lags), "p95_s": p95, "max_s": lags[-1]}
    sys.stdout.write(json.dumps({name: round(value, 3) for name, value in figures.items()}) + "\n")


if __name__ == "__main__":
    main()
