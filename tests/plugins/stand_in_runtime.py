"""A stand-in for a container's runtime: reads what a process writes into its pipes, and keeps it with stamps.

Run as ``python3 stand_in_runtime.py FILE PIECE COMMAND...``. FILE gets one JSON object a line: ``ns`` (since
1970), ``stream``, ``log`` (with its newline; a line of more than PIECE bytes in several, of which only the
last has it, as Docker's copier does). PIECE 0 keeps every read as it comes, as conmon does.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path


class Keeper:
    """Writes records of both streams into one file."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)
        self._lock = threading.Lock()

    def keep(self, stream: str, data: bytes) -> None:
        """Write down one line, or a piece of one."""
        record = {"ns": time.time_ns(), "stream": stream, "log": data.decode("utf-8", "surrogateescape")}
        with self._lock:
            self._file.write(json.dumps(record).encode() + b"\n")


def copy(descriptor: int, stream: str, keeper: Keeper, piece: int) -> None:
    """Copy a stream line by line to its end."""
    rest = b""
    while data := os.read(descriptor, 65536):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            while piece and len(line) > piece:
                keeper.keep(stream, line[:piece])
                line = line[piece:]
            keeper.keep(stream, line + b"\n")
        while len(rest) > piece or (rest and not piece):
            keeper.keep(stream, rest[: piece or None])
            rest = rest[piece:] if piece else b""
    if rest:
        keeper.keep(stream, rest)


def main(path: Path, piece: int, command: list[str]) -> int:
    """Run the command as a container's first process; return its exit status."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    signal.signal(signal.SIGTERM, lambda number, frame: process.kill())
    keeper = Keeper(path)
    assert process.stdout is not None
    assert process.stderr is not None
    streams = ((process.stdout.fileno(), "stdout"), (process.stderr.fileno(), "stderr"))
    threads = [threading.Thread(target=copy, args=(*each, keeper, piece)) for each in streams]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return process.wait()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
