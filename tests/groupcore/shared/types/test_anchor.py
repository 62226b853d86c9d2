"""Anchors stay with their letters: judged by texts in which each letter has an identity."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.objects.refusal import BadChangeError, BaseTooOldError, OutOfRangeError
from groupcore.objects.rich_delta import Run, Side, transform_position
from groupcore.shared.types import RichText, Text
from groupcore.shared.types.anchor import (
    Anchor,
    AnchorRange,
    AnchorStep,
    Spot,
    TextAgain,
    TextBack,
    TextCut,
    TextEdit,
    TextGone,
    TextJoin,
    carried,
    carried_over,
    range_carried,
    stretch,
)
from groupcore.shared.types.history import HISTORY_MAX
from tests.groupcore.shared.types.letters import Letters

SIDES: tuple[Side, Side] = ("left", "right")


def judge(draw: random.Random, steps: int) -> None:
    """Carries anchors over steps, and compares them with what letters say."""
    letters = Letters(draw)
    anchors: list[Anchor] = []
    for _ in range(steps):
        block = draw.choice(sorted(letters.texts))
        offset = draw.randint(0, len(letters.texts[block]))
        anchors.append(letters.anchor(block, offset, draw.choice(SIDES)))
        happened = letters.step()
        anchors = [carried_over(one, happened) for one in anchors]
        for anchor, mark in zip(anchors, letters.marks, strict=True):
            assert (anchor.block, anchor.offset) == letters.place(mark), (happened, mark)
            assert anchor.version == letters.versions[anchor.block]
            assert (anchor.lost is not None) == letters.is_lost(mark), (happened, mark, anchor)


@given(st.randoms(use_true_random=False), st.integers(1, 8))
def test_an_anchor_is_where_its_letter_is(draw: random.Random, steps: int) -> None:
    judge(draw, steps)


def test_an_anchor_is_where_its_letter_is_in_a_thousand_long_histories() -> None:
    for seed in range(1_000):
        judge(random.Random(seed), 12)


@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_a_step_that_an_anchor_knows_changes_nothing(draw: random.Random, steps: int) -> None:
    letters = Letters(draw)
    anchor = letters.anchor("a", len(letters.texts["a"]), draw.choice(SIDES))
    for _ in range(steps):
        for step in letters.step():
            anchor = carried(anchor, step)
            assert carried(anchor, step) == anchor


@pytest.mark.parametrize(("side", "offset"), [("left", 2), ("right", 4)])
def test_what_is_inserted_at_an_anchor_stands_on_the_other_side(side: Side, offset: int) -> None:
    assert transform_position(2, (2, "xy"), side) == offset
    assert transform_position(2, (2, Run("xy")), side) == offset
    assert transform_position(2, ("xy",), side) == 4
    assert transform_position(2, (3, "xy"), side) == 2


def test_an_anchor_whose_letter_is_deleted_comes_back_with_it() -> None:
    anchor = carried(Anchor("b", 4, 3), TextEdit("b", 5, (1, -4)))
    assert anchor == Anchor("b", 5, 1, lost=Spot("b", 4, 3))
    typed = carried(anchor, TextEdit("b", 6, (1, "new ")))
    assert typed == Anchor("b", 6, 1, lost=Spot("b", 4, 3))
    same = TextEdit("b", 7, (5, "ello"))
    # The same words, but nobody says that they are the same letters.
    assert carried(typed, same) == Anchor("b", 7, 1, lost=Spot("b", 4, 3))
    undone: list[AnchorStep] = [same, TextAgain("b", 7, 5, Spot("b", 4, 1), 4)]
    assert carried_over(typed, undone) == Anchor("b", 7, 7)


def test_what_is_cut_and_pasted_takes_its_anchors_along() -> None:
    anchor = carried(Anchor("a", 0, 2), TextEdit("a", 1, (-5,)))
    pasted = TextAgain("b", 9, 1, Spot("a", 0, 0), 5)
    assert carried(anchor, pasted) == Anchor("b", 9, 3)
    # Moved within one text, by one edit.
    dragged: list[AnchorStep] = [
        TextEdit("a", 1, (-5, 3, "hello")),
        TextAgain("a", 1, 3, Spot("a", 0, 0), 5),
    ]
    assert carried_over(Anchor("a", 0, 2), dragged) == Anchor("a", 1, 5)
    # To a text that its page knows by another name, in another document.
    away = TextAgain("other/n1", 0, 0, Spot("a", 0, 0), 5)
    assert carried(anchor, away) == Anchor("other/n1", 0, 2)


def test_an_anchor_goes_to_the_block_that_its_letter_goes_to() -> None:
    cut = TextCut("a", 1, 3, "n")
    assert carried(Anchor("a", 0, 5), cut) == Anchor("n", 0, 2)
    assert carried(Anchor("a", 0, 3, "left"), cut) == Anchor("a", 1, 3, "left")
    assert carried(Anchor("a", 0, 3, "right"), cut) == Anchor("n", 0, 0, "right")
    joined = TextJoin("n", 1, "a", 2, 3)
    assert carried(Anchor("n", 0, 2), joined) == Anchor("a", 2, 5)


def test_a_removed_block_that_is_restored_has_its_anchors() -> None:
    away = carried(Anchor("a", 6, 5), TextGone("a", 7))
    assert away == Anchor("a", 7, 5, lost=Spot("a", 6, 5))
    assert carried(away, TextBack("a", 7, "n")) == Anchor("n", 0, 5)
    older = carried_over(Anchor("a", 5, 5), [TextEdit("a", 6, (2, -4)), TextGone("a", 7)])
    assert carried(older, TextBack("a", 7, "n")) == Anchor("n", 0, 2, lost=Spot("a", 5, 5))


def after(one: AnchorRange, *steps: AnchorStep) -> tuple[int, int]:
    for step in steps:
        one = range_carried(one, step)
    return one.start.offset, one.end.offset


def test_a_range_has_what_is_inserted_inside_and_not_at_its_ends() -> None:
    given = stretch("a", 0, 2, 4)
    assert after(given, TextEdit("a", 1, (3, "x"))) == (2, 5)
    assert after(given, TextEdit("a", 1, (2, "x"))) == (3, 5)
    assert after(given, TextEdit("a", 1, (4, "x"))) == (2, 4)
    grows = stretch("a", 0, 2, 4, grows=True)
    assert after(grows, TextEdit("a", 1, (2, "x", 2, "y"))) == (2, 6)


def test_a_range_whose_letters_are_gone_is_empty_until_they_are_back() -> None:
    gone, typed = TextEdit("a", 1, (2, -2)), TextEdit("a", 2, (2, "xyz"))
    back: list[AnchorStep] = [TextEdit("a", 3, (1, "cd")), TextAgain("a", 3, 1, Spot("a", 0, 2), 2)]
    assert after(stretch("a", 0, 2, 4), gone) == (2, 2)
    assert after(stretch("a", 0, 2, 4), gone, typed) == (2, 2)
    assert after(stretch("a", 0, 2, 4), gone, typed, *back) == (1, 3)


@pytest.mark.parametrize("kind", [Text, RichText])
def test_a_text_finds_the_anchors_of_its_former_versions(kind: type[Text | RichText]) -> None:
    text = kind()
    text.insert(0, "one three").result()
    left, right = text.anchor(4), text.anchor(4, "right")
    text.insert(4, "two ").result()
    text.delete(0, 4).result()
    assert (text.find(left).offset, text.find(right).offset) == (0, 4)
    assert text.find(left).lost == Spot("", 2, 4)
    assert text.find(text.find(right)) == text.find(right) == Anchor("", 3, 4, "right")
    with pytest.raises(OutOfRangeError):
        text.anchor(99)
    with pytest.raises(BadChangeError):
        text.find(Anchor("", 9, 0))
    for _ in range(2 * HISTORY_MAX):
        text.insert(0, "x").result()
        text.delete(0, 1).result()
    with pytest.raises(BaseTooOldError):
        text.find(left)
