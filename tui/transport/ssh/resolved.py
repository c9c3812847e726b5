"""The SSH configuration's answer for one host, as plain values."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tui.transport.ssh.target import Target

Strict = Literal["yes", "ask", "accept-new", "no"]


@dataclass(frozen=True, slots=True)
class AskRules:
    """What the configuration says of questions at a login: BatchMode, and the ways that are allowed.

    ``preferred`` is PreferredAuthentications, empty for the usual order. ``prompts`` are the tries that a
    person has for a password or passphrase (NumberOfPasswordPrompts; ssh_config(5): 3). ``devices`` are the
    keyboard-interactive ones to ask for, "" to leave it to the server. ``fingerprints`` is FingerprintHash.
    """

    batch: bool = False
    password: bool = True
    keyboard: bool = True
    preferred: tuple[str, ...] = ()
    prompts: int = 3
    devices: str = ""
    fingerprints: str = "sha256"

    @property
    def first(self) -> str:
        """Return the way that is tried first, "" for the usual one, which is keys."""
        return self.preferred[0] if self.preferred else ""


@dataclass(frozen=True, slots=True)
class Algorithms:
    """The algorithms that the configuration allows, in its order; empty for the library's own choice.

    ``host_keys`` and ``signatures`` (PubkeyAcceptedAlgorithms) name certificates apart from plain keys.
    ``narrowed`` are the options that the configuration sets otherwise than usual, of those that a connection
    may fail by.
    """

    ciphers: tuple[str, ...] = ()
    macs: tuple[str, ...] = ()
    key_exchanges: tuple[str, ...] = ()
    host_keys: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToAgent:
    """How a key that was read from its file is given to the ssh-agent (AddKeysToAgent)."""

    ask: bool = False
    confirm: bool = False
    lifetime_s: int | None = None


@dataclass(frozen=True, slots=True)
class OnTheWire:
    """What the configuration says of the connection itself.

    ``environment`` are the variables to set on the host (SetEnv, and of this process those of SendEnv).
    ``rekey_bytes`` and ``rekey_s`` are RekeyLimit, None for the usual. ``attempts`` is ConnectionAttempts.
    """

    compressed: bool = False
    environment: tuple[tuple[str, str], ...] = ()
    rekey_bytes: int | None = None
    rekey_s: int | None = None
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class LeftToSsh:
    """What the ssh program can do and the library cannot.

    ``always`` names the settings that only ssh keeps: it makes the connection. The others are ways of a login
    for which it gets one try where the library is refused.
    """

    always: tuple[str, ...] = ()
    gssapi: bool = False
    gssapi_key_exchange: bool = False
    hostbased: bool = False


@dataclass(frozen=True, slots=True)
class Resolved:
    """How to reach one host: the configuration's answer, with paths and tokens expanded.

    ``identity_files`` and ``certificate_files`` exist. ``identity_agent`` is a socket, None for no agent.
    ``known_hosts`` are the user's files (the first is written to), ``global_known_hosts`` the system's; both
    may be empty or name files that do not exist. ``jump`` is a ProxyJump list. ``proxy_command`` is for a
    shell; beside ``jump`` it is ssh's own way through that list, which the library goes where it is None.
    ``ssh`` is the command that logs in by hand.
    ``control_path`` is the socket of a shared connection, whether it exists or not. ``neutral`` are options
    for an ssh that is to run one command with its input, whatever the configuration says.
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
    proxy_command: str | None
    jump: str | None
    connect_timeout_s: float | None
    address_family: str
    public_key: bool
    ssh: str
    control_path: str | None = None
    required_rsa_bits: int = 0
    to_agent: ToAgent | None = None
    asking: AskRules = field(default_factory=AskRules)
    algorithms: Algorithms = field(default_factory=Algorithms)
    wire: OnTheWire = field(default_factory=OnTheWire)
    left_to_ssh: LeftToSsh = field(default_factory=LeftToSsh)
    neutral: tuple[str, ...] = ()

    @property
    def keeps_host_keys(self) -> bool:
        """Whether a host key that is added is found again: not with UserKnownHostsFile none or /dev/null."""
        return bool(self.known_hosts) and self.known_hosts[0] != Path(os.devnull)

    @property
    def kept_in(self) -> str:
        """Return UserKnownHostsFile as it is said to the user."""
        return str(self.known_hosts[0]) if self.known_hosts else "none"

    @property
    def where(self) -> str:
        """Return the host and port as they are said to the user."""
        name = self.target.host
        also = "" if name == self.hostname else f" ({self.hostname})"
        return f"{name}{also} port {self.port}"
