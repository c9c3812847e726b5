"""Stuck servers for the tests of this folder: all that are asked for run at once, in one worker."""

import asyncio
from collections.abc import Mapping

import pytest
from stuck_watch import Watched, watch_all

AT_LEAST_S = 60.0
"""What a verdict that comes within seconds is given; the machine is busy with all of them."""
AT_MOST_S = {
    "deadlock": 60.0 + AT_LEAST_S,
    "flock": 30.0 + AT_LEAST_S,
    "stale-lock": 30.0 + AT_LEAST_S,
    "held-lock": 75.0,
    "live-lock": 75.0,
    "cpu-work": 75.0,
    "compiling": 75.0,
    "refused-peer": 75.0,
}


@pytest.fixture(scope="session")
def all_stuck(request: pytest.FixtureRequest) -> Mapping[str, Watched]:
    """Watch every stuck server that a test of this run is about, side by side, each until its verdict."""
    marks = [mark for item in request.session.items for mark in item.iter_markers("parametrize")]
    asked = {case: AT_MOST_S.get(case, AT_LEAST_S) for mark in marks for case in _stuck_cases(mark)}
    return asyncio.run(watch_all(asked))


def _stuck_cases(mark: pytest.Mark) -> list[str]:
    return list(mark.args[1]) if mark.args[0] == "stuck" else []


@pytest.fixture
def stuck(request: pytest.FixtureRequest, all_stuck: Mapping[str, Watched]) -> Watched:
    """Return the stuck server that the test names, as it was seen; nothing of it is left."""
    found = all_stuck[request.param]
    if found.impossible:
        pytest.skip(found.impossible)
    assert not found.failed
    assert not found.left
    return found
