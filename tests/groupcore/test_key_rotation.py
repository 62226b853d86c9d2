"""The rules of key rotation (K1 to K4), by hand and in random orders of what may happen."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from random import Random

import pytest

from groupcore.key_rotation import (
    Fail,
    KeyRotation,
    Look,
    Retire,
    Say,
    Saying,
    Seal,
    Word,
    unpack_word,
)
from groupcore.view import Address

A, B, C = (Address(name, 1) for name in "abc")
KEY = (7, b"print of")
OTHER = (9, b"of other")


def rotation(me: Address = A, *members: Address) -> KeyRotation:
    made = KeyRotation(me)
    assert made.install(members or (A, B, C)) == []
    return made


def test_an_offer_has_every_node_look_for_the_key() -> None:
    assert rotation().hear(B, Word(Saying.OFFER, *KEY)) == [Look(*KEY)]


def test_the_key_is_used_once_every_member_has_it() -> None:  # K1
    made = rotation()
    made.hear(B, Word(Saying.OFFER, *KEY))
    assert made.hear(A, Word(Saying.HAVE, *KEY)) == []
    assert made.hear(B, Word(Saying.HAVE, *KEY)) == []
    assert made.hear(C, Word(Saying.HAVE, *KEY)) == [Seal(7), Say(Word(Saying.USE, *KEY))]


def test_former_keys_go_once_every_member_uses_the_new_one() -> None:  # K2
    made = rotation()
    made.hear(B, Word(Saying.OFFER, *KEY))
    for member in (A, B, C):
        made.hear(member, Word(Saying.HAVE, *KEY))
    assert made.hear(A, Word(Saying.USE, *KEY)) == []
    assert made.hear(B, Word(Saying.USE, *KEY)) == []
    assert made.hear(C, Word(Saying.USE, *KEY)) == [Retire(7)]


def test_who_lacks_the_key_ends_the_rotation_by_name_and_reason() -> None:  # K3
    made = rotation()
    made.hear(B, Word(Saying.OFFER, *KEY))
    made.hear(A, Word(Saying.HAVE, *KEY))
    assert made.hear(C, Word(Saying.LACK, *KEY, "no such file")) == [Fail("c: no such file")]
    assert made.hear(B, Word(Saying.HAVE, *KEY)) == []


def test_the_first_of_the_next_view_offers_again() -> None:  # K4
    second, third = rotation(B), rotation(C)
    for made in (second, third):
        made.hear(A, Word(Saying.OFFER, *KEY))
    assert second.install((B, C)) == [Say(Word(Saying.OFFER, *KEY))]
    assert third.install((B, C)) == []


def test_who_joins_while_a_rotation_is_under_way_is_asked_as_well() -> None:  # K4
    made = rotation(A, A)
    made.hear(A, Word(Saying.OFFER, *KEY))
    assert made.install((A, B)) == [Say(Word(Saying.OFFER, *KEY))]
    for member in (A, B):
        made.hear(member, Word(Saying.OFFER, *KEY))
        made.hear(member, Word(Saying.HAVE, *KEY))
    assert made.install((A,)) == [Say(Word(Saying.OFFER, *KEY))]


def test_who_joins_with_a_former_key_beside_the_one_in_use_offers_that() -> None:  # K4
    assert KeyRotation(B).install((A, B), half_way=KEY) == [Say(Word(Saying.OFFER, *KEY))]
    made = rotation(B)
    assert made.install((A, B), half_way=KEY) == []


@pytest.mark.parametrize(
    "word", [Word(Saying.HAVE, *OTHER), Word(Saying.USE, *OTHER), Word(Saying.LACK, *OTHER, "x")]
)
def test_what_is_said_of_a_replaced_offer_counts_no_more(word: Word) -> None:
    made = rotation(A, A)
    made.hear(A, Word(Saying.OFFER, *OTHER))
    made.hear(A, Word(Saying.OFFER, *KEY))
    assert made.hear(A, word) == []


def test_who_is_in_no_view_is_not_heard() -> None:
    assert rotation(A, A, B).hear(C, Word(Saying.OFFER, *KEY)) == []


@pytest.mark.parametrize(
    "body", [b"", b"\xc1", b"\x01", b"\x94\x09\x01\xc4\x00\xa0", b"\x93\x00\x01\xc4\x00"]
)
def test_what_is_no_word_is_none(body: bytes) -> None:
    assert unpack_word(body) is None


def test_a_word_is_read_as_it_was_packed() -> None:
    word = Word(Saying.LACK, *KEY, "the reason")
    assert unpack_word(word.packed()) == word
    assert unpack_word(Word(Saying.LACK, *KEY, "x" * 1000).packed()) == Word(
        Saying.LACK, *KEY, "x" * 200
    )


# --- in random orders -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Said:
    """A word and whose it is."""

    by: Address
    word: Word


@dataclass
class Place:
    """A node of the model: the epochs that it accepts, the one that it seals with."""

    rotation: KeyRotation
    has_new: bool
    accepts: set[int] = field(default_factory=lambda: {1})
    seals: int = 1
    heard: int = 0


class Model:
    """An order of words and views that nodes take at their own pace; nodes come and go."""

    def __init__(self, random: Random, lacking: bool) -> None:
        self.random = random
        self.order: list[Said | tuple[Address, ...]] = []
        self.places: dict[Address, Place] = {}
        self.lacking = lacking
        self.failed: list[str] = []
        self.waiting: deque[Said] = deque()
        self.members: tuple[Address, ...] = ()
        for name in "abc":
            address = Address(name, 1)
            self.places[address] = Place(KeyRotation(address), not (lacking and name == "c"))
            self.members = (*self.members, address)
        self.order.append(self.members)

    def come(self, name: str) -> None:
        """A node joins, with the words before its view told to nobody anew."""
        incarnation = 1 + sum(one.name == name for one in self.places)
        address = Address(name, incarnation)
        lacks = self.lacking and name == "c"
        place = Place(KeyRotation(address), not lacks, heard=len(self.order))
        if lacks:
            return  # the others may seal already with what it cannot open
        place.accepts = {1, 7}  # both stand in its file
        if any(self.places[member].seals == 7 for member in self.members):
            place.seals = 7  # it has heard one use the newer
        self.places[address] = place
        self.members = (*self.members, address)
        self.order.append(self.members)

    def go(self) -> None:
        """A node is gone; what it was about to say may be said yet, or never."""
        gone = self.random.choice(self.members)
        self.members = tuple(one for one in self.members if one != gone)
        self.waiting = deque(said for said in self.waiting if said.by != gone)
        del self.places[gone]
        self.order.append(self.members)

    def say(self) -> None:
        """The oldest word of some node gets its place in the order."""
        by = self.random.choice(sorted({said.by for said in self.waiting}))
        said = next(one for one in self.waiting if one.by == by)
        self.waiting.remove(said)
        self.order.append(said)

    def hear(self, me: Address) -> None:
        """A node comes to the next thing in the order."""
        place = self.places[me]
        said = self.order[place.heard]
        place.heard += 1
        if isinstance(said, Said):
            steps = place.rotation.hear(said.by, said.word)
        else:
            half_way = KEY if place.seals == 7 and place.accepts == {1, 7} else None
            steps = place.rotation.install(said, half_way)
        for step in steps:
            match step:
                case Say(word):
                    self.waiting.append(Said(me, word))
                case Look(epoch, key):
                    if place.has_new:
                        place.accepts.add(epoch)
                    kind = Saying.HAVE if place.has_new else Saying.LACK
                    word = Word(kind, epoch, key, "" if place.has_new else "no")
                    self.waiting.append(Said(me, word))
                case Seal(epoch):
                    place.seals = epoch
                case Retire(epoch):
                    place.accepts = {epoch}
                case Fail(reason):
                    self.failed.append(reason)
        self.check()

    def check(self) -> None:
        """Whoever hears another one can open what it sends, unless it has yet to hear of it."""
        for place in self.places.values():
            assert place.seals in place.accepts
            for other in self.places.values():
                assert other.seals in place.accepts, "sealed with what a member does not accept"

    def run(self, changes: int) -> None:
        self.waiting.append(Said(self.members[0], Word(Saying.OFFER, *KEY)))
        while True:
            able = [me for me, place in self.places.items() if place.heard < len(self.order)]
            if changes and self.random.random() < 0.1:
                changes -= 1
                if len(self.members) > 1 and self.random.random() < 0.6:
                    self.go()
                elif len(self.members) < 5:
                    self.come(self.random.choice("abcdef"))
            elif able and (not self.waiting or self.random.random() < 0.7):
                self.hear(self.random.choice(able))
            elif self.waiting:
                self.say()
            else:
                return


@pytest.mark.parametrize("seed", range(300))
def test_nobody_seals_with_what_another_member_does_not_accept(seed: int) -> None:  # K1 to K4
    random = Random(seed)
    model = Model(random, lacking=seed % 3 == 0)
    model.run(changes=random.randrange(6))
    seals = {place.seals for place in model.places.values()}
    accepts = {frozenset(place.accepts) for place in model.places.values()}
    if model.failed or (seed % 3 == 0 and any(one.name == "c" for one in model.members)):
        return
    offered = any(isinstance(said, Said) for said in model.order)
    if offered:
        assert seals == {7}, "all have the key, so all use it in the end"
        assert accepts == {frozenset({7})}, "and accept no other"
