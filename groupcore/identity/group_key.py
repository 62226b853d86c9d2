"""The key under which one boot seals what is for all, and how it is changed.

Idea. Whoever is proven is given the key, sealed for it alone. When the members of the view are
others than before, there is a new key: it is sent to each member, again until each has it, and is
used from then on, or after `rekey_wait_s`. Who may lack it is given it with the next hello that
comes from there. Nothing waits meanwhile: the former key is good until the new one is used, and at
receivers for a while longer.

Invariants.
  G1  Each view with other members has keys of its own, at most one in `rekey_every_s` (the last
      change counts).
  G2  A new key goes to members of the view, and to peers that show that they are there; nothing
      that is sealed after the change opens with what a former member had.
  G3  No key is used again, and none before it was sent to each member.
"""

from __future__ import annotations

from random import Random

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from groupcore.seal import KEY_BYTES
from groupcore.transport_options import TransportOptions

NUMBERS = 256
"""Group keys of a boot are numbered modulo this: one byte of the clear header."""
AGAIN_S = 0.1
"""How often a new key is sent to who has not said to have it."""


class GroupKey:
    """One boot's. `number` and `key` are in use; `next_` waits to be."""

    def __init__(self, random: Random, options: TransportOptions) -> None:
        self._random = random
        self._options = options
        self.number = 0
        self.key = random.randbytes(KEY_BYTES)
        self.cipher = AESGCM(self.key)
        self.changes = 0
        self.next_: tuple[int, bytes] | None = None
        self._lacking: set[bytes] = set()
        self._wanted = False
        self._begun_at = float("-inf")
        self._sent_at = float("-inf")

    def change(self) -> None:
        """Have another key, soon: the members of the view are others (G1)."""
        self._wanted = True

    @property
    def changes_now(self) -> bool:
        """Whether there is something to do: most turns there is not."""
        return self._wanted or self.next_ is not None

    def due(self, now: float, members: set[bytes]) -> set[bytes]:
        """To which of the members, by identity, the next key is to be sent now."""
        if self.next_ is None:
            if not self._wanted or now - self._begun_at < self._options.rekey_every_s:
                return set()
            self._wanted = False
            self._begun_at = now
            self.next_ = (self.number + 1) % NUMBERS, self._random.randbytes(KEY_BYTES)
            self._lacking = set(members)
            self._sent_at = now
            if not members:
                self._use()
            return set(self._lacking)
        self._lacking &= members
        if not self._lacking or now - self._begun_at >= self._options.rekey_wait_s:
            self._use()
            return set()
        if now - self._sent_at < AGAIN_S:
            return set()
        self._sent_at = now
        return set(self._lacking)

    def on_taken(self, identity: bytes, number: int) -> None:
        """A member says to have the key of this number."""
        if self.next_ is not None and self.next_[0] == number:
            self._lacking.discard(identity)
            if not self._lacking:
                self._use()

    def _use(self) -> None:
        assert self.next_ is not None, "there is one to use"
        self.number, self.key = self.next_
        self.next_ = None
        self.cipher = AESGCM(self.key)
        self.changes += 1
