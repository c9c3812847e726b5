"""Which hosts are nodes of one load: by their arguments, and never on a doubt."""

from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from watched_host import SGLANG, Watch

from tui.watch.nodes.joining import Claim, claim_of, joined

VLLM = "python3 /opt/bin/vllm serve qwen --port 8000"


def claim(rank: int, meets: str = "gpu-a", nodes: int = 2, **more: object) -> Claim:
    made = Claim("sglang", nodes, rank, meets, 5000, "qwen", boot_id=f"{meets} {rank}")
    return replace(made, **cast("dict[str, Any]", more))


def test_two_nodes_that_meet_at_the_same_place_are_one_load_by_rank() -> None:
    assert joined([claim(1), None, claim(0)]) == [(2, 0)]


def test_a_node_whose_others_are_not_seen_is_a_load_of_which_one_node_is_known() -> None:
    assert joined([claim(0, nodes=4)]) == [(0,)]


@pytest.mark.parametrize(
    "other",
    [
        claim(1, engine="vllm"),
        claim(1, nodes=3),
        claim(1, port=5001),
        claim(1, "gpu-b"),
        claim(1, "10.0.0.1", port=5001),
    ],
)
def test_what_differs_in_engine_nodes_or_rendezvous_is_another_load(other: Claim) -> None:
    assert joined([claim(0), other]) == [(0,), (1,)]


@pytest.mark.parametrize(
    "other", [claim(0, boot_id="x"), claim(1, model="llama"), claim(1, model="/models/qwen2")]
)
def test_the_same_rendezvous_with_a_rank_twice_or_two_models_is_a_doubt_and_no_load(other: Claim) -> None:
    assert joined([claim(0), other]) == []


def test_one_machine_by_two_names_is_one_node_though_its_agents_date_the_start_apart() -> None:
    one = replace(claim(0), boot_id="b1", start=(7, 100.0))
    again = replace(one, start=(7, 100.003))
    assert joined([one, again, claim(1)]) == [(0, 2)]
    assert joined([one, replace(again, start=(7, 101.0)), claim(1)]) == []


def test_the_folder_of_a_model_may_differ_and_a_model_may_be_unknown() -> None:
    found = [claim(0, model="/data/Qwen"), claim(1, model="org/qwen"), claim(2, model=None)]
    assert joined([replace(each, nodes=3) for each in found]) == [(0, 1, 2)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gpu-a", "GPU-A."),
        ("gpu-a", "gpu-a.lab.example"),
        ("gpu-a", "10.0.0.1"),
        ("0.0.0.0", "gpu-a"),
        ("127.0.0.1", "gpu-a"),
        ("fd00::1", "gpu-a"),
    ],
)
def test_a_rendezvous_may_be_spelled_in_two_ways(one: str, other: str) -> None:
    assert joined([claim(0, one), claim(1, other)]) == [(0, 1)]


@pytest.mark.parametrize(("one", "other"), [("10.0.0.1", "10.0.0.2"), ("gpu-a.x", "gpu-a.y"), ("a", "ab")])
def test_two_names_or_two_addresses_are_not_taken_for_one(one: str, other: str) -> None:
    assert joined([claim(0, one), claim(1, other)]) == [(0,), (1,)]


def test_spellings_that_fit_two_loads_join_neither() -> None:
    assert joined([claim(0, "gpu-a"), claim(1, "10.0.0.1"), claim(0, "gpu-c")]) == []


def test_what_is_spelled_alike_stays_joined_beside_a_doubtful_one() -> None:
    claims = [claim(0, nodes=3), claim(1, nodes=3), claim(2, "10.0.0.1", 3), claim(2, "0.0.0.0", 3)]
    assert joined(claims) == [(0, 1)]


def test_the_loopback_address_is_another_place_on_each_machine() -> None:
    here = [claim(rank, "127.0.0.1", boot_id="one") for rank in (0, 1)]
    there = [claim(rank, "localhost", boot_id="two") for rank in (0, 1)]
    assert joined([*here, *there]) == [(0, 1), (2, 3)]
    assert joined([here[0], there[1]]) == [(0,), (1,)]


def test_one_machine_by_two_names_counts_once() -> None:
    assert joined([claim(0), claim(1), claim(1)]) == [(0, 1)]


def test_two_loads_on_the_same_hosts_are_told_apart_by_their_port() -> None:
    second = [claim(rank, port=6000, start=(2, 5.0)) for rank in (1, 0)]
    assert joined([claim(0), second[0], claim(1), second[1]]) == [(0, 2), (3, 1)]


@st.composite
def claims(draw: st.DrawFn) -> list[Claim]:
    names = st.sampled_from(["gpu-a", "gpu-a.lab", "gpu-b", "10.0.0.1", "10.0.0.2", "0.0.0.0", "127.0.0.1"])
    count = draw(st.integers(0, 6))
    return [
        Claim(
            engine=draw(st.sampled_from(["sglang", "vllm"])),
            nodes=4,
            rank=draw(st.integers(0, 3)),
            meets=draw(names),
            port=draw(st.sampled_from([5000, 5001])),
            model=draw(st.sampled_from([None, "q", "r"])),
            boot_id=draw(st.sampled_from(["", "one", "two"])),
            start=(at, 0.0),
        )
        for at in range(count)
    ]


@given(claims().flatmap(lambda found: st.tuples(st.just(found), st.permutations(found))))
def test_the_order_of_hosts_never_matters_and_no_load_has_a_rank_twice(
    orders: tuple[list[Claim], list[Claim]],
) -> None:
    found, mixed = orders
    first, second = (
        {frozenset(order[at].start for at in group) for group in joined(order)} for order in (found, mixed)
    )
    assert first == second
    for group in joined(found):
        ranks = [found[at].rank for at in group]
        assert ranks == sorted(set(ranks))
        assert len({(found[at].engine, found[at].port) for at in group}) == 1


# What a command line claims.


@pytest.mark.parametrize(
    ("argv", "matched", "told"),
    [
        (
            f"{SGLANG} --nnodes 2 --node-rank 1 --dist-init-addr 127.0.0.1:5000",
            "sglang",
            (1, "127.0.0.1", 5000),
        ),
        (f"{SGLANG} --nnodes 2 --nccl-init-addr gpu-a:5000", "sglang", (0, "gpu-a", 5000)),
        (f"{VLLM} --nnodes 2 --node-rank 1 --master-addr gpu-a --headless", "vllm", (1, "gpu-a", 29501)),
        (f"{SGLANG} --nnodes 2 --node-rank 1", "sglang", None),
        (f"{SGLANG} --nnodes 2 --node-rank 2 --dist-init-addr a:5000", "sglang", None),
        (f"{SGLANG} --config c.yaml --nnodes 2 --dist-init-addr a:5000", "sglang", None),
        (SGLANG, "sglang", None),
        (f"{VLLM} --headless --data-parallel-size 4", "vllm", None),
    ],
)
def test_a_command_line_says_which_node_it_is(
    watched: Watch, argv: str, matched: str, told: tuple[int, str, int] | None
) -> None:
    host = watched()
    host.hello()
    host.starts(argv=argv, matched=matched)
    found = claim_of(host.state)
    assert (None if found is None else (found.rank, found.meets, found.port)) == told
