"""Which access lines of the server's log are our own probes'.

An access line names no user agent, so lines are matched with probes by count: each probe pays for one line
of its path. A person's own ``curl`` of the same path stays visible, for nobody paid for it. A line may come
before its probe's answer does, so while a path is being probed one line may be owed.
"""

from collections import deque
from dataclasses import dataclass, field

from tui.engines.base import Engine
from tui.events import Probe
from tui.requests import ProbePlan

PAID_FOR_S = 60.0
"""How long a probe pays; a server without access lines must not save up."""
PACE_S = 6.0
"""A path asked within this time is being probed now: a ready server is asked every 5 s, others faster."""
FIRST_S = 30.0
"""A rung never asked before may be about to be, while another was asked within this time."""
ANSWERED = ("ok", "status", "wrong_model", "key_needed", "empty", "timeout", "reset")
_ECHO = "echo"
# One of these stands in every line that is of a near client.
_NEAR = ("127.", "::1", "localhost", ".1:", ".1 ", ".1]")


@dataclass(slots=True)
class _Account:
    paid: deque[float] = field(default_factory=deque[float])
    asked_s: float | None = None
    owed_s: float | None = None


class OwnLines:
    """The book of probes and lines for one server."""

    def __init__(self, engine: Engine | None, plan: ProbePlan | None) -> None:
        self.engine = engine
        self.paths: dict[tuple[str, str], str] = {}
        self._accounts: dict[str, _Account] = {}
        self._asked_s: float | None = None
        if plan is not None:
            prefix = _path_prefix(plan.url)
            self.paths = {
                ("GET", prefix + plan.health_path): "health",
                ("GET", prefix + plan.models_path): "models",
                ("POST", prefix + plan.token_path): "token",
                # What a model without a chat template is asked instead.
                ("POST", prefix + "/v1/completions"): "token",
            }

    def probed(self, probe: Probe) -> None:
        """Note a probe: it pays for one line when the server may have written one."""
        if probe.outcome not in ANSWERED or probe.rung == "port":
            return
        self._asked_s = probe.mono_s
        self._pay(probe.rung, probe.mono_s)
        if probe.rung == "token" or (probe.rung == "health" and probe.status != 503):
            self._pay(_ECHO, probe.mono_s)

    def _pay(self, name: str, at_s: float) -> None:
        account = self._accounts.setdefault(name, _Account())
        account.asked_s = at_s
        if account.owed_s is not None:
            account.owed_s = None
        else:
            account.paid.append(at_s)

    def ours(self, line: str, at_s: float) -> bool:
        """Return whether a line is a probe's, and cross it off."""
        name = self._name(line)
        if name is None:
            return False
        account = self._accounts.setdefault(name, _Account())
        while account.paid and account.paid[0] < at_s - PAID_FOR_S:
            account.paid.popleft()
        if account.paid:
            account.paid.popleft()
            return True
        if account.owed_s is not None and account.owed_s > at_s - FIRST_S:
            return False
        if not self._expected(account, at_s):
            return False
        account.owed_s = at_s
        return True

    def _name(self, line: str) -> str | None:
        if self.engine is None or not self.paths:
            return None
        if self.engine.access_hint in line:
            found = self.engine.access.search(line) if any(map(line.__contains__, _NEAR)) else None
            if found is not None:
                client = found["client"].strip("[]")
                if line.startswith("?", found.end("path")):
                    return None  # a probe asks without a query
                near = client in ("::1", "localhost") or client.startswith("127.") or client.endswith(".1")
                return self.paths.get((found["method"], found["path"])) if near else None
        echo = self.engine.echo
        return _ECHO if echo is not None and echo.search(line) else None

    def _expected(self, account: _Account, at_s: float) -> bool:
        if account.asked_s is not None:
            return account.asked_s > at_s - PACE_S
        return self._asked_s is not None and self._asked_s > at_s - FIRST_S


def _path_prefix(url: str) -> str:
    after_scheme = url.partition("://")[2]
    slash = after_scheme.find("/")
    return after_scheme[slash:].rstrip("/") if slash >= 0 else ""
