"""Several real hosts at once: none waits for another, whatever becomes of one of them."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from ssh_hosts import delayed, name_hosts, never_answering
from ssh_relay import Relay
from ssh_server import SshServer, until

from tui.commands.hosts import WatchedHost, hosts_of, let_all_go, none_left
from tui.present.hosts import host_row
from tui.settings import Choices

pytestmark = [pytest.mark.ssh, pytest.mark.xdist_group("ssh")]


class Run:
    """A watch of several hosts; ``heard_s`` says when each was first heard, ``links`` what became of it."""

    def __init__(self, hosts: list[WatchedHost]) -> None:
        self.hosts = hosts
        self.heard_s: dict[str, float] = {}
        self.links: dict[str, list[str]] = {host.name: [] for host in hosts}

    def host(self, name: str) -> WatchedHost:
        return next(host for host in self.hosts if host.name == name)

    async def follow(self, host: WatchedHost) -> None:
        async for _ in host.updates():
            self._look(host)

    def _look(self, host: WatchedHost) -> None:
        state, links = host.session.state, self.links[host.name]
        if not links or links[-1] != state.link.state:
            links.append(state.link.state)
        if state.hello is not None:
            self.heard_s.setdefault(host.name, time.monotonic())


@asynccontextmanager
async def watching(
    server: SshServer, monkeypatch: pytest.MonkeyPatch, folder: Path, *names: str, patient: bool = False
) -> AsyncGenerator[Run]:
    """Watch these names of a server until the block ends."""
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    first, *others = names
    choices = Choices(host=first, others=tuple(others), ssh_config=server.config_file, record=False)
    run = Run(hosts_of(choices, None, patient=patient))
    tasks = [asyncio.create_task(run.follow(host)) for host in run.hosts]
    try:
        yield run
    finally:
        await let_all_go(tasks, run.hosts)


def heard(run: Run, *names: str) -> Callable[[], bool]:
    return lambda: all(name in run.heard_s for name in names)


async def test_eight_hosts_connect_side_by_side(
    ssh_server: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One after the other they would take eight times as long as one, over a line of 50 ms each way."""
    names = [f"host-{number}" for number in range(8)]
    took_s: list[float] = []
    async with delayed(ssh_server, 0.05) as port:
        name_hosts(ssh_server, names, {name: [f"Port {port}"] for name in names})
        for group in (names[:1], names[:1], names):
            begun_s = time.monotonic()
            async with watching(ssh_server, monkeypatch, tmp_path, *group) as run:
                await until(heard(run, *group), 60)
                took_s.append(max(run.heard_s.values()) - begun_s)
    assert took_s[2] < 4 * took_s[1]


async def test_dead_hosts_are_states_while_the_others_go_on(
    ssh_server: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free_port: int
) -> None:
    async with never_answering() as silent:
        own = {
            "refused": [f"Port {free_port}"],
            "silent": [f"Port {silent}"],
            "nowhere": ["HostName no-such-name.invalid"],
        }
        name_hosts(ssh_server, ["good", *own], own)
        async with watching(ssh_server, monkeypatch, tmp_path, *own, "good") as run:
            await until(heard(run, "good"), 30)
            await until(lambda: run.host("refused").unreached and run.host("nowhere").unreached, 30)
            silent_link = run.host("silent").session.state.link.state
            gpus_before = run.host("good").session.changes
            await until(lambda: run.host("good").session.changes > gpus_before, 30)
    assert silent_link == "connecting"
    assert "refused the connection" in run.host("refused").why_unreached()
    assert "no-such-name.invalid" in run.host("nowhere").why_unreached()
    assert not none_left(run.hosts)


async def test_a_host_that_is_away_at_first_is_taken_up_when_it_is_there(
    ssh_server: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, free_port: int
) -> None:
    own = {"rebooting": [f"Port {free_port}"], "nowhere": ["HostName no-such-name.invalid"]}
    name_hosts(ssh_server, ["good", *own], own)
    relay = Relay(ssh_server.port)
    async with watching(ssh_server, monkeypatch, tmp_path, *own, "good", patient=True) as run:
        await until(lambda: all(run.host(name).unreached for name in own), 30)
        row = host_row(run.host("rebooting").session.state, time.monotonic(), "rebooting")
        assert run.links["rebooting"][:2] == ["connecting", "lost"]
        assert row.word in ("not reached", "connecting")
        assert "refused the connection" in run.host("rebooting").why_unreached()
        assert not none_left(run.hosts)
        listener = await asyncio.start_server(relay.serve, "127.0.0.1", free_port)
        try:
            await until(heard(run, "rebooting"), 60)
            assert not run.host("rebooting").unreached
        finally:
            listener.close()
            await relay.close()
        assert run.host("nowhere").unreached
        assert run.links["nowhere"].count("lost") > 1


async def test_a_host_that_lets_nobody_in_is_not_tried_again_however_patient(
    ssh_server: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (ssh_server.folder / "authorized_keys").write_text("")
    name_hosts(ssh_server, ["closed"])
    async with watching(ssh_server, monkeypatch, tmp_path, "closed", patient=True) as run:
        await until(lambda: run.links["closed"][-1:] == ["failed"], 30)


async def test_a_host_that_is_lost_comes_back_and_the_others_never_notice(
    ssh_server: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    relay = Relay(ssh_server.port)
    listener = await asyncio.start_server(relay.serve, "127.0.0.1")
    port: int = listener.sockets[0].getsockname()[1]
    name_hosts(ssh_server, ["steady", "shaky"], {"shaky": [f"Port {port}"]})
    try:
        async with watching(ssh_server, monkeypatch, tmp_path, "steady", "shaky") as run:
            await until(heard(run, "steady", "shaky"), 30)
            relay.reset()
            await until(lambda: "lost" in run.links["shaky"] and run.links["shaky"][-1] == "up", 30)
    finally:
        listener.close()
        await relay.close()
    assert run.links["shaky"].count("up") == 2
    assert "lost" not in run.links["steady"]


async def test_all_of_them_end_together_and_soon_also_while_one_still_connects(
    ssh_server: SshServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with never_answering() as silent:
        name_hosts(ssh_server, ["good", "silent"], {"silent": [f"Port {silent}"]})
        async with watching(ssh_server, monkeypatch, tmp_path, "good", "silent") as run:
            await until(heard(run, "good"), 30)
            begun_s = time.monotonic()
        ended_s = time.monotonic() - begun_s
    assert ended_s < 20
    await until(lambda: not ssh_server.sessions(), 20)
