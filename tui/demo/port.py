"""What the port of the simulated server answers to the questions that the agent puts to it."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from tui.demo.clock import stamp
from tui.demo.processes import Host
from tui.demo.scenario import PortTaken, Scenario
from tui.demo.script import Script
from tui.events import Outcome, Probe, Rung

ASKED_FROM_S = 0.6
EVERY_S = 1.0
"""The agent asks a port that refuses four times a second; once is enough to see."""
READY_EVERY_S = 5.0
# Measured on the recorded server: a health answer generates a token and takes a second, another one is quick.
HEALTH_S = 1.002
QUICK_S = 0.002
TOKEN_S = 0.058
REFUSED_MS = 0.2


@dataclass(frozen=True, slots=True)
class _Answerer:
    """Who answers on the port: its Server header, the models that it lists, whether it generates."""

    header: str
    models: list[str]
    ready: bool
    health_s: float


class Port:
    """The answers of a scenario's port, climbed in the order of the agent's own ladder."""

    def __init__(self, scenario: Scenario, script: Script, host: Host) -> None:
        server = scenario.server
        self.url = f"http://127.0.0.1:{server.port}"
        self._number = server.port
        self._expected = scenario.asked.model or server.served
        self._lists = server.lists or [server.served]
        self._opens_s = script.when(scenario.log.opens)
        self._ready_s = script.when(scenario.log.ready)
        self._ended_s = host.ended_s
        happened = zip(script.moments, scenario.happens, strict=True)
        self._taken = [(at_s, each) for at_s, each in happened if isinstance(each, PortTaken)]

    @property
    def ready_s(self) -> float:
        """When the server begins to generate, infinite where it never does."""
        return self._ready_s

    def probes(self) -> Iterator[tuple[float, Probe]]:
        """Yield every answer with its second, without end."""
        t, connected = ASKED_FROM_S, False
        while True:
            who = self._answerer(t)
            if who is None:
                yield t, self._probe(t, "port", "refused", REFUSED_MS, "connection refused")
                t, connected = t + EVERY_S, False
                continue
            if not connected:
                words = f"port {self._number} accepts connections"
                yield t, self._probe(t, "port", "ok", REFUSED_MS, words)
            connected = True
            t = yield from self._round(t, who)

    def _round(self, t: float, who: _Answerer) -> Generator[tuple[float, Probe], None, float]:
        """Climb as far as the answers let it; return when the next round is due."""
        health = self._health(t, who)
        yield health
        if not who.ready:
            yield self._models(t + 2 * QUICK_S, who)
            return t + EVERY_S
        models = self._models(health[0] + QUICK_S, who)
        yield models
        if models[1].outcome != "ok":
            return max(models[0], t + EVERY_S)
        token = self._token(models[0], who)
        yield token
        t = token[0] + READY_EVERY_S
        while (now := self._answerer(t)) is not None and now == who:
            yield self._models(t, who)
            t += READY_EVERY_S
        return t

    def _answerer(self, t: float) -> _Answerer | None:
        other = next((each for at_s, each in self._taken if at_s <= t), None)
        if other is not None:
            return _Answerer(other.server, other.models, True, QUICK_S)
        if not self._opens_s <= t < self._ended_s:
            return None
        return _Answerer("uvicorn", self._lists, t >= self._ready_s, HEALTH_S)

    def _health(self, t: float, who: _Answerer) -> tuple[float, Probe]:
        took_s = who.health_s if who.ready else QUICK_S
        outcome: Outcome = "ok" if who.ready else "status"
        status, words = (200, "200 OK") if who.ready else (503, "503 Service Unavailable")
        at_s = t + took_s
        return at_s, self._probe(
            at_s, "health", outcome, took_s * 1000, words, path="/health", status=status, server=who.header
        )

    def _models(self, t: float, who: _Answerer) -> tuple[float, Probe]:
        listed = ", ".join(who.models)
        fits = self._expected in who.models
        words = listed if fits else f"expected {self._expected}, the server lists {listed}"
        return t, self._probe(
            t,
            "models",
            "ok" if fits else "wrong_model",
            QUICK_S * 1000,
            words,
            path="/v1/models",
            status=200,
            models=who.models,
            server=who.header,
        )

    def _token(self, t: float, who: _Answerer) -> tuple[float, Probe]:
        at_s = t + TOKEN_S
        return at_s, self._probe(
            at_s,
            "token",
            "ok",
            TOKEN_S * 1000,
            "one token generated",
            path="/v1/chat/completions",
            status=200,
            model=self._expected,
            text="the",
            server=who.header,
        )

    def _probe(
        self,
        t: float,
        rung: Rung,
        outcome: Outcome,
        latency_ms: float,
        detail: str,
        *,
        path: str = "",
        status: int | None = None,
        models: list[str] | None = None,
        model: str | None = None,
        text: str | None = None,
        server: str | None = None,
    ) -> Probe:
        return Probe(
            **stamp(t),
            rung=rung,
            outcome=outcome,
            latency_ms=latency_ms,
            detail=detail,
            url=self.url + path,
            status=status,
            models=models,
            model=model,
            text=text,
            server=server,
        )
