"""The algorithms of the SSH configuration that the library has.

Imports asyncssh: import this module only where a connection is made, or where it must be known.
"""

from collections.abc import Iterable

from asyncssh.encryption import get_encryption_algs
from asyncssh.kex import get_kex_algs
from asyncssh.mac import get_mac_algs
from asyncssh.public_key import get_certificate_algs, get_public_key_algs

from tui.transport.ssh.resolved import Algorithms

# Host key types that the library can check, in OpenSSH's order of preference.
HOST_KEY_TYPES = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "rsa-sha2-512",
    "rsa-sha2-256",
)


def had_by_library(allowed: Algorithms) -> Algorithms:
    """Return those of the configuration's algorithms that the library has, in its order.

    Among the host keys are certificates, among the signatures none. Empty stays empty.
    """
    keys, certificates = _names(get_public_key_algs()), _names(get_certificate_algs())
    return Algorithms(
        ciphers=_both(allowed.ciphers, _names(get_encryption_algs())),
        macs=_both(allowed.macs, _names(get_mac_algs())),
        key_exchanges=_both(allowed.key_exchanges, _names(get_kex_algs())),
        host_keys=_both(allowed.host_keys, keys | certificates),
        signatures=_both(allowed.signatures, keys),
    )


def lacking(allowed: Algorithms) -> tuple[str, ...]:
    """Name the options of which the library has nothing that they allow."""
    have = had_by_library(allowed)
    plain = tuple(name for name in have.host_keys if not is_certificate(name))
    pairs = {
        "Ciphers": (allowed.ciphers, have.ciphers),
        "MACs": (allowed.macs, have.macs),
        "KexAlgorithms": (allowed.key_exchanges, have.key_exchanges),
        "HostKeyAlgorithms": (allowed.host_keys, plain),
        "PubkeyAcceptedAlgorithms": (allowed.signatures, have.signatures),
    }
    return tuple(name for name, (named, left) in pairs.items() if named and not left)


def is_certificate(name: str) -> bool:
    """Say whether a type of key is one of certificates."""
    return name.endswith("-cert-v01@openssh.com")


def _names(names: Iterable[bytes]) -> set[str]:
    return {name.decode("ascii") for name in names}


def _both(allowed: Iterable[str], known: set[str]) -> tuple[str, ...]:
    return tuple(name for name in allowed if name in known)
