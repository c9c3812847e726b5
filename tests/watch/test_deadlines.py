"""Which time-outs count down while a server loads, and for how long yet."""

import pytest
from verdict_host import IDLES, LOADS, SPINS, STOPPED, Doing, VerdictHost
from watched_host import BOOTED_S, SGLANG, Watch, WatchedHost, process

from tui.engines.deadlines import Deadline
from tui.engines.phase import Phase
from tui.watch.deadlines import RunningDeadline, deadlines, running

STAMP = "[2026-11-29 13:48:34 TP{rank}] "


@pytest.fixture
def host(watched: Watch) -> WatchedHost:
    watched_host = watched()
    watched_host.hello()
    watched_host.wait(5)
    return watched_host


def starts(
    host: WatchedHost,
    command: str = SGLANG,
    engine: str = "sglang",
    environment: dict[str, str] | None = None,
) -> None:
    main = process(100, command, matched=engine, started_s=host.mono, environment=environment)
    host.processes(main)


def says(host: WatchedHost, text: str, rank: int = 0) -> None:
    host.log(STAMP.format(rank=rank) + text)


def told(host: WatchedHost) -> dict[str, RunningDeadline]:
    return {each.name: each for each in deadlines(host.state, host.mono)}


def test_nothing_counts_down_without_a_server(host: WatchedHost) -> None:
    assert deadlines(host.state, host.mono) == ()


def test_a_limit_of_a_phase_counts_from_its_beginning(host: WatchedHost) -> None:
    starts(host, environment={})
    assert told(host) == {}
    host.wait(38)
    says(host, "Init torch distributed begin.")
    began_s = host.mono
    host.wait(408)

    assert told(host) == {
        "rendezvous": RunningDeadline(
            name="rendezvous",
            left_s=192,
            seconds=600,
            source="PyTorch's default",
            strikes="ends the ranks",
            unless="if not all of them meet",
            at_s=began_s + 600,
        )
    }


def test_a_limit_that_is_over_has_nothing_left_and_goes_with_its_phase(host: WatchedHost) -> None:
    starts(host, environment={})
    says(host, "Init torch distributed begin.")
    host.wait(700)
    assert told(host)["rendezvous"].left_s == 0
    says(host, "Load weight begin. avail mem=9 GB")
    assert "rendezvous" not in told(host)


def test_the_nearest_comes_first(host: WatchedHost) -> None:
    starts(host, f"{SGLANG} --watchdog-timeout 900", environment={})
    says(host, "Init torch distributed begin.")
    host.log("INFO:     Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)")
    host.wait(60)
    assert [(each.name, each.left_s) for each in deadlines(host.state, host.mono)] == [
        ("warm-up request", 540),
        ("watchdog", 840),
    ]


def test_what_cannot_be_read_is_told_as_not_known(host: WatchedHost) -> None:
    starts(host, environment=None)
    host.log("INFO:     Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)")
    last = deadlines(host.state, host.mono)[-1]
    assert (last.name, last.seconds, last.left_s, last.at_s) == ("warm-up request", None, None, None)
    assert (last.source, last.strikes, last.unless) == (
        "the environment of the server cannot be read",
        "kills the server",
        "if the warm-up request is not answered",
    )


def test_a_limit_of_the_whole_load_counts_from_the_start_of_the_process(host: WatchedHost) -> None:
    starts(host, "vllm serve qwen --port 30000 -dp 2", "vllm", {"VLLM_ENGINE_READY_TIMEOUT_S": "900"})
    host.wait(100)
    assert [(each.name, each.left_s) for each in deadlines(host.state, host.mono)] == [("engine ready", 800)]


def test_nothing_counts_down_once_it_is_over(host: WatchedHost) -> None:
    starts(host, environment={})
    host.log("INFO:     Uvicorn running on http://127.0.0.1:30000 (Press CTRL+C to quit)")
    assert told(host) != {}
    host.processes()
    host.wait(5)
    host.processes()
    assert host.state.outcome == "failed"
    assert deadlines(host.state, host.mono) == ()


