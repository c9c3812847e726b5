"""What a fingerprint holds of a watched server, what it says is not known, and which start it is of."""

from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from watched_host import Watch, WatchedHost

from tui.events import Checkpoint, GpuProcess, GpuProcesses
from tui.provenance import Library, ProcessEnvironment, Provenance
from tui.runs.entry import Fingerprint, Instance
from tui.runs.gathering import fingerprint_of, instance_of

ARGV = "python3 -m sglang.launch_server --model-path /models/qwen --tp 2 --port 30000 --api-key ***"
NVLINK: list[list[str | None]] = [["X", "NV18", "SYS"], ["NV18", "X", "SYS"], ["SYS", "SYS", "X"]]


def environments(pid: int = 100, **named: str) -> list[ProcessEnvironment]:
    return [ProcessEnvironment(pid=pid, started_s=1.0, role="main", title="", state="read", variables=named)]


def library(name: str, version: str | None) -> Library:
    return Library(name=name, version=version, path=f"/x/lib{name}.so")


def provenance(host: WatchedHost, **changes: object) -> Provenance:
    made = Provenance(
        **host.when,
        pid=100,
        started_s=None,
        environments=environments(NCCL_ALGO="Tree"),
        libraries=[library("nccl", "2.27.5"), library("torch", "2.9.1"), library("sglang", "0.5.14")],
        topology=NVLINK,
        power_limits_w=[650.0, 650.0, 700.0],
        persistence=[True, True, None],
        kernel="6.8.0",
    )
    return replace(made, **changes)


@pytest.fixture
def host(watched: Watch) -> WatchedHost:
    """A host of three GPUs, of which a server that is ready holds two."""
    host = watched()
    host.hello()
    host.driver("ok")
    host.facts(3)
    host.wait(5)
    host.starts(argv=ARGV)
    held = [GpuProcess(index=index, pid=100, memory_mib=1000.0) for index in (0, 1)]
    host.happen(GpuProcesses(**host.when, processes=held))
    host.becomes_ready()
    return host


def values(found: Fingerprint) -> dict[str, str | None]:
    return {each.name: each.value for each in found.settings if each.known}


def unknown(found: Fingerprint) -> set[str]:
    return {each.name for each in found.settings if not each.known}


def test_all_that_the_host_told_is_there(host: WatchedHost) -> None:
    found = fingerprint_of(host.state, provenance(host))
    assert values(found) == {
        "argument --api-key": "***",
        "argument --port": "30000",
        "argument --tp": "2",
        "command": "sglang.launch_server",
        "cpus": "64",
        "driver": "580.159.04",
        "engine": "SGLang",
        "engine version": "0.5.14",
        "environment NCCL_ALGO": "Tree",
        "gpu name": "NVIDIA H200",
        "gpus": "2",
        "gpus of the host": "3",
        "host": "gpu01",
        "kernel": "6.8",
        "library torch": "2.9.1",
        "model": "/models/qwen",
        "model revision": None,
        "nccl": "2.27.5",
        "persistence": "on",
        "power limit W": "650",
        "topology": "all NV18",
    }
    assert unknown(found) == {"model bytes"}
    assert found.environment_known == "whole"
    assert [each.name for each in found.settings] == sorted(each.name for each in found.settings)
    assert len(found.digest) == 16


def test_before_the_host_was_asked_what_it_would_tell_is_unknown(host: WatchedHost) -> None:
    found = fingerprint_of(host.state, None)
    assert {"nccl", "engine version", "model bytes"} <= unknown(found)
    assert found.environment_known == "unknown"
    assert values(found)["power limit W"] == "700"
    assert found.digest != fingerprint_of(host.state, provenance(host)).digest


