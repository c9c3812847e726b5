"""A benchmark in the recording is in the page and in a file of its own; what is not known is "-"."""

import tarfile
from pathlib import Path

import msgspec
from awkward_recordings import Load, at, events

from tui.benchmark import BenchResult, BenchSpec, Percentiles
from tui.commands import export
from tui.commands.export import Wanted
from tui.journal.header import Asked
from tui.journal.writer import open_journal
from tui.settings import Choices

NOT_MEASURED = Percentiles(mean=None, p50=None, p90=None, p99=None, samples=0)


def times(p50: float) -> Percentiles:
    return Percentiles(mean=p50 + 1, p50=p50, p90=p50 + 2, p99=None, samples=60)


DONE = BenchResult(
    **at(40.0),
    run="a",
    outcome="done",
    sentence="",
    spec=BenchSpec(
        url="http://127.0.0.1:30000",
        model="q",
        concurrency=8,
        requests=64,
        input_tokens=256,
        output_tokens=128,
    ),
    model="q",
    completed=60,
    failed=4,
    failures={"timeout": 3, "reset": 1},
    ttft_ms=times(57.0),
    itl_ms=times(11.0),
    tpot_ms=times(12.5),
    e2e_ms=times(1657.0),
    output_tokens=7680,
    input_tokens=15_360,
    tokens_counted_by="usage",
    duration_s=9.74,
    output_tokens_per_s=841.3,
    requests_per_s=6.57,
    achieved_concurrency=7.8,
    client_cpu_fraction=0.1,
    measured_on="server_host",
)
BROKEN = msgspec.structs.replace(
    DONE,
    run="b",
    outcome="failed",
    sentence="the server <closed> the connection",
    completed=0,
    failed=0,
    failures={},
    ttft_ms=NOT_MEASURED,
    itl_ms=NOT_MEASURED,
    tpot_ms=NOT_MEASURED,
    e2e_ms=NOT_MEASURED,
    output_tokens=None,
    input_tokens=None,
    tokens_counted_by=None,
    duration_s=None,
    output_tokens_per_s=None,
    requests_per_s=None,
    achieved_concurrency=None,
    client_cpu_fraction=None,
)


def exported(folder: Path, *runs: BenchResult) -> dict[str, str]:
    """Export a ready load with these runs behind it; return the texts of the bundle by name."""
    journal = open_journal(folder / "rec", "gpu1", "0.1.0", Asked())
    for event in (*events(Load()), *runs):
        journal.append(event)
    journal.close()
    export.run(Wanted(str(journal.path), str(folder / "one.tar.gz"), False, True), Choices())
    with tarfile.open(folder / "one.tar.gz") as tar:
        files = [(entry.name, tar.extractfile(entry)) for entry in tar if not entry.name.endswith(".gz")]
        return {name.partition("/")[2]: file.read().decode() for name, file in files if file is not None}


def rows(text: str, name: str) -> list[list[str]]:
    return [line.split()[1:] for line in text.splitlines() if line.split()[:1] == [name]]


def test_the_text_tells_what_was_asked_and_what_came_of_it(tmp_path: Path) -> None:
    text = exported(tmp_path, DONE)["benchmark.txt"]
    assert "64 requests, 8 at a time, 256 tokens in and 128 out each, at most 300 s each" in text
    assert "60 of 64" in text
    assert "4 (reset: 1, timeout: 3)" in text
    assert "841.3" in text
    assert rows(text, "TTFT") == [["58.00", "57.00", "59.00", "-", "60"]]
    assert rows(text, "ITL") == [["12.00", "11.00", "13.00", "-", "60"]]
    assert rows(text, "TPOT") == [["13.50", "12.50", "14.50", "-", "60"]]
    assert rows(text, "E2E") == [["1,658", "1,657", "1,659", "-", "60"]]


def test_the_page_has_it_too(tmp_path: Path) -> None:
    page = exported(tmp_path, DONE)["report.html"]
    bench = page.partition("<h2>Benchmark</h2>")[2].partition("</section>")[0]
    assert (
        '<td>TTFT</td><td class="number">58.00</td><td class="number">57.00</td><td class="number">59.00</td>'
        '<td class="number">-</td>'
    ) in bench
    assert "841.3" in bench
    assert "timeout: 3" in bench


def test_several_runs_are_told_one_by_one_and_nothing_unknown_is_a_figure(tmp_path: Path) -> None:
    files = exported(tmp_path, DONE, BROKEN)
    text = files["benchmark.txt"]
    assert "Run 1 of 2: done" in text
    assert "Run 2 of 2: failed: the server <closed> the connection" in text
    assert rows(text, "E2E")[1] == ["-", "-", "-", "-", "0"]
    assert rows(text, "output")[1] == ["tokens/s", "-"]
    assert "the server &lt;closed&gt; the connection" in files["report.html"]
    assert "benchmark.txt" in files["CONTENTS.txt"]


def test_without_a_run_there_is_no_such_section_and_no_such_file(tmp_path: Path) -> None:
    files = exported(tmp_path)
    assert "benchmark.txt" not in files
    assert "benchmark" not in files["CONTENTS.txt"]
    assert "<h2>Benchmark</h2>" not in files["report.html"]
