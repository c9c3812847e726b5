"""The SSH configuration without an ssh program: asyncssh's own reading, brought to the same answer.

It knows less than OpenSSH: no system-wide file, no StrictHostKeyChecking (the default, ask, is kept),
no BatchMode, no shell in a ProxyCommand line's tokens. What it cannot parse becomes one sentence.

Imports asyncssh.
"""

from pathlib import Path
from typing import cast

from asyncssh.config import ConfigParseError, SSHClientConfig

from tui.transport.faults import fault
from tui.transport.ssh.answer import agent_socket, default_known_hosts, existing_files
from tui.transport.ssh.resolved import AskRules, Resolved
from tui.transport.ssh.target import Target
from tui.transport.ssh.tokens import Tokens, home_directory, local_user

# OpenSSH's own list, in its order.
_DEFAULT_KEYS = ("id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk")


def resolve(target: Target, config_file: str | None) -> Resolved:
    """Read the user's configuration for ``target``. Raises LinkFault (usage)."""
    file = Path(config_file) if config_file is not None else home_directory() / ".ssh" / "config"
    config = _load(target, file, required=config_file is not None)
    tokens = Tokens.of(
        original=target.host,
        hostname=_text(config, "Hostname") or target.host,
        port=target.port or cast(int | None, config.get("Port")) or 22,
        user=target.user or _text(config, "User") or "",
        alias=_text(config, "HostKeyAlias"),
        jump=_text(config, "ProxyJump") or "",
    )
    return _resolved(target, config_file, config, tokens)


def _load(target: Target, file: Path, *, required: bool) -> SSHClientConfig:
    paths = [file] if required or file.is_file() else []
    # What is not said is an empty tuple there; said, it would outrank the file.
    user, port = target.user or (), target.port or ()
    try:
        loaded = SSHClientConfig.load(None, paths, False, False, False, local_user(), user, target.host, port)
        return cast(SSHClientConfig, loaded)
    except (ConfigParseError, ValueError) as error:
        raise fault("config_plain", file=file, target=target.text, why=error) from None
    except OSError as error:
        raise fault("config", target=target.text, why=error, command=f"cat {file}") from None


def _resolved(target: Target, config_file: str | None, config: SSHClientConfig, tokens: Tokens) -> Resolved:
    proxy, jump = _text(config, "ProxyCommand"), _text(config, "ProxyJump")
    own, system = default_known_hosts()
    named_own = _texts(config, "UserKnownHostsFile")
    named_system = _texts(config, "GlobalKnownHostsFile")
    keys = _texts(config, "IdentityFile") or [str(home_directory() / ".ssh" / key) for key in _DEFAULT_KEYS]
    return Resolved(
        target=target,
        config_file=config_file,
        hostname=tokens.hostname,
        port=tokens.port,
        user=tokens.user,
        host_key_alias=_text(config, "HostKeyAlias"),
        identity_files=existing_files(keys, tokens),
        certificate_files=existing_files(_texts(config, "CertificateFile") or [], tokens),
        identities_only=bool(config.get("IdentitiesOnly")),
        identity_agent=agent_socket(_agent(config), tokens),
        known_hosts=own if named_own is None else tuple(map(tokens.path, named_own)),
        global_known_hosts=system if named_system is None else tuple(map(tokens.path, named_system)),
        revoked_host_keys=None,
        strict="ask",
        hash_known_hosts=False,
        proxy_command=proxy if proxy and proxy.lower() != "none" else None,
        jump=jump if jump and jump.lower() != "none" else None,
        connect_timeout_s=None,
        address_family="any",
        public_key=config.get("PubkeyAuthentication") is not False,
        ssh=f"ssh {target.text}",
        asking=_ask_rules(config),
    )


def _ask_rules(config: SSHClientConfig) -> AskRules:
    """Return what that reading knows of it: neither BatchMode nor NumberOfPasswordPrompts."""
    preferred = _text(config, "PreferredAuthentications") or ""
    return AskRules(
        password=config.get("PasswordAuthentication") is not False,
        keyboard=config.get("KbdInteractiveAuthentication") is not False,
        preferred=tuple(filter(None, preferred.split(","))),
    )


def _agent(config: SSHClientConfig) -> str:
    """Return what names the agent; asyncssh makes nothing of the word none."""
    return cast(str | None, config.get("IdentityAgent", "SSH_AUTH_SOCK")) or "none"


def _text(config: SSHClientConfig, option: str) -> str | None:
    return cast(str | None, config.get(option))


def _texts(config: SSHClientConfig, option: str) -> list[str] | None:
    return cast(list[str] | None, config.get(option))
