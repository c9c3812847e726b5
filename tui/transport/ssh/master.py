"""The connection that the user's own ssh holds open (ControlMaster), asked whether it answers."""

import os
import shutil
import stat

from tui.transport.short_command import finished
from tui.transport.ssh.command import ssh_command
from tui.transport.ssh.resolved import Resolved

_ANSWER_S = 2.0


async def master_answers(resolved: Resolved) -> bool:
    """Say whether the configuration names the socket of a shared connection and that one answers."""
    program = shutil.which("ssh")
    if program is None or resolved.control_path is None or not _is_socket(resolved.control_path):
        return False
    command = ssh_command(resolved.target, resolved.config_file, "-O", "check")
    try:
        return (await finished(program, command[1:], _ANSWER_S)).status == 0
    except (TimeoutError, OSError):
        return False


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False
