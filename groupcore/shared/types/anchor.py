"""A place in a shared text that stays with its letter, whatever is done to the text.

Idea. An anchor is a place between two letters of a text, as it was at a version, and the side on
which it holds on: to the letter left of it or to the one right of it. A letter needs no name of
its own for that: "the one left of offset 12 of the block b at version 40" is the same letter for
ever. Each step of the text carries an anchor to the next version (`carried`). Whoever applies a
step carries the anchors that are stored beside the text, so that these always name the present
version; one that travels (a caret) names the version that it was made against, and who receives
it carries it over the steps since then.

Rules.
  A1  What is inserted at an anchor's place stands right of it if it holds on to the left, and left
      of it if it holds on to the right.
  A2  An anchor whose letter is deleted rests where the letter was, and holds on to the nearest
      letter that is left on its side. It remembers its own letter (`lost`).
  A3  It is back at its letter when a step says that the letter is there again (`TextAgain`), in
      whatever block: text that is cut and pasted, taken back by undo, or restored.
  A4  A text that is split takes those anchors to the new block whose letters go there; at the cut,
      one that holds on to the left stays. A text that is joined to another takes all its anchors.
  A5  Moving a block, and changing its kind or its marks, moves no anchor.
  A6  A step that an anchor's version has in it already changes nothing.

webui/src/shared/anchor.ts does the same; docs/vectors/anchors.json has cases for both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from groupcore.objects.delta import Delta
from groupcore.objects.rich_delta import Format, RichDelta, Run, Side, transform_position


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in the text of `block` as it was at `version`; `offset` in code points."""

    block: str
    version: int
    offset: int


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place that stays with the letter at its `side`; `offset` in code points.

    `block` names the text: a block of a document, empty for a text that stands alone. `version` is
    the version of that text in which it is at `offset`. `lost`: its letter is deleted, and was last
    there beside this spot; None while the letter is there, or the place is an end of the text.
    """

    block: str
    version: int
    offset: int
    side: Side = "left"
    lost: Spot | None = None


@dataclass(frozen=True, slots=True)
class AnchorRange:
    """A stretch of text, from the anchor `start` to the anchor `end`.

    The two may come to stand in different blocks. When one block is moved they may then stand in
    the opposite order: who shows the range looks at the order of the blocks.
    """

    start: Anchor
    end: Anchor


# --- what happens to texts ---------------------------------------------------------------------


class TextEdit(NamedTuple):
    """`delta` led the text of `block` to `version`."""

    block: str
    version: int
    delta: Delta | RichDelta


class TextCut(NamedTuple):
    """With `version`, all from `at` on went to the block `new`, whose version 0 it is."""

    block: str
    version: int
    at: int
    new: str


class TextJoin(NamedTuple):
    """With `version`, the text went to `into`: there it begins at `at` of `into_version`.

    Anchors of `into` are carried by the `TextEdit` that puts the text in there.
    """

    block: str
    version: int
    into: str
    into_version: int
    at: int


class TextGone(NamedTuple):
    """With `version`, the block was removed, and its text with it."""

    block: str
    version: int


class TextBack(NamedTuple):
    """A removed block is restored: its text begins at `at` of `into_version` of `into`.

    `version` is the one of the removal. `into` is mostly a new block, whose version 0 it is.
    """

    block: str
    version: int
    into: str
    into_version: int = 0
    at: int = 0


class TextAgain(NamedTuple):
    """Letters that were taken out stand again: in `block`, from `at` of its `version` on.

    They are the `size` letters from `source` on, whose version is the one before the step that
    took them out. An edit that brings letters back is a `TextEdit`, and then this.
    """

    block: str
    version: int
    at: int
    source: Spot
    size: int


AnchorStep: TypeAlias = TextEdit | TextCut | TextJoin | TextGone | TextBack | TextAgain


# --- carrying -----------------------------------------------------------------------------------


def carried(anchor: Anchor, step: AnchorStep) -> Anchor:
    """The anchor behind one step of the texts; steps of one block come in their order (A1-A6)."""
    if isinstance(step, TextEdit):
        return _edited(anchor, step)
    if isinstance(step, TextAgain):
        return _again(anchor, step)
    if anchor.block != step.block:
        return anchor
    if isinstance(step, TextBack):
        return _back(anchor, step) if anchor.version == step.version else anchor
    if step.version <= anchor.version:
        return anchor  # A6
    match step:
        case TextCut():
            stays = anchor.offset < step.at or (anchor.offset == step.at and anchor.side == "left")
            if stays:  # A4
                return replace(anchor, version=step.version)
            return replace(anchor, block=step.new, version=0, offset=anchor.offset - step.at)
        case TextJoin():
            offset = step.at + anchor.offset
            return replace(anchor, block=step.into, version=step.into_version, offset=offset)
        case TextGone():
            spot = anchor.lost or Spot(anchor.block, anchor.version, anchor.offset)
            return replace(anchor, version=step.version, lost=spot)


def carried_over(anchor: Anchor, steps: Iterable[AnchorStep]) -> Anchor:
    """The anchor behind several steps, in their order."""
    for step in steps:
        anchor = carried(anchor, step)
    return anchor


def found_over(anchor: Anchor, deltas: Iterable[Delta | RichDelta]) -> Anchor:
    """The anchor behind the edits since its version, of a text of its own."""
    for delta in deltas:
        anchor = _edited(anchor, TextEdit(anchor.block, anchor.version + 1, delta))
    return anchor


def _edited(anchor: Anchor, step: TextEdit) -> Anchor:
    if anchor.block != step.block or step.version <= anchor.version:
        return anchor  # A6
    lost = anchor.lost
    if lost is None and _is_deleted(_letter(anchor.offset, anchor.side), step.delta):
        lost = Spot(anchor.block, anchor.version, anchor.offset)  # A2
    offset = transform_position(anchor.offset, step.delta, anchor.side)
    return Anchor(step.block, step.version, offset, anchor.side, lost)


def _again(anchor: Anchor, step: TextAgain) -> Anchor:
    """A3."""
    lost, source = anchor.lost, step.source
    if lost is None or (lost.block, lost.version) != (source.block, source.version):
        return anchor
    far = lost.offset - source.offset
    if not 0 <= _letter(far, anchor.side) < step.size:
        return anchor
    return Anchor(step.block, step.version, step.at + far, anchor.side)


def _back(anchor: Anchor, step: TextBack) -> Anchor:
    lost = anchor.lost
    # The letter was there when the block was removed.
    if lost == Spot(step.block, step.version - 1, anchor.offset):
        lost = None
    return Anchor(step.into, step.into_version, step.at + anchor.offset, anchor.side, lost)


def _letter(offset: int, side: Side) -> int:
    """Which letter an anchor holds on to, counted from 0; -1: the beginning of the text."""
    return offset - 1 if side == "left" else offset


def _span(item: int | str | Run | Format) -> int:
    if isinstance(item, Format):
        return item.size
    return abs(item) if isinstance(item, int) else 0


def _deletes(item: int | str | Run | Format) -> bool:
    return isinstance(item, int) and item < 0


def _is_deleted(letter: int, delta: Delta | RichDelta) -> bool:
    seen = 0
    for item in delta:
        span = _span(item)
        if seen <= letter < seen + span:
            return _deletes(item)
        seen += span
    return False


# --- ranges -------------------------------------------------------------------------------------


def stretch(block: str, version: int, start: int, end: int, *, grows: bool = False) -> AnchorRange:
    """The letters from `start` up to `end` of a text, in code points.

    What is inserted at its ends is not in it, unless it `grows`; what is inserted inside is.
    """
    first, last = Anchor(block, version, start, "right"), Anchor(block, version, end, "left")
    if grows:
        first, last = replace(first, side="left"), replace(last, side="right")
    return AnchorRange(first, last)


def range_carried(one: AnchorRange, step: AnchorStep) -> AnchorRange:
    """The range behind one step. One without letters stays empty, where they were."""
    start, end = carried(one.start, step), carried(one.end, step)
    if start.block == end.block and start.offset > end.offset:
        start = replace(start, offset=end.offset)
    return AnchorRange(start, end)
