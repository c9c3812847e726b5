"""What is said of a load at one moment, with its evidence."""

import re
from dataclasses import dataclass
from typing import Literal

Word = Literal["progressing", "slow", "quiet", "stalled", "hung", "suspended", "dead", "ready"]
Confidence = Literal["proof", "pattern", "guess"]
Match = Literal["yes", "nearly", "no"]

SEVERITY: dict[Word, int] = {
    "ready": 0, "progressing": 0, "slow": 1, "quiet": 2, "stalled": 3, "hung": 4, "suspended": 4, "dead": 5,
}  # fmt: skip
"""How bad a word is, 0 for the best."""


LINK = "link"
"""The rule that says that the host is not heard."""

_NUMBER = re.compile(r"^R\d\w?(?:\([^)]*\))? ")


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule, whether it matched ("nearly": its first signs are there), and its numbers in words."""

    rule: str
    matched: Match
    numbers: str

    @property
    def words(self) -> str:
        """The rule as it is shown, without its number in the research."""
        return _NUMBER.sub("", self.rule)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict. ``since_s`` and ``until_s`` are on the host's monotonic clock.

    ``figures`` are 3 to 5 short texts with their windows, ``rank`` and ``pid`` the culprit (while the load
    moves: the one that others wait for), None without one; ``waiting`` names the ranks that wait for it.
    ``until_s`` is when a quiet load will count as ``then`` (stalled or hung) if nothing moves, None where
    nobody can tell; ``longest_s`` is the longest silence of past loads in this phase, None without any.
    ``cause``, ``next_step`` and ``not_to_do`` are "" where there is nothing to say. ``rules`` are all rules
    in their order, the first that matched made the verdict. ``silence_s`` is for how long nothing of the
    server has moved, None where that cannot be told. ``elsewhere``: a host that waits for another one shows
    the same signs.
    """

    word: Word
    since_s: float
    sentence: str
    figures: tuple[str, ...] = ()
    cause: str = ""
    confidence: Confidence = "guess"
    rank: str | None = None
    pid: int | None = None
    waiting: tuple[str, ...] = ()
    next_step: str = ""
    not_to_do: str = ""
    until_s: float | None = None
    then: Word | None = None
    longest_s: float | None = None
    rules: tuple[RuleResult, ...] = ()
    silence_s: float | None = None
    elsewhere: bool = False

    @property
    def severity(self) -> int:
        """How bad it is, 0 for the best."""
        return SEVERITY[self.word]

    @property
    def heard(self) -> bool:
        """Whether the host was heard: else it is a verdict on the link alone."""
        return next((each.rule for each in self.rules if each.matched == "yes"), "") != LINK

    @property
    def stands(self) -> bool:
        """Whether the load stands still for good, as far as can be told: no time to ready holds."""
        return self.severity >= SEVERITY["stalled"]
