"""Settings of the SSH configuration that the library keeps, seen from a real sshd's log."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from asking_server import StartAskingServer, Wanted
from made_up_person import Person
from ssh_server import SshServer, StartSshServer, make_key, public, run

from tui.transport.pipe import LinkFault, Pipe
from tui.transport.ssh.opener import SshOptions, ssh_opener

pytestmark = pytest.mark.ssh

OpenOver = Callable[..., Awaitable[Pipe]]
ReadAll = Callable[[Pipe], Awaitable[bytes]]

BY_LIBRARY = "remote software version AsyncSSH"


@pytest.fixture
def talking(start_ssh_server: StartSshServer) -> SshServer:
    """Start an sshd that logs what it agrees on."""
    return start_ssh_server("LogLevel DEBUG", "AcceptEnv TM_*")


async def said_there(server: SshServer, read_all: ReadAll, *command: str) -> bytes:
    pipe = await ssh_opener("lab", options=SshOptions(config_file=server.config_file))(list(command))
    said = await read_all(pipe)
    await pipe.close()
    assert BY_LIBRARY in server.log()
    return said


@pytest.mark.parametrize(
    ("setting", "logged"),
    [
        ("Ciphers 3des-cbc,aes192-ctr,aes128-ctr", "cipher: aes192-ctr MAC:"),
        ("Ciphers ^aes256-gcm@openssh.com", "cipher: aes256-gcm@openssh.com MAC:"),
        ("Ciphers aes128-ctr\nMACs hmac-sha2-512", "MAC: hmac-sha2-512 compression:"),
        ("KexAlgorithms ecdh-sha2-nistp384,curve25519-sha256", "kex: algorithm: ecdh-sha2-nistp384"),
        ("Compression yes", "compression: zlib@openssh.com"),
        ("Compression no", "compression: none"),
    ],
    ids=lambda text: text.split()[0] if " " in text else text,
)
async def test_algorithms_are_those_of_the_configuration_in_its_order(
    talking: SshServer, read_all: ReadAll, setting: str, logged: str
) -> None:
    talking.configure(*setting.splitlines())
    assert await said_there(talking, read_all, "echo", "here") == b"here\n"
    assert logged in talking.log()


async def test_the_systems_own_file_counts_as_the_users_does(
    talking: SshServer,
    read_all: ReadAll,
    tmp_path: Path,
    needs: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    talking.configure("Ciphers aes192-ctr", "MACs hmac-sha2-512")
    # Stands for an ssh whose system-wide file is the test's.
    ssh = tmp_path / "ssh"
    real = needs("ssh")
    ssh.write_text(f'#!/bin/sh\ncase "$*" in "-F "*) exec {real} "$@";; esac\n')
    with ssh.open("a") as script:
        script.write(f'exec {real} -F {talking.config_file} "$@"\n')
    ssh.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    heard: list[str] = []
    pipe = await ssh_opener("lab", options=SshOptions(notice=heard.append))(["echo", "here"])
    assert await read_all(pipe) == b"here\n"
    await pipe.close()
    assert heard == []
    assert "cipher: aes192-ctr MAC: hmac-sha2-512" in talking.log()


async def test_host_key_algorithms_are_those_of_the_configuration(
    start_ssh_server: StartSshServer, read_all: ReadAll, tmp_path: Path
) -> None:
    """The host has two types, of which ssh would take the other one first."""
    rsa, other = make_key(tmp_path / "host_rsa", "rsa"), make_key(tmp_path / "host_ecdsa", "ecdsa")
    server = start_ssh_server("LogLevel DEBUG", f"HostKey {other}", f"HostKey {rsa}")
    server.know(rsa)
    server.configure("HostKeyAlgorithms rsa-sha2-256")
    assert await said_there(server, read_all, "echo", "here") == b"here\n"
    assert "kex: host key algorithm: rsa-sha2-256" in server.log()


async def test_keys_of_kinds_that_are_not_accepted_are_not_offered_and_named(
    talking: SshServer, open_over: OpenOver, read_all: ReadAll, tmp_path: Path
) -> None:
    talking.configure("PubkeyAcceptedAlgorithms rsa-sha2-512")
    with pytest.raises(LinkFault, match=r"\(ED25519\) is left out by PubkeyAcceptedAlgorithms"):
        await open_over(talking, ["true"])
    key = make_key(tmp_path / "rsa", "rsa")
    talking.authorize(key)
    talking.configure("PubkeyAcceptedAlgorithms rsa-sha2-512", f"IdentityFile {key}")
    assert await said_there(talking, read_all, "echo", "here") == b"here\n"
    assert "pkalg rsa-sha2-512" in talking.log()


async def test_keys_that_are_too_short_are_neither_taken_nor_offered(
    start_ssh_server: StartSshServer, open_over: OpenOver, needs: Callable[[str], str], tmp_path: Path
) -> None:
    if "requiredrsasize" not in run(needs("ssh"), "-F", "none", "-T", "-G", "lab"):
        pytest.skip("RequiredRSASize came with OpenSSH 9.1")
    host, own = make_key(tmp_path / "host_rsa", "rsa"), make_key(tmp_path / "own_rsa", "rsa")
    server = start_ssh_server(f"HostKey {host}")
    server.know(host)
    server.configure("RequiredRSASize 3072")
    with pytest.raises(LinkFault, match=r"the RSA host key of lab .* has 2048 bits, .* wants 3072") as seen:
        await open_over(server, ["true"])
    assert seen.value.fault == "host_key"
    plain = start_ssh_server()
    plain.client_key.unlink()
    plain.configure("RequiredRSASize 3072", f"IdentityFile {own}")
    with pytest.raises(LinkFault, match=r"own_rsa has 2048 bits, and RequiredRSASize .* wants 3072"):
        await open_over(plain, ["true"])


async def test_variables_are_set_on_the_host_for_each_command(
    talking: SshServer, read_all: ReadAll, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TM_SENT", "from here")
    monkeypatch.setenv("TM_KEPT", "stays here")
    talking.configure('SetEnv TM_SET="two words" REFUSED=1', "SendEnv TM_S*")
    said = await said_there(talking, read_all, "sh", "-c", "env | grep -E '^(TM_|REFUSED)' | sort")
    assert said == b"TM_SENT=from here\nTM_SET=two words\n"


async def test_keys_are_agreed_on_anew_as_often_as_the_configuration_says(
    talking: SshServer, read_all: ReadAll
) -> None:
    talking.configure("RekeyLimit 64K")
    pipe = await ssh_opener("lab", options=SshOptions(config_file=talking.config_file))(["wc", "-c"])
    for _ in range(40):
        pipe.write(bytes(10_000))
        await pipe.drain()
    await pipe.close()
    assert talking.log().count("SSH2_MSG_NEWKEYS received") > 2


async def test_a_refused_port_is_tried_as_often_as_the_configuration_says(
    ssh_server: SshServer, open_over: OpenOver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.transport.ssh.tcp._BETWEEN_ATTEMPTS_S", 0.05)
    tries: list[object] = []
    real = asyncio.get_running_loop().sock_connect

    async def late(connection: socket.socket, address: tuple[str, int]) -> None:
        tries.append(address)
        if len(tries) < 3:
            raise ConnectionRefusedError
        await real(connection, address)

    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", late)
    ssh_server.configure("ConnectionAttempts 2")
    with pytest.raises(LinkFault, match="refused the connection"):
        await open_over(ssh_server, ["true"])
    tries.clear()
    ssh_server.configure("ConnectionAttempts 3")
    await open_over(ssh_server, ["true"])
    assert len(tries) == 3


async def test_the_devices_of_keyboard_interactive_are_named_to_the_server(
    start_asking_server: StartAskingServer,
) -> None:
    server = await start_asking_server(Wanted(rounds=[("", "", [("Code: ", False)], ["1"])]))
    server.configure("KbdInteractiveDevices pam,bsdauth")
    options = SshOptions(config_file=server.config_file, asker=Person("1"))
    await (await ssh_opener("lab", options=options)(["true"])).close()
    assert server.devices == ["pam,bsdauth"]


async def test_the_fingerprint_in_the_question_is_of_the_kind_that_is_wanted(ssh_server: SshServer) -> None:
    ssh_server.known_hosts.write_text("")
    ssh_server.configure("FingerprintHash md5")
    shown = run("ssh-keygen", "-l", "-E", "md5", "-f", f"{ssh_server.host_key}.pub").split()[1]
    person = Person(shown)
    options = SshOptions(config_file=ssh_server.config_file, asker=person)
    await (await ssh_opener("lab", options=options)(["true"])).close()
    assert f"ED25519 key fingerprint is {shown}." in person.told
    assert public(ssh_server.host_key) in ssh_server.known_hosts.read_text()


async def test_an_address_of_the_wrong_family_is_not_tried(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    ssh_server.configure("AddressFamily inet6")
    with pytest.raises(LinkFault, match="no address is known") as seen:
        await open_over(ssh_server, ["true"])
    assert seen.value.fault == "dns"


@pytest.mark.parametrize(
    ("order", "prompt"),
    [("keyboard-interactive,password", "Code: "), ("password,keyboard-interactive", "password: ")],
)
async def test_ways_of_a_login_are_tried_in_the_order_of_the_configuration(
    start_asking_server: StartAskingServer, order: str, prompt: str
) -> None:
    server = await start_asking_server(Wanted(password="1", rounds=[("", "", [("Code: ", False)], ["1"])]))
    server.configure(f"PreferredAuthentications publickey,{order}")
    person = Person("1")
    options = SshOptions(config_file=server.config_file, asker=person)
    await (await ssh_opener("lab", options=options)(["true"])).close()
    assert person.prompts[0].endswith(prompt)


async def test_an_address_that_does_not_answer_has_the_time_of_the_configuration(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    ssh_server.configure("ConnectTimeout 1")
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)), pytest.raises(LinkFault, match="within 1 s"):
            await open_over(ssh_server, ["true"], f"lab:{port}")


# What would break a command with its input, or bind a port that a login of the user's own has.
IN_THE_WAY = (
    "RemoteCommand sleep 60", "RequestTTY force", "StdinNull yes", "ForkAfterAuthentication yes",
    "SessionType none", "ExitOnForwardFailure yes", "LocalForward {port} 127.0.0.1:22",
    "DynamicForward {port}", "RemoteForward {port} 127.0.0.1:22", "ForwardAgent yes",
    "ForwardX11 yes", "PermitLocalCommand yes", "LocalCommand touch {folder}/ran",
    "EscapeChar none", "LogLevel QUIET", "ServerAliveInterval 1", "TCPKeepAlive no", "IPQoS none",
    "Tunnel no", "ControlPersist 10", "VisualHostKey yes", "UpdateHostKeys yes", "LogVerbose *",
)  # fmt: skip


@pytest.mark.parametrize("way", ["library", "ssh", "named"])
async def test_what_is_meant_for_logins_of_a_person_does_not_hold_up_a_watch(
    talking: SshServer, read_all: ReadAll, tmp_path: Path, needs: Callable[[str], str], way: str
) -> None:
    known = run(needs("ssh"), "-F", "none", "-T", "-G", "lab").lower()
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
        lines = [line.format(port=port, folder=tmp_path) for line in IN_THE_WAY]
        newer = ("stdinnull", "forkafterauthentication", "sessiontype")
        names = [line.split()[0].lower() for line in lines]
        lines = [line for line, name in zip(lines, names, strict=True) if name not in newer or name in known]
        talking.configure(*lines, *(["BindAddress 127.0.0.1"] if way == "ssh" else []))
        named = ("ssh",) if way == "named" else None
        options = SshOptions(config_file=talking.config_file, ssh_cmd=named)
        pipe = await ssh_opener("lab", options=options)(["sh", "-c", "read line; echo got $line; tty"])
        pipe.write(b"hello\n")
        assert await read_all(pipe) == b"got hello\nnot a tty\n"
        await pipe.close()
    assert not (tmp_path / "ran").exists()
    assert (BY_LIBRARY in talking.log()) == (way == "library")


async def test_no_key_is_offered_where_keys_are_switched_off(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    ssh_server.configure("PubkeyAuthentication no")
    with pytest.raises(LinkFault, match="there was no key to offer") as seen:
        await open_over(ssh_server, ["true"])
    assert seen.value.fault == "auth"
