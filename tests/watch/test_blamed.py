"""A launcher's log that names the process that died: it is the one, whoever else went with it."""

import pytest
from watched_host import Watch, WatchedHost, process

from tui.watch.culprit import Culprit, culprit

DIED = "RuntimeError: Rank 1 scheduler died during initialization (exit code: -9). If exit code is -9"
CRASHED = (
    "[2026-11-29 13:48:35] Subprocess scheduler_1 (pid=102) crashed with exit code -6. Triggering SIGQUIT"
)

# A node above the first says it so (SGLang 0.5.14).
TERMINATED = "[2026-11-29 13:48:35] Scheduler or DataParallelController 102 terminated with -9"


def two_ranks(host: WatchedHost, *names: str) -> None:
    main = host.starts()
    ranks = [
        process(101 + number, "python3", matched=None, ppid=main.pid, title=f"sglang::scheduler_{name}")
        for number, name in enumerate(names)
    ]
    helper = process(103, "python3", matched=None, ppid=main.pid, title="sglang::detokenizer")
    host.processes(main, *ranks, helper)
    host.log("[2026-11-29 13:48:33 TP0] Load weight begin. avail mem=9 GB")
    host.wait(10)


def all_go(host: WatchedHost) -> None:
    for pid in (103, 101, 102):
        host.exits(pid, main=False)
    host.wait(0.1)


@pytest.mark.parametrize("line", [DIED, CRASHED, TERMINATED])
def test_the_process_that_the_log_says_has_died_is_named_though_all_went_at_once(
    watched: Watch, line: str
) -> None:
    host = watched()
    two_ranks(host, "TP0", "TP1")
    host.log(line)
    all_go(host)
    assert culprit(host.state) == Culprit("TP1", 102)
    found = host.state.judgement(host.mono)
    assert found is not None
    assert (found.word, found.rank, found.pid) == ("dead", "TP1", 102)
    host.wait(2.0)
    host.exits(code=1)
    found = host.state.judgement(host.mono)
    assert found is not None
    assert (found.word, found.rank, found.pid) == ("dead", "TP1", 102)


def test_without_a_word_of_the_log_none_of_those_that_went_at_once_is_named(watched: Watch) -> None:
    host = watched()
    two_ranks(host, "TP0", "TP1")
    all_go(host)
    host.wait(1.0)
    found = host.state.judgement(host.mono)
    assert found is not None
    assert (found.word, found.rank, found.waiting) == ("dead", None, ())


def test_a_number_that_several_ranks_may_have_names_none(watched: Watch) -> None:
    host = watched()
    two_ranks(host, "PP0_TP1", "PP1_TP1")
    host.log(DIED)
    all_go(host)
    host.wait(1.0)
    found = host.state.judgement(host.mono)
    assert found is not None
    assert (found.word, found.rank) == ("dead", None)
    assert culprit(host.state) == Culprit()
