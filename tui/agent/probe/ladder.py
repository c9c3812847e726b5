"""The readiness ladder, climbed from below: port, health, model list, a generated token.

Pace: while the port refuses, or health answers "not yet" in under 100 ms, a round every 250 ms; otherwise one
a second; once ready one each 5 s, of the model list alone. Where a health answer costs a generated token
(SGLang: never under 1 s) once a second at most. One question is in flight at any time.
"""

from __future__ import annotations

import time

from tui.agent.probe import answers as probe_answers
from tui.agent.probe.answers import Verdict
from tui.agent.probe.asker import Asked, Asker
from tui.agent.probe.plan import HEALTH, MODELS, READY, TOKEN, Plan, one_token, plain_path

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.agent.http.connection import Wait
    from tui.agent.probe.asker import Send

FAST_S = 0.25
SLOW_S = 1.0
READY_S = 5.0
CHEAP_MS = 100.0
COSTLY_MS = 500.0
MODELS_TIMEOUT_S = 10.0
# There is no such endpoint; the rungs above can still be asked.
_ABSENT = (404, 405, 501)
# The endpoint does not take this; a model without a chat template answers a chat so.
_NO_CHAT = (400, *_ABSENT)


class Prober:
    """Climbs one server's ladder, round by round, and down again when the server goes away."""

    def __init__(self, plan: Plan, send: Send, wait: Wait) -> None:
        self._plan = plan
        self._asker = Asker(plan, send, wait)
        self._rung = HEALTH
        self._costly = False
        self._health_wants_key = False
        self._models_s: float | None = None
        self._model: str | None = plan.expected_model
        self._listed: list[str] = []
        self._token_path = plan.token_path

    @property
    def idle_descriptor(self) -> int | None:
        """A kept connection whose end tells at once that the ready server may be gone."""
        return self._asker.kept_descriptor if self._rung == READY else None

    def close(self) -> None:
        """Let go of the connection."""
        self._asker.close()

    def round(self) -> float:
        """Ask what is to be asked now; return the seconds until the next round is due."""
        began_s = time.monotonic()
        pause_s = self._watch() if self._rung == READY else self._climb(began_s)
        return max(0.0, began_s + pause_s - time.monotonic())

    def knock(self) -> bool:
        """Say whether the port still opens, after the kept connection ended; that leaves no line in a log."""
        if self._asker.knock():
            return True
        self._rung = HEALTH
        return False

    def _climb(self, began_s: float) -> float:
        if self._rung == HEALTH:
            health = self._ask_health()
            if not self._passes(health):
                if health.rung != "port" and self._models_due(began_s):
                    self._ask_models()
                return self._pause_s(health)
            self._rung = MODELS
        if self._rung == MODELS and self._plan.last >= MODELS:
            models = self._ask_models()
            if not self._lists(models):
                return self._fall(models)
            self._rung = TOKEN
        if self._rung == TOKEN and self._plan.last >= TOKEN:
            token = self._ask_token()
            if token.outcome != "ok":
                return self._fall(token)
        self._rung = READY
        return READY_S

    def _watch(self) -> float:
        """Look whether the ready server is still there, by a question that costs it nothing."""
        models = self._ask_models()
        if models.outcome in ("wrong_model", "empty"):
            self._rung = MODELS
            return SLOW_S
        if _is_gone(models):
            self._rung = HEALTH
            return FAST_S
        return READY_S

    def _ask_health(self) -> Asked:
        plan = self._plan
        key = plan.key if self._health_wants_key else None
        asked = self._asker.ask(
            "health",
            plan.health_path,
            plan.health_timeout_s,
            lambda answer: probe_answers.judge_status(answer.status, answer.body, key),
            key=key,
        )
        if plan.health_costs_a_token and asked.rung == "health" and asked.latency_ms > COSTLY_MS:
            self._costly = True
        self._health_wants_key = self._health_wants_key or asked.outcome == "key_needed"
        return asked

    def _ask_models(self) -> Asked:
        plan, key = self._plan, self._plan.key
        self._models_s = time.monotonic()
        timeout_s = min(MODELS_TIMEOUT_S, plan.health_timeout_s)
        asked = self._asker.ask(
            "models",
            plan.models_path,
            timeout_s,
            lambda answer: _then(
                probe_answers.judge_status(answer.status, answer.body, key),
                lambda: probe_answers.judge_models(answer.body, plan.expected_model),
            ),
            key=key,
        )
        if asked.models:
            self._listed = asked.models
            self._model = probe_answers.matching(asked.models, plan.expected_model)
        return asked

    def _ask_token(self) -> Asked:
        asked = self._complete(self._token_path)
        plain = plain_path(self._token_path)
        if asked.status in _NO_CHAT and plain is not None:
            without_chat = self._complete(plain)
            if without_chat.outcome == "ok":
                self._token_path = plain
            return without_chat
        return asked

    def _complete(self, path: str) -> Asked:
        key, model, expected = self._plan.key, self._model, self._plan.expected_model
        wanted = None if expected is None else [expected, *self._listed]
        return self._asker.ask(
            "token",
            path,
            self._plan.token_timeout_s,
            lambda answer: _then(
                probe_answers.judge_status(answer.status, answer.body, key),
                lambda: probe_answers.judge_token(answer.body, key, wanted),
            ),
            key=key,
            body=one_token(path, model),
            model=model,
        )

    def _passes(self, health: Asked) -> bool:
        if health.outcome == "ok":
            return True
        return self._plan.last > HEALTH and (health.outcome == "key_needed" or health.status in _ABSENT)

    def _lists(self, models: Asked) -> bool:
        return models.outcome == "ok" or (self._plan.last > MODELS and models.status in _ABSENT)

    def _models_due(self, now_s: float) -> bool:
        return self._models_s is None or now_s - self._models_s >= SLOW_S

    def _pause_s(self, asked: Asked) -> float:
        if asked.outcome == "refused":
            self._costly = False  # whatever comes next is another server
        cheap = asked.outcome in ("refused", "status") and asked.latency_ms < CHEAP_MS
        return FAST_S if cheap and not self._costly else SLOW_S

    def _fall(self, asked: Asked) -> float:
        if not _is_gone(asked):
            return SLOW_S
        self._rung = HEALTH
        return FAST_S if asked.outcome == "refused" else SLOW_S


def _then(status: Verdict, content: Callable[[], Verdict]) -> Verdict:
    """Judge what an answer says, where its status lets it say anything."""
    return content() if status.outcome == "ok" else status


def _is_gone(asked: Asked) -> bool:
    """Say whether the server went away or began anew, so that the ladder is to be climbed from its foot."""
    if asked.status is not None:
        return asked.status >= 500
    return asked.outcome in ("refused", "reset", "unreachable", "not_http", "tls")
