"""The diagnosis as the agent runs it: what it says first, what it touches, and that it always ends."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent_process import Served, StartAgent, until
from ras_server import HEALTHY, incomplete, mismatch, ras_server
from watched_stacks import DEADLOCK, IDLE, WORK, StartPython, stand_in, stop

from tui.agent import wire
from tui.agent.diagnose import ras, spy, tool
from tui.agent.diagnose.worker import Diagnosis
from tui.requests import DiagnoseRequest, WatchRequest

TOOL = str(Path(sys.executable).parent / "py-spy")
SHORT_S = 0.15

Message = dict[str, Any]


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ras, "CONNECT_S", 0.2)
    monkeypatch.setattr(ras, "STATUS_S", 0.5)


def diagnose(*pids: int, tool: str | None = TOOL, **more: Any) -> list[Message]:
    """Return what a diagnosis says."""
    said: list[Message] = []
    request = {"pids": list(pids), "tool": tool, "rounds": 3, "every_s": SHORT_S, **more}
    Diagnosis(request, said.append).run()
    return said


def nothing_found(pids: list[int], told: str | None) -> tuple[None, str]:
    assert (len(pids), told) == (1, None)
    return None, "no py-spy"


def of(said: list[Message], asked: str) -> list[Message]:
    return [each for each in said if each["asked"] == asked]


def started(start_python: StartPython, code: str, leaf: str) -> int:
    """Start a program and wait until it is where it is to be."""
    pid = start_python(code).pid
    until(lambda: f": {leaf} " in spy.stacks(TOOL, pid)[0][0])
    return pid


def test_it_says_first_what_it_will_touch_and_last_that_nothing_more_comes(start_python: StartPython) -> None:
    pid = start_python(IDLE).pid

    with ras_server(HEALTHY) as server:
        said = diagnose(pid, ras_port=server.port, nccl_version="2.27.3")

    assert said[0]["sentence"] == (
        f"3 stack dumps, 0.15 s apart, of {pid} by {TOOL}; then NCCL RAS on port {server.port}, at most twice"
    )
    assert [each.get("last", False) for each in said] == [False] * (len(said) - 1) + [True]
    assert said[-1]["sentence"] == "3 stack dumps, 1 answer of NCCL RAS"


def test_a_deadlock_is_the_same_three_times(start_python: StartPython) -> None:
    pid = started(start_python, DEADLOCK, "waits_for_ever")

    dumps = of(diagnose(pid), "stacks")

    assert [(each["pid"], each["round"], each["found"]) for each in dumps] == [
        (pid, n, True) for n in (1, 2, 3)
    ]
    assert dumps[0]["stacks"] == dumps[1]["stacks"] == dumps[2]["stacks"]
    times = [each["mono_s"] for each in dumps]
    assert times[1] - times[0] >= SHORT_S / 2


def test_work_changes_its_leaf(start_python: StartPython) -> None:
    pid = start_python(WORK).pid

    until(lambda: len({str(each["stacks"][0]) for each in of(diagnose(pid), "stacks")}) > 1)


def test_a_stopped_process_is_read_and_said_to_be_stopped(start_python: StartPython) -> None:
    pid = started(start_python, IDLE, "rests")
    stop(pid)

    dumps = of(diagnose(pid), "stacks")

    assert all(each["found"] for each in dumps)
    assert dumps[0]["sentence"].endswith("state T (stopped)")


def test_one_that_ends_meanwhile_is_told_and_the_others_are_still_read(
    start_python: StartPython, tmp_path: Path
) -> None:
    ending, living = start_python(IDLE), start_python(IDLE).pid
    killing = stand_in(tmp_path, f'[ "$5" = {living} ] && kill -9 {ending.pid}\nexec {TOOL} "$@"')

    dumps = of(diagnose(ending.pid, living, tool=killing), "stacks")

    assert [each["found"] for each in dumps if each["pid"] == living] == [True] * 3
    gone = [each for each in dumps if each["pid"] == ending.pid]
    assert (gone[0]["found"], gone[-1]["found"]) == (True, False)
    assert gone[-1]["sentence"] == "the process has ended"


def test_without_py_spy_it_is_said_and_ras_is_asked_all_the_same(
    start_python: StartPython, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool, "find", nothing_found)

    with ras_server(HEALTHY) as server:
        said = diagnose(start_python(IDLE).pid, tool=None, ras_port=server.port, nccl_version="2.28.9")

    (stacks,) = of(said, "stacks")
    assert (stacks["found"], stacks.get("pid")) == (False, None)
    assert "no py-spy" in stacks["sentence"]
    assert [each["found"] for each in of(said, "ras")] == [True]


def test_a_process_on_which_py_spy_hangs_is_not_tried_again(
    start_python: StartPython, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spy, "LIMIT_S", 0.2)
    monkeypatch.setattr(spy.stacks, "__defaults__", (0.2,))
    tool = stand_in(tmp_path, f"echo run >> {tmp_path}/runs; sleep 60")

    said = diagnose(start_python(IDLE).pid, tool=tool)

    sentences = [each["sentence"] for each in of(said, "stacks")]
    again = "not dumped again: py-spy hung on it"
    assert sentences == ["py-spy did not end within 0.2 s and was killed", again, again]
    assert (tmp_path / "runs").read_text() == "run\n"
    assert (said[-1]["found"], said[-1]["last"]) == (False, True)


def test_ras_alone_is_not_asked_for_there_is_no_process_whose_init_is_known_to_be_over() -> None:
    with ras_server(mismatch(7)) as server:
        said = diagnose(ras_port=server.port, nccl_version="2.28.9")

        assert server.connections == 0
    assert of(said, "ras")[0]["found"] is False


def test_a_mismatch_is_asked_about_twice(start_python: StartPython) -> None:
    pid = start_python(IDLE).pid
    with ras_server(mismatch(pid, 60), mismatch(pid, 61), incomplete(7)) as server:
        answers = of(diagnose(pid, ras_port=server.port, nccl_version="2.28.9"), "ras")

        assert server.questions == 2
    assert ["\n".join(each["lines"]) + "\n" for each in answers] == [mismatch(pid, 60), mismatch(pid, 61)]
    assert [each["round"] for each in answers] == [1, 2]
    assert answers[1]["mono_s"] - answers[0]["mono_s"] >= SHORT_S


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"ras_port": None, "ras_refusal": "the load is in its init"}, "the load is in its init"),
        ({"nccl_version": "2.26.2"}, "NCCL 2.26.2, and before 2.27.3"),
        ({"nccl_version": "2.27.2"}, "NCCL 2.27.2, and before 2.27.3"),
        ({}, "cannot be told"),
    ],
)
def test_ras_is_not_asked_where_it_could_do_harm(
    start_python: StartPython, asked: dict[str, Any], why: str
) -> None:
    with ras_server(HEALTHY) as server:
        more: dict[str, Any] = {"ras_port": server.port, **asked}
        said = diagnose(start_python(IDLE).pid, tool=TOOL, **more)

        assert server.connections == 0
    (refusal,) = of(said, "ras")
    assert refusal["found"] is False
    assert refusal["sentence"].startswith("NCCL RAS is not asked: ")
    assert why in refusal["sentence"]


def test_ras_is_not_asked_once_the_processes_are_gone(start_python: StartPython, tmp_path: Path) -> None:
    ending = start_python(IDLE)
    killing = stand_in(tmp_path, f"kill -9 {ending.pid}; exit 1")

    with ras_server(HEALTHY) as server:
        said = diagnose(ending.pid, tool=killing, ras_port=server.port, nccl_version="2.28.9")

        assert server.connections == 0
    assert "new ones may be in their init" in of(said, "ras")[0]["sentence"]


def test_a_silent_port_is_told(start_python: StartPython) -> None:
    with ras_server(HEALTHY, silent=99) as server:
        said = diagnose(start_python(IDLE).pid, ras_port=server.port, nccl_version="2.28.9")

    (answer,) = of(said, "ras")
    assert answer["found"] is False
    assert "a rank that listens there is stopped" in answer["sentence"]


def test_remote_text_of_ras_is_masked_and_printable(start_python: StartPython) -> None:
    with ras_server("OK \x1b[31mhf_abcdefghijklmnopqrstuv\x07\xff\n") as server:
        said = diagnose(start_python(IDLE).pid, ras_port=server.port, nccl_version="2.28.9")

    assert of(said, "ras")[0]["lines"] == ["OK ***\xff"]


def test_the_worker_answers_over_its_channel_with_events_that_decode(
    served: Callable[..., Served], start_python: StartPython
) -> None:
    worker = served("diagnose")
    pid = start_python(IDLE).pid

    worker.send(DiagnoseRequest(pids=[pid], tool=TOOL, rounds=2, every_s=SHORT_S))

    said: list[Message] = []
    while not said or not said[-1].get("last"):
        said.append(worker.receive(wire.EVIDENCE))
    assert [each["asked"] for each in said] == ["diagnosis", "stacks", "stacks", "ras", "diagnosis"]


def test_the_agent_starts_it_only_when_it_is_asked_and_ends_with_it_in_mid_dump(
    agent: StartAgent, start_python: StartPython, tmp_path: Path
) -> None:
    tool = stand_in(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 60")
    whole = agent(real=("diagnose",))
    whole.send(WatchRequest(matchers=[]))
    whole.send(DiagnoseRequest(pids=[start_python(IDLE).pid], tool=tool))
    assert whole.receive(wire.EVIDENCE)["asked"] == "diagnosis"
    until((tmp_path / "pid").exists)
    until((tmp_path / "pid").read_text)

    whole.close()

    py_spy = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}")
    until(lambda: not py_spy.exists())
