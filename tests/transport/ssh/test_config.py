"""What is made of the user's SSH configuration, by the system's ssh -G and without it."""

import getpass
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tui.transport.pipe import LinkFault
from tui.transport.ssh.config import resolve
from tui.transport.ssh.resolved import Resolved
from tui.transport.ssh.target import parse_target
from tui.transport.ssh.tokens import Tokens, home_directory

pytestmark = pytest.mark.ssh

WITHOUT_SSH = "without an ssh program"


@pytest.fixture(params=["ssh -G", WITHOUT_SSH])
def way(request: pytest.FixtureRequest, needs: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Give each test both ways of reading the configuration."""
    if request.param == WITHOUT_SSH:
        monkeypatch.setenv("PATH", "/nonexistent")
    else:
        needs("ssh")
    return str(request.param)


async def _resolved(tmp_path: Path, text: str, host: str = "lab") -> Resolved:
    file = tmp_path / "config"
    file.write_text(text)
    return await resolve(parse_target(host), str(file))


async def test_an_alias_gives_host_port_and_user(tmp_path: Path, way: str) -> None:
    found = await _resolved(tmp_path, "Host lab\n HostName 10.0.0.7\n Port 2222\n User ann\n")
    assert (found.hostname, found.port, found.user) == ("10.0.0.7", 2222, "ann")
    assert found.where == "lab (10.0.0.7) port 2222"


async def test_what_is_said_outranks_the_file(tmp_path: Path, way: str) -> None:
    found = await _resolved(tmp_path, "Host lab\n Port 2222\n User ann\n", "bob@lab:23")
    assert (found.hostname, found.port, found.user) == ("lab", 23, "bob")


async def test_an_unnamed_host_has_openssh_defaults(tmp_path: Path, way: str) -> None:
    found = await _resolved(tmp_path, "")
    assert (found.hostname, found.port, found.user) == ("lab", 22, getpass.getuser())
    assert found.where == "lab port 22"
    assert found.strict == "ask"
    assert found.known_hosts[0] == home_directory() / ".ssh" / "known_hosts"
    assert found.global_known_hosts[0] == Path("/etc/ssh/ssh_known_hosts")
    assert found.proxy_command is None
    assert found.jump is None


async def test_only_key_files_that_exist_are_kept_and_tokens_are_expanded(tmp_path: Path, way: str) -> None:
    key = tmp_path / "key_lab_ann"
    key.touch()
    found = await _resolved(
        tmp_path, f"Host lab\n User ann\n IdentityFile {tmp_path}/key_%n_%r\n IdentityFile ~/no-such-key\n"
    )
    assert found.identity_files == (key,)


@pytest.mark.parametrize(
    ("value", "socket"),
    [("none", None), ("SSH_AUTH_SOCK", "/run/agent"), ("$MINE", "/run/mine"), ("/run/other", "/run/other")],
)
async def test_the_agent_is_the_one_that_is_named(
    tmp_path: Path, way: str, value: str, socket: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    monkeypatch.setenv("MINE", "/run/mine")
    assert (await _resolved(tmp_path, "")).identity_agent == "/run/agent"
    assert (await _resolved(tmp_path, f"IdentityAgent {value}\n")).identity_agent == socket


async def test_known_hosts_none_leaves_no_user_file(tmp_path: Path, way: str) -> None:
    found = await _resolved(tmp_path, "UserKnownHostsFile none\nGlobalKnownHostsFile /a /b\n")
    assert found.known_hosts == ()
    assert found.global_known_hosts == (Path("/a"), Path("/b"))


async def test_a_proxy_command_keeps_its_shell_text(tmp_path: Path, way: str) -> None:
    found = await _resolved(tmp_path, "Host lab\n ProxyCommand nc -x 'a b' %h %p 2>/dev/null | cat\n")
    assert found.proxy_command == "nc -x 'a b' lab 22 2>/dev/null | cat"


@pytest.mark.parametrize(
    ("said", "strict"),
    [("yes", "yes"), ("ask", "ask"), ("accept-new", "accept-new"), ("no", "no"), ("off", "no")],
)
async def test_the_users_strictness_is_honoured(
    tmp_path: Path, needs: Callable[[str], str], said: str, strict: str
) -> None:
    needs("ssh")
    assert (await _resolved(tmp_path, f"StrictHostKeyChecking {said}\n")).strict == strict


async def test_a_jump_becomes_a_command_of_ssh(tmp_path: Path, needs: Callable[[str], str]) -> None:
    needs("ssh")
    found = await _resolved(tmp_path, "Host lab\n HostName fd00::7\n ProxyJump a,ann@b:2222\n")
    assert found.proxy_command == f"ssh -F {tmp_path}/config -J a -W '[fd00::7]:22' -l ann -p 2222 -- b"


async def test_a_jump_is_left_to_the_library_without_an_ssh_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert (await _resolved(tmp_path, "Host lab\n ProxyJump a,b\n")).jump == "a,b"


async def test_match_exec_is_run_for_the_host(tmp_path: Path, way: str) -> None:
    found = await _resolved(tmp_path, 'Match originalhost lab exec "true"\n Port 2222\nHost *\n Port 23\n')
    assert found.port == 2222


async def test_file_names_with_blanks_are_whole(tmp_path: Path, needs: Callable[[str], str]) -> None:
    needs("ssh")
    found = await _resolved(tmp_path, 'UserKnownHostsFile "/tmp/a b/known" /tmp/c\n')
    assert found.known_hosts == (Path("/tmp/a b/known"), Path("/tmp/c"))


async def test_a_broken_line_is_a_usage_fault(tmp_path: Path, way: str) -> None:
    with pytest.raises(LinkFault) as seen:
        await _resolved(tmp_path, "Host lab\n Port many\n")
    assert (seen.value.fault, seen.value.retry) == ("usage", False)
    assert str(tmp_path / "config") in seen.value.sentence
    assert "line 2" in seen.value.sentence


async def test_a_missing_file_is_a_usage_fault(tmp_path: Path, way: str) -> None:
    with pytest.raises(LinkFault) as seen:
        await resolve(parse_target("lab"), str(tmp_path / "none"))
    assert seen.value.fault == "usage"
    assert str(tmp_path / "none") in seen.value.sentence


async def test_a_configuration_that_hangs_is_given_up(
    tmp_path: Path, needs: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("ssh")
    monkeypatch.setattr("tui.transport.ssh.config._CONFIG_TIMEOUT_S", 0.3)
    with pytest.raises(LinkFault, match="Match exec") as seen:
        await _resolved(tmp_path, 'Match exec "exec sleep 5"\n Port 2222\n')
    assert seen.value.fault == "usage"


async def test_what_only_openssh_understands_is_said_without_an_ssh_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Host lab\n ServerAliveInterval 5m\n Port 2222 # the usual\n"
    assert (await _resolved(tmp_path, text)).port == 2222
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(LinkFault, match="only OpenSSH's own ssh understands") as seen:
        await _resolved(tmp_path, text)
    assert seen.value.fault == "usage"


def test_tokens_and_variables_are_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHERE", "/keys")
    tokens = Tokens.of(original="lab", hostname="10.0.0.7", port=22, user="ann", alias=None, jump="")
    assert tokens.expand("%h:%p %r@%n 100%% %Z") == "10.0.0.7:22 ann@lab 100% %Z"
    assert tokens.path("${WHERE}/%k") == Path("/keys/lab")
    assert tokens.path("~/x") == home_directory() / "x"
    assert tokens.path("%d/x") == home_directory() / "x"
    assert tokens.values["i"] == str(os.getuid())
