"""What comes of the way by the ssh program, or by another command that was named (--ssh-cmd)."""

from tui.transport.faults.row import Row

# fmt: off
ROWS: dict[str, Row] = {
    # The way by the ssh program, or by another command that was named (--ssh-cmd).
    "program_missing": Row("usage", False,
        "{command} cannot be started ({why}): check --ssh-cmd, or install an SSH client"),
    "program_usage": Row("usage", False,
        "{command} does not work as it stands: it {said}; check its options and the SSH configuration"),
    "program_dns": Row("dns", False,
        "no address is known for {where}: {command} {said}; "
        "check its spelling, the SSH configuration, or the VPN"),
    "program_refused": Row("refused", True,
        "{where} refused the connection: {command} {said}; is an SSH server running there?"),
    "program_unreachable": Row("refused", True,
        "{where} cannot be reached from here: {command} {said}; "
        "check the network, the VPN, or a firewall"),
    "program_timeout": Row("timeout", True,
        "{where} did not answer in time: {command} {said}; "
        "check that the host is up, and the VPN or a firewall on the way"),
    "program_slow": Row("timeout", True,
        "{command} did not log in within {seconds} s (it {said}): try that command by hand; "
        "it is not given a terminal to ask on"),
    "program_host_key": Row("host_key", False,
        "the host key of {where} is not known here: {command} {said}; "
        "log in once by hand with that command to see and add it"),
    "program_host_key_changed": Row("host_key", False,
        "THE HOST KEY OF {where} HAS CHANGED: {command} {said}; someone may be in between; "
        "only if you know why it changed, remove that line"),
    "program_agreement": Row("refused", False,
        "{where} and {command} have no cipher, key exchange or host key type in common ({why}): "
        "its SSH server may be too old, or the SSH configuration here may allow too little"),
    "program_auth": Row("auth", False,
        "{where} did not let you in: {command} {said}; "
        "log in once by hand with that command, or unlock the key with ssh-add"),
    "program_not_ssh": Row("refused", True,
        "{where} did not speak SSH as it should: {command} {said}; "
        "check the port; an SSH server does so when it has too many logins at once (MaxStartups)"),
    "program_no_session": Row("refused", False,
        "{where} let you in but allows no command: {command} {said}; "
        "see MaxSessions, ForceCommand and the account's shell there"),
    "program_failed": Row("lost", True,
        "{command} ended before the command on {where} began: it {said}; try that command by hand"),
    "program_lost": Row("lost", True,
        "the link to {where} broke ({command} {said})"),
    "program_silent": Row("lost", True,
        "the link to {where} broke (nothing came through {command} for {seconds} s)"),
}
# fmt: on
