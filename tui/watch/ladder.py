"""The readiness ladder: process alive, port open, health answered, expected model listed, token generated."""

from dataclasses import dataclass
from typing import Literal

from tui.events import Outcome, Probe

RungName = Literal["process", "port", "health", "model", "token"]
RungWord = Literal["unknown", "waiting", "ok", "bad"]
RUNGS: tuple[RungName, ...] = ("process", "port", "health", "model", "token")
READY_RUNG: dict[str, RungName] = {"token": "token", "model": "model", "health": "health", "log": "token"}
CLOSED: tuple[Outcome, ...] = ("refused", "unreachable")
OPEN: tuple[Outcome, ...] = ("ok", "status", "wrong_model", "key_needed", "empty", "not_http", "tls")
# What no waiting mends: a person has to change something.
NEEDS_A_PERSON: tuple[Outcome, ...] = ("wrong_model", "key_needed", "not_http", "tls")


@dataclass(frozen=True, slots=True)
class Rung:
    """One rung. ``state``: unknown (never asked), waiting (asked, not yet), ok, bad (needs a person).

    ``since_s`` is when the state began (host's monotonic clock), ``latency_ms`` and ``answer`` (in words)
    belong to the last answer, ``outcome`` is its class and ``status`` its HTTP status: None where the answer
    was concluded from that to another question.
    """

    name: RungName
    state: RungWord = "unknown"
    since_s: float | None = None
    tries: int = 0
    latency_ms: float | None = None
    answer: str = ""
    outcome: Outcome | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Expectation:
    """The model that has to answer. ``exact`` when a person named it, else it was read off the arguments."""

    model: str | None
    exact: bool = False

    def met_by(self, listed: str) -> bool:
        """Return whether a listed id is the expected one.

        One read off the arguments is a path as often as a name, and engines list it with or without its
        directory, so its last part is enough.
        """
        if self.model is None or listed == self.model:
            return True
        return not self.exact and _last_part(listed) == _last_part(self.model)


def _last_part(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]


class Ladder:
    """The five rungs of one load.

    ``listed`` holds the ids of the last model list, ``port_opened`` whether the port ever answered,
    ``refused_since_s`` since when it refuses, ``seen_waiting`` whether an answer was ever "not yet".
    """

    def __init__(self, expectation: Expectation) -> None:
        self.expectation = expectation
        self.listed: list[str] | None = None
        self.port_opened = False
        self.refused_since_s: float | None = None
        self.seen_waiting = False
        self._rungs: dict[RungName, Rung] = {name: Rung(name) for name in RUNGS}

    @property
    def rungs(self) -> tuple[Rung, Rung, Rung, Rung, Rung]:
        """Process, port, health, model, token."""
        book = self._rungs
        return (book["process"], book["port"], book["health"], book["model"], book["token"])

    def rung(self, name: RungName) -> Rung:
        """Return one rung."""
        return self._rungs[name]

    @property
    def attempts(self) -> int:
        """How many questions were put to the port."""
        return sum(rung.tries for rung in self._rungs.values())

    def process(self, state: RungWord, answer: str, at_s: float) -> None:
        """Note whether the process lives, in words."""
        self._set("process", state, at_s, answer=answer)

    def take(self, probe: Probe) -> None:
        """Note one answer, with what it says about the rungs below and above."""
        name: RungName = "model" if probe.rung == "models" else probe.rung
        state, answer = self._judge(name, probe)
        self.seen_waiting = self.seen_waiting or state == "waiting"
        self._set(name, state, probe.mono_s, answer=answer, probe=probe)
        if probe.outcome in CLOSED:
            self._closed(name, probe)
        elif probe.outcome in OPEN:
            self._opened(name, probe)

    def _judge(self, name: RungName, probe: Probe) -> tuple[RungWord, str]:
        if name == "model" and probe.models is not None and probe.outcome in ("ok", "wrong_model"):
            return self._judge_models(probe.models, probe.detail)
        if name == "token" and probe.outcome == "ok":
            return self._judge_token(probe)
        if probe.outcome == "ok":
            return "ok", probe.detail
        if name == "port" and probe.outcome in OPEN and probe.outcome != "not_http":
            return "ok", probe.detail
        return ("bad" if probe.outcome in NEEDS_A_PERSON else "waiting"), probe.detail

    def _judge_models(self, models: list[str], detail: str) -> tuple[RungWord, str]:
        self.listed = models
        if not models:
            return "waiting", "lists no model"
        if any(self.expectation.met_by(model) for model in models):
            return "ok", detail
        return "bad", wrong_model(self.expectation.model, models)

    def _judge_token(self, probe: Probe) -> tuple[RungWord, str]:
        listed_right = self._rungs["model"].state == "ok"
        if listed_right or probe.model is None or self.expectation.met_by(probe.model):
            return "ok", probe.detail
        return "bad", wrong_model(self.expectation.model, [probe.model])

    def _closed(self, asked: RungName, probe: Probe) -> None:
        if self.refused_since_s is None:
            self.refused_since_s = probe.mono_s
        if asked != "port":
            self._set("port", "waiting", probe.mono_s, answer=probe.detail, outcome=probe.outcome)
        for name in ("health", "model", "token"):
            if self._rungs[name].state in ("ok", "bad"):
                self._set(name, "waiting", probe.mono_s, answer="port closed")

    def _opened(self, asked: RungName, probe: Probe) -> None:
        self.port_opened = True
        self.refused_since_s = None
        if asked != "port" and self._rungs["port"].state != "ok":
            self._set("port", "ok", probe.mono_s, answer="open")

    def _set(
        self,
        name: RungName,
        state: RungWord,
        at_s: float,
        *,
        answer: str,
        probe: Probe | None = None,
        outcome: Outcome | None = None,
    ) -> None:
        old = self._rungs[name]
        since_s = at_s if state != old.state else old.since_s
        tries, latency_ms, status = old.tries, old.latency_ms, None
        if probe is not None:
            outcome = "wrong_model" if state == "bad" and probe.outcome == "ok" else probe.outcome
            tries, latency_ms, status = tries + 1, probe.latency_ms, probe.status
        self._rungs[name] = Rung(name, state, since_s, tries, latency_ms, answer, outcome, status)


def wrong_model(expected: str | None, listed: list[str]) -> str:
    """Return the sentence that names the expected model and those that answer instead."""
    shown = ", ".join(f'"{model}"' for model in listed[:3]) + (", …" if len(listed) > 3 else "")
    return f'serves {shown}, expected "{expected}"'


def missing(rungs: tuple[Rung, ...]) -> str:
    """Return what is not there yet, in words: the lowest rung that does not hold and its last answer."""
    for rung in rungs:
        if rung.state in ("waiting", "bad"):
            return f"{rung.name}: {rung.answer}" if rung.answer else f"{rung.name} not there yet"
    return ""
