"""What wait prints of a stream of events, with the state that it leads to."""

import msgspec

from tui.commands.records import (
    AnyRecord,
    CausePart,
    EndRecord,
    JudgementPart,
    PhaseRecord,
    ProbeRecord,
    ReadinessRecord,
    VerdictRecord,
    line,
)
from tui.commands.report import Reporter, Talker, end_words, words
from tui.events import AnyEvent, Link, Log, Notice, Outcome, Probe, Rung
from tui.watch.options import WatchOptions
from tui.watch.state import WatchState

URL = "http://127.0.0.1:8000"


def probe(at_s: float, rung: Rung, outcome: Outcome, status: int | None = None) -> Probe:
    return Probe(
        mono_s=at_s, wall_s=at_s, client_s=at_s, rung=rung, outcome=outcome, latency_ms=1.0, detail=outcome,
        url=URL, status=status,
    )  # fmt: skip


def told(events: list[AnyEvent]) -> list[AnyRecord]:
    """Return the records of a watch of a URL, each event at its own time."""
    state, reporter = WatchState(WatchOptions(url=URL)), Reporter()
    found: list[AnyRecord] = []
    for event in events:
        state.apply(event)
        found += reporter.records(event, state, event.client_s)
    return found


def test_a_repeated_answer_is_told_once_a_second_and_counted_always() -> None:
    events: list[AnyEvent] = [probe(number / 4, "port", "refused") for number in range(17)]

    probes = [each for each in told(events) if isinstance(each, ProbeRecord)]

    assert [each.t for each in probes] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert [each.attempts for each in probes] == [1, 5, 9, 13, 17]


def test_another_answer_is_told_at_once() -> None:
    events: list[AnyEvent] = [
        probe(0.0, "port", "refused"),
        probe(0.1, "port", "ok"),
        probe(0.2, "health", "status", 503),
        probe(0.3, "health", "status", 500),
    ]

    assert [each.status for each in told(events) if isinstance(each, ProbeRecord)] == [None, None, 503, 500]


def test_a_rung_is_told_when_it_changes_and_only_then() -> None:
    events: list[AnyEvent] = [probe(number / 10, "port", "refused") for number in range(5)]
    events.append(probe(1.0, "port", "ok"))

    rungs = [(each.rung, each.state) for each in told(events) if isinstance(each, ReadinessRecord)]

    assert [state for rung, state in rungs if rung == "port"] == ["waiting", "ok"]


def test_lines_of_a_log_that_change_no_phase_are_not_told() -> None:
    lines = Log(
        mono_s=1.0, wall_s=1.0, client_s=1.0, lines=["hello"], tail="", returns=[], path="/x", device=1,
        inode=1, offset=6,
    )  # fmt: skip

    assert [each for each in told([lines]) if isinstance(each, PhaseRecord) and each.phase] == []


def test_every_record_is_one_line_of_json_with_its_event_first() -> None:
    for record in told([probe(0.0, "port", "refused"), probe(0.5, "port", "ok")]):
        assert line(record).startswith('{"event":"')
        assert "\n" not in line(record)


def test_people_are_told_of_the_link_and_of_notices_but_not_of_a_failure_that_the_end_tells() -> None:
    state, talker = WatchState(WatchOptions(url=URL)), Talker()
    up = Link(mono_s=0, wall_s=0, state="up", sentence="connected")
    failed = Link(mono_s=0, wall_s=0, state="failed", sentence="no route")
    notice = Notice(mono_s=0, wall_s=0, level="info", about="x", sentence="a notice")

    said = [text for event in (up, failed, notice) for text in talker.lines(event, state, [])]

    assert [text for text in said if text in ("connected", "no route", "a notice")] == [
        "connected",
        "a notice",
    ]


def test_the_end_is_told_in_one_line() -> None:
    end = EndRecord(
        t=2.5, outcome="timeout", phase=None, verdict=None, fault=None, elapsed_s=2.5, attempts=9, model="m",
        reason="port refuses",
    )  # fmt: skip

    assert end_words(end) == "TIME-OUT after 2.5 s, 9 requests sent: port refuses"


def test_the_end_of_a_failed_load_says_its_cause_and_what_to_do() -> None:
    cause = CausePart(kind="oom_kv", line="ValueError: x", cause="No memory.", next_step="Give less.")
    end = EndRecord(
        t=2.5, outcome="failed", phase=None, verdict="dead", fault="died", elapsed_s=2.5, attempts=9,
        model="m", reason="it ended", cause=cause,
    )  # fmt: skip

    assert end_words(end) == "FAILED after 2.5 s, 9 requests sent: it ended (No memory. Give less.)"
    assert '"cause":{"kind":"oom_kv"' in line(end)
    assert "cause" not in line(msgspec.structs.replace(end, cause=None))


def test_what_to_do_next_names_the_host_where_there_are_several() -> None:
    part = JudgementPart(verdict="suspended", reason="suspended: TP1 (pid 7)", next_step="kill -CONT 7")
    end = EndRecord(
        t=2.5, outcome="failed", phase=None, verdict="suspended", fault="suspended", elapsed_s=2.5,
        attempts=9, model="m", reason="it stands", judgement=part,
    )  # fmt: skip

    assert words(end, "gpu-b").endswith("it stands (next: on gpu-b: kill -CONT 7)")
    assert words(end).endswith("it stands (next: kill -CONT 7)")
    told = VerdictRecord(t=1.0, **msgspec.structs.asdict(part))
    assert words(told, "gpu-b") == "suspended: TP1 (pid 7); next: on gpu-b: kill -CONT 7"


def test_words_are_those_of_the_screen_and_what_is_not_known_is_no_news() -> None:
    token = ReadinessRecord(t=1.0, rung="token", state="ok", answer="one token generated", ready=True)
    assert words(token) == "first token: one token generated"
    assert words(ReadinessRecord(t=1.0, rung="port", state="unknown", answer="", ready=False)) == ""
    assert words(PhaseRecord(t=1.0, phase="start_api", pid=1, model=None)) == "phase API start"
