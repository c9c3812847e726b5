"""A person who answers ssh's questions in a test, without a terminal."""

import asyncio

from tui.transport.asking import GivenUp


class Person:
    """Answers one question after another, or gives the login up; keeps what was asked and told."""

    def __init__(self, *answers: str | GivenUp | None, thinks_s: float = 0.0, later: bool = False) -> None:
        self.later = later
        self.asked: list[tuple[str, bool]] = []
        self.told: list[str] = []
        self._answers = list(answers)
        self._thinks_s = thinks_s

    async def ask(self, prompt: str, *, echo: bool) -> str | None:
        self.asked.append((prompt, echo))
        await asyncio.sleep(self._thinks_s)
        answer = self._answers.pop(0)
        if isinstance(answer, GivenUp):
            raise answer
        return answer

    def tell(self, line: str) -> None:
        self.told.append(line)

    def tell_again(self, line: str, prompt: str) -> None:
        self.told.append(f"{line} {prompt}")

    def end_line(self) -> None:
        self.told.append("")

    @property
    def prompts(self) -> list[str]:
        return [prompt for prompt, _ in self.asked]
