"""In which order tests are handed to several processes: never all of them waiting, none long at the end."""

import os

import pytest

# Groups (of the mark xdist_group) that wait for minutes on real processes, and between them files whose tests
# take many seconds, so that processors are busy meanwhile. Whatever is not here comes after all of them.
TURNS = (
    "group storage",
    "group ssh",
    "tests/watch/verdict/test_zero_false_alarms_corpus.py",
    "tests/runs/test_comparison_honest.py",
    "tests/replay/test_property_replay.py",
    "group stuck",
    "tests/long/",
    "tests/explain/test_explain_size.py",
    "tests/replay/test_bare_log_answers.py",
    "tests/engines/test_reader_hostile.py",
    "group gpus",
    "tests/commands/test_wait_command.py",
    "tests/commands/test_bench_levels.py",
    "tests/commands/test_bench_command.py",
    "tests/commands/test_once_and_demo.py",
    "group engine",
    "tests/terminal/test_pty.py",
    "tests/transport/test_leftovers.py",
    "tests/test_other_systems.py",
    "tests/test_cli.py",
)


def _turn(item: pytest.Item) -> int:
    """Return the turn of a test: that of its group, else that of its file, else the last."""
    mark = item.get_closest_marker("xdist_group")
    group = "" if mark is None else f"group {mark.args[0]}"
    if group in TURNS:
        return TURNS.index(group)
    return next((turn for turn, name in enumerate(TURNS) if item.nodeid.startswith(name)), len(TURNS))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring the tests of a process among several into their turns."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=_turn)
