"""The command on a host without Python: what wait says there, how it ends, and what cannot be done."""

import signal
from typing import cast

import pytest
from bare_host import BareHost, gpu
from ready_server import OpenAi
from ssh_server import SshServer, StartSshServer
from tminus_command import Tminus

pytestmark = pytest.mark.ssh


@pytest.fixture
def bare(start_ssh_server: StartSshServer, bare_host: BareHost) -> SshServer:
    bare_host.smi(gpu(0))
    return start_ssh_server(environment={"PATH": bare_host.path})


def arguments(server: SshServer, command: str, *more: str) -> list[str]:
    return [command, server.host, "--ssh-config", server.config_file, *more]


def test_wait_ends_ready_by_a_token_and_says_once_what_is_missing(
    tminus: Tminus, bare: SshServer, ready_port: int
) -> None:
    done = tminus.run(*arguments(bare, "wait", "--port", str(ready_port)))

    assert done.code == 0, done
    assert done.out.count("no python3 (3.8 or newer)") == 1
    assert "READY org/model" in done.out.splitlines()[-1]


def test_wait_in_json_has_the_same_records(tminus: Tminus, bare: SshServer, ready_port: int) -> None:
    done = tminus.run(*arguments(bare, "wait", "--url", f"http://127.0.0.1:{ready_port}", "--json"))

    assert (done.code, done.last["event"], done.last["outcome"]) == (0, "end", "ready")


def test_wait_tells_that_a_port_refuses(tminus: Tminus, bare: SshServer, free_port: int) -> None:
    process = tminus.start(*arguments(bare, "wait", "--port", str(free_port)))
    line = tminus.until(process, "connection refused")
    process.send_signal(signal.SIGINT)

    assert tminus.end(process).code == 130
    assert "port" in line


def test_an_api_key_reaches_the_server(
    tminus: Tminus, bare: SshServer, ready_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenAi, "key", 'se"cret\\key')
    monkeypatch.setenv("SERVER_KEY", 'se"cret\\key')
    done = tminus.run(*arguments(bare, "wait", "--port", str(ready_port), "--api-key-env", "SERVER_KEY"))

    assert done.code == 0, done


def test_a_benchmark_is_refused_with_the_reason(tminus: Tminus, bare: SshServer, ready_port: int) -> None:
    done = tminus.run(*arguments(bare, "bench", "--url", f"http://127.0.0.1:{ready_port}"))

    assert done.code == 4, done
    assert "python3 was not found on the host" in done.err
    assert "name the URL alone to measure from here" in done.err
    assert "requests" not in done.out


def test_a_refused_benchmark_says_why_once_where_both_outputs_are_one(
    tminus: Tminus, bare: SshServer, ready_port: int
) -> None:
    code, told = tminus.into_one(*arguments(bare, "bench", "--url", f"http://127.0.0.1:{ready_port}"))

    assert (code, told.count("python3 was not found")) == (4, 1)
    assert "name the URL alone to measure from here" in told


def test_a_snapshot_waits_for_all_gpus_of_a_slow_driver(
    tminus: Tminus, bare: SshServer, bare_host: BareHost
) -> None:
    bare_host.smi(*(gpu(index) for index in range(8)), row_s=0.5)
    done = tminus.run(bare.host, "--ssh-config", bare.config_file, "--once", "--json")

    assert done.code == 0, done
    assert len(cast("list[object]", done.last["gpus"])) == 8


def test_wait_without_a_port_says_at_once_that_it_needs_one(tminus: Tminus, bare: SshServer) -> None:
    done = tminus.run(*arguments(bare, "wait"))

    assert done.code == 2, done
    assert "give --port N" in done.err


def test_wait_for_several_without_a_port_says_so_with_the_same_exit_code(
    tminus: Tminus, bare: SshServer
) -> None:
    done = tminus.run(*arguments(bare, "wait", "no-such-name.invalid", "--timeout", "60s"))

    assert done.code == 2, done
    assert f"tminus: {bare.host}: " in done.err
    assert "give --port N" in done.err


def test_a_diagnosis_is_refused_with_the_reason(tminus: Tminus, bare: SshServer) -> None:
    done = tminus.run(*arguments(bare, "diagnose"))

    assert done.code == 1, done
    assert "a diagnosis needs tminus' agent" in done.out + done.err


def test_a_snapshot_shows_gpus_and_readiness(tminus: Tminus, bare: SshServer, ready_port: int) -> None:
    more = ("--once", "--json", "--port", str(ready_port))
    done = tminus.run(bare.host, "--ssh-config", bare.config_file, *more)

    assert done.code == 0, done
    assert "NVIDIA H200" in done.out
    assert '"ready":true' in done.out
