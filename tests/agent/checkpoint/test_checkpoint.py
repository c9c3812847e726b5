"""The checkpoint reader over its real channel: where it looks, what it adds up, what it never does."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_process import Message, Served, StartAgent, children_of, until

from tui import events
from tui.agent import wire
from tui.agent.checkpoint import places
from tui.agent.checkpoint import worker as checkpoint
from tui.requests import CheckpointPlan, FollowRequest, PingRequest

QUICK = "import tui.agent.wire as w; w.BLOCKING_DEADLINE_S = 0.3\nimport tui.agent.loop as l; l._TICK_S = 0.1"
Ask = Callable[..., events.Checkpoint]
Needs = Callable[[str], str]


@pytest.fixture
def ask(served: Callable[..., Served]) -> Ask:
    """Ask the worker for a model's size; ``pid`` is the server's."""
    worker = served("checkpoint")

    def answer(model: str, pid: int | None = None, **plan: Any) -> events.Checkpoint:
        worker.send(FollowRequest(pid=pid, checkpoint=CheckpointPlan(model=model, **plan)))
        event = events.convert(worker.receive(wire.CHECKPOINT))
        assert isinstance(event, events.Checkpoint)
        assert event.model == model
        return event

    return answer


@pytest.fixture
def process() -> Iterator[Callable[..., int]]:
    """Start a process with these variables alone, which ends with the test; return its pid."""
    started: list[subprocess.Popen[bytes]] = []

    def start(**variables: str) -> int:
        one = subprocess.Popen(
            [sys.executable, "-Sc", "print(flush=True); input()"],
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        started.append(one)
        assert one.stdout is not None
        one.stdout.readline()  # only now it has its own environment
        return one.pid

    yield start
    for one in started:
        one.communicate()


def model_in(folder: Path, sizes: dict[str, int]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, size in sizes.items():
        with (folder / name).open("wb") as file:
            file.truncate(size)
    return folder


def in_cache(cache: Path, name: str = "org/model", commit: str = "c0ffee", *, refs: bool = True) -> Path:
    """Make a hub's cache as its client does: blobs, and snapshots of relative links to them."""
    folder = cache / f"models--{name.replace('/', '--')}"
    model_in(folder / "blobs", {"aa": 3000, "bb": 500, "cc": 7})
    snapshot = folder / "snapshots" / commit
    snapshot.mkdir(parents=True)
    names = {
        "model-00001-of-00002.safetensors": "aa",
        "model-00002-of-00002.safetensors": "bb",
        "config.json": "cc",
    }
    for link, blob in names.items():
        (snapshot / link).symlink_to(f"../../blobs/{blob}")
    if refs:
        model_in(folder / "refs", {})
        (folder / "refs" / "main").write_text(commit)
    return folder


TWO = {"model-00001-of-00002.safetensors": 3000, "model-00002-of-00002.safetensors": 500, "config.json": 9}


def test_a_directory_is_added_up(ask: Ask, tmp_path: Path) -> None:
    event = ask(str(model_in(tmp_path / "m", TWO)))
    assert (event.weight_bytes, event.files, event.sentence) == (3500, 2, "")


def test_a_relative_path_begins_in_the_servers_directory(ask: Ask, tmp_path: Path) -> None:
    model_in(tmp_path / "models" / "m", TWO)
    assert ask("models/m", cwd=str(tmp_path)).weight_bytes == 3500
    assert ask("../m", cwd=str(tmp_path / "models" / "x")).weight_bytes is None
    assert ask("models/m").weight_bytes is None


def test_links_are_followed_and_one_file_under_two_names_counts_once(ask: Ask, tmp_path: Path) -> None:
    store = model_in(tmp_path / "store", {"a": 3000})
    folder = model_in(tmp_path / "m", {})
    for name in ("model.safetensors", "again.safetensors"):
        (folder / name).symlink_to(store / "a")
    (tmp_path / "link").symlink_to(folder)
    assert ask(str(tmp_path / "link")).weight_bytes == 3000


