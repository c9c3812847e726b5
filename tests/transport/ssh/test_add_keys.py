"""AddKeysToAgent: a key that was read from its file is given to the ssh-agent, as the configuration says."""

import os
import subprocess
from pathlib import Path

import pytest
from made_up_person import Person
from ssh_server import SshServer, make_key, until

from tui.transport.asking import Answers
from tui.transport.ssh.opener import SshOpener, SshOptions, ssh_opener

pytestmark = pytest.mark.ssh

SECRET = "open sesame"


@pytest.fixture
def locked(ssh_server: SshServer, tmp_path: Path) -> Path:
    """Let the server take a locked key alone."""
    key = make_key(tmp_path / "locked", passphrase=SECRET)
    (ssh_server.folder / "authorized_keys").write_text("")
    ssh_server.authorize(key)
    return key


def configure(server: SshServer, agent: str, key: Path, how: str) -> None:
    server.configure(f"IdentityAgent {agent}", f"IdentityFile {key}", f"AddKeysToAgent {how}")


def opener(server: SshServer, person: Person | None) -> SshOpener:
    return ssh_opener(
        "lab", options=SshOptions(config_file=server.config_file, asker=person, answers=Answers())
    )


async def works(way: SshOpener) -> bool:
    return await (await way(["true"])).close() == 0


def held(agent: str, *arguments: str, askpass: str = "/nonexistent") -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ, "SSH_AUTH_SOCK": agent, "SSH_ASKPASS": askpass, "SSH_ASKPASS_REQUIRE": "force",
    }  # fmt: skip
    command = ["ssh-add", *(arguments or ("-l",))]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


async def test_a_key_is_added_once_its_passphrase_is_known_and_then_needs_none(
    ssh_server: SshServer, key_agent: str, locked: Path
) -> None:
    configure(ssh_server, key_agent, locked, "yes")
    person = Person(SECRET)
    assert await works(opener(ssh_server, person))
    assert person.prompts == [f"Enter passphrase for key '{locked}': "]
    assert "test (ED25519)" in held(key_agent).stdout
    assert await works(opener(ssh_server, None))


async def test_a_key_is_not_added_where_that_is_not_wanted(
    ssh_server: SshServer, key_agent: str, locked: Path
) -> None:
    configure(ssh_server, key_agent, locked, "no")
    assert await works(opener(ssh_server, Person(SECRET)))
    assert "no identities" in held(key_agent).stdout


async def test_a_key_that_lies_open_is_added_too_as_ssh_does(ssh_server: SshServer, key_agent: str) -> None:
    configure(ssh_server, key_agent, ssh_server.client_key, "yes")
    assert await works(opener(ssh_server, None))
    assert "test (ED25519)" in held(key_agent).stdout


async def test_a_key_that_the_server_does_not_take_is_not_added(
    ssh_server: SshServer, key_agent: str, tmp_path: Path
) -> None:
    configure(ssh_server, key_agent, make_key(tmp_path / "stranger"), "yes")
    assert await works(opener(ssh_server, None))
    assert held(key_agent).stdout.count("ED25519") == 1
    assert held(key_agent, "-T", str(tmp_path / "stranger.pub")).returncode != 0


@pytest.mark.parametrize(("answer", "count"), [("yes", 1), ("no", 0)])
async def test_where_it_is_to_be_asked_it_is_asked(
    ssh_server: SshServer, key_agent: str, locked: Path, answer: str, count: int
) -> None:
    configure(ssh_server, key_agent, locked, "ask")
    person = Person(SECRET, answer)
    assert await works(opener(ssh_server, person))
    assert person.prompts[1:] == [f"Add key {locked} (test) to agent? (yes/no) "]
    assert held(key_agent).stdout.count("ED25519") == count


async def test_it_is_asked_once_though_the_link_is_made_again(
    ssh_server: SshServer, key_agent: str, locked: Path
) -> None:
    configure(ssh_server, key_agent, locked, "ask")
    person = Person(SECRET, "no", later=True)
    way = opener(ssh_server, person)
    assert await works(way)
    assert await works(way)
    assert len(person.asked) == 2


async def test_a_lifetime_and_a_confirmation_at_each_use_are_the_agents_affair(
    ssh_server: SshServer, key_agent: str, locked: Path
) -> None:
    configure(ssh_server, key_agent, locked, "confirm 1s")
    assert await works(opener(ssh_server, Person(SECRET)))
    assert held(key_agent, "-T", f"{locked}.pub").returncode != 0
    await until(lambda: "no identities" in held(key_agent).stdout)


async def test_an_agent_that_is_not_there_harms_nothing(ssh_server: SshServer, locked: Path) -> None:
    configure(ssh_server, "/nonexistent", locked, "yes")
    assert await works(opener(ssh_server, Person(SECRET)))


async def test_an_agent_that_takes_no_key_is_told(
    ssh_server: SshServer, key_agent: str, locked: Path, tmp_path: Path
) -> None:
    askpass = tmp_path / "askpass"
    askpass.write_text("#!/bin/sh\necho word\n")
    askpass.chmod(0o700)
    assert held(key_agent, "-x", askpass=str(askpass)).returncode == 0
    configure(ssh_server, key_agent, locked, "yes")
    person = Person(SECRET)
    assert await works(opener(ssh_server, person))
    assert "could not be added" in "".join(person.told)
