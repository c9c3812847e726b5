"""Where what a person types leads to."""

import pytest
from tapes import load, tape

from tui.events import AnyEvent, Log, Probe, Processes
from tui.replay.places import HELP, go_to, jump
from tui.replay.player import Player


def paused(events: list[AnyEvent], t: float = 0.0, *, looked: bool = True) -> Player:
    """Return a player that was looked through, paused at ``t``."""
    player = Player(tape(events), clock=lambda: 0.0)
    player.pause()
    if looked:
        player.work()
        player.seek(t)
        player.work()
        assert player.moments.complete
    return player


def told(player: Player, wish: str) -> tuple[float, str]:
    said = go_to(player, wish)
    player.work()
    return player.t, said


@pytest.mark.parametrize(
    ("wish", "t", "said"),
    [
        ("12:30", 750.0, "at 12:30"),
        ("1:02:03", 3723.0, "at 1:02:03"),
        ("0:07.5", 7.5, "at 0:07"),
        ("90", 90.0, "at 1:30"),
        ("90s", 90.0, "at 1:30"),
        (" 90 s ", 90.0, "at 1:30"),
        ("2m", 120.0, "at 2:00"),
        ("1h", 3600.0, "at 1:00:00"),
        ("1.5m", 90.0, "at 1:30"),
        ("+30", 130.0, "at 2:10"),
        ("-30", 70.0, "at 1:10"),
        ("+2m", 220.0, "at 3:40"),
        ("-2m", 0.0, "at 0:00"),
        ("-0", 100.0, "at 1:40"),
        ("start", 0.0, "at 0:00"),
        ("START", 0.0, "at 0:00"),
        ("end", 4000.0, "at the end"),
        ("99:59:59", 4000.0, "at 1:06:40, the end"),
        ("999999999h", 4000.0, "at 1:06:40, the end"),
    ],
)
def test_times(wish: str, t: float, said: str) -> None:
    # Each case plays its tape to the end: one of more than an hour only where an hour is asked for.
    assert told(paused(load(4000 if t >= 3600.0 else 800), 100.0), wish) == (t, said)


@pytest.mark.parametrize(
    ("wish", "t", "said"),
    [
        ("ready", 50.0, "phase: ready at 0:50"),
        ("capture", 30.0, "phase: capture at 0:30"),
        ("Weights", 10.0, "phase: weights at 0:10"),
        ("warm-up", 45.0, "phase: warm-up at 0:45"),
        ("port", 45.0, "readiness: port at 0:45"),
        ("verdict", 50.0, "verdict: ready at 0:50"),
        ("phase", 10.0, "phase: weights at 0:10"),
        ("readiness", 45.0, "readiness: port at 0:45"),
        ("dead", 55.0, "verdict: dead at 0:55"),
        ("fault", 55.0, "fault: died at 0:55"),
    ],
)
def test_what_the_tape_comes_to(wish: str, t: float, said: str) -> None:
    assert told(paused(load(dies_at=55), 5.0), wish) == (t, said)


def test_a_kind_or_word_that_lies_behind_is_found_from_the_beginning() -> None:
    player = paused(load(dies_at=55), 58.0)
    assert told(player, "phase")[0] == 0.0
    assert told(player, "fault")[0] == 55.0
    assert told(player, "fault")[0] == 55.0


def test_asking_again_goes_to_the_next_of_the_kind() -> None:
    player = paused(load())
    assert [told(player, "phase")[0] for _ in range(4)] == [10.0, 30.0, 45.0, 50.0]


@pytest.mark.parametrize(
    "wish", ["nonsense", "12:75", "1:2:3:4", "12;30", "--3", "-", "s", "٣٠", "1e9", "\x1b"]
)
def test_nonsense_is_answered_with_what_there_is_and_moves_nothing(wish: str) -> None:
    player = paused(load(), 20.0)
    t, said = told(player, wish)
    assert t == 20.0
    assert said.endswith(HELP)
    assert "there is no" in said


@pytest.mark.parametrize("wish", ["", "   "])
def test_nothing_is_answered_with_what_there_is(wish: str) -> None:
    assert told(paused(load(), 20.0), wish) == (20.0, f"where to? {HELP}")


def test_a_tape_without_a_fault_says_so() -> None:
    assert told(paused(load(), 20.0), "fault") == (20.0, "the recording tells of no fault")


def test_what_is_not_read_yet_is_not_denied() -> None:
    player = paused(load(), looked=False)
    assert "as far as it is read" in go_to(player, "fault")
    assert "as far as it is read" in go_to(player, "ready")
    assert "as far as it is read" in jump(player, 1)


def test_the_end_can_be_asked_for_before_the_tape_was_looked_through() -> None:
    player = paused(load(), looked=False)
    assert told(player, "end") == (60.0, "at the end")


def test_jumps_go_from_change_to_change_and_back_again() -> None:
    player = paused(load())
    there: list[float] = []
    while not jump(player, 1).startswith("nothing"):
        player.work()
        there.append(player.t)
    assert there == [2.0, 10.0, 30.0, 45.0, 50.0]  # at 0:02 it is seen to move
    back: list[float] = []
    while player.t > 0.0:
        jump(player, -1)
        player.work()
        back.append(player.t)
    assert back == [45.0, 30.0, 10.0, 2.0, 0.0]
    assert jump(player, -1) == "nothing changed before this"


def test_a_jump_back_from_between_goes_to_the_change_before() -> None:
    player = paused(load(), 30.4)
    assert jump(player, -1) == "phase: capture at 0:30"


def test_a_jump_back_while_playing_gets_further_at_any_speed() -> None:
    now = [0.0]
    player = Player(tape(load()), clock=lambda: now[0], speed=10.0)
    player.work()
    for _ in range(3):
        jump(player, 1)
    player.work()
    assert player.t == 30.0
    now[0] += 0.5  # a person's finger: five seconds of the tape
    player.work()
    jump(player, -1)
    assert player.t == 10.0


def test_jumps_in_quick_succession_do_not_wait_for_the_state() -> None:
    player = paused(load())
    for _ in range(4):
        jump(player, 1)
    assert player.t == 45.0
    jump(player, -1)
    assert player.t == 30.0


def test_before_the_first_change_a_jump_back_goes_to_the_start() -> None:
    silent: list[AnyEvent] = [event for event in load() if not isinstance(event, Processes | Log | Probe)]
    player = paused(silent, 3.0)
    assert jump(player, -1) == "at the start"
    player.work()
    assert player.t == 0.0
    assert jump(player, -1) == "nothing changed before this"
