"""What past loads tell: which of them compare, and how a load becomes one."""

from dataclasses import replace

import msgspec
import pytest
from watched_host import Watch, WatchedHost

from tui.engines.phase import Phase
from tui.events import Checkpoint, GpuDetail, GpuDetails, GpuProcess, GpuProcesses, History
from tui.past_load import PastLoad, PhaseTime
from tui.watch.history import NEWEST, STAYS, LoadKey, PastLoads, past_load
from tui.watch.state import WatchState
from tui.watch.timeline import PhaseSpan

KEY = LoadKey(
    engine="vllm",
    model="qwen",
    tensor_parallel=2,
    pipeline_parallel=None,
    data_parallel=None,
    version="0.24.0",
    gpus=2,
    gpu_name="NVIDIA H200",
    host="gpu01",
)


def past(key: LoadKey = KEY, ready_s: float = 100.0, wall_s: float = 0.0) -> PastLoad:
    return past_load(key, [], ready_s, wall_s)


def book(*loads: PastLoad) -> PastLoads:
    past_loads = PastLoads()
    past_loads.take(History(mono_s=0.0, wall_s=0.0, sentence="read", loads=list(loads)))
    return past_loads


def found(key: LoadKey, *loads: PastLoad) -> tuple[int, str]:
    matching = book(*loads).matching(key)
    return len(matching.loads), matching.words


# Which loads compare.


def test_a_load_of_all_the_same_compares_without_more_words() -> None:
    assert found(KEY, past(), past()) == (2, "2 past loads")


@pytest.mark.parametrize(
    "other",
    [
        replace(KEY, engine="sglang"),
        replace(KEY, model="qwen-large"),
        replace(KEY, tensor_parallel=4),
        replace(KEY, pipeline_parallel=2),
        replace(KEY, data_parallel=2),
        replace(KEY, quantization="fp8"),
        replace(KEY, gpus=4),
    ],
    ids=["engine", "model", "tp", "pp", "dp", "quantization", "gpus"],
)
def test_another_engine_model_or_shape_never_compares(other: LoadKey) -> None:
    assert found(KEY, past(other)) == (0, "no past load of this engine, model and parallelism is known")


def test_without_the_same_version_another_one_is_taken_and_said() -> None:
    old = past(replace(KEY, version="0.23.0"))
    assert found(KEY, old) == (1, "1 past load of other versions")
    assert found(KEY, old, past()) == (1, "1 past load")


def test_without_the_same_gpus_others_are_taken_and_said() -> None:
    slow = past(replace(KEY, gpu_name="NVIDIA A100"))
    assert found(KEY, slow) == (1, "1 past load on other GPUs")
    both = past(replace(KEY, gpu_name="NVIDIA A100", version="0.23.0"))
    assert found(KEY, both) == (1, "1 past load of other versions on other GPUs")
    assert found(KEY, both, slow) == (1, "1 past load on other GPUs")


def test_a_version_that_is_not_known_yet_is_said() -> None:
    early = replace(KEY, version=None)
    assert found(early, past()) == (1, "1 past load, whatever the version (not known yet)")
    assert found(early, past(early)) == (1, "1 past load")


def test_what_is_not_known_yet_of_the_gpus_excludes_nothing() -> None:
    assert found(replace(KEY, gpus=None, gpu_name=None), past()) == (1, "1 past load")


def test_loads_of_this_host_come_before_those_of_others() -> None:
    other = past(replace(KEY, host="gpu02"))
    assert found(KEY, other) == (1, "1 past load from other hosts")
    assert found(KEY, other, past()) == (1, "1 past load")


def test_a_known_cache_mode_compares_with_the_same_mode_alone() -> None:
    warm, cold = past(replace(KEY, cache="warm")), past(replace(KEY, cache="cold"))
    assert found(KEY, warm, cold)[0] == 2
    assert found(replace(KEY, cache="warm"), warm, cold) == (1, "1 past load, warm compile cache")
    assert found(replace(KEY, cache="cold"), warm) == (
        0,
        "no past load with a cold compile cache is known",
    )


def test_what_a_gpu_received_is_the_median_of_those_that_measured_it() -> None:
    loads = [past_load(KEY, [], 100.0, 0.0, mib) for mib in (None, 17_000.0, 18_000.0, 16_000.0)]
    assert book(*loads).matching(KEY).received_mib == 17_000.0
    assert book(past()).matching(KEY).received_mib is None


def test_only_the_newest_count() -> None:
    loads = [past(ready_s=float(number), wall_s=float(number)) for number in range(1, NEWEST + 11)]
    matching = book(*loads).matching(KEY)
    assert [load.ready_s for load in matching.loads] == [float(number) for number in range(11, NEWEST + 11)]


