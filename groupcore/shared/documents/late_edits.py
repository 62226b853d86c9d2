"""An edit of a block's text as it was, carried over what has happened to the block since then.

The page does the same with its own unanswered edits, to show them: `docs/vectors/rich.json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from groupcore.objects.rich_delta import (
    Rich,
    RichBuilder,
    RichDelta,
    Run,
    base_length,
    divide,
    inserted,
    joined,
    part,
    shift,
    span,
    transform,
)
from groupcore.shared.documents.parts import UNSEEN, Again, Step


class Located(NamedTuple):
    """A late edit: its part `here`, its parts for texts that have `gone`, and what is `lost`.

    `gone` names the block that the text went to, and the frame there that the part edits (below 0:
    the text of that block of version `-1 - frame`). `extends`: all of these extend what the author
    wrote last.
    """

    here: RichDelta
    gone: list[tuple[str, int, RichDelta]]
    lost: Rich
    extends: bool = False


def carried(
    delta: RichDelta,
    steps: Iterable[Step],
    version: int = 0,
    again: Sequence[Again] = (),
    name: str = "",
    extends: bool = False,
) -> Located:
    """The edit of version `version` behind these steps, which came before it in the order.

    What was written at the end of a text stays there when another block's text is joined to it:
    letters that are typed one by one would else stand on both sides of that.

    `again`: letters that some of these steps took out, and that stand elsewhere: what the edit does
    to them it does there. To those that are back in the block itself, `name`, it is done where they
    were: a page finds its own edits in a block by their order there, and takes this one for that.

    `extends`: the author goes on where they wrote last. What others have put there since stands
    right of it, or it would stand in the middle of the author's word (decision 202).
    """
    gone: list[tuple[str, int, RichDelta]] = []
    lost: Rich = ()
    for step in steps:
        version += 1
        behind: RichDelta = ()
        if step.kind in ("edit", "gone"):
            letters = [one for one in again if one.step == version] if again and delta else []
            letters = [one for one in _last_named(letters) if one.block != name]
            there, delta = followed(delta, letters, is_all=step.kind == "gone")
            gone += there
        match step.kind:
            case "edit":
                is_first = not step.is_text
                delta = transform(delta, step.delta, is_first, is_first and not extends)
            case "cut":
                delta, behind = divide(delta, step.at)
            case "all":
                delta, behind = (), delta
            case _:
                lost, delta = joined(lost, inserted(delta)), ()
        if behind:
            gone.append((step.new, step.frame, behind))
    return Located(delta, gone, lost, extends)


def followed(
    delta: RichDelta, letters: Sequence[Again], is_all: bool
) -> tuple[list[tuple[str, int, RichDelta]], RichDelta]:
    """The parts of an edit for where these letters stand again, and the rest of it.

    What is inserted goes with the letter on its left, at the start of the text with the first one.
    `is_all`: all of the text was taken out, and what is inserted anywhere goes with the nearest
    letters that stand again.
    """
    if not letters:
        return [], delta
    pieces = sorted(letters, key=lambda one: one.start)
    parts = [RichBuilder() for _ in pieces]
    ends = [0] * len(pieces)
    rest = RichBuilder()
    place = 0
    for item in delta:
        if isinstance(item, Run):
            at = _nearest(pieces, place, is_all)
            if at is None:
                rest.put(item)
            else:
                offset = min(max(0, place - pieces[at].start), pieces[at].count)
                parts[at].put(offset - ends[at])
                ends[at] = offset
                parts[at].put(item)
            continue
        end = place + span(item)
        for at, piece in enumerate(pieces):
            start, stop = max(place, piece.start), min(end, piece.start + piece.count)
            if start < stop:
                parts[at].put(start - piece.start - ends[at])
                parts[at].put(part(item, stop - start))
                ends[at] = stop - piece.start
        for start, stop, is_in in _stretches(pieces, place, end):
            rest.put(stop - start if is_in else part(item, stop - start))
        place = end
    found = [
        (piece.block, -1 - piece.version, shift(edit, piece.at))
        for piece, builder in zip(pieces, parts, strict=True)
        if (edit := builder.finish())
    ]
    return found, rest.finish()


def _last_named(letters: Sequence[Again]) -> list[Again]:
    """Of letters that were said to stand in several places, where they were said to last."""
    named: list[Again] = []
    for one in reversed(letters):
        taken = sorted(named, key=lambda other: other.start)
        end = one.start + one.count
        for start, stop, is_taken in list(_stretches(taken, one.start, end)):
            if not is_taken:
                far = start - one.start
                named.append(replace(one, start=start, count=stop - start, at=one.at + far))
    return named


def _nearest(pieces: Sequence[Again], place: int, is_all: bool) -> int | None:
    """Which letters what is inserted at a place goes with."""
    before = [at for at, one in enumerate(pieces) if one.start < place]
    if before and (is_all or place <= pieces[before[-1]].start + pieces[before[-1]].count):
        return before[-1]
    return 0 if is_all or (place == 0 and pieces[0].start == 0) else None


def _stretches(pieces: Sequence[Again], place: int, end: int) -> Iterable[tuple[int, int, bool]]:
    """A stretch in those that are in pieces, and those between them."""
    for piece in pieces:
        start, stop = max(place, piece.start), min(end, piece.start + piece.count)
        if start >= stop:
            continue
        if place < start:
            yield place, start, False
        yield start, stop, True
        place = stop
    if place < end:
        yield place, end, False


def taken_out(
    letters: Iterable[Again], step: Step, version: int
) -> tuple[list[Again], list[Again]]:
    """Of letters that were there ahead of a step: those it took out, and those that are there yet.

    What goes to another block is neither: it is not known there.
    """
    out: list[Again] = []
    left: list[Again] = []
    for one in letters:
        match step.kind:
            case "gone":
                out.append(replace(one, step=version))
            case "cut":
                count = min(one.count, step.at - one.start)
                if count > 0:
                    left.append(replace(one, count=count))
            case "edit":
                _taken_by_edit(one, step.delta, version, out, left)
    return out, left


def _taken_by_edit(
    one: Again, delta: RichDelta, version: int, out: list[Again], left: list[Again]
) -> None:
    """The stretches of letters that an edit takes out, and those that it leaves."""
    old = new = 0
    end = one.start + one.count
    for item in (*delta, max(0, end - base_length(delta))):
        if isinstance(item, Run):
            new += len(item.text)
            continue
        start, stop = max(old, one.start), min(old + span(item), end)
        far = start - one.start
        is_out = isinstance(item, int) and item < 0
        if start < stop:
            place = start if is_out else new + start - old
            found = replace(
                one,
                step=version if is_out else 0,
                start=place,
                count=stop - start,
                at=one.at + far,
                origin=one.origin if one.origin == UNSEEN else one.origin + far,
            )
            (out if is_out else left).append(found)
        old += span(item)
        new += 0 if is_out else span(item)
