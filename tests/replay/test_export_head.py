"""The head of a report: how it came out in words, when in UTC, and with which options."""

import re
import tarfile
from pathlib import Path

import pytest
from awkward_recordings import End, Load, at, events, probe
from msgspec.structs import replace

from tui.commands import export
from tui.commands.export import Wanted
from tui.events import AnyEvent
from tui.journal.bundle import PackedJournal
from tui.journal.h200 import HOST as HOST_UNKNOWN
from tui.journal.header import Asked, Header
from tui.replay.evidence_head import utc_text
from tui.settings import Choices

HEADER = Header(
    tminus="0.1.0",
    events=2,
    host="gpu1",
    began_wall_s=1_700_000_000.0,
    asked=Asked(port=30_000, ready_on="model", bench_on_ready=True),
)
H1 = {
    "ready": "Ready",
    "died": "Failed in capture: the server ended",
    "oom": "Failed in capture: out of GPU memory",
    "wrong_model": "Failed in capture: wrong model",
    "timeout": "Not ready at the end of the recording, in capture",
}


def exported(
    folder: Path,
    load: Load,
    header: Header = HEADER,
    *more: AnyEvent,
    mask: bool = True,
    anonymise: bool = False,
) -> dict[str, str]:
    """Export a load under a header; return the texts of the bundle by name."""
    journal = PackedJournal(header)
    first = [event for event in events(load) if event.client_s <= at(1.0)["client_s"]]
    for event in (*first, *more, *list(events(load))[len(first) :]):
        journal.append(event)
    file, _ = journal.finish()
    (folder / "recorded.jsonl.gz").write_bytes(file.read())
    journal.close()
    out = folder / "one.tar.gz"
    export.run(Wanted(str(folder / "recorded.jsonl.gz"), str(out), anonymise, mask), Choices())
    with tarfile.open(out) as tar:
        files = [(entry.name, tar.extractfile(entry)) for entry in tar if not entry.name.endswith(".gz")]
        return {name.partition("/")[2]: file.read().decode() for name, file in files if file is not None}


def element(page: str, tag: str) -> str:
    found = re.search(rf"<{tag}\b[^>]*>(.*?)</{tag}>", page, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("end", H1)
def test_the_heading_is_the_outcome_in_a_few_words(tmp_path: Path, end: End) -> None:
    page = exported(tmp_path, Load(end=end, model="/m/Q7"))["report.html"]
    assert element(page, "h1") == H1[end]
    assert element(page, "title").startswith(H1[end] + " (SGLang")


def test_where_it_was_seen_to_become_ready_the_heading_says_after_how_long(tmp_path: Path) -> None:
    refused = replace(probe(1.5, "port", Load()), outcome="refused", detail="connection refused", status=None)
    page = exported(tmp_path, Load(), HEADER, refused)["report.html"]
    assert re.fullmatch(r"Ready after 0:1\d", element(page, "h1"))


def test_the_reason_stands_below_without_the_line_that_the_root_cause_quotes(tmp_path: Path) -> None:
    head = element(exported(tmp_path, Load(end="oom"))["report.html"], "header")
    assert "<p>The server (pid 100) ended in capture" in head
    assert "OutOfMemoryError" not in head


def test_the_date_is_in_utc_in_page_and_text(tmp_path: Path) -> None:
    files = exported(tmp_path, Load())
    assert "Recorded 2023-11-14 22:13:20 UTC, 0:" in element(files["report.html"], "header")
    assert "2023-11-14 22:13:20 UTC" in files["versions.txt"]


@pytest.mark.parametrize("wall_s", [0.0, -1.0, 12.5, 1e300, 9e8])
def test_a_clock_that_was_never_set_gives_no_date(wall_s: float) -> None:
    assert utc_text(wall_s) is None


def test_without_a_date_the_page_says_so(tmp_path: Path) -> None:
    page = exported(tmp_path, Load(), replace(HEADER, began_wall_s=0.0))["report.html"]
    assert "Recorded at a time that is not known" in page
    assert "1970" not in page


def test_the_options_are_told_given_or_not(tmp_path: Path) -> None:
    files = exported(tmp_path, Load())
    told = dict(re.findall(r"^(\S+)\s{2,}(.+)$", files["versions.txt"], re.MULTILINE))
    assert told | {"port": "30000", "model": "not given", "ready-on": "model", "url": "not given"} == told
    assert told["bench-on-ready"] == "yes"
    assert "<td>port</td><td>30000</td>" in files["report.html"]


@pytest.mark.parametrize("mask", [True, False])
@pytest.mark.parametrize("anonymise", [True, False])
def test_it_says_what_was_hidden_on_export(tmp_path: Path, mask: bool, anonymise: bool) -> None:
    text = exported(tmp_path, Load(), mask=mask, anonymise=anonymise)["versions.txt"]
    assert ("NOT MASKED" in text) is not mask
    assert ("replaced (--anonymise)" in text) is anonymise


def test_a_host_that_is_not_known_is_not_named(tmp_path: Path) -> None:
    files = exported(tmp_path, Load(model="/m/Q7"), replace(HEADER, host=HOST_UNKNOWN))
    assert HOST_UNKNOWN not in element(files["report.html"], "title")
    assert re.search(r"^host\s+not known$", files["versions.txt"], re.MULTILINE)


def test_every_text_that_is_cut_ends_in_an_ellipsis(tmp_path: Path) -> None:
    error = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. " + "word " * 100
    page = exported(tmp_path, Load(end="timeout", lines=(error,)))["report.html"]
    quotes = re.findall(r"torch\.OutOfMemoryError[^<]*", page)
    assert len(quotes) > 1
    assert all(quote.rstrip().endswith(("…", error.strip())) for quote in quotes)


def test_the_word_fault_is_explained_where_changes_are_listed(tmp_path: Path) -> None:
    page = exported(tmp_path, Load(end="oom"))["report.html"]
    changes = page.partition("<h2>What changed</h2>")[2].partition("</section>")[0]
    assert "fault, the sort of failure" in changes
    assert "<td>fault</td>" in changes
