"""The channel between the agent and one worker, as the worker sees it.

Both directions carry one JSON object a line over pipes. A shared page holds the moment by which the worker
promised to show life again, so that the agent sees a read that hangs without asking.
"""

from __future__ import annotations

import json
import math
import os
import select
import struct
import time

TYPE_CHECKING = False  # what the typing module would say, without the 5 ms and 0.5 MB of importing it
if TYPE_CHECKING:
    import mmap
    from typing import NoReturn

READ_BYTES = 64 * 1024
PULSE = struct.Struct("=d")


def encode(message: dict[str, object]) -> bytes:
    """Return a message as one ASCII line of JSON, its kind first."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


def kind_of(line: bytes) -> str:
    """Return the kind of an encoded message without decoding it ("" when it has none)."""
    if not line.startswith(b'{"kind":"'):
        return ""
    return line[9 : line.index(b'"', 9)].decode("ascii")


class Channel:
    """A worker's side: requests in, messages out. The process ends by itself when the agent is gone."""

    def __init__(self, incoming: int, outgoing: int, pulse: mmap.mmap | None = None) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._pulse = pulse
        self._pieces: list[bytes] = []
        self._lines: list[bytes] = []

    def fileno(self) -> int:
        """Return what is readable when requests wait; then call receive(0) until it gives None."""
        return self._incoming

    def rest(self, seconds: float | None) -> None:
        """Promise to show life again after that long at the latest (None: not before the next request).

        ``send`` and ``receive`` do it by themselves; call it before a wait of your own (a request with a
        time-out, an event loop) that may exceed ``wire.BLOCKING_DEADLINE_S``, and rest(0) after it.
        """
        if self._pulse is not None:
            due_s = math.inf if seconds is None else time.monotonic() + seconds
            PULSE.pack_into(self._pulse, 0, due_s)

    def send(self, message: dict[str, object]) -> None:
        """Send one message; blocks while the agent is behind."""
        self.rest(None)
        view = memoryview(encode(message))
        while view:
            try:
                view = view[os.write(self._outgoing, view) :]
            except (BrokenPipeError, ConnectionResetError):
                leave(0)
        self.rest(0)

    def ready(self) -> bool:
        """Return whether a short message (4 KB) could be sent without waiting for the agent."""
        return bool(select.select([], [self._outgoing], [], 0)[1])

    def receive(self, timeout_s: float | None) -> dict[str, object] | None:
        """Return the next request, or None when ``timeout_s`` seconds went by without one (None: wait)."""
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        while not self._lines:
            left_s = None if end_s is None else max(0.0, end_s - time.monotonic())
            self.rest(left_s)
            ready = select.select([self._incoming], [], [], left_s)[0]
            self.rest(0)
            if not ready:
                return None
            self._take(os.read(self._incoming, READ_BYTES))
        request: dict[str, object] = json.loads(self._lines.pop(0))
        return request

    def _take(self, data: bytes) -> None:
        if not data:
            leave(0)
        head, *rest = data.split(b"\n")
        self._pieces.append(head)
        for piece in rest:
            self._lines.append(b"".join(self._pieces))
            self._pieces = [piece]


def leave(status: int) -> NoReturn:
    """End this process at once, without unwinding into the frames of the agent that it was forked from."""
    os._exit(status)
