"""The command that prints a container's log, and the guard that ends it."""

import asyncio
import shutil
from pathlib import Path

import pytest
from agent_process import alive
from ssh_server import until

from tui.transport.container_log import command
from tui.transport.container_log.command import log_command, rfc3339, shown_command
from tui.transport.local import local_opener
from tui.transport.wrapper import Kind, Wrapper, wrapper

AT_NS = 1796029200_000000050


@pytest.mark.parametrize(
    ("kind", "name", "argv"),
    [
        ("docker", "vllm", "docker logs -f --timestamps --since=2026-11-30T09:00:00.000000050Z vllm"),
        ("podman", "vllm", "podman logs -f --timestamps --since=2026-11-30T09:00:00.000000050Z vllm"),
        (
            "kubectl",
            "lab/prod/llm-0/server",
            "kubectl --context lab logs -f --timestamps --since-time=2026-11-30T09:00:00.000000050Z "
            "-n prod llm-0 -c server",
        ),
    ],
)
def test_the_tool_is_asked_for_stamped_lines_from_a_moment_on(kind: Kind, name: str, argv: str) -> None:
    here = log_command(wrapper(kind, name), AT_NS, first=False, over_ssh=False)
    first = log_command(wrapper(kind, name), AT_NS, first=True, over_ssh=True)

    assert here[4:] == argv.split()
    assert "--tail=300000" in first
    assert "/usr/local/bin" in first[6]


def test_a_moment_before_1970_is_none() -> None:
    assert rfc3339(-1) == "1970-01-01T00:00:00.000000000Z"


def test_the_command_is_shown_as_a_person_would_type_it() -> None:
    assert shown_command(wrapper("kubectl", "prod/llm-0")) == "kubectl logs -n prod llm-0"


def sleeper(folder: Path, script: str) -> Wrapper:
    """Return a stand-in for a tool that runs a script, and writes its pid into the folder first."""
    return Wrapper("docker", "x", (), (("sh", "-c", f"echo $$ > {folder}/pid; {script}"), ("sh",)))


async def started(folder: Path) -> int:
    """Wait until the tool runs; return its pid."""
    await until(lambda: (folder / "pid").exists() and (folder / "pid").read_text().endswith("\n"))
    return int((folder / "pid").read_text())


SHELLS = {"sh": ["sh"], "bash": ["bash"], "busybox": ["busybox", "sh"]}


@pytest.mark.parametrize("script", ["exec sleep 600", "trap '' TERM; while :; do sleep 0.2; done"])
@pytest.mark.parametrize("shell", list(SHELLS))
async def test_the_tool_ends_with_the_input_even_if_it_will_not(
    shell: str, script: str, tmp_path: Path
) -> None:
    if shutil.which(SHELLS[shell][0]) is None:
        pytest.skip(f"needs {shell}")
    argv = log_command(sleeper(tmp_path, script), AT_NS, first=False, over_ssh=False)
    pipe = await local_opener()([*SHELLS[shell], *argv[1:]])
    pid = await started(tmp_path)
    assert alive(pid)
    await pipe.close()

    await until(lambda: not alive(pid))


async def test_the_tool_ends_when_no_ping_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "DEAF_S", 1)
    argv = log_command(sleeper(tmp_path, "exec sleep 600"), AT_NS, first=False, over_ssh=False)
    pipe = await local_opener()(argv)
    pid = await started(tmp_path)
    for _ in range(6):
        pipe.write(command.PING)
        await asyncio.sleep(0.3)
    assert alive(pid)

    await until(lambda: not alive(pid))
    assert await pipe.read(100) == b""
    assert await pipe.close() == 143


async def test_without_a_timeout_program_the_end_of_the_input_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "sleep"):
        (tools / name).symlink_to(shutil.which(name) or name)
    monkeypatch.setenv("PATH", str(tools))
    monkeypatch.setattr(command, "DEAF_S", 1)
    argv = log_command(sleeper(tmp_path, "exec sleep 600"), AT_NS, first=False, over_ssh=False)
    pipe = await local_opener()(argv)
    pid = await started(tmp_path)
    await asyncio.sleep(1.5)
    assert alive(pid)
    await pipe.close()

    await until(lambda: not alive(pid))


async def test_both_streams_and_the_status_come_through(tmp_path: Path) -> None:
    argv = log_command(sleeper(tmp_path, "echo a; echo b >&2; exit 3"), AT_NS, first=False, over_ssh=False)
    pipe = await local_opener()(argv)
    said = b""
    while data := await pipe.read(100):
        said += data

    assert said == b"a\nb\n"
    assert await pipe.close() == 3
