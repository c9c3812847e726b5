"""What is said when a host cannot be reached or the agent not run there: one table of sentences and classes.

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
        "log in there once {by_hand}, or unlock its key with ssh-add"),
    "proxy_host_key": FaultText("host_key", False,
        "the way to {where} failed, because a host key on it is not known: {command} said {why!r}; "
        "log in there once {by_hand}"),
    "proxy_needs_shell": FaultText("usage", False,
        "the way to {where} is a ProxyCommand, which takes a shell that this machine has not ({command}): "
        "name a way with --ssh-cmd, or a ProxyJump"),
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
    "host_key_changed_here": FaultText("host_key", False,
        "THE HOST KEY OF {where} HAS CHANGED since it was agreed to here: "
        "it shows {algorithm} {fingerprint}; "
        "someone may be in between; only if you know why it changed, end tminus and begin again"),
    "host_key_revoked": FaultText("host_key", False,
        "the host key of {where} is marked as revoked in {place}: {algorithm} {fingerprint}; "
        "do not log in there, and ask who runs it"),
    "host_key_small": FaultText("host_key", False,
        "the {algorithm} host key of {where} has {bits} bits, and RequiredRSASize of the SSH configuration "
        "wants {required}: ask its administrator for another key, or lower that setting for this host"),
    "host_certificate": FaultText("host_key", False,
        "the host certificate of {where} is not good ({why}): "
        "ask who runs it, or see the @cert-authority lines in known_hosts"),
    # The login.
    "auth": FaultText("auth", False,
        "{where} did not let {user} in; it takes {methods}: {tried}; try: {command}; "
        "where that fails as well, see AllowUsers, authorized_keys and PubkeyAcceptedAlgorithms there"),
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
    "given_up": FaultText("auth", False,
        "the login to {where} was given up: its question was left without an answer"),
    # The session.
    "no_session": FaultText("refused", False,
        "{where} let {user} in but allows no command ({why}): "
        "see MaxSessions, ForceCommand and the account's shell there"),
    "no_second_session": FaultText("refused", False,
        "{where} allows one session a connection and a second one was needed: "
        "set MaxSessions to 2 or more in its sshd_config"),
    "lost": FaultText("lost", True,
        "the link to {where} broke ({why})"),
    # The agent, by whatever way; {place} is "on the host", or says in what on it.
    "python_slow": FaultText("timeout", True,
        "python3 did not start {place} within {seconds} s{it_said}: "
        "see whether a start-up file of the shell there waits for something, or whether the account may run "
        "one command alone (ForceCommand, as for file transfers)"),
    "endless_noise": FaultText("agent", False,
        "the shell {place} has printed more than {limit} bytes and run no python3{it_said}: "
        "mend its start-up files, so that they print nothing where there is no terminal"),
    "no_python": FaultText("no_python", False,
        "python3 was not found {place}{it_said}: install it, 3.8 or newer"),
    "old_python": FaultText("no_python", False,
        "python3 {place} is too old: 3.8 or newer is needed{it_said}"),
    "restricted": FaultText("refused", False,
        "the shell {place} is a restricted one and starts no command that tminus needs{it_said}: "
        "log in as a user with a usual shell, or have /bin/sh and python3 allowed"),
    "no_login_shell": FaultText("refused", False,
        "the account {place} runs no command{it_said}: its shell seems to be one that only "
        "refuses (nologin, false); log in as another user, or have its shell changed"),
    "forced_command": FaultText("refused", False,
        "another command was run {place} in place of python3{it_said}: "
        "this account or key may run that one alone, see ForceCommand and command= in authorized_keys there"),
    "bad_source": FaultText("agent", True,
        "the agent could not be started {place}{it_said}"),
    "ended_early": FaultText("agent", False,
        "the agent ended with status {status} before it began {place}{it_said}: "
        "try `python3 --version` there; where that does not run either, see the account's shell, "
        "ForceCommand and command= in authorized_keys"),
    "ended_early_inside": FaultText("agent", False,
        "the agent ended with status {status} before it began {place}{it_said}: "
        "try `python3 --version` in there, by the same way"),
    "cut_early": FaultText("agent", True,
        "the agent ended before it began {place}{it_said}"),
    "agent_silent": FaultText("timeout", True,
        "the agent {place} said nothing within {seconds} s{it_said}"),
    "slept": FaultText("lost", True,
        "this machine slept, and nothing {place} has answered within {seconds} s since"),
    "shell_silent": FaultText("timeout", True,
        "the shell {place} said nothing of use within {seconds} s{it_said}"),
    "shell_over": FaultText("lost", True,
        "the link to the shell {place} ended{it_said}"),
    "agent_over": FaultText("lost", True,
        "the link to the agent ended{it_said}"),
    "agent_killed": FaultText("agent", True,
        "the agent ended by signal {signal}{it_said}"),
    "agent_failed_at_once": FaultText("agent", False,
        "the agent ended with status {status}{it_said}"),
    "agent_failed": FaultText("agent", True,
        "the agent ended with status {status}{it_said}"),
    "agent_said_goodbye": FaultText("lost", True,
        "the agent ended: {why}"),
    "long_line": FaultText("agent", False,
        "the agent sent a line of more than {limit} bytes: it is not understood any further"),
    "bad_message": FaultText("agent", False,
        "the agent sent an invalid message ({why}): {text}"),
    "closed": FaultText("lost", True,
        "closed"),
    # A process on this machine.
    "cannot_start_here": FaultText("no_python", False,
        "cannot start {program} on this machine: {why}"),
    "agent_needs_linux": FaultText("agent", False,
        "this machine runs {system}, and the agent reads what only Linux tells: "
        "name a HOST that runs Linux, or watch a server from outside with --url"),
    "ended_here": FaultText("lost", True,
        "the process on this machine has ended"),
}
# fmt: on


def fault(row: str, **values: object) -> LinkFault:
    """Return the LinkFault of one row, its places filled with ``values``, each cleaned to one short line.

    ``it_said`` stands within brackets, and is left out with them where it is empty.
    """
    entry = TABLE[row]
    fitted = {name: _fitted(str(value)) for name, value in values.items()}
    if fitted.get("it_said"):
        fitted["it_said"] = f" (it said: {fitted['it_said']})"
    return LinkFault(entry.fault, entry.text.format(**fitted), retry=entry.retry)


def _fitted(value: str) -> str:
    line = clean(value).strip()
    return line if len(line) <= _VALUE_LIMIT else line[: _VALUE_LIMIT - 1] + "…"
