"""However a tape is played or its log is cut, it comes to the same end."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tapes import load, tape
from watched_host import WatchedHost

from tui import present
from tui.commands.snapshot import snapshot
from tui.events import AnyEvent, Log, Tick
from tui.journal.reader import RecordingFault
from tui.journal.writer import open_journal
from tui.replay import places
from tui.replay.headless import Played, play
from tui.replay.opening import open_tape
from tui.replay.player import Player
from tui.replay.tape import Tape
from tui.transport.clean import LineSplitter
from tui.watch.options import WatchOptions
from tui.watch.state import WatchState

RECORDINGS = Path(__file__).parents[3] / "shared" / "recordings"
BAR = "Capturing batches (bs=8):  {}%|##   | {}/8 [00:01<00:01,  1.27it/s]"


def restarted() -> list[AnyEvent]:
    """A load that runs out of memory; its successor becomes ready, is measured and loses its link."""
    host = WatchedHost(WatchOptions())
    host.hello()
    host.facts()
    host.driver("ok")
    host.loads_to_capture()
    host.gpus(1000.0, 2000.0)
    host.log("[2026-11-29 13:48:34 TP1] torch.OutOfMemoryError: CUDA out of memory.", "Killed")
    host.wait(1)
    host.exits(code=1)
    host.wait(9)
    host.starts(pid=200)
    host.log("server_args=ServerArgs(model_path='qwen')", "[2026-11-29 13:49:34 TP0] Load weight begin.")
    for done in range(1, 9):
        host.wait(1)
        host.gpus(1000.0 * done, 2000.0, utilisation=50.0)
        host.log(BAR.format(done * 100 // 8, done), returns=(0,))
    host.log("[2026-11-29 13:48:34 TP0] KV Cache is allocated. #tokens: 1000", "a line")
    host.wait(5)
    host.becomes_ready()
    host.bench_progress(3)
    host.wait(2)
    host.bench_result()
    host.link("lost", "the link was lost")
    host.wait(30)
    host.hello()
    host.notice("it is back", "warning")
    host.log('INFO:     10.0.0.7:39792 - "GET /health HTTP/1.1" 200 OK', "[2026 TP0] Decode batch. x")
    return ticking(host.events)


def ticking(events: list[AnyEvent]) -> list[AnyEvent]:
    """Put a tick after each second in which something happens, as a session does."""
    found: list[AnyEvent] = []
    for event in events:
        found.append(event)
        if event.mono_s:
            found.append(Tick(mono_s=event.mono_s, wall_s=event.wall_s, client_s=event.client_s))
    return found


EVENTS: dict[str, list[AnyEvent]] = {
    "ready": load(),
    "dead": load(dies_at=40),
    "never": load(ready_at=None),
    "restarted": restarted(),
}
TAPES = {name: tape(events) for name, events in EVENTS.items()}


def shown(state: WatchState, client_s: float) -> dict[str, object]:
    """Return everything that can be shown or printed of a state at a client's time."""
    return {
        "snapshot": snapshot(state, client_s),
        "values": present.present(state, client_s),
        "lines": present.log_lines(state, 0),
        "left in the terminal": present.exit_summary(state, client_s),
        "notices": list(state.notices),
        "phases": state.phases,
        "end": state.last_end,
        "bench": state.bench,
        "counted": (state.loads, state.alerts, state.dropped),
    }


