"""Host keys: always checked, against a real sshd."""

import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from ssh_server import SshServer, StartSshServer, make_key, public, run

from tui.transport.pipe import LinkFault, Pipe
from tui.transport.ssh.opener import SshOptions

pytestmark = pytest.mark.ssh

OpenOver = Callable[..., Awaitable[Pipe]]


def _fingerprint(key: Path) -> str:
    return run("ssh-keygen", "-lf", key).split()[1]


async def _refused(open_over: OpenOver, server: SshServer, options: SshOptions | None = None) -> str:
    with pytest.raises(LinkFault) as seen:
        await open_over(server, ["true"], options=options)
    assert (seen.value.fault, seen.value.retry) == ("host_key", False)
    return seen.value.sentence


async def test_an_unknown_key_is_refused_with_its_fingerprint_and_the_command_to_add_it(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    ssh_server.known_hosts.write_text("")
    sentence = await _refused(open_over, ssh_server)
    assert "not known" in sentence
    assert f"ED25519 {_fingerprint(ssh_server.host_key)}" in sentence
    assert f"port {ssh_server.port}" in sentence
    assert "take it with --accept-new, or add it by logging in once with: " in sentence
    assert sentence.endswith(f"ssh -F {ssh_server.config_file} -- lab")
    assert ssh_server.known_hosts.read_text() == ""


async def test_logging_in_by_that_command_makes_it_known(
    ssh_server: SshServer, open_over: OpenOver, needs: Callable[[str], str]
) -> None:
    ssh_server.known_hosts.unlink()
    command = [needs("ssh"), "-o", "StrictHostKeyChecking=accept-new", "-F", ssh_server.config_file]
    run(*command, "--", "lab", "true")
    assert await (await open_over(ssh_server, ["true"])).close() == 0


async def test_without_an_ssh_program_the_line_to_add_is_told(
    ssh_server: SshServer, open_over: OpenOver, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh_server.known_hosts.write_text("")
    monkeypatch.setenv("PATH", "/nonexistent")
    sentence = await _refused(open_over, ssh_server)
    line = f"{ssh_server.known_name} {public(ssh_server.host_key)}"
    assert sentence.endswith(f"add this line to {ssh_server.known_hosts}: {line}")
    ssh_server.known_hosts.write_text(f"{line}\n")
    assert await (await open_over(ssh_server, ["/bin/true"])).close() == 0


async def test_a_changed_key_is_refused_with_file_line_and_the_command_to_remove_it(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    ssh_server.know(make_key(tmp_path / "old"))
    sentence = await _refused(open_over, ssh_server)
    assert "HAS CHANGED" in sentence
    assert f"{ssh_server.known_hosts}:1" in sentence
    assert _fingerprint(ssh_server.host_key) in sentence
    assert _fingerprint(tmp_path / "old") in sentence
    command = sentence.rpartition(": ")[2]
    run("/bin/sh", "-c", command)
    assert "not known" in await _refused(open_over, ssh_server)


async def test_a_key_of_another_type_is_told_apart_and_refused(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    ssh_server.know(make_key(tmp_path / "old", "rsa"))
    sentence = await _refused(open_over, ssh_server)
    assert "of another type" in sentence
    assert "holds RSA SHA256:" in sentence


async def test_the_known_type_is_asked_for_when_the_host_has_several(
    start_ssh_server: StartSshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    rsa = make_key(tmp_path / "rsa", "rsa")
    server = start_ssh_server(f"HostKey {rsa}")
    server.know(rsa)
    assert await (await open_over(server, ["true"])).close() == 0


async def test_a_revoked_key_is_refused(ssh_server: SshServer, open_over: OpenOver) -> None:
    ssh_server.know(marker="@revoked", name="*")
    assert "revoked" in await _refused(open_over, ssh_server)
    ssh_server.configure("StrictHostKeyChecking no")
    assert "revoked" in await _refused(open_over, ssh_server)


@pytest.mark.parametrize("binary", [False, True])
async def test_a_key_in_the_list_of_revoked_ones_is_refused(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path, binary: bool
) -> None:
    listed, other = tmp_path / "revoked", make_key(tmp_path / "other")
    for key, refused in ((other, False), (ssh_server.host_key, True)):
        if binary:
            listed.unlink(missing_ok=True)
            run("ssh-keygen", "-q", "-k", "-f", listed, f"{key}.pub")
        else:
            listed.write_text(public(key) + "\n")
        ssh_server.configure(f"RevokedHostKeys {listed}")
        if refused:
            assert f"revoked in {listed}" in await _refused(open_over, ssh_server)
        else:
            assert await (await open_over(ssh_server, ["true"])).close() == 0


async def test_accept_new_adds_an_unknown_key_and_refuses_a_changed_one(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    said: list[str] = []
    options = SshOptions(config_file=ssh_server.config_file, accept_new=True, notice=said.append)
    ssh_server.known_hosts.unlink()
    assert await (await open_over(ssh_server, ["true"], options=options)).close() == 0
    assert ssh_server.known_hosts.read_text() == f"{ssh_server.known_name} {public(ssh_server.host_key)}\n"
    assert "added the host key" in said[0]
    assert _fingerprint(ssh_server.host_key) in said[0]
    assert await (await open_over(ssh_server, ["true"])).close() == 0
    ssh_server.know(make_key(tmp_path / "old"))
    assert "HAS CHANGED" in await _refused(open_over, ssh_server, options)


async def test_a_key_that_cannot_be_added_lets_in_and_that_is_said(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    said: list[str] = []
    (tmp_path / "file").write_text("")
    place = tmp_path / "file" / "known_hosts"
    ssh_server.configure(f"UserKnownHostsFile {place}")
    options = SshOptions(config_file=ssh_server.config_file, accept_new=True, notice=said.append)
    assert await (await open_over(ssh_server, ["true"], options=options)).close() == 0
    assert f"could not be added to {place}: Not a directory" in said[-1]


async def test_a_hashed_name_is_written_where_the_user_wants_it(
    ssh_server: SshServer, open_over: OpenOver, needs: Callable[[str], str]
) -> None:
    ssh_server.configure("StrictHostKeyChecking accept-new", "HashKnownHosts yes")
    ssh_server.known_hosts.unlink()
    await open_over(ssh_server, ["true"])
    assert ssh_server.known_hosts.read_text().startswith("|1|")
    command = [
        needs("ssh"),
        "-o",
        "StrictHostKeyChecking=yes",
        "-F",
        ssh_server.config_file,
        "--",
        "lab",
        "true",
    ]
    run(*command)


async def test_strict_no_of_the_user_lets_a_changed_key_pass_and_says_so(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    said: list[str] = []
    ssh_server.know(make_key(tmp_path / "old"))
    ssh_server.configure("StrictHostKeyChecking no")
    options = SshOptions(config_file=ssh_server.config_file, notice=said.append)
    assert await (await open_over(ssh_server, ["true"], options=options)).close() == 0
    assert "is not the one in" in said[0]


@pytest.mark.parametrize("files", ["none", "/dev/null"])
async def test_no_known_hosts_file_does_not_switch_the_check_off(
    ssh_server: SshServer, open_over: OpenOver, files: str
) -> None:
    ssh_server.configure(f"UserKnownHostsFile {files}")
    sentence = await _refused(open_over, ssh_server)
    assert "not known" in sentence
    assert f"it can be kept nowhere, as UserKnownHostsFile of the SSH configuration is {files}" in sentence
    assert "name a file there" in sentence


@pytest.mark.parametrize("files", ["none", "/dev/null"])
async def test_a_key_that_nobody_checks_lets_in_and_that_is_said(
    ssh_server: SshServer, open_over: OpenOver, files: str
) -> None:
    said: list[str] = []
    ssh_server.configure(f"UserKnownHostsFile {files}", "StrictHostKeyChecking no")
    options = SshOptions(config_file=ssh_server.config_file, notice=said.append)
    assert await (await open_over(ssh_server, ["true"], options=options)).close() == 0
    assert len(said) == 1
    assert f"is not checked: StrictHostKeyChecking is no, and UserKnownHostsFile is {files}" in said[0]
    assert said[0].endswith(f"now it is ED25519 {_fingerprint(ssh_server.host_key)}")


async def test_a_key_in_the_systems_file_is_known(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    shutil.move(ssh_server.known_hosts, tmp_path / "global")
    ssh_server.configure(f"GlobalKnownHostsFile {tmp_path / 'global'}")
    assert await (await open_over(ssh_server, ["true"])).close() == 0


async def test_a_file_of_known_hosts_that_cannot_be_read_is_told(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    said: list[str] = []
    ssh_server.configure(f"UserKnownHostsFile {tmp_path}")
    options = SshOptions(config_file=ssh_server.config_file, notice=said.append)
    assert "not known" in await _refused(open_over, ssh_server, options)
    assert said == [f"{tmp_path} cannot be read, so no host key in it is known"]


async def test_a_host_key_alias_is_what_the_key_is_looked_up_by(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    ssh_server.configure("HostKeyAlias cluster")
    assert "not known" in await _refused(open_over, ssh_server)
    ssh_server.know(name="cluster")
    assert await (await open_over(ssh_server, ["true"])).close() == 0


async def test_a_host_certificate_is_taken_from_the_authority_and_refused_from_another(
    start_ssh_server: StartSshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    authority, other, key = (make_key(tmp_path / name) for name in ("authority", "other", "certified"))
    sign = ["ssh-keygen", "-q", "-s", authority, "-I", "id", "-h", "-n", "127.0.0.1,lab"]
    run(*sign, f"{key}.pub")
    server = start_ssh_server(f"HostKey {key}", f"HostCertificate {key}-cert.pub")
    server.know(authority, marker="@cert-authority", name="*")
    assert await (await open_over(server, ["true"])).close() == 0
    server.know(other, marker="@cert-authority", name="*")
    assert "host certificate" in await _refused(open_over, server)
    run(*sign, "-V", "-2d:-1d", f"{key}.pub")
    expired = start_ssh_server(f"HostKey {key}", f"HostCertificate {key}-cert.pub")
    expired.know(authority, marker="@cert-authority", name="*")
    assert "expired" in await _refused(open_over, expired)