def test_a_load_of_this_watch_counts_once_whether_it_was_written_or_not() -> None:
    past_loads = book(past(wall_s=1.0))
    past_loads.add(past(wall_s=2.0))
    assert [load.wall_s for load in past_loads.all] == [1.0, 2.0]
    past_loads.take(
        History(mono_s=0.0, wall_s=0.0, sentence="read", loads=[past(wall_s=1.0), past(wall_s=2.0)])
    )
    assert [load.wall_s for load in past_loads.all] == [1.0, 2.0]


# A load becomes a past one.


def test_stays_are_kept_in_order_with_their_silences() -> None:
    spans = [
        PhaseSpan(Phase.LAUNCH, None, 38.0),
        PhaseSpan(Phase.WEIGHTS, 38.0, 58.1234, 3.5),
        PhaseSpan(Phase.READY, 58.1234),
    ]
    assert past_load(KEY, spans, 58.1234, 0.0).phases == [
        PhaseTime(phase="launch", seconds=None),
        PhaseTime(phase="weights", seconds=20.123, longest_silence_s=3.5),
    ]


def test_a_load_that_went_to_and_fro_is_kept_by_its_sums() -> None:
    spans = [
        PhaseSpan(phase, float(number), number + 1.0, float(number))
        for number in range(STAYS)
        for phase in (Phase.COMPILE, Phase.CAPTURE)
    ]
    assert past_load(KEY, spans, 500.0, 0.0).phases == [
        PhaseTime(phase="compile", seconds=float(STAYS), longest_silence_s=STAYS - 1.0),
        PhaseTime(phase="capture", seconds=float(STAYS), longest_silence_s=STAYS - 1.0),
    ]


@pytest.fixture
def host(watched: Watch) -> WatchedHost:
    watched_host = watched()
    watched_host.hello()
    watched_host.facts()
    watched_host.wait(5)
    return watched_host


def holds(host: WatchedHost, *indexes: int) -> None:
    rows = [GpuProcess(index=index, pid=100, memory_mib=1000.0) for index in indexes]
    host.happen(GpuProcesses(**host.when, processes=rows))


def test_a_load_that_became_ready_before_our_eyes_is_a_past_one(host: WatchedHost) -> None:
    host.loads_to_capture()
    holds(host, 0, 1)
    host.becomes_ready()
    kept = host.state.finished
    assert kept is not None
    assert (kept.engine, kept.model, kept.host, kept.tensor_parallel) == (
        "sglang",
        "/models/qwen",
        "gpu01",
        2,
    )
    assert (kept.gpus, kept.gpu_name, kept.ready_s) == (2, "NVIDIA H200", 125.0)
    assert [(stay.phase, stay.seconds) for stay in kept.phases] == [
        ("launch", 38.0),
        ("weights", 20.0),
        ("capture", 67.0),
        ("start_api", 0.0),
    ]


def test_fewer_gpus_than_the_shape_needs_are_not_taken_for_all(host: WatchedHost) -> None:
    host.loads_to_capture()
    holds(host, 1)
    key = host.state.load_key
    assert key is not None
    assert (key.gpus, key.gpu_name) == (None, "NVIDIA H200")


def test_a_server_found_ready_is_no_past_load(host: WatchedHost) -> None:
    host.starts()
    host.becomes_ready()
    assert host.state.ready
    assert host.state.finished is None


