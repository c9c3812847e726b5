"""What is told beside, while the way to a host holds."""

from tui.transport.faults.row import Row

# fmt: off
ROWS: dict[str, Row] = {
    "url_alone": Row("notice", False,
        "a URL alone shows readiness and benchmarks; name a HOST to see GPUs, processes and the log"),
    "host_key_let_pass": Row("notice", False,
        "the host key of {where} is not the one in {place}; StrictHostKeyChecking no lets it pass"),
    "host_key_not_added": Row("notice", False,
        "the host key of {where} could not be added to {file}: {why}"),
    "master_gone": Row("notice", True,
        "the connection that your ssh held to {where} is not used any more"),
    "newer_agent": Row("notice", False,
        "the agent sends {what!r}, which this version does not know"),
}
# fmt: on
