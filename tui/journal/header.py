"""The first line of a recording: what made it, what was asked for, and which event version follows."""

import re
from typing import Literal

import msgspec

from tui.agent.mask import HIDDEN, mask_text
from tui.event_base import Part

_USER = re.compile(r"(?<=//)[^/]*(?=@)")
_QUERY = re.compile(r"(?<=[?#]).+", re.DOTALL)


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
    bench_on_ready: bool = False


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """``events`` is the event version (tui.events.VERSION), ``host`` what the person called the host."""

    tminus: str
    events: int
    host: str
    began_wall_s: float
    asked: Asked = Asked()


def masked(header: Header) -> Header:
    """Return a header with the secrets in it hidden; scheme, host, port and path of a URL stay."""
    asked = header.asked
    shown = msgspec.structs.replace(
        asked,
        url=None if asked.url is None else _masked_url(asked.url),
        log_path=None if asked.log_path is None else mask_text(asked.log_path),
        model=None if asked.model is None else mask_text(asked.model),
    )
    return msgspec.structs.replace(header, host=_masked_url(header.host), asked=shown)


def _masked_url(url: str) -> str:
    """Hide who asks, and everything that a normalised URL does not have: it decides nothing."""
    with_password = _USER.sub(
        lambda user: HIDDEN if ":" in user[0] or url.startswith("http") else user[0], url
    )
    return mask_text(_QUERY.sub(HIDDEN, with_password))