def test_an_environment_that_was_seen_but_not_proved_is_known_partly(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.starts(argv=ARGV, environment={"NCCL_ALGO": "Tree"})
    found = fingerprint_of(host.state, None)
    assert values(found)["environment NCCL_ALGO"] == "Tree"
    assert found.environment_known == "partly"


def test_a_url_alone_has_no_configuration_and_says_what_is_not_known(watched: Watch) -> None:
    host = watched(url="http://127.0.0.1:30000")
    host.hello(protocol=0)
    host.becomes_ready("zed")
    found = fingerprint_of(host.state, None)
    assert (found.digest, found.environment_known) == ("", "unknown")
    assert values(found) == {"model": "zed"}
    assert {"engine", "engine version", "command", "nccl", "gpus", "driver", "host"} <= unknown(found)
    assert instance_of(host.state).key == ""


def test_before_anything_was_heard_nothing_is_known(watched: Watch) -> None:
    state = watched().state
    assert fingerprint_of(state, None).digest == ""
    assert instance_of(state).key == ""


@pytest.mark.parametrize(
    ("line", "libraries", "value", "source"),
    [
        ("[2026-11-29 13:48:34 TP0] sglang is using nccl==2.28.9", ["2.28.9"], "2.28.9", "log"),
        ("NCCL version 2.28.9+cuda12.9", ["2.27.5"], "2.28.9", "log; the library that is loaded: 2.27.5"),
        ("", ["2.27.5"], "2.27.5", "loaded library"),
        ("", ["2.27.5", "2.28.9"], "2.27.5 | 2.28.9", "loaded library"),
        ("", [], None, "loaded libraries: it is none of them"),
    ],
)
def test_nccl_is_told_by_the_log_then_by_the_library(
    host: WatchedHost, line: str, libraries: Sequence[str], value: str | None, source: str
) -> None:
    host.log(line)
    loaded = [library("torch", "2.9.1"), *(library("nccl", version) for version in libraries)]
    found = fingerprint_of(host.state, provenance(host, libraries=loaded)).setting("nccl")
    assert found is not None
    assert (found.value, found.source, found.known) == (value, source, True)


def test_a_line_of_an_earlier_start_does_not_tell_of_this_one(host: WatchedHost) -> None:
    host.log("NCCL version 2.28.9+cuda12.9")
    host.exits()
    host.wait(10)
    host.starts(pid=200, argv=ARGV)
    assert "nccl" in unknown(fingerprint_of(host.state, None))


def test_a_library_without_a_version_is_loaded_all_the_same(host: WatchedHost) -> None:
    found = fingerprint_of(host.state, provenance(host, libraries=[library("jemalloc", None)]))
    assert values(found)["library jemalloc"] == "of a version that its name does not tell"


def test_the_size_of_the_model_and_its_revision(host: WatchedHost) -> None:
    host.happen(Checkpoint(**host.when, model="/models/qwen", weight_bytes=123, files=1))
    assert values(fingerprint_of(host.state, None))["model bytes"] == "123"
    host.happen(Checkpoint(**host.when, model="/models/other", weight_bytes=123, files=1))
    assert "model bytes" in unknown(fingerprint_of(host.state, None))


@pytest.mark.parametrize(
    ("model", "revision", "expected"),
    [
        ("acme/zed", "abc123", "abc123"),
        ("acme/zed --revision v1", None, "v1"),
        ("/hub/models--acme--zed/snapshots/0123abcdef/", None, "0123abcdef"),
        ("/data/zed", None, None),
    ],
)
def test_the_revision_is_that_of_the_snapshot(
    watched: Watch, model: str, revision: str | None, expected: str | None
) -> None:
    host = watched()
    host.hello()
    host.starts(argv=f"python3 -m sglang.launch_server --model-path {model}")
    told = provenance(host, revision=revision)
    host.happen(told)
    found = fingerprint_of(host.state, told).setting("model revision")
    assert found is not None
    assert (found.value, found.known) == (expected, True)


def test_a_hub_model_without_a_snapshot_has_an_unknown_revision(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.starts(argv="python3 -m sglang.launch_server --model-path acme/zed")
    assert "model revision" in unknown(fingerprint_of(host.state, provenance(host)))


def test_gpus_that_are_joined_or_limited_differently_are_told_each(host: WatchedHost) -> None:
    held = [GpuProcess(index=index, pid=100, memory_mib=1000.0) for index in (0, 1, 2)]
    host.happen(GpuProcesses(**host.when, processes=held))
    found = values(fingerprint_of(host.state, provenance(host)))
    assert found["topology"] == "0-1 NV18, 0-2 SYS, 1-2 SYS"
    assert found["power limit W"] == "2 x 650; 1 x 700"
    assert "persistence" in unknown(fingerprint_of(host.state, provenance(host)))


@pytest.mark.parametrize("topology", [None, [], [["X", None], [None, "X"]], [["X"], ["SYS"]]])
def test_a_topology_that_is_not_told_whole_is_unknown(
    host: WatchedHost, topology: list[list[str | None]] | None
) -> None:
    assert "topology" in unknown(fingerprint_of(host.state, provenance(host, topology=topology)))


def test_a_host_without_gpus_has_none_for_sure(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.driver("absent")
    host.starts(argv="llama-server -m /m.gguf", matched="llamacpp")
    found = fingerprint_of(host.state, None)
    assert values(found)["gpus"] == "0"
    assert (values(found)["driver"], "driver" in unknown(found)) == (None, False)


def test_a_driver_that_failed_is_unknown(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.driver("failed")
    host.starts(argv=ARGV)
    assert {"driver", "gpus", "gpu name", "power limit W"} <= unknown(fingerprint_of(host.state, None))


def test_an_instance_is_one_start_however_often_it_is_watched(watched: Watch) -> None:
    keys: list[str] = []
    for late_s in (0.0, 3600.0):
        host = watched()
        host.hello()
        found = host.starts(argv=ARGV)
        host.wait(late_s)
        # Another agent dates it some milliseconds off, and the wall clock was set meanwhile.
        again = replace(found, started_s=found.started_s + 0.004 * bool(late_s))
        later = watched()
        later.now = host.now
        later.hello()
        later.processes(again)
        keys.append(instance_of(later.state).key)
    assert keys[0] == keys[1]
    assert keys[0].startswith("gpu01/b1/100/")


def test_a_start_that_is_dated_just_before_a_full_second_and_just_after_it_is_one() -> None:
    keys = {
        Instance(host="h", pid=1, started_wall_s=1.8e9, boot_id="b", started_s=at_s).key
        for at_s in (41.998, 42.0, 42.002)
    }
    assert keys == {"h/b/1/42"}


def test_another_start_is_another_instance(host: WatchedHost) -> None:
    first = instance_of(host.state)
    host.exits()
    host.wait(10)
    host.starts(argv=ARGV)
    second = instance_of(host.state)
    assert first.key != second.key
    assert second.started_wall_s == pytest.approx(1.8e9 + host.now)
