"""What looks like a hang and is none: the cases of the stalls research, 3.4, and silences of H200s."""

from dataclasses import replace

import pytest
from verdict_asking import numbers
from verdict_host import COMPILES, IDLES, LOADS, POLLS, SPINS, Doing, VerdictHost

from tui.engines.phase import Phase
from tui.events import GpuProcess, GpuProcesses
from tui.watch.verdict.rules import judge

ALARMS = {"stalled", "hung", "suspended", "dead"}


def told(host: VerdictHost, seconds: int) -> set[str]:
    """Run, and return every word that was said, asking each 5 s."""
    said: set[str] = set()

    def ask(second: int) -> None:
        if second % 5 == 0 or second == seconds:
            said.add(judge(host.at(), host.movement).word)

    host.run(seconds, ask)
    return said


def in_phase(phase: Phase, doing: Doing, count: int = 8) -> VerdictHost:
    host = VerdictHost(count)
    host.all_do(LOADS)
    host.phase(Phase.WEIGHTS)
    host.run(10)
    host.phase(phase)
    host.all_do(doing)
    return host


def test_a_capture_of_52_sizes_with_a_line_each_few_seconds_never_alarms() -> None:
    host = in_phase(Phase.CAPTURE, replace(SPINS, cpu=1.0))
    said: set[str] = set()
    host.bar(0, 52)
    for done in range(1, 53):
        said |= told(host, 1 + done % 7)
        host.bar(done, 52)
    assert said == {"progressing"}


@pytest.mark.parametrize("minutes", [10, 20])
def test_a_silent_compile_of_minutes_under_one_rank_is_progress(minutes: int) -> None:
    host = in_phase(Phase.COMPILE, POLLS)
    host.doing[6] = COMPILES
    assert told(host, minutes * 60) == {"progressing"}
    found = judge(host.at(), host.movement)
    assert (found.rank, len(found.waiting)) == ("TP6", 7)


def test_a_first_torch_compile_moves_by_its_workers() -> None:
    busy = Doing(state="R", wchan="0", cpu=1.0, compiler_cpu=12.0, compilers=("compile_worker",))
    assert told(in_phase(Phase.COMPILE, busy), 600) == {"progressing"}


def test_a_first_torch_compile_without_workers_moves_by_its_stack() -> None:
    """Dynamo traces in the process itself: only dumps of its stack show that it goes on."""
    host = in_phase(Phase.COMPILE, Doing(state="R", wchan="0", cpu=1.0), count=1)
    said: set[str] = set()
    for _ in range(60):
        said |= told(host, 10)
        host.movement.stack_moved(101, host.now_s)
    assert said == {"progressing"}


def test_cold_network_storage_with_idle_gpus_moves() -> None:
    slow = Doing(state="D", wchan="folio_wait_bit_common", file_mib=28.0, pcie_mib=28.0, wakeups=200.0)
    assert told(in_phase(Phase.WEIGHTS, slow), 900) == {"progressing"}


def test_weights_from_the_page_cache_move_without_any_read_bytes() -> None:
    cached = Doing(state="R", wchan="0", cpu=1.0, file_mib=1500.0)
    assert told(in_phase(Phase.WEIGHTS, cached), 60) == {"progressing"}


def test_one_rank_that_reads_for_all_is_progress_of_all() -> None:
    host = in_phase(Phase.WEIGHTS, replace(IDLES, wchan="futex_do_wait"))
    host.doing[0] = Doing(state="D", disk_mib=300.0, file_mib=300.0)
    assert told(host, 600) == {"progressing"}


def test_lines_of_a_heartbeat_are_neither_progress_nor_alarm() -> None:
    host = in_phase(Phase.COMPILE, COMPILES)
    assert told(host, 300) == {"progressing"}
    host.all_do(POLLS)
    assert told(host, 200) == {"progressing", "quiet"}


