"""One login: the host's key judged, our keys offered, and every way in which it can fail put in words.

Imports asyncssh: import this module only where a connection is made.
"""

import asyncio
import logging
import socket
from collections.abc import Sequence
from typing import cast

import asyncssh

from tui.transport.asking import LoginClock
from tui.transport.faults import fault
from tui.transport.pipe import LinkFault
from tui.transport.ssh.algorithms import HOST_KEY_TYPES, had_by_library, is_certificate
from tui.transport.ssh.host_key import HostKeyGate
from tui.transport.ssh.interview import Interview
from tui.transport.ssh.keys import LoginKeys
from tui.transport.ssh.known_hosts import HostKeys, KnownKey
from tui.transport.ssh.limits import Manners
from tui.transport.ssh.resolved import Resolved

# One RSA key signs under several names.
_SIGNED_AS = {"rsa-sha2-512": "ssh-rsa", "rsa-sha2-256": "ssh-rsa"}
# As OpenSSH offers them.
_COMPRESSED, _PLAIN = ["zlib@openssh.com", "none"], ["none", "zlib@openssh.com"]

# The library gives neither ticket nor host's key here. Behind the keys these methods are still listed when
# one is asked for, so that it is known whether the server takes them.
_METHODS = ("publickey", "gssapi-with-mic", "hostbased", "keyboard-interactive", "password")

# Without a handler of its own, the logging module writes a library's warnings over the screen.
logging.getLogger("asyncssh").addHandler(logging.NullHandler())


