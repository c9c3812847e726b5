"""A log reader on a clock of its own, for tests: what it read, from where, and what it said was lost."""

import base64
import time
from pathlib import Path
from typing import Any

from tui import events
from tui.agent import wire
from tui.agent.tail.worker import Tail

Message = dict[str, Any]


class Reading:
    """One ``Tail`` over one path. ``look`` lets it do all that is due, ``skip_s`` seconds later."""

    def __init__(self, path: Path | str, **request: object) -> None:
        self.path = str(path)
        self.messages: list[Message] = []
        self._skipped_s = 0.0
        self.tail = Tail(self.messages.append, clock=lambda: time.monotonic() + self._skipped_s)
        self.follow(**request)

    def follow(self, **request: object) -> None:
        """Ask again, with fields of a follow request."""
        self.tail.follow({"pid": None, "started_s": None, "log_path": self.path, **request})

    def look(self, skip_s: float = 1.1) -> bytes:
        """Step until nothing is due; return the bytes that came."""
        self._skipped_s += skip_s
        known = len(self.messages)
        for _ in range(100_000):
            if self.tail.step() != 0.0:
                return read_by(self.messages[known:])
        raise AssertionError("the reader never comes to rest")

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self._skipped_s += seconds

    def step(self) -> float | None:
        """Do one step and return the wait until the next."""
        return self.tail.step()

    @property
    def text(self) -> bytes:
        """All bytes read."""
        return read_by(self.messages)

    @property
    def gaps(self) -> list[events.Gap]:
        """All gaps told."""
        told = [events.convert(message) for message in self.messages if message["kind"] == wire.GAP]
        return [gap for gap in told if isinstance(gap, events.Gap)]

    @property
    def sources(self) -> list[events.LogSource]:
        """All that was said of where the log comes from."""
        told = [events.convert(message) for message in self.messages if message["kind"] == wire.LOG_SOURCE]
        return [source for source in told if isinstance(source, events.LogSource)]

    @property
    def last(self) -> Message:
        """The newest message with log bytes."""
        return [message for message in self.messages if message["kind"] == wire.LOG_BYTES][-1]

    @property
    def position(self) -> Message:
        """What a client would ask to resume from."""
        return position_of(self.last)

    def resumed(self, **request: object) -> "Reading":
        """Return another reader that goes on from here, as after a lost link."""
        return Reading(self.path, resume=self.position, **request)


def position_of(message: Message) -> Message:
    """Return what a client would ask to resume from that had heard this message last."""
    names = ("path", "device", "inode", "offset", "fingerprint_bytes", "fingerprint_crc")
    return {name: message[name] for name in names}


def read_by(messages: list[Message]) -> bytes:
    """Return the bytes that these messages carry."""
    return b"".join(base64.b64decode(one["data"]) for one in messages if one["kind"] == wire.LOG_BYTES)
