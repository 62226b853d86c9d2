"""Handshake of a connection for states: from one cluster key to keys of this connection alone.

Idea. Each end draws an X25519 key pair for this one connection and sends the public half. The keys
of both directions are derived from what the two halves give together, from the cluster's key, and
from all that was said. So who lacks the cluster's key opens nothing, and who gets it later opens no
recording: the private halves are gone with the connection.

Source. docs/threats.md, T1 and T3; RFC 7748 (X25519), RFC 5869 (HKDF).

Invariants.
  K1  Two connections never have the same keys.
  K2  A recording opens for nobody who gets the cluster's key afterwards, but for one with a peer of
      version 2, which sends random bytes where this one sends a public half.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from groupcore.aio.errors import TransferError
from groupcore.aio.transfer_identity import Showing
from groupcore.identity.card import Credentials
from groupcore.seal import KEY_BYTES, Keyring

HALF_BYTES = 32
"""A public half, or with version 2 random bytes."""
SIGNED, FRESH, BEFORE = 4, 3, 2
"""The versions of the handshake: with certificates, where nodes have them; without; and without
halves, which is still answered where there are no certificates."""
MAGIC = b"GCST"
HELLO_BYTES = len(MAGIC) + 2 + HALF_BYTES
"""How a caller begins: magic, version, the epoch of its key, its half."""


@dataclass(frozen=True, slots=True)
class Half:
    """What one end draws for one connection: `public` is sent, `private` leaves with it."""

    version: int
    public: bytes
    private: X25519PrivateKey | None = field(repr=False)

    @classmethod
    def drawn(cls, version: int = FRESH) -> Half:
        """A new one."""
        if version == BEFORE:
            return cls(version, secrets.token_bytes(HALF_BYTES), None)
        private = X25519PrivateKey.generate()
        return cls(version, private.public_key().public_bytes_raw(), private)

    def shared_with(self, other: bytes) -> bytes:
        """What this half and the other end's public one give; TransferError when it is none."""
        if self.private is None:
            return b""
        try:
            return self.private.exchange(X25519PublicKey.from_public_bytes(other))
        except ValueError:
            raise TransferError("the other end's half is no public key") from None


@dataclass(frozen=True, slots=True)
class Secret:
    """What both ends of a connection know: the cluster's name and its keys.

    `credentials`: what this end shows of itself where nodes have identities; nobody without one is
    spoken to then.
    """

    cluster: str
    ring: Keyring
    credentials: Credentials | None = None

    @property
    def versions(self) -> tuple[int, ...]:
        """Which handshakes this end takes, the best first."""
        return (FRESH, BEFORE) if self.credentials is None else (SIGNED,)

    def version_of(self, hello: bytes) -> int:
        """The version that a caller begins with; TransferError when it is none of these."""
        version = hello[len(MAGIC)]
        if not hello.startswith(MAGIC) or version not in (SIGNED, FRESH, BEFORE):
            raise TransferError("the caller speaks another protocol")
        if version not in self.versions:
            shows = "a certificate" if version == SIGNED else "no certificate"
            raise TransferError(f"the caller has {shows}, other than the nodes here")
        return version

    def showing(self, hello: bytes, answer: bytes, half: Half) -> Showing | None:
        """Who both ends are is shown with it; None where nodes have no identities."""
        if self.credentials is None:
            return None
        caller, server = self.keys(hello, answer, half, b"shown ")
        return Showing(self.credentials, hello + answer, caller, server)

    def hello(self, half: Half) -> bytes:
        """How a caller with this half begins."""
        return MAGIC + bytes((half.version, self.ring.current)) + half.public

    def keys(
        self, hello: bytes, answer: bytes, half: Half, what: bytes = b""
    ) -> tuple[AESGCM, AESGCM]:
        """The ciphers of one connection: of the caller's frames, and of the server's.

        `half` is one's own; `answer` the server's public one. TransferError when there is no key
        of the epoch that the caller has named, or the other half is none.
        """
        epoch = hello[len(MAGIC) + 1]
        key = self.ring.key(epoch)
        if key is None:
            raise TransferError(f"there is no key of key epoch {epoch} here")
        said = hello[-HALF_BYTES:]
        shared = half.shared_with(answer if half.public == said else said)
        info = b"groupcore transfer v%d " % half.version + what + self.cluster.encode()
        salt = hello[len(MAGIC) + 1 :] + answer
        both = HKDF(SHA256(), 2 * KEY_BYTES, salt=salt, info=info).derive(key + shared)
        return AESGCM(both[:KEY_BYTES]), AESGCM(both[KEY_BYTES:])
