"""Whether a person will probably be asked something on the way to a host, found out before connecting.

It is a guess from what lies here: a server that refuses a key may still want a password. Whoever goes by it
must be able to ask later.
"""

import asyncio
from contextlib import suppress

from tui.transport.ssh import known_hosts
from tui.transport.ssh.config import last_jump
from tui.transport.ssh.key_file import is_open_to_others, look_at
from tui.transport.ssh.master import master_answers
from tui.transport.ssh.resolved import Resolved

_AGENT_S = 1.0
# draft-miller-ssh-agent: SSH_AGENTC_REQUEST_IDENTITIES, and its answer with the number of keys.
_LIST_KEYS = b"\x00\x00\x00\x01\x0b"
_KEYS_LISTED = 12


async def expects_question(resolved: Resolved) -> bool:
    """Say whether the host's key is unknown here, or no key lies open to log in with; or so at a jump host.

    Raises LinkFault (usage).
    """
    if await _at_the_host(resolved):
        return True
    hop = await last_jump(resolved)
    return hop is not None and not await master_answers(hop) and await expects_question(hop)


async def _at_the_host(resolved: Resolved) -> bool:
    if resolved.asking.batch:
        return False
    if resolved.strict == "ask" and not await asyncio.to_thread(_host_is_known, resolved):
        return True
    if not resolved.public_key or resolved.asking.first in ("password", "keyboard-interactive"):
        return True
    if await asyncio.to_thread(_has_open_key, resolved):
        return False
    return not await _agent_has_key(resolved.identity_agent)


def _host_is_known(resolved: Resolved) -> bool:
    files = (*resolved.known_hosts, *resolved.global_known_hosts)
    found = known_hosts.look_up(files, resolved.hostname, resolved.port, resolved.host_key_alias)
    return bool(found.algorithms() or found.marked("@cert-authority"))


def _has_open_key(resolved: Resolved) -> bool:
    files = [look_at(path) for path in resolved.identity_files if not is_open_to_others(path)]
    return any(file is not None and not file.locked for file in files)


async def _agent_has_key(place: str | None) -> bool:
    if place is None or not hasattr(asyncio, "open_unix_connection"):
        return False
    with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
        async with asyncio.timeout(_AGENT_S):
            reader, writer = await asyncio.open_unix_connection(place)
            try:
                writer.write(_LIST_KEYS)
                answer = await reader.readexactly(9)
            finally:
                writer.close()
            return answer[4] == _KEYS_LISTED and int.from_bytes(answer[5:], "big") > 0
    return False
