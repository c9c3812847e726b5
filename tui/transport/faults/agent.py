"""The session on a host, the agent in it by whatever way, and a process on this machine."""

from tui.transport.faults.row import Row

# fmt: off
ROWS: dict[str, Row] = {
    # The session.
    "no_session": Row("refused", False,
        "{where} let {user} in but allows no command ({why}): "
        "see MaxSessions, ForceCommand and the account's shell there"),
    "no_second_session": Row("refused", False,
        "{where} allows one session a connection and a second one was needed: "
        "set MaxSessions to 2 or more in its sshd_config"),
    "lost": Row("lost", True,
        "the link to {where} broke ({why})"),
    # The agent, by whatever way; {place} is "on the host", or says in what on it.
    "python_slow": Row("timeout", True,
        "python3 did not start {place} within {seconds} s{it_said}: "
        "see whether a start-up file of the shell there waits for something, or whether the account may run "
        "one command alone (ForceCommand, as for file transfers)"),
    "endless_noise": Row("agent", False,
        "the shell {place} has printed more than {limit} bytes and run no python3{it_said}: "
        "mend its start-up files, so that they print nothing where there is no terminal"),
    "no_python": Row("no_python", False,
        "python3 was not found {place}{it_said}: install it, 3.8 or newer"),
    "old_python": Row("no_python", False,
        "python3 {place} is too old: 3.8 or newer is needed{it_said}"),
    "restricted": Row("refused", False,
        "the shell {place} is a restricted one and starts no command that tminus needs{it_said}: "
        "log in as a user with a usual shell, or have /bin/sh and python3 allowed"),
    "no_login_shell": Row("refused", False,
        "the account {place} runs no command{it_said}: its shell seems to be one that only "
        "refuses (nologin, false); log in as another user, or have its shell changed"),
    "forced_command": Row("refused", False,
        "another command was run {place} in place of python3{it_said}: "
        "this account or key may run that one alone, see ForceCommand and command= in authorized_keys there"),
    "bad_source": Row("agent", True,
        "the agent could not be started {place}{it_said}"),
    "ended_early": Row("agent", False,
        "the agent ended with status {status} before it began {place}{it_said}: "
        "try `python3 --version` there; where that does not run either, see the account's shell, "
        "ForceCommand and command= in authorized_keys"),
    "ended_early_inside": Row("agent", False,
        "the agent ended with status {status} before it began {place}{it_said}: "
        "try `python3 --version` in there, by the same way"),
    "cut_early": Row("agent", True,
        "the agent ended before it began {place}{it_said}"),
    "agent_silent": Row("timeout", True,
        "the agent {place} said nothing within {seconds} s{it_said}"),
    "slept": Row("lost", True,
        "this machine slept, and nothing {place} has answered within {seconds} s since"),
    "shell_silent": Row("timeout", True,
        "the shell {place} said nothing of use within {seconds} s{it_said}"),
    "shell_over": Row("lost", True,
        "the link to the shell {place} ended{it_said}"),
    "agent_over": Row("lost", True,
        "the link to the agent ended{it_said}"),
    "agent_killed": Row("agent", True,
        "the agent ended by signal {signal}{it_said}"),
    "agent_failed_at_once": Row("agent", False,
        "the agent ended with status {status}{it_said}"),
    "agent_failed": Row("agent", True,
        "the agent ended with status {status}{it_said}"),
    "agent_said_goodbye": Row("lost", True,
        "the agent ended: {why}"),
    "long_line": Row("agent", False,
        "the agent sent a line of more than {limit} bytes: it is not understood any further"),
    "bad_message": Row("agent", False,
        "the agent sent an invalid message ({why}): {text}"),
    # A process on this machine.
    "cannot_start_here": Row("no_python", False,
        "cannot start {program} on this machine: {why}"),
    "agent_needs_linux": Row("agent", False,
        "this machine runs {system}, and the agent reads what only Linux tells: "
        "name a HOST that runs Linux, or watch a server from outside with --url"),
    "ended_here": Row("lost", True,
        "the process on this machine has ended"),
}
# fmt: on
