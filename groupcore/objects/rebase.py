"""How concurrent changes of a document meet: the table of docs/transactions.md as functions.

`rebase_change(mine, other, mine_first)` gives what `mine` becomes in a document that `other` has
changed already; both were made against the same document. The one that is ordered first wins
ties. For a pair of changes both directions lead to the same document (TP1), except where a join
meets a join or a delete of the same blocks: there the text that one of them needs is in the other
document only, and the ordered direction decides (see `docs/transactions.md`).

A place is written as the block that something stands behind, None for the start. When that block
goes away, the place is behind the block before it, which is why delete, move and join carry
`prev`. All functions are pure. Nothing here reads a document, so what a client believes wrongly
about its own base can misplace its own change, but never raise anything but RefusalError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from groupcore.objects.changes import (
    Attributes,
    Change,
    DeleteChange,
    InsertChange,
    JoinChange,
    MoveChange,
    SetChange,
    SplitChange,
    TextChange,
    TitleChange,
    Transaction,
    mentioned,
)
from groupcore.objects.delta import (
    divide,
    inserts_text,
    shift,
    transform,
    transform_position,
)
from groupcore.objects.refusal import BlockDeletedError, BlockExistsError

Rebase: TypeAlias = Callable[..., Transaction]


def rebase_change(mine: Change, other: Change, mine_first: bool) -> Transaction:
    """What `mine` becomes behind `other`: no, one or two changes.

    Raises BlockDeletedError when `mine` writes into a block that `other`, ordered first, removed;
    BlockExistsError when both create the same block.
    """
    if _is_idle(mine):
        return ()
    if _is_idle(other):
        return (mine,)
    return _REBASE[type(mine)](mine, other, mine_first)


def rebase_both(first: Transaction, later: Transaction) -> tuple[Transaction, Transaction]:
    """Both transactions carried over each other: (first behind later, later behind first).

    `first` is ordered before `later`. Each change is rebased over the other side's changes as
    these are behind the changes before it. Raises as `rebase_change`.
    """
    later_over: list[Change] = []
    remaining = list(first)
    for change in later:
        moved, remaining = _carry(change, remaining)
        later_over.extend(moved)
    return tuple(remaining), tuple(later_over)


def rebase_transaction(later: Transaction, first: Transaction) -> Transaction:
    """What `later` becomes behind `first`, ordered before it; raises as `rebase_change`."""
    return rebase_both(first, later)[1]


def _carry(change: Change, first: list[Change]) -> tuple[list[Change], list[Change]]:
    """One later change over a list of first ones, and these over it."""
    moved = [change]
    first_over: list[Change] = []
    for other in first:
        if len(moved) == 1:
            mine = moved[0]
            if set(mentioned(mine)).isdisjoint(mentioned(other)):
                first_over.append(other)
                continue
            moved = list(rebase_change(mine, other, mine_first=False))
            first_over.extend(rebase_change(other, mine, mine_first=True))
        elif moved:
            # The change fell into two; the other one passes both.
            others: Transaction = (other,)
            others, moved_on = rebase_both(others, tuple(moved))
            moved = list(moved_on)
            first_over.extend(others)
        else:
            first_over.append(other)
    return moved, first_over


def _is_idle(change: Change) -> bool:
    """Whether the change does nothing, so that it meets nothing."""
    match change:
        case MoveChange():
            return change.after == change.prev
        case TextChange():
            return not change.delta
        case SetChange():
            return not change.attributes
        case _:
            return False


def _place_over(place: str | None, other: Change, mine_first: bool) -> str | None:
    """Where something new goes that was to stand right behind `place`."""
    match other:
        case InsertChange():
            return other.block if other.after == place and not mine_first else place
        case DeleteChange() | JoinChange():
            return other.prev if other.block == place else place
        case MoveChange():
            if other.block == place:
                return other.prev
            return other.block if other.after == place and not mine_first else place
        case SplitChange():
            return other.new if other.block == place else place
        case _:
            return place


def _prev_over(block: str, prev: str | None, other: Change) -> str | None:
    """Which block stands before `block` now, that stood behind `prev`."""
    match other:
        case MoveChange() if other.block == block:
            return other.after
        case InsertChange():
            return other.block if other.after == prev else prev
        case DeleteChange() | JoinChange():
            return other.prev if other.block == prev else prev
        case MoveChange():
            if other.block == prev:
                return other.prev
            return other.block if other.after == prev else prev
        case SplitChange():
            return other.new if other.block == prev else prev
        case _:
            return prev


def _text(mine: TextChange, other: Change, mine_first: bool) -> Transaction:
    block, delta, extends = mine.block, mine.delta, mine.extends
    match other:
        case TextChange() if other.block == block:
            later = other if mine_first else mine
            # The later stands right, but left where it extends what its writer wrote last.
            is_left = later.extends == mine_first
            return _edit(block, transform(delta, other.delta, other_first=is_left), extends)
        case DeleteChange() if other.block == block:
            if inserts_text(delta) and not mine_first:
                raise BlockDeletedError(f"block {block} was deleted")
            return ()
        case SplitChange() if other.block == block:
            before, behind = divide(delta, other.at)
            return _edit(block, before, extends) + _edit(other.new, behind, extends)
        case JoinChange() if other.block == block:
            return _edit(other.into, shift(delta, other.offset), extends)
        case _:
            return (mine,)


def _edit(block: str, delta: tuple[int | str, ...], extends: bool = False) -> Transaction:
    return (TextChange(block, delta, extends),) if delta else ()


def _insert(mine: InsertChange, other: Change, mine_first: bool) -> Transaction:
    created = other.new if isinstance(other, SplitChange) else None
    if isinstance(other, InsertChange):
        created = other.block
    if created == mine.block:
        raise BlockExistsError(f"there is a block {mine.block} already")
    after = _place_over(mine.after, other, mine_first)
    return (mine if after == mine.after else _moved_insert(mine, after),)


def _moved_insert(mine: InsertChange, after: str | None) -> InsertChange:
    return InsertChange(mine.block, after, mine.attributes, mine.text)


def _delete(mine: DeleteChange, other: Change, mine_first: bool) -> Transaction:
    block = mine.block
    prev = _prev_over(block, mine.prev, other)
    match other:
        case DeleteChange() if other.block == block:
            return ()
        case JoinChange() if other.block == block:
            # The text lives on in `into`; where the delete was first, it must go from there.
            return (_part_again(other), DeleteChange(block, other.into)) if mine_first else ()
        case JoinChange() if other.into == block:
            if mine_first:
                back = () if other.prev == block else _moved(other.block, other.prev, prev)
                return (_part_again(other), DeleteChange(block, prev), *back)
            # Somebody's text came into the block: only what the deleter saw is deleted.
            return _edit(block, (-other.offset,) if other.offset else ())
        case SplitChange() if other.block == block:
            return DeleteChange(block, prev), DeleteChange(other.new, prev)
        case _:
            return (mine if prev == mine.prev else DeleteChange(block, prev),)


def _part_again(join: JoinChange) -> SplitChange:
    """Takes out of `into` what the join brought (its attributes are not known here)."""
    return SplitChange(join.into, join.offset, join.block, ())


def _move(mine: MoveChange, other: Change, mine_first: bool) -> Transaction:
    block = mine.block
    match other:
        case DeleteChange() | JoinChange() if other.block == block:
            return ()
        case MoveChange() if other.block == block:
            return () if mine_first else _moved(block, mine.after, other.after)
        case SplitChange() if other.block == block:
            halves = (mine, MoveChange(other.new, block, mine.prev))
            return halves
        case MoveChange():
            after = _move_place_over(mine, other, mine_first)
        case _:
            after = _place_over(mine.after, other, mine_first)
    if after == block:  # the block between was removed: it stands there already
        return ()
    return _moved(block, after, _prev_over(block, mine.prev, other))


def _moved(block: str, after: str | None, prev: str | None) -> Transaction:
    return () if after == prev else (MoveChange(block, after, prev),)


def _move_place_over(mine: MoveChange, other: MoveChange, mine_first: bool) -> str | None:
    """Where mine goes, decided in the order without either block, so that both sides agree."""
    prev_of: dict[str | None, str | None] = {mine.block: mine.prev, other.block: other.prev}

    def without_both(place: str | None) -> str | None:
        for _ in prev_of:
            place = prev_of.get(place, place)
        return place

    place = without_both(mine.after)
    if place == without_both(other.after) and not mine_first:
        return other.block
    return place


def _set(mine: SetChange, other: Change, mine_first: bool) -> Transaction:
    match other:
        case DeleteChange() | JoinChange() if other.block == mine.block:
            return ()
        case SetChange() if other.block == mine.block and mine_first:
            later = dict(other.attributes)
            left: Attributes = tuple(pair for pair in mine.attributes if pair[0] not in later)
            return (SetChange(mine.block, left),) if left else ()
        case _:
            return (mine,)


def _split(mine: SplitChange, other: Change, mine_first: bool) -> Transaction:
    block, at, new = mine.block, mine.at, mine.new
    match other:
        case InsertChange() if other.block == new:
            raise BlockExistsError(f"there is a block {new} already")
        case SplitChange() if other.new == new:
            raise BlockExistsError(f"there is a block {new} already")
        case TextChange() if other.block == block:
            at = transform_position(at, other.delta)
        case DeleteChange() if other.block == block:
            return ()
        case JoinChange() if other.block == block:
            block, at = other.into, other.offset + at
        case SplitChange() if other.block == block:
            if at > other.at or (at == other.at and mine_first):
                block, at = other.new, at - other.at
        case _:
            return (mine,)
    return (SplitChange(block, at, new, mine.attributes),)


def _join(mine: JoinChange, other: Change, mine_first: bool) -> Transaction:
    block, into, offset = mine.block, mine.into, mine.offset
    prev = _prev_over(block, mine.prev, other)
    match other:
        case TextChange() if other.block == into:
            offset = transform_position(offset, other.delta)
        case DeleteChange() if other.block == block:
            return ()
        case DeleteChange() if other.block == into:
            # The deleter took only what stood in `into` (see _delete): an emptied `into` is left.
            return (JoinChange(block, into, 0, prev),) if mine_first else ()
        case JoinChange() if other.block == block:
            again = mine_first and other.into != into
            return (
                (_part_again(other), JoinChange(block, into, offset, other.into)) if again else ()
            )
        case JoinChange() if other.block == into and other.into == block:
            # Into each other: the first one decides which block is left.
            return (_part_again(other), JoinChange(block, into, offset, prev)) if mine_first else ()
        case JoinChange() if other.block == into:
            into, offset = other.into, other.offset + offset
        case SplitChange() if other.block == into:
            into, offset = other.new, max(0, offset - other.at)
        case SplitChange() if other.block == block:
            return (JoinChange(block, into, offset, prev), *_moved(other.new, into, prev))
        case _:
            return (mine if prev == mine.prev else JoinChange(block, into, offset, prev),)
    return (JoinChange(block, into, offset, prev),)


def _title(mine: TitleChange, other: Change, mine_first: bool) -> Transaction:
    return () if mine_first and isinstance(other, TitleChange) else (mine,)


_REBASE: dict[type, Rebase] = {
    TextChange: _text,
    InsertChange: _insert,
    DeleteChange: _delete,
    MoveChange: _move,
    SetChange: _set,
    SplitChange: _split,
    JoinChange: _join,
    TitleChange: _title,
}
