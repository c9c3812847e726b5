"""Workers that hang, die or flood, under the real loop: the agent goes on and says so."""

import os
import signal
import time

from agent_process import Agent, Message, StartAgent, alive, children_of, until

from tui.agent import wire
from tui.requests import FollowRequest, PingRequest, WatchRequest

# A worker is overdue after 0.3 s instead of 5; the agent looks every 0.1 s; a dead worker is back in 0.1 s.
QUICK = (
    "import tui.agent.wire as w; w.BLOCKING_DEADLINE_S = 0.3\n"
    "import tui.agent.loop as l; l._TICK_S = 0.1\n"
    "import tui.agent.worker as k; k._RESPAWN_S = (0.1,)\n"
)
SAMPLE = "wire.stamped(wire.GPUS, gpus=[], cost_ms=0.0)"
DRIVER = "wire.stamped(wire.GPU_DRIVER, state='ok', sentence='fine', version='1')"
HANGS_ONCE = f"""
def serve(channel):
    channel.receive(None)
    channel.send({DRIVER})
    channel.send({SAMPLE})
    while not os.path.exists({{flag!r}}): time.sleep(0.01)
    while True:
        channel.send({SAMPLE})
        channel.receive(0.1)
"""
HANGS = "def serve(channel):\n    channel.receive(None)\n    time.sleep(1000)\n"


def watch() -> WatchRequest:
    return WatchRequest(matchers=[])


def of_driver(agent: Agent, state: str) -> Message:
    """Return the next word on the driver with this state: a busy machine makes any worker silent at times."""
    while (message := agent.receive(wire.GPU_DRIVER))["state"] != state:
        pass
    return message


def notice(agent: Agent) -> Message:
    """Return the next notice but that a reader has not answered, which a busy machine causes too."""
    while "has not answered" in (message := agent.receive(wire.NOTICE))["sentence"]:
        pass
    return message


def answers(agent: Agent) -> None:
    """See that the agent answers a ping."""
    agent.send(PingRequest(sent_s=time.monotonic()))
    agent.receive(wire.PONG)


def test_a_driver_that_hangs_is_told_and_recovers_by_itself(agent: StartAgent, tmp_path: object) -> None:
    flag = f"{tmp_path}/go"
    one = agent({"gpus": HANGS_ONCE.format(flag=flag)}, prelude=QUICK)
    one.send(watch())
    of_driver(one, "ok")
    one.receive(wire.GPUS)

    silent = [one.receive(wire.GPU_DRIVER) for _ in range(3)]
    answers(one)
    with open(flag, "w"):
        pass
    back = one.receive(wire.GPU_DRIVER)
    while back["state"] == "silent":
        silent.append(back)
        back = one.receive(wire.GPU_DRIVER)

    assert {message["state"] for message in silent} == {"silent"}
    assert silent[0]["sentence"] == f"driver has not answered for {int(silent[0]['silent_s'])} s"
    assert silent[0]["silent_s"] < silent[-1]["silent_s"]
    assert (back["state"], back["version"]) == ("ok", "1")
    assert back["mono_s"] > silent[-1]["mono_s"]
    one.receive(wire.GPUS)


def test_another_reader_that_hangs_is_told_once(agent: StartAgent) -> None:
    one = agent({"processes": HANGS}, prelude=QUICK)
    one.send(watch())

    notice = one.receive(wire.NOTICE)

    assert (notice["level"], notice["about"]) == ("warning", "processes")
    assert "the process reader has not answered" in notice["sentence"]
    assert one.receive_within(wire.NOTICE, 0.5) is None


def test_a_worker_that_hangs_is_never_doubled(agent: StartAgent) -> None:
    one = agent({"gpus": HANGS}, prelude=QUICK)
    one.send(watch())
    one.receive(wire.GPU_DRIVER)
    before = children_of(one.process.pid)
    one.send(watch())
    one.receive(wire.GPU_DRIVER)
    one.receive(wire.GPU_DRIVER)

    assert sorted(children_of(one.process.pid)) == sorted(before)


def test_a_stopped_worker_is_told_and_killed_at_the_end(agent: StartAgent) -> None:
    ticking = f"def serve(channel):\n  while True:\n    channel.receive(0.05)\n    channel.send({SAMPLE})\n"
    one = agent({"gpus": ticking}, prelude=QUICK)
    one.send(WatchRequest(matchers=[], discover=False))
    one.receive(wire.GPUS)
    (worker,) = children_of(one.process.pid)
    os.kill(worker, signal.SIGSTOP)

    of_driver(one, "silent")
    assert one.close() == 0
    until(lambda: not alive(worker))