class Login:
    """Logs in once; after a failure it knows what was offered and what the server takes."""

    def __init__(self, resolved: Resolved, gate: HostKeyGate, manners: Manners) -> None:
        self.resolved = resolved
        self.gate = gate
        self._limits = manners.limits
        self._clock = LoginClock(manners.limits.login_s)
        self.interview = Interview(resolved, manners.asker, manners.answers, self._clock)
        self._answers = manners.answers
        self.keys = LoginKeys(resolved, self.interview, manners)
        self.methods: list[str] = []
        self.connection: asyncssh.SSHClientConnection | None = None
        self.address = ""

    async def connect(
        self, sock: socket.socket | None, tunnel: asyncssh.SSHClientConnection | None
    ) -> asyncssh.SSHClientConnection:
        """Log in over a connected socket or another host's connection. Raises LinkFault."""
        greeting = asyncio.get_running_loop().call_later(self.greeting_s, self._end_if_silent)
        try:
            async with self._clock.running():
                connection = await self._connect(sock, tunnel)
        except TimeoutError:
            seconds = f"{self._limits.login_s if self.spoke else self.greeting_s:g}"
            raise fault("login_timeout", where=self.resolved.where, seconds=seconds) from None
        except (asyncssh.Error, OSError, ValueError) as error:
            await self.interview.over()
            raise self.fault(error) from None
        finally:
            greeting.cancel()
        self.interview.succeeded()
        return connection

    @property
    def spoke(self) -> bool:
        """Whether the server has greeted."""
        return self.connection is not None and bool(self.connection.get_extra_info("server_version"))

    @property
    def greeting_s(self) -> float:
        """Return how long the server may take to greet: ConnectTimeout, as in ssh (ssh_config(5))."""
        return min(self.resolved.connect_timeout_s or self._limits.login_s, self._limits.login_s)

    def _end_if_silent(self) -> None:
        if not self.spoke:
            self._clock.end()

    async def agreed(self) -> bool:
        """Ask about the host key that is unknown, and add it. Raises LinkFault for a no."""
        if self.gate.unknown is None or not self.interview.can_ask:
            return False
        algorithm, blob = self.gate.unknown
        key, interview = (self.gate.keys.name, blob), self.interview
        async with self._answers.shared.one(key, interview.waiting) as question:
            if not question.told and key not in self._answers.host_keys:
                agreed = await interview.agrees_to(algorithm, blob, self.address)
                if agreed:
                    interview.tell(await asyncio.to_thread(self.gate.add_agreed, algorithm, blob))
                question.told = not interview.given_up
        if interview.given_up:
            raise fault("given_up", where=self.resolved.where)
        if key not in self._answers.host_keys:
            raise self.gate.declined(algorithm, blob)
        return True

    async def _connect(
        self, sock: socket.socket | None, tunnel: asyncssh.SSHClientConnection | None
    ) -> asyncssh.SSHClientConnection:
        limits, preferred = self._limits, self.resolved.asking.preferred
        have, wire = had_by_library(self.resolved.algorithms), self.resolved.wire
        return await asyncssh.connect(
            self.resolved.hostname, self.resolved.port, sock=sock, tunnel=tunnel, config=None,
            client_factory=lambda: _Client(self), username=self.resolved.user, client_keys=None,
            public_key_auth=self.resolved.public_key, preferred_auth=list(preferred) or _METHODS,
            known_hosts=_trusted_lists(self.gate.keys),
            host_key_alias=self.resolved.host_key_alias, x509_trusted_certs=None, gss_host=None,
            server_host_key_algs=self._host_key_algorithms(have.host_keys),
            encryption_algs=have.ciphers, mac_algs=have.macs, kex_algs=have.key_exchanges,
            signature_algs=have.signatures, compression_algs=_COMPRESSED if wire.compressed else _PLAIN,
            rekey_bytes=wire.rekey_bytes or (), rekey_seconds=wire.rekey_s or (),
            agent_forwarding=False, connect_timeout=None, login_timeout=0, utf8_decode_errors="replace",
            keepalive_interval=limits.keepalive_s, keepalive_count_max=limits.keepalive_count,
        )  # fmt: skip

    def _host_key_algorithms(self, allowed: Sequence[str]) -> list[str]:
        """Return the host key types to ask for: known ones first, as OpenSSH does; certificates if judged."""
        allowed = allowed or (*map(_certificate_type, HOST_KEY_TYPES), *HOST_KEY_TYPES)
        certificates = [name for name in allowed if is_certificate(name)]
        wanted = [name for name in allowed if not is_certificate(name)]
        known = {_SIGNED_AS.get(name, name) for name in self.gate.keys.algorithms()}
        wanted.sort(key=lambda name: _SIGNED_AS.get(name, name) not in known)
        return [*certificates, *wanted] if self.gate.keys.marked("@cert-authority") else wanted

    async def close(self) -> None:
        """Let go of the ssh-agent."""
        await self.keys.close()

    def fault(self, error: Exception) -> LinkFault:
        """Put what the library raised in words."""
        where, why = self.resolved.where, str(error) or type(error).__name__
        if self.interview.open_question:
            return fault("unanswered", where=where, why=why)
        if self.interview.given_up:
            return fault("given_up", where=where)
        if isinstance(error, asyncssh.PermissionDenied):
            self.interview.refused()
            refused = self._not_let_in(where)
            refused.for_program = self._left_to_ssh()
            return refused
        if isinstance(error, asyncssh.HostKeyNotVerifiable):
            return self._untrusted(why)
        if isinstance(error, asyncssh.KeyExchangeFailed):
            names = " and ".join(self.resolved.algorithms.narrowed)
            row = "no_agreement_here" if names else "no_agreement"
            strangers = fault(row, where=where, why=why, names=names)
            strangers.for_program = f"the SSH library here has nothing in common with it ({why})"
            return strangers
        if isinstance(error, asyncssh.ProtocolError):
            if "uthentication failures" in why:
                self.interview.refused()
                return fault("too_many_keys", where=where, tried=self.keys.told([]))
            return fault("not_ssh", where=where, why=why)
        return self._closed_early(error, why)

    def _not_let_in(self, where: str) -> LinkFault:
        if self.keys.stayed_locked and not self.interview.typed:
            return self.keys.locked_fault()
        methods = ", ".join(self.methods) or "no way that is known here"
        user, tried, command = self.resolved.user, self.keys.told(self.methods), self.resolved.ssh
        return fault("auth", user=user, where=where, methods=methods, tried=tried, command=command)

    def _untrusted(self, why: str) -> LinkFault:
        """Return why the host's key is not trusted; a ticket may vouch for one that is only unknown."""
        seen = self.gate.fault or fault("host_certificate", where=self.resolved.where, why=why)
        if self.gate.unknown is not None and self.resolved.left_to_ssh.gssapi_key_exchange:
            seen.for_program = "only ssh itself can trust a host by a Kerberos ticket (GSSAPI)"
        return seen

    def _left_to_ssh(self) -> str:
        """Say what the server may take and the library cannot give: a touched key, a ticket; "" for none.

        No method is known where the server takes none that the library asks for anything.
        """
        if self.keys.touched:
            return "only ssh itself can use a key on a security key"
        alone = self.resolved.left_to_ssh
        if alone.hostbased and "hostbased" in self.methods:
            return "only ssh itself can log in by the key of this machine (HostbasedAuthentication)"
        ticket = alone.gssapi and ("gssapi-with-mic" in self.methods or not self.methods)
        return "only ssh itself can log in with a Kerberos ticket (GSSAPI)" if ticket else ""

    def _closed_early(self, error: Exception, why: str) -> LinkFault:
        """Tell a port that never spoke SSH from a host that ended the talk."""
        where, connection = self.resolved.where, self.connection
        if connection is None or not self.spoke:
            return fault("never_spoke", where=where, why=why)
        lost = isinstance(error, asyncssh.ConnectionLost) or not isinstance(error, asyncssh.DisconnectError)
        agreed = connection.get_extra_info("send_cipher") is not None
        names = "" if agreed else " and ".join(self.resolved.algorithms.narrowed)
        row = "closed_early_here" if names else "closed_early"
        ended = fault(row if lost else "disconnected", where=where, why=why, names=names)
        # A server that has nothing in common hangs up, and that may arrive before its own list is read.
        if not agreed:
            ended.for_program = "it broke the key exchange with the SSH library here off"
        return ended

    def note_methods(self) -> None:
        """Keep what the server takes; asyncssh strikes its list off while it tries."""
        if self.connection is not None:
            left = self.connection.get_server_auth_methods()
            self.methods += [method for method in left if method not in self.methods]