def test_a_link_to_nowhere_is_no_size(ask: Ask, tmp_path: Path) -> None:
    (model_in(tmp_path / "m", {}) / "model.safetensors").symlink_to("gone")
    event = ask(str(tmp_path / "m"))
    assert event.weight_bytes is None
    assert "No such file" in event.sentence


def test_a_file_of_llama_cpp_counts_with_its_parts(ask: Ask, tmp_path: Path) -> None:
    sizes = {"g-00001-of-00002.gguf": 40, "g-00002-of-00002.gguf": 2, "other.gguf": 5}
    folder = model_in(tmp_path, sizes)
    assert ask(str(folder / "g-00001-of-00002.gguf")).weight_bytes == 42
    assert ask("other.gguf", cwd=str(folder)).weight_bytes == 5


def test_a_model_of_the_hub_is_found_in_its_cache(ask: Ask, tmp_path: Path) -> None:
    in_cache(tmp_path / "hub")
    event = ask("org/model", environment={"HF_HOME": str(tmp_path)})
    assert (event.weight_bytes, event.files) == (3500, 2)


def test_the_cache_is_looked_for_where_the_server_was_told(
    ask: Ask, process: Callable[..., int], tmp_path: Path
) -> None:
    in_cache(tmp_path / "cache" / "huggingface" / "hub", "org/home")
    in_cache(tmp_path / "variable", "org/variable")
    in_cache(tmp_path / "flag", "org/flag")
    (tmp_path / ".cache").symlink_to("cache")
    pid = process(HOME=str(tmp_path), HF_HUB_CACHE=str(tmp_path / "variable"))
    for name in ("org/home", "org/variable", "org/flag"):
        assert ask(name, pid, hub_cache=str(tmp_path / "flag")).weight_bytes == 3500, name
    assert ask("org/flag", pid).weight_bytes is None


def test_a_revision_is_a_name_or_a_commit(ask: Ask, tmp_path: Path) -> None:
    folder = in_cache(tmp_path / "hub")
    model_in(folder / "snapshots" / "beef", {"model.safetensors": 77})
    (folder / "refs" / "v2").write_text("beef\n")
    known = {"HF_HUB_CACHE": str(tmp_path / "hub")}
    assert ask("org/model", environment=known).weight_bytes == 3500
    assert ask("org/model", environment=known, revision="v2").weight_bytes == 77
    assert ask("org/model", environment=known, revision="beef").weight_bytes == 77
    assert ask("org/model", environment=known, revision="v3").weight_bytes is None
    assert ask("org/model", environment=known, revision="../snapshots/beef").weight_bytes is None


def test_without_a_reference_the_only_snapshot_counts(ask: Ask, tmp_path: Path) -> None:
    folder = in_cache(tmp_path, refs=False)
    assert ask("org/model", environment={"HF_HUB_CACHE": str(tmp_path)}).weight_bytes == 3500
    model_in(folder / "snapshots" / "beef", {"model.safetensors": 77})
    assert ask("org/model", environment={"HF_HUB_CACHE": str(tmp_path)}).weight_bytes is None


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("org/model", "is neither a directory nor (yet) in a hub cache: /nowhere"),
        ("/no/such/model", "no model lies at /no/such/model"),
        ("/no/such/model.gguf", "cannot be read: No such file or directory"),
        ("s3://bucket/model", "does not lie on a file system"),
        ("org/model:Q4_K_M", "no model lies at org/model:Q4_K_M"),
        ("/nul\0", "cannot be read"),
    ],
)
def test_what_is_not_found_is_unknown_with_its_reason(ask: Ask, model: str, words: str) -> None:
    event = ask(model, environment={"HF_HUB_CACHE": "/nowhere", "HOME": "/nowhere"})
    assert (event.weight_bytes, event.files) == (None, 0)
    assert words in event.sentence


