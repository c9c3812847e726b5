"""Readiness by the host's own curl or wget: the ladder live, and what each prints taken apart."""

import os
import shutil
from collections.abc import AsyncIterator, Callable

import pytest
from bare_host import BareHost
from ready_server import OpenAi
from watching import Watching

from tui.events import Notice, Outcome, Probe
from tui.requests import FollowRequest, ProbePlan, WatchRequest
from tui.transport.agent_source import AgentSource
from tui.transport.local import local_opener
from tui.transport.plain_shell.clock import ShellClock
from tui.transport.plain_shell.hello import ShellHello
from tui.transport.plain_shell.prober import Prober
from tui.transport.plain_shell.web_answer import Tool, web_answer

Begin = Callable[[str], Watching]


@pytest.fixture
async def ask(bare_host: BareHost) -> AsyncIterator[Begin]:
    """Watch a URL through a shell here; closed with the test."""
    started: list[Watching] = []

    def start(url: str) -> Watching:
        opener = local_opener({**os.environ, "PATH": bare_host.path})
        source = AgentSource(opener, WatchRequest(matchers=[]), reconnect=False, plain_shell=True)
        source.send(FollowRequest(pid=None, probe=ProbePlan(url=url)))
        started.append(Watching(source))
        return started[-1]

    yield start
    for watching in started:
        await watching.close()


@pytest.fixture(params=["curl", "wget", "busybox"])
def tool(
    request: pytest.FixtureRequest,
    needs: Callable[[str], str],
    bare_host: BareHost,
    monkeypatch: pytest.MonkeyPatch,
) -> str:
    """Make one of them what the host has."""
    name = str(request.param)
    if name == "busybox":
        (bare_host.folder / "wget").symlink_to(needs("busybox"))
    else:
        needs(name)
    monkeypatch.setattr(ShellHello, "tool", name)
    return name


async def test_a_ready_server_is_climbed_to_its_token(tool: str, ask: Begin, ready_port: int) -> None:
    watching = ask(f"http://127.0.0.1:{ready_port}")
    token = await watching.find(Probe, lambda probe: probe.rung == "token")
    rungs = [(event.rung, event.outcome) for event in watching.events if isinstance(event, Probe)]

    assert (token.outcome, token.model, token.text) == ("ok", "org/model", "Hello")
    assert rungs[:4] == [("port", "ok"), ("health", "ok"), ("models", "ok"), ("token", "ok")]
    assert 0 < token.latency_ms < 10_000


async def test_a_closed_port_is_refused(tool: str, ask: Begin, free_port: int) -> None:
    probe = await ask(f"http://127.0.0.1:{free_port}").find(Probe)

    assert (probe.rung, probe.outcome, probe.detail) == ("port", "refused", "connection refused")


async def test_a_server_that_wants_a_key_says_so(
    tool: str, ask: Begin, ready_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenAi, "key", "sk-1")
    watching = ask(f"http://127.0.0.1:{ready_port}")
    health = await watching.find(Probe, lambda probe: probe.rung == "health")

    assert (health.outcome, health.status) == ("key_needed", 401)


async def test_without_curl_and_wget_readiness_is_said_not_to_be_known(
    ask: Begin, ready_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ShellHello, "tool", None)
    watching = ask(f"http://127.0.0.1:{ready_port}")
    notice = await watching.find(Notice, lambda notice: "curl" in notice.sentence)

    assert notice.level == "warning"
    assert not [event for event in watching.events if isinstance(event, Probe)]


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
@pytest.mark.parametrize("tool_name", ["curl", "wget", "busybox"])
async def test_the_key_is_in_no_argument_of_a_program(tool_name: Tool) -> None:
    sent: list[str] = []
    plan = ProbePlan(url="http://h:1", api_key='a"b\\c', health_timeout_s=-9.99)
    prober = Prober(plan, tool_name, ShellClock(), sent.append, lambda _: None)
    await prober._ask("/health", -9.99, None)  # pyright: ignore[reportPrivateUsage]
    arguments = [command for command in sent if command.startswith("a ")]

    assert len(arguments) == 1
    assert 'a"b' not in arguments[0]
    assert (r'c header = "Authorization: Bearer a\"b\\c"' in sent) == (tool_name == "curl")


# As curl 7.88, GNU wget 1.21 and busybox 1.35 print it.
FAULTS: list[tuple[Tool, str, int, Outcome]] = [
    ("curl", "curl: (7) Failed to connect to 127.0.0.1 port 9: Couldn't connect to server", 7, "refused"),
    ("curl", "curl: (28) Operation timed out after 1001 milliseconds", 28, "timeout"),
    ("curl", "curl: (6) Could not resolve host: nowhere", 6, "unreachable"),
    ("curl", "curl: (52) Empty reply from server", 52, "reset"),
    ("curl", "curl: (1) Received HTTP/0.9 when not allowed", 1, "not_http"),
    ("curl", "curl: (60) SSL certificate problem: self-signed certificate", 60, "tls"),
    ("curl", "", 127, "unreachable"),
    ("wget", "failed: Connection refused.", 4, "refused"),
    ("wget", "wget: unable to resolve host address 'nowhere'", 4, "unreachable"),
    ("busybox", "wget: can't connect to remote host (127.0.0.1): Connection refused", 1, "refused"),
    ("busybox", "", 143, "timeout"),
]


@pytest.mark.parametrize(("name", "text", "code", "outcome"), FAULTS, ids=range(len(FAULTS)))
def test_a_failed_question_is_told_by_its_kind(name: Tool, text: str, code: int, outcome: Outcome) -> None:
    answer = web_answer(name, text, code)

    assert (answer.status, answer.outcome) == (None, outcome)
    assert answer.detail


@pytest.mark.parametrize("name", ["curl", "wget"])
def test_the_body_is_what_follows_the_head(name: Tool) -> None:
    indent, end = ("", "\n\n") if name == "curl" else ("  ", "\n")
    text = f'{indent}HTTP/1.1 200 OK\n{indent}Server: llama.cpp{end}{{"data":\n  []}}'
    answer = web_answer(name, text, 0)

    assert (answer.status, answer.server, answer.body) == (200, "llama.cpp", b'{"data":\n  []}')


def test_a_head_before_the_head_is_left_out() -> None:
    text = "HTTP/1.1 100 Continue\n\nHTTP/1.1 503 Service Unavailable\nserver: uvicorn\n\nloading"

    assert web_answer("curl", text, 0).status == 503
