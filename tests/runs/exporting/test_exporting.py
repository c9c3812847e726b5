"""Runs as CSV, JSON and Markdown: complete, readable by others, and harmless whatever a model is called."""

import csv
import io
import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from run_entries import fingerprint, result, run_entry, runs_of

from tui.benchmark import BenchRecord
from tui.runs.against import comparison_of
from tui.runs.comparison import compare
from tui.runs.entry import RunEntry
from tui.runs.exporting.exchange import json_text
from tui.runs.exporting.markdown import markdown, plain
from tui.runs.exporting.selection import Selection, pair, sweeps
from tui.runs.exporting.table import REQUEST_COLUMNS, requests_csv, runs_csv
from tui.runs.importing.entry import Wanted
from tui.runs.importing.files import entries
from tui.runs.importing.reading import ImportFault

HOSTILE = "=cmd|'/c calc'!A0 <img src=x> [a](http://evil) @team `x` *b* | c"
RECORDS = (
    BenchRecord(0.0, 20.5, 20.5, 95.25, 96.0, 16, 64, 16),
    BenchRecord(0.5, None, None, None, 1.5, None, None, None, "http_503"),
)


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def hostile() -> RunEntry:
    return run_entry(result=result(model=HOSTILE, sentence=HOSTILE))


def two_configurations() -> list[RunEntry]:
    a = runs_of("conf-a", [1000.0, 1005.0, 998.0])
    b = [
        replace(run, fingerprint=fingerprint("conf-b", NCCL_ALGO="Ring"))
        for run in runs_of("conf-b", [1200.0, 1210.0, 1195.0], first=4)
    ]
    return [*a, *b]


def compared(runs: list[RunEntry]) -> Selection:
    sides = pair(runs)
    assert sides is not None
    a, b = sides
    return Selection(runs, (), comparison_of(a[-1], b[-1], compare(a, b, 0.02)))


def test_each_run_is_a_row_with_units_in_the_names() -> None:
    one, other = rows(runs_csv([run_entry(), run_entry(result=result("bbbb0002", speed=1234.5))]))

    assert (one["run"], one["made"], one["ttft_p50_ms"]) == ("aaaa0001", "2025-11-29T07:17:40Z", "95")
    assert other["output_tokens_per_s"] == "1234.5"
    assert one["workload"] == "16 streams, 1024 in, 256 out, 64 requests"


def test_what_is_not_known_is_an_empty_cell_and_no_zero() -> None:
    (row,) = rows(runs_csv([run_entry(result=result(failed_known=False, steady_tokens_per_s=None))]))

    assert (row["failed"], row["steady_tokens_per_s"], row["ttft_p99_ms"], row["ready_for_s"]) == ("",) * 4


def test_no_cell_is_a_formula() -> None:
    (row,) = rows(runs_csv([hostile()]))

    assert row["model"] == f"'{HOSTILE}"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t"])
def test_no_sign_of_a_formula_begins_a_cell(sign: str) -> None:
    (row,) = rows(runs_csv([run_entry(host=f"{sign}1+1")]))

    assert row["host"][0] == "'"


def test_a_run_whose_client_was_its_limit_says_so_in_markdown() -> None:
    text = markdown(Selection([run_entry(result=result(client_cpu_fraction=0.9)), run_entry()]))

    assert text.count("aaaa0001: client-bound: the load generator used 90% of a core") == 1


def test_each_request_is_a_row() -> None:
    first, failed = rows(requests_csv([run_entry(records=RECORDS)]))

    assert tuple(first) == REQUEST_COLUMNS
    assert (first["run"], first["request"], first["last_token_ms"], first["chunks"]) == (
        "aaaa0001", "1", "95.25", "16",
    )  # fmt: skip
    assert (failed["ttft_ms"], failed["end_ms"], failed["fault"]) == ("", "1.5", "http_503")


