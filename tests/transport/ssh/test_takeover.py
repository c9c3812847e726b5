"""The system's ssh takes over where the library cannot go on: once, and only if it gets further."""

import asyncio
import base64
import re
import struct
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from ssh_server import SshServer, StartSshServer, make_key, public, run

from tui.transport.pipe import LinkFault, Pipe
from tui.transport.ssh.opener import SshOptions, ssh_opener

pytestmark = pytest.mark.ssh

OpenOver = Callable[..., Awaitable[Pipe]]
ReadAll = Callable[[Pipe], Awaitable[bytes]]

# A key exchange that OpenSSH has built in since 8.5, and asyncssh only with a C library that few have.
ONLY_SSH_KNOWS = "KexAlgorithms sntrup761x25519-sha512@openssh.com"


@pytest.fixture
def strange(start_ssh_server: StartSshServer) -> SshServer:
    """Start an sshd whose only key exchange the library lacks."""
    from asyncssh.kex import get_kex_algs

    if b"sntrup761x25519-sha512@openssh.com" in get_kex_algs():
        pytest.skip("needs an asyncssh without liboqs")
    return start_ssh_server(ONLY_SSH_KNOWS)


def logins_tried(server: SshServer) -> int:
    return server.log().count("Connection from ")


async def test_a_key_exchange_that_the_library_lacks_is_done_by_ssh_and_so_from_then_on(
    strange: SshServer, read_all: ReadAll
) -> None:
    heard: list[str] = []
    before = logins_tried(strange)
    opener = ssh_opener("lab", options=SshOptions(config_file=strange.config_file, notice=heard.append))
    for _ in range(2):
        pipe = await opener(["echo", "here"])
        assert await read_all(pipe) == b"here\n"
        assert await pipe.close() == 0
    # Whether it gets to say so before the library's end of the connection is gone, is chance.
    assert strange.log().count("no matching key exchange method") <= 1
    assert logins_tried(strange) == before + 3
    assert len(heard) == 1
    # A server that hangs up at once may be gone before its list is read.
    why = "the SSH library here has nothing in common|it broke the key exchange with the SSH library here off"
    assert re.search(rf"ssh -F {strange.config_file} -- lab: (?:{why})", heard[0])


async def test_the_answer_of_ssh_counts_where_it_got_further(strange: SshServer, open_over: OpenOver) -> None:
    (strange.folder / "authorized_keys").write_text("")
    with pytest.raises(LinkFault, match=r"ssh -F .* said '.*Permission denied \(publickey\)") as seen:
        await open_over(strange, ["true"])
    assert seen.value.fault == "auth"


async def test_the_first_answer_stands_where_ssh_gets_no_further(
    start_ssh_server: StartSshServer, open_over: OpenOver
) -> None:
    both_refuse = start_ssh_server("KexAlgorithms diffie-hellman-group1-sha1")
    before = logins_tried(both_refuse)
    with pytest.raises(LinkFault, match=r"this client have no cipher|closed the connection during the login"):
        await open_over(both_refuse, ["true"])
    assert logins_tried(both_refuse) == before + 2


@pytest.mark.parametrize(
    ("setting", "name"),
    [("Ciphers 3des-cbc", "Ciphers"), ("HostKeyAlgorithms ssh-rsa", "HostKeyAlgorithms")],
    ids=["cipher", "host key"],
)
async def test_a_setting_of_ones_own_that_leaves_nothing_in_common_is_named(
    ssh_server: SshServer, open_over: OpenOver, setting: str, name: str
) -> None:
    ssh_server.configure(setting)
    told = f"{name} of the SSH configuration here may allow (too little|nothing that it has)"
    with pytest.raises(LinkFault, match=told):
        await open_over(ssh_server, ["true"])


@pytest.mark.parametrize(
    ("setting", "says"),
    [("Ciphers aes256-ctr", "Ciphers of the SSH configuration here"), ("Compression no", "its own log")],
    ids=["own", "usual"],
)
async def test_a_server_that_hangs_up_early_may_do_so_for_a_setting_of_ones_own(
    ssh_server: SshServer, open_over: OpenOver, setting: str, says: str
) -> None:
    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-brief\r\n")
        await reader.readline()
        writer.close()

    ssh_server.configure(setting)
    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(LinkFault, match=f"closed the connection .*{says}"):
            await open_over(ssh_server, ["true"], f"lab:{port}")


