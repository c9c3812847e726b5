"""One question to a server at a time, each told as a probe; the connection is kept where that is allowed."""

from __future__ import annotations

import time

from tui.agent import wire
from tui.agent.http.connection import Answer, Connection, Fault, connect
from tui.agent.probe.answers import Verdict, shown

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.agent.http.connection import Wait
    from tui.agent.probe.plan import Plan

    Send = Callable[[dict[str, object]], None]
    Judge = Callable[[Answer], Verdict]

CONNECT_TIMEOUT_S = 5.0


class Asked:
    """What came of a question. ``rung`` is "port" when not even a connection came of it."""

    def __init__(
        self,
        rung: str,
        outcome: str,
        latency_ms: float,
        status: int | None = None,
        models: list[str] | None = None,
    ) -> None:
        self.rung = rung
        self.outcome = outcome
        self.latency_ms = latency_ms
        self.status = status
        self.models = models


class _PortFault(Fault):
    """There is no connection, which was told already."""

    latency_ms = 0.0


class Asker:
    """Asks one server; sends every outcome, of connecting too, as a probe message."""

    def __init__(self, plan: Plan, send: Send, wait: Wait) -> None:
        self._plan = plan
        self._send = send
        self._wait = wait
        self._kept: Connection | None = None
        self._began_s = 0.0

    @property
    def kept_descriptor(self) -> int | None:
        """The descriptor of the idle connection, None without one."""
        return self._kept.fileno() if self._kept is not None else None

    def close(self) -> None:
        """Let go of the idle connection."""
        if self._kept is not None:
            self._kept.close()
        self._kept = None

    def knock(self) -> bool:
        """Open and close a connection, and tell how that went."""
        self.close()
        try:
            self._connected(time.monotonic() + CONNECT_TIMEOUT_S).close()
        except Fault:
            return False
        return True

    def ask(
        self,
        rung: str,
        path: str,
        timeout_s: float,
        judge: Judge,
        *,
        key: str | None,
        body: bytes | None = None,
        model: str | None = None,
    ) -> Asked:
        """Ask for a path under the prefix, with one deadline over everything, and tell the answer."""
        deadline_s = time.monotonic() + timeout_s
        status: int | None = None
        server: str | None = None
        try:
            answer = self._exchange(path, key, body, deadline_s)
            verdict, status = judge(answer), answer.status
            server = shown(answer.headers["server"], key) if "server" in answer.headers else None
        except _PortFault as fault:
            return Asked("port", fault.outcome, fault.latency_ms)
        except Fault as fault:
            verdict = Verdict(fault.outcome, fault.detail)
        latency_ms = (time.monotonic() - self._began_s) * 1000
        self._tell(
            rung, verdict, latency_ms, path, status=status, model=verdict.model or model, server=server
        )
        return Asked(rung, verdict.outcome, latency_ms, status, verdict.models)

    def _exchange(self, path: str, key: str | None, body: bytes | None, deadline_s: float) -> Answer:
        request = self._plan.request(path, key, body) if self._plan.address is not None else b""
        while True:
            connection = self._connection(deadline_s)
            used = connection.used
            self._began_s = time.monotonic()
            try:
                answer = connection.exchange(request, deadline_s)
            except Fault as fault:
                # The server had closed the kept connection: that says nothing about this question.
                if used and fault.stale:
                    continue
                raise
            self._kept = connection if connection.open else None
            return answer

    def _connection(self, deadline_s: float) -> Connection:
        kept, self._kept = self._kept, None
        if kept is not None and not kept.is_stale():
            return kept
        if kept is not None:
            kept.close()
        connection = self._connected(deadline_s)
        address = self._plan.address
        if address is not None and address.tls:
            self._began_s = time.monotonic()
            try:
                connection.encrypt(self._plan.tls, address.host, deadline_s)
            except Fault:
                raise
            except OSError as error:
                connection.close()
                words = "the CA file %s cannot be read on this host: %s" % (self._plan.ca_file, error)
                raise Fault("tls", words) from None
        return connection

    def _connected(self, deadline_s: float) -> Connection:
        """Connect, and tell the port's own rung how that went."""
        began_s = time.monotonic()
        try:
            if self._plan.address is None:
                raise Fault("unreachable", "%s is not a URL like http://host:port" % self._plan.url)
            connection = connect(self._plan.address, self._wait, min(deadline_s, began_s + CONNECT_TIMEOUT_S))
        except Fault as fault:
            latency_ms = (time.monotonic() - began_s) * 1000
            self._tell("port", Verdict(fault.outcome, fault.detail), latency_ms, "")
            closed = _PortFault(fault.outcome, fault.detail)
            closed.latency_ms = latency_ms
            raise closed from None
        words = "port %d accepts connections" % self._plan.address.port
        self._tell("port", Verdict("ok", words), (time.monotonic() - began_s) * 1000, "")
        return connection

    def _tell(
        self,
        rung: str,
        verdict: Verdict,
        latency_ms: float,
        path: str,
        *,
        status: int | None = None,
        model: str | None = None,
        server: str | None = None,
    ) -> None:
        message = wire.stamped(
            wire.PROBE,
            rung=rung,
            outcome=verdict.outcome,
            latency_ms=latency_ms,
            detail=verdict.detail,
            url=self._plan.url + path,
            status=status,
            models=verdict.models,
            model=model,
            text=verdict.text,
            server=server,
        )
        self._send(message)
