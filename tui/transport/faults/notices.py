"""What is told beside, while the way to a host holds."""

from tui.transport.faults.row import Row

# fmt: off
ROWS: dict[str, Row] = {
    "url_alone": Row("notice", False,
        "a URL alone shows readiness and benchmarks; name a HOST to see GPUs, processes and the log"),
    "known_hosts_unread": Row("notice", False,
        "{file} cannot be read, so no host key in it is known"),
    "host_key_added": Row("notice", False,
        "added the host key of {where} to {file}: {algorithm} {fingerprint}"),
    "host_key_let_pass": Row("notice", False,
        "the host key of {where} is not the one in {place}; StrictHostKeyChecking no lets it pass"),
    "host_key_unchecked": Row("notice", False,
        "the host key of {where} is not checked: StrictHostKeyChecking is {strict}, and "
        "UserKnownHostsFile is {kept}, so that any key passes; now it is {algorithm} {fingerprint}"),
    "key_agent_silent": Row("notice", False,
        "the ssh-agent at {place} did not answer within {seconds} s: "
        "the login to {where} goes on without it"),
    "host_key_not_added": Row("notice", False,
        "the host key of {where} could not be added to {file}: {why}"),
    "config_not_used": Row("notice", False,
        "{program} is not ssh, so the SSH configuration {file} is not used"),
    "ssh_keeps_more": Row("notice", False,
        "{where} is reached by {command}: only ssh itself keeps {names}"),
    "ssh_gets_further": Row("notice", False,
        "{where} is reached by {command}: {why}"),
    "master_used": Row("notice", False,
        "{where} is reached over the connection that your ssh holds ({file})"),
    "master_gone": Row("notice", True,
        "the connection that your ssh held to {where} is not used any more"),
    "newer_agent": Row("notice", False,
        "the agent sends {what!r}, which this version does not know"),
}
# fmt: on
