"""The system's ssh, or another command, as the way to a host: a real ssh to a real sshd."""

import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from ssh_server import SshServer, StartSshServer, make_key, until
from ssh_watch import alive
from tminus_command import Tminus

from tui.transport.pipe import LinkFault, Pipe
from tui.transport.ssh.limits import Limits
from tui.transport.ssh.opener import SshOptions, ssh_opener

pytestmark = pytest.mark.ssh

OpenOver = Callable[..., Awaitable[Pipe]]
ReadAll = Callable[[Pipe], Awaitable[bytes]]


def by(server: SshServer, *command: str, limits: Limits | None = None) -> SshOptions:
    """Return the options that go by a command, ssh unless another is named."""
    return SshOptions(config_file=server.config_file, ssh_cmd=command or ("ssh",), limits=limits or Limits())


def recording(folder: Path, name: str) -> Path:
    """Write a program that keeps its arguments, terminal and session in a file, then becomes ssh."""
    script = folder / name
    script.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder}/arguments\nps -o tty= -p $$ > {folder}/terminal\n'
        'exec ssh "$@"\n'
    )
    script.chmod(0o700)
    return script


async def test_streams_and_status_are_those_of_the_command_on_the_host(
    ssh_server: SshServer, open_over: OpenOver, read_all: ReadAll
) -> None:
    command = ["sh", "-c", "cat; echo wrong >&2; exit 3"]
    pipe = await open_over(ssh_server, command, options=by(ssh_server))
    pipe.write(b"a\0b\xff\n" * 20000)
    await pipe.drain()
    assert await pipe.read(3) == b"a\0b"
    assert await pipe.close() == 3
    pipe = await open_over(
        ssh_server, ["sh", "-c", "echo out; echo wrong >&2; exit 3"], options=by(ssh_server)
    )
    assert await read_all(pipe) == b"out\n"
    assert await pipe.close() == 3
    assert pipe.errors() == b"wrong\n"


async def test_a_command_that_is_not_there_ends_with_127_as_a_shell_says(
    ssh_server: SshServer, open_over: OpenOver, read_all: ReadAll
) -> None:
    pipe = await open_over(ssh_server, ["no-such-program"], options=by(ssh_server))
    assert await read_all(pipe) == b""
    assert await pipe.close() == 127


async def test_arguments_arrive_as_they_are(
    ssh_server: SshServer, open_over: OpenOver, read_all: ReadAll
) -> None:
    hard = ["a b", "it's", '"', "$HOME", "`id`", "!", "\\", "ü", "%s", "x" * 3000]
    pipe = await open_over(ssh_server, ["printf", "%s\\n", *hard], options=by(ssh_server))
    assert (await read_all(pipe)).decode().splitlines() == hard


@pytest.mark.parametrize("shell", ["bash", "dash", "fish", "csh"])
async def test_what_a_login_shell_prints_comes_before_the_command_and_nothing_else(
    start_ssh_server: StartSshServer,
    as_login_shell: Callable[[str], str],
    open_over: OpenOver,
    read_all: ReadAll,
    shell: str,
) -> None:
    server = start_ssh_server(as_login_shell(shell))
    pipe = await open_over(server, ["echo", "here"], options=by(server))
    noise = b"" if shell == "dash" else b"welcome to the cluster\nno newline here"
    assert await read_all(pipe) == noise + b"here\n"


