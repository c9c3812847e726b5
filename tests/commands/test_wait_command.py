"""``tminus wait``: what it prints, and the exit code that scripts go by."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import time
from itertools import pairwise
from typing import cast

import pytest
from simulated_launch import Launch, launch
from ssh_server import SshServer
from stuck_server import StuckServer
from tminus_command import Tminus

from tui.demo.server import MODEL

END = {"event", "t", "outcome", "phase", "verdict", "fault", "elapsed_s", "attempts", "model", "reason"}


async def test_ready_is_0_and_the_last_line_is_the_whole_end(
    tminus: Tminus, simulated_engine: Launch
) -> None:
    done = await tminus.aside("wait", "--url", simulated_engine.url, "--json", "--timeout", "80s")

    assert done.code == 0
    assert set(done.last) == END
    assert (done.last["event"], done.last["outcome"], done.last["verdict"]) == ("end", "ready", "ready")
    assert done.last["model"] == MODEL
    assert done.err == ""


async def test_every_line_is_an_object_with_event_and_t_and_time_goes_on(
    tminus: Tminus, simulated_engine: Launch
) -> None:
    done = await tminus.aside("wait", "--url", simulated_engine.url, "--json", "--timeout", "80s")

    times = [float(str(each["t"])) for each in done.objects]
    assert times == sorted(times)
    assert {str(each["event"]) for each in done.objects} <= {"probe", "readiness", "phase", "verdict", "end"}
    assert [each["event"] for each in done.objects].count("end") == 1


async def test_answers_that_repeat_are_left_out_and_counted(tminus: Tminus, free_port: int) -> None:
    asked = ("--url", f"http://127.0.0.1:{free_port}", "--json", "--timeout", "80s")
    process = tminus.start("wait", *asked)
    first = await asyncio.to_thread(tminus.until, process, '"refused"')
    slow = await launch(12.0, free_port)
    try:
        done = await asyncio.to_thread(tminus.end, process)
    finally:
        await slow.close()

    probes = [json.loads(first), *(each for each in done.objects if each["event"] == "probe")]
    refused = [float(str(each["t"])) for each in probes if each["outcome"] == "refused"]
    assert int(str(done.last["attempts"])) > len(probes)
    assert all(later - earlier > 0.9 for earlier, later in pairwise(refused))


def test_a_port_that_refuses_is_a_time_out_3_with_the_reason(tminus: Tminus, free_port: int) -> None:
    begun_s = time.monotonic()

    done = tminus.run("wait", "--url", f"http://127.0.0.1:{free_port}", "--json", "--timeout", "4s")

    assert (done.code, done.last["outcome"]) == (3, "timeout")
    assert "connection refused" in str(done.last["reason"])
    assert 4 <= float(str(done.last["elapsed_s"])) < 15
    assert time.monotonic() - begun_s < 40


def test_a_port_that_opens_and_says_nothing_is_a_time_out_that_names_the_silent_rung(tminus: Tminus) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = tminus.run("wait", "--url", url, "--json", "--timeout", "2s")

    assert (done.code, done.last["outcome"]) == (3, "timeout")
    assert done.last["reason"] == "not ready within 2 s: health: no answer yet"


@pytest.mark.parametrize("asked", ["--url", "--port"])
async def test_a_port_of_another_program_is_told_in_one_line_of_its_own(tminus: Tminus, asked: str) -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.2\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        place = f"http://127.0.0.1:{port}" if asked == "--url" else str(port)
        done = await tminus.aside("wait", asked, place, "--json", "--no-record", "--timeout", "4s")

    assert (done.code, done.last["outcome"], done.last["fault"]) == (3, "timeout", "not_http")
    assert "another program" in done.err
    assert done.err.count("\n") == 1


def test_the_clock_ends_it_where_nothing_ever_happens(tminus: Tminus) -> None:
    with subprocess.Popen(["sleep", "30"]) as sleeper:
        done = tminus.run("wait", "--pid", str(sleeper.pid), "--json", "--timeout", "1s", "--no-record")
        sleeper.kill()

    assert (done.code, done.last["outcome"]) == (3, "timeout")


async def test_the_wrong_model_is_1_at_the_time_out_with_both_names(
    tminus: Tminus, simulated_engine: Launch
) -> None:
    done = await tminus.aside(
        "wait", "--url", simulated_engine.url, "--model", "llama-4", "--json", "--timeout", "4s"
    )

    assert (done.code, done.last["outcome"], done.last["fault"]) == (1, "failed", "wrong_model")
    assert "llama-4" in str(done.last["reason"])
    assert MODEL in str(done.last["reason"])


async def test_a_server_that_dies_is_1(tminus: Tminus) -> None:
    engine = await launch(12.0)
    process = tminus.start("wait", "--port", str(engine.port), "--json", "--no-record", "--timeout", "60s")
    await asyncio.to_thread(tminus.until, process, '"rung":"process"', '"state":"ok"')
    os.kill(engine.pid, signal.SIGKILL)
    done = await asyncio.to_thread(tminus.end, process)
    await engine.close()

    assert (done.code, done.last["outcome"], done.last["verdict"]) == (1, "failed", "dead")
    assert done.last["reason"]


async def test_with_restarts_it_goes_on_to_the_next_server(tminus: Tminus, free_port: int) -> None:
    asked = ("--restarts", "--json", "--no-record", "--timeout", "80s", "--port", str(free_port))
    process = tminus.start("wait", *asked)
    first = await launch(12.0, free_port)
    await asyncio.to_thread(tminus.until, process, f'"pid":{first.pid}')
    os.kill(first.pid, signal.SIGKILL)
    await first.close()
    second = await launch(60.0, free_port)
    done = await asyncio.to_thread(tminus.end, process)
    await second.close()

    assert "dead" in [each.get("verdict") for each in done.objects]
    assert (done.code, done.last["outcome"]) == (0, "ready")


@pytest.mark.parametrize(("rung", "asked"), [("health", False), ("model", False), ("token", True)])
async def test_a_server_is_sent_no_request_that_readiness_does_not_need(
    tminus: Tminus, simulated_engine: Launch, rung: str, asked: bool
) -> None:
    done = await tminus.aside(
        "wait", "--url", simulated_engine.url, "--ready-on", rung, "--json", "--timeout", "80s"
    )

    assert (done.code, done.last["outcome"]) == (0, "ready")
    assert ("POST" in simulated_engine.log_path.read_text()) == asked


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_with_its_code_and_the_end_object(
    tminus: Tminus, free_port: int, number: signal.Signals, code: int
) -> None:
    process = tminus.start("wait", "--url", f"http://127.0.0.1:{free_port}", "--json", "--no-record")
    tminus.until(process, '"event":"probe"')
    process.send_signal(number)

    done = tminus.end(process)

    assert done.code == code
    assert (done.last["event"], done.last["outcome"], done.last["fault"]) == ("end", "lost", "interrupted")
    assert done.err == ""


async def test_people_get_a_line_a_change_and_the_outcome_last(tminus: Tminus, free_port: int) -> None:
    process = tminus.start("wait", "--url", f"http://127.0.0.1:{free_port}", "--timeout", "80s")
    await asyncio.to_thread(tminus.until, process, "port: connection refused")
    slow = await launch(12.0, free_port)
    try:
        done = await asyncio.to_thread(tminus.end, process)
    finally:
        await slow.close()

    lines = done.out.splitlines()
    assert lines[-1].split("s  ", 1)[1].startswith(f"READY {MODEL} after ")
    assert any("health: 503 Service Unavailable" in line for line in lines)


def test_a_stopped_rank_is_told_with_its_pid_and_ends_a_wait_that_is_asked_to(tminus: Tminus) -> None:
    server = StuckServer("suspended")
    try:
        pid = str(server.pids["launcher"])
        asked = ("--fail-on", "hung", "--timeout", "80s", "--no-record")
        process = tminus.start("wait", "--pid", pid, "--json", *asked)
        tminus.until(process, '"event":"verdict"', '"verdict":"progressing"')
        server.get_stuck()
        done = tminus.end(process)
        looked = tminus.run("--once", "--json", "--pid", pid)
    finally:
        server.close()

    stopped = server.pids["TP2"]
    told = next(each for each in done.objects if each.get("verdict") == "suspended")
    assert (told["event"], told["rank"], told["pid"]) == ("verdict", "TP2", stopped)
    assert (told["next_step"], told["confidence"]) == (f"kill -CONT {stopped}", "proof")
    assert (done.code, done.last["outcome"], done.last["fault"]) == (1, "failed", "suspended")
    assert f"TP2 (pid {stopped}) is stopped" in str(done.last["reason"])
    assert done.err == ""
    assert looked.last["verdict"] == "suspended"
    assert cast("dict[str, object]", looked.last["judgement"])["pid"] == stopped


@pytest.mark.parametrize(
    ("given", "said"),
    [("hang", "'hang'; did you mean hung?"), ("hung,", "''"), ("slow,hung", "'slow'")],
)
def test_a_verdict_that_cannot_be_failed_on_is_2_in_one_line(tminus: Tminus, given: str, said: str) -> None:
    done = tminus.run("wait", "gpu-box", "--fail-on", given)

    allowed = "--fail-on must be stalled, hung or suspended, or several of them with commas between"
    assert (done.code, done.out, done.err) == (2, "", f"tminus: {allowed}, not {said}\n")


def test_a_host_without_a_name_is_4_in_one_line(tminus: Tminus) -> None:
    done = tminus.run("wait", "no-such-host.invalid", "--json", "--no-record")

    assert (done.code, done.last["outcome"], done.last["fault"]) == (4, "lost", "dns")
    assert done.err.count("\n") == 1
    assert "no-such-host.invalid" in done.err
    assert "Traceback" not in done.err


def test_a_misspelt_command_is_recognised_behind_an_unknown_host(tminus: Tminus) -> None:
    done = tminus.run("wait", "demoo", "--no-record")

    assert done.code == 4
    assert "did you mean tminus demo?" in done.err


def test_an_ssh_port_that_refuses_is_4_in_one_line(tminus: Tminus, free_port: int) -> None:
    done = tminus.run("wait", f"ssh://127.0.0.1:{free_port}", "--json", "--no-record")

    assert (done.code, done.last["outcome"], done.last["fault"]) == (4, "lost", "refused")
    assert done.err.count("\n") == 1


@pytest.mark.ssh
@pytest.mark.xdist_group("ssh")
def test_a_host_key_that_nobody_knows_is_4_in_one_line(tminus: Tminus, ssh_server: SshServer) -> None:
    ssh_server.known_hosts.write_text("")

    done = tminus.run("wait", "lab", "--ssh-config", ssh_server.config_file, "--json", "--no-record")

    assert (done.code, done.last["outcome"], done.last["fault"]) == (4, "lost", "host_key")
    assert done.err.count("\n") == 1


@pytest.mark.ssh
@pytest.mark.xdist_group("ssh")
def test_a_key_that_the_host_does_not_take_is_4(tminus: Tminus, ssh_server: SshServer) -> None:
    (ssh_server.folder / "authorized_keys").write_text("")

    done = tminus.run("wait", "lab", "--ssh-config", ssh_server.config_file, "--json", "--no-record")

    assert (done.code, done.last["outcome"], done.last["fault"]) == (4, "lost", "auth")


@pytest.mark.ssh
@pytest.mark.xdist_group("ssh")
async def test_through_a_real_ssh_server_it_is_ready_as_well(tminus: Tminus, ssh_server: SshServer) -> None:
    slow = await launch(12.0)
    try:
        done = await tminus.aside(
            *("wait", "lab", "--ssh-config", ssh_server.config_file, "--port", str(slow.port), "--json")
        )
    finally:
        await slow.close()

    assert (done.code, done.last["outcome"], done.last["model"]) == (0, "ready", MODEL)
    assert "phase" in {each["event"] for each in done.objects}
