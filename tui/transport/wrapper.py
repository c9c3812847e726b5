"""The last step into a container, a pod or a job: a program that runs the agent's command there.

Each of the four takes the command as an argument list and starts it as it is, without a shell and without a
terminal; so the command nests by standing behind the program's own arguments, and only SSH quotes the whole.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["docker", "podman", "kubectl", "srun"]
KINDS: tuple[Kind, ...] = ("docker", "podman", "kubectl", "srun")

# Docker's and Podman's own rule for names, which ids fulfil too.
_CONTAINER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*", re.ASCII)
# RFC 1123: namespaces and containers are labels, pods names of several.
_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?", re.ASCII)
_POD = re.compile(r"(?=.{1,253}$)[a-z0-9](?:[-.a-z0-9]*[a-z0-9])?", re.ASCII)
_CONTEXT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/@+=-]*", re.ASCII)
# A job's number; those of an array (4_2) and of a mixed job (4+1) have a second one.
_JOB = re.compile(r"[0-9]{1,18}(?:[_+][0-9]{1,9})?", re.ASCII)
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*", re.ASCII)

# sshd starts a command with a short PATH and without the profile that would lengthen it.
_FOUND = 'PATH="$PATH:/usr/local/bin:/snap/bin:/opt/slurm/bin:/usr/local/slurm/bin"; export PATH; exec "$@"'


class WrongName(ValueError):
    """A name that the program cannot mean; the text ends a sentence that begins with the option's name."""


@dataclass(frozen=True, slots=True)
class Wrapper:
    """One program and where it leads. ``name`` is as it was given, ``before`` stands before the command.

    Before and behind the options of its ``logs`` command stand ``logs``; empty for srun, which has none.
    """

    kind: Kind
    name: str
    before: tuple[str, ...]
    logs: tuple[tuple[str, ...], tuple[str, ...]] | None = None

    def argv(self, command: list[str], *, over_ssh: bool) -> list[str]:
        """Return the arguments that run ``command`` inside. Over SSH the program is searched more widely."""
        return found_widely([*self.before, *command], over_ssh=over_ssh)

    def place(self, host: str | None) -> str:
        """Return where the agent runs, for people: ``docker:NAME on HOST``; here where there is no host."""
        inside = f"{self.kind}:{self.name}"
        return inside if host is None else f"{inside} on {host}"


def found_widely(argv: list[str], *, over_ssh: bool) -> list[str]:
    """Return arguments whose program is searched more widely where sshd starts them."""
    return ["/bin/sh", "-c", _FOUND, "sh", *argv] if over_ssh else argv


def wrapper(kind: Kind, name: str) -> Wrapper:
    """Return the way into what ``name`` means to this program. Raises WrongName."""
    return _MAKERS[kind](name)


def _docker(name: str) -> Wrapper:
    return _of_container("docker", name)


def _podman(name: str) -> Wrapper:
    return _of_container("podman", name)


def _of_container(kind: Kind, name: str) -> Wrapper:
    return Wrapper(kind, name, (kind, "exec", "-i", _container(name)), ((kind, "logs"), (name,)))


def _container(name: str) -> str:
    if not _CONTAINER.fullmatch(name):
        raise WrongName(
            f"must be a container's name or id (letters, digits, then also '_', '.', '-'), not {name!r}"
        )
    return name


def _kubectl(name: str) -> Wrapper:
    """Take ``NS/POD``, ``NS/POD/CONTAINER`` or ``CONTEXT/NS/POD/CONTAINER``; a context may hold slashes.

    The container may be empty, so that a context can stand before a pod's default one.
    """
    parts = name.split("/")
    if len(parts) < 2:
        raise WrongName(
            f"must be NAMESPACE/POD, NAMESPACE/POD/CONTAINER or with CONTEXT/ before, not {name!r}"
        )
    *above, container = parts if len(parts) > 2 else [*parts, ""]
    *context, namespace, pod = above
    _check("the namespace", namespace, _LABEL)
    _check("the pod", pod, _POD)
    if container:
        _check("the container", container, _LABEL)
    if context:
        _check("the context", "/".join(context), _CONTEXT)
    chosen = ("--context", "/".join(context)) if context else ()
    inside = ("-c", container) if container else ()
    place = ("-n", namespace, pod, *inside)
    command = ("kubectl", *chosen, "exec", "-i", *place, "--")
    return Wrapper("kubectl", name, command, (("kubectl", *chosen, "logs"), place))


def _srun(name: str) -> Wrapper:
    """Take ``JOBID`` or ``JOBID/NODE``."""
    job, slash, node = name.partition("/")
    _check("the job", job, _JOB)
    if slash:
        _check("the node", node, _NODE)
    there = ("-w", node) if slash else ()
    # Without --overlap the step waits for resources that the server holds; input goes to all tasks: only one.
    step = ("--overlap", "--ntasks=1", "--nodes=1", *there, "--unbuffered")
    return Wrapper("srun", name, ("srun", f"--jobid={job}", *step))


def _check(what: str, name: str, pattern: re.Pattern[str]) -> None:
    if not pattern.fullmatch(name):
        raise WrongName(f"names {what} {name!r}, which cannot be one")


_MAKERS: dict[Kind, Callable[[str], Wrapper]] = {
    "docker": _docker,
    "podman": _podman,
    "kubectl": _kubectl,
    "srun": _srun,
}
