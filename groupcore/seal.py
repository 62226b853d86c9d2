"""Seals: every datagram is encrypted and authenticated under a key of its sender's one boot.

The clear header of a datagram is `version, kind, key epoch, sender id, boot id, counter`; the
whole of it is associated data, so no bit of it can be changed. The key is derived from the cluster
key, the cluster's name, the key epoch, the sender id and the boot id. A boot id is drawn at random
at every start, so a counter that starts at 1 with every boot never meets a key twice.

Source. Threat model T1 to T6; hot path, part 5 (a key a boot, one cipher object a sender, a plain
64-bit counter as nonce).

Invariants.
  S1  No two datagrams are sealed with the same key and nonce: one counter for all kinds of a boot.
  S2  A datagram opens only with the clear header under which it was sealed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from struct import Struct
from typing import Protocol, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from groupcore.errors import SettingsError

VERSION = 1
"""Version of the datagram's form: sealed under the cluster key."""
GROUP, PAIR = 2, 3
"""Versions of nodes with identities: sealed for all that the sender has proven itself to, with a
code for each; sealed for one (`identity.pair`)."""
DATA, CHALLENGE, PROOF, INTRODUCTION, SOUNDING, MISSING = range(6)
"""Kinds of datagrams: packets of a stack; "prove that you live"; the answer; "these I know"; a
multicast of which no copies are sent; "your multicasts do not reach me"."""
KINDS = (DATA, CHALLENGE, PROOF, INTRODUCTION, SOUNDING, MISSING)
HELLO, KEY, KEY_TAKEN = range(6, 9)
"""Kinds of nodes with identities: "this is my card"; "I shall seal with this"; "I have it"."""
ALL_KINDS = (*KINDS, HELLO, KEY, KEY_TAKEN)
KEY_BYTES = 32
BOOT_BYTES = 16
TAG_BYTES = 16
COUNTER_MAX = (1 << 64) - 1

HEADER = Struct(">BBB8s16sQ")
"""The clear header: version, kind, key epoch, sender id, boot id, counter."""
LANE_BYTES = HEADER.size - 8
"""The header without its counter: the same for all datagrams of one kind, key and boot."""
IDENTITY = slice(3, LANE_BYTES)
"""Where sender id and boot id stand: who sealed it, whatever the key epoch."""
EPOCH_OFFSET = 2
"""Where the key epoch stands in the clear header."""
BOOT_OFFSET = 11
"""Where the boot id begins in the clear header."""
NONCE_PREFIX = bytes(4)

CIPHERS: dict[str, type[AESGCM] | type[ChaCha20Poly1305]] = {
    "aes-256-gcm": AESGCM,
    "chacha20-poly1305": ChaCha20Poly1305,
}
"""What may seal, by the name in the settings."""


class Cipher(Protocol):
    """An authenticated cipher with its key; `decrypt` raises InvalidTag on anything altered."""

    def encrypt(self, nonce: bytes, data: bytes, associated_data: bytes | None) -> bytes:
        """Ciphertext and tag."""
        ...

    def decrypt(
        self, nonce: bytes, data: bytes | memoryview, associated_data: bytes | memoryview | None
    ) -> bytes:
        """The plaintext."""
        ...


def slot_of(version: int, epoch: int) -> int:
    """Under which number a peer's cipher is kept: its epoch, apart for each version."""
    return epoch if version == VERSION else version << 8 | epoch


def sender_id(name: str) -> bytes:
    """The 8 bytes by which a datagram's clear header names its sender."""
    return blake2b(name.encode(), digest_size=8).digest()


def key_epoch(key: bytes) -> int:
    """The epoch of a key, 0 to 255: it follows from the key, so nobody has to count keys."""
    return blake2b(key, digest_size=1, person=b"key epoch").digest()[0]


def key_print(key: bytes) -> bytes:
    """8 bytes by which two nodes see that they have the same key, and that tell nothing of it."""
    return blake2b(key, digest_size=8, person=b"key print").digest()


