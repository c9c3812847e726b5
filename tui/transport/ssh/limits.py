"""How the SSH transport behaves towards people: how long it waits, whom it tells, whom it asks."""

from collections.abc import Callable
from dataclasses import dataclass

from tui.transport.asking import Answers, Asker


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds to wait for the TCP connection, the login, the list of an ssh-agent's keys, and signs of life.

    ConnectTimeout in the user's SSH configuration outranks ``connect_s``, and holds for the server's greeting
    too. An agent lists its keys without asking anybody: one that is silent for ``agent_s`` hangs. A silent
    link is given up after keepalive_s times (keepalive_count + 1).
    """

    connect_s: float = 10.0
    login_s: float = 20.0
    agent_s: float = 5.0
    keepalive_s: float = 5.0
    keepalive_count: int = 3


@dataclass(frozen=True, slots=True)
class Manners:
    """What goes with every connection. ``notice`` hears what happened without a question."""

    limits: Limits
    notice: Callable[[str], None]
    asker: Asker | None
    answers: Answers

    @property
    def may_answer(self) -> bool:
        """Whether a person can be asked, or has answered something before."""
        return self.asker is not None or self.answers.any
