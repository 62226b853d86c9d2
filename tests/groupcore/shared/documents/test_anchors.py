"""An anchor of an old version, found in blocks that have been edited, split and joined since."""

from __future__ import annotations

import random

import pytest

from groupcore.objects.refusal import BaseTooOldError
from groupcore.objects.rich_delta import Run, Side, canonical, rich
from groupcore.shared.documents import Block
from groupcore.shared.documents.anchors import found
from groupcore.shared.types import Anchor
from groupcore.shared.types.anchor import Spot
from groupcore.shared.types.history import HISTORY_MAX
from tests.groupcore.shared.documents.test_block import born, text, typed

FIRST = 0x4E00
"""Each letter of a play is another one."""


class Play:
    """Blocks in which each letter is there once."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.count = 0
        self.blocks: dict[str, Block] = {}
        self.taken: list[tuple[str, int, int, str]] = []
        """What was cut out, and from where: block, version, offset and letters."""
        for name in ("a", "b"):
            self.blocks[name] = born(name, self.words(5))

    def words(self, size: int) -> str:
        self.count += size
        return "".join(chr(FIRST + one) for one in range(self.count - size, self.count))

    def step(self) -> None:
        open_ones = sorted(name for name, block in self.blocks.items() if block.status == "open")
        name = self.draw.choice(open_ones)
        block = self.blocks[name]
        size = len(text(block))
        match self.draw.choice(["edit"] * 3 + ["split", "join", "cut", "paste", "paste", "remove"]):
            case "split":
                new = f"n{len(self.blocks)}"
                self.blocks[new] = Block()
                block.split(block.version, self.draw.randint(0, size), new).result()
                carry_all(self.blocks)
            case "join" if len(open_ones) > 1:
                into = self.draw.choice([one for one in open_ones if one != name])
                block.join(into).result()
                carry_all(self.blocks)
            case "cut" if size:
                at = self.draw.randint(0, size - 1)
                count = self.draw.randint(1, min(3, size - at))
                self.taken.append((name, block.version, at, text(block)[at : at + count]))
                block.edit(block.version, canonical([at, -count])).result()
            case "remove" if len(open_ones) > 1:
                self.taken.append((name, block.version, 0, text(block)))
                block.delete().result()
            case "paste" if self.taken:
                self.paste(block)
            case _:
                at = self.draw.randint(0, size)
                going = self.draw.randint(0, min(2, size - at))
                delta = canonical([at, Run(self.words(self.draw.randint(1, 2))), -going])
                block.edit(block.version, delta).result()

    def paste(self, block: Block) -> None:
        """What was taken out stands again, in whatever block, and its first block is told so."""
        source, version, start, words = self.taken.pop(self.draw.randrange(len(self.taken)))
        if not words:
            return
        at = self.draw.randint(0, len(text(block)))
        block.edit(block.version, canonical([at, *rich(words)])).result()
        now = block.version
        if self.draw.random() < 0.3:  # somebody is faster than who tells
            block.edit(block.version, typed(0, self.words(1))).result()
        named = (version, start, len(words), block.name, now, at)
        self.blocks[source].letters(*named).result()


def carry_all(blocks: dict[str, Block]) -> None:
    while any(block.owes for block in blocks.values()):
        for name, block in list(blocks.items()):
            for other, parcels in list(block.owes.items()):
                for parcel in list(parcels):
                    assert blocks[other].accept(name, other, parcel).result() == "done"
                    block.handed(other, parcel.number).result()


@pytest.mark.parametrize("side", ["left", "right"])
def test_an_anchor_of_an_old_version_is_found_at_its_letter(side: Side) -> None:
    compared = 0
    for seed in range(200):
        play = Play(random.Random(seed))
        anchors: list[tuple[Anchor, str]] = []
        for _ in range(10):
            for name, block in play.blocks.items():
                words = text(block)
                for at, letter in enumerate(words):
                    offset = at + 1 if side == "left" else at
                    anchors.append((Anchor(name, block.version, offset, side), letter))
            play.step()
        for anchor, letter in anchors:
            now = found(play.blocks, anchor)
            assert now is not None
            words = text(play.blocks[now.block])
            assert now.version == play.blocks[now.block].version
            assert (letter in words) == (now.lost is None)
            if letter in words:
                compared += 1
                at = words.index(letter)
                assert now.offset == (at + 1 if side == "left" else at), (seed, anchor)
    assert compared > 5_000


def test_an_anchor_is_back_at_its_letter_behind_cut_and_paste_and_undo() -> None:
    blocks = {"a": born("a", "one two three"), "b": born("b", "<>"), "n": born("n", "two three")}
    one, other = blocks["a"], blocks["b"]
    anchor = Anchor("a", 0, 6)  # behind "tw"
    one.edit(0, canonical([4, -3])).result()
    assert found(blocks, anchor) == Anchor("a", 1, 4, lost=Spot("a", 0, 6))
    # Undone: the same letters in the same block.
    one.edit(1, typed(4, "two")).result()
    one.letters(0, 4, 3, "a", 2, 4).result()
    one.edit(2, typed(0, "!")).result()
    assert found(blocks, anchor) == Anchor("a", 3, 7)
    # Cut and pasted into another block.
    one.edit(3, canonical([5, -3])).result()
    other.edit(0, typed(1, "two")).result()
    one.letters(3, 5, 3, "b", 1, 1).result()
    assert found(blocks, anchor) == Anchor("b", 1, 3)
    # Removed, and restored as a new block.
    other.delete().result()
    other.letters(1, 1, 3, "n", 0, 0).result()
    assert found(blocks, anchor) == Anchor("n", 0, 2)
    del blocks["n"]
    assert found(blocks, anchor) is None, "its letter is in a block that is not open here"


def test_what_comes_late_to_letters_that_were_undone_stays_in_the_text() -> None:
    block = born("a", "one two")
    block.edit(0, canonical([4, -3])).result()
    block.edit(1, typed(4, "two")).result()
    block.letters(0, 4, 3, "a", 2, 4).result()
    block.edit(0, typed(6, "X"), "ann").result()
    assert (sorted(text(block)), block.owes) == (sorted("one twoX"), {})


def test_letters_of_a_block_that_were_taken_out_later_are_not_those_that_are_back() -> None:
    blocks = {"a": born("a", "abc")}
    blocks["a"].edit(0, canonical([-1])).result()
    blocks["a"].letters(0, 0, 3, "a", 1, 0).result()
    blocks["a"].edit(1, canonical([-1])).result()
    assert [(one.step, one.start, one.count) for one in blocks["a"].again] == [(1, 0, 1)]


def test_a_text_on_its_way_has_no_place() -> None:
    blocks = {"a": born("a", "abcdef"), "n": Block()}
    blocks["a"].split(0, 3, "n").result()
    assert found(blocks, Anchor("a", 0, 5)) is None
    assert found(blocks, Anchor("a", 0, 2)) == Anchor("a", 1, 2)
    carry_all(blocks)
    assert found(blocks, Anchor("a", 0, 5)) == Anchor("n", 0, 2)
    del blocks["n"]
    assert found(blocks, Anchor("a", 0, 5)) is None


def test_the_anchor_of_a_deleted_block_says_where_its_letter_was() -> None:
    blocks = {"a": born("a", "abcdef")}
    blocks["a"].delete().result()
    assert found(blocks, Anchor("a", 0, 5)) == Anchor("a", 1, 5, lost=Spot("a", 0, 5))


def test_an_anchor_whose_steps_are_not_kept_is_refused() -> None:
    block = born("a", "abcdef")
    for _ in range(2 * HISTORY_MAX + 1):
        block.edit(block.version, canonical([typed(0, "x")[0], -1])).result()
    with pytest.raises(BaseTooOldError):
        found({"a": block}, Anchor("a", 0, 1))
    assert found({"a": block}, Anchor("a", block.version - 2, 1)) is not None
