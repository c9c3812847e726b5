"""The questions of a login, put to a person who is made up: what is asked, in which words, and how often."""

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import asyncssh
import pytest
from asking_server import USER, Prompts, StartAskingServer, Wanted
from made_up_person import Person
from ssh_server import SshServer, StartSshServer, make_key, public, run

from tui.transport.pipe import LinkFault, Pipe
from tui.transport.ssh.limits import Limits
from tui.transport.ssh.opener import SshOptions, ssh_opener

pytestmark = pytest.mark.ssh

OpenOver = Callable[..., Awaitable[Pipe]]


def _options(config_file: str, person: Person | None, login_s: float = 20.0) -> SshOptions:
    return SshOptions(config_file=config_file, asker=person, limits=Limits(login_s=login_s))


async def _works(config_file: str, person: Person | None, **more: float) -> bool:
    pipe = await ssh_opener("lab", options=_options(config_file, person, **more))(["true"])
    return await pipe.close() == 0


async def _fault(config_file: str, person: Person | None, **more: float) -> LinkFault:
    with pytest.raises(LinkFault) as seen:
        await _works(config_file, person, **more)
    assert not seen.value.retry
    return seen.value


def _fingerprint(key: Path) -> str:
    return run("ssh-keygen", "-lf", key).split()[1]


def _locked(server: SshServer, folder: Path, kind: str = "ed25519") -> Path:
    """Let only a key in that is locked by the passphrase ``open sesame``."""
    key = make_key(folder / "locked", kind, passphrase="open sesame")
    (server.folder / "authorized_keys").write_text("")
    server.authorize(key)
    server.configure(f"IdentityFile {key}")
    return key


@pytest.mark.parametrize("answer", ["yes", " YES ", "fingerprint"])
async def test_a_yes_or_the_fingerprint_adds_the_key_as_ssh_does(ssh_server: SshServer, answer: str) -> None:
    fingerprint, name = _fingerprint(ssh_server.host_key), ssh_server.known_name
    person = Person(fingerprint if answer == "fingerprint" else answer)
    ssh_server.known_hosts.unlink()

    assert await _works(ssh_server.config_file, person)

    assert person.asked == [("Are you sure you want to continue connecting (yes/no/[fingerprint])? ", True)]
    assert person.told == [
        f"The authenticity of host '{name} ({name})' can't be established.",
        f"ED25519 key fingerprint is {fingerprint}.",
        "This key is not known by any other names.",
        f"Warning: Permanently added '{name}' (ED25519) to the list of known hosts.",
    ]
    assert ssh_server.known_hosts.read_text() == f"{name} {public(ssh_server.host_key)}\n"
    assert await _works(ssh_server.config_file, None)


async def test_the_words_are_those_of_ssh_itself(ssh_server: SshServer, needs: Callable[[str], str]) -> None:
    """What ssh asks is taken from ssh: an askpass program gets its question, and answers no."""
    ssh_server.known_hosts.unlink()
    ask = ssh_server.folder / "ask"
    ask.write_text(f'#!/bin/sh\nprintf %s "$1" > {ask}.heard\necho no\n')
    ask.chmod(0o700)
    environment = {**os.environ, "SSH_ASKPASS": str(ask), "SSH_ASKPASS_REQUIRE": "force"}
    command = [needs("ssh"), "-F", ssh_server.config_file, "lab", "true"]
    theirs_ended = partial(
        subprocess.run, command, env=environment, capture_output=True, check=False, start_new_session=True
    )
    await asyncio.to_thread(theirs_ended)
    person = Person("no")

    await _fault(ssh_server.config_file, person)

    theirs = ask.with_name("ask.heard").read_text().splitlines()
    ours = [*person.told, *person.prompts]
    # Whether and how ssh tells of other names depends on its version.
    assert [line for line in theirs if "known by" not in line] == [*ours[:2], ours[-1]]


