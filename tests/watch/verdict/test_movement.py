"""When each channel of a rank last moved."""

from dataclasses import replace

import pytest
from verdict_host import COMPILES, IDLES, LOADS, POLLS, SPINS, Doing, VerdictHost

from tui.engines.phase import Phase
from tui.events import GpuProcess, GpuProcesses, Process, Processes
from tui.watch.verdict.channels import Channel
from tui.watch.verdict.movement import RankMoves


def moves(host: VerdictHost, rank: int = 0) -> RankMoves:
    return host.movement.of(host.ranks[rank], host.now_s, host.situation.phase)


def moved(host: VerdictHost, rank: int = 0) -> set[Channel]:
    return {each.channel for each in moves(host, rank).moved}


@pytest.mark.parametrize(
    ("doing", "channel"),
    [
        (Doing(file_mib=0.1), Channel.FILE),
        (Doing(disk_mib=0.1), Channel.FILE),
        (Doing(anon_mib=1.0), Channel.HOST_MEMORY),
        (Doing(anon_mib=-1.0), Channel.HOST_MEMORY),
        (Doing(compiler_cpu=0.06, compilers=("cicc",)), Channel.COMPILE),
        (Doing(written_mib=0.1), Channel.WRITTEN),
        (Doing(memory_mib=1.0), Channel.GPU_MEMORY),
        (Doing(memory_util=2.0), Channel.GPU_WORK),
        (Doing(power_w=300.0), Channel.GPU_WORK),
    ],
)
def test_each_channel_moves_by_its_own_figure_alone(doing: Doing, channel: Channel) -> None:
    host = VerdictHost()
    host.run(40)
    host.doing[0] = doing
    host.run(35)
    assert moved(host) == {channel}
    assert moved(host, 1) == set()


@pytest.mark.parametrize(
    "doing",
    [
        Doing(cpu=1.0),
        Doing(wakeups=500.0),
        Doing(util=100.0),
        Doing(file_mib=0.02),
        Doing(anon_mib=0.3),
        Doing(written_mib=0.02),
        Doing(memory_mib=0.3),
        Doing(memory_util=1.0),
        Doing(power_w=250.0),
        Doing(pcie_mib=1.0),
    ],
)
def test_noise_cpu_time_and_utilisation_move_nothing(doing: Doing) -> None:
    host = VerdictHost()
    host.phase(Phase.WEIGHTS)
    host.run(40)
    host.doing[0] = doing
    host.run(120)
    assert moved(host) == set()


def test_noise_after_a_movement_does_not_prolong_it() -> None:
    host = VerdictHost()
    host.run(10)
    host.doing[0] = Doing(file_mib=500.0)
    host.run(2)
    ended_s = host.now_s
    host.doing[0] = Doing(file_mib=0.02)
    host.run(29)
    assert moves(host).quiet_since_s == ended_s


def test_swings_of_memory_to_and_fro_are_no_movement() -> None:
    host = VerdictHost()
    host.run(10)
    for _ in range(40):
        host.doing[0] = Doing(anon_mib=6.0)
        host.run(1)
        host.doing[0] = Doing(anon_mib=-6.0)
        host.run(1)
    assert Channel.HOST_MEMORY not in moved(host)


def test_bytes_to_the_gpu_count_in_the_weights_alone() -> None:
    host = VerdictHost()
    host.phase(Phase.WEIGHTS)
    host.run(10)
    host.doing[0] = Doing(pcie_mib=400.0)
    host.run(10)
    assert moved(host) == {Channel.PCIE}
    host.phase(Phase.CAPTURE)
    assert moved(host) == set()


def test_a_new_compiler_moves_and_one_that_only_stands_there_does_not() -> None:
    host = VerdictHost()
    host.run(5)
    host.doing[0] = Doing(compilers=("nvcc",))
    host.run(1)
    assert moved(host) == {Channel.COMPILE}
    host.run(31)
    assert moved(host) == set()


def test_figures_that_cannot_be_read_are_unknown_and_not_still() -> None:
    host = VerdictHost()
    host.all_do(replace(IDLES, io=False))
    host.run(60)
    rank = moves(host)
    assert set(rank.unknown) == {Channel.FILE, Channel.WRITTEN}
    assert rank.state_of(Channel.HOST_MEMORY) == "still"


def test_what_can_be_read_of_a_channel_moves_it_for_all() -> None:
    host = VerdictHost()
    host.all_do(replace(LOADS, io=False))
    host.run(20)
    assert Channel.FILE in moved(host)


def test_signals_that_stop_coming_become_unknown() -> None:
    host = VerdictHost()
    host.run(40)
    host.all_do(replace(IDLES, signals=False))
    host.run(10)
    rank = moves(host)
    assert not rank.signals
    assert Channel.FILE in rank.unknown


