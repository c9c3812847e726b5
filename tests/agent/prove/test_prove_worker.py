"""The worker as a process of its own, with the real pynvml on a stand-in for the driver's library."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from agent_process import Agent, Served, StartAgent, children_of, until

from tui.agent import wire
from tui.agent.prove import worker
from tui.requests import ProveRequest

SLEEP = "import time; print('here', flush=True); time.sleep(100)"
Message = dict[str, Any]


class Stub(Protocol):
    """The stand-in for NVML."""

    def environment(self, **switches: Any) -> dict[str, str]: ...


Start = Callable[..., Served]


@pytest.fixture
def server(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process under a small environment, as a server is one."""
    environment = {"NCCL_ALGO": "Tree", "HF_TOKEN": "hf_a_secret_of_mine", "HOME": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", SLEEP], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        yield process
        process.kill()


def asked(pid: int, started_s: float | None = None, **more: Any) -> ProveRequest:
    return ProveRequest(pid=pid, started_s=started_s, environment=["NCCL_", "HF_"], **more)


def answered(worker: Served | Agent, request: ProveRequest) -> Message:
    worker.send(request)
    return worker.receive(wire.PROVENANCE)


def test_the_whole_agent_answers_once_and_hides_secrets(
    agent: StartAgent, server: "subprocess.Popen[str]"
) -> None:
    one = agent(real=["prove"])
    told = answered(one, asked(server.pid))
    assert [(each["pid"], each["role"], each["state"]) for each in told["environments"]] == [
        (server.pid, "main", "read")
    ]
    assert told["environments"][0]["variables"] == {"NCCL_ALGO": "Tree", "HF_TOKEN": "***"}
    assert told["kernel"] == os.uname().release
    assert told["sentence"] == ""
    assert one.receive_within(wire.PROVENANCE, 0.2) is None


def test_its_process_is_there_only_for_a_request_and_ends_after_it(
    agent: StartAgent, server: "subprocess.Popen[str]"
) -> None:
    one = agent(prelude="import tui.agent.prove.worker as w; w._LINGER_S = 1.0", real=["prove"])
    assert one.receive(wire.HELLO)
    assert children_of(one.process.pid) == []
    answered(one, asked(server.pid))
    until(lambda: children_of(one.process.pid) == [])
    assert answered(one, asked(server.pid))["environments"]


def test_gpus_on_one_switch_are_joined_by_all_their_links(
    served: Start, nvml_stub: Stub, server: "subprocess.Popen[str]"
) -> None:
    links = [f"{gpu}:99:18" for gpu in range(4)]
    one = served("prove", env=nvml_stub.environment(gpus=4, links=links))
    told = answered(one, asked(server.pid))
    assert told["topology"] == [["X" if row == column else "NV18" for column in range(4)] for row in range(4)]
    assert told["power_limits_w"] == [700.0] * 4
    assert told["persistence"] == [True] * 4


def test_over_a_switch_the_gpu_with_fewer_links_decides(
    served: Start, nvml_stub: Stub, server: "subprocess.Popen[str]"
) -> None:
    one = served("prove", env=nvml_stub.environment(gpus=2, links=["0:99:18", "1:99:12"]))
    assert answered(one, asked(server.pid))["topology"] == [["X", "NV12"], ["NV12", "X"]]


def test_bridges_and_levels_are_told_of_each_pair(
    served: Start, nvml_stub: Stub, server: "subprocess.Popen[str]"
) -> None:
    near = [
        f"{row}:{column}:{level}" for row, column, level in ((0, 2, 20), (2, 0, 20), (1, 3, 40), (3, 1, 40))
    ]
    switches = nvml_stub.environment(gpus=4, links=["0:1:4", "1:0:4"], near=near)
    assert answered(served("prove", env=switches), asked(server.pid))["topology"] == [
        ["X", "NV4", "PXB", "SYS"],
        ["NV4", "X", "SYS", "NODE"],
        ["PXB", "SYS", "X", "SYS"],
        ["SYS", "NODE", "SYS", "X"],
    ]


def test_what_a_driver_does_not_tell_is_none(
    served: Start, nvml_stub: Stub, server: "subprocess.Popen[str]"
) -> None:
    rules = ["nvmlDeviceGetTopologyCommonAncestor=3", "nvmlDeviceGetPersistenceMode=3", "limit:1=3"]
    one = served("prove", env=nvml_stub.environment(gpus=2, rules=rules))
    told = answered(one, asked(server.pid))
    assert told["topology"] == [["X", None], [None, "X"]]
    assert told["persistence"] == [None, None]
    assert told["power_limits_w"] == [700.0, None]


def test_a_lost_gpu_costs_its_own_figures_alone(
    served: Start, nvml_stub: Stub, server: "subprocess.Popen[str]"
) -> None:
    switches = nvml_stub.environment(gpus=3, lost=1, links=["0:2:4", "2:0:4"])
    told = answered(served("prove", env=switches), asked(server.pid))
    assert told["topology"] == [["X", None, "NV4"], [None, "X", None], ["NV4", None, "X"]]
    assert told["power_limits_w"] == [700.0, None, 700.0]


def test_without_a_driver_nothing_is_told_of_gpus(served: Start, server: "subprocess.Popen[str]") -> None:
    told = answered(served("prove"), asked(server.pid))
    assert told.get("topology") is None
    assert told["sentence"] == ""


def test_a_driver_that_hangs_keeps_nothing_else_back(
    agent: StartAgent, nvml_stub: Stub, server: "subprocess.Popen[str]", monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in nvml_stub.environment(gpus=2, rules=["limit:1=hang@0+20"]).items():
        monkeypatch.setenv(name, value)
    one = agent(prelude="import tui.agent.prove.worker as w; w.LIMIT_S = 0.5", real=["prove"])
    told = answered(one, asked(server.pid))
    assert told["sentence"] == "not read within 0.5 s: GPUs"
    assert told["environments"][0]["variables"]["NCCL_ALGO"] == "Tree"
    assert told.get("topology") is None


def test_another_process_by_the_same_number_is_not_looked_into(server: "subprocess.Popen[str]") -> None:
    told = worker.answer(
        {
            "pid": server.pid,
            "started_s": time.monotonic() - 1000,
            "environment": ["NCCL_"],
        },
        1.0,
    )
    assert (told["environments"], told["sentence"]) == ([], f"process {server.pid} is gone")


def test_a_process_that_is_gone_is_said_to_be(served: Start) -> None:
    told = answered(served("prove"), asked(2**22 - 1))
    assert told["sentence"] == f"process {2**22 - 1} is gone"


def test_the_revision_is_the_name_of_the_snapshots_folder(
    served: Start, server: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    folder = tmp_path / ".cache/huggingface/hub/models--acme--zed-7b"
    for commit in ("abc123", "def456"):
        (folder / "snapshots" / commit).mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs/main").write_text("def456")
    one = served("prove")
    assert answered(one, asked(server.pid, hub_model="acme/zed-7b"))["revision"] == "def456"
    assert (
        answered(one, asked(server.pid, hub_model="acme/zed-7b", revision="abc123"))["revision"] == "abc123"
    )
    assert answered(one, asked(server.pid, hub_model="acme/other"))["revision"] is None
    assert answered(one, asked(server.pid, hub_model="/data/zed"))["revision"] is None
