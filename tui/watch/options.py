"""What a person asked to watch: the choices that the state and the session go by."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """Choices of one watch; None leaves it to what is found on the host.

    ``url`` is normalised: scheme, host, port and any path prefix, no trailing slash and no trailing ``/v1``.
    ``ready_on`` log is for what is only read: a bare log, in which nobody asked the server.
    """

    port: int | None = None
    url: str | None = None
    log_path: str | None = None
    pid: int | None = None
    model: str | None = None
    interval_s: float = 1.0
    ready_on: Literal["token", "model", "health", "log"] = "token"
    api_key: str | None = None
    insecure: bool = False
    ca_file: str | None = None
    bench_on_ready: bool = False
