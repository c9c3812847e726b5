"""What holds for any events in any order."""

from typing import get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from watched_host import WatchedHost, process

from tui import present
from tui.events import AnyEvent, Outcome, decode, encode
from tui.events import Rung as RungAsked
from tui.watch.options import WatchOptions
from tui.watch.state import WatchState

LINES = st.sampled_from(
    [
        "server_args=ServerArgs(model_path='q')",
        "[2026-11-29 13:48:34 TP0] Load weight begin.",
        "Loading safetensors checkpoint shards:  50% Completed | 2/4 [00:10<00:12,  2.1s/it]",
        "Capturing batches (bs=256):   0%|   | 0/36 [00:00<?, ?it/s]",
        "The server is fired up and ready to roll!",
        "torch.OutOfMemoryError: CUDA out of memory.",
        "SIGTERM received.",
        'INFO:     127.0.0.1:39792 - "GET /health HTTP/1.1" 200 OK',
        "",
    ]
) | st.text(max_size=20)
OUTCOMES: st.SearchStrategy[Outcome] = st.sampled_from(get_args(Outcome))
RUNGS: st.SearchStrategy[RungAsked] = st.sampled_from(get_args(RungAsked))
NAMES = st.sampled_from(["qwen", "llama", ""])
ENGINES = st.sampled_from(["sglang", "vllm", "llamacpp", "other", None])


@st.composite
def histories(draw: st.DrawFn) -> list[AnyEvent]:
    """Draw a host's history: any events, in any order, at times that may repeat."""
    host = WatchedHost(WatchOptions())
    for _ in range(draw(st.integers(0, 25))):
        host.wait(draw(st.sampled_from([0.0, 0.25, 5.0, 100.0])))
        match draw(st.integers(0, 11)):
            case 0:
                host.hello()
            case 1:
                host.link(draw(st.sampled_from(["connecting", "up", "lost", "failed", "closed"])), "so")
            case 2:
                host.gpus(*draw(st.lists(st.none() | st.floats(0, 1e6), max_size=3)), power=None)
            case 3 | 4:
                pids = draw(st.lists(st.integers(1, 4), max_size=3, unique=True))
                parents = draw(st.lists(st.integers(0, 4), min_size=3, max_size=3))
                host.processes(
                    *(
                        process(pid, "vllm serve q", matched=draw(ENGINES), ppid=ppid, started_s=float(pid))
                        for pid, ppid in zip(pids, parents, strict=False)
                    ),
                    hidden=draw(st.integers(0, 2)),
                )
            case 5:
                host.exits(draw(st.integers(1, 4)), main=draw(st.booleans()))
            case 6 | 7:
                lines = draw(st.lists(LINES, max_size=4))
                returns = tuple(range(draw(st.integers(0, len(lines)))))
                host.log(*lines, tail=draw(LINES), returns=returns, behind_bytes=draw(st.integers(0, 1)))
            case 8:
                host.log_source(draw(st.sampled_from(["open", "missing", "none"])), "so")
            case 9 | 10:
                models = draw(st.none() | st.lists(NAMES, max_size=2))
                host.probe(draw(RUNGS), draw(OUTCOMES), models=models, model=draw(st.none() | NAMES))
            case _:
                host.driver(draw(st.sampled_from(["ok", "absent", "failed", "silent"])), "so", silent_s=7.0)
    return host.events


OPTIONS = st.builds(
    WatchOptions,
    port=st.none() | st.sampled_from([8000, 30000]),
    url=st.none() | st.just("http://127.0.0.1:8000"),
    pid=st.none() | st.integers(1, 3),
    ready_on=st.sampled_from(["token", "model", "health"]),
    bench_on_ready=st.booleans(),
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(histories(), OPTIONS)
def test_no_order_of_events_raises_and_everything_can_be_shown(
    events: list[AnyEvent], options: WatchOptions
) -> None:
    state = WatchState(options)
    for event in events:
        state.apply(event)
        values = present.present(state, event.client_s)
        assert values == present.present(state, event.client_s)
        assert len(present.exit_summary(state, event.client_s)) in range(1, 7)
        assert present.title(state)
        assert not (state.ready and state.outcome == "failed")
        assert (state.outcome == "failed") <= bool(state.reason)
    numbers = [line.number for line in present.log_lines(state, 0)]
    assert numbers == list(range(1, len(numbers) + 1))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=30)
@given(histories())
def test_events_written_and_read_again_make_the_same_state(events: list[AnyEvent]) -> None:
    live, replayed = WatchState(WatchOptions()), WatchState(WatchOptions())
    for event in events:
        live.apply(event)
    for event in [decode(encode(event)) for event in events]:
        replayed.apply(event)
    now = events[-1].client_s + 3.0 if events else 3.0
    assert present.present(live, now) == present.present(replayed, now)
    assert present.log_lines(live, 0) == present.log_lines(replayed, 0)
    assert present.exit_summary(live, now) == present.exit_summary(replayed, now)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=50)
@given(st.lists(LINES.filter(lambda line: line != ""), max_size=20), st.data())
def test_lines_that_come_in_other_pieces_make_the_same_log(lines: list[str], data: st.DataObject) -> None:
    whole, pieces = WatchedHost(WatchOptions()), WatchedHost(WatchOptions())
    whole.starts()
    pieces.starts()
    whole.log(*lines)
    rest = list(lines)
    while rest:
        count = data.draw(st.integers(1, len(rest)))
        pieces.log(*rest[:count])
        rest = rest[count:]
    assert list(whole.state.log.lines) == list(pieces.state.log.lines)
    assert whole.state.phase == pieces.state.phase
    assert whole.state.log_tail == pieces.state.log_tail
