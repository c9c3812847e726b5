"""Discovery against real processes: found by command line and title, told as trees, followed to the end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from agent_process import PATIENCE_S, Agent, Message, StartAgent, until

from tui.agent import wire
from tui.agent.processes.procfs import guarded, stat_of
from tui.engines.registry import matchers
from tui.requests import FollowRequest, Matcher, WatchRequest

QUICK = "import tui.agent.processes.worker as p; p.LOOK_S = 0.05; p.SETTLED_S = 0.2; p._HELPERS_S = 0.1"
SECRET = "s3cr3t-Value-of-a-key"
MARK = f"fake-engine-{os.getpid()}"
MATCHERS = [
    Matcher(
        engine="fake",
        argv=[rf"^\S*python\S* -c .* {MARK} serve( |$)"],
        titles=[rf"^{MARK}::"],
        environment=["NCCL_", "HF_"],
    )
]
BECOME_NOBODY = "import os, tui.agent.processes.worker, tui.agent.main; os.setgid(65534); os.setuid(65534)"
SLEEP = "import time; time.sleep(100)"
# What setproctitle does: the title overwrites the arguments and the environment behind them.
RETITLE = """
import os, sys, time
fields = open("/proc/self/stat").read().rpartition(")")[2].split()
start, end = int(fields[45]), int(fields[48])
while not os.path.exists(sys.argv[-1]): time.sleep(0.01)
memory = os.open("/proc/self/mem", os.O_RDWR)
os.pwrite(memory, sys.argv[-2].encode().ljust(end - start, b"\\0"), start)
open("/proc/self/comm", "w").write(sys.argv[-2][:15])
time.sleep(100)
"""

Launch = Callable[..., "subprocess.Popen[Any]"]


@pytest.fixture
def launch() -> Iterator[Launch]:
    """Start a Python process with this code and these arguments; it ends with the test."""
    started: list[subprocess.Popen[Any]] = []

    def start(code: str, *arguments: str, **options: Any) -> "subprocess.Popen[Any]":
        process = subprocess.Popen([sys.executable, "-c", code, *arguments], **options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def looking(agent: StartAgent) -> Agent:
    """An agent that looks for the fake engine twenty times a second."""
    one = agent(prelude=QUICK, real=["processes"])
    one.send(WatchRequest(matchers=MATCHERS, gpus=False))
    return one


def told(agent: Agent, holds: Callable[[dict[int, Message]], object]) -> dict[int, Message]:
    """Return the processes by pid of the first message for which that holds."""
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        processes = {each["pid"]: each for each in agent.receive(wire.PROCESSES)["processes"]}
        if holds(processes):
            return processes
    pytest.fail(f"no such message within {PATIENCE_S:.0f} s")


def test_no_server_is_told_once(looking: Agent) -> None:
    first = looking.receive(wire.PROCESSES)

    assert (first["processes"], first["hidden"]) == ([], 0)
    assert looking.receive_within(wire.PROCESSES, 0.3) is None


def test_a_server_is_told_of_with_all_that_is_known(looking: Agent, launch: Launch, tmp_path: Path) -> None:
    environment = {"PATH": "/bin", "NCCL_DEBUG": "INFO", "HF_TOKEN": SECRET, "OTHER": "x"}
    with (tmp_path / "server.log").open("w") as log:
        server = launch(
            SLEEP, MARK, "serve", "--api-key", SECRET, "--port", "1",
            env=environment, cwd=tmp_path, stdout=log, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    process = told(looking, lambda seen: server.pid in seen)[server.pid]

    assert process["matched"] == "fake"
    assert process["argv"][1:] == ["-c", SLEEP, MARK, "serve", "--api-key", "***", "--port", "1"]
    assert process["api_key_in_argv"] is True
    assert process["environment"] == {"NCCL_DEBUG": "INFO", "HF_TOKEN": "***"}
    assert process["stdout"] == str(tmp_path / "server.log")
    assert process["stderr"] == "/dev/null"
    assert process["cwd"] == str(tmp_path)
    assert (process["uid"], process["ppid"]) == (os.getuid(), os.getpid())
    assert process["state"] in "RSD"
    assert abs(process["started_s"] - time.monotonic()) < PATIENCE_S
    assert process["started_s"] <= time.monotonic()


def test_a_server_in_a_container_is_told_of_with_the_hosts_pid_and_its_own(
    container: int, looking: Agent, launch: Launch
) -> None:
    outside = launch(SLEEP, MARK, "serve")
    enter = ["nsenter", "-t", str(container), "-p", "-m", "--", sys.executable, "-c", SLEEP, MARK, "serve"]
    with subprocess.Popen(enter) as nsenter:
        seen = told(looking, lambda seen: any(each["inner_pid"] for each in seen.values()))
        nsenter.kill()
    (inside,) = (each for each in seen.values() if each["inner_pid"] is not None)
    os.kill(inside["pid"], signal.SIGKILL)

    assert inside["inner_pid"] < 10 < inside["pid"]
    assert outside.pid not in seen or seen[outside.pid]["inner_pid"] is None


def test_secrets_never_leave_the_host(looking: Agent, launch: Launch) -> None:
    code = f"import time; url='http://me:{SECRET}@h'; time.sleep(100)"
    server = launch(code, MARK, "serve", f"--hf-token={SECRET}", env={"HF_PROXY": f"http://a:{SECRET}@b"})
    processes = told(looking, lambda seen: server.pid in seen)

    assert SECRET not in str(processes)
    assert processes[server.pid]["api_key_in_argv"] is False


def test_the_tree_below_a_server_is_told_without_matching_again(looking: Agent, launch: Launch) -> None:
    child_argv = f"[sys.executable, '-c', {SLEEP!r}, {MARK!r}, 'serve']"
    parent = f"import subprocess, sys, time; subprocess.Popen({child_argv}).wait()"
    server = launch(parent, MARK, "serve")
    processes = told(looking, lambda seen: len(seen) == 2)
    (child,) = set(processes) - {server.pid}
    os.kill(child, signal.SIGTERM)

    assert processes[server.pid]["matched"] == "fake"
    assert processes[child]["matched"] is None
    assert processes[child]["ppid"] == server.pid


def test_what_merely_names_the_engine_is_no_server(looking: Agent, launch: Launch, tmp_path: Path) -> None:
    log = tmp_path / f"{MARK} serve.log"
    log.touch()
    readers = [
        subprocess.Popen(["tail", "-f", str(log)]),
        subprocess.Popen(["sleep", "100", f"{MARK} serve"]),
    ]
    launch(SLEEP, f"not-{MARK}", "serve")
    server = launch(SLEEP, MARK, "serve")
    try:
        assert set(told(looking, bool)) == {server.pid}
        assert looking.receive_within(wire.PROCESSES, 0.3) is None
    finally:
        for reader in readers:
            reader.kill()
            reader.wait()


def test_a_server_that_a_shell_becomes_is_found(looking: Agent) -> None:
    script = f"sleep 0.3; exec {sys.executable} -c '{SLEEP}' {MARK} serve"
    shell = subprocess.Popen(["/bin/sh", "-c", script])
    try:
        process = told(looking, lambda seen: shell.pid in seen)[shell.pid]
        assert process["argv"][-2:] == [MARK, "serve"]
        assert process["title"].startswith("python")
    finally:
        shell.kill()
        shell.wait()


def test_a_new_title_is_told_and_the_first_arguments_and_variables_stay(
    looking: Agent, launch: Launch, tmp_path: Path
) -> None:
    title = f"{MARK}::scheduler_TP0"
    go = tmp_path / "go"
    server = launch(RETITLE, MARK, "serve", title, str(go), env={"NCCL_ALGO": "Ring"})
    before = told(looking, lambda seen: server.pid in seen)[server.pid]
    go.touch()
    after = told(looking, lambda seen: seen[server.pid]["title"] == title)[server.pid]

    assert before["title"].startswith("python")
    assert before["environment"] == {"NCCL_ALGO": "Ring"}
    assert after["environment"] == {"NCCL_ALGO": "Ring"}
    assert after["argv"] == before["argv"]
    assert after["matched"] == "fake"


def test_a_title_alone_is_enough_and_its_wiped_variables_are_unknown(
    agent: StartAgent, launch: Launch
) -> None:
    title = f"{MARK}::scheduler_TP1"
    server = launch(RETITLE, title, "/", env={"NCCL_ALGO": "Ring"})
    until(lambda: Path(f"/proc/{server.pid}/cmdline").read_bytes().startswith(title.encode()))
    one = agent(prelude=QUICK, real=["processes"])
    one.send(WatchRequest(matchers=MATCHERS, gpus=False))
    process = told(one, lambda seen: server.pid in seen)[server.pid]

    assert process["title"] == title
    assert process["matched"] == "fake"
    assert process["environment"] is None


def test_a_suspended_server_is_told_and_so_is_its_going_on(looking: Agent, launch: Launch) -> None:
    server = launch(SLEEP, MARK, "serve")
    told(looking, lambda seen: server.pid in seen)
    server.send_signal(signal.SIGSTOP)
    told(looking, lambda seen: seen[server.pid]["state"] == "T")
    server.send_signal(signal.SIGCONT)
    told(looking, lambda seen: seen[server.pid]["state"] in "RS")


def test_the_end_of_a_server_is_told(looking: Agent, launch: Launch) -> None:
    server = launch(SLEEP, MARK, "serve")
    told(looking, lambda seen: server.pid in seen)
    server.kill()
    told(looking, lambda seen: seen[server.pid]["state"] == "Z")
    server.wait()
    told(looking, lambda seen: server.pid not in seen)


def test_ends_below_the_followed_process_are_told(looking: Agent, launch: Launch) -> None:
    parent = (
        "import subprocess, sys\n"
        f"children = [subprocess.Popen([sys.executable, '-c', {SLEEP!r}]) for _ in range(2)]\n"
        "children[0].wait(); sys.stdin.read()"
    )
    server = launch(parent, MARK, "serve", stdin=subprocess.PIPE)
    processes = told(looking, lambda seen: len(seen) == 3)
    looking.send(FollowRequest(pid=server.pid, started_s=processes[server.pid]["started_s"]))
    time.sleep(1.0)  # so that the followed tree has been looked at
    reaped, unreaped = sorted(set(processes) - {server.pid})
    os.kill(reaped, signal.SIGKILL)
    first = looking.receive(wire.EXIT)
    os.kill(unreaped, signal.SIGKILL)
    second = looking.receive(wire.EXIT)

    assert (first["pid"], first["main"]) == (reaped, False)
    assert (second["pid"], second["how"]) == (unreaped, "zombie")
    assert looking.receive_within(wire.EXIT, 0.2) is None


def test_a_process_followed_by_hand_is_told_of_though_nothing_matches(looking: Agent, launch: Launch) -> None:
    other = launch(SLEEP, "something-else")
    looking.send(FollowRequest(pid=other.pid))
    process = told(looking, lambda seen: other.pid in seen)[other.pid]

    assert process["matched"] is None
    assert process["argv"][-1] == "something-else"


def test_the_watcher_and_those_above_it_are_never_servers(agent: StartAgent) -> None:
    one = agent(prelude=QUICK, real=["processes"])
    everything = Matcher(engine="all", argv=["."], titles=["."], environment=[])
    one.send(WatchRequest(matchers=[everything], gpus=False))
    pids = {each["pid"]: each["matched"] for each in one.receive(wire.PROCESSES)["processes"]}

    assert pids.get(one.process.pid) is None
    assert pids.get(os.getpid()) is None


def test_a_matcher_that_is_no_pattern_is_told(agent: StartAgent) -> None:
    one = agent(real=["processes"])
    wrong = Matcher(engine="odd", argv=["("], titles=[], environment=[])
    one.send(WatchRequest(matchers=[wrong], gpus=False))

    assert "the matcher of odd is no pattern" in one.receive(wire.NOTICE)["sentence"]


def test_a_process_of_which_nothing_is_left_is_not_protected(launch: Launch) -> None:
    process = launch("")
    until(lambda: (stat := stat_of(process.pid)) is not None and stat.state == "Z")
    assert not guarded(process.pid)
    process.wait()
    assert not guarded(process.pid)
    assert not guarded(os.getpid())


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_users_server_is_told_with_the_rights_that_are_missing(
    agent: StartAgent, launch: Launch
) -> None:
    server = launch(SLEEP, MARK, "serve", env={"NCCL_ALGO": "Ring"})
    one = agent(prelude=f"{QUICK}\n{BECOME_NOBODY}", real=["processes"])
    one.send(WatchRequest(matchers=MATCHERS, gpus=False))
    notice = one.receive(wire.NOTICE)
    process = told(one, lambda seen: server.pid in seen)[server.pid]

    assert f"process {server.pid} (fake) belongs to root" in notice["sentence"]
    assert "--log" in notice["sentence"]
    assert (process["environment"], process["cwd"], process["stdout"]) == (None, None, None)
    assert process["argv"][-1] == "serve"
    assert process["uid"] == 0


@pytest.mark.skipif(os.getuid() != 0, reason="only root can mount another /proc and become another user")
@pytest.mark.parametrize("level", [1, 2])
def test_processes_that_the_host_hides_are_counted_or_spoken_of(
    agent: StartAgent, needs: Callable[[str], str], tmp_path: Path, level: int
) -> None:
    private = tmp_path / "python"  # sees a /proc of its own, in which other users' processes are hidden
    mount = f'mount -t proc -o hidepid={level} proc /proc && exec {sys.executable} "$@"'
    private.write_text(f"#!/bin/sh\nexec {needs('unshare')} --mount /bin/sh -c '{mount}' python \"$@\"\n")
    private.chmod(0o755)
    one = agent(prelude=f"{QUICK}\n{BECOME_NOBODY}", real=["processes"], python=str(private))
    one.send(WatchRequest(matchers=MATCHERS, gpus=False))
    if level == 2:
        assert "hidepid" in one.receive(wire.NOTICE)["sentence"]
    first = one.receive(wire.PROCESSES)

    assert first["processes"] == []
    assert (first["hidden"] > 0) is (level == 1)


def test_a_real_command_line_is_found_below_the_shell_that_started_it(
    agent: StartAgent, tmp_path: Path
) -> None:
    package = tmp_path / "sglang"
    package.mkdir()
    (package / "__init__.py").touch()
    starts = f"[sys.executable, '-c', {RETITLE!r}, 'sglang::scheduler_TP0', '/']"
    (package / "launch_server.py").write_text(f"import subprocess, sys\nsubprocess.Popen({starts}).wait()")
    command = f"'{sys.executable}' -m sglang.launch_server --model-path /m --tp 1; true"
    one = agent(prelude=QUICK, real=["processes"])
    one.send(WatchRequest(matchers=matchers(), gpus=False))
    paths = {"PYTHONPATH": str(tmp_path)}
    shell = subprocess.Popen(["/bin/sh", "-c", command], env=paths, start_new_session=True)
    try:
        processes = told(one, lambda seen: "sglang::scheduler_TP0" in below(shell.pid, seen).values())
    finally:
        os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()
    (launcher,) = [each for each in processes.values() if each["ppid"] == shell.pid]
    (rank,) = [each for each in processes.values() if each["ppid"] == launcher["pid"]]

    assert shell.pid not in processes
    assert (launcher["matched"], rank["matched"]) == ("sglang", None)
    assert launcher["argv"][1:] == ["-m", "sglang.launch_server", "--model-path", "/m", "--tp", "1"]


def below(pid: int, processes: dict[int, Message]) -> dict[int, str]:
    """Return the titles of the grandchildren of a process."""
    return {
        each["pid"]: each["title"]
        for each in processes.values()
        if each["ppid"] in processes and processes[each["ppid"]]["ppid"] == pid
    }
