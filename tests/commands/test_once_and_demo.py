"""``tminus --once --json`` and ``tminus demo --headless``, as processes."""

import json
import signal
import time
from typing import cast

import pytest
from simulated_launch import Launch
from tminus_command import Tminus

from tui.demo.server import MODEL


async def test_a_snapshot_tells_host_gpus_servers_ladder_and_phase(
    tminus: Tminus, simulated_engine: Launch
) -> None:
    done = await tminus.aside("--once", "--json", "--port", str(simulated_engine.port), "--no-record")

    seen = done.last
    assert done.code == 0
    assert len(done.out.splitlines()) == 1
    whole = {"host", "gpus", "servers", "ladder", "ready", "phase", "verdict", "model", "reason"}
    assert whole <= set(seen) <= whole | {"progress", "estimate", "lagging_ranks", "judgement"}
    servers = cast("list[dict[str, object]]", seen["servers"])
    followed = [each for each in servers if each["followed"]]
    assert [(each["engine"], each["port"], each["model"]) for each in followed] == [
        ("sglang", simulated_engine.port, MODEL)
    ]
    assert done.err == ""


def test_a_snapshot_of_an_unknown_host_is_4(tminus: Tminus) -> None:
    done = tminus.run("no-such-host.invalid", "--once", "--json", "--no-record")

    assert (done.code, len(done.out.splitlines())) == (4, 1)
    assert {key: done.last[key] for key in ("target", "host", "fault")} == {
        "target": "no-such-host.invalid", "host": None, "fault": "dns",
    }  # fmt: skip
    assert f"tminus: {done.last['reason']}" in done.err
    assert done.err.count("\n") == 1


def test_the_headless_demo_prints_the_object_of_a_replay(tminus: Tminus) -> None:
    done = tminus.run("demo", "--headless", "--json")

    changes = cast("list[dict[str, object]]", done.last["transitions"])
    end = cast("dict[str, object]", done.last["end"])
    assert (done.code, done.err, len(done.objects)) == (0, "", 1)
    assert set(changes[0]) == {"t", "kind", "from", "to", "reason", "rank", "pid"}
    assert (end["outcome"], end["verdict"], end["model"]) == ("ready", "ready", MODEL)
    assert tminus.recordings == []


def test_the_headless_demo_in_words_is_plainly_marked(tminus: Tminus) -> None:
    done = tminus.run("demo", "--headless")

    assert done.code == 0
    assert "SIMULATED" in done.out
    assert f"READY {MODEL} after 45." in done.out.splitlines()[-1]


def test_with_a_speed_it_takes_its_time(tminus: Tminus) -> None:
    began_s = time.monotonic()
    done = tminus.run("demo", "--headless", "--speed", "40")

    assert done.code == 0
    assert time.monotonic() - began_s > 1.1


def test_a_scenario_that_hangs_is_1_a_minute_after_its_verdict(tminus: Tminus) -> None:
    done = tminus.run("demo", "--scenario", "capture-hang", "--headless", "--json")

    end = cast("dict[str, object]", done.last["end"])
    assert (end["outcome"], end["fault"], end["phase"]) == ("failed", "hung", "capture")
    assert 140 < cast("float", end["t"]) < 160
    assert done.code == 1
    judgement = cast("dict[str, object]", end["judgement"])
    assert (judgement["verdict"], judgement["rank"], judgement["pid"]) == ("hung", "TP5", 4205)
    assert judgement["next_step"] == "py-spy dump --nonblocking --pid 4205"


@pytest.mark.parametrize(
    ("name", "rank", "pid"), [("rank-killed", "TP5", 4205), ("oom-capture", "TP3", 4203)]
)
def test_the_printed_object_names_the_culprit_of_the_end_and_of_nothing_else(
    tminus: Tminus, name: str, rank: str, pid: int
) -> None:
    done = tminus.run("demo", "--scenario", name, "--headless", "--json")

    changes = cast("list[dict[str, object]]", done.last["transitions"])
    named = [
        (each["kind"], each["to"], each["rank"], each["pid"]) for each in changes if each["pid"] is not None
    ]
    assert ("verdict", "dead", rank, pid) in named
    assert {(each[2], each[3]) for each in named} == {(rank, pid)}
    assert all((each["rank"] is None) == (each["pid"] is None) for each in changes)
    assert done.code == 1


def test_the_scenarios_are_listed_with_their_titles(tminus: Tminus) -> None:
    done = tminus.run("demo", "--list")

    names = [line.split()[0] for line in done.out.splitlines()]
    assert done.code == 0
    assert names[0] == "ready"
    assert {"capture-hang", "capture-suspended", "wrong-model", "link-cut"} <= set(names)


def test_the_list_is_also_there_as_one_object_a_line(tminus: Tminus) -> None:
    listed = tminus.run("demo", "--list", "--json")

    names = [json.loads(line)["name"] for line in listed.out.splitlines()]
    assert listed.code == 0
    assert names == [line.split()[0] for line in tminus.run("demo", "--list").out.splitlines()]


def test_an_unknown_scenario_is_2_in_one_line(tminus: Tminus) -> None:
    done = tminus.run("demo", "--scenario", "capture-hung", "--headless")

    words = "tminus: there is no scenario 'capture-hung'; did you mean capture-hang?\n"
    assert (done.code, done.out, done.err) == (2, "", words)


def test_ctrl_c_ends_the_headless_demo_with_130(tminus: Tminus) -> None:
    process = tminus.start("demo", "--headless", "--speed", "1")
    tminus.until(process, "process: pid")
    process.send_signal(signal.SIGINT)

    assert tminus.end(process).code == 130