def test_repacking_on_one_cpu_thread_is_no_hang() -> None:
    repacks = Doing(state="R", wchan="0", cpu=1.0)
    assert told(in_phase(Phase.KV_CACHE, repacks), 170) <= {"progressing", "quiet"}
    host = in_phase(Phase.KV_CACHE, repacks)
    assert "hung" not in told(host, 600)
    assert "py-spy" in judge(host.at(), host.movement).next_step


def test_a_sample_that_comes_late_starts_the_silence_anew() -> None:
    host = in_phase(Phase.WEIGHTS, POLLS)
    for _ in range(20):
        assert told(host, 50) <= {"progressing", "quiet"}
        host.blind(20.0)


def test_a_laptop_that_slept_has_seen_no_silence() -> None:
    host = in_phase(Phase.WEIGHTS, LOADS)
    host.run(10)
    host.blind(3600.0)
    found = judge(host.at(), host.movement)
    assert found.word == "quiet"
    assert "nothing heard" in found.sentence
    host.all_do(POLLS)
    assert told(host, 55) == {"quiet"}
    assert any("not seen" in figure for figure in judge(host.at(), host.movement).figures)
    assert "not seen" in numbers(judge(host.at(), host.movement), "link")
    host.all_do(LOADS)
    host.run(5)
    host.all_do(IDLES)
    host.run(40)
    later = judge(host.at(), host.movement)
    assert not any("not seen" in figure for figure in later.figures), "silence counts from its end no more"
    assert "not seen" not in numbers(later, "link")


def test_a_log_that_comes_in_blocks_or_not_at_all_is_only_one_channel() -> None:
    """Pipes are written in blocks, and a rotated log may be read no further."""
    host = in_phase(Phase.WEIGHTS, LOADS)
    assert told(host, 900) == {"progressing"}
    assert not any("line of progress" in each.numbers for each in judge(host.at(), host.movement).rules)


def test_a_slice_of_a_gpu_that_has_no_utilisation_moves_by_its_power() -> None:
    sliced = replace(POLLS, util=None, memory_util=None, gpm=False, power_w=400.0)
    assert told(in_phase(Phase.WARMUP, sliced, count=1), 600) == {"progressing"}


def test_memory_at_its_limit_alone_alarms_nothing() -> None:
    host = in_phase(Phase.WEIGHTS, LOADS)
    host.memory_full_pct = 4.0
    assert told(host, 300) == {"progressing"}


def test_the_work_of_another_job_on_the_gpu_is_not_taken_for_the_servers() -> None:
    host = in_phase(Phase.WEIGHTS, replace(POLLS, util=100.0, memory_util=60.0, power_w=500.0), count=1)
    users = [GpuProcess(index=0, pid=pid, memory_mib=None) for pid in (101, 999)]
    host.movement.take(GpuProcesses(processes=users, mono_s=host.now_s, wall_s=0.0))
    assert "stalled" in told(host, 80)


@pytest.mark.parametrize(
    ("phase", "other"),
    [(Phase.CAPTURE, replace(IDLES, memory_mib=20.0)), (Phase.WEIGHTS, replace(IDLES, pcie_mib=100.0))],
)
def test_memory_and_bytes_of_another_job_on_the_gpu_hide_no_hang(phase: Phase, other: Doing) -> None:
    host = in_phase(phase, SPINS, count=2)
    host.doing[1] = other
    held = [
        GpuProcess(index=index, pid=pid, memory_mib=900.0) for index, pid in ((0, 101), (1, 102), (1, 999))
    ]
    host.movement.take(GpuProcesses(processes=held, mono_s=host.now_s, wall_s=0.0))
    assert "hung" in told(host, 100)
    found = judge(host.at(), host.movement)
    assert found.rank == "TP1"


def test_on_a_shared_gpu_the_memory_of_the_rank_itself_is_a_movement() -> None:
    host = in_phase(Phase.CAPTURE, SPINS, count=2)
    host.doing[1] = IDLES
    for step in range(20):
        held = [
            GpuProcess(index=index, pid=pid, memory_mib=900.0 + 20.0 * step * (pid == 102))
            for index, pid in ((0, 101), (1, 102), (1, 999))
        ]
        host.movement.take(GpuProcesses(processes=held, mono_s=host.now_s, wall_s=0.0))
        assert told(host, 20) == {"progressing"}