def test_a_line_moves_the_rank_that_it_names_and_one_without_a_name_no_rank() -> None:
    host = VerdictHost()
    host.run(40)
    host.movement.log_moved("TP1", host.now_s)
    assert moved(host, 1) == {Channel.LOG}
    assert moved(host, 0) == set()
    host.movement.log_moved(None, host.now_s)
    assert moved(host, 0) == set()
    assert host.movement.unplaced(host.ranks, host.now_s).moved


def test_a_bar_that_is_drawn_again_does_not_move() -> None:
    host = VerdictHost()
    host.bar(3, 52)
    host.run(60, lambda _: host.bar(3, 52))
    assert not host.movement.unplaced(host.ranks, host.now_s).moved
    host.bar(4, 52)
    assert host.movement.unplaced(host.ranks, host.now_s).moved


def test_blind_time_voids_the_windows_and_is_kept_to_be_told() -> None:
    host = VerdictHost()
    host.all_do(LOADS)
    host.run(60)
    host.blind(100.0)
    assert host.movement.blind_s(host.now_s) == 100.0
    host.all_do(IDLES)
    host.run(5)
    assert moved(host) == set()
    assert moves(host).quiet_since_s == host.now_s - 4.0
    assert list(host.movement.blinds) == [(host.now_s - 105.0, host.now_s - 4.0)]


def test_a_link_that_was_lost_for_a_moment_voids_the_windows_too() -> None:
    host = VerdictHost()
    host.run(50)
    host.movement.link_lost(host.now_s)
    host.run(1)
    assert moves(host).quiet_since_s >= host.now_s - 1.0


def test_the_state_of_a_rank_is_dated_from_its_first_reading() -> None:
    host = VerdictHost()
    host.run(10)
    host.doing[0] = replace(IDLES, state="T")
    host.run(4)
    assert (moves(host).state, moves(host).state_s) == ("T", 3.0)


def test_a_list_of_processes_tells_states_where_signals_do_not() -> None:
    host = VerdictHost()
    stopped = Process(
        pid=101, ppid=1, started_s=0.0, uid=0, user="u", state="T", title="x", argv=None, matched=None,
        cwd=None, stdout=None, stderr=None, container=None, environment=None,
    )  # fmt: skip
    host.movement.take(Processes(processes=[stopped], mono_s=host.now_s, wall_s=0.0))
    assert moves(host).state == "T"


# The signature of a wait.


def test_a_gpu_that_waits_is_told_by_its_units_and_its_power() -> None:
    host = VerdictHost()
    host.run(20)
    host.doing = [SPINS, IDLES]
    host.run(20)
    assert moves(host, 0).waiting_s is not None
    assert moves(host, 1).waiting_s is None


@pytest.mark.parametrize("power_w", [123.0, 143.9])
def test_without_units_low_power_within_20_w_of_idle_tells_a_wait(power_w: float) -> None:
    host = VerdictHost()
    host.run(20)
    host.doing[0] = replace(SPINS, gpm=False, power_w=power_w)
    host.run(20)
    assert moves(host).waiting_s is not None


@pytest.mark.parametrize(
    "doing",
    [
        replace(SPINS, gpm=False, power_w=145.0),
        replace(SPINS, gpm=False, util=98.0),
        replace(SPINS, gpm=False, memory_util=1.0),
        replace(SPINS, sm=46.0, dram=55.0),
        replace(SPINS, tensor=3.0),
        replace(SPINS, sm=100.0, power_w=145.0),
    ],
)
def test_a_gpu_that_works_does_not_wait(doing: Doing) -> None:
    host = VerdictHost()
    host.run(20)
    host.doing[0] = doing
    host.run(20)
    assert moves(host).waiting_s is None


def test_idle_power_is_learnt_with_a_context_and_lent_by_the_other_gpus() -> None:
    host = VerdictHost(2, doing=[replace(SPINS, gpm=False), IDLES])
    host.run(20)
    assert moves(host, 0).waiting_s is not None
    assert moves(host, 1).gpus[0].idle_w == 124.0


def test_a_gpu_of_several_jobs_tells_no_work_of_the_rank() -> None:
    host = VerdictHost(1)
    users = [GpuProcess(index=0, pid=pid, memory_mib=None) for pid in (101, 999)]
    host.movement.take(GpuProcesses(processes=users, mono_s=host.now_s, wall_s=0.0))
    host.doing[0] = Doing(memory_util=80.0)
    host.run(10)
    assert moved(host) == set()


