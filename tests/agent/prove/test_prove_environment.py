"""What is told of the environment of a server's processes, after whatever they did to it. Real processes."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from agent_process import until

from tui.agent.prove import environ

PREFIXES = ("NCCL_", "HF_", "SGLANG_")
SLEEP = "import time; print('here', flush=True); time.sleep(100)"
# As setproctitle does (measured with 1.3.8): argv[1] is the title, argv[2] what stays of the environment:
# none, all, what begins with a text, or "-": the title runs into it and has no NULs behind it.
RETITLE = """
import os, sys, time
title, kept = sys.argv[1].encode(), sys.argv[2]
fields = open("/proc/self/stat").read().rpartition(")")[2].split()
arguments, environment, end = int(fields[45]), int(fields[47]), int(fields[48])
memory = os.open("/proc/self/mem", os.O_RDWR)
if kept == "-":
    os.pwrite(memory, b"x" * (environment - arguments) + title, arguments)
elif kept == "none":
    os.pwrite(memory, title.ljust(end - arguments, b"\\0"), arguments)
elif kept == "all":
    os.pwrite(memory, title.ljust(environment - arguments, b"\\0"), arguments)
else:
    whole = open("/proc/self/environ", "rb").read()
    os.pwrite(memory, title.ljust(environment - arguments + whole.index(kept.encode()), b"\\0"), arguments)
print("here", flush=True)
time.sleep(100)
"""
VARIABLES = {"NCCL_ALGO": "Tree", "HF_TOKEN": "hf_value_of_a_token", "OTHER": "x", "SGLANG_LATE": "1"}

Launch = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def launch() -> Iterator[Launch]:
    """Start a Python process with this code and these arguments under VARIABLES; wait until it is here."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str, *arguments: str, **options: Any) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", code, *arguments]
        options.setdefault("env", VARIABLES)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_a_whole_environment_is_read_and_its_secrets_stay_there(launch: Launch) -> None:
    found = environ.read(launch(SLEEP).pid, PREFIXES)
    assert found == ("read", {"NCCL_ALGO": "Tree", "HF_TOKEN": "***", "SGLANG_LATE": "1"})


def test_an_empty_environment_is_whole(launch: Launch) -> None:
    assert environ.read(launch(SLEEP, env={}).pid, PREFIXES)[1] == {}
    assert environ.read(launch(SLEEP, env={}).pid, PREFIXES)[0] == "read"


@pytest.mark.parametrize(
    ("kept", "state", "names"),
    [
        ("none", "overwritten", set[str]()),
        ("OTHER=", "overwritten", {"SGLANG_LATE"}),
        ("all", "read", {"NCCL_ALGO", "HF_TOKEN", "SGLANG_LATE"}),
    ],
)
def test_what_a_new_title_left_is_told_and_that_it_is_not_all(
    launch: Launch, kept: str, state: str, names: set[str]
) -> None:
    found, variables = environ.read(launch(RETITLE, "sglang::scheduler_TP0", kept).pid, PREFIXES)
    assert (found, set(variables)) == (state, names)


def test_a_title_that_runs_into_the_environment_is_no_variable(launch: Launch) -> None:
    title = "NCCL_ALGO of a title that ends".ljust(46, ".")  # within OTHER
    assert environ.read(launch(RETITLE, title, "-").pid, PREFIXES) == ("overwritten", {"SGLANG_LATE": "1"})


def test_a_title_keeps_its_secrets_on_the_host(launch: Launch) -> None:
    told: list[dict[str, object]] = []
    environ.of_tree(
        launch(RETITLE, "sglang::scheduler --api-key sk-secretsecretsecret", "none").pid, PREFIXES, told
    )

    assert [each["title"] for each in told] == ["sglang::scheduler --api-key ***"]


def test_a_process_of_another_user_is_unreadable(launch: Launch) -> None:
    if os.geteuid():
        pytest.skip("only root can read what others cannot")
    other = launch(SLEEP)
    code = f"""
import os
from tui.agent.prove import environ
os.setgid(65534); os.setuid(65534)
print(*environ.read({other.pid}, ("NCCL_",)))
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "unreadable {}\n"


def test_an_ended_process_is_gone_also_while_nobody_has_reaped_it(launch: Launch) -> None:
    process = launch(SLEEP)
    process.kill()
    until(lambda: environ.read(process.pid, PREFIXES)[0] == "gone")
    process.wait()
    assert environ.read(process.pid, PREFIXES) == ("gone", {})


# A launcher that changes its environment, then spawns ranks which give themselves a title, as SGLang does.
LAUNCHER = f"""
import multiprocessing, os, subprocess, sys, time
os.environ["NCCL_CUMEM_ENABLE"] = "0"
multiprocessing.set_start_method("spawn")
from multiprocessing import resource_tracker
resource_tracker.ensure_running()
ranks = [
    subprocess.Popen(
        [sys.executable, "-c", {RETITLE!r}, "sglang::scheduler_TP%d" % rank, "none"], stdout=subprocess.PIPE
    )
    for rank in (0, 1)
]
for rank in ranks:
    rank.stdout.readline()
print("here", flush=True)
sys.stdin.read()
for rank in ranks:
    rank.kill()
"""


def test_a_tree_tells_what_the_launcher_added_though_its_ranks_lost_it(launch: Launch) -> None:
    mine, theirs = os.pipe()
    launcher = launch(LAUNCHER, stdin=mine)
    os.close(mine)
    found: list[dict[str, Any]] = []
    environ.of_tree(launcher.pid, PREFIXES, found)
    os.close(theirs)
    launcher.wait()

    assert [each["role"] for each in found] == ["main", "resource_tracker", "worker", "worker"]
    main, tracker, *ranks = found
    assert main["state"] == tracker["state"] == "read"
    assert "NCCL_CUMEM_ENABLE" not in main["variables"]
    assert tracker["variables"] == main["variables"] | {"NCCL_CUMEM_ENABLE": "0"}
    assert [(rank["title"], rank["state"], rank["variables"]) for rank in ranks] == [
        ("sglang::scheduler_TP0", "overwritten", {}),
        ("sglang::scheduler_TP1", "overwritten", {}),
    ]


def test_equal_processes_far_down_are_told_once(launch: Launch) -> None:
    start = "import subprocess, sys, time; print('here', flush=True)\n"
    end = "\ntime.sleep(100)"
    far = f"{start}for _ in range(3): subprocess.Popen([sys.executable, '-c', {SLEEP!r}]){end}"
    near = f"{start}subprocess.Popen([sys.executable, '-c', {far!r}], env={{'NCCL_ALGO': 'Ring'}}){end}"
    top = launch(near, start_new_session=True)
    found: list[dict[str, Any]] = []
    try:
        until(lambda: len(environ.tree(top.pid)) == 5)
        until(lambda: all(environ.read(pid, ())[0] == "read" for pid, _ in environ.tree(top.pid)))
        environ.of_tree(top.pid, PREFIXES, found)
    finally:
        os.killpg(top.pid, signal.SIGKILL)
    assert [each["variables"].get("NCCL_ALGO") for each in found] == ["Tree", "Ring"]