def test_json_is_read_back_equal(tmp_path: Path) -> None:
    whole = [run_entry(records=RECORDS), hostile(), *runs_of("conf-b", [900.0])]
    whole[2] = replace(whole[2], result=replace(whole[2].result, run="cccc0003"))
    whole[1] = replace(whole[1], result=replace(whole[1].result, run="bbbb0002"))
    path = tmp_path / "runs.json"
    path.write_text(json_text(whole))

    assert entries([path], Wanted()) == whole


def test_imported_runs_are_read_back_equal(tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "fixtures" / "bench_results"
    imported = entries([folder / "vllm.json", folder / "sglang_chat.jsonl"], Wanted())
    path = tmp_path / "runs.json"
    path.write_text(json_text(imported))

    assert entries([path], Wanted()) == imported


@pytest.mark.parametrize("name", ["ABCD0001", "../../x", "abcd", "abcd00012"])
def test_json_whose_runs_have_names_that_nobody_could_give_is_refused(tmp_path: Path, name: str) -> None:
    entry = run_entry()
    path = tmp_path / "runs.json"
    path.write_text(json_text([replace(entry, result=replace(entry.result, run=name))]))

    with pytest.raises(ImportFault, match="eight hexadecimal digits name a run"):
        entries([path], Wanted())


def test_plain_text_of_others_makes_no_link_and_no_mention() -> None:
    assert plain("www.evil.example #12 @team") == "www<!-- -->.evil.example #<!-- -->12 @<!-- -->team"


def test_json_of_a_later_version_is_refused_politely(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(json.loads(json_text([run_entry()])) | {"version": 2}))

    with pytest.raises(ImportFault, match="written by a newer tminus"):
        entries([path], Wanted())


def test_json_that_somebody_has_changed_is_cleaned(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(json_text([run_entry(host="a\x1b[31mb\u202ec")]))

    assert entries([path], Wanted())[0].host == "abc"


def test_two_configurations_of_one_workload_are_a_pair() -> None:
    runs = two_configurations()

    assert pair(runs) == (runs[:3], runs[3:])
    assert pair(runs[:3]) is None
    assert pair([*runs, run_entry(workload="1 stream")]) is None


def test_runs_of_which_nothing_is_known_are_configurations_of_their_own() -> None:
    one, other = (run_entry(result=result(name), fingerprint=fingerprint("")) for name in ("a1", "b2"))

    assert pair([one, other]) == ([one], [other])


def test_levels_of_one_series_are_a_sweep_in_their_order() -> None:
    spec = run_entry().result.spec
    levels = [
        run_entry(result=result(f"c{level}", spec=replace(spec, series="s", level=level, levels=3)))
        for level in (3, 1, 2)
    ]

    assert [[run.id for run in sweep] for sweep in sweeps([*levels, run_entry()])] == [["c1", "c2", "c3"]]


def test_markdown_tells_what_differs_before_any_figure() -> None:
    text = markdown(compared(two_configurations()))

    differs, figures = text.index("| environment NCCL\\_ALGO | unset | Ring |"), text.index("| metric |")
    assert text.index("**B against A:** better: output tokens/s") < differs < figures < text.index("| run |")
    assert "3 of A, 3 of B; noise floor 2.0%" in text
    assert "| output tokens/s (tokens/s) | 1,001 | 1,202 | 1.200 (" in text


def test_markdown_of_one_configuration_compares_nothing() -> None:
    text = markdown(Selection(two_configurations()[:3]))

    assert text.startswith("| run | made |")
    assert text.count("\n") == 5


def test_no_name_becomes_markup() -> None:
    text = markdown(Selection([hostile()]))

    assert "<img" not in text
    assert "@<!-- -->team" in text
    assert "http:<!-- -->//evil" in text
    assert "://" not in text
    assert text.splitlines()[2].replace("\\|", "").count("|") == 13


def test_plain_text_stays_readable() -> None:
    assert plain("16 streams, 1024 in, 256 out") == "16 streams, 1024 in, 256 out"
