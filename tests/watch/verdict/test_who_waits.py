"""Who is said to wait for whom while a load moves, and on a GPU that two ranks share."""

from dataclasses import replace

from verdict_asking import loaded, verdict
from verdict_host import COMPILES, IDLES, LOADS, POLLS, SPINS, Doing, VerdictHost

from tui.engines.phase import Phase
from tui.events import GpuProcess, GpuProcesses
from tui.watch.verdict.scene import scene
from tui.watch.verdict.situation import Rank

WORKS = Doing(state="R", wchan="0", cpu=1.0)
SHARED = replace(SPINS, power_w=128.0, sm=1.5)


def on_gpus(host: VerdictHost, *users: tuple[int, int]) -> None:
    """The driver tells which processes (index, pid) use which GPU."""
    told = [GpuProcess(index=index, pid=pid, memory_mib=None) for index, pid in users]
    host.movement.take(GpuProcesses(processes=told, mono_s=host.now_s, wall_s=0.0))


def after_weights(*doing: Doing, seconds: int) -> VerdictHost:
    """Return a host whose ranks have loaded until now and then do other things for some seconds."""
    host = VerdictHost(len(doing), doing=[LOADS] * len(doing))
    host.phase(Phase.WEIGHTS)
    host.run(40)
    host.phase(Phase.CAPTURE)
    host.doing = list(doing)
    host.run(seconds)
    return host


def test_who_polls_while_one_rank_builds_is_said_to_wait_before_its_weights_are_forgotten() -> None:
    found = verdict(after_weights(POLLS, COMPILES, POLLS, seconds=29))
    assert (found.word, found.rank, found.waiting) == ("progressing", "TP1", ("TP0", "TP2"))


def test_who_has_rested_for_10_s_waits_for_the_one_that_moves() -> None:
    named = [verdict(after_weights(POLLS, COMPILES, POLLS, seconds=seconds)).rank for seconds in (8, 16)]
    assert named == [None, "TP1"]


def test_nobody_is_said_to_wait_who_has_moved_a_moment_ago() -> None:
    found = verdict(after_weights(POLLS, COMPILES, POLLS, seconds=5))
    assert (found.word, found.rank, found.waiting) == ("progressing", None, ())


def test_who_works_on_its_cpu_does_not_wait() -> None:
    found = verdict(after_weights(WORKS, COMPILES, POLLS, seconds=60))
    assert (found.word, found.rank, found.waiting) == ("progressing", None, ("TP2",))
    assert "TP2 waits while others move" in found.sentence


def test_nobody_is_waited_for_because_it_writes_the_log_for_all() -> None:
    host = loaded(4, Phase.COMPILE, seconds=60)
    host.movement.log_moved("TP0", host.now_s)
    found = verdict(host)
    assert (found.word, found.rank, found.waiting) == ("progressing", None, ())


def test_on_a_shared_gpu_the_one_that_spins_on_its_cpu_waits_for_the_other() -> None:
    host = loaded(2, Phase.CAPTURE)
    on_gpus(host, (0, 101), (0, 102))
    host.doing = [SHARED, IDLES]
    host.run(61)
    found = verdict(host)
    assert (found.word, found.rank, found.pid, found.waiting) == ("hung", "TP1", 102, ("TP0",))


def test_on_gpus_of_their_own_all_that_spin_wait() -> None:
    host = loaded(2, Phase.CAPTURE)
    host.all_do(SPINS)
    host.run(61)
    found = verdict(host)
    assert (found.word, found.rank) == ("hung", None)
    assert "none is missing" in found.sentence


def test_work_on_a_gpu_whose_users_are_numbered_otherwise_is_the_servers() -> None:
    """In a container the driver's process ids are not those of /proc."""
    host = loaded(2, Phase.WARMUP)
    on_gpus(host, (0, 7101), (1, 7102))
    host.situation = replace(
        host.situation, ranks=tuple(replace(rank, gpus=(at,)) for at, rank in enumerate(host.ranks))
    )
    host.all_do(replace(WORKS, util=100.0, memory_util=60.0, power_w=500.0))
    host.run(400)
    assert verdict(host).word == "progressing"


def test_a_compiler_that_has_just_been_started_is_told_as_that() -> None:
    host = loaded(2, Phase.CAPTURE, seconds=60)
    host.doing = [POLLS, Doing(compilers=("compile_worker",), wchan="anon_pipe_read")]
    host.run(2)
    assert "which moves (compile_worker: started)" in verdict(host).sentence


def test_ranks_are_named_in_the_order_of_their_names_though_process_ids_wrap_around() -> None:
    host = VerdictHost()
    ranks = (Rank("TP10", 5), Rank("TP2", 7), Rank("TP0", 32_767))
    seen = scene(replace(host.situation, now_s=host.now_s, ranks=ranks), host.movement)
    assert seen.others(None) == ("TP0", "TP2", "TP10")
