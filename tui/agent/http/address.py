"""Where an endpoint is: its URL taken apart and resolved. No proxy is ever asked."""

from __future__ import annotations

import re
import socket

_URL = re.compile(
    r"(https?)://(?:[^/@]*@)?(?:\[([^\]]+)\]|([^:/?#\[\]]*))(?::(\d{1,5}))?(/[^?#]*)?$", re.IGNORECASE
)
_ANY = {"0.0.0.0": "127.0.0.1", "*": "127.0.0.1", "": "127.0.0.1", "::": "::1"}


class Address:
    """One endpoint. ``prefix`` is the path before every path asked, without a final slash or /v1."""

    def __init__(self, scheme: str, host: str, port: int, prefix: str) -> None:
        self.tls = scheme == "https"
        self.host = host
        self.port = port
        self.prefix = prefix
        self._places: list[tuple[int, str]] = []

    @property
    def authority(self) -> str:
        """What the Host header says."""
        host = "[%s]" % self.host if ":" in self.host else self.host
        return "%s:%d" % (host, self.port)

    @property
    def url(self) -> str:
        """The URL without the credentials that may have stood in it."""
        return "%s://%s%s" % ("https" if self.tls else "http", self.authority, self.prefix)

    def resolved(self) -> list[tuple[int, str]]:
        """Return (family, address) pairs to try in order, found anew only after ``forget``.

        May block the first time; raises OSError.
        """
        if not self._places:
            # Of text Python would make IDNA, whose tables take 0.7 MB.
            host = self.host.encode("ascii") if self.host.isascii() else self.host
            found = socket.getaddrinfo(host, self.port, type=socket.SOCK_STREAM)
            pairs = [(int(family), str(where[0])) for family, _, _, _, where in found]
            self._places = list(dict.fromkeys(pairs))
        return self._places

    def forget(self) -> None:
        """Ask for the addresses anew the next time."""
        self._places = []


def parse(url: str) -> Address | None:
    """Take a URL apart; a host that means "all addresses" becomes this machine. None for no such URL."""
    match = _URL.match(url)
    if match is None:
        return None
    scheme, bracketed, plain, port, path = match.groups()
    scheme = scheme.lower()
    host = bracketed or plain or ""
    number = int(port) if port else (443 if scheme == "https" else 80)
    prefix = (path or "").rstrip("/")
    prefix = prefix[:-3] if prefix.endswith("/v1") else prefix
    return Address(scheme, _ANY.get(host, host), number, prefix) if 0 < number < 65536 else None