class _Client(asyncssh.SSHClient):
    """Answers asyncssh's questions from a Login."""

    def __init__(self, login: Login) -> None:
        self._login = login

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        self._login.connection = conn
        peer = cast("tuple[object, ...] | str | None", conn.get_extra_info("peername"))
        self._login.address = str(peer[0]) if isinstance(peer, tuple) else ""

    def validate_host_public_key(self, host: str, addr: str, port: int, key: asyncssh.SSHKey) -> bool:
        return self._login.gate.admits(key.get_algorithm(), key.public_data)

    def auth_banner_received(self, msg: str, lang: str) -> None:
        self._login.interview.heard_banner(msg)

    async def public_key_auth_requested(self) -> asyncssh.SSHKeyPair | None:
        self._login.note_methods()
        return await self._login.keys.next()

    async def password_auth_requested(self) -> str | None:
        self._login.note_methods()
        return await self._login.interview.password()

    def kbdint_auth_requested(self) -> str | None:
        self._login.note_methods()
        login = self._login
        return login.resolved.asking.devices if login.interview.begins_challenge() else None

    async def kbdint_challenge_received(
        self, name: str, instructions: str, lang: str, prompts: Sequence[tuple[str, bool]]
    ) -> Sequence[str] | None:
        return await self._login.interview.challenge(name, instructions, prompts)


def _certificate_type(name: str) -> str:
    return f"{name.removesuffix('@openssh.com')}-cert-v01@openssh.com"


def _trusted_lists(keys: HostKeys) -> tuple[list[asyncssh.SSHKey], ...]:
    """Return asyncssh's seven lists: only authorities and revoked keys; plain keys are judged by the gate."""
    authorities = _imported(keys.marked("@cert-authority"))
    revoked = _imported(keys.marked("@revoked"))
    return [], authorities, revoked, [], [], [], []


def _imported(keys: list[KnownKey]) -> list[asyncssh.SSHKey]:
    found: list[asyncssh.SSHKey] = []
    for key in keys:
        try:
            found.append(asyncssh.import_public_key(key.text))
        except asyncssh.KeyImportError:
            continue  # of a kind that this library does not know, so no host can show it here
    return found
