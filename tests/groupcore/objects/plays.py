"""Documents, changes that apply to them, and the slow versions that the fast ones are held to."""

from __future__ import annotations

import random

from groupcore.objects import (
    DEFAULT_LIMITS,
    Change,
    DeleteChange,
    InsertChange,
    JoinChange,
    Limits,
    MoveChange,
    SetChange,
    SplitChange,
    TextChange,
    TitleChange,
    Transaction,
)
from groupcore.objects.content import Content
from groupcore.objects.delta import Delta, canonical

LETTERS = "ab😀é𝒳"
SET_PAIRS = (
    (("kind", "heading"), ("level", 2)),
    (("checked", True), ("kind", "todo")),
    (("kind", "paragraph"), ("level", None)),
    (("depth", 1),),
)

BlockState = tuple[str, dict[str, str | int | bool], str]
State = tuple[str, list[BlockState]]


def state_of(content: Content) -> State:
    """Everything that two replicas are compared by."""
    return content.title, [(b.id, dict(b.attributes), b.text) for b in content.outline]


def content_of(state: State, limits: Limits = DEFAULT_LIMITS) -> Content:
    """A fresh content in this state."""
    title, blocks = state
    content = Content(title, limits)
    previous = None
    for block_id, attributes, text in blocks:
        content.outline.insert(block_id, previous, attributes, text)
        previous = block_id
    return content


def letters(draw: random.Random, length_max: int) -> str:
    """A text of up to so many code points, some of them outside the basic plane."""
    return "".join(draw.choice(LETTERS) for _ in range(draw.randint(0, length_max)))


def some_state(draw: random.Random, blocks_max: int = 5) -> State:
    """A small document."""
    count = draw.randint(1, blocks_max)
    blocks: list[BlockState] = [
        (f"b{number}", {"kind": "paragraph"}, letters(draw, 6)) for number in range(count)
    ]
    return "title", blocks


def some_delta(draw: random.Random, length: int) -> Delta:
    """An edit of a text of this length."""
    edits: list[int | str] = []
    left = length
    for _ in range(draw.randint(1, 4)):
        if draw.random() < 0.4:
            edits.append(draw.choice(["x", "yz", "🚀"]))
        elif left:
            count = draw.randint(1, left)
            left -= count
            edits.append(draw.choice([count, -count]))
    return canonical(edits)


def some_change(draw: random.Random, content: Content, fresh: str) -> Change:
    """A change that applies to the content; a block that it creates gets the id `fresh`."""
    blocks = list(content.outline)
    ids: list[str] = [block.id for block in blocks]
    kinds = ["text", "text", "insert", "delete", "move", "set", "split", "split", "join", "title"]
    kind = draw.choice(kinds) if ids else "insert"
    if kind == "insert":
        place = draw.choice([None, *ids])
        return InsertChange(fresh, place, (("kind", "bullet"),), letters(draw, 3))
    if kind == "title":
        return TitleChange(f"title {fresh}")
    block = draw.choice(blocks)
    prev = block.previous_id
    others = [other for other in ids if other != block.id]
    if kind == "text":
        return TextChange(block.id, some_delta(draw, len(block.text)), draw.random() < 0.3)
    if kind == "move":
        return MoveChange(block.id, draw.choice([None, *others]), prev)
    if kind == "set":
        return SetChange(block.id, draw.choice(SET_PAIRS))
    if kind == "split":
        return SplitChange(block.id, draw.randint(0, len(block.text)), fresh, (("kind", "quote"),))
    if kind == "join" and others:
        into = draw.choice(others if prev is None or draw.random() < 0.5 else [prev])
        return JoinChange(block.id, into, len(content.outline.get(into).text), prev)
    return DeleteChange(block.id, prev)


def some_transaction(
    draw: random.Random, state: State, name: str, changes_max: int = 4
) -> Transaction:
    """Changes that apply one after the other to the state, as a replica gives them back."""
    content = content_of(state)
    made: list[Change] = []
    for number in range(draw.randint(1, changes_max)):
        change = some_change(draw, content, f"{name}{number}")
        made.extend(content.apply((change,)))
    return tuple(made)


def after(state: State, changes: Transaction) -> State:
    """The state behind the changes."""
    content = content_of(state)
    content.apply(changes)
    return state_of(content)


def joins_meet(first: Transaction, later: Transaction) -> bool:
    """Whether a join of one side can meet a join or delete of the other (no TP1 there)."""
    for one, two in ((first, later), (later, first)):
        if any(isinstance(change, JoinChange) for change in one) and any(
            isinstance(change, JoinChange | DeleteChange) for change in two
        ):
            return True
    return False
