"""``tminus diagnose``: says first what it touches, prints what it found, and ends by itself."""

import json
from functools import partial

import msgspec
import pytest
from simulated_launch import Launch
from tminus_command import Tminus

from tui.commands import diagnose
from tui.commands.records import JudgementPart
from tui.requests import DiagnoseRequest
from tui.settings import Choices
from tui.watch import diagnosing


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the rounds follow each other at once."""
    monkeypatch.setattr(diagnosing, "DiagnoseRequest", partial(DiagnoseRequest, every_s=0.1))
    monkeypatch.setattr(diagnose, "SETTLE_S", 0.1)
    monkeypatch.setattr(diagnose, "JUDGE_S", 0.5)


async def ran(engine: Launch, *, as_json: bool = False) -> int:
    """Run the command in this process on the simulated engine; return its exit code."""
    choices = Choices(host="local", pid=engine.pid, record=False, json=as_json)
    return await diagnose.run_on(choices)


@pytest.mark.usefixtures("soon")
async def test_it_says_first_what_it_touches_and_then_what_it_found(
    simulated_engine: Launch, capfd: pytest.CaptureFixture[str]
) -> None:
    code = await ran(simulated_engine)

    out = capfd.readouterr().out
    first = out.splitlines()[0]
    assert code == 0
    assert "3 stack dumps, 0.1 s apart, of " in first
    assert "NCCL RAS" in first
    assert out.count(" threads read in ") + out.count(" thread read in ") >= 3
    assert "\nended: " in out
    assert "\nverdict: " in out or "verdict" not in out


@pytest.mark.usefixtures("soon")
async def test_json_is_the_plan_and_then_all_of_it(
    simulated_engine: Launch, capfd: pytest.CaptureFixture[str]
) -> None:
    code = await ran(simulated_engine, as_json=True)

    plan, found = (json.loads(line) for line in capfd.readouterr().out.splitlines())
    assert code == 0
    assert (plan["event"], found["event"], found["found"]) == ("plan", "diagnosis", True)
    assert sorted(pid for group in found["groups"] for pid in group["pids"]) == sorted(plan["pids"])
    assert all(set(group["standing"]) <= {"moved", "unchanged", "open"} for group in found["groups"])
    sizes = [len(group["pids"]) for group in found["groups"]]
    assert sizes == sorted(sizes)
    judgement = msgspec.convert(found["judgement"], JudgementPart)
    assert set(found["judgement"]) == set(JudgementPart.__struct_fields__), "as in every other object"
    assert (found["verdict"], judgement.reason != "") == (judgement.verdict, True)
    assert judgement.since is not None
    assert judgement.since <= found["t"]


async def test_without_a_server_it_ends_with_1_and_says_so(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(diagnose, "SERVER_S", 2.0)

    code = await diagnose.run_on(Choices(host="local", port=1, record=False))

    assert code == 1
    assert capfd.readouterr().out.startswith("no server ")  # with what else runs on this host


def test_a_url_alone_is_refused(tminus: Tminus) -> None:
    done = tminus.run("diagnose", "--url", "http://127.0.0.1:1")

    assert done.code == 2
    assert "diagnose needs a HOST" in done.err


def test_a_host_that_is_not_there_is_4(tminus: Tminus) -> None:
    done = tminus.run("diagnose", "no-such-host.invalid", "--no-record")

    assert (done.code, done.out) == (4, "")
    assert "no-such-host.invalid" in done.err
