"""A moment of a watch, laid out for the rules: ranks and their processes, GPUs, what answers, what went."""

from typing import Literal

import pytest
from watched_host import SGLANG, Watch, WatchedHost, process

from tui.engines.phase import Phase
from tui.events import GpuDriver, GpuProcess, GpuProcesses, Process, Tick
from tui.signals import GpuFault, HostSignals, LockFile, Locks, ProcessSignals, Signals
from tui.watch.judging import FAULTS
from tui.watch.verdict.ends import is_fatal
from tui.watch.verdict.situation import Rank, Situation

BEGIN = "[2026-11-29 13:48:34 TP{}] Load weight begin. avail mem=9 GB"
READY_LINE = "[2026-11-29 13:48:34] The server is fired up and ready to roll!"
VLLM = "python3 /opt/bin/vllm serve qwen --port 8000"
LLAMA = "/opt/llama-server -m /models/qwen.gguf --port 8080"


def rank(pid: int, name: str, ppid: int = 100) -> Process:
    title = f"sglang::scheduler_{name}"
    return process(pid, "python3", matched=None, ppid=ppid, title=title)


def helper(pid: int, ppid: int) -> Process:
    return process(pid, "/bin/sh -c true", matched=None, ppid=ppid)


def launcher(
    argv: str = SGLANG, matched: str = "sglang", environment: dict[str, str] | None = None
) -> Process:
    return process(100, argv, matched=matched, started_s=1000.0, environment=environment)


def moment(host: WatchedHost) -> Situation:
    found = host.state.circumstances(host.mono)
    assert found is not None
    return found


def of(host: WatchedHost, name: str) -> Rank:
    return next(each for each in moment(host).ranks if each.name == name)


def two_ranks(host: WatchedHost, argv: str = SGLANG, environment: dict[str, str] | None = None) -> None:
    host.processes(
        launcher(argv, environment=environment),
        rank(101, "TP0"),
        rank(102, "TP1"),
        helper(201, 101),
        helper(301, 201),
    )


def heard(host: WatchedHost, seconds: int, *, signals: bool = False) -> list[str | None]:
    """Let the GPUs be told of each second, and what the ranks do; return what is said each time."""
    told: list[str | None] = []
    for _ in range(seconds):
        host.wait(1.0)
        host.gpus(1.0, 1.0)
        if signals:
            host.happen(Signals(**host.when, processes=[idles(101), idles(102)], compilers=[], cost_ms=1.0))
        told.append(host.state.verdict)
    return told


def idles(pid: int) -> ProcessSignals:
    return ProcessSignals(
        pid=pid, state="S", cpu_s=1.0, minor_faults=0, major_faults=0, wakeups=5, rss_file_mib=9.0,
        rss_anon_mib=9.0, read_chars_bytes=0, read_bytes=0, write_bytes=0, wchan="ep_poll", shard="",
    )  # fmt: skip


