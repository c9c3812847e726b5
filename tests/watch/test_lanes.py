"""Ranks: who lags, who is through, how they are known."""

from pathlib import Path

import pytest

from tui.engines.marks import Mark, MarkKind, RankIdentity, Speaker
from tui.engines.phase import Phase
from tui.engines.registry import engine_named
from tui.watch.lanes import LANES, Lanes
from tui.watch.phases import LogPhases

SKEW = Path(__file__).parents[3] / "shared" / "corpus" / "sglang" / "glm5-fp8-tp8-mi35x-rank-skew.log"
BEGINS, WITHIN, ENDS = MarkKind.BEGINS, MarkKind.WITHIN, MarkKind.ENDS


def make_lanes(engine: str = "vllm") -> Lanes:
    found = engine_named(engine)
    assert found is not None
    return Lanes(found)


def said(kind: MarkKind, phase: Phase, rank: str | None = None, pid: int | None = None, **more: int) -> Mark:
    """What a rank says in a line that every rank prints."""
    return Mark(kind, Speaker(rank, "Worker", pid, more.get("depth", 2)), phase, each=True)


def names(lanes: Lanes) -> list[str]:
    return [lane.name for lane in lanes]


def slowest(lanes: Lanes) -> str | None:
    return None if lanes.slowest is None else lanes.slowest.name


def test_the_rank_with_fewer_of_the_common_lines_is_the_slowest() -> None:
    lanes = make_lanes()
    for rank in ("TP0", "TP1"):
        lanes.take(said(BEGINS, Phase.WEIGHTS, rank), 1.0)
    assert lanes.slowest is None
    lanes.take(said(ENDS, Phase.WEIGHTS, "TP0"), 2.0)
    assert slowest(lanes) == "TP1"
    assert [lane.name for lane in lanes.lagging] == ["TP1"]
    lanes.take(said(ENDS, Phase.WEIGHTS, "TP1"), 3.0)
    assert lanes.slowest is None
    assert lanes.lagging == []


def test_who_stands_where_the_first_stands_is_not_behind_it() -> None:
    lanes = make_lanes()
    for rank in ("TP0", "TP1"):
        lanes.take(said(BEGINS, Phase.COMPILE, rank), 1.0)
    lanes.take(said(BEGINS, Phase.COMPILE, "TP0"), 2.0)
    assert lanes.lagging == []


def test_a_line_that_only_one_rank_prints_makes_no_other_lag() -> None:
    lanes = make_lanes()
    for rank in ("TP0", "TP1"):
        lanes.take(said(BEGINS, Phase.WEIGHTS, rank), 1.0)
    lanes.take(Mark(WITHIN, Speaker("TP0", depth=2), Phase.COMPILE), 2.0)
    assert lanes.slowest is None


def test_ranks_are_ordered_by_number() -> None:
    lanes = make_lanes()
    for rank in ("TP10", "TP9", "DP1 TP0", "DP0 TP3"):
        lanes.take(said(BEGINS, Phase.WEIGHTS, rank), None)
    assert names(lanes) == ["DP0 TP3", "DP1 TP0", "TP9", "TP10"]


def test_a_rank_number_of_thousands_of_digits_is_only_a_name() -> None:
    lanes = make_lanes()
    lanes.take(said(BEGINS, Phase.WEIGHTS, "TP" + "9" * 5000), None)
    lanes.take(said(BEGINS, Phase.WEIGHTS, "TP3"), None)
    assert names(lanes)[0] == "TP3"


def test_a_process_is_known_by_its_pid_before_it_has_a_name() -> None:
    lanes = make_lanes()
    lanes.take(said(BEGINS, Phase.DISTRIBUTED, None, 812), 1.0)
    assert names(lanes) == ["pid 812"]
    identity = RankIdentity(world_size=2, global_rank=1, local_rank=1, tp=1)
    lanes.take(Mark(MarkKind.IDENTITY, Speaker(None, "Worker", 812, 2), identity=identity), 2.0)
    assert names(lanes) == ["rank 1"]
    lanes.take(said(ENDS, Phase.DISTRIBUTED, "TP1", 812), 3.0)
    assert names(lanes) == ["TP1"]
    (lane,) = lanes.all
    assert (lane.identity, lane.phase, lane.phase_ended) == (identity, Phase.DISTRIBUTED, True)


def test_pids_of_two_hosts_are_not_the_same_process() -> None:
    lanes = make_lanes()
    lanes.take(said(BEGINS, Phase.WEIGHTS, "TP0", 40), 1.0, source=0)
    lanes.take(said(BEGINS, Phase.WEIGHTS, "TP8", 40), 1.0, source=1)
    assert names(lanes) == ["TP0", "TP8"]


def test_the_engine_core_comes_after_all_ranks_are_through() -> None:
    lanes = make_lanes()
    for rank in ("TP0", "TP1"):
        lanes.take(said(BEGINS, Phase.WEIGHTS, rank), 1.0)
    lanes.take(said(ENDS, Phase.WEIGHTS, "TP0"), 2.0)
    core = Speaker(None, "EngineCore", 7, 1)
    lanes.take(Mark(WITHIN, core, Phase.KV_CACHE), 3.0)
    assert lanes.slowest is None
    assert {lane.phase for lane in lanes} == {Phase.KV_CACHE}


