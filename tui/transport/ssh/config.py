"""What the user's SSH configuration says of one host: asked of the system's ``ssh -G``, which knows it all.

Without an ssh program the library's own reading is used (config_plain.py), which knows less of it.
"""

import asyncio
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from tui.transport.faults import fault
from tui.transport.pipe import LinkFault
from tui.transport.short_command import finished
from tui.transport.ssh import known_hosts, options
from tui.transport.ssh.resolved import (
    Algorithms,
    AskRules,
    LeftToSsh,
    OnTheWire,
    Resolved,
    Strict,
    ToAgent,
)
from tui.transport.ssh.target import Target, parse_target
from tui.transport.ssh.tokens import Tokens, home_directory
from tui.transport.ssh.words import hear

_STRICT: dict[str, Strict] = {
    "true": "yes", "yes": "yes", "ask": "ask", "accept-new": "accept-new",
    "false": "no", "no": "no", "off": "no",
}  # fmt: skip
_CONFIG_TIMEOUT_S = 10.0
# In the order of the fields of Algorithms.
_ALGORITHMS = ("ciphers", "macs", "kexalgorithms", "hostkeyalgorithms", "pubkeyacceptedalgorithms")
# Whose tokens ssh -G leaves to whoever reads it.
_WITH_TOKENS = ("identityfile", "certificatefile", "identityagent", "revokedhostkeys")
_NO_FILE = "none"

Answer = dict[str, list[str]]


async def resolve(target: Target, config_file: str | None) -> Resolved:
    """Ask the SSH configuration about ``target``. Raises LinkFault (usage)."""
    program = shutil.which("ssh")
    if program is None:
        return await asyncio.to_thread(_resolve_plain, target, config_file)
    answer, usual = await asyncio.gather(
        _ssh_g(program, target, config_file), _ssh_g(program, target, _NO_FILE)
    )
    alike = await _hash_of_both_ends(program, answer)
    found = _resolved(target, config_file, answer, alike)
    alone = await asyncio.to_thread(_left_to_ssh, found, answer, usual)
    return replace(
        found, left_to_ssh=replace(found.left_to_ssh, always=alone), neutral=options.neutral(usual)
    )


def _left_to_ssh(found: Resolved, answer: Answer, usual: Answer) -> tuple[str, ...]:
    """Name what only ssh keeps of this configuration; algorithms, where the library has none of them."""
    alone = options.left_to_ssh(answer, usual)
    if "CASignatureAlgorithms" in alone and not _has_authority(found):
        alone = tuple(name for name in alone if name != "CASignatureAlgorithms")
    if all(answer.get(name) == usual.get(name) for name in _ALGORITHMS):
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


def ssh_command(target: Target, config_file: str | None, *options: str) -> list[str]:
    """Return the ssh command line that goes to ``target`` with this configuration."""
    file = ["-F", config_file] if config_file is not None else []
    return ["ssh", *file, *options, *target.ssh_arguments()]


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
    """Return the line of ssh's error text that says most: the first."""
    lines = [line.strip() for line in errors.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[0] if lines else "it said nothing"


def _by_name(output: str) -> Answer:
    values: Answer = {}
    for line in output.splitlines():
        name, _, value = line.partition(" ")
        values.setdefault(name.lower(), []).append(value)
    return values


def _resolved(target: Target, config_file: str | None, answer: Answer, alike: str | None) -> Resolved:
    first = {name: values[0] for name, values in answer.items()}
    tokens = Tokens.of(
        original=target.host,
        hostname=first.get("hostname", target.host),
        port=int(first.get("port", "22")),
        user=first.get("user", ""),
        alias=first.get("hostkeyalias"),
        jump=first.get("proxyjump", ""),
        both_ends=alike,
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
        proxy_command=_proxy_command(first, tokens, config_file),
        jump=_jump(first, tokens),
        connect_timeout_s=_seconds(first.get("connecttimeout", "none")),
        address_family=first.get("addressfamily", "any"),
        public_key=first.get("pubkeyauthentication", "true") not in ("no", "false"),
        ssh=shlex.join(ssh_command(target, config_file)),
        control_path=_control_path(first.get("controlpath", "none")),
        required_rsa_bits=_number(first.get("requiredrsasize", "0")) or 0,
        to_agent=_to_agent(first.get("addkeystoagent", "no")),
        asking=_ask_rules(first),
        algorithms=_algorithms(first),
        wire=_wire(first, answer),
        left_to_ssh=LeftToSsh(
            gssapi=_is_set(first, "gssapiauthentication"),
            gssapi_key_exchange=_is_set(first, "gssapikeyexchange"),
            hostbased=_is_set(first, "hostbasedauthentication"),
        ),
    )


def _is_set(first: dict[str, str], name: str) -> bool:
    return first.get(name, "no") in ("yes", "true")


def _number(value: str) -> int | None:
    return int(value) if value.isdigit() and int(value) > 0 else None


def _algorithms(first: dict[str, str]) -> Algorithms:
    lists = (tuple(filter(None, first.get(name, "").split(","))) for name in _ALGORITHMS)
    return Algorithms(*lists)


def _to_agent(value: str) -> ToAgent | None:
    """Read AddKeysToAgent as ssh -G prints it: true, ask, confirm, and seconds alone or behind confirm."""
    if value in ("no", "false"):
        return None
    word, _, seconds = value.rpartition(" ")
    how = word or value
    return ToAgent(ask=how == "ask", confirm=how == "confirm", lifetime_s=_number(seconds))


def _wire(first: dict[str, str], answer: Answer) -> OnTheWire:
    limit, _, seconds = first.get("rekeylimit", "0 0").partition(" ")
    return OnTheWire(
        compressed=_is_set(first, "compression"),
        environment=sent_variables(answer.get("sendenv", []), answer.get("setenv", []), os.environ),
        rekey_bytes=_number(limit),
        rekey_s=_number(seconds),
        attempts=_number(first.get("connectionattempts", "1")) or 1,
    )


def sent_variables(
    patterns: Sequence[str], settings: Sequence[str], here: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    """Return the variables that go to the host: those of this process that a pattern names, then those set."""
    sent = {name: value for name, value in here.items() if any(fnmatchcase(name, each) for each in patterns)}
    for setting in settings:
        name, _, value = setting.partition("=")
        sent[name] = value
    return tuple(sent.items())


def _ask_rules(first: dict[str, str]) -> AskRules:
    prompts = first.get("numberofpasswordprompts", "3")
    return AskRules(
        batch=first.get("batchmode", "no") == "yes",
        password=first.get("passwordauthentication", "yes") == "yes",
        keyboard=first.get("kbdinteractiveauthentication", "yes") == "yes",
        preferred=tuple(filter(None, first.get("preferredauthentications", "").split(","))),
        prompts=int(prompts) if prompts.isdigit() else 3,
        devices=first.get("kbdinteractivedevices", ""),
        fingerprints=first.get("fingerprinthash", "sha256").lower(),
    )


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


async def neutral_options(program: str, target: Target) -> tuple[str, ...]:
    """Return the options with which an ssh that was named runs one command; none where it does not tell."""
    try:
        return options.neutral(await _ssh_g(program, target, _NO_FILE))
    except (LinkFault, OSError):
        return ()


def default_known_hosts() -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Return OpenSSH's default files: the user's and the system's."""
    own = home_directory() / ".ssh"
    system = Path("/etc/ssh")
    names = ("known_hosts", "known_hosts2")
    return tuple(own / name for name in names), tuple(system / f"ssh_{name}" for name in names)
