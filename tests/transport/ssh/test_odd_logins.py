"""Logins that an SSH server or a key makes hard: each works, or ends in one sentence with the next step."""

import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import asyncssh
import pytest
from ssh_server import SshServer, StartSshServer, make_key, run, until
from watching import Watching

from tui.benchmark import BenchResult, BenchSpec
from tui.events import Hello
from tui.requests import BenchRequest, DiagnoseRequest, WatchRequest
from tui.signals import Evidence
from tui.transport.agent_source import AgentSource
from tui.transport.pipe import LinkFault, Pipe
from tui.transport.ssh.opener import SshOptions, ssh_opener

pytestmark = pytest.mark.ssh

OpenOver = Callable[..., Awaitable[Pipe]]
SPEC = BenchSpec(url="", model=None, concurrency=1, requests=2, input_tokens=8, output_tokens=4, warmup_s=0.0)


async def works(open_over: OpenOver, server: SshServer) -> bool:
    return await (await open_over(server, ["true"])).close() == 0


async def fault_of(open_over: OpenOver, server: SshServer) -> LinkFault:
    with pytest.raises(LinkFault) as seen:
        await open_over(server, ["true"])
    assert seen.value.sentence.isprintable()
    assert not seen.value.retry
    return seen.value


def only(server: SshServer, key: Path) -> None:
    """Let only this key in, and have the client offer it alone."""
    (server.folder / "authorized_keys").write_text("")
    server.authorize(key)
    server.client_key.unlink()
    server.configure(f"IdentityFile {key}")


def through(server: SshServer, jump: SshServer) -> None:
    """Configure ``lab`` behind ``jump``."""
    jump.configure(alias="jump")
    server.configure("ProxyJump jump")
    with open(server.config_file, "a") as file:
        file.write(Path(jump.config_file).read_text())


@pytest.mark.parametrize("kind", ["rsa", "ecdsa"])
async def test_a_key_of_a_type_that_the_server_does_not_take_is_named(
    start_ssh_server: StartSshServer, open_over: OpenOver, tmp_path: Path, kind: str
) -> None:
    server = start_ssh_server("PubkeyAcceptedAlgorithms ssh-ed25519")
    only(server, make_key(tmp_path / "key", kind))
    fault = await fault_of(open_over, server)

    assert fault.fault == "auth"
    assert f"{kind.upper()} SHA256:" in fault.sentence
    assert f"({tmp_path / 'key'})" in fault.sentence
    assert "PubkeyAcceptedAlgorithms" in fault.sentence


async def test_a_key_of_a_type_that_is_out_of_use_is_named(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    key = tmp_path / "old"
    asyncssh.generate_private_key("ssh-dss").write_private_key(key)
    asyncssh.read_private_key(key).write_public_key(f"{key}.pub")
    key.chmod(0o600)
    only(ssh_server, key)
    fault = await fault_of(open_over, ssh_server)

    assert fault.fault == "auth"
    assert f"{key} (DSA) is left out by PubkeyAcceptedAlgorithms" in fault.sentence


async def test_a_key_that_others_may_read_is_not_used_as_ssh_would_not(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    ssh_server.client_key.chmod(0o644)
    fault = await fault_of(open_over, ssh_server)
    key = ssh_server.client_key

    assert fault.fault == "auth"
    assert f"{key} may be read by others, so ssh does not use it (chmod 600 {key})" in fault.sentence


async def test_a_key_that_cannot_be_read_is_named(
    ssh_server: SshServer, open_over: OpenOver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, passphrase: str | None = None) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(asyncssh, "read_private_key", refuse)
    fault = await fault_of(open_over, ssh_server)

    assert f"{ssh_server.client_key} could not be read (Permission denied)" in fault.sentence


@pytest.mark.parametrize(
    ("name", "validity", "told"),
    [
        ("another", "-1d:+1d", "principal mismatch"),
        ("", "-2d:-1d", "certificate expired"),
        ("", "+1d:+2d", "certificate not yet valid"),
    ],
    ids=["another-user", "expired", "not-yet"],
)
async def test_a_certificate_that_cannot_let_in_says_why(
    start_ssh_server: StartSshServer,
    open_over: OpenOver,
    tmp_path: Path,
    name: str,
    validity: str,
    told: str,
) -> None:
    authority, key = make_key(tmp_path / "authority"), make_key(tmp_path / "key")
    server = start_ssh_server(f"TrustedUserCAKeys {authority}.pub")
    only(server, key)
    (server.folder / "authorized_keys").write_text("")
    run(
        "ssh-keygen",
        "-q",
        "-s",
        authority,
        "-I",
        "id",
        "-n",
        name or server.user,
        "-V",
        validity,
        f"{key}.pub",
    )
    fault = await fault_of(open_over, server)

    assert fault.fault == "auth"
    assert "ED25519 certificate" in fault.sentence
    assert told in fault.sentence


async def test_one_channel_serves_a_benchmark_and_a_diagnosis_too(start_ssh_server: StartSshServer) -> None:
    server = start_ssh_server(
        "MaxSessions 1", "AllowTcpForwarding no", "AllowAgentForwarding no", "PermitTTY no"
    )
    opener = ssh_opener("lab", options=SshOptions(config_file=server.config_file))
    watching = Watching(AgentSource(opener, WatchRequest(matchers=[]), reconnect=True))
    hello = await watching.find(Hello)
    watching.source.send(BenchRequest(run="r", spec=SPEC, self_test=True))
    watching.source.send(DiagnoseRequest(pids=[hello.pid], tool="/bin/false", rounds=1))
    result = await watching.find(BenchResult)
    await watching.find(Evidence, lambda told: told.last)
    await watching.close()

    assert (result.outcome, result.completed) == ("done", 2)
    assert server.log().count("Starting session") == 1


async def test_a_jump_host_that_forwards_nothing_is_told(
    start_ssh_server: StartSshServer, ssh_server: SshServer, open_over: OpenOver
) -> None:
    jump = start_ssh_server("AllowTcpForwarding no")
    through(ssh_server, jump)
    fault = await fault_of(open_over, ssh_server)

    assert fault.fault == "refused"
    assert "administratively prohibited" in fault.sentence


async def test_a_user_who_is_not_allowed_is_refused_as_a_wrong_key_is(
    start_ssh_server: StartSshServer, open_over: OpenOver
) -> None:
    server = start_ssh_server("AllowUsers somebody-else")
    fault = await fault_of(open_over, server)

    assert fault.fault == "auth"
    assert f"did not let {server.user} in" in fault.sentence
    assert "AllowUsers" in fault.sentence


async def test_a_server_that_drops_logins_at_once_is_told(
    start_ssh_server: StartSshServer, open_over: OpenOver
) -> None:
    server = start_ssh_server("MaxStartups 1")
    await until(lambda: not server.sessions())
    with socket.create_connection(("127.0.0.1", server.port)) as first:
        assert first.recv(4) == b"SSH-"
        await until(lambda: len(server.sessions()) > 0)
        fault = await fault_of(open_over, server)

    assert fault.fault == "refused"
    assert "too many logins at once (MaxStartups)" in fault.sentence