async def test_ssh_gets_no_terminal_and_is_told_never_to_ask(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    ssh_server.configure("RemoteCommand echo other", "RequestTTY force", "LocalForward 1 127.0.0.1:1")
    program = str(recording(tmp_path, "ssh"))
    pipe = await open_over(ssh_server, ["cat"], options=by(ssh_server, program, "-v"))
    given = (tmp_path / "arguments").read_text().splitlines()
    assert await pipe.close() == 0
    assert {
        "BatchMode=yes",
        "RemoteCommand=none",
        "RequestTTY=no",
        "PermitLocalCommand=no",
        "-a",
        "-x",
        "-v",
    } <= set(given)
    assert given[-3:-1] == ["--", "lab"]
    assert (tmp_path / "terminal").read_text().strip() == "?"


async def test_a_command_that_is_not_called_ssh_gets_the_host_and_the_line_alone(
    ssh_server: SshServer, open_over: OpenOver, read_all: ReadAll, tmp_path: Path
) -> None:
    ssh_server.configure(alias="127.0.0.1")
    program = str(recording(tmp_path, "wrapper"))
    place = f"{ssh_server.user}@127.0.0.1:{ssh_server.port}"
    heard: list[str] = []
    options = replace(by(ssh_server, program, "-F", ssh_server.config_file), notice=heard.append)
    pipe = await open_over(ssh_server, ["echo", "here"], place, options)
    assert heard == [f"{program} is not ssh, so the SSH configuration {ssh_server.config_file} is not used"]
    assert await read_all(pipe) == b"here\n"
    given = (tmp_path / "arguments").read_text().splitlines()
    port = str(ssh_server.port)
    assert given[:-1] == ["-F", ssh_server.config_file, "-p", port, f"{ssh_server.user}@127.0.0.1"]
    assert given[-1].startswith("exec /bin/sh -c ")


async def fault_of(
    open_over: OpenOver, server: SshServer, *command: str, host: str | None = None
) -> LinkFault:
    with pytest.raises(LinkFault) as seen:
        await open_over(server, ["true"], host, by(server, *command))
    assert seen.value.sentence.isprintable()
    return seen.value


def _misname(server: SshServer) -> None:
    server.configure("HostName no-such-host.invalid")


def _forget_host(server: SshServer) -> None:
    server.known_hosts.write_text("")


def _change_host_key(server: SshServer) -> None:
    server.know(make_key(server.folder / "other"))


def _lock_out(server: SshServer) -> None:
    (server.folder / "authorized_keys").write_text("")


def _ask_for_nothing_common(server: SshServer) -> None:
    server.configure("KexAlgorithms diffie-hellman-group1-sha1")


def _misspell(server: SshServer) -> None:
    server.configure("NoSuchOption yes")


FAULTS = [
    (_misname, "dns", "Could not resolve hostname"),
    (SshServer.stop, "refused", "lab refused the connection"),
    (_forget_host, "host_key", "the host key of lab is not known here"),
    (_change_host_key, "host_key", "known_hosts:1"),
    (_lock_out, "auth", "Permission denied (publickey)"),
    (_ask_for_nothing_common, "refused", "no matching key exchange method found"),
    (_misspell, "usage", "line 2: Bad configuration option: nosuchoption"),
]


@pytest.mark.parametrize(
    ("spoil", "fault", "says"), FAULTS, ids=[row[0].__name__.strip("_") for row in FAULTS]
)
async def test_why_there_is_no_way_in_is_one_sentence(
    ssh_server: SshServer, open_over: OpenOver, spoil: Callable[[SshServer], None], fault: str, says: str
) -> None:
    spoil(ssh_server)
    seen = await fault_of(open_over, ssh_server)
    assert (seen.fault, seen.retry) == (fault, False)
    assert says in seen.sentence
    assert f"ssh -F {ssh_server.config_file} -- lab" in seen.sentence or fault == "usage"


@pytest.fixture
def mute_port() -> Iterator[int]:
    """Return a port whose listener ends each connection with a word that is no SSH."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"220 mail\r\n")

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield int(listener.getsockname()[1])
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


async def test_a_port_that_speaks_no_ssh_is_told(
    ssh_server: SshServer, open_over: OpenOver, mute_port: int
) -> None:
    seen = await fault_of(open_over, ssh_server, host=f"127.0.0.1:{mute_port}")
    assert seen.fault == "refused"
    assert "did not speak SSH as it should" in seen.sentence


async def test_a_program_that_went_away_is_told(ssh_server: SshServer, open_over: OpenOver) -> None:
    seen = await fault_of(open_over, ssh_server, "/nonexistent/ssh")
    assert (seen.fault, seen.retry) == ("usage", False)
    assert "/nonexistent/ssh cannot be started (No such file or directory): check --ssh-cmd" in seen.sentence


async def test_a_program_that_never_logs_in_is_given_up_with_all_that_it_started(
    ssh_server: SshServer, open_over: OpenOver, tmp_path: Path
) -> None:
    limits = Limits(connect_s=0.1, login_s=0.9)
    script = f"echo who are you >&2; sleep 100 & echo $! $$ > {tmp_path}/pids; wait"
    with pytest.raises(LinkFault, match=r"did not log in within 1 s \(it said 'who are you'\)") as seen:
        await open_over(ssh_server, ["true"], options=by(ssh_server, "sh", "-c", script, limits=limits))
    assert seen.value.fault == "timeout"
    pids = [int(word) for word in (tmp_path / "pids").read_text().split()]
    await until(lambda: not any(map(running, pids)))


def running(pid: int) -> bool:
    """Say whether there is a process of this pid, other than a zombie."""
    try:
        return alive(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return False


async def test_a_program_that_goes_silent_is_a_lost_link(ssh_server: SshServer, open_over: OpenOver) -> None:
    limits = Limits(keepalive_s=0.1, keepalive_count=1)
    options = by(ssh_server, "sh", "-c", 'eval "$1"', limits=limits)
    pipe = await open_over(ssh_server, ["sh", "-c", "echo here; cat"], options=options)
    assert await pipe.read(100) == b"here\n"
    with pytest.raises(LinkFault, match=r"nothing came through .* for 0\.2 s") as seen:
        await pipe.read(100)
    assert (seen.value.fault, seen.value.retry) == ("lost", True)


async def test_a_cut_is_a_lost_link_and_a_silent_one_is_noticed_by_ssh(
    ssh_server: SshServer, open_over: OpenOver
) -> None:
    for spoil in (ssh_server.cut, ssh_server.stall):
        limits = Limits(keepalive_s=1, keepalive_count=1)
        pipe = await open_over(
            ssh_server, ["sh", "-c", "echo here; cat"], options=by(ssh_server, limits=limits)
        )
        assert await pipe.read(100) == b"here\n"
        spoil()
        with pytest.raises(LinkFault, match="the link to lab broke") as seen:
            await pipe.read(100)
        assert (seen.value.fault, seen.value.retry) == ("lost", True)
        await pipe.close()


async def test_the_way_in_is_named_on_the_command_line(ssh_server: SshServer, tminus: Tminus) -> None:
    _lock_out(ssh_server)
    command = f"ssh -F '{ssh_server.config_file}'"
    done = tminus.run("wait", "lab", "--ssh-cmd", command, "--json", "--no-record")
    assert done.code == 4
    assert "lab did not let you in: ssh -F" in str(done.objects[-1]["reason"])


async def test_a_program_that_ends_before_the_command_began_is_told_with_its_words(tmp_path: Path) -> None:
    program = tmp_path / "way"
    program.write_text("#!/bin/sh\necho the tunnel is shut >&2\nexit 255\n")
    program.chmod(0o755)
    opener = ssh_opener("lab", options=SshOptions(ssh_cmd=(str(program),)))
    with pytest.raises(
        LinkFault, match=r"way lab ended before the command on lab began: it .*tunnel is shut"
    ):
        await opener(["true"])
