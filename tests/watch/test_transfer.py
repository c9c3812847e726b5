"""The weights phase by what came over PCIe: from bare readings, and in the state of a watch."""

import pytest
from msgspec.structs import replace
from watched_host import Watch, WatchedHost, process

from tui.engines.base import ServerArguments
from tui.events import Checkpoint, GpuDetail, GpuDetails, GpuProcess, GpuProcesses, History
from tui.past_load import PastLoad
from tui.watch.transfer import (
    EXCESS,
    KEPT,
    OVERHEAD,
    Expected,
    Readings,
    Transfer,
    expectation,
    gpus_of,
    shards_of,
    transfer,
)

GIB = 1024.0
TEN_GIB = Expected(10 * GIB, "checkpoint")


def readings(*totals: float | None, every_s: float = 5.0) -> Readings:
    made = Readings()
    for number, total in enumerate(totals):
        made.take(number * every_s, total)
    return made


def of(
    known: dict[int, Readings],
    expected: Expected | None = TEN_GIB,
    *,
    began_s: float = 6.0,
    ended_s: float | None = None,
    now_s: float = 15.0,
) -> Transfer:
    found = transfer(known, known.keys(), expected, began_s=began_s, ended_s=ended_s, now_s=now_s)
    assert found is not None
    return found


def test_the_fraction_counts_from_the_reading_before_the_phase_began() -> None:
    found = of({0: readings(0, 50, 50 + GIB, 50 + 4 * GIB)})
    assert found.received_mib == 4 * GIB
    assert found.fraction == pytest.approx(0.4)
    assert (found.at_s, found.basis, found.expected_mib) == (15.0, "checkpoint", 10 * GIB)


def test_the_rate_is_that_of_the_last_10_seconds_and_of_the_phase_alone() -> None:
    young = of({0: readings(0, 0, 4 * GIB)}, now_s=10.0)
    assert young.rate_mib_s == pytest.approx(4 * GIB / 4)
    older = of({0: readings(0, 0, GIB, 3 * GIB, 5 * GIB, 9 * GIB)}, now_s=25.0)
    assert older.rate_mib_s == pytest.approx(6 * GIB / 10)
    assert older.left_s == pytest.approx(10 / 6)


def test_a_phase_that_began_a_moment_ago_has_no_rate_yet() -> None:
    assert of({0: readings(0, 0)}, began_s=5.0, now_s=5.1).rate_mib_s is None
    assert of({0: readings(0, 0, 100)}, began_s=9.5, now_s=10.0).rate_mib_s is None


def test_readings_that_no_longer_come_give_no_rate() -> None:
    known = {0: readings(0, 0, GIB, 3 * GIB)}
    assert of(known, now_s=26.0).rate_mib_s is not None
    stale = of(known, now_s=28.0)
    assert (stale.rate_mib_s, stale.left_s) == (None, None)
    assert stale.fraction == pytest.approx(0.3)


def test_the_fraction_stays_below_one_until_the_phase_has_ended() -> None:
    known = {0: readings(0, 0, 5 * GIB, 10.2 * GIB)}
    assert of(known).fraction == 0.99
    assert of(known, ended_s=14.0).fraction == 1.0
    assert of(known, ended_s=14.0).rate_mib_s is None


def test_what_comes_after_the_phase_is_not_counted() -> None:
    assert of({0: readings(0, 0, 5 * GIB, 5 * GIB, 9 * GIB)}, ended_s=11.0).received_mib == 5 * GIB


def test_much_more_than_expected_means_that_nothing_is_known() -> None:
    most = of({0: readings(0, 0, 0, 10 * GIB * EXCESS)})
    over = of({0: readings(0, 0, 0, 10 * GIB * EXCESS + 1)})
    assert most.fraction == 0.99
    assert (over.fraction, over.gpus[0].fraction, over.left_s) == (None, None, None)
    assert over.rate_mib_s is not None


def test_without_an_expectation_there_are_bytes_and_a_rate_alone() -> None:
    found = of({0: readings(0, 0, GIB, 3 * GIB)}, None)
    assert (found.fraction, found.left_s, found.basis, found.expected_mib) == (None, None, None, None)
    assert found.received_mib == 3 * GIB


def test_the_whole_is_over_all_gpus_and_the_time_left_that_of_the_slowest() -> None:
    found = of({0: readings(0, 0, 4 * GIB, 8 * GIB), 1: readings(0, 0, GIB, 2 * GIB)})
    assert found.fraction == pytest.approx(0.5)
    assert [gpu.fraction for gpu in found.gpus] == [pytest.approx(0.8), pytest.approx(0.2)]
    assert found.left_s == found.gpus[1].left_s
    assert found.mean_received_mib == 5 * GIB


