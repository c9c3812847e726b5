"""What is said when the way into a container, a pod or a job fails: one table, by the program's own words.

Exit codes do not tell: each program uses 1, 125, 126, 127 and 255 for several of these, and kubectl may end
with 0 when its link is cut. The classes are those of LinkFault; ``refused`` is tried again once the agent has
run there, since containers and pods come back under their names, ``agent`` and ``auth`` are not.
"""

import re
from dataclasses import dataclass

from tui.transport.clean import clean
from tui.transport.pipe import LinkFault
from tui.transport.wrapper import Wrapper

_SAID_LIMIT = 300
_KILLED = (137, 143)
_NOT_STARTED = (126, 127)
# What the programs print beside, whatever happens.
_NOISE = re.compile(
    r"command terminated with exit code \d+$|command terminated with non-zero exit code"
    r"|Defaulted container |Unable to use a TTY|srun: error: \S+: task \d+: Exited with exit code \d+$"
    r"|srun: launch/slurm: |Emulate Docker CLI using podman"
)


@dataclass(frozen=True, slots=True)
class Words:
    """One row: whose words, what they look like, class, whether to try again, and the sentence."""

    tools: str
    pattern: str
    fault: str
    retry: bool
    text: str


# fmt: off
TABLE: dict[str, Words] = {
    # docker and podman.
    "no_container": Words("docker", r"No such container|no such container", "refused", False,
        "there is no container {name} on {where}: see its name in `docker ps` there"),
    "no_container_podman": Words("podman", r"no such container", "refused", False,
        "there is no container {name} on {where}: see its name in `podman ps` there, as the user who started "
        "it, since Podman shows each user only their own"),
    "paused": Words("docker podman", r"is paused, unpause|container is paused", "refused", False,
        "the container {name} on {where} is paused: go on with `{tool} unpause {name}`"),
    "not_running": Words("docker podman",
        r"is not running|is restarting, wait|container state improper|on running containers",
        "refused", False,
        "the container {name} on {where} is not running: start it, or see why it ended with "
        "`{tool} logs {name}`"),
    "no_daemon_rights": Words("docker podman",
        r"(?i)permission denied while trying to connect|permission denied.*(?:docker|podman)\.sock",
        "auth", False,
        "this user may not use {tool} on {where}: log in there as one who may (root, or a member of the "
        "group docker)"),
    "no_daemon": Words("docker podman",
        r"Cannot connect to the Docker daemon|failed to connect to the docker API|Cannot connect to Podman",
        "refused", False,
        "{tool} on {where} does not reach its daemon ({said}): start it, or set DOCKER_HOST or a context "
        "there"),
    # kubectl.
    "no_context": Words("kubectl", r"context .*(?:does not exist|was not found)|no context exists",
        "usage", False,
        "kubectl on {where} knows no such context ({said}): see `kubectl config get-contexts` there"),
    "no_namespace": Words("kubectl", r'namespaces? "[^"]*" not found', "refused", False,
        "there is no such namespace in the cluster ({said}): see `kubectl get namespaces`"),
    "no_pod": Words("kubectl", r'pods? "[^"]*" not found|pod does not exist', "refused", False,
        "there is no pod for {name}: see `kubectl get pods` in its namespace, and whether the context is "
        "right"),
    "no_container_in_pod": Words("kubectl",
        r"container \S+ is not valid for pod|container \S+ not found in pod", "usage", False,
        "the pod has no such container ({said}): see `kubectl describe pod`, or leave the container out"),
    "pod_over": Words("kubectl", r"completed pod|current phase is (?:Succeeded|Failed)", "agent", False,
        "the pod of {name} has ended ({said}): name the one that runs now, see `kubectl get pods`"),
    "pod_not_started": Words("kubectl",
        r"container not found \(|container is not running|does not have a host assigned|is not running"
        r"|container not (?:running|created)|ContainerCreating", "refused", False,
        "the container of {name} does not run ({said}): see `kubectl describe pod`"),
    "no_rights": Words("kubectl",
        r"\(Forbidden\)|is forbidden|\(Unauthorized\)|must be logged in|getting credentials", "auth", False,
        "the cluster does not let this user run anything in {name} ({said}): it needs the right to create "
        "pods/exec there, or a new login"),
    "pod_link_cut": Words("kubectl",
        r"lost connection to pod|error reading from error stream|abnormal closure|connection reset by peer"
        r"|unexpected EOF|error sending request:.*timeout", "lost", True,
        "the link to {name} was cut ({said})"),
    "no_cluster": Words("kubectl",
        r"The connection to the server .* was refused|Unable to connect to the server|error dialing backend"
        r"|dial tcp|no configuration has been provided|couldn't get current server API", "refused", False,
        "kubectl on {where} does not reach the cluster ({said}): check KUBECONFIG, the context and the "
        "network"),
    # srun.
    "no_job": Words("srun", r"Invalid job id|Expired or invalid job|already completing or completed",
        "agent", False,
        "there is no running job for {name}: it may be over; see `squeue --me` on {where}"),
    "job_pending": Words("srun", r"[Jj]ob is pending|Job/step is pending", "refused", True,
        "the job of {name} has not started: see `squeue --me` on {where}"),
    "no_node": Words("srun",
        r"[Nn]ode configuration is not available|[Ii]nvalid node name|nodes? .*not (?:in|part of)",
        "usage", False,
        "the job of {name} has no such node ({said}): see its nodes in `squeue --me -o '%i %N'` on {where}"),
    "no_job_rights": Words("srun", r"(?i)access/permission denied|invalid account", "auth", False,
        "the job of {name} belongs to another user ({said}): log in on {where} as its owner"),
    "no_controller": Words("srun",
        r"(?i)unable to contact slurm controller|slurm_load|zero bytes were transmitted", "refused", True,
        "srun on {where} does not reach Slurm's controller ({said}): try `sinfo` there"),
    "step_ended": Words("srun", r"CANCELLED AT|DUE TO (?:TIME LIMIT|NODE FAILURE|PREEMPTION)|Job step aborted"
        r"|Force Terminated", "lost", True,
        "the step in the job of {name} was ended ({said})"),
    # All.
    "no_program": Words("docker podman kubectl srun",
        r"(?:^|[\s:]){tool}: (?:command )?not found|{tool}: [Nn]o such file|{tool}: [Pp]ermission denied"
        r"|Unknown command.*{tool}", "refused", False,
        "{tool} was not found on {where}: install it, or put its folder into the PATH that sshd gives a "
        "command"),
    "no_program_here": Words("", "", "refused", False,
        "{tool} was not found on this machine: install it, or name a HOST that has it"),
    "no_python": Words("docker podman kubectl srun",
        r"executable file .*not found|exec: .*no such file or directory|execve\(\): .*No such file"
        r"|python3: (?:command )?not found", "no_python", False,
        "there is no python3 in {place}: install it in the image, 3.8 or newer, or watch the host from "
        "outside"),
    "killed": Words("", "", "lost", True,
        "the agent in {place} was killed: the container may have been stopped, or its memory was full"),
    "other": Words("", "", "agent", False,
        "{tool} could not start the agent in {place} (exit status {status}): {said}"),
}
# fmt: on