@pytest.mark.parametrize("answer", ["no", "", None])
async def test_a_no_adds_nothing_and_ends_it(ssh_server: SshServer, answer: str | None) -> None:
    ssh_server.known_hosts.write_text("")

    fault = await _fault(ssh_server.config_file, Person("perhaps", answer))

    assert fault.fault == "host_key"
    assert _fingerprint(ssh_server.host_key) in fault.sentence
    assert ssh_server.known_hosts.read_text() == ""


async def test_another_word_is_asked_back(ssh_server: SshServer) -> None:
    ssh_server.known_hosts.write_text("")
    person = Person("y", "SHA256:other", "yes")

    assert await _works(ssh_server.config_file, person)

    assert person.prompts[1:] == ["Please type 'yes', 'no' or the fingerprint: "] * 2


async def test_other_names_of_the_key_are_told(ssh_server: SshServer) -> None:
    ssh_server.know(name="elsewhere,10.0.0.7")
    person = Person("no")

    await _fault(ssh_server.config_file, person)

    assert person.told[2:] == [
        "This host key is known by the following other names/addresses:",
        f"    {ssh_server.known_hosts}:1: elsewhere,10.0.0.7",
    ]


@pytest.mark.parametrize("setting", ["yes", "changed", "BatchMode"])
async def test_a_changed_key_is_never_asked_about_nor_an_unknown_one_where_that_is_forbidden(
    ssh_server: SshServer, tmp_path: Path, setting: str
) -> None:
    ssh_server.known_hosts.write_text("")
    if setting == "changed":
        ssh_server.know(make_key(tmp_path / "old"))
    elif setting == "BatchMode":
        ssh_server.configure("BatchMode yes")
    else:
        ssh_server.configure("StrictHostKeyChecking yes")
    person = Person()

    fault = await _fault(ssh_server.config_file, person)

    assert (fault.fault, person.asked) == ("host_key", [])
    assert ("HAS CHANGED" if setting == "changed" else "not known") in fault.sentence


async def test_without_a_file_of_known_hosts_a_yes_holds_for_this_process(ssh_server: SshServer) -> None:
    ssh_server.configure("UserKnownHostsFile none")
    person = Person("yes")
    opener = ssh_opener("lab", options=_options(ssh_server.config_file, person))
    for _ in range(2):
        assert await (await opener(["true"])).close() == 0
    assert len(person.asked) == 1
    assert "kept nowhere" in person.told[-1]


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
@pytest.mark.parametrize("beside", [True, False], ids=["with .pub", "alone"])
async def test_a_passphrase_is_asked_for_up_to_three_times_and_then_kept(
    ssh_server: SshServer, tmp_path: Path, kind: str, beside: bool
) -> None:
    key = _locked(ssh_server, tmp_path, kind)
    if not beside:
        key.with_name("locked.pub").unlink()
    person = Person("wrong", "wronger", "open sesame")
    opener = ssh_opener("lab", options=_options(ssh_server.config_file, person))

    for _ in range(2):
        assert await (await opener(["true"])).close() == 0

    assert person.asked == [(f"Enter passphrase for key '{key}': ", False)] * 3


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (("guess",) * 3, "the passphrase was wrong 3 times"),
        (("guess", ""), "the passphrase was wrong"),
        (("",), "no passphrase was given"),
        ((None,), "no passphrase was given"),
    ],
    ids=["wrong", "one wrong", "empty", "end of input"],
)
async def test_a_key_that_stays_locked_is_left_for_the_next(
    ssh_server: SshServer, tmp_path: Path, answers: tuple[str | None, ...], why: str
) -> None:
    key = _locked(ssh_server, tmp_path)
    person = Person(*answers)
    fault = await _fault(ssh_server.config_file, person)
    assert f"takes a key of {ssh_server.user}, but it stays locked by a passphrase: {key} ({why})" in (
        fault.sentence
    )
    assert fault.sentence.endswith(f"unlock it with: ssh-add {key}")
    assert "refused" not in fault.sentence
    assert "guess" not in fault.sentence

    ssh_server.authorize(ssh_server.client_key)
    ssh_server.configure(f"IdentityFile {key}", f"IdentityFile {ssh_server.client_key}")
    again = Person(*answers)
    assert await _works(ssh_server.config_file, again)
    assert len(again.asked) == len(answers)


