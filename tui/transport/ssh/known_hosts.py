"""Known host keys: what OpenSSH's known_hosts files say of a host, with file and line, and adding to them.

The format is that of sshd(8), SSH_KNOWN_HOSTS FILE FORMAT: names with ``*``, ``?`` and ``!``, hashed names,
``[host]:port``, and the markers @cert-authority and @revoked. Lines that are none are passed over, as there.
"""

import base64
import binascii
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tui import files

Standing = Literal["known", "unknown", "changed", "other_type", "revoked"]
_AUTHORITY, _REVOKED = "@cert-authority", "@revoked"


@dataclass(frozen=True, slots=True)
class KnownKey:
    """One line of a known_hosts file that is about this host. ``marker`` is "" for a plain key."""

    file: Path
    line: int
    marker: str
    algorithm: str
    blob: bytes

    @property
    def place(self) -> str:
        """Return file:line."""
        return f"{self.file}:{self.line}"

    @property
    def text(self) -> str:
        """Return the key as public key files write it."""
        return f"{self.algorithm} {base64.b64encode(self.blob).decode()}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """How an offered key stands to what is known, and the line that says so (None when it is unknown)."""

    standing: Standing
    by: KnownKey | None = None


@dataclass(frozen=True, slots=True)
class HostKeys:
    """All that the files say of one host: lines for its name, and (other port) for its name without port."""

    name: str
    keys: tuple[KnownKey, ...]
    without_port: tuple[KnownKey, ...]
    unreadable: tuple[Path, ...]

    def judge(self, algorithm: str, blob: bytes) -> Judgement:
        """Judge a key as OpenSSH does: any other key for that name makes it a changed one."""
        for key in (*self.keys, *self.without_port):
            if key.marker == _REVOKED and key.blob == blob:
                return Judgement("revoked", key)
        plain = [key for key in self.keys if not key.marker]
        for key in (*plain, *(key for key in self.without_port if not key.marker)):
            if key.blob == blob:
                return Judgement("known", key)
        for key in plain:
            if key.algorithm == algorithm:
                return Judgement("changed", key)
        return Judgement("other_type", plain[0]) if plain else Judgement("unknown")

    def algorithms(self) -> list[str]:
        """Return the key types known for this host, in the order of the files."""
        keys = (*self.keys, *self.without_port)
        return list(dict.fromkeys(key.algorithm for key in keys if not key.marker))

    def marked(self, marker: Literal["@cert-authority", "@revoked"]) -> list[KnownKey]:
        """Return the lines with this marker."""
        return [key for key in (*self.keys, *self.without_port) if key.marker == marker]


def host_name(hostname: str, port: int, alias: str | None) -> str:
    """Return the name under which a host stands in known_hosts: its alias, or [host]:port off port 22."""
    if alias is not None:
        return alias.lower()
    return hostname.lower() if port == 22 else f"[{hostname.lower()}]:{port}"


def look_up(files: Iterable[Path], hostname: str, port: int, alias: str | None) -> HostKeys:
    """Read what ``files`` say of one host. Files that are missing say nothing; unreadable ones are named."""
    name, bare = host_name(hostname, port, alias), hostname.lower()
    keys: list[KnownKey] = []
    without_port: list[KnownKey] = []
    unreadable: list[Path] = []
    for file in files:
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            continue
        except OSError:
            unreadable.append(file)
            continue
        for names, key in _lines(file, content):
            if _matches(names, name):
                keys.append(key)
            elif name != bare and alias is None and _matches(names, bare):
                without_port.append(key)
    return HostKeys(name, tuple(keys), tuple(without_port), tuple(unreadable))


def names_of(blob: bytes, files: Iterable[Path]) -> list[tuple[Path, int, str]]:
    """Return where a key stands as a plain one, whatever the host: file, line, names as written there."""
    found: list[tuple[Path, int, str]] = []
    for file in files:
        try:
            content = file.read_bytes()
        except OSError:
            continue
        found += [
            (file, key.line, names)
            for names, key in _lines(file, content)
            if key.blob == blob and not key.marker
        ]
    return found


def listed_keys(content: bytes) -> Iterator[bytes]:
    """Yield the keys of a plain list of public keys (RevokedHostKeys), one a line."""
    for line in content.decode("utf-8", "replace").splitlines():
        for field in line.split()[:3]:
            blob = _blob(field)
            if blob:
                yield blob
                break


def fingerprint(blob: bytes, kind: str = "sha256") -> str:
    """Return a key's fingerprint as ssh-keygen -l prints it, by a hash of FingerprintHash."""
    name = kind if kind in hashlib.algorithms_guaranteed else "sha256"
    digest = hashlib.new(name, blob, usedforsecurity=False).digest()
    shown = digest.hex(":") if name == "md5" else base64.b64encode(digest).decode().rstrip("=")
    return f"{name.upper()}:{shown}"


