"""Bare logs of real loads: the tape comes to what ``explain`` says, whatever is in the file."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest
from bare_logs import loaded, played, told
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tui.explain.report import Report, explain
from tui.journal.reader import RecordingFault
from tui.watch.state import WatchState

SHARED = Path(__file__).parents[3] / "shared"
KEPT = Path(__file__).parents[1] / "fixtures" / "logs"
RIGHT = 0.98


class Answer(NamedTuple):
    """What both are asked."""

    outcome: str
    phase: str | None
    cause: str | None
    quote: str | None
    starts: int
    phases: list[tuple[str, float | None, float | None]]


def of_report(report: Report) -> Answer:
    fault = report.fault
    spans = [(each.name, each.began, each.ended) for each in report.phases]
    kind, line = (None, None) if fault is None else (fault.kind, fault.line)
    return Answer(report.outcome, report.phase, kind, line, report.earlier_count + 1, spans)


def of_state(state: WatchState) -> Answer:
    zero_s = state.began_s or 0.0

    def since(at_s: float | None) -> float | None:
        return None if at_s is None else round(at_s - zero_s, 3)

    end = state.last_end if state.outcome == "failed" else None
    quote = end.cause.quote.text if end is not None and end.cause is not None else None
    spans = [(span.phase.value, since(span.began_s), since(span.ended_s)) for span in state.phases]
    return Answer(*told(state), quote, state.loads, spans)


def real_logs() -> list[Path]:
    logs = [*SHARED.glob("corpus/*/*.log"), *SHARED.glob("recordings/*/server.log")]
    return sorted(logs)


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.log")), ids=lambda path: path.stem)
def test_a_kept_log_is_told_as_explain_tells_it(path: Path) -> None:
    assert of_state(played(path).state) == of_report(explain([str(path)]))


@pytest.mark.parametrize("path", real_logs(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_real_log_is_told_as_explain_tells_it(path: Path) -> None:
    assert of_state(played(path).state) == of_report(explain([str(path)]))


def test_outcome_and_phase_are_those_of_a_careful_reader() -> None:
    expected = SHARED / "corpus" / "expect.json"
    if not expected.exists():
        pytest.skip("needs the corpus of start-up logs beside the checkout")
    misses: list[str] = []
    answers = json.loads(expected.read_text())
    for name, right in answers.items():
        found = told(played(SHARED / "corpus" / name).state)
        if found.outcome not in right["outcome"] or found.phase not in right["phase"]:
            misses.append(f"{name}: {found}, expected {right}")
    assert len(misses) <= (1 - RIGHT) * len(answers), "\n".join(misses)


LINES = st.lists(
    st.one_of(
        st.binary(max_size=80),
        st.sampled_from([line.encode() for line in loaded().splitlines()]),
        st.sampled_from(
            [b"\0" * 50, b"\r\r\r", b"\xff\xfe", b"\x1b]0;", b"[9999-12-31 23:59:59] x", b"{" * 60]
        ),
    ),
    max_size=30,
)


@given(LINES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_in_the_file_it_is_played_or_refused_in_a_sentence(
    tmp_path: Path, lines: list[bytes]
) -> None:
    path = tmp_path / "hostile.log"
    path.write_bytes(b"\n".join(lines))
    try:
        result = played(path)
    except RecordingFault as fault:
        sentence = str(fault)
        result = None
    else:
        sentence = ""
    assert "\n" not in sentence
    if result is not None and result.state.loads:
        report = explain([str(path)])
        assert told(result.state)[:2] == (report.outcome, report.phase)


def test_a_line_of_ten_megabytes_is_played(tmp_path: Path) -> None:
    path = tmp_path / "long.log"
    path.write_text(loaded(4) + "x" * (10 << 20) + "\n" + loaded()[len(loaded(4)) :])

    assert told(played(path).state).outcome == "ready"
