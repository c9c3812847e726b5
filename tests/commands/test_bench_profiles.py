"""``tminus bench --list``, the user's own profiles and data sets, and what is wrong with them in one line."""

import json
from pathlib import Path

import pytest

from tui import profiles_file
from tui.commands import bench_list, bench_plan
from tui.settings import Choices, UsageFault

OWN = """
[chat]
about = "Ours at work."
concurrency = [4, 8]
requests = 16

[decode]
about = "Longer answers."
requests = 4
output_tokens = 1024
"""


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Return an environment whose settings lie in a folder of the test."""
    return {"TMINUS_CONFIG": str(tmp_path / "config.toml")}


def write(folder: Path, text: str) -> Path:
    """Write the user's own profiles."""
    file = folder / "profiles.toml"
    file.write_text(text)
    return file


def test_the_users_own_stand_beside_ours_and_replace_those_of_the_same_name(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    file = write(tmp_path, OWN)

    found = profiles_file.load_profiles(environ)

    assert list(found) == ["decode", "smoke", "serve", "sweep", "chat"]
    assert (found["decode"].output_tokens, found["decode"].where) == (1024, str(file))
    assert found["serve"].where == profiles_file.OURS


def test_no_file_is_no_profile_of_ones_own(environ: dict[str, str]) -> None:
    assert list(profiles_file.load_profiles(environ)) == ["decode", "smoke", "serve", "sweep"]


def test_the_list_says_what_replaces_ours(tmp_path: Path, environ: dict[str, str]) -> None:
    file = write(tmp_path, OWN)
    profiles = profiles_file.load_profiles(environ)

    text = "\n".join(bench_list.words(profiles, environ))
    told = {each["name"]: each for each in map(json.loads, bench_list.objects(profiles))}

    said = " ".join(text.split())
    assert f"(your own, from {file}, in place of the one that comes with tminus)" in said
    assert said.count("in place of") == 1
    assert {name for name, each in told.items() if each["replaces_ours"]} == {"decode"}
    assert (told["chat"]["levels"], told["chat"]["from"]) == (2, str(file))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a]\noutput_token = 7", r"\.toml: \[a\] has no key 'output_token'; did you mean output_tokens"),
        ("[a]\nrate = 1\narrival = 'poison'", "constant or poisson, not 'poison'; did you mean poisson"),
        ("[a]\nturns = 0", r"profiles\.toml: \[a\] turns must be a whole number from 1 to 1,000, not 0"),
        ("[a", "is no valid TOML"),
    ],
    ids=["key", "word", "value", "toml"],
)  # fmt: skip
def test_what_is_wrong_in_the_users_file_is_one_line(
    tmp_path: Path, environ: dict[str, str], text: str, said: str
) -> None:
    write(tmp_path, text)

    with pytest.raises(UsageFault, match=said) as caught:
        profiles_file.load_profiles(environ)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_text_or_far_too_long_is_said(tmp_path: Path, environ: dict[str, str]) -> None:
    write(tmp_path, "").write_bytes(b"\xff")
    with pytest.raises(UsageFault, match="is no text in UTF-8"):
        profiles_file.load_profiles(environ)

    write(tmp_path, "#" * (profiles_file.MOST_BYTES + 1))
    with pytest.raises(UsageFault, match="is longer than 256 KiB"):
        profiles_file.load_profiles(environ)


def test_an_unknown_profile_names_the_nearest_or_all(environ: dict[str, str]) -> None:
    with pytest.raises(UsageFault, match="there is no profile 'decod'; did you mean decode"):
        profiles_file.profile_named("decod", environ)
    with pytest.raises(UsageFault, match="there is no profile 'x'; there are decode, smoke, serve, sweep"):
        profiles_file.profile_named("x", environ)


def test_options_change_the_profile_that_is_named(environ: dict[str, str]) -> None:
    choices = Choices(profile="serve", concurrency=(1, 32), requests=10, warmup=0.0, ttft_limit_ms=200.0)

    workload = bench_plan.plan_for(choices, environ)

    assert [(each.concurrency, each.requests) for each in workload.specs] == [(1, 10), (32, 10)]
    assert {each.profile for each in workload.specs} == {"serve (changed)"}
    assert {each.warmup_s for each in workload.specs} == {0.0}
    assert len({each.series for each in workload.specs}) == 1


def test_a_data_set_gives_prompts_and_its_name_with_a_digest(tmp_path: Path, environ: dict[str, str]) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text('{"prompt": "a"}\n{"prompt": "b"}\n')

    workload = bench_plan.plan_for(Choices(data=str(file), requests=1), environ)

    (spec,) = workload.specs
    name, digest = spec.data.split(" ")
    assert (name, len(digest)) == ("set.jsonl", 8)
    assert [each.turns for each in workload.prompts] == [["a"], ["b"]]
    file.write_text('{"prompt": "a"}\n{"prompt": "c"}\n')
    assert bench_plan.plan_for(Choices(data=str(file)), environ).specs[0].data != spec.data


def test_a_profiles_data_set_lies_beside_the_file_that_names_it(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    (tmp_path / "set.jsonl").write_text('{"prompt": "a"}')
    write(tmp_path, "[own]\nrequests = 1\ndata = 'set.jsonl'")

    assert len(bench_plan.plan_for(Choices(profile="own"), environ).prompts) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"{}\n", "line 1 has none of"), (b"x" * (bench_plan.MOST_BYTES + 1), "is larger than 8 MiB")],
    ids=["line", "size"],
)
def test_a_data_set_that_is_none_is_said_with_its_name(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "set.jsonl"
    file.write_bytes(content)

    with pytest.raises(UsageFault, match=rf"the data set .*set\.jsonl {said}"):
        bench_plan.read_data(str(file))
    with pytest.raises(UsageFault, match="cannot be read: No such file"):
        bench_plan.read_data(str(tmp_path / "missing"))