def test_what_a_process_moved_counts_after_its_end() -> None:
    host = VerdictHost(2)
    host.doing = [Doing(written_mib=50.0), POLLS]
    host.run(20)
    ended_s = host.now_s
    host.doing[0] = replace(IDLES, signals=False)
    host.run(12)
    rest = host.movement.unplaced((), host.now_s)
    assert rest.quiet_since_s == ended_s


def test_compilers_under_one_rank_move_that_rank_alone() -> None:
    host = VerdictHost(2)
    host.run(10)
    host.doing = [COMPILES, POLLS]
    host.run(55)
    assert moved(host, 0) == {Channel.COMPILE}
    assert moved(host, 1) == set()


def test_a_bar_names_the_item_under_way_and_another_item_is_a_movement() -> None:
    host = VerdictHost(1)
    host.run(1)
    host.bar(17, 36, current="bs=120")
    began_s = host.now_s
    host.run(60, lambda _: host.bar(17, 36, current="bs=120"))
    rest = host.movement.unplaced(host.ranks, host.now_s)
    assert (host.movement.bar.words, rest.quiet_since_s) == ("17 of 36, bs=120 under way", began_s)
    host.bar(17, 36, current="bs=128")
    assert host.movement.unplaced(host.ranks, host.now_s).quiet_since_s == host.now_s
    assert host.movement.bar.longest_gap_s is None


@pytest.mark.parametrize(
    ("one", "other"),
    [((3, 52), (1, 8)), ((3, 52), (2, 52)), ((0, 52), (52, 52))],
    ids=["another total", "less far", "drawn anew"],
)
def test_two_bars_that_stand_still_and_are_redrawn_in_turn_do_not_move(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    host = VerdictHost(1)
    host.bar(*one)
    host.bar(*other)
    host.run(40, lambda second: host.bar(*(one if second % 2 else other)))
    rest = host.movement.unplaced(host.ranks, host.now_s)
    assert (rest.moved, rest.quiet_since_s) == ((), host.now_s - 40)


def test_two_bars_of_other_items_are_two_and_both_move() -> None:
    host = VerdictHost(1)
    host.bar(3, 52, unit="shards")
    host.run(5)
    host.bar(3, 52, unit="graphs")
    rest = host.movement.unplaced(host.ranks, host.now_s)
    assert rest.quiet_since_s == host.now_s
    host.run(5)
    host.bar(4, 52, unit="shards")
    assert host.movement.unplaced(host.ranks, host.now_s).quiet_since_s == host.now_s
    assert host.movement.bar.words == "4 of 52"


def test_the_gaps_of_a_bar_outlive_the_redraws_of_another() -> None:
    host = VerdictHost(1)

    def draw(second: int) -> None:
        host.bar(1 + second // 10, 52)
        host.bar(1, 8)

    host.run(41, draw)
    assert (host.movement.bar.total, host.movement.bar.longest_gap_s) == (52, 10.0)


def test_a_bar_that_is_drawn_anew_moves_with_its_first_item() -> None:
    host = VerdictHost(1)
    host.bar(36, 36)
    host.run(5)
    host.bar(0, 36)
    assert host.movement.bar.words == "0 of 36"
    host.run(5)
    host.bar(1, 36)
    assert host.movement.unplaced(host.ranks, host.now_s).quiet_since_s == host.now_s
    assert host.movement.bar.began_s == host.now_s - 5


def test_the_same_bar_in_another_phase_is_another() -> None:
    host = VerdictHost(1)
    host.bar(8, 8)
    host.run(5)
    host.phase(Phase.WARMUP)
    host.bar(8, 8)
    assert host.movement.unplaced(host.ranks, host.now_s).quiet_since_s == host.now_s


def test_a_log_of_many_bars_is_not_remembered_without_end() -> None:
    host = VerdictHost(1)
    for total in range(1, 10):
        host.bar(1, total)
    host.run(5)
    host.bar(1, 2)
    assert host.movement.unplaced(host.ranks, host.now_s).quiet_since_s == host.now_s - 5
    host.bar(1, 1)
    assert host.movement.unplaced(host.ranks, host.now_s).quiet_since_s == host.now_s


def test_a_level_tells_by_how_much_it_changed_not_only_where_it_stands() -> None:
    host = VerdictHost(1, doing=[Doing(memory_mib=200.0, anon_mib=-20.0)])
    host.run(20)
    found = host.movement.of(host.ranks[0], host.now_s, Phase.CAPTURE)
    memory, anon = found.of(Channel.GPU_MEMORY), found.of(Channel.HOST_MEMORY)
    assert memory is not None
    assert anon is not None
    assert memory.figure.startswith("memory of GPU 0 +200 MiB, now ")
    assert anon.figure.startswith("host memory -")
