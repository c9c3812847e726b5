"""Every failure of docker, podman, kubectl and srun that is known is one sentence; others are quoted."""

import re

import pytest
from stand_in_tools import TEXTS
from wrapped_host import WrappedHost

from tui.transport.bootstrap import start
from tui.transport.faults.wrappers import ROWS
from tui.transport.local import local_opener
from tui.transport.pipe import LinkFault
from tui.transport.wrapper import Kind, wrapper
from tui.transport.wrapper_end import end_fault, last_words
from tui.transport.wrapper_pipe import wrapped_opener

NAMES: dict[Kind, str] = {"docker": "vllm", "podman": "vllm", "kubectl": "prod/llm-0/web", "srun": "42/n1"}
# What a text must come to: the class, and words of the sentence, the next step among them.
TOLD: dict[tuple[Kind, str], tuple[str, str, str]] = {
    ("docker", "missing"): ("refused", "no container vllm on this machine", "docker ps"),
    ("docker", "older_missing"): ("refused", "no container vllm", "docker ps"),
    ("docker", "stopped"): ("refused", "vllm on this machine is not running", "docker logs vllm"),
    ("docker", "restarting"): ("refused", "is not running", "docker logs vllm"),
    ("docker", "paused"): ("refused", "is paused", "docker unpause vllm"),
    ("docker", "rights"): ("auth", "may not use docker", "log in there as"),
    ("docker", "newer_rights"): ("auth", "may not use docker", "log in there as"),
    ("docker", "down"): ("refused", "does not reach its daemon", "start it"),
    ("docker", "odd"): ("agent", "(exit status 1): Error response from daemon: the", "out of whack"),
    ("podman", "missing"): ("refused", "no container vllm", "podman ps"),
    ("podman", "older_missing"): ("refused", "no container vllm", "podman ps"),
    ("podman", "stopped"): ("refused", "is not running", "podman logs vllm"),
    ("podman", "older_stopped"): ("refused", "is not running", "podman logs vllm"),
    ("kubectl", "missing"): ("refused", "no pod for prod/llm-0/web", "kubectl get pods"),
    ("kubectl", "namespace"): ("refused", "no such namespace", "kubectl get namespaces"),
    ("kubectl", "container"): ("usage", "no such container", "leave the container out"),
    ("kubectl", "newer_container"): ("usage", "no such container", "leave the container out"),
    ("kubectl", "over"): ("agent", "has ended", "kubectl get pods"),
    ("kubectl", "waiting"): ("refused", "does not run", "kubectl describe pod"),
    ("kubectl", "unscheduled"): ("refused", "does not run", "kubectl describe pod"),
    ("kubectl", "forbidden"): ("auth", "does not let this user", "pods/exec"),
    ("kubectl", "login"): ("auth", "does not let this user", "a new login"),
    ("kubectl", "context"): ("usage", "no such context", "get-contexts"),
    ("kubectl", "cluster"): ("refused", "does not reach the cluster", "check KUBECONFIG"),
    ("kubectl", "network"): ("refused", "does not reach the cluster", "i/o timeout"),
    ("kubectl", "kubelet"): ("refused", "does not reach the cluster", "10.0.0.7:10250"),
    ("kubectl", "cut"): ("lost", "was cut", "close 1006"),
    ("srun", "missing"): ("agent", "no running job for 42/n1", "squeue --me"),
    ("srun", "over"): ("agent", "no running job", "squeue --me"),
    ("srun", "pending"): ("refused", "has not started", "squeue --me"),
    ("srun", "node"): ("usage", "no such node", "squeue --me"),
    ("srun", "rights"): ("auth", "another user", "as its owner"),
    ("srun", "controller"): ("refused", "does not reach Slurm's controller", "sinfo"),
    ("srun", "cancelled"): ("lost", "was ended", "TIME LIMIT"),
}
ALL = [(kind, name) for kind, texts in TEXTS.items() for name in texts]


