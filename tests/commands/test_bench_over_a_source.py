"""One benchmark over a source: a real local agent, and sources that end too early."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

import pytest
from msgspec.structs import replace
from tminus_command import Tminus

from tui.bench.report import exit_code
from tui.benchmark import BenchProgress, BenchSpec
from tui.commands.bench import Heard, Listeners, bench
from tui.events import AnyEvent, Goodbye, Link
from tui.requests import AnyRequest, BenchCancelRequest, BenchRequest, FollowRequest, WatchRequest
from tui.transport.agent_source import AgentSource
from tui.transport.local import local_opener

State = Literal["connecting", "up", "lost", "failed", "closed"]


keys: set[str | None] = set()


class Handler(BaseHTTPRequestHandler):
    """Streams two tokens; of the model "slow" one token and then nothing for ever."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(b'{"data": [{"id": "quick"}, {"id": "slow"}]}', "application/json")

    def do_POST(self) -> None:
        keys.add(self.headers["Authorization"])
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        word = b'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": null}]}\n\n'
        last = (
            b'data: {"choices": [{"delta": {"content": "b"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
        )
        if b'"slow"' in asked and b'"max_tokens": 70' in asked:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(word)
            threading.Event().wait(30)
        self._answer(word + last, "text/event-stream")

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    """Run the server in a thread."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _agent() -> AgentSource:
    watch = WatchRequest(matchers=[], gpus=False, discover=False)
    return AgentSource(local_opener(), watch, reconnect=False, python=sys.executable)


def _request(url: str, model: str = "quick") -> BenchRequest:
    spec = BenchSpec(
        url=url, model=model, concurrency=2, requests=6, input_tokens=8, output_tokens=70, warmup_s=0.0
    )
    return BenchRequest(run="r", spec=spec, measured_on="this_machine")


async def test_a_local_agent_makes_the_run_and_tells_its_progress(url: str) -> None:
    source = _agent()
    told: list[BenchProgress] = []
    try:
        result = await bench(source, _request(url), Listeners(progress=told.append))
    finally:
        await source.close()
    assert (result.outcome, result.completed, result.measured_on) == ("done", 6, "this_machine")
    assert (result.output_tokens, result.tokens_counted_by) == (12, "chunks")
    assert told


async def test_a_server_that_is_no_known_engines_is_measured_by_its_port(url: str, tminus: Tminus) -> None:
    port = url.rpartition(":")[2]
    asked = ("--concurrency", "2", "--requests", "4", "--output-tokens", "70", "--json")

    done = await tminus.aside("bench", "--port", port, "--model", "quick", *asked, "--no-record")

    assert (done.code, done.last["outcome"], done.last["completed"]) == (0, "done", 4)
    assert done.last["measured_on"] == "server_host"


async def test_the_key_in_the_servers_own_arguments_is_used(url: str) -> None:
    command = [sys.executable, "-c", "input()", "--api-key", "sk-of-the-server"]
    server = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.PIPE)
    source = _agent()
    source.send(FollowRequest(pid=server.pid))
    keys.clear()
    try:
        await bench(source, replace(_request(url), key_from_argv=True), Listeners())
    finally:
        await source.close()
        server.kill()
        await server.wait()
    assert keys == {"Bearer sk-of-the-server"}


async def test_a_run_that_is_cancelled_comes_back_as_cancelled(url: str) -> None:
    source = _agent()
    cancelled = asyncio.Event()

    def measuring(progress: BenchProgress) -> None:
        if progress.stage == "measure":
            cancelled.set()

    try:
        running = bench(source, _request(url, "slow"), Listeners(progress=measuring), cancelled=cancelled)
        result = await asyncio.wait_for(running, 15)
    finally:
        await source.close()
    assert (result.outcome, result.completed) == ("cancelled", 0)


class Told:
    """A source that tells what it is given, and then ends or waits for ever."""

    def __init__(self, *events: AnyEvent, ends: bool = True) -> None:
        self._events = events
        self._ends = ends
        self.asked: list[AnyRequest] = []

    async def __aiter__(self) -> AsyncIterator[AnyEvent]:
        for event in self._events:
            yield event
        if not self._ends:
            await asyncio.Event().wait()

    def send(self, request: AnyRequest) -> None:
        self.asked.append(request)

    async def close(self) -> None:
        pass


def _link(state: State) -> Link:
    return Link(mono_s=0.0, wall_s=0.0, state=state, sentence=f"the link is {state}")


@pytest.mark.parametrize(
    ("events", "sentence"),
    [
        ([_link("failed")], "the link is failed"),
        ([_link("lost"), _link("closed")], "the link is closed"),
        ([_link("up")], "the source ended before the benchmark did"),
    ],
)
async def test_a_source_that_ends_first_gives_a_failed_result(events: list[AnyEvent], sentence: str) -> None:
    others: list[AnyEvent] = []
    result = await bench(Told(*events), _request("http://h:1"), Listeners(other=others.append))
    assert (result.outcome, result.completed, result.sentence) == ("failed", 0, sentence)
    assert result.ttft_ms.mean is None
    assert others


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([_link("connecting"), _link("up"), _link("lost"), _link("up")], "the link is lost"),
        ([_link("up"), Goodbye(mono_s=0.0, wall_s=0.0, sentence="no ping")], "no ping"),
        ([_link("up"), _link("failed")], "the link is failed"),
    ],
)
async def test_a_link_that_is_lost_under_a_run_gives_a_cut_result(events: list[AnyEvent], why: str) -> None:
    result = await bench(Told(*events), _request("http://h:1"), Listeners())
    assert (result.outcome, result.completed) == ("cut", 0)
    assert result.sentence == f"nothing was measured yet; {why}"
    assert exit_code(result) == 4


async def test_a_link_that_was_there_before_the_run_began_cuts_it_too() -> None:
    source = Told(_link("up"), _link("lost"), _link("up"), ends=False)
    heard = Heard(source)
    assert await heard.next() == _link("up")
    async with asyncio.timeout(5):
        result = await bench(source, _request("http://h:1"), Listeners(), heard=heard)
    await heard.close()

    assert result.outcome == "cut"


async def test_a_cancelled_run_without_an_answer_is_a_result_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.commands.bench.CANCEL_S", 0.05)
    source = Told(_link("up"), ends=False)
    cancelled = asyncio.Event()
    cancelled.set()
    result = await bench(source, _request("http://h:1"), Listeners(), cancelled=cancelled)
    assert result.outcome == "cancelled"
    assert isinstance(source.asked[-1], BenchCancelRequest)