def test_an_early_line_of_the_api_server_hides_no_lag() -> None:
    lanes = make_lanes()
    for rank in ("TP0", "TP1"):
        lanes.take(said(BEGINS, Phase.WEIGHTS, rank), 1.0)
    lanes.take(said(ENDS, Phase.WEIGHTS, "TP0"), 2.0)
    lanes.take(Mark(WITHIN, Speaker(None, "APIServer", 1, 0), Phase.LAUNCH), 3.0)
    assert slowest(lanes) == "TP1"


def test_engine_cores_of_data_parallelism_are_compared_among_themselves() -> None:
    lanes = make_lanes()
    for rank, pid in (("DP0 TP0", 10), ("DP1 TP0", 11)):
        lanes.take(said(BEGINS, Phase.WEIGHTS, rank, pid), 1.0)
        lanes.take(said(ENDS, Phase.WEIGHTS, rank, pid), 2.0)
    for rank, pid in (("DP0", 1), ("DP1", 2)):
        lanes.take(said(BEGINS, Phase.LAUNCH, rank, pid, depth=1), 0.0)
    assert lanes.slowest is None
    lanes.take(said(BEGINS, Phase.KV_CACHE, "DP0", 1, depth=1), 3.0)
    assert slowest(lanes) == "DP1"
    assert {lane.name: lane.phase for lane in lanes} == {
        "DP0": Phase.KV_CACHE,
        "DP0 TP0": Phase.KV_CACHE,
        "DP1": Phase.LAUNCH,
        "DP1 TP0": Phase.WEIGHTS,
    }


def test_where_one_rank_begins_the_kv_cache_no_other_of_its_model_loads() -> None:
    lanes = make_lanes("sglang")
    for rank in ("DP0 TP0", "DP1 TP1"):
        lanes.take(said(ENDS, Phase.WEIGHTS, rank), 1.0)
    lanes.take(said(BEGINS, Phase.KV_CACHE, "DP1 TP1"), 2.0)
    assert {lane.phase for lane in lanes} == {Phase.KV_CACHE}
    assert slowest(lanes) == "DP0 TP0"
    lanes.take(said(BEGINS, Phase.KV_CACHE, "DP0 TP0"), 2.5)
    assert lanes.slowest is None


def test_a_replica_may_load_while_another_has_its_kv_cache() -> None:
    lanes = make_lanes("sglang")
    for rank in ("DP0 TP0", "DP1 TP0"):
        lanes.take(said(ENDS, Phase.WEIGHTS, rank), 1.0)
    lanes.take(said(BEGINS, Phase.KV_CACHE, "DP1 TP0"), 2.0)
    assert lanes.slowest is not None
    assert lanes.slowest.phase is Phase.WEIGHTS


def test_a_rank_heard_late_is_placed_by_what_others_said_there() -> None:
    lanes = make_lanes("sglang")
    # The log's top is cut off behind the line of TP0.
    lanes.take(said(ENDS, Phase.WEIGHTS, "TP1"), 1.0)
    lanes.take(said(BEGINS, Phase.KV_CACHE, "TP0"), 2.0)
    assert slowest(lanes) == "TP1"
    lanes.take(said(BEGINS, Phase.KV_CACHE, "TP1"), 3.0)
    assert lanes.slowest is None


def test_a_rank_that_is_first_heard_at_an_earlier_line_lags() -> None:
    lanes = make_lanes("sglang")
    lanes.take(said(ENDS, Phase.WEIGHTS, "TP6"), 1.0)
    lanes.take(said(BEGINS, Phase.WEIGHTS, "TP0"), 2.0)
    assert slowest(lanes) == "TP0"


def test_ever_new_process_ids_do_not_grow_memory() -> None:
    lanes = make_lanes()
    for pid in range(100_000):
        lanes.take(said(BEGINS, Phase.WEIGHTS, None, pid), 1.0)
    assert len(lanes.all) == LANES
    assert lanes.slowest is None


def test_the_load_waits_for_the_rank_that_is_eleven_minutes_late() -> None:
    if not SKEW.exists():
        pytest.skip("needs the corpus of start-up logs beside the checkout")
    engine = engine_named("sglang")
    assert engine is not None
    phases = LogPhases(engine)
    stood: dict[int, Phase | None] = {}
    for number, line in enumerate(SKEW.read_text().split("\n"), 1):
        phases.read(line, number)
        stood[number] = phases.phase
    # Six ranks are through by line 19, TP0 nine minutes later, TP7 eleven; then all go on together.
    assert {stood[number] for number in range(3, 22)} == {Phase.WEIGHTS}
    assert stood[26] is Phase.KV_CACHE
    assert stood[43] is Phase.CAPTURE
    assert [lane.name for lane in phases.lanes] == [f"TP{rank}" for rank in range(8)]
    assert phases.lanes.lagging == []
