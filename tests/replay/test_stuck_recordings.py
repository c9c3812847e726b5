"""A recording whose load was stuck: what is listed of it, replayed from it, and exported."""

import json
import tarfile
from functools import cache
from pathlib import Path
from typing import cast

import pytest

from tui.commands import export
from tui.commands.demo import Settled, tape_of
from tui.commands.export import Wanted
from tui.commands.recordings import Row, outcome_text
from tui.demo.scenario import scenario
from tui.demo.tape import simulation
from tui.events import AnyEvent, Exit
from tui.journal.writer import open_journal
from tui.replay.headless import Run
from tui.replay.summary import summarise
from tui.settings import Choices


@cache
def events(name: str) -> tuple[AnyEvent, ...]:
    """Return the events of a scenario up to where it ends without a screen."""
    chosen = scenario(name)
    simulated = simulation(chosen)
    settled, run = Settled(simulated.told_s), Run(tape_of(chosen, simulated))
    found: list[AnyEvent] = []
    for step in run.steps():
        found.append(step.event)
        if settled(step, run.state):
            break
    return tuple(found)


def recorded(folder: Path, name: str, *more: AnyEvent) -> Path:
    """Write a scenario as a recording."""
    journal = open_journal(folder, "gpu01", "0.1.0")
    for event in (*events(name), *more):
        journal.append(event)
    journal.close()
    return journal.path


def killed() -> Exit:
    """Return how a person ends a load that hangs."""
    last = events("capture-hang")[-1]
    return Exit(
        mono_s=last.mono_s + 0.5,
        wall_s=last.wall_s + 0.5,
        client_s=last.client_s + 0.5,
        pid=4100,
        main=True,
        title="python3",
        how="gone",
        code=-9,
    )


def exported(recording: Path, out: Path, name: str) -> str:
    """Return a file of the bundle."""
    export.run(Wanted(str(recording), str(out), False, True), Choices())
    with tarfile.open(out) as tar:
        file = tar.extractfile(f"one/{name}")
        assert file is not None
        return file.read().decode()


@pytest.mark.parametrize(("name", "word"), [("capture-hang", "hung"), ("capture-suspended", "suspended")])
def test_the_list_names_how_it_was_stuck(tmp_path: Path, name: str, word: str) -> None:
    path = recorded(tmp_path, name)
    told = summarise(path)

    assert (told.outcome, told.fault, told.cause) == ("failed", word, None)
    assert told.reason.startswith(f"{word} in capture (17 of 36, bs=120 under way)")
    row = Row(name="x", path="x", size_bytes=1, modified_wall_s=0.0, being_written=False, summary=told)
    assert outcome_text(row) == f"failed: {word}"


def test_one_that_a_person_ended_is_listed_by_its_end(tmp_path: Path) -> None:
    told = summarise(recorded(tmp_path, "capture-hang", killed()))

    assert (told.outcome, told.fault) == ("failed", "died")


def test_the_page_has_the_verdict_with_figures_cause_rules_and_what_to_do(tmp_path: Path) -> None:
    page = exported(recorded(tmp_path / "rec", "capture-hang"), tmp_path / "one.tar.gz", "report.html")
    section = page.partition("<h2>Verdict</h2>")[2].partition("</section>")[0]

    assert '<h1 class="failed">Failed in capture: hung</h1>' in page
    assert "Verdict before the end" not in page
    assert "<strong>hung</strong> since 0:32 of the recording" in section
    assert "7 wait for TP5 (pid 4205), which does nothing" in section
    assert "has not entered (by a known pattern)" in section
    assert "py-spy dump --nonblocking --pid 4205" in section
    assert "do not kill it yet" in section
    assert section.count("<td>figure</td>") in (3, 4, 5)
    assert "<td>dead</td><td>no</td>" in section
    assert section.count("<td>holds</td>") >= 1


def test_the_page_of_a_load_that_was_ended_while_it_hung_keeps_why_it_hung(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "rec", "capture-hang", killed())
    page = exported(recording, tmp_path / "one.tar.gz", "report.html")
    before, _, last = page.partition("<h2>Verdict before the end</h2>")[2].partition("<h2>Verdict</h2>")

    assert "<strong>hung</strong>" in before
    assert "7 wait for TP5 (pid 4205)" in before
    assert "<strong>dead</strong>" in last


def test_the_page_of_a_healthy_load_says_that_it_is_ready(tmp_path: Path) -> None:
    page = exported(recorded(tmp_path / "rec", "ready"), tmp_path / "one.tar.gz", "report.html")

    assert '<p class="ready"><strong>ready</strong>' in page
    assert "Verdict before the end" not in page


def test_the_summary_of_a_bundle_has_the_evidence_on_its_own_clock(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "rec", "capture-suspended")
    end = json.loads(exported(recording, tmp_path / "one.tar.gz", "summary.json"))["end"]
    judgement = cast("dict[str, object]", end["judgement"])

    assert (end["outcome"], end["fault"], end["verdict"]) == ("failed", "suspended", "suspended")
    assert (judgement["rank"], judgement["pid"]) == ("TP5", 4205)
    assert judgement["next_step"] == "kill -CONT 4205"
    assert cast("float", judgement["since"]) == pytest.approx(32.0, abs=1.0)
