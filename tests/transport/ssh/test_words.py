"""What ssh's error texts mean; the texts are those of OpenSSH 9.2, names and addresses changed."""

import pytest

from tui.transport.ssh.words import KINDS, Heard, hear

CHANGED = """@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
IT IS POSSIBLE THAT SOMEONE IS DOING SOMETHING NASTY!
Offending ED25519 key in /home/me/.ssh/known_hosts:3
  remove with:
Host key for gpu7 has changed and you have requested strict checking.
Host key verification failed.
"""
STRICT = """No ED25519 host key is known for gpu7 and you have requested strict checking.
Host key verification failed.
"""
# Only a warning: the login went on, and failed of something else.
OTHER_ADDRESS = """Warning: the ED25519 host key for 'gpu7' differs from the key for the IP address '10.0.0.7'
Offending key for IP in /home/me/.ssh/known_hosts:3
me@gpu7: Permission denied (publickey).
"""
UNREADABLE_KEY = """Load key "/home/me/.ssh/id_rsa": Permission denied
me@gpu7: Permission denied (publickey,password).
"""
REFUSED_BEHIND_A_JUMP = """channel 0: open failed: connect failed: Connection refused
stdio forwarding failed
Connection closed by UNKNOWN port 65535
"""
FORBIDDEN_AT_A_JUMP = """channel 0: open failed: administratively prohibited: open failed
stdio forwarding failed
Connection closed by UNKNOWN port 65535
"""
TOO_MANY = """Received disconnect from 10.0.0.7 port 22:2: Too many authentication failures
Disconnected from 10.0.0.7 port 22
"""

SAID = [
    (
        "/x: line 2: Bad configuration option: bad\n/x: terminating, 1 bad configuration options",
        "usage",
        "/x: line 2: Bad configuration option: bad",
    ),
    ("Can't open user config file /x: No such file or directory", "usage", None),
    ("unknown option -- Z\nusage: ssh [-46AaCfGgKkMNnqsTtVvXxYy] ...", "usage", None),
    ("ssh: Could not resolve hostname gpu7: Name or service not known", "dns", None),
    (CHANGED, "host_key_changed", "Offending ED25519 key in /home/me/.ssh/known_hosts:3"),
    (STRICT, "host_key", STRICT.partition("\n")[0]),
    ("Host key verification failed.", "host_key", None),
    (OTHER_ADDRESS, "auth", "me@gpu7: Permission denied (publickey)."),
    (UNREADABLE_KEY, "auth", "me@gpu7: Permission denied (publickey,password)."),
    (TOO_MANY, "auth", TOO_MANY.partition("\n")[0]),
    ("ssh: connect to host gpu7 port 22: Connection refused", "refused", None),
    ("ssh: connect to host gpu7 port 22: No route to host", "unreachable", None),
    ("ssh: connect to host gpu7 port 22: Network is unreachable", "unreachable", None),
    ("ssh: connect to host gpu7 port 22: Permission denied", "unreachable", None),
    ("ssh: connect to host gpu7 port 22: Connection timed out", "timeout", None),
    (
        "Connection timed out during banner exchange\nConnection to x port 22 timed out",
        "timeout",
        None,
    ),
    (
        "Unable to negotiate with 10.0.0.7 port 22: no matching key exchange method found. Their offer: x",
        "agreement",
        None,
    ),
    ("kex_exchange_identification: Connection closed by remote host", "not_ssh", None),
    (REFUSED_BEHIND_A_JUMP, "unreachable", REFUSED_BEHIND_A_JUMP.partition("\n")[0]),
    (FORBIDDEN_AT_A_JUMP, "unreachable", FORBIDDEN_AT_A_JUMP.partition("\n")[0]),
    ("mux_client_request_session: session request failed: Session open refused by peer", "session", None),
    ("Connection closed by 10.0.0.7 port 22", "lost", None),
    ("Connection to gpu7 closed by remote host.", "lost", None),
    ("client_loop: send disconnect: Broken pipe", "lost", None),
    ("the gate is shut", None, None),
]


@pytest.mark.parametrize(("text", "kind", "line"), SAID, ids=range(len(SAID)))
def test_each_text_has_one_meaning_and_the_line_that_tells_it(
    text: str, kind: str | None, line: str | None
) -> None:
    heard = hear(text.encode())
    assert heard is not None
    assert heard.kind == kind
    assert heard.line in text.splitlines()
    assert line is None or heard.line == line


def test_every_kind_is_met_by_one_text_at_least() -> None:
    assert {kind for _, kind, _ in SAID if kind} == set(KINDS)


def test_silence_means_nothing() -> None:
    assert hear(b"") is None
    assert hear(b" \r\n") is None


def test_bytes_that_are_no_text_are_heard() -> None:
    assert hear(b"\xff\xfe broken") == Heard(None, "\ufffd\ufffd broken")
