"""Under which name the screen shows a host, and what is left of a recording that was hardly played."""

import pytest
from ssh_hosts import name_hosts
from ssh_server import SshServer
from tapes import load, tape
from tminus_command import Tminus
from typed_terminal import AtTerminal

from tui.commands.replay_screen import NOTHING_YET, PlayerView
from tui.replay.player import Player

SCREEN = "\x1b[?1049h"


@pytest.mark.ssh
@pytest.mark.xdist_group("ssh")
@pytest.mark.parametrize("others", [(), ("gpu8",)], ids=["one", "two"])
def test_header_and_window_name_the_host_as_it_was_typed(
    at_terminal: AtTerminal, ssh_server: SshServer, others: tuple[str, ...]
) -> None:
    name_hosts(ssh_server, ["gpu7", "gpu8"])
    typed = at_terminal("gpu7", *others, "--port", "1", "--no-record", "--ssh-config", ssh_server.config_file)
    typed.until(SCREEN)
    typed.until("tminus gpu7: waiting")
    typed.type("q")
    assert typed.end() == 0
    assert "tminus: gpu7\r\n" in typed.output


def test_a_recording_that_is_left_at_once_is_no_host_that_was_not_reached() -> None:
    view = PlayerView(Player(tape(load())), rings=False)
    assert view.exit_lines() == [f"tminus: {NOTHING_YET}"]


@pytest.mark.ssh
@pytest.mark.xdist_group("ssh")
def test_a_wait_on_a_terminal_says_once_why_the_host_is_lost(
    at_terminal: AtTerminal, ssh_server: SshServer
) -> None:
    name_hosts(ssh_server, ["dead"], {"dead": ["Port 1"]})
    options = ("--ssh-config", ssh_server.config_file, "--no-record", "--timeout", "30s")
    typed = at_terminal("wait", "dead", *options)
    assert typed.end() == 4
    assert typed.output.count("refused the connection") == 1


@pytest.mark.ssh
@pytest.mark.xdist_group("ssh")
@pytest.mark.parametrize("inside", [(), ("--docker", "box")], ids=["host", "container"])
def test_a_screen_over_a_host_that_is_not_reached_leaves_the_reason_once(
    at_terminal: AtTerminal, ssh_server: SshServer, inside: tuple[str, ...]
) -> None:
    name_hosts(ssh_server, ["dead"], {"dead": ["Port 1"]})
    typed = at_terminal("dead", *inside, "--ssh-config", ssh_server.config_file, "--no-record")
    assert typed.end() == 4
    left = typed.output.rpartition("\x1b[?1049l")[2]
    assert left.count("refused the connection") == 1
    assert "dead: dead" not in left


@pytest.mark.ssh
@pytest.mark.xdist_group("ssh")
def test_a_wait_into_one_file_says_once_why_the_host_is_lost(tminus: Tminus, ssh_server: SshServer) -> None:
    name_hosts(ssh_server, ["dead"], {"dead": ["Port 1"]})
    options = ("--ssh-config", ssh_server.config_file, "--no-record", "--timeout", "30s")
    code, told = tminus.into_one("wait", "dead", *options)
    assert (code, told.count("refused the connection")) == (4, 1)
