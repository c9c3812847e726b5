"""``tminus wait`` for several hosts: each to its own end, and the worst decides."""

import asyncio
import signal
import sys
import time
from dataclasses import dataclass
from typing import cast

import pytest
from made_up_person import Person
from simulated_launch import Launch
from ssh_hosts import name_hosts
from ssh_server import SshServer
from tminus_command import Tminus
from watched_host import SGLANG, Watch

from tui.commands.turns import Turns
from tui.commands.wait import Ending
from tui.commands.wait_hosts import HostWait, Lines, attends, exit_code, until_decided
from tui.replay.ending import Outcome


@dataclass
class Ended:
    """A wait that is over, or that will never be by itself."""

    ended: Ending | None = None
    attends: bool = False

    def end(self, found: Ending) -> None:
        self.ended = found


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (("ready", "ready"), 0),
        (("ready", "timeout"), 3),
        (("timeout", "lost", "ready"), 4),
        (("ready", "failed", "lost"), 1),
    ],
)
def test_the_worst_end_decides(outcomes: tuple[Outcome, ...], code: int) -> None:
    waits = [Ended(Ending(outcome, None, "")) for outcome in outcomes]
    assert exit_code(cast("list[HostWait]", waits)) == code


@pytest.mark.ssh
@pytest.mark.xdist_group("ssh")
async def test_ready_is_0_when_all_are_and_every_line_names_its_host(
    tminus: Tminus, ssh_server: SshServer, simulated_engine: Launch
) -> None:
    name_hosts(ssh_server, ["lab"])
    command = ("wait", "local", "lab", "--url", simulated_engine.url, "--ssh-config", ssh_server.config_file)
    done = await tminus.aside(*command, "--json", "--timeout", "60s")
    assert done.code == 0
    assert done.err == ""
    ends = {str(each["target"]): each["outcome"] for each in done.objects if each["event"] == "end"}
    assert ends == {"local": "ready", "lab": "ready"}
    assert {each["target"] for each in done.objects} == {"local", "lab"}
    assert len(tminus.recordings) == 2


@pytest.mark.ssh
@pytest.mark.xdist_group("ssh")
def test_a_dead_host_is_told_at_once_and_the_others_are_waited_for(
    tminus: Tminus, ssh_server: SshServer, free_port: int
) -> None:
    name_hosts(ssh_server, ["lab", "dead"], {"dead": [f"Port {free_port}"]})
    options = ("--port", "1", "--no-record", "--ssh-config", ssh_server.config_file)
    done = tminus.run("wait", "dead", "lab", *options, "--timeout", "8s")
    assert done.code == 4
    lines = done.out.splitlines()
    (lost,) = [line for line in lines if "dead: LOST after" in line]
    assert "lab: TIME-OUT after" in lines[-1]
    assert lines.index(lost) < len(lines) - 1
    assert done.err.startswith("tminus: dead: ")
    assert done.err.count("\n") == 1


@pytest.mark.ssh
@pytest.mark.xdist_group("ssh")
def test_one_look_at_several_hosts_is_a_line_each_in_the_order_of_their_names(
    tminus: Tminus, ssh_server: SshServer, free_port: int
) -> None:
    name_hosts(ssh_server, ["lab", "dead"], {"dead": [f"Port {free_port}"]})
    done = tminus.run("lab", "dead", "local", "--once", "--json", "--ssh-config", ssh_server.config_file)
    assert done.code == 4
    assert [each["target"] for each in done.objects] == ["lab", "dead", "local"]
    dead = done.objects[1]
    assert (dead["host"], dead["fault"]) == (None, "refused")
    assert str(dead["reason"]) in done.err
    assert done.err.startswith("tminus: dead: ")


async def test_lines_of_all_hosts_wait_on_the_terminal_for_an_answer_and_keep_their_order(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    turns = Turns(Person("typed", thinks_s=0.02))
    lines = Lines(turns)
    asking = asyncio.create_task(turns.asker_of("a").ask("Password: ", echo=False))
    await asyncio.sleep(0)
    lines.write(["b: READY"])
    lines.say("c: refused")
    lines.catch_up()
    assert tuple(capsys.readouterr()) == ("", "")
    await asking
    lines.write(["d: READY"])
    assert tuple(capsys.readouterr()) == ("b: READY\nd: READY\n", "tminus: c: refused\n")


@pytest.mark.parametrize("is_terminal", [True, False], ids=["terminal", "file"])
async def test_lines_are_printed_at_the_end_though_a_question_be_open(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    person = Person("typed", thinks_s=60.0)
    lines = Lines(turns := Turns(person))
    asking = asyncio.create_task(turns.asker_of("a").ask("Password: ", echo=False))
    await asyncio.sleep(0)
    lines.write(["b: READY"])
    assert capsys.readouterr().out == ("" if is_terminal else "b: READY\n")
    lines.finish()
    assert capsys.readouterr().out == ("b: READY\n" if is_terminal else "")
    assert person.told == ["a:", ""]
    asking.cancel()
    await asyncio.wait({asking})


def test_a_signal_ends_all_of_them(tminus: Tminus) -> None:
    process = tminus.start("wait", "local", "no-such-name.invalid", "--port", "1", "--timeout", "60s")
    tminus.until(process, "local: no server")
    process.send_signal(signal.SIGINT)
    done = tminus.end(process)
    assert done.code == 130
    assert "local: LOST after" in done.out


def test_a_node_of_rank_1_answers_nobody(watched: Watch) -> None:
    for rank in (0, 1):
        host = watched()
        host.hello()
        host.starts(argv=f"{SGLANG} --nnodes 2 --node-rank {rank}")
        assert attends(host.state) == (rank == 1)


@pytest.mark.parametrize(("first", "decided"), [("ready", True), ("timeout", False)])
async def test_a_node_that_answers_nobody_is_ready_with_the_one_that_answers(
    first: Outcome, *, decided: bool
) -> None:
    head, node = Ended(Ending(first, None, "")), Ended(attends=True)
    stop: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    until_s = time.monotonic() + (30 if decided else 0.1)
    await until_decided(cast("list[HostWait]", [head, node]), [], stop, until_s)
    assert (node.ended is not None and node.ended.outcome == "ready") == decided