async def failing(kind: Kind, host: WrappedHost) -> LinkFault:
    """Start an agent in what cannot be reached, and return why not."""
    with pytest.raises(LinkFault) as caught:
        await start(wrapped_opener(local_opener(), wrapper(kind, NAMES[kind]), None))
    return caught.value


@pytest.mark.parametrize(("kind", "text"), ALL)
async def test_each_known_failure_is_one_sentence_with_the_next_step(
    kind: Kind, text: str, wrapped_here: WrappedHost
) -> None:
    wrapped_here.behave(fails=text)
    fault = await failing(kind, wrapped_here)
    wanted, *words = TOLD[kind, text]

    assert fault.fault == wanted, fault.sentence
    assert all(word in fault.sentence for word in words), fault.sentence
    assert fault.sentence.isprintable()
    assert fault.sentence[0].islower()
    assert not fault.sentence.endswith(".")


@pytest.mark.parametrize("kind", list(NAMES))
async def test_a_container_without_python_is_said_to_have_none(kind: Kind, wrapped_here: WrappedHost) -> None:
    wrapped_here.behave(bare=True)
    fault = await failing(kind, wrapped_here)

    assert fault.fault == "no_python"
    assert f"there is no python3 in {kind}:{NAMES[kind]}" in fault.sentence


@pytest.mark.parametrize("kind", list(NAMES))
async def test_a_missing_program_is_named(
    kind: Kind, wrapped_here: WrappedHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(wrapped_here.folder))
    wrapped_here.without(kind)
    fault = await failing(kind, wrapped_here)

    assert fault.fault == "refused"
    assert fault.sentence.startswith(f"{kind} was not found on this machine")


@pytest.mark.parametrize(
    "said",
    ["sh: 1: exec: srun: not found", "sh: line 1: srun: command not found", "sh: exec: srun: not found"],
)
def test_a_missing_program_of_a_remote_host_is_named_by_its_shells_words(said: str) -> None:
    fault = end_fault(wrapper("srun", "42"), "login1", 127, f"{said}\n".encode(), spoke=False)

    assert fault is not None
    assert "srun was not found on login1" in fault.sentence


def test_every_row_of_the_table_is_reached() -> None:
    """So that no row stands behind another one that takes its words."""
    rest = {"no_program", "no_program_here", "no_python_inside", "killed_inside"}
    sentences = [
        end_fault(wrapper(kind, NAMES[kind]), None, code, text.encode(), spoke=False)
        for kind in NAMES
        for code, text in TEXTS[kind].values()
    ]
    found = {row for row, words in ROWS.items() if any(_fits(words.text, fault) for fault in sentences)}

    assert set(ROWS) - found == rest


def test_an_agent_that_was_killed_with_its_container_is_a_lost_link() -> None:
    fault = end_fault(wrapper("docker", "vllm"), "gpu-box", 137, b"", spoke=True)

    assert fault is not None
    assert (fault.fault, fault.retry) == ("lost", True)
    assert "docker:vllm on gpu-box was killed" in fault.sentence


@pytest.mark.parametrize("status", [None, 0, 97, 98])
def test_ends_that_are_the_agents_own_are_left_to_it(status: int | None) -> None:
    assert end_fault(wrapper("docker", "vllm"), None, status, b"it is Python 3.6.8\n", spoke=False) is None


def test_what_the_programs_print_beside_is_no_last_word() -> None:
    said = b'Defaulted container "a" out of: a, b\nit is Python 3.6.8\ncommand terminated with exit code 97\n'

    assert last_words(said).strip() == b"it is Python 3.6.8"


def _fits(text: str, fault: LinkFault | None) -> bool:
    """Say whether a sentence was made of this row."""
    pattern = re.sub(r"\\{\w+\\}", ".*", re.escape(text))
    return fault is not None and re.fullmatch(pattern, fault.sentence) is not None
