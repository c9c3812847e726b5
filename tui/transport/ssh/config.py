"""What the user's SSH configuration says of one host: asked of the system's ``ssh -G``, which knows it all.

Without an ssh program the library's own reading is used (config_plain.py), which knows less of it.
"""

import asyncio
import shlex
import shutil
from dataclasses import replace

from tui.transport.faults import fault
from tui.transport.pipe import LinkFault
from tui.transport.short_command import finished
from tui.transport.ssh import known_hosts, options
from tui.transport.ssh.answer import ALGORITHMS, Answer, resolved_from
from tui.transport.ssh.command import ssh_command
from tui.transport.ssh.resolved import Resolved
from tui.transport.ssh.target import Target, parse_target
from tui.transport.ssh.words import hear

_CONFIG_TIMEOUT_S = 10.0
# Whose tokens ssh -G leaves to whoever reads it.
_WITH_TOKENS = ("identityfile", "certificatefile", "identityagent", "revokedhostkeys")
_NO_FILE = "none"


async def resolve(target: Target, config_file: str | None) -> Resolved:
    """Ask the SSH configuration about ``target``. Raises LinkFault (usage)."""
    program = shutil.which("ssh")
    if program is None:
        return await asyncio.to_thread(_resolve_plain, target, config_file)
    answer, usual = await asyncio.gather(
        _ssh_g(program, target, config_file), _ssh_g(program, target, _NO_FILE)
    )
    alike = await _hash_of_both_ends(program, answer)
    found = resolved_from(target, config_file, answer, alike)
    alone = await asyncio.to_thread(_left_to_ssh, found, answer, usual)
    return replace(
        found,
        left_to_ssh=replace(found.left_to_ssh, always=alone),
        algorithms=replace(found.algorithms, narrowed=options.narrowed(answer, usual)),
        neutral=options.neutral(usual),
    )


def _left_to_ssh(found: Resolved, answer: Answer, usual: Answer) -> tuple[str, ...]:
    """Name what only ssh keeps of this configuration; algorithms, where the library has none of them."""
    alone = options.left_to_ssh(answer, usual)
    if "CASignatureAlgorithms" in alone and not _has_authority(found):
        alone = tuple(name for name in alone if name != "CASignatureAlgorithms")
    if all(answer.get(name) == usual.get(name) for name in ALGORITHMS):
        return alone
    from tui.transport.ssh.algorithms import lacking

    return (*alone, *lacking(found.algorithms))


def _has_authority(found: Resolved) -> bool:
    files = (*found.known_hosts, *found.global_known_hosts)
    keys = known_hosts.look_up(files, found.hostname, found.port, found.host_key_alias)
    return bool(keys.marked("@cert-authority"))


def _resolve_plain(target: Target, config_file: str | None) -> Resolved:
    from tui.transport.ssh import config_plain

    return config_plain.resolve(target, config_file)


async def _ssh_g(program: str, target: Target, config_file: str | None, *given: str) -> Answer:
    """Run ``ssh -G`` and return its lines, by lower-case name in order."""
    command = ssh_command(target, config_file, "-T", "-G", *given)
    try:
        done = await finished(program, command[1:], _CONFIG_TIMEOUT_S)  # a Match exec may hang
    except TimeoutError:
        raise fault("config_slow", target=target.text, seconds=f"{_CONFIG_TIMEOUT_S:.0f}") from None
    if done.status != 0:
        heard = hear(done.errors)
        if heard is not None and heard.kind == "dns":  # a name that must be made canonical
            raise fault("dns", host=target.host, why=heard.line)
        raise fault("config", target=target.text, why=_complaint(done.errors), command=shlex.join(command))
    return _by_name(done.output.decode("utf-8", "surrogateescape"))


def _complaint(errors: bytes) -> str:
    """Return the line of ssh's error text that says most: the first that LogLevel did not add."""
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("debug")]
    return lines[0] if lines else "it said nothing"


def _by_name(output: str) -> Answer:
    values: dict[str, list[str]] = {}
    for line in output.splitlines():
        name, _, value = line.partition(" ")
        values.setdefault(name.lower(), []).append(value)
    return values


async def _hash_of_both_ends(program: str, answer: Answer) -> str | None:
    """Ask what %C is where it is used behind a jump, which only newer versions count in."""
    first = {name: values[0] for name, values in answer.items()}
    used = any("%C" in value for name in _WITH_TOKENS for value in answer.get(name, []))
    if not used or first.get("proxyjump", "none").lower() == "none":
        return None
    given = ("-o", "ControlPath=/%C", "-o", f"ProxyJump={first['proxyjump']}")
    end = Target("", first.get("hostname", ""), first.get("user"), int(first.get("port", "22")))
    found = await _ssh_g(program, end, _NO_FILE, *given)
    return found["controlpath"][0].removeprefix("/")


async def last_jump(resolved: Resolved) -> Resolved | None:
    """Return the last host of a ProxyJump list, itself reached through those before it; None without a list.

    Raises LinkFault (usage).
    """
    if resolved.jump is None:
        return None
    before, _, last = resolved.jump.rpartition(",")
    hop = await resolve(parse_target(last), resolved.config_file)
    return replace(hop, jump=before, proxy_command=None) if before else hop


async def neutral_options(program: str, target: Target) -> tuple[str, ...]:
    """Return the options with which an ssh that was named runs one command; none where it does not tell."""
    try:
        return options.neutral(await _ssh_g(program, target, _NO_FILE))
    except (LinkFault, OSError):
        return ()
