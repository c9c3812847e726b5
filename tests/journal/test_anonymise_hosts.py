"""Hosts are found whatever their letters, wherever a line names them; what only looks like one stays."""

import pytest
from awkward_recordings import at

from tui.events import Hello, Notice
from tui.journal.anonymise import Anonymiser
from tui.replay.ordinary import ordinary_words


def hello(host: str, user: str = "joe") -> Hello:
    return Hello(
        **at(0.0),
        protocol=1,
        host=host,
        user=user,
        uid=1,
        pid=1,
        boot_id="b",
        python="3",
        kernel="6",
        cpu_count=1,
        memory_total_mib=None,
    )


def notice(sentence: str) -> Notice:
    return Notice(**at(0.0), level="info", about="host", sentence=sentence)


def changed(*texts: str, host: str = "box", user: str = "joe") -> list[str]:
    """Return texts as they are told after a hello of a host and a user."""
    anonymiser = Anonymiser(ordinary_words())
    events = [hello(host, user), *map(notice, texts)]
    for event in events:
        anonymiser.learn(event)
    _ = anonymiser.anonymised(events[0])
    return [anonymiser.anonymised(notice(text)).sentence for text in texts]


@pytest.mark.parametrize(
    "host",
    ["übermaschine", "gpu+box", "a.+b", "größe-1", "node_1", "q(1)", "box.", "42", "my box", "x" * 300],
)
def test_whatever_stands_where_a_host_stands_is_replaced(host: str) -> None:
    anonymiser = Anonymiser()
    anonymiser.learn(hello(host))
    after = anonymiser.anonymised(hello(host)).host
    assert host.strip(".") not in after
    assert after.strip(".") in ("host-1", "domain-1")


@pytest.mark.parametrize("host", ["übermaschine", "gpu+box", "q(1)", "my box"])
def test_it_is_replaced_in_sentences_too(host: str) -> None:
    assert changed(f"{host} says hi", host=host) == ["host-1 says hi"]


@pytest.mark.parametrize(
    ("user", "text", "expected"),
    [
        ("dom\\user9", "dom\\user9, user9 of dom", "domain-1\\user-1, user-1 of domain-1"),
        ("joe@corp77.ai", "joe at corp77.ai", "user-1 at domain-1"),
        ("jörg", "jörg is in", "user-1 is in"),
        ("u$er(1)", "u$er(1) is in", "user-1 is in"),
    ],
)
def test_a_user_is_replaced_with_and_without_the_domain(user: str, text: str, expected: str) -> None:
    assert changed(text, user=user) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "trainbox-7:4242:4243 [0] NCCL INFO cudaDriverVersion 12080",
        "(Worker pid=1) trainbox-7:4242:4243 [3] misc/socket.cc:484 NCCL WARN x",
        "[1,0]<stdout>:trainbox:4242:4243 [0] NCCL INFO x",
        "[1762000000.123456] [trainbox:4242:0] ucp_worker.c:1 UCX WARN x",
        "[trainbox:04242] *** Process received signal ***",
        "world_size=8 node_rank=0 master=trainbox:20000",
        "The client socket has timed out while trying to connect to (trainbox, 29500).",
        "failed to connect to [trainbox]:29500 (errno: 111 - Connection refused)",
        "SocketImpl(fd=27, addr=[trainbox]:34567, remote=[10.0.0.1]:29500)",
        "tcp://trainbox:20000 ray://trainbox:10001",
        "MASTER_ADDR=trainbox MASTER_PORT=1",
        "python -m sglang.launch_server --dist-init-addr trainbox:20000 --nnodes 2",
        "--nccl-init-addr=trainbox:20000",
        "--node-ip trainbox",
        "dist_init_addr='trainbox:20000'",
        "{'host': 'trainbox', 'port': 1}",
        "ssh: connect to host trainbox port 22: Connection refused",
        "Could not resolve host: trainbox",
        "Cannot connect to host trainbox:8000 ssl:default",
        "[Gloo] Rank 0 is connected to trainbox-7",
        "hostname: trainbox-7",
        "pulled by trainbox-7:29500",
        "trainbox.corp.internal has it",
        "trainbox.startup.ai; trainbox-1.foo.dev, trainbox.foo.io:8000",
        "trainbox-1.ns.svc.cluster.local",
        "über-trainbox.lan",
        "?to=http%3A%2F%2Ftrainbox%3A80",
    ],
)
def test_hosts_in_lines_are_replaced(text: str) -> None:
    (after,) = changed(text)
    assert "trainbox" not in after
    assert "host-" in after or "domain-" in after


def test_one_host_is_the_same_in_every_place() -> None:
    texts = changed("master=trainbox:20000", "connect to (trainbox, 20000)", "trainbox:1:2 [0] NCCL INFO x")
    assert texts == ["master=host-2:20000", "connect to (host-2, 20000)", "host-2:1:2 [0] NCCL INFO x"]


def test_a_host_of_the_same_row_is_one_too() -> None:
    assert changed("gpu-node18 gpu-node17 gpu-nodes", host="gpu-node17") == ["host-2 host-1 gpu-nodes"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("peer ip-10-20-30-41.ec2.internal", "peer host-2.domain-1"),
        ("10-20-30-40:1:2 [0] NCCL INFO", "host-2:1:2 [0] NCCL INFO"),
        ("from 10.20.30.40 and 10-20-30-40", "from 192.0.2.1 and 192.0.2.1"),
    ],
)
def test_an_address_written_as_a_host_is_replaced(text: str, expected: str) -> None:
    assert changed(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "sglang.srt.model_executor.model_runner torch.distributed torch.distributed.elastic",
        "threading.local object, torch.cuda.local, vllm.v1.engine.io, logger.info, self.x1.at",
        "model_runner.py:1234 layer12:1024 GPU0:81920 rank0:29500 TP0:12345 cuda:0 mlx5_0:1",
        "host=None, port=8000, host=args.host, addr=0x7f00, hostname=self.hostname",
        "connected to rank0, connected to 7 peer ranks, no route to host",
        "nvidia-cublas==12.8.4.1 torch 2.9.0.dev20251101 flashinfer-0.5.2 v0.5.0.post1",
        "usage: --host HOST --port PORT; --host is required",
        "listening on localhost:8000 master=localhost:29500 MASTER_ADDR=127.0.0.1",
        "config.json tokenizer.model special_tokens_map.json model-00001-of-00002.safetensors",
        "step 12: loss 1.5, ETA 00:12:30, 10:00:00.123, shape (batch, 1024) of (int8, 64)",
        "0.75.in 1.2.us x.py:12 [rank0]: Traceback",
    ],
)
def test_what_only_looks_like_a_host_stays(text: str) -> None:
    assert changed(text) == [text]
