"""What NCCL RAS answers, as text (measured answers of NCCL 2.28.9 among them) and as JSON, read."""

import json
from pathlib import Path

import pytest
from ras_server import HEALTHY, incomplete, mismatch

from tui.watch.ras import Finding, RasRank, RasReport, read_ras, unchanged


def read(text: str) -> RasReport:
    report = read_ras(text.splitlines())
    assert report is not None
    return report


def test_a_healthy_answer_finds_nothing() -> None:
    assert read(HEALTHY) == RasReport("2.28.9", ())


def test_the_rank_with_the_lower_count_is_the_late_one() -> None:
    (found,) = read(mismatch(17)).findings

    assert (found.kind, found.communicator) == ("mismatch", "78db921d1c117b4a")
    assert found.ranks == (RasRank(3, 17, "3", "node1"),)
    assert found.text == "rank 3 (pid 17, GPU 3) is behind: AllReduce operation counts at 60, others at 64"


def test_several_late_ranks_are_listed_under_their_count() -> None:
    text = HEALTHY + (
        "Warnings\n========\n\n#0-0 (27a079b828ff1a75) MISMATCH\n"
        "  Communicator ranks have different collective operation counts\n"
        "  26 ranks have launched up to operation 6650\n"
        "  2 ranks have launched up to operation 6649\n"
        "  Rank 0 -- GPU 0 managed by process 483072 on node 172.16.64.210\n"
        "  Rank 2 -- GPU 2 managed by process 483074 on node 172.16.64.210\n"
        "  Rank 9 has not launched any operations -- GPU 1 managed by process 7 on node n\n"
    )

    (found,) = read(text).findings

    assert [(rank.rank, rank.pid) for rank in found.ranks] == [(0, 483072), (2, 483074), (9, 7)]
    assert found.text.endswith("behind: collective operation counts at 0, others at 6650")


def test_a_rank_that_does_not_answer_is_missing() -> None:
    (found,) = read(incomplete(1782)).findings

    assert found == Finding(
        "missing",
        "44b1cfedd3e0d4b4",
        (RasRank(1, 1782, "1", "127.0.0.1"),),
        "rank 1 (pid 1782, GPU 1) is not answering the others",
    )


def test_a_missing_rank_of_which_only_the_number_is_known() -> None:
    text = HEALTHY + "#0-0 (cf) INCOMPLETE\n  Missing communicator data from 1 rank\n  The missing rank: 21\n"

    (found,) = read(text).findings

    assert found.ranks == (RasRank(21),)


def test_what_ras_calls_dead_is_told() -> None:
    dead = "DEAD\n  1 job process is considered dead (unreachable via the RAS network)\n"

    report = read(incomplete(7) + dead + "  Process 7 on node 127.0.0.1 managing GPU 1\n")

    assert report.dead == {7}


def test_a_communicator_with_more_missing_ranks_than_there_are_gpus_is_left_out() -> None:
    invented = "#1-0 (5bd6000200000001) INCOMPLETE\n  Missing communicator data from 257 ranks\n"
    invented += "  Rank -740240204 -- [process information not found]\n" * 257

    report = read(incomplete(7) + invented)

    assert [found.communicator for found in report.findings] == ["44b1cfedd3e0d4b4"]
    assert report.invented == 1


def test_an_error_names_no_culprit_for_the_victim_reports_it() -> None:
    text = HEALTHY + (
        "#0-0 (44) ERROR\n  Asynchronous error on 1 rank\n  Rank 0 reported Remote process error\n"
    )

    (found,) = read(text).findings

    assert (found.kind, found.ranks) == ("error", ())
    assert "Remote process error" in found.text


def test_what_is_the_same_twice_is_unchanged_and_counts_that_moved_are_not() -> None:
    first = read(mismatch(17, 60))

    assert unchanged(first, read(mismatch(17, 60))) == first.findings
    assert unchanged(first, read(mismatch(17, 61))) == ()


@pytest.mark.parametrize("text", ["", "hello", "{", "{}", "[]", '{"communicators": 3}', "x\x00" * 5000])
def test_anything_else_is_not_understood(text: str) -> None:
    assert read_ras(text.splitlines()) is None


def rank(number: int, pid: int, **counts: int) -> dict[str, object]:
    return {
        "rank": number,
        "host": "n1",
        "pid": pid,
        "cuda_dev": 0,
        "nvml_dev": number,
        "collective_counts": counts,
    }


