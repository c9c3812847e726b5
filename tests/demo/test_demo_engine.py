"""The simulated engine as a real process: its port, its answers, and that nothing of it stays behind."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import psutil
from simulated_engine import PORT_LINE
from simulated_launch import PLUGINS, Launch, launch

from tui.engines.registry import matchers

PATIENCE_S = 20.0


async def eventually(what: Callable[[], bool]) -> bool:
    """Wait until something holds, for a while."""
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        if what():
            return True
        await asyncio.sleep(0.02)
    return False


async def status(client: httpx.AsyncClient, path: str) -> int | None:
    """Return the status of an answer, None while the port refuses."""
    try:
        return (await client.get(path)).status_code
    except httpx.ConnectError:
        return None


async def ready(client: httpx.AsyncClient) -> list[int | None]:
    """Wait until health is ok; return the answers seen on the way, each once."""
    seen: list[int | None] = []
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        answer = await status(client, "/health")
        if not seen or seen[-1] != answer:
            seen.append(answer)
        if answer == 200:
            break
        await asyncio.sleep(0.005)
    return seen


async def test_the_port_refuses_then_answers_503_then_is_ready(engine: Launch) -> None:
    async with httpx.AsyncClient(base_url=engine.url, trust_env=False) as client:
        assert await ready(client) == [None, 503, 200]
        models = (await client.get("/v1/models")).json()

    assert [each["id"] for each in models["data"]] == ["simulated-qwen3"]


async def test_it_streams_as_many_tokens_as_asked_for_and_counts_them(engine: Launch) -> None:
    ask = {
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 12,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    async with httpx.AsyncClient(base_url=engine.url, trust_env=False) as client:
        await ready(client)
        async with client.stream("POST", "/v1/chat/completions", json=ask) as answer:
            lines = [line async for line in answer.aiter_lines() if line]

    chunks = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    texts = [each["choices"][0]["delta"].get("content") for each in chunks if each["choices"]]
    assert lines[-1] == "data: [DONE]"
    assert len([text for text in texts if text]) == 12
    assert chunks[-1]["usage"]["completion_tokens"] == 12


async def test_a_request_before_it_is_ready_is_refused_in_words() -> None:
    slow = await launch(15.0)
    try:
        async with httpx.AsyncClient(base_url=slow.url, trust_env=False) as client:
            await eventually(lambda: PORT_LINE in slow.log_path.read_text())
            answer = await client.post("/v1/chat/completions", json={"messages": []})
        assert answer.status_code == 503
    finally:
        await slow.close()


async def test_its_log_reads_as_a_server_writes_it(engine: Launch) -> None:
    assert await eventually(lambda: "ready to roll" in engine.log_path.read_text())

    text = engine.log_path.read_bytes().decode()
    assert "\rMulti-thread loading shards: 100% Completed" in text
    assert f"Uvicorn running on http://127.0.0.1:{engine.port}" in text
    assert f"Started server process [{engine.pid}]" in text


async def test_it_is_found_as_an_engine_is_found_and_its_ranks_bear_their_titles(engine: Launch) -> None:
    process = psutil.Process(engine.pid)
    sglang = next(each for each in matchers() if each.engine == "sglang")

    def titles() -> list[str]:
        return [" ".join(child.cmdline()).strip() for child in process.children()]

    # A child is there before it has its title.
    assert await eventually(lambda: sum("sglang::" in title for title in titles()) == 9)
    assert any(re.search(pattern, " ".join(process.cmdline())) for pattern in sglang.argv)
    assert all(any(re.search(pattern, title) for pattern in sglang.titles) for title in titles())
    assert "sglang::scheduler_TP7" in titles()


async def test_nothing_is_left_after_its_end() -> None:
    engine = await launch(60.0)
    process = psutil.Process(engine.pid)
    assert await eventually(lambda: len(process.children()) == 9)
    family = [process, *process.children()]

    await engine.close()
    await engine.close()

    assert not engine.log_path.parent.exists()
    assert not [each for each in family if _alive(each)]


async def test_two_at_once_have_ports_of_their_own() -> None:
    first, second = await asyncio.gather(launch(60.0), launch(60.0))
    try:
        assert first.port != second.port
        for engine in (first, second):
            async with httpx.AsyncClient(base_url=engine.url, trust_env=False) as client:
                assert (await ready(client))[-1] == 200
    finally:
        await asyncio.gather(first.close(), second.close())


async def test_nothing_is_left_when_its_parent_is_killed() -> None:
    code = (
        "import asyncio\n"
        "from simulated_launch import launch\n"
        "async def main():\n"
        "    engine = await launch(60.0)\n"
        "    print(engine.pid, engine.log_path.parent, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    own = os.environ | {"PYTHONPATH": PLUGINS}
    parent = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=subprocess.PIPE, env=own)
    assert parent.stdout is not None
    pid, folder = (await parent.stdout.readline()).decode().split()
    process = psutil.Process(int(pid))
    assert await eventually(lambda: len(process.children()) == 9)
    family = [process, *process.children()]
    parent.kill()
    await parent.wait()

    assert await eventually(lambda: not Path(folder).exists())
    assert await eventually(lambda: not [each for each in family if _alive(each)])


def _alive(process: psutil.Process) -> bool:
    """Say whether a process runs: a zombie that its reaper has not taken in does not."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