async def test_the_passphrase_of_a_key_that_the_server_does_not_take_is_not_asked_for(
    ssh_server: SshServer, tmp_path: Path
) -> None:
    _locked(ssh_server, tmp_path)
    (ssh_server.folder / "authorized_keys").write_text("")
    person = Person()
    assert (await _fault(ssh_server.config_file, person)).fault == "auth"
    assert person.asked == []


async def test_a_key_that_stays_locked_is_not_among_those_that_were_refused(
    ssh_server: SshServer, tmp_path: Path
) -> None:
    key, refused = _locked(ssh_server, tmp_path), make_key(tmp_path / "refused")
    ssh_server.configure(f"IdentityFile {refused}", f"IdentityFile {key}")
    fault = await _fault(ssh_server.config_file, Person(""))
    assert f"locked by a passphrase: {key} (no passphrase was given)" in fault.sentence
    assert str(refused) not in fault.sentence


@pytest.mark.parametrize("beside", [True, False], ids=["with .pub", "alone"])
async def test_nothing_is_asked_for_a_locked_key_that_the_agent_has(
    ssh_server: SshServer, tmp_path: Path, key_agent: str, beside: bool
) -> None:
    key = _locked(ssh_server, tmp_path)
    (ssh_server.folder / "authorized_keys").write_text("")
    ssh_server.authorize(key)
    if not beside:
        key.with_name("locked.pub").unlink()
    ssh_server.configure(f"IdentityFile {key}", f"IdentityAgent {key_agent}")
    ssh_server.client_key.unlink()
    person = Person()
    opener = ssh_opener("lab", options=_options(ssh_server.config_file, person))
    assert await opener.expects_question()
    async with asyncssh.connect_agent(key_agent) as agent:
        await agent.add_keys([asyncssh.read_private_key(key, "open sesame")])

    assert not await opener.expects_question()
    assert await (await opener(["true"])).close() == 0
    assert person.asked == []


async def test_what_the_server_says_first_is_told_with_a_question_and_only_then(
    start_ssh_server: StartSshServer, tmp_path: Path
) -> None:
    banner = tmp_path / "banner"
    banner.write_text("Authorised \x1b[31musers only.\n\nSecond line\n")
    server = start_ssh_server(f"Banner {banner}")
    silent = Person()
    assert await _works(server.config_file, silent)
    assert silent.told == []

    _locked(server, tmp_path)
    person = Person("open sesame")
    assert await _works(server.config_file, person)
    assert person.told == ["Authorised users only.", "Second line"]


async def test_a_locked_key_with_a_certificate_is_asked_for_once(
    start_ssh_server: StartSshServer, tmp_path: Path
) -> None:
    authority = make_key(tmp_path / "authority")
    server = start_ssh_server(f"TrustedUserCAKeys {authority}.pub")
    key = _locked(server, tmp_path)
    (server.folder / "authorized_keys").write_text("")
    run("ssh-keygen", "-q", "-s", authority, "-I", "id", "-n", server.user, f"{key}.pub")
    person = Person("open sesame")
    assert await _works(server.config_file, person)
    assert len(person.asked) == 1


async def test_the_number_of_prompts_of_the_configuration_counts(
    ssh_server: SshServer, tmp_path: Path
) -> None:
    key = _locked(ssh_server, tmp_path)
    ssh_server.configure(f"IdentityFile {key}", "NumberOfPasswordPrompts 1")
    person = Person("wrong")
    assert (await _fault(ssh_server.config_file, person)).fault == "auth"
    assert len(person.asked) == 1


async def test_a_password_has_three_tries_and_is_used_again_without_asking(
    start_asking_server: StartAskingServer,
) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    person = Person("a", "b", "hunter2")
    opener = ssh_opener("lab", options=_options(server.config_file, person))

    for _ in range(2):
        await (await opener(["true"])).close()

    assert person.asked == [(f"{USER}@127.0.0.1's password: ", False)] * 3
    assert person.told == ["Permission denied, please try again."] * 2
    assert server.tried == ["a", "b", "hunter2", "hunter2"]


