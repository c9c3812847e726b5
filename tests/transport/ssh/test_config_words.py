"""The words of the SSH configuration that ssh -G leaves to its reader: tokens, variables, blanks, blocks."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ssh_server import SshServer

from tui.transport.ssh.config import resolve
from tui.transport.ssh.opener import SshOptions, ssh_opener
from tui.transport.ssh.resolved import Resolved
from tui.transport.ssh.target import parse_target
from tui.transport.ssh.tokens import home_directory

pytestmark = pytest.mark.ssh

TOKENS = "%h-%p-%r-%n-%C-%u-%L-%l-%k-%i"
SHOWN = "identity file "


async def resolved(folder: Path, text: str, host: str = "lab") -> Resolved:
    file = folder / "config"
    file.write_text(text)
    return await resolve(parse_target(host), str(file))


def put_first(file: Path, lines: str) -> None:
    file.write_text(lines + file.read_text())


def is_read(command: list[str | Path]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def identity_of(ssh: str, config: Path, host: str = "lab") -> Path:
    """Return the file that ssh itself looks for; its way to the host is one that fails."""
    done = subprocess.run(
        [ssh, "-F", config, "-v", "-o", "BatchMode=yes", host, "true"],
        capture_output=True,
        text=True,
        check=False,
    )
    [line] = [line for line in done.stderr.splitlines() if SHOWN in line and "-cert" not in line]
    return Path(line.partition(SHOWN)[2].rpartition(" type ")[0])


@pytest.mark.parametrize("alias", ["", "HostKeyAlias other\n"], ids=["alone", "alias"])
@pytest.mark.parametrize(
    "way", ["ProxyCommand false", "ProxyJump ann@gate.invalid:23"], ids=["plain", "jump"]
)
async def test_tokens_of_a_key_file_are_those_of_ssh(
    tmp_path: Path, needs: Callable[[str], str], way: str, alias: str
) -> None:
    text = f"Host lab\n HostName 127.0.0.7\n Port 2222\n User ann\n {alias}{way}\n"
    text += f"IdentityFile {tmp_path}/{TOKENS}\n"
    await resolved(tmp_path, text)
    wanted = identity_of(needs("ssh"), tmp_path / "config")
    wanted.touch()
    assert (await resolved(tmp_path, text)).identity_files == (wanted,)


async def test_variables_blanks_and_the_home_in_paths_are_those_of_ssh(
    tmp_path: Path, needs: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my keys").mkdir()
    monkeypatch.setenv("WHERE", str(tmp_path / "my keys"))
    text = 'ProxyCommand false\nIdentityFile "${WHERE}/key of %n"\n'
    await resolved(tmp_path, text)
    wanted = identity_of(needs("ssh"), tmp_path / "config")
    assert wanted == tmp_path / "my keys" / "key of lab"
    wanted.touch()
    text += 'UserKnownHostsFile "${WHERE}/known %h" ~/known_%n\nCertificateFile "${WHERE}/key of lab"\n'
    found = await resolved(
        tmp_path, f'{text}IdentityAgent "${{WHERE}}/%n agent"\nControlPath ~/c-%n-%r\nUser ann\n'
    )
    assert found.identity_files == found.certificate_files == (wanted,)
    assert found.known_hosts == (tmp_path / "my keys" / "known lab", home_directory() / "known_lab")
    assert found.identity_agent == str(tmp_path / "my keys" / "lab agent")
    assert found.control_path == str(home_directory() / "c-lab-ann")


async def test_no_key_file_is_none_at_all(tmp_path: Path) -> None:
    assert (await resolved(tmp_path, "IdentityFile none\n")).identity_files == ()


async def test_further_files_and_blocks_count_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "more").write_text("Host gpu-* !gpu-9\n Port 23\n")
    (tmp_path / "some").write_text("Host gpu-?\n User ann\n")
    text = f"Include {tmp_path}/mor?\nInclude {tmp_path}/some\nHost *\n Port 24\n"
    found = [await resolved(tmp_path, text, host) for host in ("gpu-1", "gpu-9", "gpu-10")]
    assert [each.port for each in found] == [23, 24, 23]
    assert [each.user == "ann" for each in found] == [True, True, False]


@pytest.mark.parametrize(
    ("conditions", "port"),
    [
        ("originalhost lab host 127.0.0.7", 23),
        ("host lab", 22),
        ("user ann", 23),
        ("!user ann", 22),
        ("localuser {me} user ann", 23),
        ("localuser nobody-{me}", 22),
        ('exec "test %n-%r-%h = lab-ann-127.0.0.7"', 23),
        ("all", 23),
    ],
)
async def test_a_match_block_counts_where_its_conditions_hold(
    tmp_path: Path, conditions: str, port: int
) -> None:
    import getpass

    match = conditions.format(me=getpass.getuser())
    text = f"Host lab\n HostName 127.0.0.7\n User ann\nMatch {match}\n Port 23\n"
    assert (await resolved(tmp_path, text)).port == port


async def test_a_tag_is_matched_where_this_ssh_knows_tags(
    tmp_path: Path, needs: Callable[[str], str]
) -> None:
    text = "Host lab\n Tag fast\nMatch tagged fast\n Port 23\n"
    (tmp_path / "config").write_text(text)
    if not is_read([needs("ssh"), "-F", tmp_path / "config", "-G", "-T", "lab"]):
        pytest.skip("tags came with OpenSSH 9.4")
    assert (await resolved(tmp_path, text)).port == 23


async def test_a_command_in_a_match_is_run_once_a_connection_and_for_nothing_else(
    ssh_server: SshServer, tmp_path: Path
) -> None:
    put_first(Path(ssh_server.config_file), f'Match exec "echo %n >>{tmp_path}/run"\n')
    way = ssh_opener("lab", options=SshOptions(config_file=ssh_server.config_file))
    for count in (1, 2):
        await (await way(["true"])).close()
        assert (tmp_path / "run").read_text() == "lab\n" * count


@pytest.mark.parametrize("host", ["ssh://ann@lab:2222", "ssh://ann@lab:2222/", "ann@lab:2222"])
async def test_user_and_port_of_a_url_outrank_the_configuration(tmp_path: Path, host: str) -> None:
    found = await resolved(tmp_path, "Host lab\n Port 23\n User bob\n", host)
    assert (found.user, found.port) == ("ann", 2222)


async def test_variables_to_send_are_those_of_patterns_and_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in list(os.environ):
        if name.startswith(("TM_", "LAB")):
            monkeypatch.delenv(name)
    for name in ("TM_A", "TM_B", "LAB", "LC_TIME", "LANGUAGE"):
        monkeypatch.setenv(name, f"mine of {name}")
    found = await resolved(
        tmp_path, 'SendEnv TM_A TM_B LA? LC_* LANG*\nSendEnv -TM_B\nSetEnv LAB=set OTHER="two words"\n'
    )
    assert dict(found.wire.environment) == {"TM_A": "mine of TM_A", "LAB": "set", "OTHER": "two words"}


@pytest.mark.parametrize(
    ("value", "ask", "confirm", "lifetime_s"),
    [
        ("yes", False, False, None), ("ask", True, False, None), ("confirm", False, True, None),
        ("confirm 5m", False, True, 300), ("1h", False, False, 3600),
    ],
)  # fmt: skip
async def test_how_a_key_goes_to_the_agent_is_read(
    tmp_path: Path, value: str, ask: bool, confirm: bool, lifetime_s: int | None
) -> None:
    how = (await resolved(tmp_path, f"AddKeysToAgent {value}\n")).to_agent
    assert how is not None
    assert (how.ask, how.confirm, how.lifetime_s) == (ask, confirm, lifetime_s)
    assert (await resolved(tmp_path, "AddKeysToAgent no\n")).to_agent is None
