"""Whether to trust the key that a host shows: judged by known_hosts and the user's StrictHostKeyChecking."""

import base64
import shlex
import shutil
import subprocess
from collections.abc import Callable, Collection

from tui.transport.faults import fault, sentence_of
from tui.transport.pipe import LinkFault
from tui.transport.ssh import known_hosts
from tui.transport.ssh.key_file import rsa_bits
from tui.transport.ssh.known_hosts import HostKeys, Judgement, KnownKey
from tui.transport.ssh.resolved import Resolved

_KRL_MAGIC = b"SSHKRL"
_KEYGEN_TIMEOUT_S = 5.0


class HostKeyGate:
    """Judges one host's key. After a refusal ``fault`` says why.

    StrictHostKeyChecking is honoured as OpenSSH does: ``yes`` refuses an unknown key, ``accept-new`` adds it,
    ``no`` adds it and lets a changed one pass with a warning. A revoked key never passes. With no file to
    write to, accept-new refuses. ``ask`` refuses an unknown key too, but for those that were ``agreed`` to:
    (name, key). It is then in ``unknown``, so that a person can be asked for the next connection.
    """

    def __init__(
        self,
        resolved: Resolved,
        notice: Callable[[str], None],
        agreed: Collection[tuple[str, bytes]] = (),
    ) -> None:
        self._resolved = resolved
        self._notice = notice
        self._agreed = agreed
        self.unknown: tuple[str, bytes] | None = None
        files = (*resolved.known_hosts, *resolved.global_known_hosts)
        self.keys: HostKeys = known_hosts.look_up(
            files, resolved.hostname, resolved.port, resolved.host_key_alias
        )
        self.fault: LinkFault | None = None

    def admits(self, algorithm: str, blob: bytes) -> bool:
        """Say whether to go on with this key."""
        for file in self.keys.unreadable:
            self._notice(sentence_of("known_hosts_unread", file=file))
        judgement = self.keys.judge(algorithm, blob)
        bits = rsa_bits(blob)
        if bits is not None and bits < self._resolved.required_rsa_bits:
            return self._refuse("host_key_small", algorithm, blob, Judgement("unknown"), bits)
        if self._listed_as_revoked(blob):
            return self._refuse("host_key_revoked", algorithm, blob, Judgement("revoked"))
        if judgement.standing == "revoked":
            return self._refuse("host_key_revoked", algorithm, blob, judgement)
        if judgement.standing == "known":
            return True
        if judgement.standing == "unknown":
            return self._admits_unknown(algorithm, blob, judgement)
        return self._admits_changed(algorithm, blob, judgement)

    def _admits_unknown(self, algorithm: str, blob: bytes, judgement: Judgement) -> bool:
        strict, files = self._resolved.strict, self._resolved.known_hosts
        if strict == "no" or (strict == "accept-new" and files):
            if self._resolved.keeps_host_keys:
                self._add(algorithm, blob)
            else:
                self._tell_unchecked(algorithm, blob)
            return True
        if strict == "ask":
            if (self.keys.name, blob) in self._agreed:
                return True
            if any(name == self.keys.name for name, _ in self._agreed):
                return self._refuse("host_key_changed_here", algorithm, blob, judgement)
            self.unknown = algorithm, blob
        return self._refuse(self._row_of_unknown(), algorithm, blob, judgement)

    def _row_of_unknown(self) -> str:
        """Return what can be advised: a login by hand helps where it is kept and there is an ssh."""
        if not self._resolved.keeps_host_keys:
            return "host_key_unknown_unkept"
        return "host_key_unknown" if shutil.which("ssh") is not None else "host_key_unknown_plain"

    def _tell_unchecked(self, algorithm: str, blob: bytes) -> None:
        resolved = self._resolved
        short, shown = known_hosts.short_algorithm(algorithm), known_hosts.fingerprint(blob)
        values = {"where": resolved.where, "strict": resolved.strict, "kept": resolved.kept_in}
        self._notice(sentence_of("host_key_unchecked", **values, algorithm=short, fingerprint=shown))

    def _admits_changed(self, algorithm: str, blob: bytes, judgement: Judgement) -> bool:
        if self._resolved.strict != "no":
            row = "host_key_changed" if judgement.standing == "changed" else "host_key_other_type"
            return self._refuse(row, algorithm, blob, judgement)
        place = judgement.by.place if judgement.by is not None else "known_hosts"
        self._notice(sentence_of("host_key_let_pass", where=self._resolved.where, place=place))
        return True

    def add_agreed(self, algorithm: str, blob: bytes) -> str:
        """Add a key that a person agreed to; say it in ssh's words."""
        short = known_hosts.short_algorithm(algorithm)
        files, hashed = self._resolved.known_hosts, self._resolved.hash_known_hosts
        if not files:
            return f"The {short} key of '{self.keys.name}' is kept nowhere (UserKnownHostsFile none)."
        try:
            known_hosts.append(files[0], self.keys.name, algorithm, blob, hashed=hashed)
        except OSError as error:
            return f"Failed to add the host to the list of known hosts ({files[0]}): {error.strerror}"
        return f"Warning: Permanently added '{self.keys.name}' ({short}) to the list of known hosts."

    def declined(self, algorithm: str, blob: bytes) -> LinkFault:
        """Return the fault of a key that a person did not agree to."""
        return fault(
            "host_key_declined",
            where=self._resolved.where,
            algorithm=known_hosts.short_algorithm(algorithm),
            fingerprint=known_hosts.fingerprint(blob),
        )

    def _add(self, algorithm: str, blob: bytes) -> None:
        file, where = self._resolved.known_hosts[0], self._resolved.where
        hashed = self._resolved.hash_known_hosts
        try:
            known_hosts.append(file, self.keys.name, algorithm, blob, hashed=hashed)
        except OSError as error:
            self._notice(sentence_of("host_key_not_added", where=where, file=file, why=error.strerror))
        else:
            short, shown = known_hosts.short_algorithm(algorithm), known_hosts.fingerprint(blob)
            added = sentence_of("host_key_added", where=where, file=file, algorithm=short, fingerprint=shown)
            self._notice(added)

    def _refuse(
        self, row: str, algorithm: str, blob: bytes, judgement: Judgement, bits: int | None = None
    ) -> bool:
        by, files = judgement.by, self._resolved.known_hosts
        place = by.place if by is not None else str(self._resolved.revoked_host_keys)
        self.fault = fault(
            row,
            where=self._resolved.where,
            algorithm=known_hosts.short_algorithm(algorithm),
            fingerprint=known_hosts.fingerprint(blob),
            place=place,
            known=_described(by) if by is not None else "none",
            command=self._command(judgement),
            how=self._how_to_add(row),
            file=str(files[0]) if files else "a known_hosts file",
            kept=self._resolved.kept_in,
            line=f"{self.keys.name} {algorithm} {base64.b64encode(blob).decode()}",
            bits=bits,
            required=self._resolved.required_rsa_bits,
        )
        return False

    def _how_to_add(self, row: str) -> str:
        """Return how an unknown key is added; --accept-new does it where the configuration asks."""
        by_hand = "add it by logging in once with" if row == "host_key_unknown" else "add this line to"
        takes = self._resolved.strict == "ask" and self._resolved.known_hosts
        return f"take it with --accept-new, or {by_hand}" if takes else by_hand

    def _command(self, judgement: Judgement) -> str:
        """Return what to type: log in by hand for an unknown key, remove the line of a changed one."""
        if judgement.by is None:
            return self._resolved.ssh
        return shlex.join(["ssh-keygen", "-f", str(judgement.by.file), "-R", self.keys.name])

    def _listed_as_revoked(self, blob: bytes) -> bool:
        """Ask the RevokedHostKeys file; one that cannot be read revokes every key, as in OpenSSH."""
        file = self._resolved.revoked_host_keys
        if file is None:
            return False
        try:
            content = file.read_bytes()
        except OSError:
            return True
        if content.startswith(_KRL_MAGIC):
            return _revoked_by_list(str(file), blob)
        return blob in known_hosts.listed_keys(content)


def _described(key: KnownKey) -> str:
    return f"{known_hosts.short_algorithm(key.algorithm)} {known_hosts.fingerprint(key.blob)}"


def _revoked_by_list(file: str, blob: bytes) -> bool:
    """Ask ssh-keygen about a binary revocation list; without an answer the key counts as revoked."""
    length = int.from_bytes(blob[:4], "big")
    algorithm = blob[4 : 4 + length]
    line = algorithm + b" " + base64.b64encode(blob) + b"\n"
    command = ["ssh-keygen", "-Q", "-f", file, "/dev/stdin"]
    limit_s = _KEYGEN_TIMEOUT_S
    try:
        done = subprocess.run(command, input=line, capture_output=True, timeout=limit_s, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return True
    return done.returncode != 0
