"""The outline against a plain list."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.objects import ReplicatedOutline
from groupcore.objects.refusal import (
    BadChangeError,
    BlockExistsError,
    NoSuchBlockError,
    RefusalError,
    TooLargeError,
)


def check(outline: ReplicatedOutline, naive: list[str]) -> None:
    blocks = list(outline)
    assert [block.id for block in blocks] == naive
    assert len(outline) == len(naive)
    assert [outline.position(block_id) for block_id in naive] == list(range(len(naive)))
    assert [block.previous_id for block in blocks] == [None, *naive][: len(naive)]
    assert (outline.first, outline.last) == ((blocks[0], blocks[-1]) if naive else (None, None))
    following = [None if block.following is None else block.following.id for block in blocks]
    assert following == [*naive[1:], None][: len(naive)]
    assert all(block_id in outline for block_id in naive)


@given(st.integers(0, 2**32))
def test_an_outline_does_what_a_list_does(seed: int) -> None:
    draw = random.Random(seed)
    outline, naive = ReplicatedOutline(blocks_max=8), list[str]()
    for _ in range(30):
        block_id = draw.choice("abcdefghij")
        after = draw.choice([None, *"abcdefghij"])
        before = list(naive)
        try:
            match draw.choice(["insert", "insert", "delete", "move"]):
                case "insert":
                    outline.insert(block_id, after, {"kind": "code"}, "text")
                    naive.insert(0 if after is None else naive.index(after) + 1, block_id)
                case "delete":
                    outline.delete(block_id)
                    naive.remove(block_id)
                case _:
                    outline.move(block_id, after)
                    naive.remove(block_id)
                    naive.insert(0 if after is None else naive.index(after) + 1, block_id)
        except RefusalError:
            assert naive == before
        check(outline, naive)


def test_a_deleted_block_can_be_put_back() -> None:
    outline = ReplicatedOutline()
    for block_id, after in (("a", None), ("b", "a"), ("c", "b")):
        outline.insert(block_id, after)
    block = outline.delete("b")
    outline.restore(block)
    check(outline, ["a", "b", "c"])
    assert repr(block) == "Block('b', {}, '')"


def test_each_mistake_has_its_own_refusal() -> None:
    outline = ReplicatedOutline(blocks_max=2)
    outline.insert("a", None)
    with pytest.raises(BlockExistsError):
        outline.insert("a", None)
    with pytest.raises(NoSuchBlockError):
        outline.insert("b", "x")
    with pytest.raises(NoSuchBlockError):
        outline.delete("x")
    with pytest.raises(NoSuchBlockError):
        outline.position("x")
    with pytest.raises(BadChangeError):
        outline.move("a", "a")
    outline.insert("b", "a")
    with pytest.raises(TooLargeError):
        outline.insert("c", "b")
    check(outline, ["a", "b"])
