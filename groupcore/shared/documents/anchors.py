"""Where an anchor in a document is by now, by the histories of the blocks that are open here.

A letter that goes to another block goes there in a parcel, and where that has come the block
says by a frame (`groupcore.shared.documents.parts`). So an anchor follows its letter from block to
block as late edits do, and arrives at the same place as those. Of letters that were taken out, and
stand again (cut and pasted, taken back by undo), the block knows where that is that they were in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from groupcore.shared.documents.block import Block
from groupcore.shared.documents.parts import TRAIL_MAX, Frame, Step
from groupcore.shared.types.anchor import (
    Anchor,
    AnchorStep,
    Spot,
    TextAgain,
    TextCut,
    TextEdit,
    TextGone,
    carried,
    carried_over,
)
from groupcore.shared.types.history import edits_since

AWAY = "~away"
"""Stands for the block that a text has gone to, until its frame says where it is."""


def found(blocks: Mapping[str, Block], anchor: Anchor) -> Anchor | None:
    """The anchor in the present version of its text; `blocks` are those that are open, by id.

    None: its text is in a block that is not open here, or on its way to one. Raises BaseTooOldError
    where the steps since its version are not kept, BadChangeError where it is not there yet.
    """
    now = _present(blocks, anchor)
    for _ in range(TRAIL_MAX):  # letters may be said to stand in each other's stead
        if now is None or now.lost is None:
            break
        back = carried_over(now, standing_again(blocks, now.lost.block))
        if back is now:
            break
        now = _present(blocks, back)
    return now


def standing_again(blocks: Mapping[str, Block], name: str) -> Iterator[TextAgain]:
    """Letters that were taken out of the block `name`, and where they stand again, last first."""
    block = blocks.get(name)
    for one in () if block is None else reversed(block.again):
        if one.step:
            source = Spot(name, one.step - 1, one.start)
            yield TextAgain(one.block, one.version, one.at, source, one.count)


def _present(blocks: Mapping[str, Block], anchor: Anchor) -> Anchor | None:
    """The anchor behind all steps of the texts that it is in."""
    while (block := blocks.get(anchor.block)) is not None:
        for step in edits_since(anchor.version, block.version, block._recent):
            gone = _carried(anchor, block.name, step)
            if gone.block != AWAY:
                anchor = gone
                continue
            frame = _frame(blocks, block.name, step.new, step.frame)
            if frame is None:
                return None
            into, came = frame
            at = came.offset + gone.offset
            anchor = replace(gone, block=into, version=came.version, offset=at)
            break
        else:
            return anchor
    return None


def _carried(anchor: Anchor, block: str, step: Step) -> Anchor:
    version = anchor.version + 1
    happened: AnchorStep
    match step.kind:
        case "edit":
            happened = TextEdit(block, version, step.delta)
        case "gone":
            happened = TextGone(block, version)
        case "cut":
            happened = TextCut(block, version, step.at, AWAY)
        case "all":
            return replace(anchor, block=AWAY)
    return carried(anchor, happened)


def _frame(
    blocks: Mapping[str, Block], source: str, into: str, number: int
) -> tuple[str, Frame] | None:
    """The block that a parcel has come to, through closed ones, and where it is there."""
    while into in blocks:
        frame = blocks[into].frames.get(f"{source}:{number}")
        if frame is None or frame.refused:
            return None
        if not frame.to:
            return into, frame
        source, into, number = into, frame.to, frame.frame
    return None
