"""A player whose clock and work a test drives."""

import pytest

from tui.replay.player import Player
from tui.replay.tape import Tape


class Hand:
    """A clock that a test moves; each look at it may take time."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.look_s = 0.0

    def __call__(self) -> float:
        self.now_s += self.look_s
        return self.now_s


class Played:
    """A player whose work is done when a test says so."""

    def __init__(self, made: Tape, speed: float = 1.0) -> None:
        self.hand = Hand()
        self.player = Player(made, clock=self.hand, speed=speed)

    def settle(self) -> "Played":
        """Do all that is due."""
        for _ in range(10_000):
            self.player.work()
            if self.player.moments.complete and self.player.caught_up:
                return self
        pytest.fail("the player never catches up")

    def after(self, seconds: float) -> "Played":
        """Let time go on and do what is due by then."""
        self.hand.now_s += seconds
        return self.settle()

    def slow(self) -> None:
        """From now on one event is all that is done at a time."""
        self.hand.look_s = 0.02

    def quick(self) -> None:
        """Work takes no time any more."""
        self.hand.look_s = 0.0

    @property
    def newest(self) -> str:
        """The newest line of the log."""
        return self.player.state.log.lines[-1].text
