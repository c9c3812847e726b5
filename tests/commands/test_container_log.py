"""A server in a container whose output only the runtime reads: its log on the screen's side of everything."""

import gzip
import json
import os
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
import stand_in_runtime
from agent_process import children_of, until
from loading_watch import ranks_of, server_command, server_environment
from stand_in_logs import TEXTS
from tminus_command import Done, Tminus
from wrapped_host import WrappedHost


@pytest.fixture
def launcher(wrapped_here: WrappedHost, tmp_path: Path, free_port: int) -> Iterator[int]:
    """Start a server of two ranks as a container's first process; give its launcher's pid."""
    runtime = [sys.executable, str(stand_in_runtime.__file__), str(wrapped_here.log), "16384"]
    command = [*runtime, *server_command(2, tmp_path, free_port)]
    environment = server_environment("weights", ["waits", "waits"])
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL) as process:
        until(lambda: children_of(process.pid))
        (pid,) = [child for child in children_of(process.pid) if _parent(child) == process.pid]
        ranks_of(pid, 2)
        yield pid
        process.terminate()


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def waited(tminus: Tminus, launcher: int, word: str) -> Done:
    """Wait for a word of the watch inside the container, then interrupt it; return what it printed."""
    process = tminus.start("wait", "--docker", "vllm", "--pid", str(launcher), "--json")
    line = tminus.until(process, word)
    process.send_signal(signal.SIGINT)
    done = tminus.end(process)
    return Done(done.code, line + done.out, done.err)


def test_the_phase_comes_from_the_containers_log_live_and_replayed(
    tminus: Tminus, launcher: int, wrapped_here: WrappedHost
) -> None:
    done = waited(tminus, launcher, '"phase":"weights"')
    (recording,) = tminus.recordings
    replayed = tminus.run("replay", str(recording), "--json")
    (tool, _), *others = wrapped_here.log_runs()

    assert json.loads(done.out.splitlines()[0])["phase"] == "weights"
    assert cast("dict[str, object]", replayed.last["end"])["phase"] == "weights"
    assert others == []
    until(lambda: not os.path.exists(f"/proc/{tool}"))


def test_an_anonymous_export_hides_the_containers_name_in_its_log_too(
    tminus: Tminus, launcher: int, wrapped_here: WrappedHost
) -> None:
    process = tminus.start("wait", "--podman", "acme-llm", "--pid", str(launcher))
    tminus.until(process, "reading the container's log by `podman logs acme-llm`")
    process.send_signal(signal.SIGINT)
    tminus.end(process)
    (recording,) = tminus.recordings
    bundle = tminus.folder / "hidden.tar.gz"
    done = tminus.run("export", str(recording), "--anonymise", "--bundle", str(bundle))
    with tarfile.open(bundle) as archive:
        files = [archive.extractfile(member) for member in archive.getmembers() if member.isfile()]
        texts = [file.read() for file in files if file is not None]

    assert done.code == 0, done.err
    assert texts
    assert not any(b"acme" in (gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text) for text in texts)


def test_a_refused_log_leaves_the_rest_of_the_watch_as_it_is(
    tminus: Tminus, launcher: int, wrapped_here: WrappedHost
) -> None:
    wrapped_here.behave(log_fails="driver")
    assert "driver" in TEXTS["docker"]
    process = tminus.start("wait", "--docker", "vllm", "--pid", str(launcher))
    line = tminus.until(process, "keeps no log")
    process.send_signal(signal.SIGINT)

    assert "let the server write to a file and name it with --log" in line
    assert tminus.end(process).code == 130


def test_a_named_file_wins_over_the_containers_log(
    tminus: Tminus, launcher: int, wrapped_here: WrappedHost, tmp_path: Path
) -> None:
    log = tmp_path / "server.log"
    log.write_text(
        "[2026-11-30 09:00:00 TP0] Capture cuda graph begin. This can take up to several minutes.\n"
    )
    process = tminus.start("wait", "--docker", "vllm", "--pid", str(launcher), "--log", str(log))
    line = tminus.until(process, f"reading {log}")
    process.send_signal(signal.SIGINT)
    tminus.end(process)

    assert "from" in line
    assert wrapped_here.log_runs() == []
