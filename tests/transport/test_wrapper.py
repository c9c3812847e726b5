"""What the programs that lead into containers, pods and jobs are started with, and which names they get."""

import pytest

from tui.transport.wrapper import Kind, WrongName, wrapper


@pytest.mark.parametrize(
    ("kind", "name", "before"),
    [
        ("docker", "vllm", "docker exec -i vllm"),
        ("docker", "a1b2c3", "docker exec -i a1b2c3"),
        ("podman", "my_app.1-x", "podman exec -i my_app.1-x"),
        ("kubectl", "prod/llm-0", "kubectl exec -i -n prod llm-0 --"),
        ("kubectl", "prod/llm-0/server", "kubectl exec -i -n prod llm-0 -c server --"),
        ("kubectl", "lab/prod/llm-0/server", "kubectl --context lab exec -i -n prod llm-0 -c server --"),
        ("kubectl", "lab/prod/llm-0/", "kubectl --context lab exec -i -n prod llm-0 --"),
        (
            "kubectl",
            "arn:aws:eks:eu-1:12:cluster/gpu/prod/llm.0/server",
            "kubectl --context arn:aws:eks:eu-1:12:cluster/gpu exec -i -n prod llm.0 -c server --",
        ),
        ("srun", "42", "srun --jobid=42 --overlap --ntasks=1 --nodes=1 --unbuffered"),
        ("srun", "42_7/n1.hpc", "srun --jobid=42_7 --overlap --ntasks=1 --nodes=1 -w n1.hpc --unbuffered"),
        ("srun", "42+1", "srun --jobid=42+1 --overlap --ntasks=1 --nodes=1 --unbuffered"),
    ],
)
def test_the_command_stands_behind_the_programs_own_arguments(kind: Kind, name: str, before: str) -> None:
    argv = wrapper(kind, name).argv(["python3", "-c", "a b"], over_ssh=False)

    assert argv == [*before.split(), "python3", "-c", "a b"]
    assert "-t" not in argv


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *[("docker", name) for name in ("-v", "--privileged", "a b", "", ".x", "a/b", "a\nb", "a;b", "ä")],
        ("podman", "-l"),
        *[
            ("kubectl", name)
            for name in ("llm-0", "-n/llm-0", "prod/-it", "Prod/llm-0", "prod/llm_0", "/llm-0")
        ],
        *[
            ("kubectl", name)
            for name in ("prod/", "prod/llm-0/-c", "--token=x/prod/llm-0/c", "prod/a b", "prod/a.")
        ],
        *[
            ("srun", name)
            for name in ("-J", "42/-n2", "42/", "4 2", "", "4_", "job", "42/n1 n2", "42/n1,n2", "٤٢")
        ],
    ],
)
def test_a_name_that_could_be_read_as_something_else_is_refused(kind: Kind, name: str) -> None:
    with pytest.raises(WrongName):
        wrapper(kind, name)


def test_over_ssh_the_program_is_searched_beyond_sshds_short_path() -> None:
    shell, option, script, name, *rest = wrapper("docker", "vllm").argv(["python3"], over_ssh=True)

    assert (shell, option, name) == ("/bin/sh", "-c", "sh")
    assert "/usr/local/bin" in script
    assert rest == ["docker", "exec", "-i", "vllm", "python3"]


def test_the_place_names_the_host_where_there_is_one() -> None:
    assert wrapper("docker", "vllm").place("gpu-box") == "docker:vllm on gpu-box"
    assert wrapper("srun", "42/n1").place(None) == "srun:42/n1"
