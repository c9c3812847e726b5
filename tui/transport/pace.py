"""How often a server is asked: often while that disturbs nothing, rarely once an answer costs something."""

from tui.events import Probe

FAST_S = 0.25
SLOW_S = 1.0
READY_S = 5.0
# A refusal, or a "not yet" in under 100 ms, costs the server nothing (sglang-startup 2, vllm-startup 3).
CHEAP_MS = 100.0
# SGLang generates a token for each health answer, which takes at least 1 s (0.4.10.post2 and newer).
COSTLY_MS = 500.0


class Pace:
    """Chooses the wait before the next round from the answers heard so far."""

    def __init__(self, *, health_costs_a_token: bool, ready_on: str) -> None:
        self._health_costs_a_token = health_costs_a_token
        self._ready_rung = {"token": "token", "model": "models", "health": "health"}[ready_on]
        self._costly = False
        self._cheap_refusal = True
        self._models_asked_s: float | None = None
        self.ready = False

    def heard(self, probe: Probe) -> None:
        """Take in one answer."""
        if probe.rung == self._ready_rung and probe.outcome == "ok":
            self.ready = True
        if probe.rung == "port":
            self._cheap_refusal = probe.outcome == "refused" and probe.latency_ms < CHEAP_MS
            if probe.outcome != "ok":
                self.ready = False
        if probe.rung == "health":
            self._cheap_refusal = probe.outcome == "status" and probe.latency_ms < CHEAP_MS
            if self._health_costs_a_token and probe.latency_ms > COSTLY_MS:
                self._costly = True
        if probe.rung == "models":
            self._models_asked_s = probe.mono_s

    def models_due(self, now_s: float) -> bool:
        """Say whether the models endpoint may be asked although health is not ok yet (once a second)."""
        return self._models_asked_s is None or now_s - self._models_asked_s >= SLOW_S

    def wait_s(self) -> float:
        """Return the seconds to wait before the next round."""
        if self.ready:
            return READY_S
        if self._cheap_refusal and not self._costly:
            return FAST_S
        return SLOW_S