async def test_a_server_that_hangs_up_before_the_key_exchange_is_over_is_tried_by_ssh_once(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    calls: list[bytes] = []

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-brief\r\n")
        calls.append(await reader.readline())
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(LinkFault, match="closed the connection during the login") as seen:
            await open_over(ssh_server, ["true"], f"127.0.0.1:{port}")
    assert (seen.value.fault, seen.value.retry) == ("lost", False)
    assert ["AsyncSSH" in call.decode() for call in calls] == [True, False]


def security_key(path: Path) -> Path:
    """Write a key pair of the kind whose secret lies on a token (PROTOCOL.u2f), which no token here has."""
    kind, public, application = b"sk-ssh-ed25519@openssh.com", bytes(range(32)), b"ssh:"
    blob = b"".join(map(_string, (kind, public, application)))
    secret = blob + b"\x01" + _string(b"handle") + _string(b"")
    body = struct.pack(">II", 7, 7) + secret + _string(b"test")
    body += bytes(range(1, 1 + -len(body) % 8))
    whole = b"openssh-key-v1\0" + b"".join(map(_string, (b"none", b"none", b"")))
    whole += struct.pack(">I", 1) + _string(blob) + _string(body)
    text = base64.encodebytes(whole).decode()
    path.write_text(f"-----BEGIN OPENSSH PRIVATE KEY-----\n{text}-----END OPENSSH PRIVATE KEY-----\n")
    path.chmod(0o600)
    path.with_name(f"{path.name}.pub").write_text(f"{kind.decode()} {base64.b64encode(blob).decode()} test\n")
    return path


def _string(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


async def test_a_security_key_is_left_to_ssh_and_is_named_where_that_fails_too(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    key = security_key(tmp_path / "id_sk")
    (ssh_server.folder / "authorized_keys").write_text("")
    ssh_server.authorize(key)
    ssh_server.configure(f"IdentityFile {key}")
    before = logins_tried(ssh_server)
    with pytest.raises(LinkFault, match="id_sk is on a security key, which only ssh itself can ask") as seen:
        await open_over(ssh_server, ["true"])
    assert seen.value.fault == "auth"
    assert logins_tried(ssh_server) == before + 2


async def test_another_key_still_logs_in_beside_a_security_key(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    key = security_key(tmp_path / "id_sk")
    ssh_server.authorize(key)
    ssh_server.configure(f"IdentityFile {key}")
    before = logins_tried(ssh_server)
    pipe = await open_over(ssh_server, ["true"])
    assert await pipe.close() == 0
    assert logins_tried(ssh_server) == before + 1


async def test_a_security_key_that_ssh_can_use_lets_in(
    ssh_server: SshServer,
    open_over: OpenOver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    needs: Callable[[str], str],
) -> None:
    good = ssh_server.client_key.rename(ssh_server.folder / "elsewhere")
    ssh_server.configure(f"IdentityFile {security_key(tmp_path / 'id_sk')}")
    # Stands for an ssh with a token at hand: it has a key that the library is not told of.
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\ncase "$*" in *" -G "*) exec {needs("ssh")} "$@";; esac\n')
    with ssh.open("a") as script:
        script.write(f'exec {needs("ssh")} -i {good} "$@"\n')
    ssh.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    heard: list[str] = []
    options = SshOptions(config_file=ssh_server.config_file, notice=heard.append)
    pipe = await open_over(ssh_server, ["true"], options=options)
    assert await pipe.close() == 0
    assert heard[0].endswith(": only ssh itself can use a key on a security key")


@pytest.mark.parametrize(
    ("server_takes", "wanted", "tries"),
    [
        (["GSSAPIAuthentication yes"], "yes", 2),
        (["GSSAPIAuthentication yes", "PubkeyAuthentication no"], "yes", 2),
        (["GSSAPIAuthentication yes"], "no", 1),
        (["GSSAPIAuthentication no"], "yes", 1),
    ],
)
async def test_a_ticket_is_left_to_ssh_where_configuration_and_server_want_one(
    start_ssh_server: StartSshServer, open_over: OpenOver, server_takes: list[str], wanted: str, tries: int
) -> None:
    server = start_ssh_server(*server_takes)
    server.configure(f"GSSAPIAuthentication {wanted}")
    (server.folder / "authorized_keys").write_text("")
    before = logins_tried(server)
    with pytest.raises(LinkFault, match="did not let") as seen:
        await open_over(server, ["true"])
    assert seen.value.fault == "auth"
    assert logins_tried(server) == before + tries


async def reached(server: SshServer, read_all: ReadAll) -> tuple[bytes, list[str]]:
    """Return what a command says there, and what is noticed on the way."""
    heard: list[str] = []
    pipe = await ssh_opener("lab", options=SshOptions(config_file=server.config_file, notice=heard.append))(
        ["echo", "here"]
    )
    said = await read_all(pipe)
    await pipe.close()
    return said, heard


def also(server: SshServer, line: str) -> None:
    """Add a line to the client's configuration."""
    with Path(server.config_file).open("a") as file:
        file.write(f"{line}\n")


async def test_a_known_hosts_command_is_left_to_ssh_which_runs_it(
    ssh_server: SshServer, read_all: ReadAll, tmp_path: Path
) -> None:
    known = tmp_path / "known"
    known.write_text((ssh_server.folder / "known_hosts").read_text())
    (ssh_server.folder / "known_hosts").write_text("")
    also(ssh_server, f"KnownHostsCommand /bin/cat {known}")
    said, heard = await reached(ssh_server, read_all)
    assert said == b"here\n"
    assert heard[0].endswith("only ssh itself keeps KnownHostsCommand")


async def test_an_address_to_come_from_is_kept(ssh_server: SshServer, read_all: ReadAll) -> None:
    also(ssh_server, "BindAddress 127.0.0.5")
    said, _ = await reached(ssh_server, read_all)
    assert said == b"here\n"
    assert "Connection from 127.0.0.5" in ssh_server.log()


async def test_algorithms_of_which_the_library_has_none_are_left_to_ssh(
    start_ssh_server: StartSshServer, read_all: ReadAll
) -> None:
    server = start_ssh_server()
    also(server, ONLY_SSH_KNOWS)
    said, heard = await reached(server, read_all)
    assert said == b"here\n"
    assert heard[0].endswith("only ssh itself keeps KexAlgorithms")


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        ("CheckHostIP yes", "CheckHostIP"),
        ("NoHostAuthenticationForLocalhost yes", "NoHostAuthenticationForLocalhost"),
        ("VerifyHostKeyDNS yes", "VerifyHostKeyDNS"),
        ("PKCS11Provider /nowhere", "PKCS11Provider"),
        ("BindInterface lo", "BindInterface"),
    ],
)
async def test_what_only_ssh_keeps_is_left_to_it(
    ssh_server: SshServer, read_all: ReadAll, setting: str, name: str
) -> None:
    also(ssh_server, setting)
    said, heard = await reached(ssh_server, read_all)
    assert said == b"here\n"
    assert heard[0].endswith(f"only ssh itself keeps {name}")


async def test_algorithms_of_authorities_are_left_to_ssh_where_one_is_known(
    ssh_server: SshServer, read_all: ReadAll, tmp_path: Path
) -> None:
    also(ssh_server, "CASignatureAlgorithms ssh-ed25519")
    assert await reached(ssh_server, read_all) == (b"here\n", [])
    authority = make_key(tmp_path / "authority")
    with ssh_server.known_hosts.open("a") as file:
        file.write(f"@cert-authority {ssh_server.known_name} {public(authority)}\n")
    said, heard = await reached(ssh_server, read_all)
    assert said == b"here\n"
    assert heard[0].endswith("only ssh itself keeps CASignatureAlgorithms")


def newer_ssh(folder: Path, needs: Callable[[str], str], option: str) -> Path:
    """Write an ssh that prints one more option than the real one, set where there is a configuration."""
    ssh = folder / "ssh"
    ssh.write_text(
        '#!/bin/sh\ncase "$*" in\n'
        f'*"-F none "*" -G "*) {needs("ssh")} "$@"; echo "{option} no";;\n'
        f'*" -G "*) {needs("ssh")} "$@"; echo "{option} ${{SAID:-no}}";;\n'
        f'*) exec {needs("ssh")} "$@";;\nesac\n'
    )
    ssh.chmod(0o700)
    return ssh


async def test_an_option_that_is_not_known_here_is_left_to_ssh_where_it_is_set(
    ssh_server: SshServer,
    read_all: ReadAll,
    tmp_path: Path,
    needs: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    newer_ssh(tmp_path, needs, "quantumleap")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert await reached(ssh_server, read_all) == (b"here\n", [])
    monkeypatch.setenv("SAID", "yes")
    said, heard = await reached(ssh_server, read_all)
    assert said == b"here\n"
    assert heard[0].endswith("only ssh itself keeps quantumleap")


@pytest.mark.parametrize(("wanted", "tries"), [("yes", 2), ("no", 1)])
async def test_the_key_of_this_machine_is_left_to_ssh_where_the_server_takes_it(
    start_ssh_server: StartSshServer, open_over: OpenOver, wanted: str, tries: int
) -> None:
    server = start_ssh_server("HostbasedAuthentication yes")
    server.configure(f"HostbasedAuthentication {wanted}")
    (server.folder / "authorized_keys").write_text("")
    before = logins_tried(server)
    with pytest.raises(LinkFault, match="did not let") as seen:
        await open_over(server, ["true"])
    assert seen.value.fault == "auth"
    assert logins_tried(server) == before + tries


@pytest.mark.parametrize(("wanted", "tries"), [("yes", 2), ("no", 1)])
async def test_a_ticket_may_vouch_for_an_unknown_host_so_ssh_is_asked(
    ssh_server: SshServer, open_over: OpenOver, needs: Callable[[str], str], wanted: str, tries: int
) -> None:
    printed = run(needs("ssh"), "-F", "none", "-T", "-G", "lab")
    if "gssapikeyexchange" not in printed:
        pytest.skip("this ssh has no GSSAPIKeyExchange")
    ssh_server.configure(f"GSSAPIKeyExchange {wanted}")
    ssh_server.known_hosts.write_text("")
    before = logins_tried(ssh_server)
    with pytest.raises(LinkFault, match="is not known here") as seen:
        await open_over(ssh_server, ["true"])
    assert seen.value.fault == "host_key"
    assert logins_tried(ssh_server) == before + tries


async def test_what_is_usual_is_left_to_the_library(ssh_server: SshServer, read_all: ReadAll) -> None:
    said, heard = await reached(ssh_server, read_all)
    assert (said, heard) == (b"here\n", [])
