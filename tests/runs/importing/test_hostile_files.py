"""Files that are broken, foreign or hostile: one sentence with file, line and what; nothing is taken."""

import json
from pathlib import Path

import pytest

from tui.runs.importing.entry import Wanted
from tui.runs.importing.files import entries
from tui.runs.importing.reading import ImportFault

FILES = Path(__file__).parents[2] / "fixtures" / "bench_results"
VLLM = (FILES / "vllm.json").read_text()


def with_fields(**changes: object) -> str:
    return json.dumps(json.loads(VLLM) | changes)


def refusal(folder: Path, content: str | bytes) -> str:
    path = folder / "results.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ImportFault) as caught:
        entries([path], Wanted())
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.isprintable()
    return sentence.removeprefix(str(path)).lstrip(" ,")


CASES: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "is empty"),
    "blank": (" \n\n", "is empty"),
    "cut": (VLLM[:400], "line 1: the JSON ends in the middle"),
    "no JSON": ("{not json}", "line 1: this is no JSON (Expecting property name enclosed in double quotes"),
    "no object": ("[1, 2]", "line 1: a result is a JSON object, and this is none"),
    "UTF-16": (b"\xff\xfe{}", "line 1: this is no text in UTF-8"),
    "bytes in line 3": (VLLM.strip().encode() + b"\n\n{\xff}", "line 3: this is no text in UTF-8"),
    "cut in line 3": (VLLM.strip() + "\n\n" + VLLM[:99], "line 3: the JSON ends in the middle"),
    "deep": ("[" * 100_000, "line 1: it is nested too deeply"),
    "word for number": (
        with_fields(failed="many"),
        "line 1: expected `int | null`, got `str` - at `$.failed`",
    ),
    "negative": (with_fields(completed=-1), "line 1: expected `int` >= 0 - at `$.completed`"),
    "huge": (with_fields(completed=10**400), "line 1: "),
    "huge digits": (VLLM.replace('"failed": 0', f'"failed": {"9" * 9000}'), "line 1: "),
    "no time": (with_fields(duration=0), "line 1: expected `float` > 0.0 - at `$.duration`"),
    "NaN": (with_fields(duration=float("nan")), "line 1: expected `float` > 0.0 - at `$.duration`"),
    "date": (with_fields(date="yesterday"), "line 1: its date is none: yesterday"),
    "red date": (with_fields(date="\x1b[31mred"), "line 1: its date is none: red"),
    "no run": (
        json.dumps({"format": "tminus runs", "version": 1, "runs": [{}]}),
        "line 1: object missing required field `result` - at `$.runs[0]`",
    ),
    "lists": (with_fields(ttfts=[0.1]), "line 1: the lists of its requests differ in length"),
    "negative times": (with_fields(ttfts=[-1.0] * 12), "line 1: request 1 has a time that is none"),
    "NaN gaps": (with_fields(itls=[[float("nan")]] * 12), "line 1: request 1 has a time that is none"),
    "starts": (
        with_fields(start_times=[1.0]),
        "line 1: start_times holds what is no time, or is not as long",
    ),
    "errors": (
        with_fields(errors=[{"a": 1}] * 12),
        "line 1: expected `str | null`, got `object` - at `$.errors[0]`",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_broken_file_is_refused_in_one_sentence(tmp_path: Path, case: str) -> None:
    content, sentence = CASES[case]

    assert refusal(tmp_path, content).startswith(sentence)


def test_what_nobody_knows_names_what_is_known(tmp_path: Path) -> None:
    said = refusal(tmp_path, '{"metrics": 1}')

    assert said.startswith("line 1: this is no result that is known: sglang bench_serving")


@pytest.mark.parametrize("name", ["missing.json", "folder"])
def test_what_is_no_plain_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()

    with pytest.raises(ImportFault, match=f"{name} cannot be read: "):
        entries([tmp_path / name], Wanted())


def test_names_are_cleaned_and_bounded(tmp_path: Path) -> None:
    path = tmp_path / "hostile.json"
    path.write_text(with_fields(model_id="evil\x1b[2J\u202e<b>\nname" + "x" * 5000))

    model = entries([path], Wanted())[0].result.model or ""

    assert model.startswith("evil<b> namexxx")
    assert len(model) <= 160


def test_a_broken_file_among_whole_ones_takes_all_with_it(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")

    with pytest.raises(ImportFault):
        entries([FILES / "vllm.json", broken], Wanted())


def test_the_same_run_in_two_files_is_one(tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    again.write_text(json.dumps(json.loads(VLLM), indent=2))

    assert len(entries([FILES / "vllm.json", again], Wanted())) == 1
