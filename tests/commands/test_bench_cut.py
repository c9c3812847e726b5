"""A benchmark whose link dies in the middle, over a real sshd: told, kept as cut, not started again."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from simulated_launch import Launch
from ssh_server import SshServer
from tminus_command import Tminus

from tui.benchmark import BenchResult, BenchSpec
from tui.events import AnyEvent, Link
from tui.present.bench import bench_panel
from tui.requests import WatchRequest
from tui.runs.keeping import KeptRuns
from tui.runs.ledger import Ledger
from tui.runs.samples import left_out
from tui.session import Session
from tui.transport import agent_source
from tui.transport.agent_source import AgentSource
from tui.transport.ssh.opener import SshOptions, ssh_opener
from tui.watch.options import WatchOptions

pytestmark = pytest.mark.ssh

MANY = ("--concurrency", "2", "--requests", "5000", "--input-tokens", "16", "--output-tokens", "32")


async def cut_while_it_measures(tminus: Tminus, engine: Launch, server: SshServer, *more: str) -> list[str]:
    """Run a benchmark beside the server until the link is cut; return exit code, output and errors."""
    assert (await tminus.aside("wait", "--url", engine.url, "--no-record")).code == 0
    host = ("bench", server.host, "--ssh-config", server.config_file, *more)
    process = tminus.start(*host, *MANY)
    for _ in range(2):  # the first line is said when nothing has been answered yet
        await asyncio.to_thread(tminus.until_said, process, "measuring")
    server.cut()
    done = await asyncio.to_thread(tminus.end, process)
    return [str(done.code), done.out, done.err]


@pytest.mark.parametrize("found", [True, False], ids=["found", "by-url"])
async def test_the_command_says_that_it_was_cut_and_keeps_what_had_come(
    found: bool, tminus: Tminus, simulated_engine: Launch, ssh_server: SshServer
) -> None:
    where = ("--port", str(simulated_engine.port)) if found else ("--url", simulated_engine.url)
    code, out, _ = await cut_while_it_measures(tminus, simulated_engine, ssh_server, *where)
    first = " ".join(out.split())

    assert code == "4"
    assert first.startswith("cut: ")
    assert "of 5000 requests answered" in first
    assert "; the link to lab" in first
    runs = await tminus.aside("runs", "--json")
    assert (runs.last["outcome"], runs.last["completed"] != 0) == ("cut", True)
    assert f"kept as run {runs.last['run']}" in first
    assert "makes it the baseline" not in first
    shown = await tminus.aside("runs", "show", str(runs.last["run"]))
    assert (shown.code, "cut" in shown.out) == (0, True)


class Watched:
    """A session over SSH with a ledger, run until the test is over."""

    def __init__(self, server: SshServer, engine: Launch, ledger: Path) -> None:
        opener = ssh_opener(server.host, options=SshOptions(config_file=server.config_file))
        self.source = AgentSource(opener, WatchRequest(matchers=[], gpus=False), reconnect=True)
        options = WatchOptions(url=engine.url)
        spec = BenchSpec(
            url="", model=None, concurrency=2, requests=5000, input_tokens=16, output_tokens=32, warmup_s=0.5
        )
        self.session = Session(self.source, options, spec, runs=KeptRuns(ledger))
        self.events: list[AnyEvent] = []
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        async for event in self.session.updates():
            self.events.append(event)
            self._news.set()

    async def until(self, true: Callable[[], object]) -> None:
        """Wait until something is so after an event; fails with TimeoutError."""
        async with asyncio.timeout(30):
            while not true():
                self._news.clear()
                await self._news.wait()

    async def close(self) -> None:
        """End it."""
        await self.session.close()
        await self._task

    def ups(self) -> int:
        """Return how often the link came up."""
        return len([event for event in self.events if isinstance(event, Link) and event.state == "up"])


async def test_the_key_that_fired_it_shows_it_as_cut_keeps_it_and_does_not_fire_again_by_itself(
    simulated_engine: Launch, ssh_server: SshServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_source, "BACKOFF_S", (0.05,))
    watched = Watched(ssh_server, simulated_engine, tmp_path / "ledger")
    bench = watched.session.state.bench
    try:
        await watched.until(lambda: watched.session.state.ready)
        assert watched.session.start_bench() == "the benchmark runs"
        await watched.until(lambda: bench.progress is not None and bench.progress.stage == "measure")
        await watched.until(lambda: bench.progress is not None and bench.progress.completed > 0)
        ssh_server.cut()
        await watched.until(lambda: watched.ups() == 2 and bench.comparisons)
        panel = bench_panel(watched.session.state)
        await watched.until(lambda: watched.session.state.ready)
    finally:
        await watched.close()

    (result,) = [event for event in watched.events if isinstance(event, BenchResult)]
    assert (result.outcome, result.completed > 0, result.ttft_ms.mean) == ("cut", True, None)
    assert bench.running is None
    assert panel.headline.startswith(f"cut: {result.completed} of 5000 requests answered")
    assert "; the link to lab" in panel.headline
    assert any(note.startswith("kept as run ") for note in panel.notes)
    told = [event.sentence for event in watched.session.state.notices]
    assert "the benchmark was cut off with the link; b starts it again" in told
    (kept,) = Ledger(tmp_path / "ledger").runs()
    assert left_out(kept.result) == "cut off with its link"
