"""The command lines of the system's ssh: to a host, and through the hosts of a ProxyJump list."""

import shlex

from tui.transport.ssh.target import Target, parse_target


def ssh_command(target: Target, config_file: str | None, *options: str) -> list[str]:
    """Return the ssh command line that goes to ``target`` with this configuration."""
    file = ["-F", config_file] if config_file is not None else []
    return ["ssh", *file, *options, *target.ssh_arguments()]


def jump_command(jump: str, hostname: str, port: int, config_file: str | None) -> str:
    """Return the ssh command that reaches ``hostname`` through the hosts of a ProxyJump list."""
    place = f"[{hostname}]:{port}" if ":" in hostname else f"{hostname}:{port}"
    return _to_last_jump(jump, config_file, "-W", place)


def login_at_jump(jump: str, config_file: str | None) -> str:
    """Return the ssh command that logs in by hand at the last host of a ProxyJump list."""
    return _to_last_jump(jump, config_file)


def _to_last_jump(jump: str, config_file: str | None, *options: str) -> str:
    *before, last = jump.split(",")
    chain = ["-J", ",".join(before)] if before else []
    return shlex.join(ssh_command(parse_target(last), config_file, *chain, *options))
