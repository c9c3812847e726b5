"""What a jump host asks: put to a person in ssh's own words, or told in a sentence with what to do."""

import shlex
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from made_up_person import Person
from ssh_server import SshServer, StartSshServer, make_key

from tui.transport.pipe import LinkFault
from tui.transport.ssh.opener import SshOpener, SshOptions, ssh_opener

pytestmark = pytest.mark.ssh

KEY_QUESTION = ("Are you sure you want to continue connecting (yes/no/[fingerprint])? ", True)


@pytest.fixture
def jump(start_ssh_server: StartSshServer) -> SshServer:
    """Start the sshd that is gone through."""
    return start_ssh_server()


@pytest.fixture
def behind(start_ssh_server: StartSshServer, jump: SshServer) -> SshServer:
    """Start the sshd behind it, with one configuration for both."""
    server = start_ssh_server()
    both(server, jump)
    return server


def both(server: SshServer, jump: SshServer, *lines: str, chain: str = "jump") -> None:
    """Configure ``lab`` through ``jump``; the lines are for the jump host."""
    server.configure(f"ProxyJump {chain}")
    jump.configure(*lines, alias="jump")
    Path(server.config_file).write_text(
        Path(server.config_file).read_text() + Path(jump.config_file).read_text()
    )


def opener(server: SshServer, person: Person | None) -> SshOpener:
    return ssh_opener("lab", options=SshOptions(config_file=server.config_file, asker=person))


async def works(opener: SshOpener) -> bool:
    return await (await opener(["true"])).close() == 0


def locked(jump: SshServer, folder: Path) -> Path:
    key = make_key(folder / "locked", passphrase="open sesame")
    (jump.folder / "authorized_keys").write_text("")
    jump.authorize(key)
    jump.client_key.unlink()
    return key


async def test_an_unknown_key_of_a_jump_host_is_asked_about_and_added_to_its_own_file(
    behind: SshServer, jump: SshServer
) -> None:
    known = jump.known_hosts.read_text()
    jump.known_hosts.unlink()
    person = Person("yes")
    way = opener(behind, person)

    assert await way.expects_question()
    assert await works(way)
    assert person.asked == [KEY_QUESTION]
    assert person.told[0] == (
        f"The authenticity of host '{jump.known_name} ({jump.known_name})' can't be established."
    )
    assert jump.known_hosts.read_text() == known
    assert not await way.expects_question()


async def test_a_passphrase_for_a_jump_host_is_asked_for_once_and_kept_for_the_next_connection(
    behind: SshServer, jump: SshServer, tmp_path: Path
) -> None:
    key = locked(jump, tmp_path)
    both(behind, jump, f"IdentityFile {key}")
    person = Person("open sesame")
    way = opener(behind, person)

    assert await way.expects_question()
    assert await works(way)
    assert await works(way)
    assert person.asked == [(f"Enter passphrase for key '{key}': ", False)]


async def test_a_no_to_the_key_of_a_jump_host_ends_it(behind: SshServer, jump: SshServer) -> None:
    jump.known_hosts.unlink()
    with pytest.raises(LinkFault, match=r"the host key of jump .* was not agreed to") as seen:
        await works(opener(behind, Person("no")))
    assert (seen.value.fault, seen.value.retry) == ("host_key", False)
    assert behind.log().count("Accepted") == 0


async def test_a_changed_key_of_a_jump_host_is_never_asked_about(
    behind: SshServer, jump: SshServer, tmp_path: Path
) -> None:
    jump.know(make_key(tmp_path / "other"))
    person = Person()
    with pytest.raises(LinkFault, match=r"THE HOST KEY OF jump .* HAS CHANGED") as seen:
        await works(opener(behind, person))
    assert seen.value.fault == "host_key"
    assert person.asked == []


async def test_both_hosts_of_a_chain_ask_one_after_the_other(behind: SshServer, jump: SshServer) -> None:
    both(behind, jump, chain="jump,jump")
    jump.known_hosts.unlink()
    behind.known_hosts.unlink()
    person = Person("yes", "yes")

    assert await works(opener(behind, person))
    assert person.asked == [KEY_QUESTION, KEY_QUESTION]


@pytest.mark.parametrize("chain", ["jump", "jump,jump"])
async def test_without_a_person_the_sentence_says_what_to_run_once(
    behind: SshServer, jump: SshServer, chain: str
) -> None:
    both(behind, jump, chain=chain)
    jump.known_hosts.unlink()
    with pytest.raises(LinkFault, match="a host key on it is not known") as seen:
        await works(opener(behind, None))
    before, _, _ = chain.rpartition(",")
    command = ["ssh", "-F", behind.config_file, *(["-J", before] if before else []), "--", "jump"]
    assert seen.value.sentence.endswith(f"log in there once with: {shlex.join(command)}")


async def test_a_locked_key_for_a_jump_host_is_told_with_both_ways_out(
    behind: SshServer, jump: SshServer, tmp_path: Path
) -> None:
    both(behind, jump, f"IdentityFile {locked(jump, tmp_path)}")
    with pytest.raises(LinkFault, match="failed at its login") as seen:
        await works(opener(behind, None))
    assert "-- jump, or unlock its key with ssh-add" in seen.value.sentence


async def test_a_jump_host_with_settings_that_only_ssh_keeps_is_left_to_ssh_which_cannot_ask(
    behind: SshServer, jump: SshServer
) -> None:
    both(behind, jump, "BindAddress 127.0.0.5")
    jump.known_hosts.unlink()
    person = Person()
    with pytest.raises(LinkFault, match="a host key on it is not known"):
        await works(opener(behind, person))
    assert person.asked == []
    jump.know()
    assert await works(opener(behind, person))
    assert "Connection from 127.0.0.5" in jump.log()


async def test_a_batch_mode_of_the_jump_host_is_honoured(behind: SshServer, jump: SshServer) -> None:
    both(behind, jump, "BatchMode yes")
    jump.known_hosts.unlink()
    person = Person()
    with pytest.raises(LinkFault) as seen:
        await works(opener(behind, person))
    assert seen.value.fault == "host_key"
    assert person.asked == []


async def test_where_nothing_is_asked_ssh_itself_goes_through_the_jump_host(
    behind: SshServer, jump: SshServer
) -> None:
    way = opener(behind, Person())
    assert not await way.expects_question()
    pipe = await way(["cat"])
    names = [child.name() for child in psutil.Process().children()]
    await pipe.close()
    assert names.count("ssh") == 1
    assert jump.log().count("Accepted publickey") == 1


async def test_what_a_proxy_command_prints_beside_is_no_failure(behind: SshServer, jump: SshServer) -> None:
    way_in = f"exec ssh -F {jump.config_file} -W %h:%p jump"
    behind.configure(f"ProxyCommand sh -c 'echo welcome to the gate >&2; {way_in}'")

    assert await works(opener(behind, None))


async def test_what_a_proxy_command_prints_before_ssh_speaks_does_no_harm(
    behind: SshServer, jump: SshServer
) -> None:
    way_in = f"exec ssh -F {jump.config_file} -W %h:%p jump"
    behind.configure(f"ProxyCommand sh -c 'echo welcome to the gate; {way_in}'")

    assert await works(opener(behind, None))


async def test_a_proxy_command_is_run_by_the_users_own_shell_as_ssh_does(
    behind: SshServer, jump: SshServer, needs: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    behind.configure(f"ProxyCommand ssh -F {jump.config_file} -W %h:%p jump 2> >(cat >&2)")
    monkeypatch.setenv("SHELL", needs("bash"))

    assert await works(opener(behind, None))
