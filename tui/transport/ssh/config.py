"""What the user's SSH configuration says of one host: asked of the system's ``ssh -G``, which knows it all.

Without an ssh program the library's own reading is used (config_plain.py), which knows less of it.
"""

import asyncio
import os
import shlex
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from tui.transport.faults import fault
from tui.transport.short_command import finished
from tui.transport.ssh.target import Target, parse_target
from tui.transport.ssh.tokens import Tokens, home_directory

Strict = Literal["yes", "ask", "accept-new", "no"]
_STRICT: dict[str, Strict] = {
    "true": "yes", "yes": "yes", "ask": "ask", "accept-new": "accept-new",
    "false": "no", "no": "no", "off": "no",
}  # fmt: skip
_CONFIG_TIMEOUT_S = 10.0
_SYSTEM_FILE = "/etc/ssh/ssh_config"
# What ssh keeps and the library does not, by the name that ssh -G prints.
_OF_SSH_ALONE = {
    "knownhostscommand": "KnownHostsCommand",
    "bindaddress": "BindAddress",
    "bindinterface": "BindInterface",
    "pkcs11provider": "PKCS11Provider",
    "verifyhostkeydns": "VerifyHostKeyDNS",
    "ciphers": "Ciphers",
    "macs": "MACs",
    "kexalgorithms": "KexAlgorithms",
    "pubkeyacceptedalgorithms": "PubkeyAcceptedAlgorithms",
    "casignaturealgorithms": "CASignatureAlgorithms",
}


@dataclass(frozen=True, slots=True)
class AskRules:
    """What the configuration says of questions at a login: BatchMode, and the ways that are allowed.

    ``preferred`` is PreferredAuthentications, empty for the usual order. ``prompts`` are the tries that a
    person has for a password or passphrase (NumberOfPasswordPrompts; ssh_config(5): 3).
    """

    batch: bool = False
    password: bool = True
    keyboard: bool = True
    preferred: tuple[str, ...] = ()
    prompts: int = 3

    @property
    def first(self) -> str:
        """Return the way that is tried first, "" for the usual one, which is keys."""
        return self.preferred[0] if self.preferred else ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """How to reach one host: the configuration's answer, with paths and tokens expanded.

    ``identity_files`` and ``certificate_files`` exist. ``identity_agent`` is a socket, None for no agent.
    ``known_hosts`` are the user's files (the first is written to), ``global_known_hosts`` the system's; both
    may be empty or name files that do not exist. ``jump`` is a ProxyJump list. ``proxy_command`` is for a
    shell; beside ``jump`` it is ssh's own way through that list, which the library goes where it is None.
    ``ssh`` is the command that logs in by hand.
    ``control_path`` is the socket of a shared connection, whether it exists or not. ``of_ssh_alone`` names
    what the user has set that only the ssh program keeps.
    """

    target: Target
    config_file: str | None
    hostname: str
    port: int
    user: str
    host_key_alias: str | None
    identity_files: tuple[Path, ...]
    certificate_files: tuple[Path, ...]
    identities_only: bool
    identity_agent: str | None
    known_hosts: tuple[Path, ...]
    global_known_hosts: tuple[Path, ...]
    revoked_host_keys: Path | None
    strict: Strict
    hash_known_hosts: bool
    host_key_algorithms: tuple[str, ...]
    proxy_command: str | None
    jump: str | None
    connect_timeout_s: float | None
    address_family: str
    public_key: bool
    ssh: str
    control_path: str | None = None
    gssapi: bool = False
    asking: AskRules = field(default_factory=AskRules)
    of_ssh_alone: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """Return the host and port as they are said to the user."""
        name = self.target.host
        also = "" if name == self.hostname else f" ({self.hostname})"
        return f"{name}{also} port {self.port}"


async def resolve(target: Target, config_file: str | None) -> Resolved:
    """Ask the SSH configuration about ``target``. Raises LinkFault (usage)."""
    program = shutil.which("ssh")
    if program is None:
        return await asyncio.to_thread(_resolve_plain, target, config_file)
    answer, usual = await asyncio.gather(
        _ssh_g(program, target, config_file), _ssh_g(program, target, _without_user(config_file))
    )
    found = tuple(name for key, name in _OF_SSH_ALONE.items() if answer.get(key) != usual.get(key))
    return replace(_resolved(target, config_file, answer), of_ssh_alone=found)


def _without_user(config_file: str | None) -> str:
    """Return the configuration that is left without the user's own; ssh reads one that is named alone."""
    return _SYSTEM_FILE if config_file is None and os.path.exists(_SYSTEM_FILE) else "none"


def _resolve_plain(target: Target, config_file: str | None) -> Resolved:
    from tui.transport.ssh import config_plain

    return config_plain.resolve(target, config_file)


def ssh_command(target: Target, config_file: str | None, *options: str) -> list[str]:
    """Return the ssh command line that goes to ``target`` with this configuration."""
    file = ["-F", config_file] if config_file is not None else []
    return ["ssh", *file, *options, *target.ssh_arguments()]


async def _ssh_g(program: str, target: Target, config_file: str | None) -> dict[str, list[str]]:
    """Run ``ssh -G`` and return its lines, by lower-case name in order."""
    command = ssh_command(target, config_file, "-T", "-G")
    try:
        done = await finished(program, command[1:], _CONFIG_TIMEOUT_S)  # a Match exec may hang
    except TimeoutError:
        raise fault("config_slow", target=target.text, seconds=f"{_CONFIG_TIMEOUT_S:.0f}") from None
    if done.status != 0:
        raise fault("config", target=target.text, why=_complaint(done.errors), command=shlex.join(command))
    return _by_name(done.output.decode("utf-8", "surrogateescape"))


