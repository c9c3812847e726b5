"""The agent on a host reached over a real sshd: started, watched, cut off, taken up again, and gone."""

from collections.abc import Callable
from pathlib import Path

import pytest
from busy_log import writing
from ssh_server import SshServer, StartSshServer, until
from ssh_watch import alive, family, watching

pytestmark = pytest.mark.ssh


async def test_a_growing_log_is_watched_over_ssh(ssh_server: SshServer, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with writing(log) as writer:
        await until(log.exists)
        async with watching(ssh_server, log) as watch:
            await until(lambda: watch.read.last > 1000)
            written = await writer.finish()
            await until(lambda: watch.read.last == written.lines - 1)
    assert watch.links() == ["connecting", "up", "closed"]
    assert (watch.read.lost(written.lines), watch.read.repeated(), watch.read.strange) == ([], [], [])


async def test_nothing_is_left_on_the_host_after_the_end(ssh_server: SshServer) -> None:
    async with watching(ssh_server) as watch:
        await until(lambda: bool(watch.agents()))
        processes = family(watch.agents()[0])
    await until(lambda: not any(map(alive, processes)))
    await until(lambda: not ssh_server.sessions())


async def test_a_killed_session_is_lost_and_the_log_goes_on_with_no_line_lost_or_repeated(
    ssh_server: SshServer, tmp_path: Path
) -> None:
    log = tmp_path / "server.log"
    log.touch()
    async with watching(ssh_server, log) as watch:
        await until(watch.reads_log)
        with writing(log, ["rename", "copytruncate"]) as writer:
            for cut in (1, 2):
                before = watch.read.last
                await until(lambda before=before: watch.read.last > before)
                ssh_server.cut()
                await until(lambda cut=cut: watch.links().count("up") == cut + 1)
            written = await writer.finish()
            await until(lambda: watch.read.last == written.lines - 1)
    assert watch.links()[:4] == ["connecting", "up", "lost", "connecting"]
    assert watch.read.gaps == []
    assert (watch.read.lost(written.lines), watch.read.repeated(), watch.read.out_of_order) == ([], [], 0)


async def test_a_server_that_comes_back_is_found_again(ssh_server: SshServer) -> None:
    async with watching(ssh_server) as watch:
        await until(lambda: "up" in watch.links())
        ssh_server.stop()
        await until(lambda: watch.links().count("lost") >= 2)
        assert "refused the connection" in watch.last_link().sentence
        ssh_server.start()
        await until(lambda: watch.links().count("up") == 2)


def _forget_host(server: SshServer) -> None:
    server.known_hosts.write_text("")


def _lock_out(server: SshServer) -> None:
    (server.folder / "authorized_keys").write_text("")


def _misname(server: SshServer) -> None:
    server.configure("HostName no-such-host.invalid")


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [(_forget_host, "host_key"), (_lock_out, "auth"), (SshServer.stop, "refused"), (_misname, "dns")],
)
async def test_a_host_that_cannot_be_reached_at_first_ends_the_watch(
    ssh_server: SshServer, spoil: Callable[[SshServer], None], fault: str
) -> None:
    spoil(ssh_server)
    async with watching(ssh_server) as watch:
        await until(lambda: "failed" in watch.links())
    assert watch.last_link().fault == fault


@pytest.mark.parametrize("spoil", ["known_hosts", "authorized_keys"])
async def test_a_key_that_is_refused_after_a_cut_ends_the_watch(ssh_server: SshServer, spoil: str) -> None:
    async with watching(ssh_server) as watch:
        await until(lambda: "up" in watch.links())
        (ssh_server.folder / spoil).write_text("")
        ssh_server.cut()
        await until(lambda: "failed" in watch.links())
    assert watch.last_link().fault == ("host_key" if spoil == "known_hosts" else "auth")


@pytest.mark.parametrize("shell", ["bash", "dash", "fish", "csh"])
async def test_the_agent_starts_under_any_login_shell_and_what_that_prints_becomes_the_banner(
    start_ssh_server: StartSshServer, as_login_shell: Callable[[str], str], shell: str
) -> None:
    async with watching(start_ssh_server(as_login_shell(shell))) as watch:
        await until(lambda: "up" in watch.links())
    banner = watch.last_link_up().banner
    assert ("welcome to the cluster" in banner) == (shell != "dash")
    assert ("no newline here" in banner) == (shell != "dash")


@pytest.mark.parametrize(
    ("forced", "fault", "says"),
    [
        ("echo only file transfer is allowed here", "refused", "only file transfer is allowed here"),
        ('env PATH=/nonexistent /bin/sh -c "$SSH_ORIGINAL_COMMAND"', "no_python", "python3"),
    ],
)
async def test_a_host_that_runs_no_python_is_told(
    start_ssh_server: StartSshServer, forced: str, fault: str, says: str
) -> None:
    async with watching(start_ssh_server(f"ForceCommand {forced}"), reconnect=False) as watch:
        await until(lambda: "failed" in watch.links())
    assert watch.last_link().fault == fault
    assert says in watch.last_link().sentence
