"""The stuck servers themselves: nothing of them outlives who keeps them, in whatever state it is."""

import os
import shutil
import signal

import pytest
from agent_process import until
from stuck_server import CASES, StuckServer

# One that is stopped, one whose processes must outlive their parent, one with compilers below a rank.
TREES = ("suspended", "orphaned", "compiling")


@pytest.mark.parametrize("case", TREES)
def test_nothing_is_left_of_a_stuck_server_that_was_closed(case: str) -> None:
    server = StuckServer(case)
    server.get_stuck()
    assert len(server.pids) > CASES[case].ranks
    server.close()
    server.close()
    assert server.left() == []


@pytest.mark.parametrize("case", TREES)
def test_no_process_is_left_of_a_stuck_server_whose_keeper_was_killed(case: str) -> None:
    server = StuckServer(case)
    try:
        server.get_stuck()
        os.kill(server.keeper, signal.SIGKILL)
        until(lambda: server.left() == [str(server.folder)])
    finally:
        server.close()
        shutil.rmtree(server.folder)
