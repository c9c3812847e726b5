"""Starting the agent through shells that make noise, with interpreters that are missing or old."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tui.agent import wire
from tui.requests import FollowRequest, ProbePlan, WatchRequest
from tui.transport import bootstrap
from tui.transport.bootstrap import Started, died, start
from tui.transport.bundle import agent_texts, bundle
from tui.transport.local import local_opener
from tui.transport.pipe import LinkFault, Opener, Pipe
from tui.transport.remote_shell import command_line

Begin = Callable[..., Awaitable[Started]]


@pytest.fixture
async def begin() -> AsyncIterator[Begin]:
    """Start an agent whose pipe is closed with the test."""
    pipes: list[Pipe] = []

    async def start_one(opener: Opener, python: str | None = None, timeout_s: float = 10.0) -> Started:
        started = await start(opener, python, timeout_s)
        pipes.append(started.pipe)
        return started

    yield start_one
    for pipe in pipes:
        await pipe.close()


def through_shell(script: str, environment: dict[str, str] | None = None) -> Opener:
    """Return an opener that starts commands as a login shell with the start-up file ``script`` would."""
    local = local_opener(environment)

    async def opener(command: list[str]) -> Pipe:
        return await local(["/bin/sh", "-c", f"{script}\n{command_line(command)}"])

    return opener


async def hello(started: Started) -> str:
    """Return the first line of the agent."""
    data = started.rest
    while b"\n" not in data:
        piece = await asyncio.wait_for(started.pipe.read(65536), 10)
        assert piece, started.pipe.errors()
        data += piece
    return data.partition(b"\n")[0].decode()


async def test_the_agent_says_hello(begin: Begin) -> None:
    started = await begin(local_opener(), sys.executable)

    assert (await hello(started)).startswith('{"kind":"hello",')
    assert started.banner == ""


async def test_noise_without_a_newline_is_kept_as_the_banner(begin: Begin) -> None:
    noise = "printf 'Welcome \\033[31mto\\033[0m host\\r\\nquota: 3 of 4 TB'"
    started = await begin(through_shell(noise))

    assert started.banner == "Welcome to host / quota: 3 of 4 TB"
    assert '"hello"' in await hello(started)


async def test_a_shell_that_echoes_its_commands_is_not_taken_for_the_agent(begin: Begin) -> None:
    started = await begin(through_shell("exec 2>&1; set -xv"))

    assert '"hello"' in await hello(started)
    assert "python3 -ISsu -c" in started.banner


async def test_noise_of_a_megabyte_is_an_end(begin: Begin) -> None:
    with pytest.raises(LinkFault) as caught:
        await begin(through_shell("yes welcome"))

    assert caught.value.fault == "agent"
    assert "has printed more than 1048576 bytes" in caught.value.sentence
    assert "welcome" in caught.value.sentence


async def test_a_start_up_file_that_waits_is_told_with_what_it_printed(begin: Begin) -> None:
    with pytest.raises(LinkFault) as caught:
        await begin(through_shell("printf 'choose a shell: '; read answer; exit 3"), None, 0.3)

    assert caught.value.fault == "timeout"
    assert "within 0.3 s (it said: choose a shell:): see whether a start-up file" in caught.value.sentence


async def test_no_python_is_told(begin: Begin) -> None:
    with pytest.raises(LinkFault) as caught:
        await begin(through_shell("", {"PATH": "/nowhere"}))

    assert (caught.value.fault, caught.value.retry) == ("no_python", False)
    assert "python3 was not found on the host" in caught.value.sentence


async def test_another_python_is_used_where_python3_is_missing(begin: Begin, tmp_path: Path) -> None:
    (tmp_path / "python3.9").symlink_to(sys.executable)
    started = await begin(through_shell("", {"PATH": str(tmp_path)}))

    assert '"hello"' in await hello(started)


async def test_another_python_is_used_where_python3_is_too_old(begin: Begin, tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\necho 'it is Python 3.6.8' >&2\nexit 97\n")
    old.chmod(0o755)
    (tmp_path / "python3.12").symlink_to(old)
    (tmp_path / "python3.11").symlink_to(sys.executable)
    started = await begin(through_shell("", {"PATH": str(tmp_path)}))

    assert '"hello"' in await hello(started)


async def test_an_old_python_alone_is_told_with_its_version(begin: Begin, tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text("#!/bin/sh\necho 'it is Python 3.6.8' >&2\nexit 97\n")
    old.chmod(0o755)
    with pytest.raises(LinkFault) as caught:
        await begin(through_shell("", {"PATH": str(tmp_path)}))

    assert caught.value.fault == "no_python"
    assert "3.8 or newer is needed (it said: it is Python 3.6.8)" in caught.value.sentence


def interpreters() -> list[str]:
    """Return the other interpreters of this machine, by their usual names and pyenv's folders."""
    names = [shutil.which(f"python3.{minor}") or "" for minor in range(6, 15)]
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    names += [str(path) for path in sorted(versions.glob("3.*/bin/python3"))]
    found = {os.path.realpath(name) for name in names if name and "shims" not in name}
    return sorted(found - {os.path.realpath(sys.executable)})


