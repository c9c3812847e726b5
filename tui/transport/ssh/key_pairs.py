"""What is made of one key file: its pair, which waits until it is used, and what it is called.

Imports asyncssh: import this module only where a connection is made.
"""

import base64
from pathlib import Path
from typing import Protocol

import asyncssh

from tui.transport.ssh import key_file
from tui.transport.ssh.tokens import home_directory


class HasKeys(Protocol):
    """Whoever can get at the key of a file."""

    async def key_for(self, path: Path) -> asyncssh.SSHKey | None:
        """Return the key, None where it stays locked."""
        ...


class FileKeyPair(asyncssh.SSHKeyPair):
    """A key that is used, its passphrase asked for, when the server has said that it takes the key."""

    _key_type = "local"

    def __init__(
        self,
        public: asyncssh.SSHKey,
        certificate: asyncssh.SSHCertificate | None,
        keys: HasKeys,
        path: Path,
    ) -> None:
        names = public.sig_algorithms
        super().__init__(
            public.algorithm, public.algorithm, names, names, public.public_data, None, certificate
        )
        self._keys = keys
        self._path = path

    async def sign_async(self, data: bytes) -> bytes:
        """Sign ``data``. Raises ValueError, on which the library goes on to the next key."""
        key = await self._keys.key_for(self._path)
        if key is None:
            raise ValueError(f"{self._path} stays locked")
        return key.sign(data, self.sig_algorithm)


def signs_as(kind: str) -> set[str]:
    """Return the names under which a kind of key stands in PubkeyAcceptedAlgorithms."""
    plain = "-cert-v01@openssh.com" if kind.endswith("-cert-v01@openssh.com") else ""
    if kind.removesuffix(plain) != "ssh-rsa":
        return {kind}
    return {f"{name}{plain}" for name in ("rsa-sha2-512", "rsa-sha2-256", "ssh-rsa")}


def unlocked(path: Path, passphrase: str) -> asyncssh.SSHKey | None:
    """Return a key by its passphrase, None when that is wrong. Takes half a second: the format wants it."""
    try:
        return asyncssh.read_private_key(path, passphrase)
    except (OSError, asyncssh.KeyImportError, asyncssh.KeyEncryptionError):
        return None


def public_key(blob: bytes) -> asyncssh.SSHKey | None:
    """Return a public key by its wire form, None for a kind that the library does not know."""
    length = int.from_bytes(blob[:4], "big")
    try:
        return asyncssh.import_public_key(blob[4 : 4 + length] + b" " + base64.b64encode(blob))
    except asyncssh.KeyImportError:
        return None


def public_blob(path: Path) -> bytes | None:
    """Return the public part of a key file: from the file itself, or the .pub beside it, or within it."""
    for candidate in (path, path.with_name(f"{path.name}.pub")):
        try:
            return asyncssh.read_public_key(candidate).public_data
        except (OSError, asyncssh.KeyImportError):
            continue
    private = key_file.look_at(path)
    return private.public if private is not None else None


def short(path: Path) -> str:
    """Write a path under the home directory with ~, as people do."""
    home = home_directory()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)
