"""What the port answered the H200 recorder, as the probes of a live watch.

A record's time is when the question was put (measured: an answer of 1,002 ms stands 1.0 s before the recorder
took it for ready), so the probe comes ``ms`` later. A refused connection tells of the port alone, and of the
four questions that were put at once only the health question's refusal is told, as a live watch asks one.
"""

from collections.abc import Iterator

import msgspec

from tui.agent.probe.answers import Verdict, judge_models, judge_status
from tui.events import Outcome, Probe, Rung
from tui.journal.h200_records import HttpRecord, Tcp
from tui.transport.clean import clean

HEALTH = "/health"
MODELS = "/v1/models"
# What Python calls them, and what the watch does.
_FAULTS: dict[str, tuple[Outcome, str]] = {
    "ConnectionRefusedError": ("refused", "connection refused"),
    "ConnectionResetError": ("reset", "connection reset"),
    "BrokenPipeError": ("reset", "connection reset"),
    "ConnectionAbortedError": ("reset", "connection reset"),
    "RemoteDisconnected": ("reset", "connection closed without an answer"),
    "IncompleteRead": ("reset", "connection closed in the middle of the answer"),
    "TimeoutError": ("timeout", "no answer in time"),
    "BadStatusLine": ("not_http", "the answer is not HTTP: another program's port?"),
}
TOKEN_DETAIL = "/health answered 200, for which SGLang generates a token"
HEALTH_DETAIL = "200 OK (counts as ready: no completion was asked for)"


class AnswerReader:
    """Turns answers into probes. ``generates``: the engine generates a token for a health answer of 200."""

    def __init__(self, url: str, model: str | None, *, generates: bool) -> None:
        self._url = url
        self._model = model
        self._generates = generates
        self._bodies: dict[str, tuple[str, int]] = {}
        self._token: Outcome | None = None

    def tcp(self, record: Tcp) -> Iterator[Probe]:
        """Give the port's own rung. How long the connection took was not recorded."""
        if record.state == "open":
            yield self._probe("port", record.t, 0.0, Verdict("ok", f"port {record.port} accepts connections"))
        else:
            yield self._probe("port", record.t, 0.0, _fault(record.state))

    def http(self, record: HttpRecord) -> Iterator[Probe]:
        """Give the answer to one question, stamped with when it came."""
        if record.p not in (HEALTH, MODELS):
            return
        t = record.t + record.ms / 1000.0
        body, whole = self._body(record)
        if isinstance(record.st, str):
            verdict = _fault(record.st)
        else:
            verdict = judge_status(record.st, body.encode(), None)
        if verdict.outcome in ("refused", "unreachable"):
            if record.p == HEALTH:
                self._token = None
                yield self._probe("port", t, record.ms, verdict)
        elif record.p == MODELS:
            yield self._models(record, t, verdict, body, whole=whole)
        else:
            yield from self._health(record, t, verdict)

    def _health(self, record: HttpRecord, t: float, verdict: Verdict) -> Iterator[Probe]:
        status = record.st if isinstance(record.st, int) else None
        if verdict.outcome == "ok" and not self._generates:
            verdict = Verdict("ok", HEALTH_DETAIL)
        yield self._probe("health", t, record.ms, verdict, path=HEALTH, status=status)
        # Only a change is told: nobody asked the token's own question.
        before, self._token = self._token, _outcome(verdict)
        if self._generates and self._token != before and (before is not None or verdict.outcome == "ok"):
            said = Verdict("ok", TOKEN_DETAIL, model=self._model) if verdict.outcome == "ok" else verdict
            yield self._probe("token", t, record.ms, said, path=HEALTH, status=status)

    def _models(self, record: HttpRecord, t: float, verdict: Verdict, body: str, *, whole: bool) -> Probe:
        status = record.st if isinstance(record.st, int) else None
        if verdict.outcome == "ok" and whole:
            verdict = judge_models(body.encode(), self._model)
        elif verdict.outcome == "ok":
            verdict = Verdict("ok", "200 OK (the recorder did not keep the whole list)")
        return self._probe("models", t, record.ms, verdict, path=MODELS, status=status)

    def _body(self, record: HttpRecord) -> tuple[str, bool]:
        """Return the body (that of the answer before where it was the same), and whether it is whole."""
        if record.body is not None:
            size = len(record.body.encode()) if record.len is None else record.len
            self._bodies[record.p] = (record.body, size)
        body, size = self._bodies.get(record.p, ("", 0))
        return body, len(body.encode()) >= size

    def _probe(
        self, rung: Rung, t: float, ms: float, verdict: Verdict, path: str = "", status: int | None = None
    ) -> Probe:
        return Probe(
            mono_s=t,
            wall_s=t,
            rung=rung,
            outcome=_outcome(verdict),
            latency_ms=ms,
            detail=clean(verdict.detail),
            url=self._url + path,
            status=status,
            models=None if verdict.models is None else [clean(model) for model in verdict.models],
            model=None if verdict.model is None else clean(verdict.model),
        )


def _outcome(verdict: Verdict) -> Outcome:
    """Return the class of an answer, which the agent keeps as plain text."""
    return msgspec.convert(verdict.outcome, Outcome)


def _fault(name: str) -> Verdict:
    outcome, words = _FAULTS.get(name, ("unreachable", name))
    return Verdict(outcome, words)
