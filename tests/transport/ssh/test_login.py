"""Logging in at a real sshd: keys, agents, certificates, and what is said when it fails."""

import asyncio
import os
import socket
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from ssh_server import SshServer, StartSshServer, make_key, run, until

from tui.transport.pipe import LinkFault, Pipe
from tui.transport.ssh.limits import Limits
from tui.transport.ssh.opener import SshOptions, ssh_opener

pytestmark = pytest.mark.ssh

OpenOver = Callable[..., Awaitable[Pipe]]


def _add(agent: str, key: Path, passphrase: str = "") -> None:
    """Add a key to the agent; a passphrase is given by an askpass program, as there is no terminal."""
    ask = key.with_name("ask")
    ask.write_text(f"#!/bin/sh\necho {passphrase}\n")
    ask.chmod(0o700)
    environment = {
        **os.environ,
        "SSH_AUTH_SOCK": agent,
        "SSH_ASKPASS": str(ask),
        "SSH_ASKPASS_REQUIRE": "force",
    }
    subprocess.run(["ssh-add", "-q", str(key)], check=True, env=environment, capture_output=True)


async def _fault(open_over: OpenOver, server: SshServer, **more: object) -> LinkFault:
    with pytest.raises(LinkFault) as seen:
        await open_over(server, ["true"], **more)
    return seen.value


async def _works(open_over: OpenOver, server: SshServer) -> bool:
    return await (await open_over(server, ["true"])).close() == 0


async def test_a_host_can_be_named_without_an_alias(ssh_server: SshServer, open_over: OpenOver) -> None:
    ssh_server.configure(alias="127.0.0.1")
    for host in (f"{ssh_server.user}@127.0.0.1:{ssh_server.port}", f"ssh://127.0.0.1:{ssh_server.port}"):
        assert await (await open_over(ssh_server, ["true"], host)).close() == 0


