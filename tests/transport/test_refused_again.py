"""A link that was lost and cannot be made again without a person: no further try, and what is to be done."""

from collections.abc import AsyncIterator

import pytest
from ssh_server import SshServer, make_key
from watching import Watching

from tui.events import Hello, Link
from tui.requests import WatchRequest
from tui.transport import agent_source
from tui.transport.agent_source import AgentSource
from tui.transport.ssh.opener import SshOptions, ssh_opener

pytestmark = pytest.mark.ssh


@pytest.fixture
async def watching(ssh_server: SshServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Watching]:
    """Watch a host that has been reached."""
    monkeypatch.setattr(agent_source, "BACKOFF_S", (0.05,))
    opener = ssh_opener(ssh_server.host, options=SshOptions(config_file=ssh_server.config_file))
    request = WatchRequest(matchers=[], gpus=False, discover=False)
    watching = Watching(AgentSource(opener, request, reconnect=True))
    await watching.find(Hello)
    yield watching
    await watching.close()


async def failed(watching: Watching, server: SshServer) -> Link:
    """Cut the link; return the last word on it."""
    server.cut()
    last = await watching.ended(60)
    states = [event.state for event in watching.events if isinstance(event, Link)]
    assert states == ["connecting", "up", "lost", "connecting", "failed"]
    assert isinstance(last, Link)
    return last


async def test_a_key_that_is_let_in_no_more_is_not_tried_for_ever(
    ssh_server: SshServer, watching: Watching
) -> None:
    (ssh_server.folder / "authorized_keys").write_text("")
    last = await failed(watching, ssh_server)
    assert last.fault == "auth"
    assert "publickey" in last.sentence


async def test_a_host_whose_key_has_changed_meanwhile_is_not_tried_again(
    ssh_server: SshServer, watching: Watching
) -> None:
    ssh_server.know(make_key(ssh_server.folder / "other_ed25519"))
    last = await failed(watching, ssh_server)
    assert last.fault == "host_key"
    assert "ssh-keygen" in last.sentence
