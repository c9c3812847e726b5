"""Questions about several hosts: one at a time, each under the name of its host."""

import asyncio

import pytest
from ssh_server import until

from tui.commands.turns import Turns
from tui.transport.asking import GivenUp


class Person:
    """Answers when a test lets it; keeps what it was told and asked."""

    later = False

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.answers: list[asyncio.Future[str | None]] = []

    def tell(self, line: str) -> None:
        self.heard.append(line)

    def tell_again(self, line: str, prompt: str) -> None:
        self.heard += [line, prompt]

    def end_line(self) -> None:
        self.heard.append("")

    async def ask(self, prompt: str, *, echo: bool) -> str | None:
        self.heard.append(prompt)
        self.answers.append(asyncio.get_running_loop().create_future())
        return await self.answers[-1]


async def rest() -> None:
    """Let every task go on as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_questions_of_two_hosts_come_one_after_the_other_under_their_names() -> None:
    person = Person()
    turns = Turns(person)
    a, b = turns.asker_of("a"), turns.asker_of("b")
    a.tell("The authenticity of host 'a' can't be established.")
    b.tell("The authenticity of host 'b' can't be established.")
    first = asyncio.create_task(a.ask("sure of a? ", echo=True))
    second = asyncio.create_task(b.ask("sure of b? ", echo=True))
    await rest()
    assert person.heard == ["a:", "The authenticity of host 'a' can't be established.", "sure of a? "]
    assert turns.open

    person.answers[0].set_result("yes")
    assert await first == "yes"
    await rest()
    assert person.heard[3:] == ["b:", "The authenticity of host 'b' can't be established.", "sure of b? "]

    person.answers[1].set_result("no")
    assert await second == "no"
    assert not turns.open


async def test_a_second_question_of_the_same_host_needs_no_name_again() -> None:
    person = Person()
    a = Turns(person).asker_of("a")
    for answer in ("1", "2"):
        asking = asyncio.create_task(a.ask("Code: ", echo=False))
        await rest()
        person.answers[-1].set_result(answer)
        assert await asking == answer
    assert person.heard == ["a:", "Code: ", "Code: "]


async def test_what_a_host_says_at_its_end_waits_for_the_answer_to_another() -> None:
    person = Person()
    turns = Turns(person)
    a, b = turns.asker_of("a"), turns.asker_of("b")
    asking = asyncio.create_task(a.ask("Password: ", echo=False))
    await rest()
    b.tell("Permanently added 'b' to the list of known hosts.")
    b.finish()
    assert person.heard == ["a:", "Password: "]
    person.answers[0].set_result("x")
    await asking
    assert person.heard[2:] == ["b:", "Permanently added 'b' to the list of known hosts."]


async def test_what_is_still_typed_for_a_question_that_was_taken_back_goes_to_no_other() -> None:
    person = Person()
    turns = Turns(person)
    a, b = turns.asker_of("a"), turns.asker_of("b")
    first = asyncio.create_task(a.ask("of a ", echo=False))
    second = asyncio.create_task(b.ask("of b ", echo=False))
    await rest()
    first.cancel()
    await rest()
    assert person.heard[-1] == "the login to a ended before it was answered: press Enter to go on "
    person.answers[-1].set_result("ter2")
    await rest()
    assert person.heard[-2:] == ["b:", "of b "]
    person.answers[-1].set_result("4")
    assert await second == "4"


async def test_a_question_that_is_taken_back_while_it_waits_its_turn_is_never_put() -> None:
    person = Person()
    turns = Turns(person)
    a, b = turns.asker_of("a"), turns.asker_of("b")
    first = asyncio.create_task(a.ask("of a ", echo=True))
    second = asyncio.create_task(b.ask("of b ", echo=True))
    await rest()
    second.cancel()
    await rest()
    person.answers[0].set_result("yes")
    assert await first == "yes"
    await rest()
    assert person.heard == ["a:", "of a "]
    assert not turns.open


async def test_a_question_without_an_answer_ends_the_login_of_its_host_alone() -> None:
    person = Person()
    turns = Turns(person)
    a, b = turns.asker_of("a"), turns.asker_of("b")
    first = asyncio.create_task(a.ask("of a ", echo=False))
    second = asyncio.create_task(b.ask("of b ", echo=False))
    await rest()
    person.answers[0].set_result(None)
    with pytest.raises(GivenUp):
        await first
    await rest()
    assert person.heard[-2:] == ["b:", "of b "]
    person.answers[1].set_result("x")
    assert await second == "x"


async def test_who_waits_for_an_answer_is_told_once_when_the_question_has_stood_for_a_while() -> None:
    person = Person()
    turns = Turns(person, patience_s=0.0)
    a, b = turns.asker_of("a"), turns.asker_of("b")
    first = asyncio.create_task(a.ask("of a ", echo=False))
    await asyncio.sleep(0.05)
    assert person.heard == ["a:", "of a "]  # nobody waits
    second = asyncio.create_task(b.ask("of b ", echo=False))
    turns.connected = lambda: ["c", "d", "e", "f", "g"]
    told = "tminus: c, d, e and 2 more are connected, b has a question as well; Ctrl-D goes on without a"
    await until(lambda: len(person.heard) > 2)
    assert person.heard[2:] == [told, "of a "]
    await asyncio.sleep(0.05)
    person.answers[0].set_result("x")
    await first
    await until(lambda: len(person.heard) > 6)
    assert person.heard[4:] == [
        "b:",
        "of b ",
        "tminus: c, d, e and 2 more are connected; Ctrl-D goes on without b",
        "of b ",
    ]
    person.answers[1].set_result("y")
    assert await second == "y"
