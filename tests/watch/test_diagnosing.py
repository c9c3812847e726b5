"""What a diagnosis would touch, and when there is none: decided before the host is asked for anything."""

import pytest
from msgspec.structs import replace
from watched_host import WatchedHost, process

from tui.events import Process, Processes
from tui.requests import DiagnoseRequest
from tui.signals import Evidence
from tui.watch.diagnosing import Wanted, wanted
from tui.watch.options import WatchOptions

LAUNCHER = "python3 -m sglang.launch_server --model-path /models/qwen --tp 2"
WEIGHTS = "[2026-11-29 14:40:21 TP0] Load weight begin. avail mem=138.86 GB"
INIT = "[2026-11-29 14:40:20 TP0] Init torch distributed begin."
NCCL = "[2026-11-29 14:40:21 TP0] sglang is using nccl==2.28.9"


def tree(ranks: int = 2, environment: dict[str, str] | None = None) -> list[Process]:
    """Return a launcher and its ranks."""
    main = process(10, LAUNCHER, matched="sglang", environment=environment)
    titles = [f"sglang::scheduler_TP{rank}" for rank in range(ranks)]
    return [
        main,
        *(process(11 + at, title, matched="sglang", ppid=10, title=title) for at, title in enumerate(titles)),
    ]


def loading(*lines: str, ranks: int = 2, environment: dict[str, str] | None = None) -> WatchedHost:
    """Return a host on which a server loads and has logged these lines."""
    host = WatchedHost(WatchOptions())
    host.hello()
    host.happen(Processes(**host.when, processes=tree(ranks, environment), hidden=0))
    if lines:
        host.log(*lines)
    host.wait(1.0)
    return host


def asked(host: WatchedHost) -> DiagnoseRequest:
    plan = wanted(host.state, host.mono)
    assert isinstance(plan, Wanted), plan
    return plan.request


def test_all_ranks_are_dumped_and_the_sentence_says_what_is_touched() -> None:
    host = loading(INIT, NCCL, WEIGHTS)

    plan = wanted(host.state, host.mono)

    assert isinstance(plan, Wanted)
    assert plan.request == DiagnoseRequest(pids=[11, 12], ras_port=28028, nccl_version="2.28.9")
    assert plan.sentence == (
        "3 stack dumps, 10 s apart, of TP0 (pid 11), TP1 (pid 12) by py-spy where the host has it "
        "(they are not stopped); then NCCL RAS on port 28028, at most twice"
    )


def test_without_python_on_the_host_that_is_the_reason_and_not_that_no_server_is_followed() -> None:
    host = WatchedHost(WatchOptions())
    host.hello()
    assert host.state.hello is not None
    host.happen(replace(host.state.hello, python=""))

    assert "no python3" in str(wanted(host.state, host.mono))


def test_only_the_quiet_ranks_are_dumped_while_others_move() -> None:
    host = loading(INIT, WEIGHTS)
    host.state.judging.movement.stack_moved(11, host.mono)

    assert asked(host).pids == [12]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ((), "the load is in its init as far as is known"),
        ((INIT,), "the load is in its init"),
        ((WEIGHTS, INIT.replace("TP0", "TP1")), "the load is in its init"),
    ],
)
def test_ras_is_never_asked_during_the_init(lines: tuple[str, ...], why: str) -> None:
    host = loading(*lines)

    plan = wanted(host.state, host.mono)

    assert isinstance(plan, Wanted)
    assert plan.request.ras_port is None
    assert why in plan.request.ras_refusal
    assert f"NCCL RAS is not asked: {plan.request.ras_refusal}" in plan.sentence


def test_nor_while_the_log_is_still_read() -> None:
    host = loading(WEIGHTS)
    host.log(WEIGHTS, behind_bytes=1000)

    assert "still read" in asked(host).ras_refusal


def test_nor_where_there_is_one_rank() -> None:
    assert asked(loading(WEIGHTS, ranks=1)).ras_refusal == "one rank has nobody to communicate with"


@pytest.mark.parametrize(
    ("variables", "port", "why"),
    [
        ({"NCCL_RAS_ENABLE": "0"}, None, "turns it off"),
        ({"NCCL_RAS_ADDR": "localhost:4711"}, 4711, ""),
        ({"NCCL_RAS_ADDR": "[::1]:4711"}, 4711, ""),
        ({"NCCL_RAS_ADDR": "10.0.0.7:4711"}, None, "this host's own address"),
        ({"NCCL_RAS_ADDR": "nonsense"}, None, "names no port"),
        ({"NCCL_RAS_ADDR": "localhost:99999"}, None, "names no port"),
    ],
)
def test_the_environment_says_where_ras_is(variables: dict[str, str], port: int | None, why: str) -> None:
    request = asked(loading(WEIGHTS, environment=variables))

    assert request.ras_port == port
    assert why in request.ras_refusal


def test_without_a_version_in_the_log_the_host_has_to_tell() -> None:
    assert asked(loading(WEIGHTS)).nccl_version is None


def test_where_nothing_is_followed_there_is_nothing_to_look_into() -> None:
    host = WatchedHost(WatchOptions())
    assert isinstance(wanted(host.state, None), str)
    host.hello()

    assert wanted(host.state, host.mono) == "no server is followed: there is nothing to look into"


def test_a_url_alone_has_no_processes() -> None:
    host = WatchedHost(WatchOptions(url="http://gpu01:8000"))
    host.hello(protocol=0)

    assert "name a HOST" in str(wanted(host.state, host.mono))


def test_nothing_is_asked_while_the_link_is_down() -> None:
    host = loading(WEIGHTS)
    host.link("lost")

    assert "no server is followed" in str(wanted(host.state, host.mono))


def test_one_at_a_time_and_one_that_fell_silent_is_over() -> None:
    host = loading(WEIGHTS)
    host.happen(Evidence(**host.when, asked="diagnosis", found=True, sentence="begun"))

    assert wanted(host.state, host.mono) == "a diagnosis runs already"

    host.wait(61.0)
    assert isinstance(wanted(host.state, host.mono), Wanted)


def test_very_many_ranks_are_not_all_dumped() -> None:
    assert len(asked(loading(WEIGHTS, ranks=64)).pids) == 16
