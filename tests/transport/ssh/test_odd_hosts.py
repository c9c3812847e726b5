"""Hosts whose shell, files or Python are odd: the agent runs there, or one sentence says what to do."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from ssh_server import SshServer, StartSshServer
from watching import Watching

from tui.events import Hello, Link, Log
from tui.requests import FollowRequest, WatchRequest
from tui.transport.agent_source import AgentSource
from tui.transport.bootstrap import TIMEOUT_S
from tui.transport.ssh.opener import SshOptions, ssh_opener

pytestmark = pytest.mark.ssh

Watch = Callable[..., Watching]
UNDER = 'ForceCommand exec env -u SHLVL HOME={home} {shell} -c "$SSH_ORIGINAL_COMMAND"'


@pytest.fixture
async def watch() -> AsyncIterator[Watch]:
    """Watch the host of an SshServer; closed with the test."""
    started: list[Watching] = []

    def start(server: SshServer, timeout_s: float = TIMEOUT_S) -> Watching:
        opener = ssh_opener(server.host, options=SshOptions(config_file=server.config_file))
        source = AgentSource(opener, WatchRequest(matchers=[]), reconnect=False, timeout_s=timeout_s)
        started.append(Watching(source))
        return started[-1]

    yield start
    for watching in started:
        await watching.close()


async def refusal(watching: Watching) -> Link:
    """Return the last word of a watch that could not begin."""
    link = await watching.ended()
    assert isinstance(link, Link)
    assert link.state == "failed"
    assert link.sentence.isprintable()
    return link


@pytest.fixture
def bash(
    start_ssh_server: StartSshServer, tmp_path: Path, needs: Callable[[str], str]
) -> Callable[[str], SshServer]:
    """Start an sshd whose login shell is bash with this start-up file."""

    def start(rc: str) -> SshServer:
        (tmp_path / ".bashrc").write_text(rc)
        return start_ssh_server(UNDER.format(home=tmp_path, shell=needs("bash")))

    return start


@pytest.mark.parametrize(
    ("rc", "banner"),
    [
        ("sleep 5; echo slow", "slow"),
        ("head -c 900000 /dev/zero | tr '\\0' x", "x" * 40),
        ("printf '\\377\\376 latin \\351'", "latin"),
        ("printf '\\033[31mred\\033[0m\\033]0;title\\007'", "red"),
        ("echo to-errors >&2", ""),
        ("export LC_ALL=C LANG=C PYTHONIOENCODING=ascii", ""),
        ("read -t 0 line; exec 3</dev/null", ""),
        ("cd /; umask 777; ulimit -n 64", ""),
        ("PS1= ; set -u; set -e", ""),
    ],
    ids=["5-s", "900-kB", "latin-1", "colours", "errors", "locale-c", "peeks", "narrow", "strict"],
)
async def test_the_agent_starts_behind_a_start_up_file_that(
    rc: str, banner: str, bash: Callable[[str], SshServer], watch: Watch
) -> None:
    watching = watch(bash(rc))
    await watching.find(Hello)
    link = await watching.find(Link, lambda link: link.state == "up")

    assert banner in link.banner
    assert link.banner.isprintable()


@pytest.mark.parametrize(
    ("rc", "told"),
    [
        ("printf 'choose: '; read answer", "start-up file of the shell there waits for something"),
        ("exec dash", "start-up file of the shell there waits for something"),
        ("head -c 3000000 /dev/zero | tr '\\0' x", "has printed more than 1048576 bytes"),
        (
            "echo no entry; exit 0",
            "another command was run on the host in place of python3 (it said: no entry)",
        ),
        ("echo no entry >&2; exit 3", "ended with status 3 before it began on the host (it said: no entry)"),
    ],
    ids=["waits", "becomes-another", "3-MB", "ends", "fails"],
)
async def test_a_start_up_file_that_lets_nothing_run_is_told(
    rc: str, told: str, bash: Callable[[str], SshServer], watch: Watch
) -> None:
    link = await refusal(watch(bash(rc), timeout_s=2.0))

    assert told in link.sentence


@pytest.mark.parametrize(
    ("command", "fault", "told"),
    [
        ("internal-sftp", "refused", "(it said: This service allows sftp connections only.): this account"),
        ("echo no", "refused", "(it said: no): this account or key may run that one alone, see ForceCommand"),
        ("/bin/true", "refused", "another command was run on the host in place of python3: this account"),
        ("/bin/false", "refused", "its shell seems to be one that only refuses (nologin, false)"),
        ("/usr/sbin/nologin", "refused", "This account is currently not available."),
        ("cat", "timeout", "the account may run one command alone"),
        ("exit 42", "agent", "see the account's shell, ForceCommand and command= in authorized_keys"),
    ],
    ids=["sftp", "echo", "true", "false", "nologin", "cat", "exit"],
)
async def test_an_account_that_runs_one_command_alone_is_told(
    command: str, fault: str, told: str, start_ssh_server: StartSshServer, watch: Watch
) -> None:
    link = await refusal(watch(start_ssh_server(f"ForceCommand {command}"), timeout_s=2.0))

    assert link.fault == fault
    assert told in link.sentence


async def test_a_key_that_may_run_one_command_alone_is_told(ssh_server: SshServer, watch: Watch) -> None:
    (ssh_server.folder / "authorized_keys").write_text("")
    ssh_server.authorize(ssh_server.client_key, 'restrict,command="echo backup only"')
    link = await refusal(watch(ssh_server))

    assert link.fault == "refused"
    assert "backup only" in link.sentence
    assert "command= in authorized_keys" in link.sentence


async def test_a_restricted_shell_is_refused_by_name(
    start_ssh_server: StartSshServer, watch: Watch, needs: Callable[[str], str], tmp_path: Path
) -> None:
    link = await refusal(watch(start_ssh_server(UNDER.format(home=tmp_path, shell=needs("rbash")))))

    assert link.fault == "refused"
    assert link.sentence.startswith("the shell on the host is a restricted one")
    assert "log in as a user with a usual shell" in link.sentence


def put_python(folder: Path, kind: str) -> None:
    """Put something in the place of python3 into a folder that is to be the host's PATH."""
    place = folder / "python3"
    if kind == "folder":
        place.mkdir()
    elif kind == "no-program":
        place.write_text("#!/bin/sh\nexit 0\n")
    elif kind == "python2":
        (folder / "python2").symlink_to(sys.executable)
    elif kind == "is-python2":
        place.write_text(f'#!/bin/sh\nexec {python2()} -c "$3"\n')
        place.chmod(0o755)
    elif kind == "breaks":
        place.write_text("#!/bin/sh\nprintf 'libpython\\377 is missing\\n' >&2\nexit 1\n")
        place.chmod(0o755)


