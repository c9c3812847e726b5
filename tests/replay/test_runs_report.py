"""The page of runs: whole by itself, harmless, with a chart for each thing that is there."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from msgspec.structs import replace
from run_entries import around, fingerprint, instance, result, run_entry, runs_of, spec

from tui.benchmark import BenchComparison, BenchRecord, Difference, MetricRatio
from tui.replay.evidence import gather
from tui.replay.opening import open_recording, open_tape
from tui.replay.runs_report import runs_html
from tui.runs.entry import LoadEntry, RunEntry, StageTime
from tui.runs.exporting.selection import Selection

RECORDING = Path(__file__).parents[1] / "fixtures" / "recordings" / "version-4-bench.jsonl.gz"
HOSTILE = '</style><script>alert(1)</script>"><img src=http://evil onerror=x>'
COMPARED = BenchComparison(
    mono_s=0.0,
    wall_s=0.0,
    run="b",
    against="a",
    against_wall_s=1.0,
    word="better",
    sentence="B generates more",
    ratios=(
        MetricRatio(
            metric="output tokens/s",
            unit="tokens/s",
            a=1.0,
            b=1.1,
            ratio=1.1,
            low=1.05,
            high=1.15,
            word="better",
        ),
        MetricRatio(
            metric="ITL p99", unit="ms", a=1.0, b=1.0, ratio=1.0, low=None, high=None, word="cannot tell"
        ),
    ),
    differences=(
        Difference(name="environment NCCL_ALGO", a=None, b="Ring"),
        Difference(name="environment NCCL_PROTO", a=None, b="LL128", a_known=False),
    ),
    noise=0.03,
)


def page(*runs: RunEntry, **more: object) -> str:
    selection = Selection(runs, more.get("loads", ()), more.get("compared"))  # pyright: ignore[reportArgumentType]
    return runs_html(selection, None, "0.1")


def drawings(text: str) -> dict[str, ET.Element]:
    """Return every drawing by its label; each must be XML as it stands."""
    found = [ET.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]
    return {svg.attrib["aria-label"]: svg for svg in found}


def test_nothing_is_loaded_and_nothing_runs() -> None:
    text = page(run_entry(), compared=COMPARED)

    assert "default-src 'none'" in text
    assert not re.search(r"<script|<link|<img|\ssrc=|\shref=|url\(|@import", text)
    assert "prefers-color-scheme: dark" in text


def test_names_are_text_wherever_they_stand() -> None:
    run = run_entry(
        result=result(model=HOSTILE, sentence=HOSTILE),
        workload=HOSTILE,
        host=HOSTILE,
        instance=replace(instance(), host=HOSTILE),
        fingerprint=fingerprint("a", NCCL_ALGO=HOSTILE),
    )

    text = page(run, compared=replace(COMPARED, sentence=HOSTILE, blockers=(HOSTILE,)))

    assert "<script" not in text
    assert "<img" not in text
    assert text.count("</style>") == 1


def test_every_run_is_a_point_in_each_panel() -> None:
    svg = drawings(page(*runs_of("conf-a", [1000.0, 1010.0]), *runs_of("conf-b", [1100.0], first=3)))[
        "Throughput, TTFT and TPOT of each run"
    ]

    dots = [each.attrib["class"] for each in svg.iter() if each.tag == "circle"]
    assert dots == ["dot s0", "dot s0", "dot s1"] * 3


def test_a_figure_that_is_not_known_is_no_point() -> None:
    svg = drawings(page(run_entry(result=result(output_tokens_per_s=None))))[
        "Throughput, TTFT and TPOT of each run"
    ]

    assert len([each for each in svg.iter() if each.tag == "circle"]) == 2


def test_levels_of_a_sweep_are_one_curve() -> None:
    levels = [
        run_entry(
            result=result(
                f"c{level}",
                spec=replace(spec(), series="s", level=level, levels=3, concurrency=streams),
                ttft_ms=around(20.0 + streams),
            )
        )
        for level, streams in enumerate((1, 8, 64), start=1)
    ]

    svg = drawings(page(*levels))["Sweep"]

    lines = [each.attrib["points"].split() for each in svg.iter() if each.tag == "polyline"]
    assert [len(line) for line in lines] == [3, 3]
    left, middle, right = (float(point.partition(",")[0]) for point in lines[0])
    assert abs((middle - left) - (right - middle)) < 0.2  # 1, 8, 64 are equal factors apart


def test_requests_are_drawn_where_they_are_known() -> None:
    records = tuple(BenchRecord(0.1 * n, 20.0 + n, None, 100.0 + n, None, 16, 64, 16) for n in range(1000))
    failed = BenchRecord(0.0, None, None, None, 5.0, None, None, None, "reset")

    with_requests = drawings(page(run_entry(records=(*records, failed))))
    without = drawings(page(run_entry()))

    lines = [e for e in with_requests["Share of requests by latency"].iter() if e.tag == "polyline"]
    assert [len(each.attrib["points"].split()) for each in lines] == [202, 202]
    assert "Share of requests by latency" not in without


def test_a_comparison_stands_before_the_runs_and_what_differs_before_the_figures() -> None:
    text = page(run_entry(), compared=COMPARED)

    assert text.index("Settings that differ") < text.index("<h3>Figures") < text.index("<h2>Runs")
    assert "<td>environment NCCL_ALGO</td><td>unset</td><td>Ring</td>" in text
    assert "<td>environment NCCL_PROTO</td><td>unknown</td><td>LL128</td>" in text
    assert '<p class="better"><strong>better: B generates more</strong>' in text


def test_a_ratio_without_an_interval_has_a_point_and_no_line() -> None:
    svg = drawings(page(run_entry(), compared=COMPARED))["Ratios of B to A"]

    assert len([each for each in svg.iter() if each.tag == "circle"]) == 2
    assert len([each for each in svg.iter() if each.attrib.get("class") == "line s1"]) == 1


def test_the_load_of_the_runs_own_server_is_drawn() -> None:
    phases = (
        StageTime(phase="weights", began_s=20.0, seconds=95.0),
        StageTime(phase="graphs", began_s=None, seconds=None),
    )
    load = LoadEntry(
        instance=instance(), fingerprint=fingerprint(), host="gpu-box", began_wall_s=1.0, outcome="ready",
        ready_s=182.0, phases=phases,
    )  # fmt: skip
    other = replace(load, instance=instance(7))

    own, foreign = page(run_entry(), loads=(load,)), page(run_entry(), loads=(other,))

    bars = [e for e in drawings(own)["Phases of the load"].iter() if e.attrib.get("class") == "bar s0"]
    assert len(bars) == 1
    assert "ready after 3:02" in own
    assert "Load of the server" not in foreign


def test_the_gpus_of_a_recording_are_drawn() -> None:
    evidence = gather(open_tape(RECORDING), open_recording(RECORDING).header, lambda _: None)

    text = runs_html(Selection([run_entry()]), evidence, "0.1")

    assert "<h2>GPUs" in text
    assert "version-4-bench" in text


def test_settings_have_their_sources_and_unknown_is_said() -> None:
    text = page(
        run_entry(fingerprint=replace(fingerprint("a", NCCL_ALGO="Ring"), environment_known="partly"))
    )

    assert "<td>environment NCCL_ALGO</td><td>Ring</td><td>main process</td>" in text
    assert "a variable that is missing is not known" in text