def test_ranks_of_one_server_on_one_gpu_are_no_other_job() -> None:
    host = in_phase(Phase.WEIGHTS, replace(POLLS, pcie_mib=100.0), count=2)
    held = [
        GpuProcess(index=index, pid=pid, memory_mib=None) for index, pid in ((0, 101), (1, 102), (0, 102))
    ]
    host.movement.take(GpuProcesses(processes=held, mono_s=host.now_s, wall_s=0.0))
    assert told(host, 300) == {"progressing"}


def test_files_of_another_user_that_cannot_be_read_never_make_a_hang() -> None:
    for doing in (replace(POLLS, io=False), replace(LOADS, io=False, file_mib=0.0, pcie_mib=0.0, cpu=0.3)):
        assert "hung" not in told(in_phase(Phase.WEIGHTS, doing), 900)


def test_a_download_that_cannot_be_seen_is_no_stall_while_it_uses_the_cpu() -> None:
    unseen = Doing(state="S", wchan=None, cpu=0.3, wakeups=900.0, io=False)
    host = in_phase(Phase.LAUNCH, unseen, count=1)
    assert told(host, 900) <= {"progressing", "quiet"}
    found = judge(host.at(), host.movement)
    assert found.until_s is None
    assert "cannot be read" in found.sentence


def test_files_of_a_missing_rank_that_cannot_be_read_are_no_proof_while_it_wakes_up() -> None:
    host = in_phase(Phase.WEIGHTS, SPINS)
    host.doing[2] = replace(POLLS, io=False)
    assert "hung" not in told(host, 300)


def test_without_any_signals_nothing_is_called_a_stall() -> None:
    host = in_phase(Phase.LAUNCH, replace(POLLS, signals=False), count=1)
    host.gpus = False
    assert told(host, 1200) <= {"progressing", "quiet"}
    assert judge(host.at(), host.movement).until_s is None


@pytest.mark.parametrize(
    ("phase", "silence_s"),
    [(Phase.LAUNCH, 15), (Phase.LAUNCH, 38), (Phase.CAPTURE, 55), (Phase.COMPILE, 16), (Phase.WEIGHTS, 4)],
)
def test_the_longest_silences_measured_in_healthy_loads_never_alarm(phase: Phase, silence_s: int) -> None:
    host = in_phase(phase, POLLS, count=2)
    assert not told(host, silence_s) & ALARMS


def test_a_late_rank_of_many_is_waited_for_as_long_as_it_moves() -> None:
    host = in_phase(Phase.WEIGHTS, SPINS)
    host.doing[7] = LOADS
    assert told(host, 720) == {"progressing"}
    found = judge(host.at(), host.movement)
    assert (found.rank, "7 wait for TP7" in found.sentence) == ("TP7", True)


@pytest.mark.parametrize(
    "doing",
    [IDLES, POLLS, Doing(state="D", wchan="folio_wait_bit_common"), replace(IDLES, threads="SSD")],
    ids=["asleep", "polls", "in the kernel", "a thread in the kernel"],
)
def test_a_reader_of_signals_that_hangs_lets_nobody_stand_still(doing: Doing) -> None:
    """What was read last says nothing of now, though the rest of the host is heard."""
    host = in_phase(Phase.CAPTURE, doing, count=2)
    host.run(8)
    host.all_do(replace(doing, signals=False))
    assert not told(host, 600) & ALARMS
    assert "not read" in judge(host.at(), host.movement).sentence


def test_signals_that_come_again_tell_of_the_standstill_at_once() -> None:
    host = in_phase(Phase.CAPTURE, IDLES, count=2)
    host.run(8)
    host.all_do(replace(IDLES, signals=False))
    host.run(100)
    host.all_do(IDLES)
    host.run(2)
    assert judge(host.at(), host.movement).word == "hung"
