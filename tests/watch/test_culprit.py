"""Who a failure came from: a rank that went first, else who wrote the failure's line, else nobody."""

import pytest
from ras_server import mismatch
from watched_host import Watch, WatchedHost, process

from tui.signals import Evidence
from tui.watch.culprit import Culprit, culprit

OOM = "[2026-11-29 13:48:34 TP1] torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB."


@pytest.fixture
def host(watched: Watch) -> WatchedHost:
    watched_host = watched()
    watched_host.hello()
    main = watched_host.starts()
    ranks = [
        process(101 + rank, f"sglang::scheduler_TP{rank}", matched=None, ppid=main.pid) for rank in range(2)
    ]
    watched_host.processes(main, *ranks)
    watched_host.log("[2026-11-29 13:48:33 TP0] Load weight begin. avail mem=9 GB")
    return watched_host


def test_a_rank_that_goes_before_its_server_is_the_one(host: WatchedHost) -> None:
    host.wait(10)
    host.exits(102, main=False)
    assert culprit(host.state) == Culprit("TP1", 102)
    host.wait(2.4)
    host.exits(101, main=False)
    host.exits(code=1)
    assert culprit(host.state) == Culprit("TP1", 102)


def test_a_rank_that_goes_after_the_failure_was_told_is_not(host: WatchedHost) -> None:
    host.log(OOM)
    assert culprit(host.state) == Culprit("TP1", 102)
    host.wait(1)
    host.exits(101, main=False)
    host.wait(1)
    host.exits(code=-9)
    assert culprit(host.state) == Culprit("TP1", 102)


def test_ranks_that_go_with_their_server_are_not_told_after_the_one_that_went_first(
    host: WatchedHost,
) -> None:
    host.wait(10)
    host.exits(102, main=False)
    host.wait(2.4)
    host.exits(101, main=False)
    host.exits(code=1)
    gone = [note.sentence for note in host.state.notices if note.sentence.endswith("is gone")]
    assert gone == ["rank TP1 (pid 102) is gone"]


def test_of_ranks_that_go_with_their_server_none_is_named(host: WatchedHost) -> None:
    host.wait(10)
    host.exits(101, main=False)
    host.exits(102, main=False)
    host.exits(code=-9)
    assert culprit(host.state) == Culprit()


def test_ras_of_a_container_is_joined_with_the_hosts_processes(watched: Watch) -> None:
    host = watched()
    host.hello()
    main = host.starts()
    ranks = [
        process(101 + rank, f"sglang::scheduler_TP{rank}", matched=None, ppid=main.pid, inner_pid=7 + rank)
        for rank in range(2)
    ]
    host.processes(main, *ranks)
    said = [("diagnosis", ()), ("ras", mismatch(8)), ("ras", mismatch(8)), ("diagnosis", None)]
    for asked, text in said:
        host.wait(10)
        told = Evidence(
            **host.when,
            asked="ras" if asked == "ras" else "diagnosis",
            found=True,
            sentence="NCCL RAS",
            lines=tuple(text.splitlines()) if isinstance(text, str) else (),
            last=text is None,
        )
        host.happen(told)
    (proof,) = host.state.judging.proofs

    assert (proof.rank, proof.pid) == ("TP1", 102)
    assert "(pid 102, GPU 3)" in proof.sentence


CRASH = "[2026-11-29 13:48:35] Subprocess scheduler_1 (pid={}) crashed with exit code -6. Triggering SIGQUIT"


@pytest.mark.parametrize(("told", "expected"), [(8, Culprit("TP1", 102)), (102, Culprit())])
def test_in_a_container_the_log_tells_the_containers_pids(
    watched: Watch, told: int, expected: Culprit
) -> None:
    host = watched()
    host.hello()
    main = host.starts()
    ranks = [
        process(101 + rank, f"sglang::scheduler_TP{rank}", matched=None, ppid=main.pid, inner_pid=7 + rank)
        for rank in range(2)
    ]
    host.processes(main, *ranks)
    host.log(CRASH.format(told))
    host.exits(code=1)

    assert culprit(host.state) == expected