def test_a_gpu_that_does_not_say_leaves_nothing_to_count() -> None:
    known = {0: readings(0, 0, GIB), 1: readings(None, None, None)}
    assert transfer(known, {0, 1}, TEN_GIB, began_s=6.0, ended_s=None, now_s=10.0) is None
    assert transfer(known, {0, 7}, TEN_GIB, began_s=6.0, ended_s=None, now_s=10.0) is None
    assert transfer(known, set(), TEN_GIB, began_s=6.0, ended_s=None, now_s=10.0) is None


def test_a_phase_that_had_begun_before_the_first_reading_is_not_counted() -> None:
    known = {0: readings(0, GIB)}
    assert transfer(known, {0}, TEN_GIB, began_s=-1.0, ended_s=None, now_s=5.0) is None


def test_a_reading_that_failed_is_passed_over() -> None:
    assert of({0: readings(0, 0, None, 3 * GIB)}).received_mib == 3 * GIB


def test_a_reader_that_begins_anew_in_the_phase_leaves_nothing_to_count() -> None:
    known = {0: readings(0, 0, 3 * GIB, 0, GIB)}
    assert transfer(known, {0}, TEN_GIB, began_s=6.0, ended_s=None, now_s=20.0) is None
    assert of(known, began_s=16.0, now_s=20.0).received_mib == GIB


def test_readings_do_not_grow_without_bound() -> None:
    made = Readings()
    for number in range(KEPT + 10):
        made.take(float(number), float(number))
    assert (len(made.times), made.times[0], made.totals[-1]) == (KEPT, 10.0, KEPT + 9.0)


def test_the_best_basis_is_a_past_load_then_the_files_then_the_engines_word() -> None:
    size = 8 * 1024**3
    past = expectation(2, past_load_mib=4400.0, checkpoint_bytes=size, printed_gib=9.0)
    assert past == Expected(4400.0, "past_load")
    assert expectation(2, checkpoint_bytes=size, printed_gib=9.0) == Expected(
        4 * GIB * OVERHEAD, "checkpoint"
    )
    assert expectation(2, printed_gib=9.0) == Expected(4.5 * GIB * OVERHEAD, "printed")
    assert expectation(2) is None
    assert expectation(None, checkpoint_bytes=size) is None
    assert expectation(None, past_load_mib=4400.0) == Expected(4400.0, "past_load")


@pytest.mark.parametrize(
    ("arguments", "held", "shards"),
    [
        (ServerArguments(tensor_parallel=8), 8, 8),
        (ServerArguments(tensor_parallel=8, pipeline_parallel=2), 8, 16),
        (ServerArguments(tensor_parallel=2, data_parallel=4), 8, 2),
        (ServerArguments(data_parallel=4), 4, 1),
        (ServerArguments(data_parallel=4, expert_parallel=True), 4, None),
        (ServerArguments(tensor_parallel=8, expert_parallel=True), 8, 8),
        (ServerArguments(), 1, 1),
        (ServerArguments(), 4, 4),
        (ServerArguments(), 0, None),
        (ServerArguments(config_path="c.yaml"), 4, None),
        (ServerArguments(config_path="c.yaml"), 1, 1),
    ],
)
def test_weights_are_shared_out_by_the_shape_of_the_server(
    arguments: ServerArguments, held: int, shards: int | None
) -> None:
    assert shards_of(arguments, held) == shards


def test_gpus_are_those_held_or_all_where_the_shape_needs_all() -> None:
    shape = ServerArguments(tensor_parallel=2, data_parallel=2)
    assert gpus_of(shape, {1, 3}, range(8)) == {1, 3}
    assert gpus_of(shape, (), range(4)) == {0, 1, 2, 3}
    assert gpus_of(shape, (), range(8)) == set()


# In a watch.


BLANK = GpuDetail(
    index=0,
    temperature_c=None,
    sm_clock_mhz=None,
    memory_clock_mhz=None,
    event_reasons=None,
    ecc_uncorrected=None,
    pcie_generation=None,
    pcie_width=None,
)


def details(host: WatchedHost, *received: float | None) -> None:
    gpus = [replace(BLANK, index=index, pcie_received_mib=mib) for index, mib in enumerate(received)]
    host.happen(GpuDetails(**host.when, gpus=gpus, cost_ms=1.0))


def checkpoint(host: WatchedHost, weight_bytes: int | None, model: str = "/models/qwen") -> None:
    host.happen(Checkpoint(**host.when, model=model, weight_bytes=weight_bytes, files=17))


