"""From the agent's lines to events: cleaned, decoded strictly, stamped with this machine's clock."""

import time
from typing import cast, get_args

import msgspec

from tui import events
from tui.agent import wire
from tui.agent.mask import mask_text
from tui.events import AnyEvent
from tui.requests import LogPosition
from tui.transport.clean import LineSplitter, clean
from tui.transport.faults import fault, sentence_of

# What a session at most needs: the processes of a large tree with their arguments and environments.
_LINE_BYTES = 16 * 1024 * 1024
_SHOWN = 200


class LogBytes(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="kind",
    tag=wire.LOG_BYTES,
    forbid_unknown_fields=True,
):
    """The one message that is no event: log bytes as they are in the file, and where they end there."""

    mono_s: float
    wall_s: float
    path: str
    device: int
    inode: int
    offset: int
    fingerprint_bytes: int
    fingerprint_crc: int
    behind_bytes: int
    data: bytes
    fresh: bool


class Lines:
    """Splits chunks into lines; a line without end is an error, not growing memory."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that this chunk finishes. Raises LinkFault for one of more than 16 MiB."""
        head, *rest = data.split(b"\n")
        self._pieces.append(head)
        self._size += len(head)
        if self._size > _LINE_BYTES:
            raise fault("long_line", limit=_LINE_BYTES)
        finished: list[bytes] = []
        for piece in rest:
            finished.append(b"".join(self._pieces))
            self._pieces = [piece]
            self._size = len(piece)
        return finished


class HostClock:
    """The host's clocks as seen from here, for what the client itself has to say between their messages.

    Before the first message they are taken to be this machine's own.
    """

    def __init__(self) -> None:
        self._mono_s = 0.0
        self._wall_s = 0.0
        self._known = False

    def take(self, event: AnyEvent) -> None:
        """Learn from a message; the one that took the shortest way tells best."""
        mono_s, wall_s = event.mono_s - event.client_s, event.wall_s - event.client_s
        if not self._known or isinstance(event, events.Hello) or mono_s > self._mono_s:
            self._known, self._mono_s, self._wall_s = True, mono_s, wall_s

    def now(self) -> tuple[float, float, float]:
        """Return (mono_s, wall_s, client_s) of this moment."""
        client_s = time.monotonic()
        if not self._known:
            return client_s, time.time(), client_s
        return self._mono_s + client_s, self._wall_s + client_s, client_s


class Translator:
    """Turns the agent's lines into events. Keeps the unfinished log line and the position after it.

    ``position`` is where the log was read to, None before its first bytes.
    """

    def __init__(self) -> None:
        self.position: LogPosition | None = None
        self._splitter = LineSplitter()
        self._unknown: set[str] = set()

    def translate(self, line: bytes, client_s: float) -> AnyEvent | None:
        """Return the event of one line, None for one of a newer agent that is already told of.

        Raises LinkFault for what is no valid message: it comes from our own agent, so it is an error.
        """
        try:
            message = msgspec.json.decode(line, type=dict[str, object])
            kind = message.get("kind")
            if kind == wire.LOG_BYTES:
                return self._log(msgspec.json.decode(line, type=LogBytes), client_s)
            if isinstance(kind, str) and kind not in _KINDS:
                return self._newer(kind, message, client_s)
            message["client_s"] = client_s
            cleaned = _cleaned(message)
            return events.convert(_masked(cleaned) if kind == wire.EVIDENCE else cleaned)
        except msgspec.MsgspecError as error:
            text = line[:_SHOWN].decode("utf-8", "replace")
            raise fault("bad_message", why=error, text=text) from None

    def _log(self, message: LogBytes, client_s: float) -> AnyEvent:
        split = self._splitter.feed(message.data, message.fresh)
        self.position = LogPosition(
            path=message.path,
            device=message.device,
            inode=message.inode,
            offset=message.offset,
            fingerprint_bytes=message.fingerprint_bytes,
            fingerprint_crc=message.fingerprint_crc,
        )
        return events.Log(
            mono_s=message.mono_s,
            wall_s=message.wall_s,
            client_s=client_s,
            lines=split.lines,
            tail=split.tail,
            returns=split.returns,
            path=clean(message.path),
            device=message.device,
            inode=message.inode,
            offset=message.offset,
            behind_bytes=message.behind_bytes,
        )

    def _newer(self, kind: str, message: dict[str, object], client_s: float) -> AnyEvent | None:
        if kind in self._unknown:
            return None
        self._unknown.add(kind)
        notice = {
            "kind": wire.NOTICE,
            "mono_s": message.get("mono_s"),
            "wall_s": message.get("wall_s"),
            "client_s": client_s,
            "level": "info",
            "about": "agent",
            "sentence": sentence_of("newer_agent", what=kind),
        }
        return events.convert(notice)


_KINDS = frozenset(str(event.__struct_config__.tag) for event in get_args(AnyEvent))


def _masked(value: object) -> object:
    """Return a decoded JSON value with the secrets in its texts hidden: stacks are as hostile as a log."""
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, list):
        return [_masked(each) for each in cast("list[object]", value)]
    if isinstance(value, dict):
        return {name: _masked(each) for name, each in cast("dict[str, object]", value).items()}
    return value


def _cleaned(value: object) -> object:
    """Return a decoded JSON value with every text in it cleaned, names too."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(each) for each in cast("list[object]", value)]
    if isinstance(value, dict):
        return {clean(name): _cleaned(each) for name, each in cast("dict[str, object]", value).items()}
    return value
