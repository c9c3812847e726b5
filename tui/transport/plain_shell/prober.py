"""Readiness of a server asked by the host's own curl or wget: the ladder of the agent, a round a second.

A question starts a process there, so there are no four rounds a second as the agent has them.
"""

import asyncio
import json
import time
from collections.abc import Callable
from typing import cast

from tui.agent.probe import answers
from tui.agent.probe.answers import Verdict
from tui.agent.probe.plan import one_token, plain_path
from tui.events import Outcome, Probe, Rung
from tui.requests import ProbePlan
from tui.transport.pace import Pace
from tui.transport.plain_shell.clock import ShellClock, seconds
from tui.transport.plain_shell.web_answer import Tool, WebAnswer, web_answer

ROUND_S = 1.0
MODELS_TIMEOUT_S = 10.0
CONNECT_TIMEOUT_S = 5
_PATIENCE_S = 10.0
_ABSENT = (404, 405, 501)
_NO_CHAT = (400, *_ABSENT)
_OPEN = ("ok", "status", "key_needed")
_TEXT_BYTES = 400_000

Send = Callable[[str], None]
Tell = Callable[[Probe], None]


class Prober:
    """Climbs the ladder of one server until it is cancelled. ``send`` takes commands for the shell."""

    def __init__(self, plan: ProbePlan, tool: Tool, clock: ShellClock, send: Send, tell: Tell) -> None:
        self._plan = plan
        self._tool: Tool = tool
        self._clock = clock
        self._send = send
        self._tell = tell
        self._pace = Pace(health_costs_a_token=plan.health_costs_a_token, ready_on=plan.ready_on)
        self._token_path = plan.token_path
        self._listed: list[str] = []
        self._number = 0
        self._text = ""
        self._done: asyncio.Future[tuple[str, float]] | None = None

    async def run(self) -> None:
        """Ask round by round."""
        while True:
            await self._round()
            await asyncio.sleep(max(ROUND_S, self._pace.wait_s()))

    # What the shell says.

    def part(self, words: str) -> None:
        """Take a piece of what was printed: the question's number, then text with \\x01 for line ends."""
        number, _, text = words.partition(" ")
        if number == str(self._number) and len(self._text) < _TEXT_BYTES:
            self._text += text

    def done(self, words: str) -> None:
        """Take in that a question is over: its number, and when it began and ended on the host."""
        number, began, ended = (*words.split(" "), "", "")[:3]
        if number == str(self._number) and self._done is not None and not self._done.done():
            took_s = (seconds(ended) or 0.0) - (seconds(began) or 0.0)
            self._done.set_result((self._text.replace("\x01", "\n"), max(0.0, took_s)))

    # The ladder.

    async def _round(self) -> None:
        plan = self._plan
        if self._pace.ready:
            await self._models()
            return
        health = await self._get(
            "health", plan.health_path, plan.health_timeout_s, lambda a: _status(a, plan.api_key)
        )
        passed = health.outcome == "ok" or (
            plan.ready_on != "health" and (health.outcome == "key_needed" or health.status in _ABSENT)
        )
        if plan.ready_on == "health" or not (passed or (health.answered and self._models_due)):
            return
        models = await self._models()
        listed = models.outcome == "ok" or (plan.ready_on == "token" and models.status in _ABSENT)
        if passed and listed and plan.ready_on == "token":
            await self._token()

    @property
    def _models_due(self) -> bool:
        return self._pace.models_due(self._clock.now().mono_s)

    async def _models(self) -> "_Asked":
        plan = self._plan

        def judge(answer: WebAnswer) -> Verdict:
            status = _status(answer, plan.api_key)
            return (
                answers.judge_models(answer.body, plan.expected_model) if status.outcome == "ok" else status
            )

        asked = await self._get("models", plan.models_path, MODELS_TIMEOUT_S, judge)
        self._listed = asked.models or self._listed
        return asked

    async def _token(self) -> None:
        asked = await self._complete(self._token_path)
        plain = plain_path(self._token_path)
        if asked.status in _NO_CHAT and plain is not None and (await self._complete(plain)).outcome == "ok":
            self._token_path = plain

    async def _complete(self, path: str) -> "_Asked":
        plan = self._plan
        model = answers.matching(self._listed, plan.expected_model) or plan.expected_model
        wanted = None if plan.expected_model is None else [plan.expected_model, *self._listed]

        def judge(answer: WebAnswer) -> Verdict:
            status = _status(answer, plan.api_key)
            return (
                answers.judge_token(answer.body, plan.api_key, wanted) if status.outcome == "ok" else status
            )

        return await self._get("token", path, plan.token_timeout_s, judge, one_token(path, model), model)

    async def _get(
        self,
        rung: Rung,
        path: str,
        timeout_s: float,
        judge: Callable[[WebAnswer], Verdict],
        body: bytes | None = None,
        model: str | None = None,
    ) -> "_Asked":
        """Ask, and tell the answer; of a port that does not open only that."""
        answer, took_s = await self._ask(path, timeout_s, body)
        latency_ms = round(took_s * 1000, 3)
        if answer.status is None:
            closed = answer.outcome in ("refused", "unreachable") or rung == "health"
            at: Rung = "port" if closed and answer.outcome not in ("tls", "not_http", "reset") else rung
            self._say(at, answer.outcome, latency_ms, answer.detail, path)
            return _Asked(answer.outcome, None, None, answered=False)
        if rung == "health" or self._pace.ready:
            self._say("port", "ok", latency_ms, "the port accepts connections", "")
        verdict = judge(answer)
        outcome = _outcome(verdict)
        self._say(rung, outcome, latency_ms, verdict.detail, path, answer, verdict, model)
        return _Asked(outcome, answer.status, verdict.models, answered=outcome in _OPEN)

    def _say(
        self,
        rung: Rung,
        outcome: Outcome,
        latency_ms: float,
        detail: str,
        path: str,
        answer: WebAnswer | None = None,
        verdict: Verdict | None = None,
        model: str | None = None,
    ) -> None:
        at = self._clock.now()
        probe = Probe(
            mono_s=at.mono_s,
            wall_s=at.wall_s,
            client_s=at.client_s,
            rung=rung,
            outcome=outcome,
            latency_ms=latency_ms,
            detail=detail,
            url=self._plan.url + path,
            status=None if answer is None else answer.status,
            models=None if verdict is None else verdict.models,
            model=None if verdict is None else verdict.model or model,
            text=None if verdict is None else verdict.text,
            server=None if answer is None else answer.server,
        )
        self._pace.heard(probe)
        self._tell(probe)

    # One question.

    async def _ask(self, path: str, timeout_s: float, body: bytes | None) -> tuple[WebAnswer, float]:
        self._number += 1
        self._text = ""
        self._done = asyncio.get_running_loop().create_future()
        begun_s = time.monotonic()
        if self._tool == "curl":
            self._send_curl(path, timeout_s, body)
        else:
            self._send_wget(path, timeout_s, body)
        try:
            async with asyncio.timeout(timeout_s + _PATIENCE_S):
                text, took_s = await self._done
        except TimeoutError:
            late = WebAnswer(None, b"", None, "timeout", "no answer in time")
            return late, time.monotonic() - begun_s
        text, _, last = text.rstrip("\n").rpartition("\n")
        code = last.rpartition(" ")[2]
        return web_answer(self._tool, text, int(code) if code.isascii() and code.isdigit() else None), took_s

    def _send_curl(self, path: str, timeout_s: float, body: bytes | None) -> None:
        """Give curl all by its configuration, which it reads from its input: arguments are seen by all."""
        plan = self._plan
        wanted = {"url": plan.url + path, "user-agent": "tminus", "header": "Accept: */*"}
        lines = [f"{name} = {_quoted(value)}" for name, value in wanted.items()]
        lines += ["silent", "show-error", "include", "globoff", f"max-time = {timeout_s:g}"]
        lines += [f"connect-timeout = {CONNECT_TIMEOUT_S}"]
        lines += ["insecure"] if plan.insecure else []
        lines += [f"cacert = {_quoted(plan.ca_file)}"] if plan.ca_file else []
        lines += [f"header = {_quoted(f'Authorization: Bearer {plan.api_key}')}"] if plan.api_key else []
        if body is not None:
            lines += ['header = "Content-Type: application/json"', f"data-binary = {_quoted(body.decode())}"]
        for line in lines:
            self._send(f"c {line}")
        self._send(f"a {self._number} curl")

    def _send_wget(self, path: str, timeout_s: float, body: bytes | None) -> None:
        """Ask by wget: it takes a key only among its arguments, where all could see it, so it gets none."""
        plan = self._plan
        if body is not None:
            self._send(f"b {body.decode()}")
        flags = "--no-check-certificate" if plan.insecure else ""
        if plan.ca_file and self._tool == "wget" and " " not in plan.ca_file:
            flags = f"--ca-certificate={plan.ca_file}"
        tool = self._tool if body is None else f"{self._tool}_post"
        self._send(f"a {self._number} {tool} {max(1, round(timeout_s))} {plan.url}{path} {flags}".rstrip())


class _Asked:
    """What came of a question."""

    def __init__(
        self, outcome: Outcome, status: int | None, models: list[str] | None, *, answered: bool
    ) -> None:
        self.outcome = outcome
        self.status = status
        self.models = models
        self.answered = answered


def _status(answer: WebAnswer, key: str | None) -> Verdict:
    return answers.judge_status(answer.status or 0, answer.body, key)


def _outcome(verdict: Verdict) -> Outcome:
    return cast("Outcome", verdict.outcome)  # the agent's words are those of the event


def _quoted(text: str) -> str:
    """Quote a value of curl's configuration."""
    return json.dumps(text) if text.isascii() else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
