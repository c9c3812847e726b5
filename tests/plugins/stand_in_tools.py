"""Stand-ins for docker, podman, kubectl and srun: their real argument rules, their words, a real process.

Run as ``python3 stand_in_tools.py STATE TOOL ARGUMENT...``. STATE is a JSON file: ``fails`` names a text of
TEXTS that the tool ends with, ``inside`` a pid whose namespaces the command enters, ``bare`` that nothing
can be started inside, ``keeps`` that whoever holds the process keeps its pipes when the tool is killed (as
Docker and Kubernetes do at times), ``client`` a file that gets the pid of the tool. SIGUSR1 is a cut link
after which the tool ends with 0.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

NO_EXEC = "OCI runtime exec failed: exec failed: unable to start container process: exec: "
# As the real programs print them, with their exit codes.
TEXTS: dict[str, dict[str, tuple[int, str]]] = {
    "docker": {
        "missing": (1, "Error response from daemon: No such container: vllm"),
        "older_missing": (1, "Error: No such container: vllm"),
        "stopped": (1, f"Error response from daemon: container {'a1' * 32} is not running"),
        "restarting": (
            1,
            f"Error response from daemon: Container {'a1' * 32} is restarting, wait until the container is "
            "running",
        ),
        "paused": (
            1,
            "Error response from daemon: Container vllm is paused, unpause the container before exec",
        ),
        "rights": (
            1,
            "permission denied while trying to connect to the Docker daemon socket at "
            'unix:///var/run/docker.sock: Get "http://%2Fvar%2Frun%2Fdocker.sock/v1.24/containers/x/json": '
            "dial unix /var/run/docker.sock: connect: permission denied",
        ),
        "newer_rights": (
            1,
            "permission denied while trying to connect to the docker API at unix:///var/run/docker.sock",
        ),
        "down": (
            1,
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker "
            "daemon running?",
        ),
        "odd": (1, "Error response from daemon: the \x1b[31mfrobnicator\x07 is out of whack"),
    },
    "podman": {
        "missing": (125, 'Error: no container with name or ID "vllm" found: no such container'),
        "stopped": (
            255,
            "Error: can only create exec sessions on running containers: container state improper",
        ),
        "older_stopped": (
            126,
            "Error: cannot exec into container that is not running: container state improper",
        ),
        "older_missing": (
            125,
            "Error: unable to exec into vllm: no container with name or ID vllm found: no such container",
        ),
    },
    "kubectl": {
        "missing": (1, 'Error from server (NotFound): pods "llm-0" not found'),
        "namespace": (1, 'Error from server (NotFound): namespaces "prod" not found'),
        "container": (1, "Error from server (BadRequest): container web is not valid for pod llm-0"),
        "newer_container": (1, "error: container web not found in pod llm-0"),
        "over": (1, "error: cannot exec into a container in a completed pod; current phase is Succeeded"),
        "waiting": (1, 'error: unable to upgrade connection: container not found ("server")'),
        "unscheduled": (1, "Error from server (BadRequest): pod llm-0 does not have a host assigned"),
        "forbidden": (
            1,
            'Error from server (Forbidden): pods "llm-0" is forbidden: User "ann" cannot create resource '
            '"pods/exec" in API group "" in the namespace "prod"',
        ),
        "login": (1, "error: You must be logged in to the server (Unauthorized)"),
        "context": (1, 'error: context "lab" does not exist'),
        "cluster": (
            1,
            "The connection to the server localhost:8080 was refused - did you specify the right "
            "host or port?",
        ),
        "network": (1, "Unable to connect to the server: dial tcp 10.0.0.1:6443: i/o timeout"),
        "kubelet": (1, "Error from server: error dialing backend: dial tcp 10.0.0.7:10250: i/o timeout"),
        "cut": (
            1,
            "error: error reading from error stream: next reader: websocket: close 1006 (abnormal closure): "
            "unexpected EOF",
        ),
    },
    "srun": {
        "missing": (
            1,
            "srun: error: Unable to confirm allocation for job 42: Invalid job id specified\n"
            "srun: Check SLURM_JOB_ID environment variable. Expired or invalid job 42",
        ),
        "over": (
            1,
            "srun: error: Unable to create step for job 42: Job/step already completing or completed",
        ),
        "pending": (1, "srun: error: Unable to confirm allocation for job 42: Job is pending execution"),
        "node": (
            1,
            "srun: error: Unable to create step for job 42: Requested node configuration is not available",
        ),
        "rights": (1, "srun: error: Unable to create step for job 42: Access/permission denied"),
        "controller": (
            1,
            "srun: error: Unable to confirm allocation for job 42: Unable to contact slurm "
            "controller (connect "
            "failure)",
        ),
        "cancelled": (
            1,
            "slurmstepd: error: *** STEP 42.3 ON n1 CANCELLED AT 2026-11-30T09:00:00 DUE TO TIME LIMIT ***",
        ),
    },
}


def fail(code: int, text: str) -> NoReturn:
    """End as the tool does."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
    os._exit(code)


