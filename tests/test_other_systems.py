"""A machine that is no Linux as the client: nothing that only Linux has is needed there.

No such machine is at hand; what Python lacks on Windows is taken from the Python of this one.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ssh_server import SshServer

import tui
from tui.events import Link
from tui.requests import WatchRequest
from tui.transport.agent_source import AgentSource
from tui.transport.local import agent_opener

ROOT = Path(tui.__file__).parent
# The libraries look themselves at what a system has, when they are first imported; they are not on trial.
USUAL = (
    "asyncio, getpass, multiprocessing, pathlib, shutil, socket, sqlite3, ssl, subprocess, tempfile, typer"
)
SSH = "asyncssh, httpx"
SCREEN = "rich.console, textual.app, textual.drivers.linux_driver, textual.widgets"
MODULES = "termios fcntl pwd grp resource tty pty curses readline syslog"
# Python's documentation says of each of these that it is available on Unix, or on some of it.
ATTRIBUTES = {
    "os": "uname getuid getgid getgroups killpg getpgid getsid setsid getpgrp tcgetpgrp pread "
    "pwrite pidfd_open statvfs fork getloadavg openpty sched_getaffinity mkfifo O_NONBLOCK "
    "O_CLOEXEC O_DIRECTORY O_NOFOLLOW O_NOCTTY",
    "signal": "SIGHUP SIGKILL SIGSTOP SIGCONT SIGUSR1 SIGUSR2 SIGWINCH SIGCHLD SIGTSTP SIGALRM SIGQUIT "
    "alarm pidfd_send_signal setitimer",
    "asyncio": "open_unix_connection start_unix_server",
    "time": "tzset",
}

MASK = """
import asyncio, importlib, json, os, pkgutil, signal, sys

def lacks(*arguments):
    raise NotImplementedError

asyncio.SelectorEventLoop.add_signal_handler = asyncio.SelectorEventLoop.remove_signal_handler = lacks
asyncio.SelectorEventLoop.add_reader = asyncio.SelectorEventLoop.remove_reader = lacks
modules, attributes = json.loads(sys.argv.pop(1))
sys.modules.update(dict.fromkeys(modules.split()))
for module, names in attributes.items():
    for name in names.split():
        if hasattr(sys.modules[module], name):
            delattr(sys.modules[module], name)
"""
IMPORT_ALL = """
import tui, themes, widgets
for package in (tui, themes, widgets):
    for each in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not each.name.startswith("tui.agent.") and not each.name.endswith("__main__"):
            importlib.import_module(each.name)
            print(each.name)
"""
COMMAND = """
from tui.__main__ import main
main()
"""
FIXTURES = Path(__file__).parent / "fixtures"


def masked(code: str, *arguments: str, libraries: str = USUAL) -> "subprocess.CompletedProcess[str]":
    """Run Python code where Linux's own parts are missing."""
    missing = json.dumps([MODULES, ATTRIBUTES])
    command = [sys.executable, "-c", f"import {libraries}{MASK}{code}", missing, *arguments]
    user = {"USERNAME": "ann"}  # which Windows always sets, and Python goes by there
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT.parent, env=os.environ | user, check=False
    )


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep out what whoever runs the tests has recorded and set."""
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    (tmp_path / "none.toml").touch()
    monkeypatch.setenv("TMINUS_CONFIG", str(tmp_path / "none.toml"))


def test_the_mask_takes_away_what_it_names() -> None:
    done = masked("import os; print(hasattr(os, 'uname'))\nimport termios")

    assert done.stdout == "False\n"
    assert "import of termios halted" in done.stderr


def test_every_module_of_the_client_can_be_imported() -> None:
    done = masked(IMPORT_ALL, libraries=f"{USUAL}, {SSH}, {SCREEN}")

    assert done.stderr == ""
    assert {"tui.cli", "tui.app", "tui.runs.ledger", "tui.transport.ssh.connection"} <= set(
        done.stdout.split()
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--help",), "tminus HOST is tminus watch HOST"),
        (("replay", str(FIXTURES / "recordings" / "version-2-load.jsonl.gz"), "--headless"), "ready"),
        (("explain", str(FIXTURES / "logs" / "sglang-capture-oom.log")), "cause"),
        (("recordings",), "there is no recording yet"),
        (("runs",), "no run is kept"),
    ],
    ids=["help", "replay", "explain", "recordings", "runs"],
)
def test_commands_without_a_host_work(arguments: tuple[str, ...], told: str) -> None:
    done = masked(COMMAND, *arguments)

    assert "Traceback" not in done.stderr
    assert done.returncode == 0
    assert told in done.stdout + done.stderr


@pytest.mark.ssh
def test_a_host_is_watched_from_there(ssh_server: SshServer) -> None:
    done = masked(
        COMMAND,
        "lab",
        "--once",
        "--json",
        "--ssh-config",
        ssh_server.config_file,
        libraries=f"{USUAL}, {SSH}",
    )

    assert done.stderr == ""
    assert json.loads(done.stdout)["host"] is not None


async def test_the_agent_on_a_machine_that_is_no_linux_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    source = AgentSource(agent_opener(), WatchRequest(matchers=[]), reconnect=False, python=sys.executable)
    links = [event async for event in source if isinstance(event, Link)]

    assert [link.state for link in links] == ["connecting", "failed"]
    assert links[-1].sentence.startswith(
        "this machine runs Darwin, and the agent reads what only Linux tells"
    )