def test_each_rank_has_its_own_descendants_and_the_launcher_stands_beside_them(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    found = moment(host)
    assert [(each.name, each.pid) for each in found.ranks] == [("TP0", 101), ("TP1", 102)]
    assert (of(host, "TP0").helpers, of(host, "TP1").helpers) == ({201, 301}, set())
    assert found.launcher == Rank("launcher", 100)
    assert found.pids == {100, 101, 102, 201, 301}


def test_vllm_on_one_gpu_works_in_its_engine_core(watched: Watch) -> None:
    host = watched()
    core = process(101, "python3", matched=None, ppid=100, title="VLLM::EngineCore")
    host.processes(launcher(VLLM, "vllm"), core, helper(201, 101))
    found = moment(host)
    assert [(each.pid, each.helpers) for each in found.ranks] == [(101, {201})]
    assert found.launcher is not None


def test_a_server_of_one_process_is_its_own_rank(watched: Watch) -> None:
    host = watched()
    host.processes(launcher(LLAMA, "llamacpp"), helper(201, 100))
    found = moment(host)
    assert [(each.pid, each.helpers) for each in found.ranks] == [(100, {201})]
    assert found.launcher is None


def test_each_rank_stands_where_its_own_lines_say_and_who_lags_is_behind(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    host.log("server_args=ServerArgs(model_path='qwen')", BEGIN.format(0), BEGIN.format(1))
    host.log("[2026-11-29 13:48:40 TP0] Load weight end. elapsed=3.00 s, avail mem=9 GB.")
    assert (of(host, "TP0").phase, of(host, "TP1").phase) == (Phase.WEIGHTS, Phase.WEIGHTS)
    assert (of(host, "TP0").behind, of(host, "TP1").behind) == (False, True)


def users(host: WatchedHost, *pids: int) -> None:
    each = [GpuProcess(index=index, pid=pid, memory_mib=None) for index, pid in enumerate(pids)]
    host.happen(GpuProcesses(**host.when, processes=each))


@pytest.mark.parametrize(
    ("environment", "gpus"),
    [
        ({}, [(0,), (1,)]),
        ({"CUDA_VISIBLE_DEVICES": "1,0"}, [(1,), (0,)]),
        ({"CUDA_VISIBLE_DEVICES": "3"}, [(), ()]),
    ],
    ids=["all", "reordered", "another number"],
)
def test_where_the_driver_names_no_process_ranks_take_the_gpus_in_order(
    watched: Watch, environment: dict[str, str], gpus: list[tuple[int, ...]]
) -> None:
    host = watched()
    two_ranks(host, environment=environment)
    host.gpus(1.0, 1.0)
    assert [each.gpus for each in moment(host).ranks] == gpus


def test_where_the_driver_names_the_processes_nothing_is_assumed(watched: Watch) -> None:
    host = watched()
    two_ranks(host, environment={"CUDA_VISIBLE_DEVICES": "1,0"})
    host.gpus(1.0, 1.0)
    users(host, 101, 102)
    assert [each.gpus for each in moment(host).ranks] == [(), ()]
    assert [
        [gpu.index for gpu in host.state.judging.movement.of(each, host.mono, None).gpus]
        for each in moment(host).ranks
    ] == [[0], [1]]


def test_faults_of_gpus_that_others_use_are_left_out(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    host.gpus(1.0, 1.0, 1.0)
    users(host, 101, 102)
    for index in (1, 2):
        told = f"GPU {index} fell off the bus"
        host.happen(GpuFault(**host.when, fault="xid", sentence=told, index=index, xid=79))
    assert [(each.gpu, each.xid) for each in moment(host).faults] == [(1, 79)]


def test_a_fault_is_told_once_since_when_it_was_reported_first(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    began_s = host.mono
    for _ in range(2):
        host.happen(GpuFault(**host.when, fault="xid", sentence="off the bus", index=0, xid=79))
        host.wait(30.0)
    assert [each.began_s for each in moment(host).faults] == [began_s]
    assert host.state.judged is not None
    assert (host.state.judged.word, host.state.judged.since_s) == ("hung", began_s)


def test_however_many_faults_of_the_application_came_before_a_fatal_one_is_kept(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    for number in range(40):
        host.happen(GpuFault(**host.when, fault="xid", sentence="an error", index=0, xid=1000 + number))
    host.happen(GpuFault(**host.when, fault="xid", sentence="fell off the bus", index=0, xid=79))
    found = moment(host).faults
    assert (len(found), 79 in {each.xid for each in found}) == (FAULTS, True)


def test_a_recovery_that_the_driver_asks_for_is_fatal(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    host.happen(GpuFault(**host.when, fault="recovery", sentence="GPU 0 needs a reset", index=0))
    assert [is_fatal(each) for each in moment(host).faults] == [True]


def test_a_driver_that_answers_again_is_silent_no_more(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    for silent_s in (6.0, 11.0):
        host.happen(GpuDriver(**host.when, state="silent", sentence="no answer", silent_s=silent_s))
    assert [each.silent_s for each in moment(host).faults] == [11.0]
    host.happen(GpuDriver(**host.when, state="ok", sentence=""))
    assert moment(host).faults == ()


def test_nothing_is_said_of_a_load_whose_counters_cannot_have_moved_yet(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    assert heard(host, 5, signals=True) == [None] * 5
    assert heard(host, 2, signals=True) == ["quiet"] * 2


def test_nothing_is_said_either_while_the_counters_are_awaited(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    assert heard(host, 14) == [None] * 14
    assert heard(host, 2) == ["quiet"] * 2


def test_what_was_said_stands_until_enough_was_seen_after_a_moment_without_a_word(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    host.log(BEGIN.format(0))
    assert heard(host, 6, signals=True) == ["progressing"] * 6
    host.wait(5.0)
    assert heard(host, 5, signals=True) == ["progressing"] * 5
    assert heard(host, 2, signals=True) == ["quiet"] * 2


def test_that_the_host_was_not_heard_is_not_said_any_more_once_it_is(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    heard(host, 6, signals=True)
    host.link("lost")
    host.wait(5.0)
    host.happen(Tick(**host.when))
    assert host.state.verdict == "quiet"
    host.link("up")
    assert heard(host, 5, signals=True) == [None] * 5
    assert heard(host, 2, signals=True) == ["quiet"] * 2


def test_the_counts_of_another_servers_group_are_no_kills_of_the_next_load(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    host.happen(HostSignals(**host.when, cgroup_oom_kills=0))
    host.exits(100)
    host.wait(5.0)
    host.processes(process(400, SGLANG, matched="sglang", started_s=host.mono))
    host.happen(HostSignals(**host.when, cgroup_oom_kills=3))
    assert host.state.judging.movement.cgroup_oom_kills == 0
    host.happen(HostSignals(**host.when, cgroup_oom_kills=4))
    assert host.state.judging.movement.cgroup_oom_kills == 1


def test_a_rank_that_went_is_told_after_half_a_second_and_stays_told(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    host.exits(102, main=False, code=-9)
    assert all(not each.gone for each in moment(host).ranks)
    host.wait(1.0)
    host.processes(launcher(), rank(101, "TP0"))
    found = moment(host).ranks
    assert [(each.name, bool(each.gone)) for each in found] == [("TP1", True), ("TP0", False)]
    assert found[0].gone_s == host.mono - 1.0


def test_a_server_that_stops_to_answer_is_unanswered_since_then(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    host.becomes_ready()
    assert moment(host).unanswered_s is None
    host.wait(10.0)
    host.probe("health", "timeout", "no answer in 25 s")
    host.wait(35.0)
    assert moment(host).unanswered_s == 35.0
    host.probe("health", status=200)
    assert moment(host).unanswered_s is None


@pytest.mark.parametrize("asked", ["health", "models", "token"])
def test_each_question_that_is_not_answered_counts(
    watched: Watch, asked: Literal["health", "models", "token"]
) -> None:
    host = watched()
    two_ranks(host)
    host.becomes_ready()
    host.probe(asked, "timeout", "no answer")
    host.wait(20.0)
    assert moment(host).unanswered_s == 20.0


def test_another_model_at_its_own_port_is_an_answer(watched: Watch) -> None:
    host = watched(model="another")
    two_ranks(host)
    host.log("server_args=ServerArgs(model_path='qwen')", READY_LINE)
    assert moment(host).answers == ""
    host.probe("port")
    host.probe("health", status=200)
    host.probe("models", status=200, models=["qwen"], detail="lists qwen")
    assert moment(host).answers == 'model: serves "qwen", expected "another"'


@pytest.mark.parametrize(
    ("kind", "over_network"),
    [
        ("nfs4", True),
        ("fuse.juicefs", True),
        ("lustre", True),
        ("fuse.fuse-overlayfs", False),
        ("ext4", False),
        ("overlay", False),
        (None, False),
    ],
)
def test_the_kind_of_mount_tells_whether_weights_come_over_a_network(
    watched: Watch, kind: str | None, over_network: bool
) -> None:
    host = watched()
    two_ranks(host)
    host.happen(HostSignals(**host.when, model_file_system=kind))
    assert moment(host).network_storage is over_network


def test_a_node_of_several_says_so(watched: Watch) -> None:
    host = watched()
    two_ranks(host, argv=f"{SGLANG} --nnodes 4 --node-rank 0")
    assert moment(host).nodes == 4


def test_a_lock_is_named_while_the_line_that_does_is_one_of_the_last(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    locks = [LockFile(path="/c/lock", age_s=60.0, kind="existence", open=False)]
    host.happen(Locks(**host.when, locks=locks))
    host.log("Still waiting to acquire lock on /c/lock (elapsed: 60.1 seconds)")
    named: list[bool] = []
    for _ in range(2):
        host.log(*(f"another line {number}" for number in range(199)))
        named += [each.named for each in moment(host).locks]
    assert named == [True, False]


def test_another_server_that_answers_at_the_port_of_one_that_loads_is_no_answer_of_it(watched: Watch) -> None:
    host = watched(model="another")
    two_ranks(host)
    host.log("server_args=ServerArgs(model_path='qwen')", BEGIN.format(0))
    host.probe("port")
    host.probe("health", status=200)
    host.probe("models", status=200, models=["qwen"], detail="lists qwen")
    assert moment(host).answers == ""


def test_the_next_load_begins_without_the_locks_and_losses_of_the_one_before(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    host.happen(
        Locks(**host.when, locks=[LockFile(path="/c/lock", age_s=60.0, kind="existence", open=False)])
    )
    host.exits(102, main=False)
    host.wait(1.0)
    assert [each.named for each in moment(host).locks] == [False]
    host.log("Still waiting to acquire lock on /c/lock (elapsed: 60.1 seconds)")
    assert [each.named for each in moment(host).locks] == [True]
    seen_from_outside = LockFile(path="/proc/100/root/c/lock", age_s=60.0, kind="existence", open=False)
    host.happen(Locks(**host.when, locks=[seen_from_outside]))
    assert [each.named for each in moment(host).locks] == [True]
    host.exits(100)
    host.wait(5.0)
    host.processes(process(400, SGLANG, matched="sglang", started_s=host.mono))
    found = moment(host)
    assert (found.locks, [each.pid for each in found.ranks], found.end) == ((), [400], None)


def test_of_locks_that_are_told_no_more_nothing_is_known(watched: Watch) -> None:
    host = watched()
    two_ranks(host)
    locks = [LockFile(path="/c/lock", age_s=60.0, kind="existence", open=False)]
    host.happen(Locks(**host.when, locks=locks))
    host.wait(15.0)
    assert moment(host).locks
    host.wait(10.0)
    assert not moment(host).locks


def word(host: WatchedHost) -> str | None:
    found = host.state.judgement(host.mono)
    return None if found is None else found.word


def test_a_rank_that_was_started_anew_is_not_mourned(watched: Watch) -> None:
    host = watched()
    main = process(100, SGLANG, matched="sglang", started_s=host.mono)
    ranks = [process(101 + at, f"sglang::scheduler_TP{at}", matched="sglang", ppid=100) for at in range(2)]
    host.processes(main, *ranks)
    host.wait(8.0)
    host.exits(102, main=False)
    host.wait(2.0)
    assert word(host) == "dead"
    heir = process(202, "sglang::scheduler_TP1", matched="sglang", ppid=100, started_s=host.mono)
    host.processes(main, ranks[0], heir)
    host.wait(2.0)
    assert word(host) != "dead"
    assert [(each.name, each.pid) for each in moment(host).ranks] == [("TP0", 101), ("TP1", 202)]
