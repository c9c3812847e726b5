"""The agent's loop as a process: what it says, what it takes, and how it ends."""

import os
import signal
import subprocess
import time

import pytest
from agent_process import PATIENCE_S, Agent, StartAgent, alive, children_of, until

from tui.agent import wire
from tui.requests import ByeRequest, FollowRequest, PingRequest, WatchRequest

QUICK = "import tui.agent.wire as w; w.BLOCKING_DEADLINE_S = 0.3\nimport tui.agent.loop as l; l._TICK_S = 0.1"

NO_PIDFD = "import os\nif hasattr(os, 'pidfd_open'): del os.pidfd_open"


def watch(ping_timeout_s: float = 15.0) -> WatchRequest:
    return WatchRequest(matchers=[], ping_timeout_s=ping_timeout_s)


def last_words(agent: Agent) -> str:
    """Return the agent's goodbye and see that it ends."""
    sentence: str = agent.receive(wire.GOODBYE)["sentence"]
    assert agent.next() is None
    assert agent.process.wait(PATIENCE_S) == 0
    return sentence


def test_hello_comes_first(agent: StartAgent) -> None:
    one = agent()
    hello = one.next()

    assert hello is not None
    assert hello["kind"] == wire.HELLO
    assert hello["pid"] == one.process.pid
    assert hello["uid"] == os.getuid()
    assert hello["host"] == os.uname().nodename
    assert abs(hello["mono_s"] - time.monotonic()) < 60
    assert hello["memory_total_mib"] > 0


def test_a_ping_is_answered_with_its_own_time(agent: StartAgent) -> None:
    one = agent()
    one.send(PingRequest(sent_s=1.25))

    assert one.receive(wire.PONG)["sent_s"] == 1.25


def test_bye_ends_it_with_a_goodbye(agent: StartAgent) -> None:
    one = agent()
    one.send(ByeRequest())

    assert last_words(one) == "asked to end"


def test_the_end_of_its_input_ends_it(agent: StartAgent) -> None:
    one = agent()
    one.receive(wire.HELLO)

    assert one.close() == 0


def test_silence_of_the_client_ends_it(agent: StartAgent) -> None:
    one = agent(prelude=QUICK)
    one.send(watch(ping_timeout_s=0.3))

    assert last_words(one).startswith("no ping for ")


def test_a_client_that_pings_is_never_silent(agent: StartAgent) -> None:
    one = agent(prelude=QUICK)
    one.send(watch(ping_timeout_s=2.0))
    for count in range(50):
        one.send(PingRequest(sent_s=float(count)))
        assert one.receive(wire.PONG)["sent_s"] == count
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_it_with_a_goodbye(agent: StartAgent, number: signal.Signals) -> None:
    one = agent()
    one.send(watch())
    one.receive(wire.HELLO)
    until(lambda: len(children_of(one.process.pid)) == 2)
    workers = children_of(one.process.pid)
    one.process.send_signal(number)

    assert last_words(one) == f"ended by signal {int(number)}"
    assert not any(map(alive, workers))


def test_an_output_that_nobody_reads_any_more_ends_it(agent: StartAgent) -> None:
    one = agent()
    one.receive(wire.HELLO)
    assert one.process.stdout is not None
    one.process.stdout.close()

    one.process.wait(PATIENCE_S)


def test_what_is_no_request_is_told_and_survived(agent: StartAgent) -> None:
    one = agent()
    one.write(b'nonsense\n[]\n{"kind":"later_invention"}\n\xff\n')

    sentences = [one.receive(wire.NOTICE)["sentence"] for _ in range(4)]

    assert "nonsense" in sentences[0]
    assert "later_invention" in sentences[2]
    one.send(PingRequest(sent_s=1.0))
    one.receive(wire.PONG)


def test_a_request_without_end_is_refused(agent: StartAgent) -> None:
    one = agent()
    with pytest.raises(BrokenPipeError):
        one.write(b"x" * (12 * 1024 * 1024))
    assert "longer than" in one.receive(wire.GOODBYE)["sentence"]


@pytest.mark.parametrize("prelude", ["", NO_PIDFD], ids=["pidfd", "asking"])
def test_the_end_of_the_followed_process_is_told_at_once(agent: StartAgent, prelude: str) -> None:
    server = subprocess.Popen(["sleep", "60"])
    try:
        one = agent(prelude=prelude)
        one.send(FollowRequest(pid=server.pid))
        one.send(PingRequest(sent_s=0.0))
        one.receive(wire.PONG)
    finally:
        server.kill()
    began_s = time.monotonic()
    told = one.receive(wire.EXIT)

    assert (told["pid"], told["main"], told["title"]) == (server.pid, True, "sleep")
    assert told["how"] == "zombie"  # not reaped yet
    assert time.monotonic() - began_s < 20
    server.wait()
    assert one.receive_within(wire.EXIT, 0.6) is None


def test_a_pid_with_another_start_is_another_process(agent: StartAgent) -> None:
    one = agent()
    one.send(FollowRequest(pid=os.getpid(), started_s=1.0))

    told = one.receive(wire.EXIT)

    assert told["how"] == "gone"
    assert told["sentence"] == f"process {os.getpid()} is gone"


def test_letting_go_tells_of_no_exit(agent: StartAgent) -> None:
    server = subprocess.Popen(["sleep", "60"])
    one = agent()
    one.send(FollowRequest(pid=server.pid))
    one.send(FollowRequest(pid=None))
    one.send(PingRequest(sent_s=0.0))
    one.receive(wire.PONG)
    server.kill()
    server.wait()

    assert one.receive_within(wire.EXIT, 0.6) is None
