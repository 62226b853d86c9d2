"""A pair: what two boots have between them, seen from one of them.

Beside keys of their own they have, of each other, the key under which the other one seals what is
for all: its group key. All who hear it have that key, so it shows no sender; a code for each
receiver does, under a key that only sender and receiver have.

    datagram for one     clear header, sealed under the pair's key
    datagram for all     clear header, sealed under the sender's group key, codes, their number

A code is GMAC over the sealed bytes, with the datagram's counter as nonce. The receiver makes the
one that it expects, and looks whether it is there. Codes of others mean nothing to it: who alters
them on the way keeps the datagram from these.

Source. NIST SP 800-38D (GMAC); decision 174 compares it with signatures and hashes.

Invariants.
  C1  Who has a sender's group key, but is not the sender, makes nothing that a receiver opens.
  C2  Of one sender at most two group keys are kept, the former `former_key_s` at most.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from groupcore.identity.card import Card, OwnCard
from groupcore.seal import KEY_BYTES, TAG_BYTES, Cipher

CODE_BYTES = TAG_BYTES
CODES_MAX = 255
NO_CODES = 1
"""What a datagram for all has behind what is sealed, beside codes: their number."""


class CodedCipher:
    """What opens the datagrams for all of one sender under one of its group keys."""

    __slots__ = ("_cipher", "_code")

    def __init__(self, key: bytes, code: AESGCM) -> None:
        self._cipher = AESGCM(key)
        self._code = code

    def encrypt(self, nonce: bytes, data: bytes, associated_data: bytes | None) -> bytes:
        """Nobody seals with another one's group key."""
        raise AssertionError("this is the receiver's side")

    def decrypt(
        self, nonce: bytes, data: bytes | memoryview, associated_data: bytes | memoryview | None
    ) -> bytes:
        """The plaintext, when the sender has coded it for this receiver; else InvalidTag (C1)."""
        sealed = coded_body(memoryview(data), self._code, nonce)
        return self._cipher.decrypt(nonce, sealed, associated_data)


def coded_body(data: memoryview, code: AESGCM, nonce: bytes) -> memoryview:
    """What is sealed, when one of the codes behind it is of this key; else InvalidTag."""
    end = len(data) - NO_CODES - CODE_BYTES * data[-1] if data else -1
    if end < TAG_BYTES:
        raise InvalidTag
    sealed, codes = data[:end], data[end:-NO_CODES].tobytes()
    at = codes.find(code.encrypt(nonce, b"", sealed))
    if at < 0 or at % CODE_BYTES:
        raise InvalidTag
    return sealed


class Pair:
    """Keys of this boot with one other. `sealing`, `coding`: for what goes there.

    `group` has the other one's group keys by number, the newest last, `former_until` says how long
    the former is kept. `given_at`: when the other one was given this boot's, `taken`: the number of
    the last one that it has said to have, `reminded_at`: when it was given one again.
    """

    __slots__ = (
        "_expecting",
        "card",
        "coding",
        "former_until",
        "given_at",
        "group",
        "opening",
        "reminded_at",
        "sealing",
        "taken",
    )

    def __init__(self, own: OwnCard, card: Card) -> None:
        """WireError `bad_card` when the other one's half is none."""
        sealing, coding, opening, expecting = own.keys_with(card)
        self.card = card
        self.sealing = AESGCM(sealing)
        self.coding = AESGCM(coding)
        self.opening: Cipher = AESGCM(opening)
        self._expecting = AESGCM(expecting)
        self.group: dict[int, Cipher] = {}
        self.former_until = float("inf")
        self.given_at = float("-inf")
        self.reminded_at = float("-inf")
        self.taken: int | None = None

    def take_group_key(self, number: int, key: bytes, former_until: float) -> list[int]:
        """Open under this group key of the other one from now on; which numbers are over (C2)."""
        assert len(key) == KEY_BYTES, "checked where it is read"
        if number in self.group:
            return []
        self.group[number] = CodedCipher(key, self._expecting)
        self.former_until = former_until if len(self.group) > 1 else float("inf")
        over = list(self.group)[:-2]
        for each in over:
            del self.group[each]
        return over

    def end_former(self, now: float) -> list[int]:
        """Which group keys are over by now (C2)."""
        if now < self.former_until:
            return []
        self.former_until = float("inf")
        over = list(self.group)[:-1]
        for each in over:
            del self.group[each]
        return over
