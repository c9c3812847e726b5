"""Each log of the corpus that gets ready, at its own pace, with up to 20 silent minutes of a build put in."""

from collections.abc import Iterable

import pytest
from corpus_loads import BRIEF_S, JIT_S, CorpusLoad, Judged, Story, stories
from verdict_host import COMPILES, IDLES, POLLS, SPINS, Doing

from tui.engines.phase import Phase
from tui.watch.verdict.verdict import SEVERITY

NAMED_S = 31
"""From then on nothing but the build has moved in the window."""
LEAST_S, MOST_S = 58, 302
"""The shortest and the longest silence that any rule takes for a stall, by a second or two."""

each_story = pytest.mark.parametrize("story", stories(), ids=lambda story: story.words)


def waits(story: Story) -> Doing:
    """Return what ranks do that wait for a build: poll its lock, or wait for the builder in a collective."""
    return SPINS if story.phase is Phase.CAPTURE else POLLS


def alarms(told: Iterable[Judged]) -> list[str]:
    return [each.verdict.sentence for each in told if each.verdict.severity >= SEVERITY["stalled"]]


def test_the_corpus_has_logs_that_get_ready() -> None:
    if not stories():
        pytest.skip("needs the corpus of start-up logs beside the checkout")
    assert len({story.name for story in stories()}) >= 20
    assert {story.phase for story in stories()} >= {Phase.COMPILE, Phase.CAPTURE}
    assert {story.phase for story in stories() if story.build_s == JIT_S} == {
        story.phase for story in stories()
    }
    assert min(story.build_s for story in stories()) >= BRIEF_S > MOST_S


@each_story
def test_no_moment_of_it_is_an_alarm_and_the_builder_is_named(story: Story) -> None:
    load = CorpusLoad(story)
    told = list(load.play(COMPILES, waits(story)))
    build = [each for each in told if each.built_s is not None]

    assert alarms(told) == []
    assert len(build) == story.build_s
    assert {each.verdict.word for each in build[10:]} <= {"progressing", "slow"}
    if load.host.count > 1:
        named = {(each.verdict.pid, len(each.verdict.waiting)) for each in build[NAMED_S:]}
        assert named == {(load.builder, load.host.count - 1)}
    assert load.state.ready
    assert told[-1].verdict.word == "ready"


@each_story
def test_the_same_silence_without_a_compiler_is_an_alarm_in_its_time(story: Story) -> None:
    """A control: the test above can fail."""
    load = CorpusLoad(story)
    for each in load.play(IDLES, waits(story)):
        if each.verdict.severity < SEVERITY["stalled"]:
            continue
        assert each.built_s is not None
        assert LEAST_S <= each.built_s <= MOST_S
        assert each.verdict.pid == load.builder
        assert len(each.verdict.waiting) == load.host.count - 1
        return
    pytest.fail("minutes in which nothing moved and no alarm")
