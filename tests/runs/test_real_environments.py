"""Environments as they were read of a real SGLang server on two H200s, after its ranks got their titles."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tui.engines.base import Role
from tui.engines.registry import ENGINES
from tui.provenance import ProcessEnvironment
from tui.runs.variables import Variables, variables
from tui.watch.target import Member

RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings"


def records(name: str) -> Iterator[dict[str, Any]]:
    path = RECORDINGS / name / "recording.jsonl.gz"
    if not path.exists():
        pytest.skip("the recordings lie outside this repository")
    with gzip.open(path, "rt") as file:
        for line in file:
            if '"environ"' in line:
                record = json.loads(line)
                if record.get("ev") == "environ":
                    yield record


def merged(name: str) -> Variables:
    """Return what all environments that were read of a server's processes say, the newest of each."""
    environments: dict[int, ProcessEnvironment] = {}
    members: dict[int, Member] = {}
    for record in records(name):
        pid, title = int(record["pid"]), str(record["title"])
        role = next(
            (role for engine in ENGINES if (role := engine.role(title)).kind != "helper"), Role("helper")
        )
        whole = record["head"] == "plain" and record["bytes"] - record["nonzero"] == record["vars"]
        environments[pid] = ProcessEnvironment(
            pid=pid,
            started_s=0.0,
            role="main" if role.kind == "launcher" else "worker",
            title=title,
            state="read" if whole else "overwritten",
            variables=record["kept"],
        )
        members[pid] = Member(pid, title, "S", role)
    return variables(list(environments.values()), members.values(), ())


def test_ranks_of_a_real_server_lost_what_the_user_set_and_show_what_sglang_did() -> None:
    found = merged("x2-sglang-tp2-first-launch-jit")
    told = {each.name.removeprefix("environment "): each for each in found.settings}
    assert found.known == "partly"
    assert told["NCCL_NVLS_ENABLE"].value == "0"
    assert told["NCCL_NVLS_ENABLE"].source == "main process"
    assert told["NCCL_CUMEM_ENABLE"].value == "0"
    assert told["NCCL_CUMEM_ENABLE"].source.startswith("worker ")
    assert told["NCCL_CUMEM_ENABLE"].source.endswith("; not set in the main process")
    assert told["CUDA_DEVICE_MAX_CONNECTIONS"].value == "8"
