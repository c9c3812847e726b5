"""``tminus --once --json`` and ``tminus demo --headless``, as processes."""

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import cast

import psutil
from tminus_command import Tminus

from tui.demo.launch import Launch
from tui.demo.server import MODEL


def demo_folders(tminus: Tminus) -> list[Path]:
    """Return the folders of this command's demos."""
    return list(tminus.folder.glob("tminus-demo-*"))


def family(pid: int) -> list[psutil.Process]:
    """Return a process and everything beneath it."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def alive(process: psutil.Process) -> bool:
    """Say whether a process still runs; a zombie does not."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def gone(processes: list[psutil.Process], within_s: float = 25.0) -> bool:
    """Wait until all of them are gone."""
    until_s = time.monotonic() + within_s
    while time.monotonic() < until_s:
        if not any(alive(each) for each in processes):
            return True
        time.sleep(0.05)
    return False


async def test_a_snapshot_tells_host_gpus_servers_ladder_and_phase(
    tminus: Tminus, simulated_engine: Launch
) -> None:
    done = await tminus.aside("--once", "--json", "--port", str(simulated_engine.port), "--no-record")

    seen = done.last
    assert done.code == 0
    assert len(done.out.splitlines()) == 1
    whole = {"host", "gpus", "servers", "ladder", "ready", "phase", "verdict", "model", "reason"}
    assert whole <= set(seen) <= whole | {"progress", "estimate", "lagging_ranks"}
    servers = cast("list[dict[str, object]]", seen["servers"])
    followed = [each for each in servers if each["followed"]]
    assert [(each["engine"], each["port"], each["model"]) for each in followed] == [
        ("sglang", simulated_engine.port, MODEL)
    ]
    assert done.err == ""


def test_a_snapshot_of_an_unknown_host_is_4(tminus: Tminus) -> None:
    done = tminus.run("no-such-host.invalid", "--once", "--json", "--no-record")

    assert (done.code, done.out) == (4, "")
    assert done.err.count("\n") == 1


def test_the_headless_demo_ends_ready_with_0_and_leaves_nothing(tminus: Tminus) -> None:
    process = tminus.start("demo", "--headless", "--json", "--speed", "40")
    tminus.until(process, '"rung":"process"', '"state":"ok"')
    kin = family(process.pid)
    done = tminus.end(process)

    assert (done.code, done.last["outcome"], done.last["model"]) == (0, "ready", MODEL)
    assert len(kin) > 2
    assert gone(kin)
    assert tminus.recordings == []


def test_the_demo_works_twice_at_once(tminus: Tminus) -> None:
    both = [tminus.start("demo", "--headless", "--json", "--speed", "40") for _ in range(2)]

    assert [tminus.end(each).last["outcome"] for each in both] == ["ready", "ready"]


def test_ctrl_c_ends_the_headless_demo_with_130_and_leaves_nothing(tminus: Tminus) -> None:
    process = tminus.start("demo", "--headless", "--json")
    tminus.until(process, '"rung":"process"', '"state":"ok"')
    kin = family(process.pid)
    assert demo_folders(tminus)
    process.send_signal(signal.SIGINT)
    done = tminus.end(process)

    assert done.code == 130
    assert gone(kin)
    assert not demo_folders(tminus)


def test_a_demo_that_is_killed_leaves_nothing(tminus: Tminus) -> None:
    process = tminus.start("demo", "--headless", "--json")
    tminus.until(process, '"rung":"process"', '"state":"ok"')
    kin = family(process.pid)
    os.kill(process.pid, signal.SIGKILL)
    tminus.end(process)

    assert gone(kin)


async def test_the_demo_is_plainly_marked(tminus: Tminus) -> None:
    done = await asyncio.to_thread(tminus.run, "demo", "--headless", "--speed", "40")

    assert "SIMULATED" in done.out