def test_a_server_with_mounts_of_its_own_is_seen_through_them(ask: Ask, needs: Needs, tmp_path: Path) -> None:
    inside = f"""
mount -t tmpfs none {tmp_path}/mount && truncate -s 3000 {tmp_path}/mount/model.safetensors || exit
ln -s {tmp_path}/mount {tmp_path}/mount/link && echo mounted && read _
"""
    (tmp_path / "mount").mkdir()
    command = [needs("unshare"), "--map-root-user", "--mount", "sh", "-c", inside]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        if server.stdout.readline() != b"mounted\n":
            pytest.skip("needs the right to mount in a namespace of its own")
        for model in ("mount", "mount/link", "mount/link/../mount/./model.safetensors"):
            assert ask(f"{tmp_path}/{model}", server.pid).weight_bytes == 3000, model
        assert ask(f"{tmp_path}/mount").sentence == f"{tmp_path}/mount holds no weight files"
        server.communicate(b"end\n")


def test_in_a_container_absolute_links_stay_inside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model_in(tmp_path / "store" / "m", {"model.safetensors": 5})
    (tmp_path / "models").symlink_to("/store")
    (tmp_path / "loop").symlink_to("/loop")
    view = places.View(None)
    monkeypatch.setattr(view, "_root", str(tmp_path))
    assert view.from_here("/models/m/../m") == os.fsencode(tmp_path / "store" / "m")
    assert view.names("/models/../../models/m") == ["model.safetensors"]
    assert not view.is_directory("/loop")


def test_a_directory_that_may_not_be_listed_says_so(tmp_path: Path) -> None:
    if os.getuid() == 0:
        pytest.skip("root may list everything")
    folder = model_in(tmp_path / "m", TWO)
    folder.chmod(0)
    message = checkpoint.answer({"checkpoint": {"model": str(folder)}})
    folder.chmod(0o700)
    assert "Permission denied" in str(message["sentence"])


def test_names_that_are_no_text_do_not_stop_it(ask: Ask, tmp_path: Path) -> None:
    folder = os.fsencode(model_in(tmp_path / "m", {"a.gguf": 1}))
    with open(folder + b"/\xff.gguf", "wb"):
        pass
    assert "holds 2 models (a, \\udcff)" in ask(str(tmp_path / "m")).sentence


def test_it_opens_no_weight_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    in_cache(tmp_path)
    model_in(tmp_path / "m", TWO)
    opened: list[str] = []
    real = os.open

    def watched(path: Any, *more: Any) -> int:
        opened.append(os.fsdecode(path))
        return real(path, *more)

    monkeypatch.setattr(os, "open", watched)
    monkeypatch.setattr("builtins.open", None)
    known = {"HF_HUB_CACHE": str(tmp_path)}
    for plan in ({"model": "org/model", "environment": known}, {"model": str(tmp_path / "m")}):
        assert checkpoint.answer({"checkpoint": plan})["weight_bytes"] == 3500
    assert opened == [f"{tmp_path}/models--org--model/refs/main"]


def test_the_agent_answers_a_follow_request_once_and_the_worker_ends(
    agent: StartAgent, tmp_path: Path
) -> None:
    one = agent(
        prelude=QUICK + "\nimport tui.agent.checkpoint.worker as c; c._LINGER_S = 0.05", real=["checkpoint"]
    )
    model = str(model_in(tmp_path / "m", TWO))
    one.send(FollowRequest(pid=None, checkpoint=CheckpointPlan(model=model)))
    assert one.receive(wire.CHECKPOINT)["weight_bytes"] == 3500
    until(lambda: not children_of(one.process.pid))
    one.send(FollowRequest(pid=None))
    assert one.receive_within(wire.CHECKPOINT, 0.3) is None
    one.send(FollowRequest(pid=None, checkpoint=CheckpointPlan(model=model)))
    assert one.receive(wire.CHECKPOINT)["files"] == 2


def test_a_dead_mount_is_told_and_holds_nobody_up(agent: StartAgent) -> None:
    hangs = "def serve(channel):\n  channel.receive(None)\n  time.sleep(100)\n"
    one = agent({"checkpoint": hangs}, prelude=QUICK)
    one.send(FollowRequest(pid=None, checkpoint=CheckpointPlan(model="/dead/mount")))
    notice: Message = one.receive(wire.NOTICE)
    assert (notice["about"], notice["level"]) == ("checkpoint", "warning")
    assert "the checkpoint reader has not answered" in notice["sentence"]
    one.send(PingRequest(sent_s=7.0))
    assert one.receive(wire.PONG)["sent_s"] == 7.0
