"""Questions that several hosts have: put once, and an answer that does not come holds up no other host."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest
from made_up_person import Person
from ssh_server import SshServer, StartSshServer, make_key, until

from tui.transport.asking import Answers, GivenUp
from tui.transport.pipe import LinkFault, Pipe
from tui.transport.ssh.limits import Limits
from tui.transport.ssh.opener import SshOptions, ssh_opener

pytestmark = pytest.mark.ssh

SECRET = "open sesame"


class Slow(Person):
    """Answers when the test lets it; a question that is taken back is counted."""

    def __init__(self, *answers: str | GivenUp | None) -> None:
        super().__init__(*answers)
        self.may = asyncio.Event()
        self.taken_back = 0

    async def ask(self, prompt: str, *, echo: bool) -> str | None:
        self.asked.append((prompt, echo))
        try:
            await self.may.wait()
        except asyncio.CancelledError:
            self.taken_back += 1
            raise
        answer = self._answers.pop(0)
        if isinstance(answer, GivenUp):
            raise answer
        return answer


Together = Callable[..., "list[asyncio.Task[Pipe]]"]


@pytest.fixture
async def together() -> AsyncIterator[Together]:
    """Return a function that connects to servers at once, with one person and what that one answers."""
    tasks: list[asyncio.Task[Pipe]] = []

    def start(
        servers: Sequence[SshServer],
        person: Person,
        limits: Limits | None = None,
        answers: Answers | None = None,
    ) -> list[asyncio.Task[Pipe]]:
        shared = answers or Answers()
        for server in servers:
            options = SshOptions(
                config_file=server.config_file, asker=person, answers=shared, limits=limits or Limits()
            )
            way = ssh_opener("lab", options=options)
            tasks.append(asyncio.ensure_future(way(["true"])))
        return tasks[-len(servers) :]

    yield start
    for task in tasks:
        task.cancel()
    for pipe in await asyncio.gather(*tasks, return_exceptions=True):
        if not isinstance(pipe, BaseException):
            await pipe.close()


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """Make a locked key."""
    return make_key(tmp_path / "locked", passphrase=SECRET)


@pytest.fixture
def pair(start_ssh_server: StartSshServer, key: Path) -> list[SshServer]:
    """Start two sshd that take the locked key alone."""
    servers = [start_ssh_server(), start_ssh_server()]
    for server in servers:
        (server.folder / "authorized_keys").write_text("")
        server.authorize(key)
        server.client_key.unlink()
        server.configure(f"IdentityFile {key}")
    return servers


def found_key(server: SshServer) -> bool:
    return "Accepted key" in server.log() or "Postponed publickey" in server.log()


def is_waiting(servers: Sequence[SshServer], person: Person) -> bool:
    """Return whether the person is asked, and every server has said that it takes the key."""
    return bool(person.asked) and all(found_key(server) for server in servers)


async def test_one_passphrase_for_one_key_is_asked_once_for_two_hosts(
    pair: list[SshServer], together: Together, key: Path
) -> None:
    person = Slow(SECRET)
    tasks = together(pair, person)
    await until(lambda: is_waiting(pair, person))
    person.may.set()
    await asyncio.gather(*tasks)
    assert person.prompts == [f"Enter passphrase for key '{key}': "]


async def test_a_login_takes_its_time_while_another_ones_question_is_open(
    pair: list[SshServer], together: Together
) -> None:
    person = Slow(SECRET)
    tasks = together(pair, person, Limits(login_s=1.0))
    await until(lambda: is_waiting(pair, person))
    await asyncio.sleep(1.3)
    assert not any(task.done() for task in tasks)
    person.may.set()
    await asyncio.gather(*tasks)
    assert len(person.asked) == 1


async def test_wrong_answers_are_those_for_all_that_wait_and_each_says_so(
    pair: list[SshServer], together: Together
) -> None:
    person = Slow("wrong", "wrong", "wrong")
    tasks = together(pair, person)
    await until(lambda: is_waiting(pair, person))
    person.may.set()
    faults = await asyncio.gather(*tasks, return_exceptions=True)
    seen = [each for each in faults if isinstance(each, LinkFault)]
    assert [each.fault for each in seen] == ["auth", "auth"]
    assert all("the passphrase was wrong 3 times" in each.sentence for each in seen)
    assert len(person.asked) == 3


async def test_a_wrong_answer_and_then_the_right_one_lets_both_in(
    pair: list[SshServer], together: Together
) -> None:
    person = Slow("wrong", SECRET)
    tasks = together(pair, person)
    await until(lambda: is_waiting(pair, person))
    person.may.set()
    await asyncio.gather(*tasks)
    assert len(person.asked) == 2


async def test_a_question_given_up_for_one_host_is_put_for_the_other(
    pair: list[SshServer], together: Together
) -> None:
    person = Slow(GivenUp(), SECRET)
    tasks = together(pair, person)
    await until(lambda: is_waiting(pair, person))
    person.may.set()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [each.fault for each in done if isinstance(each, LinkFault)] == ["auth"]
    assert len(person.asked) == 2


@pytest.mark.parametrize("how", ["cut", "cancelled"])
async def test_a_host_that_ends_while_its_question_is_open_leaves_it_to_the_other(
    pair: list[SshServer], together: Together, how: str
) -> None:
    person = Slow(SECRET)
    [first] = together(pair[:1], person, answers=(answers := Answers()))
    await until(lambda: is_waiting(pair[:1], person))
    [second] = together(pair[1:], person, answers=answers)
    await until(lambda: found_key(pair[1]))
    assert len(person.asked) == 1
    if how == "cut":
        pair[0].cut()
    else:
        first.cancel()
    await until(lambda: len(person.asked) == 2)
    person.may.set()
    await second
    assert person.taken_back == 1
    [ended] = await asyncio.gather(first, return_exceptions=True)
    assert isinstance(ended, asyncio.CancelledError if how == "cancelled" else LinkFault)


async def test_a_host_that_ends_while_it_waits_for_another_ones_question_says_so_and_asks_nothing(
    pair: list[SshServer], together: Together
) -> None:
    person = Slow(SECRET)
    [first] = together(pair[:1], person, answers=(answers := Answers()))
    await until(lambda: is_waiting(pair[:1], person))
    [second] = together(pair[1:], person, answers=answers)
    await until(lambda: found_key(pair[1]))
    pair[1].cut()
    with pytest.raises(LinkFault, match="LoginGraceTime"):
        await second
    person.may.set()
    await first
    assert len(person.asked) == 1


@pytest.fixture
def behind_one_gate(start_ssh_server: StartSshServer) -> tuple[SshServer, list[SshServer]]:
    """Start a jump host that is not known yet, and two sshd behind it."""
    gate, servers = start_ssh_server(), [start_ssh_server(), start_ssh_server()]
    gate.configure(alias="gate")
    gate.known_hosts.write_text("")
    for server in servers:
        server.configure("ProxyJump gate")
        both = Path(server.config_file).read_text() + Path(gate.config_file).read_text()
        Path(server.config_file).write_text(both)
    return gate, servers


async def both_refused_for_now(gate: SshServer) -> None:
    """Wait until both logins have ended at the unknown key, so that both have the question."""
    await until(lambda: gate.log().count("Host key is not trusted") == 2)
    await asyncio.sleep(0.05)


async def test_the_host_key_of_one_jump_host_is_asked_about_once_for_two_hosts_behind_it(
    behind_one_gate: tuple[SshServer, list[SshServer]], together: Together
) -> None:
    gate, servers = behind_one_gate
    person = Slow("yes")
    tasks = together(servers, person)
    await both_refused_for_now(gate)
    person.may.set()
    await asyncio.gather(*tasks)
    assert len(person.asked) == 1
    assert gate.known_hosts.read_text().count("ssh-ed25519") == 1


async def test_a_no_to_the_key_of_one_jump_host_is_one_for_all_that_wait(
    behind_one_gate: tuple[SshServer, list[SshServer]], together: Together
) -> None:
    gate, servers = behind_one_gate
    person = Slow("no")
    tasks = together(servers, person)
    await both_refused_for_now(gate)
    person.may.set()
    faults = await asyncio.gather(*tasks, return_exceptions=True)
    assert [each.fault for each in faults if isinstance(each, LinkFault)] == ["host_key", "host_key"]
    assert len(person.asked) == 1
