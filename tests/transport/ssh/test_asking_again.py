"""What was answered before is used again, once; who is still there is asked anew, and may give it up."""

from pathlib import Path

import pytest
from asking_server import Prompts, StartAskingServer, Wanted
from made_up_person import Person
from ssh_server import SshServer, make_key

from tui.transport.asking import GivenUp
from tui.transport.pipe import LinkFault
from tui.transport.ssh.opener import SshOpener, SshOptions, ssh_opener

pytestmark = pytest.mark.ssh


def _opener(config_file: str, person: Person) -> SshOpener:
    return ssh_opener("lab", options=SshOptions(config_file=config_file, asker=person))


async def test_a_kept_password_that_is_no_longer_right_is_tried_once_and_ends_it(
    start_asking_server: StartAskingServer,
) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    person = Person("hunter2")
    opener = _opener(server.config_file, person)
    await (await opener(["true"])).close()
    server.wanted.password = "hunter3"

    with pytest.raises(LinkFault) as seen:
        await opener(["true"])

    assert (seen.value.fault, seen.value.retry) == ("auth", False)
    assert "hunter" not in seen.value.sentence
    assert server.tried == ["hunter2", "hunter2"]
    assert len(person.asked) == 1


@pytest.mark.parametrize("prompts", [1, 3])
async def test_somebody_who_is_there_later_is_asked_when_the_kept_password_is_no_longer_right(
    start_asking_server: StartAskingServer, prompts: int
) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    server.configure(f"NumberOfPasswordPrompts {prompts}")
    person = Person("hunter2", "hunter3", later=True)
    opener = _opener(server.config_file, person)
    for password in ("hunter2", "hunter3", "hunter3"):
        server.wanted.password = password
        await (await opener(["true"])).close()

    assert len(person.asked) == 2
    assert server.tried == ["hunter2", "hunter2", "hunter3", "hunter3"]


async def test_a_login_that_is_given_up_asks_nothing_more(start_asking_server: StartAskingServer) -> None:
    rounds: list[tuple[str, str, Prompts, list[str]]] = [("", "", [("Code: ", True)], ["1"])]
    server = await start_asking_server(Wanted(password="hunter2", rounds=rounds))
    person = Person(GivenUp())

    with pytest.raises(LinkFault, match="was given up") as seen:
        await _opener(server.config_file, person)(["true"])

    assert (seen.value.fault, len(person.asked), server.tried) == ("auth", 1, [])
    assert not seen.value.retry


async def test_a_key_that_lies_open_still_logs_in_where_a_passphrase_is_given_up(
    ssh_server: SshServer, tmp_path: Path
) -> None:
    key = make_key(tmp_path / "locked", passphrase="open sesame")
    ssh_server.authorize(key)
    ssh_server.configure(f"IdentityFile {key}", f"IdentityFile {ssh_server.client_key}")
    person = Person(GivenUp())
    assert await (await _opener(ssh_server.config_file, person)(["true"])).close() == 0
    assert len(person.asked) == 1
