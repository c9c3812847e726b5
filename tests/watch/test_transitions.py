"""What an event changes of phase, readiness, verdict and fault."""

import pytest
from watched_host import SGLANG, Watch, WatchedHost, process

from tui.events import Process
from tui.watch.options import WatchOptions
from tui.watch.state import WatchState
from tui.watch.transitions import Kind, Transition, Transitions, readiness

BEGIN = "[2026-11-29 13:48:34 TP0] Load weight begin. avail mem=9 GB"
CAPTURE = "[2026-11-29 13:48:34 TP0] Capture cuda graph begin. This can take up to several minutes."
OOM = "[2026-11-29 13:48:34 TP1] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
SHUT_DOWN = "SIGTERM received. signum=None frame=None. Draining requests and shutting down..."
READY_LINE = "[2026-11-29 13:48:34] The server is fired up and ready to roll!"


def changes(host: WatchedHost, *kinds: Kind) -> list[Transition]:
    """Play a host's events through a state of its own; return the changes (of these kinds)."""
    state, book = WatchState(host.state.options), Transitions()
    found: list[Transition] = []
    for event in host.events:
        state.apply(event)
        found += book.take(state, event.client_s)
        assert not list(book.take(state, event.client_s)), "the same state again has changed nothing"
    return [each for each in found if not kinds or each.kind in kinds]


def words(host: WatchedHost, kind: Kind) -> list[str | None]:
    """Return what the changes of one kind came to."""
    found = changes(host, kind)
    assert [each.before for each in found[1:]] == [each.after for each in found[:-1]] or kind == "fault"
    return [each.after for each in found]


def ranks(started_s: float, *, without: int | None = None) -> list[Process]:
    """Return a server of two ranks."""
    return [
        process(100, SGLANG, matched="sglang", started_s=started_s),
        *(
            process(
                101 + rank, "sglang::scheduler", matched=None, ppid=100, title=f"sglang::scheduler_TP{rank}"
            )
            for rank in range(2)
            if rank != without
        ),
    ]


# The way up.


