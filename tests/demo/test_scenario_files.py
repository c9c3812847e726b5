"""Scenario files: what is read, and in which words a bad one is refused."""

import pytest

from tui.demo.scenario import RankFreezes, ScenarioFault, names, read, scenario, scenarios
from tui.demo.tape import simulation


def test_the_default_comes_first_and_every_file_is_read() -> None:
    known = scenarios()

    assert known[0].name == "ready"
    assert [each.name for each in known] == names()
    assert all(simulation(each).told_s > 0 for each in known)


def test_every_scenario_says_what_is_recorded_scaled_and_invented() -> None:
    for each in scenarios():
        assert all((each.title, each.story.recorded, each.story.scaled, each.story.invented)), each.name


def test_an_unknown_name_is_one_line_with_the_nearest_one() -> None:
    with pytest.raises(ScenarioFault, match=r"^there is no scenario 'redy'; did you mean ready\?$"):
        scenario("redy")
    with pytest.raises(ScenarioFault, match=r"^there is no scenario '\.\./x'; see tminus demo --list$"):
        scenario("../x")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("title = ", "scenario made.toml: Invalid value"),
        ('title = "x"', "scenario made.toml: Object missing required field `story`"),
        ('happens = [{what = "earthquake"}]', "scenario made.toml: Invalid value 'earthquake'"),
        ("colour = 1", "scenario made.toml: Object contains unknown field `colour`"),
    ],
)
def test_a_bad_file_is_one_line(text: str, words: str) -> None:
    with pytest.raises(ScenarioFault) as fault:
        read("made", text)

    assert str(fault.value).startswith(words)
    assert "\n" not in str(fault.value)


def test_a_line_that_there_is_not_is_named() -> None:
    ready = scenario("ready")
    wrong = type(ready)(
        name="made",
        title="x",
        story=ready.story,
        server=ready.server,
        happens=[RankFreezes(rank=1, state="S", line="no such line")],
    )

    with pytest.raises(
        ScenarioFault, match=r"^scenario made: server\.jsonl has no line with 'no such line'$"
    ):
        simulation(wrong)
