"""From the lines that ``ssh -G`` prints for one host to plain values, with paths and tokens expanded."""

import os
import shlex
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from tui.transport.ssh.command import jump_command, ssh_command
from tui.transport.ssh.resolved import (
    Algorithms,
    AskRules,
    LeftToSsh,
    OnTheWire,
    Resolved,
    Strict,
    ToAgent,
)
from tui.transport.ssh.target import Target
from tui.transport.ssh.tokens import Tokens, home_directory

_STRICT: dict[str, Strict] = {
    "true": "yes", "yes": "yes", "ask": "ask", "accept-new": "accept-new",
    "false": "no", "no": "no", "off": "no",
}  # fmt: skip
_LANGUAGE = ("LANG", "LC_")
ALGORITHMS = ("ciphers", "macs", "kexalgorithms", "hostkeyalgorithms", "pubkeyacceptedalgorithms")
"""Those that have a counterpart in Algorithms, in the order of its fields."""

Answer = Mapping[str, Sequence[str]]


def resolved_from(target: Target, config_file: str | None, answer: Answer, alike: str | None) -> Resolved:
    first = {name: values[0] for name, values in answer.items()}
    tokens = _tokens(target, first, alike)
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


def _tokens(target: Target, first: dict[str, str], alike: str | None) -> Tokens:
    return Tokens.of(
        original=target.host,
        hostname=first.get("hostname", target.host),
        port=int(first.get("port", "22")),
        user=first.get("user", ""),
        alias=first.get("hostkeyalias"),
        jump=first.get("proxyjump", ""),
        both_ends=alike,
    )


def _is_set(first: dict[str, str], name: str) -> bool:
    return first.get(name, "no") in ("yes", "true")


def _number(value: str) -> int | None:
    return int(value) if value.isdigit() and int(value) > 0 else None


def _algorithms(first: dict[str, str]) -> Algorithms:
    lists = (tuple(filter(None, first.get(name, "").split(","))) for name in ALGORITHMS)
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
    """Return the variables for the host: those of this process that a pattern names, then those set.

    Of this process no language is sent (Debian's ssh would): what programs there say is read here.
    """
    fitting = [name for name in here if any(fnmatchcase(name, each) for each in patterns)]
    sent = {name: here[name] for name in fitting if not name.startswith(_LANGUAGE)}
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


def _control_path(value: str) -> str | None:
    """Return the socket's path, which ssh -G has expanded already."""
    return None if value.lower() == "none" else value


def existing_files(names: Sequence[str], tokens: Tokens) -> tuple[Path, ...]:
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


def _seconds(value: str) -> float | None:
    return float(value) if value.isdigit() and int(value) > 0 else None


def default_known_hosts() -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Return OpenSSH's default files: the user's and the system's."""
    own = home_directory() / ".ssh"
    system = Path("/etc/ssh")
    names = ("known_hosts", "known_hosts2")
    return tuple(own / name for name in names), tuple(system / f"ssh_{name}" for name in names)
