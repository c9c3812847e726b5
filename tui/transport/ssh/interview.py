"""The questions of one login, in ssh's own words, and the answers that were given before.

Remote texts (keyboard-interactive) are cleaned here, and marked with the login that they are of, as ssh does.
"""

import asyncio
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from tui.transport.asking import Answers, Asker, GivenUp, LoginClock
from tui.transport.clean import clean
from tui.transport.ssh import known_hosts
from tui.transport.ssh.resolved import Resolved

_REMOTE_LINES = 40
_REMOTE_LENGTH = 400
_AGAIN = "Permission denied, please try again."
_NO_LONGER = "The link broke, and what was typed for this login before was refused when it was used again."
PASSWORD, KEYBOARD = "password", "keyboard-interactive"


class Interview:
    """Asks for what one login wants, after what was answered before, each once. ``asker`` None: only that.

    ``open_question``: a question was put and not answered, also after the login has ended. ``given_up``: the
    person wanted no further question, and is put none.
    """

    def __init__(self, resolved: Resolved, asker: Asker | None, answers: Answers, clock: LoginClock) -> None:
        self.open_question = False
        self.given_up = False
        self._resolved = resolved
        self._asker = None if resolved.asking.batch else asker
        self._answers = answers
        self._clock = clock
        self._login = f"{resolved.user}@{resolved.hostname}"
        self._given: dict[tuple[str, str], str] = {}
        self._banner: list[str] = []
        self._one_at_a_time = asyncio.Lock()
        self._tries = {PASSWORD: 0, KEYBOARD: 0}
        self._before = {about: text for (login, about), text in answers.texts.items() if login == self._key}
        self._repeats = 1 if self._before else 0
        self._used: dict[str, str] = {}

    @property
    def can_ask(self) -> bool:
        """Whether a person can be asked."""
        return self._asker is not None

    @property
    def typed(self) -> bool:
        """Whether a password or the like was typed."""
        return bool(self._given)

    def succeeded(self) -> None:
        """Keep what was typed: the login took it."""
        self._answers.texts.update({(self._key, about): text for about, text in self._used.items()})
        self._answers.texts.update(self._given)
        self._answers.refused.discard(self._key)

    def refused(self) -> None:
        """Forget what was answered before, if it was tried: the login did not take it."""
        if self._repeats and any(self._tries.values()):
            self._answers.refused.add(self._key)
            self._forget()

    def _forget(self) -> None:
        """Use nothing again that was answered before, until a login has taken it after all."""
        for each in [each for each in self._answers.texts if each[0] == self._key]:
            del self._answers.texts[each]

    def heard_banner(self, text: str) -> None:
        """Keep what the server says before the login; it is told with the first question, if there is one."""
        self._banner += _lines(text)

    async def over(self) -> None:
        """Wait until a question that nobody needs an answer to any more has left the terminal."""
        async with self._one_at_a_time:
            return

    async def agrees_to(self, algorithm: str, blob: bytes, address: str) -> bool:
        """Put the question of an unknown host key; the fingerprint itself, typed, is a yes."""
        resolved = self._resolved
        name = known_hosts.host_name(resolved.hostname, resolved.port, resolved.host_key_alias)
        short = known_hosts.short_algorithm(algorithm)
        fingerprint = known_hosts.fingerprint(blob, resolved.asking.fingerprints)
        beside = f" ({known_hosts.host_name(address, resolved.port, None)})" if address else ""
        self.tell(f"The authenticity of host '{name}{beside}' can't be established.")
        self.tell(f"{short} key fingerprint is {fingerprint}.")
        for line in _other_names(resolved, blob):
            self.tell(line)
        question = "Are you sure you want to continue connecting (yes/no/[fingerprint])? "
        while True:
            answer = (await self._ask(question, echo=True) or "").strip()
            if answer.lower() in ("", "no"):
                return False
            if answer.lower() == "yes" or answer == fingerprint:
                self._answers.host_keys.add((name, blob))
                return True
            question = "Please type 'yes', 'no' or the fingerprint: "

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Let no time of the login pass while a question of its is put for another one."""
        self.open_question = True
        with self._clock.stopped():
            yield
        self.open_question = False

    async def agrees_to_agent(self, file: str, comment: str) -> bool:
        """Ask whether a key may be added to the ssh-agent, as ssh does for AddKeysToAgent ask."""
        answer = await self._ask(f"Add key {clean(file)} ({clean(comment)}) to agent? (yes/no) ", echo=True)
        return (answer or "").strip().lower() == "yes"

    async def passphrase(self, file: str) -> str | None:
        """Ask for the passphrase of a key file; None or "" to go on to the next key."""
        return await self._ask(f"Enter passphrase for key '{clean(file)}': ", echo=False)

    async def password(self) -> str | None:
        """Return a password; None when there is none to try any more."""
        if not self._resolved.asking.password or not self._tries_again(PASSWORD):
            return None
        return await self._answer(PASSWORD, f"{self._login}'s password: ", echo=False)

    def begins_challenge(self) -> bool:
        """Say whether keyboard-interactive is to be tried (again)."""
        return self._resolved.asking.keyboard and self._tries_again(KEYBOARD)

    async def challenge(
        self, name: str, instructions: str, prompts: Sequence[tuple[str, bool]]
    ) -> list[str] | None:
        """Return the answers to the server's prompts; None to give this way up."""
        if self.can_ask:
            for line in (*_lines(name), *_lines(instructions)):
                self.tell(line)
        answers: list[str] = []
        for prompt, echo in prompts:
            lines = _lines(prompt)
            for line in lines[:-1]:
                self.tell(line)
            last = lines[-1] if lines else ""
            answer = await self._answer(prompt, f"({self._login}) {last}", echo=echo)
            if answer is None:
                return None
            answers.append(answer)
        return answers

    def _tries_again(self, way: str) -> bool:
        """Count a try; what was answered before has one of its own, beside those of a person."""
        tries = self._tries[way]
        self._tries[way] += 1
        allowed = self._repeats + (self._resolved.asking.prompts if self.can_ask else 0)
        if self.given_up or tries >= allowed:
            return False
        if tries > 0 and not self._was_used_in_vain(way):
            self.tell(_AGAIN)
        return True

    def _was_used_in_vain(self, way: str) -> bool:
        """Return whether the try before was with what was answered earlier; forget that then."""
        vain = [about for about in self._used if (about == PASSWORD) == (way == PASSWORD)]
        for about in vain:
            del self._used[about]
        if vain:
            self._answers.refused.add(self._key)
            self._forget()
        return bool(vain)

    async def _answer(self, about: str, prompt: str, *, echo: bool) -> str | None:
        before = self._before.pop(about, None)
        if before is not None:
            self._used[about] = before
            return before
        if self._used:
            self._forget()
        if self._key in self._answers.refused and not self._given:
            self.tell(_NO_LONGER)
        answer = await self._ask(prompt, echo=echo)
        if answer is not None:
            self._given[self._key, about] = answer
        return answer

    @property
    def _key(self) -> str:
        return f"{self._login}:{self._resolved.port}"

    async def _ask(self, prompt: str, *, echo: bool) -> str | None:
        if self._asker is None:
            return None
        async with self._one_at_a_time:
            if self.given_up:
                return None
            self.open_question = True
            banner, self._banner = self._banner, []
            for line in banner:
                self.tell(line)
            with self._clock.stopped():
                answer = await self._put(self._asker, prompt, echo=echo)
            self.open_question = False
            return answer

    async def _put(self, asker: Asker, prompt: str, *, echo: bool) -> str | None:
        try:
            return await asker.ask(prompt, echo=echo)
        except GivenUp:
            self.given_up = True
            return None

    def tell(self, line: str) -> None:
        """Say one line where a person can be asked."""
        if self._asker is not None:
            self._asker.tell(line)


def _lines(text: str) -> list[str]:
    """Return a remote text as clean lines, of a length that people read.

    The blanks at the end of the last line are kept: a prompt has them.
    """
    parts = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = [clean(part)[:_REMOTE_LENGTH] for part in parts if part.strip()]
    return lines[:_REMOTE_LINES]


def _other_names(resolved: Resolved, blob: bytes) -> Iterator[str]:
    """Say under which other names this very key is known."""
    places = known_hosts.names_of(blob, (*resolved.known_hosts, *resolved.global_known_hosts))
    if not places:
        yield "This key is not known by any other names."
        return
    yield "This host key is known by the following other names/addresses:"
    for file, line, names in places[:10]:
        shown = "[hashed name]" if names.startswith("|") else clean(names)[:_REMOTE_LENGTH]
        yield f"    {file}:{line}: {shown}"
    if len(places) > 10:
        yield f"    ({len(places) - 10} additional names omitted)"