def _complaint(errors: bytes) -> str:
    """Return the line of ssh's error text that says most: the first."""
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[0] if lines else "it said nothing"


def _by_name(output: str) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for line in output.splitlines():
        name, _, value = line.partition(" ")
        values.setdefault(name.lower(), []).append(value)
    return values


def _resolved(target: Target, config_file: str | None, answer: dict[str, list[str]]) -> Resolved:
    first = {name: values[0] for name, values in answer.items()}
    tokens = Tokens.of(
        original=target.host,
        hostname=first.get("hostname", target.host),
        port=int(first.get("port", "22")),
        user=first.get("user", ""),
        alias=first.get("hostkeyalias"),
        jump=first.get("proxyjump", ""),
    )
    return Resolved(
        target=target,
        config_file=config_file,
        hostname=tokens.hostname,
        port=tokens.port,
        user=tokens.user,
        host_key_alias=first.get("hostkeyalias"),
        identity_files=existing_files(answer.get("identityfile", []), tokens),
        certificate_files=existing_files(answer.get("certificatefile", []), tokens),
        identities_only=first.get("identitiesonly", "no") == "yes",
        identity_agent=agent_socket(first.get("identityagent"), tokens),
        known_hosts=_file_list(first.get("userknownhostsfile", ""), tokens),
        global_known_hosts=_file_list(first.get("globalknownhostsfile", ""), tokens),
        revoked_host_keys=_optional_file(first.get("revokedhostkeys"), tokens),
        strict=_STRICT.get(first.get("stricthostkeychecking", "ask"), "ask"),
        hash_known_hosts=first.get("hashknownhosts", "no") == "yes",
        host_key_algorithms=tuple(first.get("hostkeyalgorithms", "").split(",")),
        proxy_command=_proxy_command(first, tokens, config_file),
        jump=_jump(first, tokens),
        connect_timeout_s=_seconds(first.get("connecttimeout", "none")),
        address_family=first.get("addressfamily", "any"),
        public_key=first.get("pubkeyauthentication", "true") not in ("no", "false"),
        ssh=shlex.join(ssh_command(target, config_file)),
        control_path=_control_path(first.get("controlpath", "none")),
        gssapi=first.get("gssapiauthentication", "no") in ("yes", "true"),
        asking=_ask_rules(first),
    )


def _ask_rules(first: dict[str, str]) -> AskRules:
    prompts = first.get("numberofpasswordprompts", "3")
    return AskRules(
        batch=first.get("batchmode", "no") == "yes",
        password=first.get("passwordauthentication", "yes") == "yes",
        keyboard=first.get("kbdinteractiveauthentication", "yes") == "yes",
        preferred=tuple(filter(None, first.get("preferredauthentications", "").split(","))),
        prompts=int(prompts) if prompts.isdigit() else 3,
    )


def _control_path(value: str) -> str | None:
    """Return the socket's path, which ssh -G has expanded already."""
    return None if value.lower() == "none" else value


def existing_files(names: list[str], tokens: Tokens) -> tuple[Path, ...]:
    """Expand file names and return the files that are there, each once."""
    paths = [tokens.path(name) for name in names if name.lower() != "none"]
    return tuple(dict.fromkeys(path for path in paths if path.is_file()))


def _file_list(value: str, tokens: Tokens) -> tuple[Path, ...]:
    """Split a list of files; ssh -G does not quote blanks, so a part that begins no path goes on."""
    names: list[str] = []
    for part in value.split(" "):
        if names and not part.startswith(("/", "~", "%", "$")) and part.lower() != "none":
            names[-1] += f" {part}"
        else:
            names.append(part)
    return tuple(tokens.path(name) for name in names if name and name.lower() != "none")


def _optional_file(value: str | None, tokens: Tokens) -> Path | None:
    return tokens.path(value) if value and value.lower() != "none" else None


def agent_socket(value: str | None, tokens: Tokens) -> str | None:
    """Return the socket of the ssh-agent to ask; None where there is none or the configuration says none."""
    if value is None or value == "SSH_AUTH_SOCK":
        return os.environ.get("SSH_AUTH_SOCK") or None
    if value.lower() == "none":
        return None
    if value.startswith("$") and not value.startswith("${"):
        return os.environ.get(value[1:]) or None
    return str(tokens.path(value))


def _proxy_command(first: dict[str, str], tokens: Tokens, config_file: str | None) -> str | None:
    command = first.get("proxycommand", "none")
    if command.lower() != "none":
        return tokens.expand(command)
    jump = _jump(first, tokens)
    return None if jump is None else jump_command(jump, tokens.hostname, tokens.port, config_file)


def _jump(first: dict[str, str], tokens: Tokens) -> str | None:
    jump, command = first.get("proxyjump", "none"), first.get("proxycommand", "none")
    return None if jump.lower() == "none" or command.lower() != "none" else tokens.expand(jump)


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


async def last_jump(resolved: Resolved) -> Resolved | None:
    """Return the last host of a ProxyJump list, itself reached through those before it; None without a list.

    Raises LinkFault (usage).
    """
    if resolved.jump is None:
        return None
    before, _, last = resolved.jump.rpartition(",")
    hop = await resolve(parse_target(last), resolved.config_file)
    return replace(hop, jump=before, proxy_command=None) if before else hop


def _seconds(value: str) -> float | None:
    return float(value) if value.isdigit() and int(value) > 0 else None


def default_known_hosts() -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Return OpenSSH's default files: the user's and the system's."""
    own = home_directory() / ".ssh"
    system = Path("/etc/ssh")
    names = ("known_hosts", "known_hosts2")
    return tuple(own / name for name in names), tuple(system / f"ssh_{name}" for name in names)
