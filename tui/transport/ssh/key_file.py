"""What a private key file tells without its passphrase: whether it is locked, and its public half.

The format is that of OpenSSH's PROTOCOL.key; older PEM files say no more than that they are encrypted.
"""

import base64
import binascii
import os
from dataclasses import dataclass
from pathlib import Path

_MAGIC = b"openssh-key-v1\x00"
_BEGIN, _END = b"-----BEGIN OPENSSH PRIVATE KEY-----", b"-----END OPENSSH PRIVATE KEY-----"


@dataclass(frozen=True, slots=True)
class KeyFile:
    """A private key file. ``public`` is the public key's wire form, None where the file does not tell."""

    locked: bool
    public: bytes | None


def is_open_to_others(path: Path) -> bool:
    """Say whether a private key of this user's may be read by others: ssh does not use such a one.

    Of another user's key ssh does not ask, nor does it where there are no such rights.
    """
    try:
        status = path.stat()
    except OSError:
        return False
    return hasattr(os, "getuid") and status.st_uid == os.getuid() and bool(status.st_mode & 0o077)


def look_at(path: Path) -> KeyFile | None:
    """Read a private key file's open part; None for what is none or cannot be read."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    if _BEGIN in content:
        return _openssh(content)
    if b"PRIVATE KEY-----" in content:
        return KeyFile(b"ENCRYPTED" in content, None)
    return None


def rsa_bits(public: bytes) -> int | None:
    """Return the length of an RSA key by its public wire form (RFC 4253, 6.6); None for another kind."""
    kind, rest = _string(public)
    if kind != b"ssh-rsa":
        return None
    _, rest = _string(rest)
    modulus, _ = _string(rest)
    return int.from_bytes(modulus, "big").bit_length()


def _openssh(content: bytes) -> KeyFile | None:
    body = content.partition(_BEGIN)[2].partition(_END)[0]
    try:
        data = base64.b64decode(b"".join(body.split()), validate=True)
    except binascii.Error:
        return None
    if not data.startswith(_MAGIC):
        return None
    rest = data[len(_MAGIC) :]
    cipher, rest = _string(rest)
    for _ in ("kdf", "kdf options"):
        _, rest = _string(rest)
    public, _ = _string(rest[4:])
    return KeyFile(cipher != b"none", public or None)


def _string(data: bytes) -> tuple[bytes, bytes]:
    length = int.from_bytes(data[:4], "big")
    return data[4 : 4 + length], data[4 + length :]
