"""A stand-in for NCCL RAS: speaks its protocol on a loopback port and answers what it is told to."""

import socket
import socketserver
import threading
from collections.abc import Generator
from contextlib import contextmanager

HEAD = """NCCL version 2.28.9 compiled with CUDA 13.0
CUDA runtime version 13000, driver version 13000

Job summary
===========

  Nodes  Processes         GPUs  Processes     GPUs
(total)   per node  per process    (total)  (total)
      1          4            1          4        4

Communicators... (0.000s)
=============

Group     Comms     Nodes     Ranks     Ranks     Ranks    Status  Errors
    #  in group  per comm  per node  per comm  in group
"""
HEALTHY = (
    HEAD + "    0         1         1         4         4         4   RUNNING      OK\n\nErrors\n======\n\n"
)


def mismatch(pid: int, count: int = 60) -> str:
    """Return an answer in which one of four ranks is behind."""
    return (
        HEAD + "    0         1         1         4         4         4   RUNNING  MISMATCH\n"
        "\nErrors\n======\n\nWarnings\n========\n\n#0-0 (78db921d1c117b4a) MISMATCH\n"
        "  Communicator ranks have different AllReduce operation counts\n"
        "  3 ranks have launched up to operation 64\n"
        f"  Rank 3 has launched up to operation {count} -- GPU 3 managed by process {pid} on node node1\n"
    )


def incomplete(pid: int) -> str:
    """Return an answer in which one of four ranks does not answer the others."""
    return (
        HEAD + "    0         1         1         3         4         3   RUNNING  INCOMPLETE\n"
        "\nErrors\n======\n\nINCOMPLETE\n  Missing communicator data from 1 job process\n"
        f"  Process {pid} on node 127.0.0.1 managing GPU 1\n"
        "\n#0-0 (44b1cfedd3e0d4b4) INCOMPLETE\n  Missing communicator data from 1 rank\n"
        f"  Rank 1 -- GPU 1 managed by process {pid} on node 127.0.0.1\n\nWarnings\n========\n\n"
    )


class RasServer:
    """Answers ``answers`` in turn, the last one again and again; the first ``silent`` connections nothing."""

    def __init__(self, answers: list[str], silent: int, greeting: str) -> None:
        self.answers = answers
        self.silent = silent
        self.greeting = greeting
        self.connections = 0
        self.commands: list[str] = []
        self.over = threading.Event()
        self.port = 0

    def handle(self, connection: socket.socket) -> None:
        """Speak with one client."""
        self.connections += 1
        if self.connections <= self.silent:
            self.over.wait(10)
            return
        with connection.makefile("rwb") as lines:
            for line in lines:
                command = line.decode().strip().lower()
                self.commands.append(command)
                if command.startswith("client protocol"):
                    lines.write(self.greeting.encode())
                elif command.startswith("timeout"):
                    lines.write(b"OK\n")
                else:
                    text = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                    lines.write(text.encode())
                    return
                lines.flush()

    @property
    def questions(self) -> int:
        """How often a status was asked for."""
        return sum("status" in command for command in self.commands)


@contextmanager
def ras_server(*answers: str, silent: int = 0, greeting: str = "SERVER PROTOCOL 2\n") -> Generator[RasServer]:
    """Serve on a free port of 127.0.0.1."""
    ras = RasServer(list(answers), silent, greeting)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            ras.handle(self.request)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        ras.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield ras
        finally:
            ras.over.set()
            server.shutdown()
            thread.join()