def test_a_server_that_became_ready_while_the_link_was_lost_is_no_past_load(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.link("lost", "connection reset")
    host.wait(600)
    host.hello()
    host.becomes_ready()
    assert host.state.ready
    assert host.state.finished is None


def test_one_seen_to_wait_again_after_a_lost_link_is(host: WatchedHost) -> None:
    host.loads_to_capture()
    host.link("lost", "connection reset")
    host.hello()
    host.refuses()
    host.becomes_ready()
    assert host.state.finished is not None


def test_a_server_that_does_not_name_its_model_is_no_past_load(host: WatchedHost) -> None:
    host.starts(argv="vllm serve --config x.yaml", matched="vllm")
    host.refuses()
    host.becomes_ready()
    assert host.state.load_key is None
    assert host.state.past_wanted is None
    assert host.state.finished is None


def test_the_compile_cache_is_cold_once_a_graph_had_to_be_made(host: WatchedHost) -> None:
    host.starts(argv="vllm serve qwen", matched="vllm")

    def cache_after(message: str) -> str | None:
        host.log(f"(EngineCore pid=9) INFO 11-29 14:33:35 [backends.py:1] {message}")
        key = host.state.load_key
        assert key is not None
        return key.cache

    assert cache_after("Dynamo bytecode transform time: 5.4 s") is None
    found = "Directly load the compiled graph(s) for compile range (1, 8192) from the cache, took 1.0 s"
    assert cache_after(found) == "warm"
    assert cache_after("Compiling a graph for compile range (1, 8192) takes 18.10 s") == "cold"
    assert cache_after(found) == "cold"


def test_sglang_compiles_a_graph_with_a_warm_cache_too(host: WatchedHost) -> None:
    host.starts()
    host.log("[2026-11-29 20:01:30] Compiling a graph for dynamic shape takes 0.54 s")
    key = host.state.load_key
    assert key is not None
    assert key.cache is None


# The state and its estimate.


def test_the_next_load_is_estimated_by_the_one_before_it(host: WatchedHost) -> None:
    host.loads_to_capture()
    assert host.state.estimate(host.mono) is None
    assert host.state.estimate_words(host.mono).startswith("no estimate yet: no past load")
    host.becomes_ready()
    assert host.state.estimate(host.mono) is None
    assert host.state.estimate_words(host.mono) == ""
    host.exits()
    host.wait(10)
    host.starts(pid=200)
    host.wait(5)
    estimate = host.state.estimate(host.mono)
    assert estimate is not None
    assert (estimate.remaining_s, estimate.loads) == (120.0, 1)
    assert host.state.estimate_words(host.mono) == "2:00 left by 1 past load"


def test_an_ended_load_has_no_estimate(host: WatchedHost) -> None:
    host.happen(History(**host.when, sentence="read", loads=[past()]))
    host.loads_to_capture()
    host.exits()
    assert host.state.estimate(host.mono) is None
    assert host.state.estimate_words(host.mono) == ""


def test_the_weights_bar_tells_a_rate_and_a_share(host: WatchedHost) -> None:
    host.starts()
    host.log("[2026-11-29 13:48:34 TP0] Load weight begin. avail mem=9 GB")
    for done in range(1, 5):
        host.wait(2)
        host.log(
            tail=f"Loading safetensors checkpoint shards:  {done * 10}% Completed | {done}/10 [00:02<00:09]"
        )
    estimate = host.state.estimate(host.mono)
    assert estimate is not None
    assert (estimate.remaining_s, estimate.of_phase) == (12.0, True)
    assert host.state.phase_fraction(host.mono) == 0.4


def received(host: WatchedHost, mib: float) -> None:
    details = [
        GpuDetail(
            index=index,
            temperature_c=None,
            sm_clock_mhz=None,
            memory_clock_mhz=None,
            event_reasons=None,
            ecc_uncorrected=None,
            pcie_generation=None,
            pcie_width=None,
            pcie_received_mib=mib,
        )
        for index in range(2)
    ]
    host.happen(GpuDetails(**host.when, gpus=details, cost_ms=1.0))


def test_bytes_over_pcie_tell_a_rate_and_a_share_without_a_line_of_the_log(host: WatchedHost) -> None:
    host.starts()
    holds(host, 0, 1)
    size = Checkpoint(**host.when, model="/models/qwen", weight_bytes=2000 * 1024**2, files=2)
    host.happen(size)
    received(host, 50.0)
    host.log("[2026-11-29 13:48:34 TP0] Load weight begin. avail mem=9 GB")
    assert host.state.phase_fraction(host.mono) == 0.0
    for mib in (265.0, 480.0):
        host.wait(5)
        received(host, mib)
    host.wait(2)
    assert host.state.phase_fraction(host.mono) == pytest.approx(0.4)
    estimate = host.state.estimate(host.mono)
    assert estimate is not None
    assert (estimate.remaining_s, estimate.basis) == (pytest.approx(13.0), "own rate")
    host.wait(60)
    assert host.state.estimate(host.mono) is None


def test_the_same_events_give_the_same_estimate(host: WatchedHost) -> None:
    host.happen(History(**host.when, sentence="read", loads=[past()]))
    host.loads_to_capture()
    host.becomes_ready()
    host.exits()
    host.wait(1)
    host.starts(pid=200)
    host.wait(5)
    replayed = WatchState(host.state.options)
    for event in host.events:
        replayed.apply(msgspec.json.decode(msgspec.json.encode(event), type=type(event)))
    assert replayed.estimate(host.mono) == host.state.estimate(host.mono)
    assert replayed.estimate(host.mono) is not None
    assert replayed.finished == host.state.finished
