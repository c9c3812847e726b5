"""When a host is asked under what its server runs: once, when all of it is there."""

from typing import Literal

import pytest
from watched_host import Watch, WatchedHost

from tui.provenance import Provenance
from tui.requests import ProveRequest
from tui.watch.proving import prove_request


def answer(host: WatchedHost, pid: int = 100, started_s: float | None = None) -> Provenance:
    return Provenance(**host.when, pid=pid, started_s=started_s, environments=[], libraries=[])


@pytest.fixture
def host(watched: Watch) -> WatchedHost:
    """A host with a server that is not ready."""
    host = watched()
    host.hello()
    host.wait(5)
    host.starts(argv="python3 -m sglang.launch_server --model-path acme/zed --revision abc --download-dir /m")
    return host


def test_a_server_is_asked_about_when_it_is_ready(host: WatchedHost) -> None:
    assert prove_request(host.state) is None
    host.becomes_ready("acme/zed")
    request = prove_request(host.state)
    assert isinstance(request, ProveRequest)
    assert (request.pid, request.started_s) == (100, host.state.started_s)
    assert (request.hub_model, request.revision, request.hub_cache) == ("acme/zed", "abc", "/m")
    assert "NCCL_" in request.environment


def test_the_request_stays_the_same_until_the_answer_and_then_there_is_none(host: WatchedHost) -> None:
    host.becomes_ready("acme/zed")
    first = prove_request(host.state)
    host.wait(10)
    host.log("[2026-11-29 13:48:34 TP0] Decode batch")
    assert prove_request(host.state) == first
    host.happen(answer(host))
    assert prove_request(host.state) is None
    assert host.state.provenance is not None


def test_a_benchmark_under_way_is_a_reason_too(host: WatchedHost) -> None:
    host.state.bench.started("r1")
    assert prove_request(host.state) is not None


@pytest.mark.parametrize("state", ["lost", "failed"])
def test_over_a_link_that_is_down_nothing_is_asked(
    host: WatchedHost, state: Literal["lost", "failed"]
) -> None:
    host.becomes_ready("acme/zed")
    host.link(state)
    assert prove_request(host.state) is None


def test_without_an_agent_nobody_can_be_asked(watched: Watch) -> None:
    host = watched(url="http://127.0.0.1:30000")
    host.hello(protocol=0)
    host.becomes_ready()
    assert host.state.ready
    assert prove_request(host.state) is None


def test_an_answer_about_another_server_is_not_taken(host: WatchedHost) -> None:
    host.becomes_ready("acme/zed")
    host.happen(answer(host, pid=99))
    host.happen(answer(host, started_s=host.mono - 500))
    assert host.state.provenance is None


def test_the_next_server_is_asked_about_anew(host: WatchedHost) -> None:
    host.becomes_ready("acme/zed")
    host.happen(answer(host))
    host.exits()
    host.wait(5)
    host.starts(pid=200)
    assert host.state.provenance is None
    host.becomes_ready()
    request = prove_request(host.state)
    assert request is not None
    assert request.pid == 200


def test_a_server_that_has_ended_keeps_what_is_known_of_it(host: WatchedHost) -> None:
    host.becomes_ready("acme/zed")
    host.happen(answer(host))
    host.exits()
    assert prove_request(host.state) is None
    assert host.state.provenance is not None
