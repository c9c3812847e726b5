"""CanonicalizeHostname: names made whole by the system's ssh, and the blocks that count for them then."""

import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ssh_server import SshServer, public

from tui.transport.pipe import LinkFault
from tui.transport.ssh.config import resolve
from tui.transport.ssh.opener import SshOptions, ssh_opener
from tui.transport.ssh.resolved import Resolved
from tui.transport.ssh.target import parse_target

pytestmark = pytest.mark.ssh

STUB = Path(__file__).parents[2] / "stubs" / "names.c"
CANONICAL = "CanonicalizeHostname yes\nCanonicalDomains lab.test\n"
NAMES = "gpu.lab.test=gpu.lab.test a.b.lab.test=a.b.lab.test www.lab.test=node7.farm.test"


@pytest.fixture(autouse=True)
def names(needs: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give ssh and this process a name server that knows NAMES and no other name in .test."""
    library = tmp_path / "names.so"
    command = [needs("gcc"), "-O1", "-shared", "-fPIC", "-o", library, STUB, "-ldl"]
    subprocess.run(command, check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("NAMES", NAMES)
    whole = {pair.partition("=")[2] for pair in NAMES.split()}
    real = socket.getaddrinfo

    def look_up(host: str, *arguments: int) -> object:
        return real("127.0.0.1" if host in whole else host, *arguments)

    monkeypatch.setattr("socket.getaddrinfo", look_up)


def rewrite(file: Path, change: Callable[[str], str]) -> None:
    file.write_text(change(file.read_text()))


async def resolved(folder: Path, text: str, host: str) -> Resolved:
    file = folder / "config"
    file.write_text(text)
    return await resolve(parse_target(host), str(file))


async def test_a_short_name_is_made_whole_and_its_block_and_known_hosts_name_are_those_of_the_whole(
    ssh_server: SshServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh_server.configure(alias="gpu.lab.test")
    rewrite(Path(ssh_server.config_file), lambda text: CANONICAL + text.replace("HostName 127.0.0.1", ""))
    ssh_server.known_hosts.write_text(f"[gpu.lab.test]:{ssh_server.port} {public(ssh_server.host_key)}\n")
    way = ssh_opener("gpu", options=SshOptions(config_file=ssh_server.config_file))
    assert await (await way(["true"])).close() == 0
    with pytest.raises(LinkFault):
        await ssh_opener("www", options=SshOptions(config_file=ssh_server.config_file))(["true"])


@pytest.mark.parametrize(
    ("more", "host", "hostname"),
    [
        ("", "gpu", "gpu.lab.test"),
        ("", "gpu.", "gpu."),
        ("", "a.b", "a.b.lab.test"),
        ("CanonicalizeMaxDots 0\n", "a.b", "a.b"),
        ("", "nowhere", "nowhere"),
        ("", "www", "www.lab.test"),
        ("CanonicalizePermittedCNAMEs *.lab.test:*.farm.test\n", "www", "node7.farm.test"),
        ("CanonicalizePermittedCNAMEs *.other.test:*.farm.test\n", "www", "www.lab.test"),
        ("CanonicalizeHostname no\n", "gpu", "gpu"),
    ],
)
async def test_the_name_is_the_one_that_ssh_makes_of_it(
    tmp_path: Path, more: str, host: str, hostname: str
) -> None:
    assert (await resolved(tmp_path, more + CANONICAL, host)).hostname == hostname


async def test_a_name_that_nobody_knows_is_told_as_one_where_no_other_is_allowed(tmp_path: Path) -> None:
    with pytest.raises(LinkFault, match="Could not resolve host") as seen:
        await resolved(tmp_path, f"CanonicalizeFallbackLocal no\n{CANONICAL}", "nowhere")
    assert seen.value.fault == "dns"


@pytest.mark.parametrize(
    ("block", "port"),
    [
        ("Match canonical host gpu.lab.test\n Port 23\n", 23),
        ("Match final host gpu.lab.test\n Port 23\n", 23),
        ("Host gpu.lab.test\n Port 23\n", 23),
        ("Match originalhost gpu host gpu.lab.test\n Port 23\n", 23),
        ("Match canonical host gpu\n Port 23\n", 22),
        ('Match canonical exec "test %h = gpu.lab.test"\n Port 23\n', 23),
    ],
)
async def test_blocks_for_the_whole_name_count(tmp_path: Path, block: str, port: int) -> None:
    assert (await resolved(tmp_path, CANONICAL + block, "gpu")).port == port


async def test_a_last_pass_is_made_without_a_whole_name_too(tmp_path: Path) -> None:
    text = "Host gpu\n User ann\nMatch final user ann\n Port 23\n"
    found = await resolved(tmp_path, text, "gpu")
    assert (found.user, found.port) == ("ann", 23)


async def test_behind_a_jump_the_name_is_made_whole_only_where_it_always_is(tmp_path: Path) -> None:
    jump = "ProxyJump gate\nCanonicalDomains lab.test\n"
    assert (await resolved(tmp_path, f"{jump}CanonicalizeHostname yes\n", "gpu")).hostname == "gpu"
    found = await resolved(tmp_path, f"Host gpu*\n{jump}CanonicalizeHostname always\n", "gpu")
    assert found.hostname == "gpu.lab.test"
    assert found.proxy_command is not None
    assert "-W gpu.lab.test:22" in found.proxy_command