class Keyring:
    """The cluster's keys by epoch (0 to 255), one of them current: the one that seals.

    Rotation is `add` at every node, then `use` at every node, then `remove` (T5). `generation`
    grows with every removal, so that whoever keeps ciphers knows when to drop them. Keys stand in
    the order in which they were added: a later one replaces the former ones.
    """

    def __init__(
        self,
        cluster: str,
        keys: Mapping[int, bytes],
        current: int,
        cipher: str = "aes-256-gcm",
    ) -> None:
        """SettingsError when a key has not 32 bytes, an epoch is wrong or the cipher unknown."""
        if cipher not in CIPHERS:
            raise SettingsError(f"cipher {cipher!r} is unknown; take one of {', '.join(CIPHERS)}")
        if current not in keys:
            raise SettingsError(f"there is no key of the current key epoch {current}; add it")
        self.cluster = cluster
        self.current = current
        self.generation = 0
        self._cipher = CIPHERS[cipher]
        self._keys: dict[int, bytes] = {}
        for epoch, key in keys.items():
            self.add(epoch, key)

    @classmethod
    def of(cls, cluster: str, keys: Sequence[bytes], cipher: str = "aes-256-gcm") -> Self:
        """A ring of these keys, the newest last; the first seals until a later one is `heard`.

        SettingsError when one is no key, or when two have one epoch: one in 256 pairs does.
        """
        if not keys:
            raise SettingsError("there is no cluster key")
        ring = cls(cluster, {key_epoch(keys[0]): keys[0]}, key_epoch(keys[0]), cipher)
        for key in keys[1:]:
            ring.add(key_epoch(key), key)
        return ring

    @property
    def epochs(self) -> tuple[int, ...]:
        """The epochs whose keys are accepted, the newest last."""
        return tuple(self._keys)

    def key(self, epoch: int) -> bytes | None:
        """The key of an epoch, for connections beside the datagrams; None when there is none."""
        return self._keys.get(epoch)

    def heard(self, epoch: int) -> None:
        """Somebody seals with this key: so does this node, if it is newer than its current one.

        A node that was away while the key was changed, or crashed in the middle, follows so.
        """
        order = self.epochs
        if epoch in order and order.index(epoch) > order.index(self.current):
            self.current = epoch

    def use_next(self) -> None:
        """Seal with the next key, behind the last one with the first: nobody has answered yet."""
        order = self.epochs
        self.current = order[(order.index(self.current) + 1) % len(order)]

    def add(self, epoch: int, key: bytes) -> None:
        """Accept datagrams under this key too; SettingsError when it is not a key."""
        if not 0 <= epoch <= 255:
            raise SettingsError(f"key epoch {epoch} is not between 0 and 255")
        if len(key) != KEY_BYTES:
            raise SettingsError(f"the key of epoch {epoch} has {len(key)} bytes; it needs 32")
        if self._keys.get(epoch, key) != key:
            raise SettingsError(f"key epoch {epoch} has another key; take a new epoch")
        self._keys[epoch] = key

    def use(self, epoch: int) -> None:
        """Seal with this key from now on; SettingsError when it was not added before."""
        if epoch not in self._keys:
            raise SettingsError(f"there is no key of key epoch {epoch}; add it first")
        self.current = epoch

    def remove(self, epoch: int) -> None:
        """Accept nothing under this key any more; SettingsError for the current one."""
        if epoch == self.current:
            raise SettingsError(f"key epoch {epoch} is in use; use another before removing it")
        if self._keys.pop(epoch, None) is not None:
            self.generation += 1

    def cipher(self, epoch: int, sender: bytes, boot: bytes) -> Cipher | None:
        """The cipher of one boot of one sender; None when there is no key of that epoch."""
        key = self._keys.get(epoch)
        if key is None:
            return None
        info = bytes((VERSION, epoch)) + sender + boot
        derivation = HKDF(SHA256(), KEY_BYTES, salt=self.cluster.encode(), info=info)
        return self._cipher(derivation.derive(key))


class Sealer:
    """The sending side of one boot: counts and seals what this node sends."""

    def __init__(self, keys: Keyring, sender: bytes, boot: bytes, counter: int = 0) -> None:
        assert len(boot) == BOOT_BYTES, "a boot id has 16 bytes"
        self._keys = keys
        self._sender = sender
        self._boot = boot
        self._epoch = -1
        self._cipher: Cipher | None = None
        self._prefixes: tuple[bytes, ...] = ()
        self.counter = counter

    def opens(self, datagram: bytes | memoryview) -> bool:
        """Whether these bytes are sealed under this boot's current key, by whoever has it."""
        data = memoryview(datagram)
        if self._cipher is None or data[EPOCH_OFFSET] != self._epoch:
            return False  # no key is derived for what a stranger may have sent
        nonce = NONCE_PREFIX + bytes(data[LANE_BYTES : HEADER.size])
        try:
            self._cipher.decrypt(nonce, data[HEADER.size :], data[: HEADER.size])
        except InvalidTag:
            return False
        return True

    def seal(self, kind: int, plaintext: bytes) -> bytes:
        """A datagram of this kind that holds the plaintext."""
        if self._epoch != self._keys.current:
            self._epoch = self._keys.current
            self._cipher = self._keys.cipher(self._epoch, self._sender, self._boot)
            self._prefixes = tuple(
                bytes((VERSION, each, self._epoch)) + self._sender + self._boot
                for each in ALL_KINDS
            )
        assert self._cipher is not None, "the current key cannot be removed"
        self.counter += 1
        counter = self.counter.to_bytes(8, "big")
        header = self._prefixes[kind] + counter
        return header + self._cipher.encrypt(NONCE_PREFIX + counter, plaintext, header)