def test_a_worker_that_dies_is_told_and_started_again_with_what_was_asked(agent: StartAgent) -> None:
    dies_once = f"""
def serve(channel):
    request = channel.receive(None)
    channel.send({SAMPLE})
    channel.send(wire.stamped(wire.NOTICE, level="info", about=request["kind"], sentence=str(os.getpid())))
    if channel.receive(None)["kind"] == wire.FOLLOW: raise ValueError("told to")
"""
    one = agent({"processes": dies_once}, prelude=QUICK)
    one.send(watch())
    first = notice(one)
    one.send(FollowRequest(pid=None))
    failed, ended, second = notice(one), notice(one), notice(one)

    assert "the process reader failed: ValueError: told to" in failed["sentence"]
    assert ended["sentence"] == "the process reader ended (status 1); it is started again"
    assert (first["about"], second["about"]) == (wire.WATCH, wire.WATCH)
    assert first["sentence"] != second["sentence"]


def test_a_killed_tail_goes_on_behind_the_bytes_that_were_passed_on(agent: StartAgent) -> None:
    tells = """
def serve(channel):
    request = channel.receive(None)
    resume = request["resume"]
    offset = resume["offset"] if resume else 0
    channel.send(wire.stamped(
        wire.LOG_BYTES, path="/x", device=1, inode=2, offset=offset + 5, fingerprint_bytes=5,
        fingerprint_crc=9, behind_bytes=0, data="aGVsbG8=", fresh=not resume))
    channel.receive(None)
"""
    one = agent({"tail": tells}, prelude=QUICK)
    one.send(FollowRequest(pid=None, log_path="/x"))
    assert one.receive(wire.LOG_BYTES)["offset"] == 5
    (tail,) = children_of(one.process.pid)
    os.kill(tail, signal.SIGKILL)

    resumed = one.receive(wire.LOG_BYTES)

    assert (resumed["offset"], resumed["fresh"]) == (10, False)


def test_a_hung_worker_holds_neither_the_link_nor_outlives_a_killed_agent(agent: StartAgent) -> None:
    one = agent({"gpus": HANGS, "processes": HANGS}, prelude=QUICK)
    one.send(watch())
    one.receive(wire.GPU_DRIVER)
    workers = children_of(one.process.pid)
    one.process.kill()

    while one.next() is not None:  # the end of the output: nobody else holds it
        pass
    assert len(workers) == 2
    until(lambda: not any(map(alive, workers)))


def test_idle_workers_end_with_a_killed_agent(agent: StartAgent) -> None:
    one = agent()
    one.send(watch())
    one.send(FollowRequest(pid=os.getpid(), log_path="/x"))
    until(lambda: len(children_of(one.process.pid)) == 5)
    workers = children_of(one.process.pid)
    one.process.kill()

    until(lambda: not any(map(alive, workers)))


def test_a_worker_has_no_descriptor_of_the_agent_or_of_another(agent: StartAgent) -> None:
    lists = """
def serve(channel):
    channel.receive(None)
    paths = ["/proc/self/fd/" + fd for fd in os.listdir("/proc/self/fd")]
    names = [os.readlink(path) for path in paths if os.path.lexists(path)]
    channel.send(wire.stamped(wire.NOTICE, level="info", about="fd", sentence=" ".join(sorted(names))))
    channel.receive(None)
"""
    one = agent({"processes": lists, "gpus": HANGS})
    one.send(watch())
    names = one.receive(wire.NOTICE)["sentence"].split()

    assert names.count("/dev/null") == 3
    assert sum(name.startswith("pipe:") for name in names) == 3  # requests, messages, lifeline
    assert len(names) == 6


def test_a_finished_worker_is_started_again_only_when_it_is_needed(agent: StartAgent) -> None:
    once = f"def serve(channel):\n    channel.receive(None)\n    channel.send({SAMPLE})\n"
    one = agent({"gpus": once}, prelude=QUICK)
    one.send(WatchRequest(matchers=[], discover=False))
    one.receive(wire.GPUS)
    until(lambda: not children_of(one.process.pid))
    assert one.receive_within(wire.GPUS, 0.4) is None

    one.send(WatchRequest(matchers=[], discover=False))
    one.receive(wire.GPUS)