def test_a_limit_counts_only_from_what_has_happened() -> None:
    waits = Deadline("group", 600, "default", frozenset((Phase.CAPTURE,)), "wait", "ends", "if")
    assert running([waits], Phase.CAPTURE, {}, 100) == ()
    assert running([waits], Phase.WEIGHTS, {"wait": 50}, 100) == ()
    assert [each.left_s for each in running([waits], Phase.CAPTURE, {"wait": 50}, 100)] == [550]
    assert [each.left_s for each in running([waits], Phase.CAPTURE, {"wait": None}, 100)] == [None]


def test_the_barrier_behind_the_weights_counts_from_the_first_rank_that_has_them(host: WatchedHost) -> None:
    starts(host, environment={})
    for rank in (0, 1):
        says(host, "Init torch distributed begin.", rank)
        says(host, "Init torch distributed ends. mem usage=0.5 GB", rank)
        says(host, "Load weight begin. avail mem=100.00 GB", rank)
    host.wait(30)
    assert "load barrier" not in told(host)
    says(host, "Load weight end. type=LlamaForCausalLM, avail mem=40.00 GB, mem usage=60.00 GB.", 1)
    host.wait(80)
    assert told(host)["load barrier"].left_s == 400
    assert told(host)["load barrier"].unless == "if a rank is not loaded"
    says(host, "Load weight end. type=LlamaForCausalLM, avail mem=40.00 GB, mem usage=60.00 GB.", 0)
    assert "load barrier" not in told(host)


def in_capture(host: WatchedHost, ranks: VerdictHost, text: str = "Capture cuda graph begin.") -> None:
    """Let both ranks of a server stand in a phase, and do what ``ranks`` says."""
    host.now = ranks.now_s - BOOTED_S - 60
    titles = {101: "sglang::scheduler_TP0", 102: "sglang::scheduler_TP1"}
    main = process(100, SGLANG, matched="sglang", started_s=host.mono, environment={})
    members = [process(pid, title, matched=None, ppid=100, title=title) for pid, title in titles.items()]
    host.processes(main, *members)
    for rank in (0, 1):
        says(host, text, rank)
    host.state.judging.movement = ranks.movement


def at(host: WatchedHost, ranks: VerdictHost) -> dict[str, float | None]:
    return {each.name: each.left_s for each in deadlines(host.state, ranks.now_s)}


def test_the_limit_of_a_collective_counts_while_a_gpu_waits_outside_a_capture(host: WatchedHost) -> None:
    ranks = VerdictHost(doing=[SPINS, LOADS])
    in_capture(host, ranks, "KV Cache is allocated. #tokens: 1000, K size: 1.00 GB, V size: 1.00 GB")
    ranks.run(1)
    assert "NCCL group" not in at(host, ranks)
    ranks.run(120)
    left_s = at(host, ranks)["NCCL group"]
    assert left_s is not None
    assert 475 <= left_s <= 485
    ranks.doing[0] = LOADS
    ranks.run(10)
    assert "NCCL group" not in at(host, ranks)


def test_a_captured_collective_has_no_limit(host: WatchedHost) -> None:
    ranks = VerdictHost(doing=[SPINS, LOADS])
    in_capture(host, ranks)
    ranks.run(120)
    assert at(host, ranks) == {}


def test_the_heartbeat_counts_while_a_rank_is_stuck_in_the_kernel(host: WatchedHost) -> None:
    stuck = Doing(state="D", wchan="folio_wait_bit_common")
    ranks = VerdictHost(doing=[IDLES, stuck])
    in_capture(host, ranks)
    ranks.run(50)
    assert "NCCL heartbeat" not in at(host, ranks)
    ranks.run(70)
    left_s = at(host, ranks)["NCCL heartbeat"]
    assert left_s is not None
    assert 838 <= left_s <= 843
    ranks.doing[1] = STOPPED
    ranks.run(70)
    assert "NCCL heartbeat" not in at(host, ranks)