async def kinds(started: Started, wanted: set[str]) -> list[dict[str, Any]]:
    """Return the agent's messages until each of these kinds has come."""
    data, missing = started.rest, set(wanted)
    while missing:
        piece = await asyncio.wait_for(started.pipe.read(65536), 15)
        assert piece, started.pipe.errors()
        data += piece
        missing -= {json.loads(line)["kind"] for line in data.split(b"\n")[:-1]}
    return [json.loads(line) for line in data.split(b"\n")[:-1]]


@pytest.mark.parametrize("python", interpreters() or [""])
async def test_other_pythons_run_every_worker_or_say_that_they_are_too_old(
    begin: Begin, python: str, tmp_path: Path
) -> None:
    if not python:
        pytest.skip("needs another interpreter than this one")
    probe = await asyncio.create_subprocess_exec(
        python, "-c", "import sys; sys.exit(sys.version_info < (3, 8))", stdout=asyncio.subprocess.PIPE
    )
    await probe.communicate()
    if probe.returncode == 0:
        log = tmp_path / "server.log"
        log.write_text("hello\n")
        started = await begin(local_opener(), python)
        plan = ProbePlan(url="http://127.0.0.1:9")
        for request in (WatchRequest(matchers=[]), FollowRequest(pid=None, log_path=str(log), probe=plan)):
            started.pipe.write(msgspec.json.encode(request) + b"\n")
        wanted = {wire.HELLO, wire.GPU_DRIVER, wire.PROCESSES, wire.LOG_BYTES, wire.PROBE}
        messages = await kinds(started, wanted)
        assert not [message for message in messages if message.get("level") == "error"]
        return
    with pytest.raises(LinkFault) as caught:
        await begin(local_opener(), python)
    assert "it is Python 3." in caught.value.sentence


async def test_damaged_sources_are_told(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    good = bundle()
    monkeypatch.setattr(bootstrap, "bundle", lambda: type(good)(good.stage, bytes(len(good.body))))
    started = await begin(local_opener(), sys.executable)
    assert await started.pipe.read(65536) == b""

    status = await started.pipe.close()
    fault = bootstrap.died(status, b"", started.pipe.errors())

    assert status == 98
    assert fault.sentence.endswith("(it said: the sources of the agent arrived damaged)")


def test_the_stub_holds_nothing_that_a_shell_takes_up() -> None:
    stub, nonce = bootstrap.stub_and_nonce()

    assert not set(stub) & set("'\\$!`\n")
    assert nonce.decode().strip() not in stub
    assert bootstrap.stub_and_nonce()[1] != nonce


def test_every_module_of_the_agent_travels_and_little_else() -> None:
    texts = agent_texts()

    assert {
        "tui",
        "tui.agent",
        "tui.agent.main",
        "tui.agent.sources",
        "tui.agent.processes.worker",
    } <= texts.keys()
    assert texts["tui"] == ""
    # A start over a link of 10 Mbit/s then takes an eighth of a second; the load generator is a third of it.
    assert len(bundle().body) < 155_000


def test_a_missing_python_is_told_without_what_start_up_files_print() -> None:
    errors = b"nvm is not compatible\ntput: No value for $TERM\nsh: 1: python3: not found\n"
    sentence = died(127, b"Welcome\n", errors).sentence
    assert "(it said: sh: 1: python3: not found)" in sentence
    assert died(127, b"Welcome\n", b"").sentence.startswith("python3 was not found on the host: ")
