"""The bounded output: nothing durable is lost, samples are dropped and counted, memory stays."""

import base64
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_process import StartAgent

from tui.agent import output, wire
from tui.requests import AckRequest, FollowRequest, PingRequest, WatchRequest

FLOOD = """
import base64
def serve(channel):
    channel.receive(None)
    offset = 0
    while offset < TOTAL:
        data = b"%016d" % offset * 512
        offset += len(data)
        channel.send(wire.stamped(
            wire.LOG_BYTES, path="/x", device=1, inode=2, offset=offset, fingerprint_bytes=0,
            fingerprint_crc=0, behind_bytes=TOTAL - offset, data=base64.b64encode(data).decode(),
            fresh=False))
    channel.receive(None)
"""
SAMPLES = """
def serve(channel):
    channel.receive(None)
    for count in range(COUNT):
        channel.send(wire.stamped(wire.GPUS, gpus=[], cost_ms=float(count)))
    channel.send(wire.stamped(wire.GPU_DRIVER, state="ok", sentence="done"))
    channel.receive(None)
"""


class Reader:
    """The far end of the link, read only when asked."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._data = b""
        os.set_blocking(descriptor, False)

    def drain(self) -> None:
        """Read what the pipe holds."""
        while True:
            try:
                self._data += os.read(self._descriptor, 1 << 16)
            except BlockingIOError:
                return

    def messages(self) -> list[dict[str, Any]]:
        """Return all that came."""
        self.drain()
        return [json.loads(line) for line in self._data.splitlines()]


Ends = tuple[output.Output, Reader]


@pytest.fixture
def link() -> Iterator[Ends]:
    """The queue in front of a pipe, and the far end."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    yield output.Output(writer), Reader(reader)
    os.close(reader)
    os.close(writer)


def sample(number: int) -> bytes:
    return json.dumps({"kind": wire.GPUS, "number": number, "pad": "x" * 1000}).encode() + b"\n"


def test_messages_keep_their_order(link: Ends) -> None:
    queue, reader = link
    for number in range(10):
        queue.put(sample(number), droppable=number % 2 == 0)
    queue.write()

    assert [message["number"] for message in reader.messages()] == list(range(10))
    assert not queue.pending


def test_the_oldest_samples_go_and_their_number_is_told_when_the_link_moves(link: Ends) -> None:
    queue, reader = link
    for number in range(500):
        queue.put(sample(number), droppable=True)
        queue.write()
    while queue.pending:
        reader.drain()
        queue.write()
    received = reader.messages()

    samples = [message["number"] for message in received if message["kind"] == wire.GPUS]
    told = [message["samples"] for message in received if message["kind"] == wire.DROPPED]
    assert len(samples) < 300
    assert samples == sorted(samples)
    assert samples[-1] == 499
    assert sum(told) == 500 - len(samples)


def test_durable_messages_fill_the_room_and_are_never_dropped(link: Ends) -> None:
    queue, reader = link
    sent = 0
    while queue.room:
        queue.put(sample(sent))
        queue.write()
        sent += 1
    while queue.pending:
        reader.drain()
        queue.write()

    assert 200 < sent < 600
    assert [message["number"] for message in reader.messages()] == list(range(sent))
    assert queue.room


def test_a_client_that_does_not_read_costs_samples_but_no_log_byte_and_no_memory(agent: StartAgent) -> None:
    total, count = 32 * 1024 * 1024, 20_000
    flood, samples = FLOOD.replace("TOTAL", str(total)), SAMPLES.replace("COUNT", str(count))
    one = agent({"tail": flood, "gpus": samples})
    one.receive(wire.HELLO)
    before = resident_mib(one.process.pid)
    one.send(WatchRequest(matchers=[], discover=False))
    one.send(FollowRequest(pid=None, log_path="/x"))
    one.send(PingRequest(sent_s=0.0))
    grown = grows_to(one.process.pid) - before

    offset, received, dropped, done = 0, 0, 0, False
    while offset < total or not done:
        message = one.next()
        assert message is not None
        if message["kind"] == wire.LOG_BYTES:
            data = base64.b64decode(message["data"])
            assert data == b"%016d" % offset * 512
            offset += len(data)
        received += message["kind"] == wire.GPUS
        dropped += message["samples"] if message["kind"] == wire.DROPPED else 0
        done = done or message["kind"] == wire.GPU_DRIVER
    final = one.receive_within(wire.DROPPED, 0.3)
    dropped += final["samples"] if final is not None else 0

    assert offset == total
    assert received + dropped == count
    assert dropped > 0
    assert grown < 3


def test_no_more_of_the_log_is_under_way_than_the_client_has_room_for(agent: StartAgent) -> None:
    total = 4 * 1024 * 1024
    one = agent({"tail": FLOOD.replace("TOTAL", str(total)), "gpus": SAMPLES.replace("COUNT", "50")})
    one.acks = False
    one.receive(wire.HELLO)
    one.send(FollowRequest(pid=None, log_path="/x"))
    under_way = 0
    while (message := one.next(0.5)) is not None:
        under_way += len(json.dumps(message)) if message["kind"] == wire.LOG_BYTES else 0
    assert wire.LOG_WINDOW_BYTES <= under_way < 2 * wire.LOG_WINDOW_BYTES

    one.send(WatchRequest(matchers=[], discover=False))
    assert one.receive(wire.GPU_DRIVER)["sentence"] == "done"  # samples go past the log that waits
    one.send(AckRequest(log_bytes=under_way))
    assert one.receive(wire.LOG_BYTES)


def resident_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def grows_to(pid: int) -> float:
    """Return the most memory seen in half a second."""
    end_s = time.monotonic() + 0.5
    most = 0.0
    while time.monotonic() < end_s:
        most = max(most, resident_mib(pid))
        time.sleep(0.02)
    return most
