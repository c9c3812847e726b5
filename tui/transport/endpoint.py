"""A server known by its URL alone: readiness asked with httpx from this machine, and nothing else.

The ladder and its pace are those of the agent's probe (tui/agent/probe); what only a process on the host
can see (GPUs, processes, the log) is not there, and the first notice says so.
"""

import asyncio
import os
import platform
import socket
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from tui.events import AnyEvent, Hello, Link, Notice, Outcome, Probe, Rung
from tui.requests import AnyRequest, FollowRequest, ProbePlan
from tui.transport.answers import (
    TEXT_LIMIT,
    Answer,
    ModelsAnswer,
    answered_model,
    model_ids,
    outcome_of,
    token_text,
    words_of_status,
)
from tui.transport.clean import clean
from tui.transport.faults import sentence_of
from tui.transport.pace import Pace

if TYPE_CHECKING:
    import httpx

CONNECT_TIMEOUT_S = 5.0
MODELS_TIMEOUT_S = 10.0
BODY_LIMIT_BYTES = 1024 * 1024
GREETING_BYTES = 64
# Long enough for a near server to greet, short enough not to delay the first answer of an HTTP one.
GREETING_WAIT_S = 0.05
ANSWERED = ("ok", "status", "key_needed")
LOOPBACK = ("127.0.0.1", "localhost", "::1")


