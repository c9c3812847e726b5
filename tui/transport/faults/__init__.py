"""Every sentence of the transport on what failed or is missing: all tables under one set of names.

Each says what happened, where, and what to do; like all messages it begins with a small letter and has no
full stop. What nvidia-smi's ends mean is told in whole sentences, as the agent's own words on the driver are.
"""

from tui.transport.faults import agent, connecting, container_log, notices, plain_shell, program, wrappers
from tui.transport.faults.row import Row
from tui.transport.pipe import LinkFault

_TABLES = (connecting, program, agent, wrappers, container_log, plain_shell, notices)
TABLE: dict[str, Row] = {name: row for table in _TABLES for name, row in table.ROWS.items()}


def fault(row: str, **values: object) -> LinkFault:
    """Return the LinkFault of one row, its places filled with ``values``."""
    entry = TABLE[row]
    return LinkFault(entry.kind, entry.filled(values), retry=entry.retry)


def sentence_of(row: str, **values: object) -> str:
    """Return the sentence of one row, its places filled with ``values``."""
    return TABLE[row].filled(values)
