"""The times of a link, as they are promised: tests elsewhere shorten them."""

from tui.agent import wire
from tui.transport.agent_source import BACKOFF_S
from tui.transport.ssh.limits import Limits
from tui.watch.link import STALE_S


def test_the_times_after_which_a_link_is_stale_lost_tried_again_and_its_agent_ends() -> None:
    limits = Limits()
    assert (limits.keepalive_s, limits.keepalive_count) == (5.0, 3)
    assert BACKOFF_S == (0.5, 1.0, 2.0, 5.0, 10.0)
    assert STALE_S == 3.0
    assert wire.PING_TIMEOUT_S == 15.0
