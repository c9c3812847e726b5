"""How a host may be named, and what is refused before anything is started."""

import pytest

from tui.transport.pipe import LinkFault
from tui.transport.ssh.opener import ssh_opener
from tui.transport.ssh.target import Target, parse_target


@pytest.mark.parametrize(
    ("text", "host", "user", "port"),
    [
        ("gpu7", "gpu7", None, None),
        ("ann@gpu7", "gpu7", "ann", None),
        ("gpu7:2222", "gpu7", None, 2222),
        ("ann@gpu7:2222", "gpu7", "ann", 2222),
        ("ann@corp@gpu7", "gpu7", "ann@corp", None),
        ("corp\\ann@gpu7", "gpu7", "corp\\ann", None),
        ("ssh://ann@gpu7:2222", "gpu7", "ann", 2222),
        ("ssh://gpu7/", "gpu7", None, None),
        ("ssh://a%40b@gpu7", "gpu7", "a@b", None),
        ("::1", "::1", None, None),
        ("ann@fe80::1%eth0", "fe80::1%eth0", "ann", None),
        ("[::1]:2222", "::1", None, 2222),
        ("ann@[::1]", "::1", "ann", None),
        ("ssh://ann@[::1]:2222", "::1", "ann", 2222),
    ],
)
def test_a_host_is_taken_apart(text: str, host: str, user: str | None, port: int | None) -> None:
    assert parse_target(text) == Target(text, host, user, port)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("@gpu7", "user name is empty"),
        ("ann@", "host name is empty"),
        ("-oProxyCommand=x", "dash"),
        ("ann@-x", "dash"),
        ("-x@gpu7", "dash"),
        ("gpu7:", "no port"),
        ("gpu7:0", "no port"),
        ("gpu7:65536", "no port"),
        ("gpu7:ssh", "no port"),
        ("gpu7:-1", "no port"),
        ("[::1", "bracket"),
        ("[::1]2222", "bracket"),
        ("gpu 7", "not allowed"),
        ("gpu7;reboot", "not allowed"),
        ("$(reboot)", "not allowed"),
        ("a'b@gpu7", "not allowed"),
        ("ann@gpu7/path", "not allowed"),
        ("gpu7\n", "not allowed"),
    ],
)
def test_what_no_host_can_be_called_is_a_usage_fault(text: str, why: str) -> None:
    with pytest.raises(LinkFault, match=why) as seen:
        ssh_opener(text)
    assert (seen.value.fault, seen.value.retry) == ("usage", False)
    assert "\n" not in seen.value.sentence


def test_the_host_stands_after_two_dashes_on_the_command_line_of_ssh() -> None:
    assert parse_target("ann@gpu7:22").ssh_arguments() == ["-l", "ann", "-p", "22", "--", "gpu7"]
    assert parse_target("gpu7").ssh_arguments() == ["--", "gpu7"]