def last_words(errors: bytes) -> bytes:
    """Return what a program wrote to its error stream, less what it prints beside whatever happens."""
    return b"\n".join(line for line in errors.split(b"\n") if not _NOISE.search(_text(line).strip()))


def end_fault(
    wrapper: Wrapper, host: str | None, status: int | None, errors: bytes, *, spoke: bool
) -> LinkFault | None:
    """Return why a wrapped process ended, None where that is for its agent (or nobody) to say.

    ``spoke``: it has printed something, so that the way in was there.
    """
    lines = [line for line in map(_clean, _text(last_words(errors)).splitlines()) if line]
    for row, words in TABLE.items():
        said = _matching(words, wrapper, lines)
        if said is not None:
            return fault(row, wrapper, host, said=said, status=status)
    if status in _KILLED:
        return fault("killed", wrapper, host)
    if spoke:
        return None
    if status in _NOT_STARTED:
        return fault("no_python", wrapper, host)
    if status in (None, 0) or not lines or _is_agents(status):
        return None
    return fault("other", wrapper, host, said=lines[-1], status=status)


def fault(
    row: str, wrapper: Wrapper, host: str | None, *, said: str = "", status: int | None = None
) -> LinkFault:
    """Return the LinkFault of one row."""
    words = TABLE[row]
    sentence = words.text.format(
        tool=wrapper.kind,
        name=wrapper.name,
        where=host or "this machine",
        place=wrapper.place(host),
        said=said if len(said) <= _SAID_LIMIT else said[: _SAID_LIMIT - 1] + "…",
        status=status,
    )
    return LinkFault(words.fault, sentence, retry=words.retry)


def _matching(words: Words, wrapper: Wrapper, lines: list[str]) -> str | None:
    """Return the line that the row speaks of."""
    if wrapper.kind not in words.tools.split():
        return None
    pattern = re.compile(words.pattern.replace("{tool}", wrapper.kind))
    return next((line for line in lines if pattern.search(line)), None)


def _is_agents(status: int | None) -> bool:
    from tui.agent import wire

    return status in (wire.EXIT_OLD_PYTHON, wire.EXIT_BAD_SOURCE)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r", "\n")


def _clean(line: str) -> str:
    return clean(line).strip()