def test_a_load_climbs_from_its_process_to_ready(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.starts()
    host.refuses()
    host.wait(38)
    host.log("noise", BEGIN, "more noise")
    host.wait(20)
    host.log(CAPTURE)
    for _ in range(20):
        host.wait(2)
        host.gpus(1.0, 1.0)
    host.becomes_ready()
    assert words(host, "readiness") == ["process", "port", "health", "model", "ready"]
    assert words(host, "phase") == ["launch", "weights", "capture", "start_api", "ready"]
    assert words(host, "verdict") == ["progressing", "quiet", "ready"]
    assert words(host, "fault") == []


def test_each_change_has_its_time_and_why(watched: Watch) -> None:
    host = watched()
    host.starts()
    host.wait(38)
    host.log("noise", BEGIN, "more noise")
    host.wait(60)
    host.becomes_ready()
    told = {(each.kind, each.after): (each.t, each.reason) for each in changes(host)}
    assert told["phase", "launch"] == (0.0, "pid 100")
    assert told["phase", "weights"] == (38.0, BEGIN)
    assert told["phase", "start_api"] == (98.0, "lists qwen")
    assert told["readiness", "process"] == (0.0, "pid 100")
    assert told["readiness", "model"] == (98.0, "lists qwen")
    assert (
        told["phase", "ready"] == told["readiness", "ready"] == told["verdict", "ready"] == (98.0, "1 token")
    )


def test_changes_of_one_event_come_as_phase_readiness_verdict_fault(watched: Watch) -> None:
    host = watched(ready_on="health")
    host.starts()
    host.becomes_ready()
    at_once = [each.kind for each in changes(host) if each.after == "ready"]
    assert at_once == ["phase", "readiness", "verdict"]
    host.exits(code=1)
    assert [each.kind for each in changes(host)][-3:] == ["readiness", "verdict", "fault"]


@pytest.mark.parametrize(("ready_on", "answer"), [("model", "lists qwen"), ("health", "200 OK")])
def test_ready_is_told_by_the_answer_that_counts(watched: Watch, ready_on: str, answer: str) -> None:
    host = watched(ready_on=ready_on)
    host.starts()
    host.becomes_ready()
    assert changes(host, "readiness")[-1] == Transition(
        0.0, "readiness", "health" if ready_on == "model" else "port", "ready", answer
    )


def test_a_listed_model_counts_for_little_while_health_says_no(watched: Watch) -> None:
    """llama.cpp lists its model from the beginning of the load on."""
    host = watched()
    host.starts(argv="llama-server -m /m/q.gguf", matched="llamacpp")
    host.probe("port")
    host.probe("health", "status", "503", status=503)
    host.probe("models", models=["qwen"])
    assert words(host, "readiness") == ["process", "port"]


def test_a_rung_that_was_not_asked_holds_up_none_above_it(watched: Watch) -> None:
    host = watched(url="http://127.0.0.1:8000")
    host.hello(protocol=0)
    host.probe("port")
    host.probe("models", models=["qwen"])
    assert readiness(host.state)[0] == "model"


def test_a_port_that_closes_again_takes_back_what_stood_on_it(watched: Watch) -> None:
    host = watched()
    host.starts()
    host.probe("port")
    host.probe("health")
    host.refuses()
    assert words(host, "readiness") == ["process", "port", "health", "process"]


# What a person has to mend.


@pytest.mark.parametrize(
    ("rung", "outcome", "detail"),
    [
        ("models", "key_needed", "401 Unauthorized"),
        ("health", "key_needed", "401 Unauthorized"),
        ("port", "not_http", "no HTTP"),
        ("health", "tls", "certificate"),
    ],
)
def test_what_a_person_has_to_mend_is_told_at_once(
    watched: Watch, rung: str, outcome: str, detail: str
) -> None:
    host = watched()
    host.starts()
    if rung != "port":
        host.probe("port")
    host.probe(rung, outcome, detail)  # pyright: ignore[reportArgumentType] -- any rung and outcome
    last = changes(host, "readiness")[-1]
    assert (last.after, last.reason) == (outcome, detail)
    assert [each.after for each in changes(host, "fault")] == [outcome]


def test_another_model_is_told_with_both_names_and_can_be_mended(watched: Watch) -> None:
    host = watched()
    host.starts()
    host.probe("port")
    host.probe("health")
    host.probe("models", models=["llama"])
    assert readiness(host.state) == ("wrong_model", 'serves "llama", expected "qwen"')
    host.probe("models", models=["llama"])
    host.becomes_ready()
    assert words(host, "readiness")[-2:] == ["model", "ready"]
    assert words(host, "fault") == ["wrong_model"]


def test_a_lower_rung_to_be_mended_is_seen_under_one_that_holds(watched: Watch) -> None:
    host = watched()
    host.starts()
    host.probe("port", "not_http", "SSH-2.0")
    assert readiness(host.state) == ("not_http", "SSH-2.0")


# Ends.


def test_an_end_is_told_with_its_reason_and_leaves_nothing_ready(watched: Watch) -> None:
    host = watched()
    host.loads_to_capture()
    host.exits(code=1)
    reason = "the server (pid 100) ended in capture, 2:05 after its start (exit code 1)"
    assert changes(host)[-3:] == [
        Transition(125.0, "readiness", "process", None, reason),
        Transition(125.0, "verdict", "progressing", "dead", reason),
        Transition(125.0, "fault", None, "died", reason),
    ]
    assert words(host, "phase")[-1] == "capture"


def test_a_shutdown_is_an_end_and_no_fault(watched: Watch) -> None:
    host = watched()
    host.starts()
    host.becomes_ready()
    host.log(SHUT_DOWN)
    host.exits(code=0)
    assert words(host, "verdict") == ["ready", "dead"]
    assert words(host, "fault") == []


def test_a_failure_in_the_log_counts_once_with_its_kind_line_and_rank(watched: Watch) -> None:
    host = watched()
    host.processes(*ranks(host.mono))
    host.log("server_args=ServerArgs(model_path='qwen')", BEGIN, CAPTURE)
    host.wait(5)
    host.log(OOM)
    host.log(OOM)
    host.exits(code=1)
    assert changes(host, "fault") == [Transition(5.0, "fault", None, "oom_capture", OOM, "TP1", 102)]
    dead = changes(host, "verdict")[-1]
    assert (dead.after, dead.rank, dead.pid) == ("dead", "TP1", 102)


def test_a_rank_that_goes_before_its_server_is_the_culprit(watched: Watch) -> None:
    host = watched()
    host.processes(*ranks(host.mono))
    host.wait(5)
    host.exits(102, main=False)
    host.processes(*ranks(1000.0, without=1))
    host.wait(2)
    host.exits(100, code=1)
    dead, fault = changes(host, "verdict", "fault")[-2:]
    assert words(host, "verdict")[-1] == "dead"
    assert (dead.rank, dead.pid) == (fault.rank, fault.pid) == ("TP1", 102)


def test_the_ranks_that_a_shutdown_ends_are_no_culprits(watched: Watch) -> None:
    host = watched()
    host.processes(*ranks(host.mono))
    host.becomes_ready()
    host.log(SHUT_DOWN)
    host.exits(102, main=False)
    host.exits(100, code=0)
    (dead,) = [each for each in changes(host, "verdict") if each.after == "dead"]
    assert (dead.rank, dead.pid) == (None, None)


def test_a_cause_that_the_log_tells_after_the_end_is_told_as_well(watched: Watch) -> None:
    host = watched()
    host.starts()
    host.log(BEGIN, CAPTURE)
    host.exits(code=1)
    host.log(OOM)
    assert words(host, "fault") == ["died", "oom_capture"]


def test_a_url_that_refuses_again_has_failed(watched: Watch) -> None:
    host = watched(url="http://127.0.0.1:8000")
    host.hello(protocol=0)
    host.becomes_ready("qwen")
    for _ in range(12):
        host.wait(1)
        host.refuses()
    assert words(host, "readiness") == ["port", "health", "model", "ready", None]
    assert words(host, "verdict") == ["ready", "dead"]
    assert words(host, "fault") == ["refused"]
    assert changes(host, "readiness")[-1].reason.startswith("the server refused connections")


def test_a_process_that_was_missed_in_one_list_takes_its_end_back(watched: Watch) -> None:
    host = watched()
    found = host.starts()
    host.processes()
    host.processes(found)
    assert words(host, "verdict") == ["dead", None]
    assert words(host, "readiness") == ["process", None, "process"]


# The link.


def test_a_lost_link_changes_nothing_by_itself(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.starts()
    host.probe("port")
    before = changes(host)
    host.link("lost", "the link was lost")
    host.wait(60)
    host.link("connecting", "trying again")
    assert changes(host) == before


def test_what_happened_during_a_lost_link_is_told_when_it_is_heard(watched: Watch) -> None:
    host = watched()
    host.hello()
    found = host.starts()
    host.refuses()
    host.link("lost", "the link was lost")
    host.wait(60)
    host.hello()
    host.processes(found)
    host.becomes_ready()
    assert changes(host, "readiness")[-1].t == 60.0
    assert words(host, "readiness")[-1] == "ready"


# Several loads.


def test_a_second_load_begins_anew(watched: Watch) -> None:
    host = watched()
    host.starts()
    host.log(BEGIN)
    host.exits(code=1)
    host.wait(10)
    host.starts(pid=200)
    host.log(BEGIN)
    host.becomes_ready()
    assert words(host, "phase") == ["launch", "weights", "launch", "weights", "start_api", "ready"]
    assert words(host, "verdict") == ["dead", None, "ready"]
    assert words(host, "readiness") == ["process", None, "process", "port", "health", "model", "ready"]
    assert words(host, "fault") == ["died"]


def test_a_second_load_in_the_same_phase_is_a_change_too(watched: Watch) -> None:
    host = watched()
    host.starts()
    host.exits(code=1)
    host.wait(10)
    host.starts(pid=200)
    assert [(each.t, each.before, each.after) for each in changes(host, "phase")] == [
        (0.0, None, "launch"),
        (10.0, "launch", "launch"),
    ]


def test_each_load_may_fail(watched: Watch) -> None:
    host = watched()
    for pid in (100, 200, 300):
        host.starts(pid=pid)
        host.exits(pid, code=1)
        host.wait(10)
    assert words(host, "fault") == ["died"] * 3


def test_a_restart_between_two_looks_tells_the_end_first(watched: Watch) -> None:
    host = watched()
    host.starts()
    host.becomes_ready()
    host.wait(30)
    host.starts(pid=200)
    told = [(each.kind, each.before, each.after) for each in changes(host) if each.t == 30.0]
    assert told == [
        ("readiness", "ready", None),
        ("verdict", "ready", "dead"),
        ("fault", None, "died"),
        ("phase", "ready", "launch"),
        ("readiness", None, "process"),
        ("verdict", "dead", None),
    ]


def test_a_restart_of_the_host_is_the_end_of_what_ran_there(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.starts()
    host.becomes_ready()
    host.wait(100)
    host.hello(boot_id="b2")
    assert words(host, "verdict") == ["ready", "dead", None]
    assert words(host, "readiness")[-2:] == ["ready", None]
    assert words(host, "phase")[-1] is None
    assert words(host, "fault") == ["died"]


# In words.


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (Transition(0.0, "phase", None, "kv_cache"), "KV cache"),
        (Transition(0.0, "phase", "warmup", None), "warm-up no more"),
        (Transition(0.0, "readiness", None, "wrong_model"), "wrong model"),
        (Transition(0.0, "verdict", "ready", None), "ready no more"),
        (Transition(0.0, "fault", None, "oom_capture"), "oom capture"),
        (Transition(0.0, "verdict", None, None), "verdict no more"),
    ],
)
def test_a_change_is_said_in_words(change: Transition, shown: str) -> None:
    assert change.words == shown


def test_nothing_is_known_before_the_first_event() -> None:
    state = WatchState(WatchOptions())
    assert list(Transitions().take(state, 0.0)) == []
    assert readiness(state) == (None, "")