class Hand:
    """A clock that goes on by itself as long as work takes."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.look_s = 0.0

    def __call__(self) -> float:
        self.now_s += self.look_s
        return self.now_s


TIMES = st.floats(-10.0, 250.0)
WISHES = st.sampled_from(["start", "end", "ready", "fault", "verdict", "+5", "-7", "capture", "0:31", "x"])
ACTIONS = st.one_of(
    st.tuples(st.just("wait"), st.floats(0.0, 40.0)),
    st.tuples(st.just("work"), st.integers(1, 5)),
    st.tuples(st.just("toggle"), st.none()),
    st.tuples(st.just("pause"), st.none()),
    st.tuples(st.just("speed"), st.floats(0.1, 100.0)),
    st.tuples(st.just("faster"), st.sampled_from([-1, 1])),
    st.tuples(st.just("step"), st.sampled_from([-1.0, 1.0])),
    st.tuples(st.just("seek"), TIMES),
    st.tuples(st.just("jump"), st.sampled_from([-1, 1])),
    st.tuples(st.just("go"), WISHES),
    st.tuples(st.just("look"), st.sampled_from([0.0, 0.004, 0.03])),
)
LENIENT = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)


def act(player: Player, hand: Hand, action: str, value: object) -> None:
    """Do one thing that a person or the time does."""
    match action, value:
        case "wait", float():
            hand.now_s += value
        case "work", int():
            for _ in range(value):
                player.work()
        case "toggle", _:
            player.toggle()
        case "pause", _:
            player.pause()
        case "speed", float():
            player.set_speed(value)
        case "faster", int():
            player.faster(value)
        case "step", float():
            player.pause()
            player.seek(player.t + value)
        case "seek", float():
            player.seek(value)
        case "jump", int():
            places.jump(player, value)
        case "go", str():
            places.go_to(player, value)
        case "look", float():
            hand.look_s = value
        case _:
            raise AssertionError(action)


def settle(player: Player) -> None:
    """Let it do what is due."""
    for _ in range(20_000):
        player.work()
        if player.caught_up and player.moments.complete:
            return
    raise AssertionError("it never catches up")


def play_on(player: Player, hand: Hand) -> None:
    """Play to the end, in leaps."""
    hand.look_s = 0.0
    for _ in range(20_000):
        settle(player)
        if player.ended:
            return
        if not player.playing:
            player.toggle()
        hand.now_s += 10.0
    raise AssertionError("it never ends")


@LENIENT
@given(st.sampled_from(sorted(TAPES)), st.floats(0.1, 100.0), st.lists(ACTIONS, max_size=25))
def test_any_way_of_playing_comes_to_the_end_of_headless_play(
    name: str, speed: float, actions: list[tuple[str, object]]
) -> None:
    hand = Hand()
    player = Player(TAPES[name], speed=speed, clock=hand)
    for action, value in actions:
        act(player, hand, action, value)
    play_on(player, hand)
    played = play(TAPES[name])
    now_s = player.client_now_s()
    assert player.t == played.length_s
    assert shown(player.state, now_s) == shown(played.state, now_s)
    assert tuple(player.moments.changes) == played.transitions


@LENIENT
@given(st.sampled_from(sorted(TAPES)), st.lists(ACTIONS, max_size=15), TIMES)
def test_where_the_needle_rests_the_state_is_that_of_playing_so_far(
    name: str, actions: list[tuple[str, object]], t: float
) -> None:
    hand = Hand()
    player = Player(TAPES[name], clock=hand)
    for action, value in actions:
        act(player, hand, action, value)
    player.pause()
    player.seek(t)
    hand.look_s = 0.0
    settle(player)
    so_far = [event for event in EVENTS[name] if event.client_s - EVENTS[name][0].client_s <= player.t]
    played = play(tape(so_far))
    now_s = player.client_now_s()
    assert shown(player.state, now_s) == shown(played.state, now_s)
    assert player.t == min(max(0.0, t), player.moments.length_s)


@pytest.mark.parametrize("name", sorted(TAPES))
def test_a_recording_on_disk_is_the_tape_that_was_recorded(name: str) -> None:
    with TemporaryDirectory() as folder:
        journal = open_journal(Path(folder), "gpu01", "0")
        for event in EVENTS[name]:
            journal.append(event)
        journal.close()
        read, made = play(open_tape(journal.path)), play(TAPES[name])
    now_s = EVENTS[name][-1].client_s
    assert shown(read.state, now_s) == shown(made.state, now_s)
    assert read.transitions == made.transitions


# The log in other pieces.


def cut(event: Log, places: list[int], splitter: LineSplitter) -> Iterator[Log]:
    """Give a log event's text in pieces that end anywhere, as a slow link or a busy log does."""
    ends = ["\r" if place in event.returns else "\n" for place in range(len(event.lines))]
    data = "".join(line + end for line, end in zip(event.lines, ends, strict=True)).encode()
    borders = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    for start, end in pairwise(borders):
        split = splitter.feed(data[start:end])
        yield msgspec.structs.replace(event, lines=split.lines, returns=split.returns, tail=split.tail)


def came_out(played: Played) -> list[tuple[float, str, str | None]]:
    """Return how its port answered and its loads came out, with the times."""
    return [
        (each.t, each.kind, each.after)
        for each in played.transitions
        if each.kind == "readiness" or each.after in ("ready", "dead")
    ]


@LENIENT
@given(st.sampled_from(sorted(TAPES)), st.lists(st.integers(0, 10_000), max_size=12))
def test_a_log_in_other_pieces_comes_to_the_same_end(name: str, places: list[int]) -> None:
    """All that can be shown is equal at the end. Changes on the way need not be.

    Two phases in one event are one change, and two in two pieces; an unfinished line may begin a phase before
    it is whole. A load is judged once a second, by the pieces that have come until then; how it comes out is
    told at once.
    """
    splitter = LineSplitter()
    pieces = [
        piece
        for event in EVENTS[name]
        for piece in (cut(event, places, splitter) if isinstance(event, Log) else (event,))
    ]
    whole, cut_up = play(TAPES[name]), play(tape(pieces))
    now_s = EVENTS[name][-1].client_s
    assert shown(cut_up.state, now_s) == shown(whole.state, now_s)
    assert cut_up.length_s == whole.length_s
    assert came_out(cut_up) == came_out(whole)
    assert cut_up.state.verdict == whole.state.verdict


# Real ones.


def real() -> list[Path]:
    """Return the recordings of real loads, where they are."""
    return sorted(RECORDINGS.glob("*/recording.jsonl.gz")) if RECORDINGS.is_dir() else []


@pytest.mark.parametrize("path", real(), ids=lambda path: path.parent.name)
def test_a_real_load_played_with_jumps_comes_to_the_same_end(path: Path) -> None:
    try:
        made: Tape = open_tape(path)
    except RecordingFault as fault:
        pytest.skip(str(fault))
    events = list(made.read())
    made = replace(made, read=lambda: iter(events))
    hand = Hand()
    player = Player(made, speed=100.0, clock=hand)
    for action, value in (
        ("wait", 0.5),
        ("work", 3),
        ("seek", 60.0),
        ("work", 5),
        ("jump", -1),
        ("go", "ready"),
    ):
        act(player, hand, action, value)
    play_on(player, hand)
    played = play(made)
    now_s = player.client_now_s()
    assert shown(player.state, now_s) == shown(played.state, now_s)
    assert tuple(player.moments.changes) == played.transitions