async def test_a_wrong_key_is_refused_with_what_was_tried_and_what_the_server_takes(
    start_ssh_server: StartSshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    server = start_ssh_server("PasswordAuthentication yes")
    server.configure(f"IdentityFile {make_key(tmp_path / 'wrong')}")
    (server.folder / "authorized_keys").write_text("")
    fault = await _fault(open_over, server)
    assert (fault.fault, fault.retry) == ("auth", False)
    assert f"did not let {server.user} in" in fault.sentence
    assert "publickey, password" in fault.sentence
    assert f"({tmp_path / 'wrong'})" in fault.sentence
    assert "no ssh-agent" in fault.sentence
    assert f"ssh -F {server.config_file}" in fault.sentence


async def test_a_server_that_wants_a_password_alone_is_told(
    start_ssh_server: StartSshServer, open_over: OpenOver
) -> None:
    server = start_ssh_server("PasswordAuthentication yes", "PubkeyAuthentication no")
    fault = await _fault(open_over, server)
    assert fault.fault == "auth"
    assert "it takes password: no key is wanted there" in fault.sentence


async def test_a_locked_key_is_named_with_the_way_to_unlock_it(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    locked = make_key(tmp_path / "locked", passphrase="secret")
    (ssh_server.folder / "authorized_keys").write_text("")
    ssh_server.authorize(locked)
    ssh_server.configure(f"IdentityFile {locked}")
    fault = await _fault(open_over, ssh_server)
    assert fault.fault == "auth"
    assert f"locked by a passphrase: {locked} (unlock with: ssh-add {locked})" in fault.sentence


async def test_a_locked_key_works_through_the_agent(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path, key_agent: str
) -> None:
    locked = make_key(tmp_path / "locked", passphrase="secret")
    (ssh_server.folder / "authorized_keys").write_text("")
    ssh_server.authorize(locked)
    ssh_server.configure(f"IdentityFile {locked}", f"IdentityAgent {key_agent}")
    assert (await _fault(open_over, ssh_server)).fault == "auth"
    _add(key_agent, locked, "secret")
    assert await _works(open_over, ssh_server)


@pytest.fixture
def hung_agent(tmp_path: Path) -> Iterator[str]:
    """Listen as an agent does that takes connections and never answers; return its socket."""
    place = str(tmp_path / "hung")
    with socket.socket(socket.AF_UNIX) as agent:
        agent.bind(place)
        agent.listen()
        yield place


async def test_an_agent_that_hangs_is_left_out_by_name_and_key_files_are_tried(
    ssh_server: SshServer, open_over: OpenOver, hung_agent: str
) -> None:
    said: list[str] = []
    ssh_server.configure(f"IdentityAgent {hung_agent}")
    limits = Limits(agent_s=0.2)
    options = SshOptions(config_file=ssh_server.config_file, limits=limits, notice=said.append)
    assert await (await open_over(ssh_server, ["true"], options=options)).close() == 0
    assert len(said) == 1
    assert said[0].startswith(f"the ssh-agent at {hung_agent} did not answer within 0.2 s: the login to lab")
    (ssh_server.folder / "authorized_keys").write_text("")
    fault = await _fault(open_over, ssh_server, options=options)
    assert fault.fault == "auth"
    assert f"the ssh-agent at {hung_agent} did not answer within 0.2 s" in fault.sentence


async def test_a_public_file_names_the_key_of_the_agent(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path, key_agent: str
) -> None:
    key = make_key(tmp_path / "key")
    _add(key_agent, key)
    key.unlink()
    (ssh_server.folder / "authorized_keys").write_text("")
    ssh_server.authorize(key)
    ssh_server.configure(f"IdentityFile {key}.pub", f"IdentityAgent {key_agent}")
    assert await _works(open_over, ssh_server)


async def test_only_named_keys_of_a_full_agent_are_offered_with_identities_only(
    start_ssh_server: StartSshServer, open_over: OpenOver, tmp_path: Path, key_agent: str
) -> None:
    server = start_ssh_server("MaxAuthTries 3")
    for number in range(5):
        _add(key_agent, make_key(tmp_path / f"other{number}"))
    server.configure("IdentitiesOnly no", f"IdentityAgent {key_agent}")
    fault = await _fault(open_over, server)
    assert fault.fault == "auth"
    assert "too many keys" in fault.sentence
    assert "IdentitiesOnly" in fault.sentence
    server.configure(f"IdentityAgent {key_agent}")
    assert await _works(open_over, server)


async def test_the_named_key_of_the_agent_comes_before_its_others(
    start_ssh_server: StartSshServer, open_over: OpenOver, tmp_path: Path, key_agent: str
) -> None:
    server = start_ssh_server("MaxAuthTries 2")
    for number in range(5):
        _add(key_agent, make_key(tmp_path / f"other{number}"))
    _add(key_agent, server.client_key)
    server.configure("IdentitiesOnly no", f"IdentityAgent {key_agent}")
    assert await _works(open_over, server)


async def test_a_certificate_beside_the_key_is_offered(
    start_ssh_server: StartSshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    authority, key = make_key(tmp_path / "authority"), make_key(tmp_path / "key")
    server = start_ssh_server(f"TrustedUserCAKeys {authority}.pub")
    (server.folder / "authorized_keys").write_text("")
    server.configure(f"IdentityFile {key}")
    assert (await _fault(open_over, server)).fault == "auth"
    sign = ["ssh-keygen", "-q", "-s", authority, "-I", "id", "-n", server.user]
    run(*sign, f"{key}.pub")
    assert await _works(open_over, server)
    run(*sign, "-V", "-2d:-1d", f"{key}.pub")
    assert "certificate" in (await _fault(open_over, server)).sentence


async def test_a_key_file_that_is_none_is_passed_over_and_told(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    rubbish = tmp_path / "rubbish"
    rubbish.write_text("not a key\n")
    ssh_server.configure(f"IdentityFile {rubbish}", "IdentityFile /nonexistent/key")
    assert await _works(open_over, ssh_server)
    (ssh_server.folder / "authorized_keys").write_text("")
    sentence = (await _fault(open_over, ssh_server)).sentence
    assert f"{rubbish} is no key" in sentence
    assert "/nonexistent" not in sentence


async def test_an_agent_that_is_gone_is_told(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    ssh_server.configure(f"IdentityAgent {tmp_path / 'gone'}")
    assert await _works(open_over, ssh_server)
    (ssh_server.folder / "authorized_keys").write_text("")
    assert (
        f"the ssh-agent at {tmp_path / 'gone'} does not answer"
        in (await _fault(open_over, ssh_server)).sentence
    )


async def test_a_refused_port_is_told_and_not_tried_again_at_first(
    free_port: int, ssh_server: SshServer, open_over: OpenOver
) -> None:
    fault = await _fault(open_over, ssh_server, host=f"lab:{free_port}")
    assert (fault.fault, fault.retry) == ("refused", False)
    assert f"port {free_port} refused the connection" in fault.sentence


async def test_a_refused_port_is_tried_again_once_the_host_was_reached(ssh_server: SshServer) -> None:
    opener = ssh_opener("lab", options=SshOptions(config_file=ssh_server.config_file))
    await (await opener(["true"])).close()
    ssh_server.stop()
    with pytest.raises(LinkFault) as seen:
        await opener(["true"])
    assert (seen.value.fault, seen.value.retry) == ("refused", True)


async def test_an_unknown_name_is_told_and_not_tried_again(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    fault = await _fault(open_over, ssh_server, host="no-such-host.invalid")
    assert (fault.fault, fault.retry) == ("dns", False)
    assert "no-such-host.invalid" in fault.sentence
    assert "check its spelling" in fault.sentence


async def test_a_port_of_another_program_is_told(ssh_server: SshServer, open_over: OpenOver) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.0 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1")
    port: int = server.sockets[0].getsockname()[1]
    fault = await _fault(open_over, ssh_server, host=f"lab:{port}")
    server.close()
    assert fault.fault == "refused"
    assert "without speaking SSH" in fault.sentence


async def test_a_port_that_says_nothing_is_given_up(ssh_server: SshServer, open_over: OpenOver) -> None:
    options = SshOptions(config_file=ssh_server.config_file, limits=Limits(login_s=0.2))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        fault = await _fault(open_over, ssh_server, host=f"lab:{silent.getsockname()[1]}", options=options)
    assert (fault.fault, fault.retry) == ("timeout", False)
    assert "did not finish the login within 0.2 s" in fault.sentence


async def test_an_address_that_does_not_answer_is_given_up(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    options = SshOptions(config_file=ssh_server.config_file, limits=Limits(connect_s=0.2))
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            fault = await _fault(open_over, ssh_server, host=f"lab:{port}", options=options)
    assert (fault.fault, fault.retry) == ("timeout", False)
    assert "did not answer within 0.2 s" in fault.sentence


async def test_a_host_that_allows_no_session_is_told(
    start_ssh_server: StartSshServer, open_over: OpenOver
) -> None:
    fault = await _fault(open_over, start_ssh_server("MaxSessions 0"))
    assert (fault.fault, fault.retry) == ("refused", False)
    assert "MaxSessions" in fault.sentence


async def test_one_session_is_enough(start_ssh_server: StartSshServer, open_over: OpenOver) -> None:
    settings = ("MaxSessions 1", "AllowTcpForwarding no", "AllowAgentForwarding no", "PermitTTY no")
    assert await _works(open_over, start_ssh_server(*settings))


async def test_a_banner_that_is_no_text_does_no_harm(
    start_ssh_server: StartSshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    banner = tmp_path / "banner"
    banner.write_bytes(b"\xff\xfe welcome\n")
    assert await _works(open_over, start_ssh_server(f"Banner {banner}"))


async def test_a_cancelled_connect_leaves_no_connection(ssh_server: SshServer, open_over: OpenOver) -> None:
    await (await open_over(ssh_server, ["true"])).close()
    for delay_s in (0.01, 0.05, 0.1):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(delay_s):
                await (await open_over(ssh_server, ["cat"])).read(1)
    await until(lambda: len(ssh_server.sessions()) <= 1)