def whole(**communicator: object) -> str:
    one = {"hash": "0xae", "size": 3, "ranks_count": 2, "missing_ranks_count": 1, **communicator}
    return json.dumps({"nccl_version": "2.29.1", "communicators_count": 1, "communicators": [one]}, indent=2)


def test_json_tells_of_late_and_of_missing_ranks() -> None:
    missing = {"rank": 2, "host": "n1", "pid": 9, "nvml_dev": 2, "status": {"considered_dead": True}}

    report = read(whole(ranks=[rank(0, 7, AllReduce=12), rank(1, 8, AllReduce=11)], missing_ranks=[missing]))

    assert [(found.kind, found.ranks) for found in report.findings] == [
        ("missing", (RasRank(2, 9, "2", "n1"),)),
        ("mismatch", (RasRank(1, 8, "1", "n1"),)),
    ]
    assert (report.version, report.dead) == ("2.29.1", {9})


def test_pids_of_a_container_are_told_as_those_of_the_host() -> None:
    missing = {"rank": 2, "host": "n1", "pid": 9, "nvml_dev": 2, "status": {"considered_dead": True}}
    text = whole(ranks=[rank(0, 7, AllReduce=12), rank(1, 8, AllReduce=11)], missing_ranks=[missing])
    told = read_ras(text.splitlines(), {7: 1007, 8: 1008, 9: 1009})
    late = read_ras(mismatch(11).splitlines(), {11: 4011})

    assert told is not None
    assert [found.ranks[0].pid for found in told.findings] == [1009, 1008]
    assert told.dead == {1009}
    assert late is not None
    assert [rank.pid for rank in late.findings[0].ranks] == [4011]
    assert "pid 4011" in late.findings[0].text


def test_the_comma_that_nccl_2_28_9_leaves_out_is_put_in() -> None:
    missing = {"rank": 2, "host": "n1", "pid": 9, "nvml_dev": 2, "status": {"unresponsive": True}}
    text = whole(ranks=[rank(0, 7)], missing_ranks=[missing]).replace('"nvml_dev": 2,', '"nvml_dev": 2')
    with pytest.raises(ValueError, match="delimiter"):
        json.loads(text)

    assert read(text).findings[0].ranks == (RasRank(2, 9, "2", "n1"),)


def test_json_of_ranks_that_cannot_be_is_left_out() -> None:
    report = read(whole(ranks=[], missing_ranks=[{"rank": -740240204}, {"rank": 4681}]))

    assert (report.findings, report.invented) == ((), 1)


@pytest.mark.parametrize(
    "odd", [{"size": None}, {"ranks": [3]}, {"ranks": [{"rank": 1, "collective_counts": 3}]}]
)
def test_json_in_another_form_is_not_understood(odd: dict[str, object]) -> None:
    assert read_ras(whole(**odd).splitlines()) is None


ANSWERS = sorted((Path(__file__).parents[3] / "shared" / "recordings").glob("*/ras.txt"))


@pytest.mark.parametrize("path", ANSWERS, ids=[path.parent.name for path in ANSWERS])
def test_every_answer_of_the_recordings_is_understood_and_names_the_stopped_rank_alone(path: Path) -> None:
    # What RAS calls dead is left out: in one recording both ranks serve on, and each is called so in turn.
    answers = [part.partition("\n")[2] for part in path.read_text().split("=== ")[1:]]
    reports = [read(answer) for answer in answers if "NCCL version" in answer]

    named = {
        rank.rank
        for report in reports
        for found in report.findings
        for rank in found.ranks
        if rank.pid not in report.dead
    }
    assert len(reports) > 3
    assert named == {1}


def test_what_json_escapes_reaches_no_terminal() -> None:
    ranks: list[dict[str, object]] = [
        {"rank": 0, "collective_counts": {"All\x1b]0;x\x07Reduce": 3}},
        {"rank": 1, "pid": 7, "cuda_dev": "\x1b[31m1\u202e", "host": "n\n", "collective_counts": {}},
    ]
    (found,) = read(json.dumps({"communicators": [{"size": 2, "hash": "\x9b1", "ranks": ranks}]})).findings
    assert all(text.isprintable() for text in (found.text, found.communicator, found.ranks[0].node or ""))
    assert found.ranks[0].node == "n"


def test_a_number_without_end_is_not_understood() -> None:
    assert read_ras(['{"communicators": [{"size": Infinity, "missing_ranks": [{"rank": 1e999}]}]}']) is None
