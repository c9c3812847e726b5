"""The agent's output: a bounded queue in front of a descriptor that never blocks.

Two classes of message: durable ones are kept (whoever makes them is not read while there is no ``room``);
of the droppable ones the oldest go when they pile up, and their number is told as soon as the link moves.
"""

from __future__ import annotations

import os
from collections import deque

from tui.agent import wire
from tui.agent.channel import encode

DROPPABLE = frozenset((wire.GPUS, wire.GPU_DETAILS, wire.SIGNALS, wire.HOST_SIGNALS, wire.LOCKS))
# About 25 samples of 8 GPUs and 12 processes: what a link that stood still for so long is still told of.
SAMPLE_BYTES = 160 * 1024
_WRITE_BYTES = 64 * 1024


class Output:
    """Lines waiting for the link, in order."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.dropped = 0
        self.log_bytes = 0
        self.acked_bytes = 0
        self._lines: deque[tuple[bytes, bool]] = deque()
        self._durable_bytes = 0
        self._sample_bytes = 0
        self._begun = b""

    @property
    def pending(self) -> bool:
        """Whether anything waits."""
        return bool(self._lines or self._begun)

    @property
    def room(self) -> bool:
        """Whether more durable messages may be taken in."""
        return self._durable_bytes < wire.QUEUE_BYTES

    @property
    def log_room(self) -> bool:
        """Whether more of the log may be taken in: not while much of it has yet to arrive at the client."""
        return self.room and self.log_bytes - self.acked_bytes < wire.LOG_WINDOW_BYTES

    def put(self, line: bytes, *, droppable: bool = False) -> None:
        """Queue one encoded message."""
        self._lines.append((line, droppable))
        if not droppable:
            self._durable_bytes += len(line)
            return
        self._sample_bytes += len(line)
        while self._sample_bytes > SAMPLE_BYTES:
            self._drop_oldest()

    def say(self, kind: str, **fields: object) -> None:
        """Queue a durable message of the agent itself."""
        self.put(encode(wire.stamped(kind, **fields)))

    def write(self) -> None:
        """Write what the link takes. Raises BrokenPipeError (or another OSError) when it is gone."""
        while self.pending:
            if not self._begun:
                self._begun = self._gather()
            try:
                self._begun = self._begun[os.write(self.descriptor, self._begun) :]
            except BlockingIOError:
                return
        if self.dropped:
            self.say(wire.DROPPED, samples=self.dropped)
            self.dropped = 0
            self.write()

    def _gather(self) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while self._lines and size < _WRITE_BYTES:
            line, droppable = self._lines.popleft()
            self._count(len(line), droppable=droppable)
            pieces.append(line)
            size += len(line)
        return b"".join(pieces)

    def _drop_oldest(self) -> None:
        for place, (line, droppable) in enumerate(self._lines):
            if droppable:
                del self._lines[place]
                self._count(len(line), droppable=True)
                self.dropped += 1
                return

    def _count(self, size: int, *, droppable: bool) -> None:
        if droppable:
            self._sample_bytes -= size
        else:
            self._durable_bytes -= size