def loading(host: WatchedHost) -> None:
    """A server on two of four GPUs comes to its weights at 10 s."""
    host.hello()
    main = host.starts()
    ranks = [
        process(101 + rank, f"sglang::scheduler_TP{rank}", matched="sglang", ppid=100) for rank in (0, 1)
    ]
    host.processes(main, *ranks)
    host.log("server_args=ServerArgs(model_path='qwen')")
    details(host, 5.0, 9000.0, 9.0, 1.0)
    host.wait(10)
    held = [GpuProcess(index=rank + 1, pid=101 + rank, memory_mib=700.0) for rank in (0, 1)]
    other = GpuProcess(index=0, pid=999, memory_mib=700.0)
    host.happen(GpuProcesses(**host.when, processes=[other, *held]))
    host.log("[2026-11-29 13:48:34 TP0] Load weight begin. avail mem=9 GB")


def test_a_watch_tells_how_far_the_weights_of_its_server_are(watched: Watch) -> None:
    host = watched()
    loading(host)
    checkpoint(host, 32 * 1024**3)
    assert host.state.transfer(host.mono) is not None
    host.wait(5)
    details(host, 70000.0, 9000.0 + 8 * GIB * OVERHEAD, 9.0 + 4 * GIB * OVERHEAD, 1.0)
    came = host.state.transfer(host.mono)
    assert came is not None
    assert [gpu.index for gpu in came.gpus] == [1, 2]
    assert came.fraction == pytest.approx(12 / 32)
    assert [gpu.fraction for gpu in came.gpus] == [pytest.approx(0.5), pytest.approx(0.25)]


def test_a_watch_without_a_size_tells_bytes_and_no_fraction(watched: Watch) -> None:
    host = watched()
    loading(host)
    for size, model in ((None, "/models/qwen"), (10**9, "/models/other")):
        checkpoint(host, size, model)
        host.wait(5)
        details(host, 0.0, 12000.0, 3009.0, 1.0)
        came = host.state.transfer(host.mono)
        assert came is not None
        assert (came.fraction, came.received_mib) == (None, 6000.0)


def test_before_the_weights_and_where_gpus_do_not_say_there_is_nothing(watched: Watch) -> None:
    host = watched()
    host.hello()
    assert host.state.transfer(host.mono) is None
    host.starts()
    assert host.state.transfer(host.mono) is None
    silent = watched()
    loading(silent)
    silent.state.gpus.by_index.clear()
    details(silent, None, None, None, None)
    assert silent.state.transfer(silent.mono) is None


def test_a_past_load_of_the_same_kind_is_the_best_measure(watched: Watch) -> None:
    host = watched()
    loading(host)
    past = PastLoad(
        engine="sglang",
        version=None,
        model="/models/qwen",
        host="gpu01",
        gpus=2,
        gpu_name=None,
        tensor_parallel=2,
        pipeline_parallel=None,
        data_parallel=None,
        wall_s=1.0,
        ready_s=100.0,
        phases=[],
        pcie_received_mib=5000.0,
    )
    host.happen(History(**host.when, sentence="", loads=[past]))
    checkpoint(host, 1)
    host.wait(5)
    details(host, 0.0, 9000.0 + 2500.0, 9.0 + 2500.0, 1.0)
    came = host.state.transfer(host.mono)
    assert came is not None
    assert (came.basis, came.fraction) == ("past_load", pytest.approx(0.5))


def test_a_load_that_became_ready_keeps_what_came(watched: Watch) -> None:
    host = watched()
    loading(host)
    host.refuses()
    host.wait(5)
    details(host, 0.0, 9000.0 + 3000.0, 9.0 + 2000.0, 1.0)
    host.wait(1)
    host.log("[2026-11-29 13:48:40 TP0] Capture cuda graph begin. This can take up to several minutes.")
    host.wait(5)
    details(host, 0.0, 9000.0 + 3100.0, 9.0 + 2100.0, 1.0)
    host.becomes_ready()
    assert host.state.finished is not None
    assert host.state.finished.pcie_received_mib == 2600.0


def test_the_weights_of_a_second_model_have_no_fraction(watched: Watch) -> None:
    host = watched()
    loading(host)
    checkpoint(host, 32 * 1024**3)
    host.wait(5)
    details(host, 0.0, 9000.0 + 8 * GIB, 9.0 + 8 * GIB, 1.0)
    host.log("[2026-11-29 13:48:40 TP0] KV Cache is allocated. #tokens: 9, K size: 1 GB, V size: 1 GB")
    host.wait(1)
    host.log("[2026-11-29 13:48:41 TP0] Load weight begin. avail mem=9 GB")
    host.wait(5)
    details(host, 0.0, 9000.0 + 9 * GIB, 9.0 + 9 * GIB, 1.0)
    came = host.state.transfer(host.mono)
    assert came is not None
    assert (came.fraction, came.received_mib) == (None, 2 * GIB)