def short_algorithm(algorithm: str) -> str:
    """Return the name that ssh uses for a key type in its messages (ED25519, ECDSA, RSA)."""
    for part, short in (("ed25519", "ED25519"), ("ecdsa", "ECDSA"), ("rsa", "RSA"), ("dss", "DSA")):
        if part in algorithm:
            return f"{short}-SK" if algorithm.startswith("sk-") else short
    return algorithm


def append(file: Path, name: str, algorithm: str, blob: bytes, *, hashed: bool) -> None:
    """Add one line to a known_hosts file, making it (0600) and its folder (0700) at need. Raises OSError."""
    if not file.parent.exists():
        file.parent.mkdir(mode=0o700, parents=True)
    line = f"{_hashed(name) if hashed else name} {algorithm} {base64.b64encode(blob).decode()}\n"
    descriptor = os.open(file, files.APPEND, 0o600)
    try:
        os.write(descriptor, (line if _ends_a_line(descriptor) else f"\n{line}").encode())
    finally:
        os.close(descriptor)


def _ends_a_line(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size == 0 or files.read_at(descriptor, 1, size - 1) == b"\n"


def _lines(file: Path, content: bytes) -> Iterator[tuple[str, KnownKey]]:
    """Yield each entry's names and key."""
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), 1):
        fields = line.split()
        marker = fields.pop(0) if fields and fields[0] in (_AUTHORITY, _REVOKED) else ""
        if len(fields) < 3 or fields[0].startswith(("#", "@")):
            continue
        names, algorithm, text = fields[:3]
        blob = _blob(text)
        if blob:
            yield names, KnownKey(file, number, marker, algorithm, blob)


def _blob(text: str) -> bytes:
    """Decode a key's base64; empty for what is none."""
    try:
        blob = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
    length = int.from_bytes(blob[:4], "big")
    return blob if 4 <= length <= len(blob) - 4 else b""


def _matches(names: str, name: str) -> bool:
    if names.startswith("|1|"):
        return _hash_matches(names, name)
    found = False
    for pattern in names.split(","):
        refused = pattern.startswith("!")
        if _pattern(pattern[1:] if refused else pattern).fullmatch(name):
            if refused:
                return False
            found = True
    return found


def _pattern(text: str) -> re.Pattern[str]:
    """Compile a name with * and ?; brackets mean themselves, unlike in a shell."""
    return re.compile(re.escape(text.lower()).replace(r"\*", ".*").replace(r"\?", "."))


def _hash_matches(names: str, name: str) -> bool:
    parts = names.split("|")
    if len(parts) != 4:
        return False
    try:
        salt, digest = base64.b64decode(parts[2]), base64.b64decode(parts[3])
    except (binascii.Error, ValueError):
        return False
    return hmac.compare_digest(hmac.digest(salt, name.encode(), "sha1"), digest)


def _hashed(name: str) -> str:
    salt = secrets.token_bytes(20)
    digest = hmac.digest(salt, name.encode(), "sha1")
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"