async def test_three_wrong_passwords_end_it_and_are_in_no_sentence(
    start_asking_server: StartAskingServer,
) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    fault = await _fault(server.config_file, Person("secret1", "secret2", "secret3"))
    assert fault.fault == "auth"
    assert "it takes publickey, password" in fault.sentence
    assert "secret" not in fault.sentence


@pytest.mark.parametrize(
    ("wanted", "line"),
    [
        (Wanted(password="hunter2"), "PasswordAuthentication no"),
        (Wanted(password="hunter2"), "PreferredAuthentications publickey"),
        (Wanted(password="hunter2"), "BatchMode yes"),
        (Wanted(rounds=[("", "", [("Code: ", True)], ["1"])]), "KbdInteractiveAuthentication no"),
    ],
    ids=lambda value: value.split()[0] if isinstance(value, str) else "",
)
async def test_what_the_configuration_forbids_is_not_asked(
    start_asking_server: StartAskingServer, wanted: Wanted, line: str
) -> None:
    server = await start_asking_server(wanted)
    server.configure(line)
    person = Person()
    assert (await _fault(server.config_file, person)).fault == "auth"
    assert person.asked == []


async def test_several_prompts_come_with_their_echo_and_without_what_would_move_the_cursor(
    start_asking_server: StartAskingServer,
) -> None:
    rounds: list[tuple[str, str, Prompts, list[str]]] = [
        (
            "Cluster \x1b[2Jlogin",
            "Two things are needed.\r\nHave them ready.",
            [("User\x07name: ", True), ("Read this\nPassword: ", False)],
            ["al", "pw"],
        ),
        ("", "", [("Verification code: ", False)], ["123"]),
        ("", "Welcome.", [], []),
    ]
    server = await start_asking_server(Wanted(rounds=rounds))
    person = Person("al", "pw", "123")

    assert await _works(server.config_file, person)

    login = f"({USER}@127.0.0.1) "
    assert person.asked == [
        (f"{login}Username: ", True), (f"{login}Password: ", False), (f"{login}Verification code: ", False),
    ]  # fmt: skip
    assert person.told == [
        "Cluster login", "Two things are needed.", "Have them ready.", "Read this", "Welcome.",
    ]  # fmt: skip
    assert server.tried == [["al", "pw"], ["123"], []]


async def test_a_login_takes_its_time_while_a_person_thinks(start_asking_server: StartAskingServer) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    assert await _works(server.config_file, Person("hunter2", thinks_s=2.2), login_s=2.0)


async def test_a_server_that_waits_no_longer_is_told_in_one_sentence(
    start_asking_server: StartAskingServer,
) -> None:
    server = await start_asking_server(Wanted(password="hunter2", grace_s=2.0))
    fault = await _fault(server.config_file, Person("hunter2", thinks_s=60.0))
    assert fault.fault == "auth"
    assert "it may wait only so long (LoginGraceTime)" in fault.sentence


async def test_without_anybody_to_ask_the_sentences_are_todays(
    start_asking_server: StartAskingServer,
) -> None:
    server = await start_asking_server(Wanted(password="hunter2"))
    fault = await _fault(server.config_file, None)
    assert "it takes publickey, password: there was no key to offer" in fault.sentence


async def test_a_question_is_expected_where_one_is_likely(ssh_server: SshServer, tmp_path: Path) -> None:
    async def expects(person: Person | None) -> bool:
        return await ssh_opener("lab", options=_options(ssh_server.config_file, person)).expects_question()

    assert not await expects(Person())
    ssh_server.known_hosts.write_text("")
    assert await expects(Person())
    assert not await expects(None)
    ssh_server.configure("BatchMode yes")
    assert not await expects(Person())
    ssh_server.know()
    _locked(ssh_server, tmp_path)
    assert not await expects(Person())
    ssh_server.client_key.unlink()
    assert await expects(Person())
    ssh_server.configure("PreferredAuthentications password,publickey")
    assert await expects(Person())
