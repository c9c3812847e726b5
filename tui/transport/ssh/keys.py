"""The keys offered at a login, in OpenSSH's order, with a note of what was offered and what was passed over.

Imports asyncssh: import this module only where a connection is made.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path

import asyncssh
from asyncssh.public_key import CERT_TYPE_USER, SSHOpenSSHCertificate
from asyncssh.sk import sk_available

from tui.transport.faults import fault, sentence_of
from tui.transport.pipe import LinkFault
from tui.transport.ssh import key_file
from tui.transport.ssh.interview import Interview
from tui.transport.ssh.key_pairs import FileKeyPair, public_blob, public_key, short, signs_as, unlocked
from tui.transport.ssh.known_hosts import fingerprint, short_algorithm
from tui.transport.ssh.limits import Manners
from tui.transport.ssh.resolved import Resolved, ToAgent


class LoginKeys:
    """Hands out the keys of one login: the agent's that the configuration names, its others, then files.

    A file whose key the agent has already offered is passed over, as is one locked by a passphrase that
    nobody can be asked for. Where its public half is known, that waits until the server wants the key.
    """

    def __init__(self, resolved: Resolved, interview: Interview, manners: Manners) -> None:
        answers = manners.answers
        self._resolved = resolved
        self._interview = interview
        self._manners = manners
        self._unlocked = answers.keys
        self._shared = answers.shared
        self._in_agent = answers.in_agent
        self._open: dict[Path, asyncssh.SSHKey] = {}
        self._agent: asyncssh.SSHAgentClient | None = None
        self._certificates: list[asyncssh.SSHCertificate] = []
        self._keys: AsyncGenerator[asyncssh.SSHKeyPair, None] | None = None
        self.offered: list[str] = []
        self.locked: list[Path] = []
        self.stayed_locked: list[Path] = []
        self._why_locked: dict[Path, str] = {}
        self.passed_over: list[str] = []
        self.touched: list[Path] = []
        self.agent_state = ""

    async def next(self) -> asyncssh.SSHKeyPair | None:
        """Return the next key to offer, None when there is no more."""
        if self._keys is None:
            self._keys = self._all()
        return await anext(self._keys, None)

    async def close(self) -> None:
        """Let go of the agent."""
        if self._keys is not None:
            await self._keys.aclose()
        await self._let_agent_go()

    async def _let_agent_go(self) -> None:
        agent, self._agent = self._agent, None
        if agent is not None:
            agent.close()
            with suppress(OSError):  # the agent was gone already
                await agent.wait_closed()

    def told(self, methods: list[str]) -> str:
        """Say what was tried and what was not, for the sentence of a refused login."""
        if methods and "publickey" not in methods:
            typed = "what was typed was not taken" if self._interview.typed else "no password was given"
            return f"no key is wanted there, and {typed}"
        parts = [f"it refused {', '.join(self.offered)}" if self.offered else "there was no key to offer"]
        if self.locked:
            names = " ".join(short(path) for path in self.locked)
            parts.append(f"locked by a passphrase: {self._named(self.locked)} (unlock with: ssh-add {names})")
        parts += ["what was typed was not taken"] if self._interview.typed else []
        parts += self.passed_over
        parts += [self.agent_state] if self.agent_state else []
        return "; ".join(parts)

    def locked_fault(self) -> LinkFault:
        """Return the fault of a login that the server would have granted to a key that stayed locked."""
        files = " ".join(short(path) for path in self.stayed_locked)
        user, where, keys = self._resolved.user, self._resolved.where, self._named(self.stayed_locked)
        return fault("auth_locked", where=where, user=user, keys=keys, files=files)

    def _named(self, paths: list[Path]) -> str:
        """Name key files, each with what came of the question for its passphrase."""
        whys = ((short(path), self._why_locked.get(path)) for path in paths)
        return ", ".join(f"{name} ({why})" if why else name for name, why in whys)

    async def _all(self) -> AsyncGenerator[asyncssh.SSHKeyPair, None]:
        self._certificates = self._read_certificates()
        files = {path: public_blob(path) for path in self._resolved.identity_files}
        seen: set[bytes] = set()
        for pair in self._in_order(await self._agent_keys(), list(files.values())):
            seen.add(pair.key_public_data)
            if self._is_allowed(pair, "a key of the agent"):
                yield self._noted(pair, "agent")
        for path, blob in files.items():
            if (blob is not None and blob in seen) or self._is_too_open(path):
                continue
            for pair in self._read_private(path) or await self._locked_pairs(path, blob):
                if self._is_allowed(pair, short(path)):
                    yield self._noted(pair, short(path))

    def _is_too_open(self, path: Path) -> bool:
        if key_file.look_at(path) is None or not key_file.is_open_to_others(path):
            return False
        self.passed_over.append(
            f"{short(path)} may be read by others, so ssh does not use it (chmod 600 {short(path)})"
        )
        return True

    def _is_allowed(self, pair: asyncssh.SSHKeyPair, source: str) -> bool:
        """Say whether the configuration allows keys of this kind and length."""
        bits, required = key_file.rsa_bits(pair.key_public_data), self._resolved.required_rsa_bits
        if bits is not None and bits < required:
            self.passed_over.append(
                f"{source} has {bits} bits, and RequiredRSASize of the configuration wants {required}"
            )
            return False
        allowed = self._resolved.algorithms.signatures
        kind = pair.algorithm.decode()
        if not allowed or signs_as(kind) & set(allowed):
            return True
        left_out = f"{source} ({short_algorithm(kind)}) is left out by PubkeyAcceptedAlgorithms"
        if left_out not in self.passed_over:
            self.passed_over.append(left_out)
        return False

    def _noted(self, pair: asyncssh.SSHKeyPair, source: str) -> asyncssh.SSHKeyPair:
        kind = short_algorithm(pair.algorithm.decode())
        certificate = " certificate" if pair.has_cert else ""
        flaw = self._flaw(pair) if pair.has_cert else ""
        self.offered.append(f"{kind}{certificate} {fingerprint(pair.key_public_data)} ({source}{flaw})")
        return pair

    def _flaw(self, pair: asyncssh.SSHKeyPair) -> str:
        """Say what makes a certificate one that cannot let this user in."""
        for each in self._certificates:
            of_key = each.key.public_data == pair.key_public_data
            if of_key and isinstance(each, SSHOpenSSHCertificate):
                try:
                    each.validate(CERT_TYPE_USER, self._resolved.user)
                except ValueError as error:
                    return f": {str(error)[:1].lower()}{str(error)[1:]}"
        return ""

    def _in_order(
        self, pairs: list[asyncssh.SSHKeyPair], named: list[bytes | None]
    ) -> list[asyncssh.SSHKeyPair]:
        """Put the keys that the configuration names first; with IdentitiesOnly leave the others out."""
        first = [pair for blob in named for pair in pairs if pair.key_public_data == blob]
        rest = [pair for pair in pairs if pair.key_public_data not in named]
        ordered = first if self._resolved.identities_only else [*first, *rest]
        return list(asyncssh.load_keypairs(ordered, certlist=self._certificates))

    async def _agent_keys(self) -> list[asyncssh.SSHKeyPair]:
        place = self._resolved.identity_agent
        if place is None:
            self.agent_state = "no ssh-agent"
            return []
        try:
            async with asyncio.timeout(self._manners.limits.agent_s):
                self._agent = await asyncssh.connect_agent(place)
                keys = list(await self._agent.get_keys())
        except TimeoutError:
            await self._leave_agent(place)
            return []
        except (OSError, ValueError) as error:
            self.agent_state = f"the ssh-agent at {place} does not answer ({error})"
            return []
        if not keys:
            self.agent_state = "the ssh-agent holds no key"
        return keys

    async def _leave_agent(self, place: str) -> None:
        """Go on without an agent that hangs, and say so: it is given no key either."""
        seconds = f"{self._manners.limits.agent_s:g}"
        self.agent_state = f"the ssh-agent at {place} did not answer within {seconds} s"
        where = self._resolved.where
        self._manners.notice(sentence_of("key_agent_silent", place=place, seconds=seconds, where=where))
        await self._let_agent_go()

    def _read_certificates(self) -> list[asyncssh.SSHCertificate]:
        """Read the certificates named, and those that lie beside the keys."""
        beside = [path.with_name(f"{path.name}-cert.pub") for path in self._resolved.identity_files]
        found: list[asyncssh.SSHCertificate] = []
        for path in (*self._resolved.certificate_files, *(path for path in beside if path.is_file())):
            try:
                found.append(asyncssh.read_certificate(path))
            except (OSError, asyncssh.KeyImportError) as error:
                self.passed_over.append(f"{short(path)} could not be read ({error})")
        return found

    def _read_private(self, path: Path) -> list[asyncssh.SSHKeyPair]:
        try:
            key = self._unlocked.get(path) or asyncssh.read_private_key(path)
        except asyncssh.KeyEncryptionError:
            self.locked.append(path)
        except asyncssh.KeyImportError as error:
            self._note_unusable(path, error)
        except OSError as error:
            self.passed_over.append(f"{short(path)} could not be read ({error.strerror})")
        else:
            if not (key.get_algorithm().startswith("sk-") and not sk_available):
                return self._open_pairs(path, key)
            self.touched.append(path)
            self.passed_over.append(f"{short(path)} is on a security key, which only ssh itself can ask")
        return []

    def _open_pairs(self, path: Path, key: asyncssh.SSHKey) -> list[asyncssh.SSHKeyPair]:
        """Return the pairs of a key that lies open; one for the agent as those that are known when used."""
        if self._resolved.to_agent is None:
            return list(asyncssh.load_keypairs([key], certlist=self._certificates))
        self._open[path] = key
        return self._pairs_of(path, key)

    def _pairs_of(self, path: Path, public: asyncssh.SSHKey) -> list[asyncssh.SSHKeyPair]:
        fitting = [each for each in self._certificates if each.key.public_data == public.public_data]
        return [FileKeyPair(public, each, self, path) for each in (*fitting, None)]

    async def _locked_pairs(self, path: Path, blob: bytes | None) -> list[asyncssh.SSHKeyPair]:
        """Return the pairs of a locked key: unlocked at once where it must be, to know what it is."""
        if path not in self.locked or not self._interview.can_ask:
            return []
        public = public_key(blob) if blob is not None else None
        if public is None:
            key = await self.unlock(path)
            return [] if key is None else self._open_pairs(path, key)
        return self._pairs_of(path, public)

    async def key_for(self, path: Path) -> asyncssh.SSHKey | None:
        """Return the key of a file that is to be used, None where it stays locked; the agent may get it.

        Called when the server has said that it takes the key that was offered last.
        """
        key = self._open.get(path) or await self.unlock(path)
        if key is None:
            self.offered.pop()  # it was not refused
            self.stayed_locked += [path] if path not in self.stayed_locked else []
        elif self._resolved.to_agent is not None and path not in self._in_agent:
            await self._give_to_agent(path, key, self._resolved.to_agent)
        return key

    async def _give_to_agent(self, path: Path, key: asyncssh.SSHKey, how: ToAgent) -> None:
        if self._agent is None:
            return
        self._in_agent.add(path)
        if not key.has_comment():
            key.set_comment(str(path))
        comment = key.get_comment(errors="replace") or str(path)
        if how.ask and not await self._interview.agrees_to_agent(str(path), comment):
            return
        try:
            await self._agent.add_keys([key], lifetime=how.lifetime_s, confirm=how.confirm)
        except (OSError, ValueError) as error:
            self._interview.tell(f"{short(path)} could not be added to the ssh-agent ({error})")

    async def unlock(self, path: Path) -> asyncssh.SSHKey | None:
        """Ask for the passphrase, unless another login does: its answer counts for this one too."""
        async with self._shared.one(path, self._interview.waiting) as question:
            if not question.told and path not in self._unlocked:
                question.outcome = await self._ask_for(path)
                question.told = not self._interview.given_up
        key = self._unlocked.get(path)
        if key is not None and path in self.locked:
            self.locked.remove(path)
        if key is None:
            self._why_locked[path] = question.outcome
        return key

    async def _ask_for(self, path: Path) -> str:
        """Ask for the passphrase until it is right, as often as allowed; say what came of it if it is not."""
        wrong = 0
        while wrong < self._resolved.asking.prompts:
            passphrase = await self._interview.passphrase(str(path))
            if not passphrase:
                break
            key = await asyncio.to_thread(unlocked, path, passphrase)
            if key is not None:
                self._unlocked[path] = key
                return ""
            wrong += 1
        if wrong == 0:
            return "no passphrase was given"
        return f"the passphrase was wrong {wrong} times" if wrong > 1 else "the passphrase was wrong"

    def _note_unusable(self, path: Path, error: asyncssh.KeyImportError) -> None:
        if "assphrase" in str(error):
            self.locked.append(path)
        elif public_blob(path) is None or path.suffix != ".pub":
            self.passed_over.append(f"{short(path)} is no key that can be used here ({error})")