def python2() -> str:
    for place in (
        *Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/2.7*/bin/python2"),
        "python2",
    ):
        try:
            subprocess.run([place, "--version"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return str(place)
    pytest.skip("needs a Python 2")


@pytest.mark.parametrize(
    ("kind", "fault", "told"),
    [
        ("folder", "no_python", "python3 was not found on the host"),
        ("no-program", "no_python", "python3 was not found on the host"),
        ("python2", "no_python", "python3 was not found on the host"),
        ("is-python2", "no_python", "too old: 3.8 or newer is needed (it said: it is Python 2.7"),
        ("breaks", "agent", "before it began on the host (it said: libpython"),
    ],
)
async def test_a_host_without_a_python_that_works_is_told(
    kind: str, fault: str, told: str, start_ssh_server: StartSshServer, watch: Watch, tmp_path: Path
) -> None:
    put_python(tmp_path, kind)
    link = await refusal(watch(start_ssh_server(environment={"PATH": str(tmp_path)})))

    assert link.fault == fault
    assert told in link.sentence


@pytest.mark.parametrize("kind", ["wrapper", "site", "user-site"])
async def test_a_python_that_prints_when_it_starts_does_no_harm(
    kind: str, start_ssh_server: StartSshServer, watch: Watch, tmp_path: Path
) -> None:
    variables = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}
    python = tmp_path / "python3"
    noise = 'echo "activating (base)"; echo "a warning" >&2\n' if kind == "wrapper" else ""
    python.write_text(f'#!/bin/sh\n{noise}exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    if kind == "site":
        (tmp_path / "sitecustomize.py").write_text("print('hello of the site')\n")
        variables["PYTHONPATH"] = str(tmp_path)
    if kind == "user-site":
        variables["PYTHONSTARTUP"] = variables["PYTHONINSPECT"] = str(tmp_path / "start.py")
        (tmp_path / "start.py").write_text("print('hello of the user')\n")
    watching = watch(start_ssh_server(environment=variables))
    await watching.find(Hello)
    link = await watching.find(Link, lambda link: link.state == "up")

    assert link.banner == ("activating (base)" if kind == "wrapper" else "")


def allowed(unshare: str, mounts: str) -> None:
    """Skip the test where no mount namespace can be made."""
    if subprocess.run([unshare, "-m", "sh", "-c", mounts], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make a mount namespace")


async def test_nothing_needs_to_be_written_on_the_host(
    start_ssh_server: StartSshServer, watch: Watch, needs: Callable[[str], str]
) -> None:
    """Home, /tmp, /var/tmp and /dev/shm are empty, read-only and noexec there."""
    mounts = "".join(
        f"mount -t tmpfs -o ro,noexec,nosuid none {place} && " for place in ("/tmp", "/var/tmp", "/dev/shm")
    )
    allowed(needs("unshare"), f"{mounts}true")
    inside = f'{mounts}export HOME=/tmp TMPDIR=/tmp && exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"'
    wrapper = "exec " + needs("unshare") + " -m sh -c '" + inside + "'"
    watching = watch(start_ssh_server(f"ForceCommand {wrapper}"))
    watching.source.send(FollowRequest(pid=None, log_path="/proc/version"))

    await watching.find(Hello)
    await watching.find(Log, lambda log: log.lines)


@pytest.mark.parametrize(
    "variables", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX", "PYTHONUTF8": "0"}], ids=["C", "POSIX"]
)
async def test_a_log_with_bytes_that_are_no_text_comes_through_in_a_locale_without_utf8(
    start_ssh_server: StartSshServer, watch: Watch, tmp_path: Path, variables: dict[str, str]
) -> None:
    log = tmp_path / "größe.log"
    log.write_bytes("Größe: 3\n".encode() + b"broken \xff\xfe byte\n")
    watching = watch(start_ssh_server(environment=variables))
    watching.source.send(FollowRequest(pid=None, log_path=str(log)))
    await watching.find(Log, lambda log: any("broken" in line for line in log.lines))
    lines = [line for event in watching.events if isinstance(event, Log) for line in event.lines]

    assert lines == ["Größe: 3", "broken \ufffd\ufffd byte"]
