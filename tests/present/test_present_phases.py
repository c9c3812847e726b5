"""The phases as they are shown."""

from watched_host import WatchedHost

from tui.events import History
from tui.past_load import PastLoad, PhaseTime
from tui.present.phases import phase_panel
from tui.present.screen import present
from widgets.values import Mood, PhasePanel

TP = "[2026-11-29 13:48:34 TP{rank}] "
BAR = "Multi-thread loading shards:  25% Completed | 4/16 [00:08<00:24,  2.00s/it]"
FULL = "Multi-thread loading shards: 100% Completed | 16/16 [00:32<00:00,  2.00s/it]"
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 160.00 MiB."


def panel(host: WatchedHost) -> PhasePanel:
    return phase_panel(host.state, host.now)


def names(host: WatchedHost, mood: Mood) -> list[str]:
    return [cell.name for cell in panel(host).cells if cell.mood is mood]


def load_weights(host: WatchedHost, ranks: int = 2) -> None:
    host.starts()
    host.log("server_args=ServerArgs(model_path='qwen')")
    host.wait(38)
    host.log(*(TP.format(rank=rank) + "Load weight begin. avail mem=9 GB" for rank in range(ranks)))


def test_without_a_load_there_are_no_phases(host: WatchedHost) -> None:
    assert panel(host) == PhasePanel()


def test_the_phases_behind_have_times_and_those_to_come_none(host: WatchedHost) -> None:
    load_weights(host)
    host.wait(17)
    cells = panel(host).cells
    assert [(cell.name, cell.time) for cell in cells if cell.time] == [
        ("launch", "0:38"),
        ("weights", "0:17"),
    ]
    assert names(host, Mood.ACTIVE) == ["weights"]
    assert names(host, Mood.IDLE)[-1] == "ready"
    assert "failed" not in names(host, Mood.IDLE)


def test_the_bar_of_the_log_is_the_fraction_of_its_phase(host: WatchedHost) -> None:
    load_weights(host)
    host.log(BAR)
    assert panel(host).fraction == 0.25
    assert panel(host).work == "4 of 16 shards"


def test_a_full_bar_does_not_end_the_phase_and_is_no_fraction(host: WatchedHost) -> None:
    load_weights(host)
    host.log(FULL)
    assert names(host, Mood.ACTIVE) == ["weights"]
    assert panel(host).fraction is None
    assert panel(host).work == "all 16 shards done"


def test_the_size_under_way_is_not_counted_as_done(host: WatchedHost) -> None:
    load_weights(host)
    host.log(
        TP.format(rank=0) + "Capture cuda graph begin. This can take up to several minutes. avail mem=9 GB"
    )
    host.log(
        TP.format(rank=1) + "Capture cuda graph begin. This can take up to several minutes. avail mem=9 GB"
    )
    host.log(tail="Capturing batches (bs=16 avail_mem=9.1 GB):  75%|███  | 27/36 [00:06<00:02,  4.1it/s]")
    assert panel(host).work == "27 of 36 sizes, bs=16 under way"
    assert panel(host).fraction == 0.75


def test_ranks_that_hold_the_load_back_are_named(host: WatchedHost) -> None:
    load_weights(host, ranks=5)
    host.log(
        TP.format(rank=0) + "Load weight end. elapsed=8.75 s, type=Qwen3, avail mem=1 GB, mem usage=9 GB."
    )
    assert panel(host).waits == "waits for TP1, TP2 and 2 more"
    assert names(host, Mood.ACTIVE) == ["weights"]


def test_without_any_basis_no_time_is_promised(host: WatchedHost) -> None:
    load_weights(host)
    assert panel(host).estimate == "T- no estimate yet"
    assert panel(host).fraction is None


def test_a_failure_says_its_kind_cause_and_next_step(host: WatchedHost) -> None:
    load_weights(host)
    host.log(OOM)
    host.exits()
    shown = panel(host)
    assert shown.sentence.startswith("out of memory for the weights: ")
    assert "(e shows the line)" in shown.sentence
    assert names(host, Mood.BAD) == ["weights"]


def test_a_failure_that_the_process_outlives_is_told_at_once(host: WatchedHost) -> None:
    load_weights(host)
    host.log(TP.format(rank=0) + "Scheduler hit an exception: Traceback (most recent call last):", OOM)
    shown = panel(host)
    assert shown.sentence.startswith("the log tells of a failure, the process lives on: out of memory for")
    assert shown.estimate == ""
    assert names(host, Mood.BAD) == ["weights"]
    values = present(host.state, host.now)
    assert values.header.phase == "failed by its log"
    assert values.log.fault_number == host.state.log.lines[-1].number
    assert values.status.startswith("the log tells of a failure in weights")
    assert host.state.outcome is None


def test_a_phase_entered_twice_is_one_cell_with_both_times(host: WatchedHost) -> None:
    load_weights(host, ranks=1)
    host.wait(10)
    host.log(TP.format(rank=0) + "Memory pool end. avail mem=9 GB")
    host.wait(1)
    host.log(TP.format(rank=0) + "Load weight begin. avail mem=9 GB")
    host.wait(5)
    weights = [cell for cell in panel(host).cells if cell.name == "weights"]
    assert [cell.time for cell in weights] == ["0:15"]


def past(ready_s: float) -> PastLoad:
    """Return a past load of the same kind, of which all that differs came after the weights."""
    took = (("launch", 38.0), ("weights", 20.0), ("capture", ready_s - 58.0))
    return PastLoad(
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
        ready_s=ready_s,
        phases=[PhaseTime(phase=phase, seconds=seconds) for phase, seconds in took],
    )


def test_past_loads_give_the_time_to_ready_with_their_range(host: WatchedHost) -> None:
    load_weights(host)
    loads = [past(100.0), past(120.0), past(200.0)]
    host.happen(History(**host.when, sentence="read", loads=loads))
    host.wait(5)
    assert panel(host).estimate == "T- 1:17 (0:57 to 2:37, 3 loads)"


def test_one_past_load_has_no_range(host: WatchedHost) -> None:
    load_weights(host)
    host.happen(History(**host.when, sentence="read", loads=[past(100.0)]))
    assert panel(host).estimate == "T- 1:02 (1 load)"


def test_a_load_slower_than_all_before_is_given_no_false_zero(host: WatchedHost) -> None:
    load_weights(host)
    host.happen(History(**host.when, sentence="read", loads=[past(100.0)]))
    host.wait(500)
    assert panel(host).estimate == "T- at least 0:42, slower than the last load"


def test_the_rate_of_a_bar_alone_is_no_time_to_ready(host: WatchedHost) -> None:
    load_weights(host)
    for done in range(1, 5):
        host.wait(2)
        host.log(f"Multi-thread loading shards:  {done * 10}% Completed | {done}/10 [00:02<00:09,  2.0s/it]")
    assert panel(host).estimate == "T- no estimate yet"
    assert panel(host).work == "4 of 10 shards, 0:12 left"
