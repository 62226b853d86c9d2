"""Key rotation: the nodes of a cluster take a new key together, while they work.

Idea. The new key comes to every node's key file by a way of its own: sent under the old one it
would be known to whoever has stolen that. One node offers it by its epoch and print; each member
reads its file and says whether it has the key. Once all have it, all seal with it; once all do,
the former keys are accepted no more. What is said is said in the control plane's order, so every
node takes each step at the same place of it.

Place. Above the control plane, beneath whoever has the files (`aio.keys`); no file, no time here.
Source. Threat model T5 (add, use, remove); fault matrix row 48.

Invariants.
  K1  A node seals with the offered key only when every member of its view has said to have it.
  K2  A former key is let go only when every member of the view has said to seal with the new one.
  K3  A member that lacks the key ends the rotation for all, by name and reason, before anybody
      has sealed with it.
  K4  Who offered may die: the first member of the next view offers again, also for members that
      come while a rotation is under way. Who joins a cluster that uses the newer key already, and
      still accepts a former one, offers it itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from msgpack import Packer, unpackb
from msgpack.exceptions import UnpackException

from groupcore.view import Address

TOPIC = "keys"
"""Under which the control plane carries what is said here."""
REASON_MAX = 200

_packer = Packer(use_bin_type=True, autoreset=True)


class Saying(IntEnum):
    """What is said of a key: who offers it, who has it or lacks it, who seals with it."""

    OFFER = 0
    HAVE = 1
    LACK = 2
    USE = 3


@dataclass(frozen=True, slots=True)
class Word:
    """What one node says to all: `key` is the print of the key, `reason` why it is lacked."""

    kind: Saying
    epoch: int
    key: bytes
    reason: str = ""

    def packed(self) -> bytes:
        """As the control plane carries it."""
        packed: bytes = _packer.pack([self.kind, self.epoch, self.key, self.reason[:REASON_MAX]])
        return packed


def unpack_word(body: bytes) -> Word | None:
    """What was said; None when it is no word of this version."""
    try:
        value = unpackb(body, raw=False, max_ext_len=0, max_map_len=0)
    except (UnpackException, ValueError, TypeError, RecursionError):
        return None
    match value:
        case [int() as kind, int() as epoch, bytes() as key, str() as reason] if (
            0 <= kind < len(Saying) and 0 <= epoch <= 255
        ):
            return Word(Saying(kind), epoch, key, reason[:REASON_MAX])
    return None


class Step:
    """What a node is to do now."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Say(Step):
    """Say this in the order."""

    word: Word


@dataclass(frozen=True, slots=True)
class Look(Step):
    """Look whether the key is there, accept it from now on, and say so: HAVE, or LACK."""

    epoch: int
    key: bytes


@dataclass(frozen=True, slots=True)
class Seal(Step):
    """Seal with the key of this epoch from now on."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Retire(Step):
    """Accept no other key than that of this epoch any more, and keep no other."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Fail(Step):
    """There will be no new key, for this reason."""

    reason: str


@dataclass(slots=True)
class KeyRotation:
    """One node's. `offered` is the key on offer, epoch and print, until all use it."""

    me: Address
    members: tuple[Address, ...] = ()
    offered: tuple[int, bytes] | None = None
    have: set[Address] = field(default_factory=set)
    using: set[Address] = field(default_factory=set)

    def install(
        self, members: Sequence[Address], half_way: tuple[int, bytes] | None = None
    ) -> list[Step]:
        """A view begins: who is gone is not waited for, who is new is asked (K4).

        `half_way`: the key that this node seals with, if it accepts former ones beside it.
        """
        first, self.members = not self.members, tuple(members)
        wanted = self.offered
        if wanted is not None and self.members[0] != self.me:
            return []
        if wanted is None and first:
            wanted = half_way
        return [] if wanted is None else [Say(Word(Saying.OFFER, *wanted))]

    def hear(self, by: Address, word: Word) -> list[Step]:
        """Somebody has said this, at its place in the order."""
        if by not in self.members:
            return []
        key = (word.epoch, word.key)
        if word.kind is Saying.OFFER:
            self.offered, self.have, self.using = key, set(), set()
            return [Look(*key)]
        if key != self.offered:
            return []  # of an offer that another one has replaced
        match word.kind:
            case Saying.HAVE:
                self.have.add(by)
                return self._seal(*key) if self._all(self.have) else []
            case Saying.LACK:
                self.offered = None
                return [Fail(f"{by.name}: {word.reason}")]
            case Saying.USE:
                self.using.add(by)
                if not self._all(self.using):
                    return []
                self.offered = None
                return [Retire(word.epoch)]

    def _seal(self, epoch: int, key: bytes) -> list[Step]:
        return [Seal(epoch), Say(Word(Saying.USE, epoch, key))]

    def _all(self, said: set[Address]) -> bool:
        return said.issuperset(self.members)