def docker(arguments: list[str], tool: str) -> tuple[list[str], bool]:
    """Return the command and whether its input is passed on. Options end at the container's name."""
    usage = f"\n\nUsage:  {tool} exec [OPTIONS] CONTAINER COMMAND [ARG...]"
    if arguments[:1] != ["exec"]:
        fail(1, f"{tool}: '{arguments[0]}' is not a {tool} command.")
    rest, passes = arguments[1:], False
    while rest and rest[0].startswith("-"):
        flag = rest.pop(0)
        if flag in ("-i", "--interactive"):
            passes = True
        elif flag in ("-t", "--tty", "-it", "-ti"):
            fail(1, "the input device is not a TTY")
        elif flag in ("-u", "--user", "-w", "--workdir", "-e", "--env"):
            rest.pop(0)
        else:
            fail(125, f"unknown flag: {flag}{usage}")
    if len(rest) < 2:
        fail(1, f'"{tool} exec" requires at least 2 arguments.{usage}')
    return rest[1:], passes


def kubectl(arguments: list[str], tool: str) -> tuple[list[str], bool]:
    """Return the command and whether its input is passed on. Options may stand anywhere before ``--``."""
    if "--" not in arguments:
        fail(1, "error: exec [POD] [COMMAND] is not supported anymore. Use exec [POD] -- [COMMAND] instead")
    place = arguments.index("--")
    own, command = arguments[:place], arguments[place + 1 :]
    names: list[str] = []
    passes = container = False
    while own:
        word = own.pop(0)
        if word in ("-i", "--stdin"):
            passes = True
        elif word in ("-t", "--tty", "-it"):
            fail(1, "Unable to use a TTY - input is not a terminal or the right kind of file")
        elif word in ("-n", "--namespace", "-c", "--container", "--context"):
            own.pop(0)
            container = container or word in ("-c", "--container")
        elif word.startswith("-"):
            fail(1, f"error: unknown flag: {word}\nSee 'kubectl exec --help' for usage.")
        else:
            names.append(word)
    if names[:1] != ["exec"] or len(names) != 2 or not command:
        fail(1, "error: pod, type/name or --filename must be specified")
    if not container:
        sys.stderr.write('Defaulted container "server" out of: server, sidecar\n')
    return command, passes


def srun(arguments: list[str], tool: str) -> tuple[list[str], bool]:
    """Return the command and whether its input is passed on. Options end at the command."""
    rest, given = list(arguments), dict[str, str]()
    while rest and rest[0].startswith("-"):
        flag, _, value = rest.pop(0).partition("=")
        if flag == "-w":
            value = rest.pop(0)
        elif flag not in ("--jobid", "--overlap", "--ntasks", "--nodes", "--unbuffered"):
            fail(1, f"srun: unrecognized option '{flag}'\nTry \"srun --help\" for more information")
        given[flag] = value
    if "--jobid" not in given:
        fail(1, "srun: error: no job of one's own was meant to be made here")
    if given.get("--ntasks") != "1" or given.get("--nodes") != "1":
        fail(1, "srun: error: the input would go to every task")
    if "--overlap" not in given:
        sys.stderr.write(
            "srun: Job 42 step creation temporarily disabled, retrying (Requested nodes are busy)\n"
        )
        sys.stderr.flush()
        time.sleep(600)
    return rest, True


