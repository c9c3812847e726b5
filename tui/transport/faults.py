"""What is said when a host cannot be reached over SSH: one table of sentences, and how each is classed.

Every sentence says what happened, where, and what to do; like all messages it begins with a small letter
and has no full stop. The classes are those of LinkFault; ``retry`` is True only where trying again may help
without a person, once the host has been reached before.
"""

from dataclasses import dataclass

from tui.transport.clean import clean
from tui.transport.pipe import LinkFault

# Longer values (a server's banner, a proxy's error text) are cut, so that a sentence stays one.
_VALUE_LIMIT = 800


@dataclass(frozen=True, slots=True)
class FaultText:
    """One row of the table: class, whether to try again, and the sentence with its named places."""

    fault: str
    retry: bool
    text: str


# fmt: off
TABLE: dict[str, FaultText] = {
    # Before connecting.
    "target": FaultText("usage", False,
        "{target!r} is no SSH host, because {why}: "
        "write host, user@host, user@host:port or ssh://user@host:port"),
    "config": FaultText("usage", False,
        "the SSH configuration could not be read for {target}: {why}; check it with: {command}"),
    "config_slow": FaultText("usage", False,
        "ssh -G did not answer within {seconds} s for {target}: "
        "look for a 'Match exec' that hangs in the SSH configuration"),
    "config_plain": FaultText("usage", False,
        "{file} says something for {target} that only OpenSSH's own ssh understands ({why}): "
        "install its client, or simplify that line"),
    "library": FaultText("usage", False,
        "the SSH library cannot be loaded ({why}): install tminus again, with its dependency asyncssh"),
    # On the way.
    "dns": FaultText("dns", False,
        "no address is known for {host} ({why}): check its spelling, the SSH configuration, or the VPN"),
    "refused": FaultText("refused", True,
        "{where} refused the connection: is an SSH server running there, and is {port} its port?"),
    "unreachable": FaultText("refused", True,
        "{where} cannot be reached from here ({why}): check the network, the VPN, or a firewall"),
    "timeout": FaultText("timeout", True,
        "{where} did not answer within {seconds} s: "
        "check that the host is up, and the VPN or a firewall on the way"),
    "login_timeout": FaultText("timeout", True,
        "{where} took the connection but did not finish the login within {seconds} s: "
        "it may be overloaded, or no SSH server; check the port"),
    "proxy": FaultText("refused", True,
        "the way to {where} failed: {command} said {why!r}; try that command by hand"),
    "proxy_dns": FaultText("dns", False,
        "the way to {where} failed, because a name on it has no address: {command} said {why!r}; "
        "check that name"),
    "proxy_auth": FaultText("auth", False,
        "the way to {where} failed at its login: {command} said {why!r}; "
        "log in there once with ssh, or unlock its key with ssh-add"),
    "proxy_host_key": FaultText("host_key", False,
        "the way to {where} failed, because a host key on it is not known: {command} said {why!r}; "
        "log in there once with ssh"),
    "never_spoke": FaultText("refused", True,
        "{where} took the connection and ended it without speaking SSH ({why}): "
        "check the port; an SSH server does so when it has too many logins at once (MaxStartups)"),
    "not_ssh": FaultText("refused", False,
        "{where} answered, but not as an SSH server should ({why}): check the port"),
    "no_agreement": FaultText("refused", False,
        "{where} and this client have no cipher, key exchange or host key type in common ({why}): "
        "its SSH server may be too old, or its settings too narrow"),
    "closed_early": FaultText("lost", True,
        "{where} closed the connection during the login ({why}): "
        "it may refuse this address or user; its own log says why"),
    "disconnected": FaultText("lost", True,
        "{where} ended the login: {why!r}; its own log may say more"),
    # The host's key.
    "host_key_unknown": FaultText("host_key", False,
        "the host key of {where} is not known here: {algorithm} {fingerprint}; "
        "if that is the host's own, add it by logging in once with: {command}"),
    "host_key_unknown_plain": FaultText("host_key", False,
        "the host key of {where} is not known here: {algorithm} {fingerprint}; "
        "if that is the host's own, add this line to {file}: {line}"),
    "host_key_declined": FaultText("host_key", False,
        "the host key of {where} was not agreed to: {algorithm} {fingerprint}; nothing was added"),
    "host_key_changed": FaultText("host_key", False,
        "THE HOST KEY OF {where} HAS CHANGED: it shows {algorithm} {fingerprint}, but {place} holds {known}; "
        "someone may be in between; only if you know why it changed, remove the old one with: {command}"),
    "host_key_other_type": FaultText("host_key", False,
        "the host key of {where} is of another type than the one known here: "
        "it shows {algorithm} {fingerprint}, but {place} holds {known}; "
        "someone may be in between; only if you know why, remove the old one with: {command}"),
    "host_key_revoked": FaultText("host_key", False,
        "the host key of {where} is marked as revoked in {place}: {algorithm} {fingerprint}; "
        "do not log in there, and ask who runs it"),
    "host_certificate": FaultText("host_key", False,
        "the host certificate of {where} is not good ({why}): "
        "ask who runs it, or see the @cert-authority lines in known_hosts"),
    # The login.
    "auth": FaultText("auth", False,
        "{where} did not let {user} in; it takes {methods}: {tried}; try: {command}"),
    "too_many_keys": FaultText("auth", False,
        "{where} ended the login after too many keys: {tried}; "
        "name the right one with IdentityFile and IdentitiesOnly yes in the SSH configuration"),
    # The way by the ssh program, or by another command that was named (--ssh-cmd).
    "program_missing": FaultText("usage", False,
        "{command} cannot be started ({why}): check --ssh-cmd, or install an SSH client"),
    "program_usage": FaultText("usage", False,
        "{command} does not work as it stands: it {said}; check its options and the SSH configuration"),
    "program_dns": FaultText("dns", False,
        "no address is known for {where}: {command} {said}; "
        "check its spelling, the SSH configuration, or the VPN"),
    "program_refused": FaultText("refused", True,
        "{where} refused the connection: {command} {said}; is an SSH server running there?"),
    "program_unreachable": FaultText("refused", True,
        "{where} cannot be reached from here: {command} {said}; "
        "check the network, the VPN, or a firewall"),
    "program_timeout": FaultText("timeout", True,
        "{where} did not answer in time: {command} {said}; "
        "check that the host is up, and the VPN or a firewall on the way"),
    "program_slow": FaultText("timeout", True,
        "{command} did not log in within {seconds} s (it {said}): try that command by hand; "
        "it is not given a terminal to ask on"),
    "program_host_key": FaultText("host_key", False,
        "the host key of {where} is not known here: {command} {said}; "
        "log in once by hand with that command to see and add it"),
    "program_host_key_changed": FaultText("host_key", False,
        "THE HOST KEY OF {where} HAS CHANGED: {command} {said}; someone may be in between; "
        "only if you know why it changed, remove that line"),
    "program_agreement": FaultText("refused", False,
        "{where} and {command} have no cipher, key exchange or host key type in common ({why}): "
        "its SSH server may be too old, or its settings too narrow"),
    "program_auth": FaultText("auth", False,
        "{where} did not let you in: {command} {said}; "
        "log in once by hand with that command, or unlock the key with ssh-add"),
    "program_not_ssh": FaultText("refused", True,
        "{where} did not speak SSH as it should: {command} {said}; "
        "check the port; an SSH server does so when it has too many logins at once (MaxStartups)"),
    "program_no_session": FaultText("refused", False,
        "{where} let you in but allows no command: {command} {said}; "
        "see MaxSessions, ForceCommand and the account's shell there"),
    "program_failed": FaultText("lost", True,
        "{command} ended before the command on {where} began: it {said}; try that command by hand"),
    "program_lost": FaultText("lost", True,
        "the link to {where} broke ({command} {said})"),
    "program_silent": FaultText("lost", True,
        "the link to {where} broke (nothing came through {command} for {seconds} s)"),
    "unanswered": FaultText("auth", False,
        "{where} ended the login before its question was answered ({why}): "
        "it waits only so long (LoginGraceTime); begin again and have the answer ready"),
    # The session.
    "no_session": FaultText("refused", False,
        "{where} let {user} in but allows no command ({why}): "
        "see MaxSessions, ForceCommand and the account's shell there"),
    "no_second_session": FaultText("refused", False,
        "{where} allows one session a connection and a second one was needed: "
        "set MaxSessions to 2 or more in its sshd_config"),
    "lost": FaultText("lost", True,
        "the link to {where} broke ({why})"),
}
# fmt: on


def fault(row: str, **values: object) -> LinkFault:
    """Return the LinkFault of one row, its places filled with ``values``, each cleaned to one short line."""
    entry = TABLE[row]
    fitted = {name: _fitted(str(value)) for name, value in values.items()}
    return LinkFault(entry.fault, entry.text.format(**fitted), retry=entry.retry)


def _fitted(value: str) -> str:
    line = clean(value).strip()
    return line if len(line) <= _VALUE_LIMIT else line[: _VALUE_LIMIT - 1] + "…"
