"""A GPU that is lost, whose processes the driver lists no more."""

from verdict_asking import loaded, verdict

from tui.events import GpuProcess, GpuProcesses, Gpus, GpuSample


def test_a_lost_gpu_is_told_with_the_rank_that_held_it_though_its_processes_are_listed_no_more() -> None:
    host = loaded(2)
    host.now_s += 1.0
    when = {"mono_s": host.now_s, "wall_s": 0.0}
    lost = GpuSample(
        index=1,
        state="lost",
        memory_used_mib=None,
        memory_reserved_mib=None,
        memory_total_mib=143_771.0,
        utilisation_pct=None,
        memory_utilisation_pct=None,
        power_w=None,
        sentence="GPU 1 is lost",
    )
    host.movement.take(Gpus(gpus=[lost], cost_ms=0.1, **when))
    held = [GpuProcess(index=0, pid=101, memory_mib=9.0)]
    host.movement.take(GpuProcesses(processes=held, **when))
    found = verdict(host)

    assert (found.word, found.confidence, found.rank) == ("hung", "proof", "TP1")
    assert found.waiting == ("TP0",)
    assert "GPU 1 is lost" in found.sentence
    assert found.since_s == host.now_s
    host.now_s += 1.0
    host.movement.take(Gpus(gpus=[lost], cost_ms=0.1, mono_s=host.now_s, wall_s=0.0))
    assert verdict(host).since_s == host.now_s - 1.0


def test_a_gpu_that_is_there_is_held_by_whom_the_newest_list_names() -> None:
    host = loaded(2)
    host.movement.take(GpuProcesses(processes=[], mono_s=host.now_s, wall_s=0.0))

    assert not host.movement.of(host.ranks[1], host.now_s, None).gpus