def hold(command: list[str], state: dict[str, Any], pipes: list[tuple[int, int]], told: int) -> NoReturn:
    """Be what starts the process and outlives the tool: containerd's shim, the kubelet, slurmstepd."""
    os.setsid()
    if os.fork():
        os._exit(0)
    (taken, given), (out, put), (wrong, put_wrong) = pipes
    quiet = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(quiet, number)
    if "inside" in state:
        command = ["nsenter", "-t", str(state["inside"]), "-p", "-m", "--", *command]
    process = subprocess.Popen(command, stdin=taken, stdout=put, stderr=put_wrong, start_new_session=True)
    for number in (taken, put, put_wrong, *([] if state.get("keeps") else [given, out, wrong])):
        os.close(number)
    status = process.wait()
    os.write(told, bytes([128 - status if status < 0 else status]))
    os._exit(0)


def raw_terminal() -> tuple[int, int]:
    """Return both ends of a terminal without output processing: what srun --unbuffered gives for output."""
    reader, writer = os.openpty()
    settings = termios.tcgetattr(writer)
    settings[1] &= ~termios.OPOST
    termios.tcsetattr(writer, termios.TCSANOW, settings)
    return reader, writer


def relay(command: list[str], state: dict[str, Any], *, passes: bool, terminal: bool) -> int:
    """Have the process started, pass its streams on, and return its exit status."""
    pipes = [os.pipe() for _ in range(3)]
    if terminal:
        pipes[1] = raw_terminal()
    known, told = os.pipe()
    if not os.fork():
        hold(command, state, pipes, told)
    os.wait()
    (taken, given), (out, put), (wrong, put_wrong) = pipes
    for number in (taken, put, put_wrong, told):
        os.close(number)
    feeder = threading.Thread(target=copy, args=(0 if passes else os.open(os.devnull, 0), given), daemon=True)
    readers = [threading.Thread(target=copy, args=pair, daemon=True) for pair in ((out, 1), (wrong, 2))]
    for thread in (feeder, *readers):
        thread.start()
    status = os.read(known, 1)
    if not state.get("keeps"):
        for thread in readers:
            thread.join(2)
    return status[0] if status else 1


def copy(source: int, target: int) -> None:
    """Copy to the end, and close what is copied to."""
    try:
        while data := os.read(source, 65536):
            view = memoryview(data)
            while view:
                view = view[os.write(target, view) :]
    except OSError:
        pass
    if target > 2:
        os.close(target)


def main(state_file: str, tool: str, arguments: list[str]) -> int:
    """Be one of the tools; return its exit code."""
    state: dict[str, Any] = json.loads(Path(state_file).read_text())
    rules = {"docker": docker, "podman": docker, "kubectl": kubectl, "srun": srun}
    command, passes = rules[tool](arguments, tool)
    if "fails" in state:
        fail(*TEXTS[tool][state["fails"]])
    if state.get("bare") or shutil.which(command[0]) is None:
        cannot_start(tool, command[0])
    signal.signal(signal.SIGUSR1, lambda number, frame: os._exit(0))
    if "client" in state:
        with Path(state["client"]).open("a") as file:
            file.write(f"{os.getpid()}\n")
    status = relay(command, state, passes=passes, terminal="--unbuffered" in arguments[:7])
    if status and tool == "kubectl":
        sys.stderr.write(f"command terminated with exit code {status}\n")
    if status and tool == "srun":
        sys.stderr.write(f"srun: error: n1: task 0: Exited with exit code {status}\n")
    return status


def cannot_start(tool: str, program: str) -> NoReturn:
    """End as the tool does when the program is not there."""
    why = (
        "executable file not found in $PATH"
        if "/" not in program
        else f"stat {program}: no such file or directory"
    )
    if tool == "docker":
        fail(127, f'{NO_EXEC}"{program}": {why}: unknown')
    if tool == "podman":
        fail(
            127,
            f"Error: crun: executable file `{program}` not found in $PATH: No such file or "
            "directory: OCI runtime "
            "attempted to invoke a command that was not found",
        )
    if tool == "kubectl":
        fail(
            1,
            "error: Internal error occurred: error executing command in container: failed to exec "
            "in container: "
            f'failed to start exec "{"fc" * 32}": {NO_EXEC}"{program}": {why}: unknown',
        )
    fail(
        2,
        f"slurmstepd: error: execve(): {program}: No such file or directory\n"
        "srun: error: n1: task 0: Exited with exit code 2",
    )


if __name__ == "__main__":
    code = main(sys.argv[1], sys.argv[2], sys.argv[3:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