class EndpointSource:
    """A source of readiness events for one URL. Ends when closed."""

    def __init__(self, plan: ProbePlan) -> None:
        self._plan = plan
        parts = urlsplit(plan.url)
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if parts.scheme == "https" else 80)
        self._closed = asyncio.Event()
        self._models: list[str] | None = None
        self._suspect = True
        self._pace = Pace(health_costs_a_token=plan.health_costs_a_token, ready_on=plan.ready_on)

    async def __aiter__(self) -> AsyncGenerator[AnyEvent, None]:
        yield self._hello()
        yield self._link("up", f"asking {self._plan.url} from this machine")
        now_s = time.monotonic()
        yield Notice(
            mono_s=now_s,
            wall_s=time.time(),
            client_s=now_s,
            level="info",
            about="endpoint",
            sentence=sentence_of("url_alone"),
        )
        async with self._client() as client:
            while not self._closed.is_set():
                async for probe in self._round(client):
                    yield probe
                    self._pace.heard(probe)
                await self._rest()
        yield self._link("closed", "closed")

    def send(self, request: AnyRequest) -> None:
        """Take up the probe plan of a follow request; nothing else can be done from here."""
        if isinstance(request, FollowRequest) and request.probe is not None:
            self._plan = request.probe

    async def close(self) -> None:
        """End after the question in flight."""
        self._closed.set()

    async def _rest(self) -> None:
        try:
            await asyncio.wait_for(self._closed.wait(), self._pace.wait_s())
        except TimeoutError:
            return

    async def _round(self, client: "httpx.AsyncClient") -> AsyncIterator[Probe]:
        """Climb the ladder as far as it goes; one probe a rung."""
        port = await self._port_probe()
        yield port
        if port.outcome != "ok":
            return
        if self._pace.ready:
            yield await self._models_probe(client)
            return
        health = await self._get(client, "health", self._plan.health_path, self._plan.health_timeout_s)
        yield health.probe
        self._suspect = health.probe.outcome not in ANSWERED
        if self._suspect or not (health.probe.outcome == "ok" or self._pace.models_due(time.monotonic())):
            return
        models = await self._models_probe(client)
        yield models
        if health.probe.outcome == "ok" and models.outcome == "ok" and self._plan.ready_on == "token":
            yield await self._token_probe(client)

    async def _port_probe(self) -> Probe:
        began_s = time.monotonic()
        try:
            reader, writer = await asyncio.wait_for(
                asyncio.open_connection(self._host, self._port), CONNECT_TIMEOUT_S
            )
        except (OSError, TimeoutError) as error:
            outcome, detail = outcome_of(error)
            return self._probe("port", outcome, began_s, detail)
        greeting = await _greeting(reader) if self._suspect else ""
        writer.close()
        if greeting:
            detail = f"the port greets with {greeting!r}: it is another program's"
            return self._probe("port", "not_http", began_s, detail)
        return self._probe("port", "ok", began_s, f"port {self._port} accepts connections")

    async def _models_probe(self, client: "httpx.AsyncClient") -> Probe:
        answer = await self._get(client, "models", self._plan.models_path, MODELS_TIMEOUT_S)
        if answer.probe.outcome != "ok":
            return answer.probe
        known: ModelsAnswer = model_ids(answer.body, self._plan.expected_model)
        self._models = known.ids
        return self._probe(
            "models",
            known.outcome,
            answer.began_s,
            known.detail,
            status=answer.probe.status,
            models=known.ids,
        )

    async def _token_probe(self, client: "httpx.AsyncClient") -> Probe:
        model = self._plan.expected_model or (self._models or [""])[0]
        body: dict[str, object] = {
            "model": model,
            "messages": [{"role": "user", "content": "Hi"}],
            "max_tokens": 1,
            "temperature": 0,
        }
        answer = await self._ask(
            client, "token", "POST", self._plan.token_path, self._plan.token_timeout_s, body
        )
        if answer.probe.outcome != "ok":
            return answer.probe
        text = token_text(answer.body)
        if text is None:
            return self._probe("token", "empty", answer.began_s, "answered without a generated token")
        expected, answered = self._plan.expected_model, answered_model(answer.body)
        # A server of several names answers to one of them by another.
        if expected is not None and answered not in (None, expected, *(self._models or [])):
            detail = f"expected {expected}, {answered} answered"[: 2 * TEXT_LIMIT]
            return self._probe("token", "wrong_model", answer.began_s, detail, model=answered)
        return self._probe("token", "ok", answer.began_s, "one token generated", model=model, text=text)

    async def _get(self, client: "httpx.AsyncClient", rung: Rung, path: str, timeout_s: float) -> Answer:
        return await self._ask(client, rung, "GET", path, timeout_s, None)

    async def _ask(
        self,
        client: "httpx.AsyncClient",
        rung: Rung,
        method: str,
        path: str,
        timeout_s: float,
        body: dict[str, object] | None,
    ) -> Answer:
        """Put one question with one deadline over all of it; a failure is an answer too."""
        import httpx

        began_s = time.monotonic()
        try:
            async with (
                asyncio.timeout(timeout_s),
                client.stream(method, self._plan.url + path, json=body) as response,
            ):
                content = await _limited(response)
        except (OSError, TimeoutError, httpx.HTTPError) as error:
            outcome, detail = outcome_of(error)
            return Answer(self._probe(rung, outcome, began_s, detail), b"", began_s)
        outcome, detail = words_of_status(response.status_code)
        probe = self._probe(rung, outcome, began_s, detail, status=response.status_code)
        return Answer(probe, content, began_s)

    def _probe(
        self,
        rung: Rung,
        outcome: Outcome,
        began_s: float,
        detail: str,
        *,
        status: int | None = None,
        models: list[str] | None = None,
        model: str | None = None,
        text: str | None = None,
    ) -> Probe:
        now_s = time.monotonic()
        return Probe(
            mono_s=now_s,
            wall_s=time.time(),
            client_s=now_s,
            rung=rung,
            outcome=outcome,
            latency_ms=(now_s - began_s) * 1000,
            detail=detail,
            url=self._plan.url,
            status=status,
            models=models,
            model=model,
            text=text,
        )

    def _client(self) -> "httpx.AsyncClient":
        import httpx

        headers = {"User-Agent": "tminus"}
        if self._plan.api_key:
            headers["Authorization"] = f"Bearer {self._plan.api_key}"
        return httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(None, connect=CONNECT_TIMEOUT_S),
            verify=_verification(self._plan),
            trust_env=self._host not in LOOPBACK,
        )

    def _link(self, state: Literal["up", "closed"], sentence: str) -> Link:
        now_s = time.monotonic()
        return Link(mono_s=now_s, wall_s=time.time(), client_s=now_s, state=state, sentence=sentence)

    def _hello(self) -> Hello:
        now_s = time.monotonic()
        return Hello(
            mono_s=now_s,
            wall_s=time.time(),
            client_s=now_s,
            protocol=0,
            host=self._host,
            user="",
            uid=os.getuid() if hasattr(os, "getuid") else None,
            pid=os.getpid(),
            boot_id=f"url:{socket.gethostname()}",
            python="",
            kernel=platform.release(),
            cpu_count=os.cpu_count() or 1,
            memory_total_mib=None,
        )


async def _greeting(reader: asyncio.StreamReader) -> str:
    """Return what the other side says unasked, which an HTTP server never does."""
    try:
        said = await asyncio.wait_for(reader.read(GREETING_BYTES), GREETING_WAIT_S)
    except (OSError, TimeoutError):
        return ""
    return clean(said.decode("latin-1")).strip()


async def _limited(response: "httpx.Response") -> bytes:
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > BODY_LIMIT_BYTES:
            break
    return bytes(content)


def _verification(plan: ProbePlan) -> "ssl.SSLContext | bool":
    """Return what httpx wants: a context for an own CA, False to skip it; plain http pays for neither."""
    if plan.insecure or plan.url.startswith("http://"):
        return False
    if plan.ca_file is None:
        return True
    return ssl.create_default_context(cafile=plan.ca_file)
