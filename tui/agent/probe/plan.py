"""What to ask a server: the ProbePlan of tui/requests.py, made into requests."""

from __future__ import annotations

import json

from tui.agent.http import address as http_address
from tui.agent.processes.keys import key_of

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    import ssl
    from typing import Any

# Rungs by number, lowest first; READY is above the last one to be asked.
HEALTH, MODELS, TOKEN, READY = range(4)
_READY_ON = {"health": HEALTH, "model": MODELS, "token": TOKEN}
_CHAT, _PLAIN = "/chat/completions", "/completions"


class Plan:
    """One server to ask. ``last`` is the rung that makes it ready."""

    def __init__(self, fields: dict[str, Any], pid: int | None) -> None:
        self.address = http_address.parse(fields["url"])
        self.url: str = self.address.url if self.address is not None else fields["url"]
        self.health_path: str = fields["health_path"]
        self.models_path: str = fields["models_path"]
        self.token_path: str = fields["token_path"]
        self.expected_model: str | None = fields["expected_model"]
        self.last = _READY_ON[fields["ready_on"]]
        self.health_costs_a_token: bool = fields["health_costs_a_token"]
        self.health_timeout_s: float = fields["health_timeout_s"]
        self.token_timeout_s: float = fields["token_timeout_s"]
        self._insecure: bool = fields["insecure"]
        self._ca_file: str | None = fields["ca_file"]
        self._key: str | None = fields["api_key"]
        self._key_pid = pid if fields["key_from_argv"] and not self._key else None
        self._context: ssl.SSLContext | None = None

    @property
    def key(self) -> str | None:
        """The API key, read from the server's own arguments when first needed. May block."""
        if self._key_pid is not None:
            self._key, self._key_pid = key_of(self._key_pid), None
        # Anything else cannot stand in a header, or would begin another one.
        return self._key if self._key and self._key.isascii() and self._key.isprintable() else None

    @property
    def tls(self) -> ssl.SSLContext:
        """How to trust the server. Raises OSError when the CA file cannot be read on this host."""
        if self._context is None:
            import ssl

            self._context = ssl.create_default_context(cafile=self._ca_file)
            if self._insecure:
                self._context.check_hostname = False
                self._context.verify_mode = ssl.CERT_NONE
        return self._context

    @property
    def ca_file(self) -> str:
        """The CA file in words."""
        return self._ca_file or "of this host"

    def request(self, path: str, key: str | None, body: bytes | None = None) -> bytes:
        """Return a GET, or a POST of JSON, for a path under the prefix."""
        assert self.address is not None
        lines = [
            "%s %s%s HTTP/1.1" % ("GET" if body is None else "POST", self.address.prefix, path),
            "Host: " + self.address.authority,
            "User-Agent: tminus",
            "Accept: */*",
            "Accept-Encoding: identity",
        ]
        if key:
            lines.append("Authorization: Bearer " + key)
        if body is not None:
            lines += ["Content-Type: application/json", "Content-Length: %d" % len(body)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8") + (body or b"")


def one_token(path: str, model: str | None) -> bytes:
    """Return the body of a completion of one token, for a chat or a plain endpoint."""
    fields: dict[str, object] = {} if model is None else {"model": model}
    if path.endswith(_CHAT):
        fields["messages"] = [{"role": "user", "content": "Hi"}]
    else:
        fields["prompt"] = "Hi"
    fields.update(max_tokens=1, temperature=0, stream=False)
    return json.dumps(fields).encode("ascii")


def plain_path(path: str) -> str | None:
    """Return the endpoint for models without a chat template beside a chat endpoint, None for any other."""
    return path[: -len(_CHAT)] + _PLAIN if path.endswith(_CHAT) else None
