"""The first line of a recording: what made it, what was asked for, and which event version follows."""

from typing import Literal

import msgspec

from tui.event_base import Part


class Asked(Part, frozen=True, kw_only=True, omit_defaults=True):
    """What a person asked to watch, as far as it decides what the events mean. No key is among it.

    ``ready_on`` log: the log's own word counts, since nobody asked the port (a bare log read later).
    """

    port: int | None = None
    url: str | None = None
    log_path: str | None = None
    pid: int | None = None
    model: str | None = None
    interval_s: float = 1.0
    ready_on: Literal["token", "model", "health", "log"] = "token"


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """``events`` is the event version (tui.events.VERSION), ``host`` what the person called the host."""

    tminus: str
    events: int
    host: str
    began_wall_s: float
    asked: Asked = Asked()
