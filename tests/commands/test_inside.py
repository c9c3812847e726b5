"""The command with --docker and its like: where it is watched, in every output, and how it ends."""

import json
import signal
from typing import cast

import pytest
from ssh_server import StartSshServer
from tminus_command import Tminus
from wrapped_host import WrappedHost

from tui.commands import diagnose, start
from tui.requests import DiagnoseRequest
from tui.settings import Choices, UsageFault
from tui.watch.diagnosing import Wanted
from tui.watch.options import WatchOptions


def test_the_place_is_what_is_on_the_host() -> None:
    assert start.place_of(Choices()) == "local"
    assert start.place_of(Choices(url="http://h:1")) is None
    assert start.place_of(Choices(host="gpu-box")) == "gpu-box"
    assert start.place_of(Choices(docker="vllm")) == "docker:vllm"
    assert start.place_of(Choices(host="local", docker="vllm")) == "docker:vllm"
    assert start.place_of(Choices(host="gpu-box", kubectl="prod/llm-0")) == "kubectl:prod/llm-0 on gpu-box"
    assert start.place_of(Choices(url="http://h:1", srun="42")) == "srun:42"


def test_files_of_a_container_on_this_machine_are_not_looked_for_here() -> None:
    options = start.options_for(Choices(docker="vllm", log="logs/server.log"))

    assert options.log_path == "logs/server.log"
    with pytest.raises(UsageFault, match="path on docker:vllm"):
        start.check(Choices(docker="vllm", ca_file="ca.pem"))


def test_a_benchmark_runs_inside_too(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def remote_agent(host: str, *_: object, **__: object) -> None:
        asked.append(host)

    monkeypatch.setattr(start, "remote_agent", remote_agent)
    start.bench_source(Choices(docker="vllm"), WatchOptions())
    start.source_for(Choices(host="gpu-box", srun="42"), WatchOptions())

    assert asked == ["local", "gpu-box"]


def first_line_with(tminus: Tminus, word: str, *arguments: str) -> str:
    """Return the first line with a word in it that a command prints, which is then interrupted."""
    process = tminus.start(*arguments)
    line = tminus.until(process, word)
    process.send_signal(signal.SIGINT)
    assert tminus.end(process).code == 130
    return line


def test_wait_names_the_container_in_its_first_line(tminus: Tminus, wrapped_here: WrappedHost) -> None:
    line = first_line_with(tminus, "place", "wait", "--docker", "vllm", "--json", "--port", "1")

    assert {"event": "place", "place": "docker:vllm"}.items() <= json.loads(line).items()


def test_wait_ends_with_one_sentence_where_there_is_no_such_container(
    tminus: Tminus, wrapped_here: WrappedHost
) -> None:
    wrapped_here.behave(fails="missing")
    done = tminus.run("wait", "--docker", "vllm")

    assert done.code == 4
    assert "there is no container vllm on this machine: see its name in `docker ps` there" in done.err


@pytest.mark.ssh
def test_wait_goes_over_ssh_and_then_inside(
    tminus: Tminus, wrapped_host: WrappedHost, start_ssh_server: StartSshServer
) -> None:
    server = start_ssh_server(environment={"PATH": wrapped_host.path})
    wanted = ("wait", server.host, "--ssh-config", server.config_file, "--srun", "42/n1")
    line = first_line_with(tminus, "connected to", *wanted, "--port", "1")

    assert line.endswith(f"connected to srun:42/n1 on {server.host}\n")


def test_diagnose_says_where_it_looks(capsys: pytest.CaptureFixture[str]) -> None:
    plan = Wanted(DiagnoseRequest(pids=[7]), "py-spy looks into process 7")
    diagnose.Teller(json=True).plan(plan, "docker:vllm on gpu-box")
    diagnose.Teller(json=False).plan(plan, "docker:vllm on gpu-box")
    first, second = capsys.readouterr().out.splitlines()

    assert json.loads(first)["place"] == "docker:vllm on gpu-box"
    assert second.endswith("in docker:vllm on gpu-box: py-spy looks into process 7")


def test_a_snapshot_names_the_container(tminus: Tminus, wrapped_here: WrappedHost) -> None:
    done = tminus.run("--kubectl", "prod/llm-0", "--once", "--json")

    assert cast("dict[str, object]", done.last["host"])["place"] == "kubectl:prod/llm-0"


def test_the_recording_bears_the_containers_name_and_its_export_can_hide_it(
    tminus: Tminus, wrapped_here: WrappedHost
) -> None:
    first_line_with(tminus, "connected to", "wait", "--podman", "acme-llm", "--port", "1")
    (listed,) = tminus.run("recordings", "--json").objects
    (kept,) = tminus.folder.rglob("*podman_acme-llm*")

    assert listed["host"] == "podman:acme-llm"
    bundle = tminus.folder / "hidden.tar.gz"
    done = tminus.run("export", str(kept), "--anonymise", "--bundle", str(bundle))
    assert done.code == 0, done.err
    assert "acme" not in done.out
