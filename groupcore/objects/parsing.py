"""From arrays to changes: strict, and with nothing but RefusalError for what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from groupcore.objects.changes import (
    DEFAULT_LIMITS,
    Attributes,
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
from groupcore.objects.delta import check_text, parse_delta
from groupcore.objects.outline import AttributeValue
from groupcore.objects.refusal import BadChangeError, OutOfRangeError, TooLargeError

KINDS = ("paragraph", "heading", "bullet", "numbered", "todo", "quote", "code", "divider")
"""What a block can be."""

LEVEL_MAX = 6
DEPTH_MAX = 8
LANGUAGE_MAX = 40

_IDENTIFIER = re.compile(r"[A-Za-z0-9_-]{1,64}")


def is_identifier(value: object) -> bool:
    """Whether this may be the id of a block, a document or a client."""
    return type(value) is str and _IDENTIFIER.fullmatch(value) is not None


def parse_transaction(wire: object, limits: Limits = DEFAULT_LIMITS) -> Transaction:
    """The changes of a submitted transaction.

    Raises BadChangeError, OutOfRangeError or TooLargeError with the place in the text, nothing
    else, whatever the value is.
    """
    if type(wire) is not list and type(wire) is not tuple:
        raise BadChangeError("a transaction must be an array of changes")
    if not wire:
        raise BadChangeError("a transaction must hold at least one change")
    if len(wire) > limits.changes:
        raise TooLargeError(f"a transaction may hold {limits.changes} changes")
    return tuple([parse_change(item, limits) for item in wire])


def parse_change(wire: object, limits: Limits = DEFAULT_LIMITS) -> Change:
    """One change; raises as `parse_transaction`."""
    if (type(wire) is not list and type(wire) is not tuple) or not wire:
        raise BadChangeError("a change must be an array that begins with its kind")
    name = wire[0]
    entry = _PARSERS.get(name) if type(name) is str else None
    if entry is None:
        raise BadChangeError("a change must be of a known kind")
    lengths, parse = entry
    if len(wire) not in lengths:
        raise BadChangeError(f"a change of kind {name} has {lengths[0]} elements")
    return parse(wire, limits)


def parse_attributes(wire: object, may_remove: bool) -> Attributes:
    """Attributes of a block, sorted by name; nil values only if `may_remove`.

    Raises BadChangeError.
    """
    if type(wire) is not dict:
        raise BadChangeError("attributes must be a map")
    parsed: list[tuple[str, AttributeValue | None]] = []
    for name, value in wire.items():
        check = _ATTRIBUTES.get(name) if type(name) is str else None
        if check is None:
            raise BadChangeError("a block has the attributes kind, level, depth, checked, language")
        if not (check(value) or (value is None and may_remove)):
            raise BadChangeError(f"the attribute {name} cannot have this value")
        parsed.append((name, value))
    parsed.sort(key=lambda pair: pair[0])
    return tuple(parsed)


def _is_language(value: object) -> bool:
    if type(value) is not str:
        return False
    try:
        check_text(value, LANGUAGE_MAX)
    except (BadChangeError, TooLargeError):
        return False
    return "\n" not in value


_ATTRIBUTES: dict[str, Callable[[object], bool]] = {
    "kind": lambda value: type(value) is str and value in KINDS,
    "level": lambda value: type(value) is int and 1 <= value <= LEVEL_MAX,
    "depth": lambda value: type(value) is int and 0 <= value <= DEPTH_MAX,
    "checked": lambda value: type(value) is bool,
    "language": _is_language,
}


def _block(value: object) -> str:
    if type(value) is not str or _IDENTIFIER.fullmatch(value) is None:
        raise BadChangeError("a block id must be 1 to 64 characters of A-Za-z0-9_-")
    return value


def _place(value: object, block: str) -> str | None:
    """The block that another one stands behind."""
    if value is None:
        return None
    place = _block(value)
    if place == block:
        raise BadChangeError(f"block {block} cannot stand behind itself")
    return place


def _position(value: object, limits: Limits) -> int:
    if type(value) is not int or value < 0:
        raise BadChangeError("a position must be an integer from 0")
    if value > limits.block_text:
        raise OutOfRangeError(f"a text may hold {limits.block_text} code points")
    return value


def _parse_text(wire: Sequence[object], limits: Limits) -> Change:
    extends = wire[3] if len(wire) > 3 else False
    if type(extends) is not bool:
        raise BadChangeError("whether a text extends what was written last must be true or false")
    return TextChange(_block(wire[1]), parse_delta(wire[2], limits.block_text), extends)


def _parse_insert(wire: Sequence[object], limits: Limits) -> Change:
    block = _block(wire[1])
    attributes = parse_attributes(wire[3], may_remove=False)
    text = check_text(wire[4], limits.block_text)
    return InsertChange(block, _place(wire[2], block), attributes, text)


def _parse_delete(wire: Sequence[object], _limits: Limits) -> Change:
    block = _block(wire[1])
    return DeleteChange(block, _place(wire[2], block))


def _parse_move(wire: Sequence[object], _limits: Limits) -> Change:
    block = _block(wire[1])
    return MoveChange(block, _place(wire[2], block), _place(wire[3], block))


def _parse_set(wire: Sequence[object], _limits: Limits) -> Change:
    return SetChange(_block(wire[1]), parse_attributes(wire[2], may_remove=True))


def _parse_split(wire: Sequence[object], limits: Limits) -> Change:
    block, new = _block(wire[1]), _block(wire[3])
    if new == block:
        raise BadChangeError(f"block {block} cannot be split into itself")
    attributes = parse_attributes(wire[4], may_remove=False)
    return SplitChange(block, _position(wire[2], limits), new, attributes)


def _parse_join(wire: Sequence[object], limits: Limits) -> Change:
    block, into = _block(wire[1]), _block(wire[2])
    if into == block:
        raise BadChangeError(f"block {block} cannot be joined into itself")
    return JoinChange(block, into, _position(wire[3], limits), _place(wire[4], block))


def _parse_title(wire: Sequence[object], limits: Limits) -> Change:
    return TitleChange(check_title(wire[1], limits))


def check_title(value: object, limits: Limits = DEFAULT_LIMITS) -> str:
    """The value as a title: one line, not empty; raises BadChangeError or TooLargeError."""
    title = check_text(value, limits.title)
    if not title or "\n" in title:
        raise BadChangeError("a title must be one line of at least one character")
    return title


_PARSERS: dict[str, tuple[tuple[int, ...], Callable[[Sequence[object], Limits], Change]]] = {
    "text": ((3, 4), _parse_text),
    "insert": ((5,), _parse_insert),
    "delete": ((3,), _parse_delete),
    "move": ((4,), _parse_move),
    "set": ((3,), _parse_set),
    "split": ((5,), _parse_split),
    "join": ((5,), _parse_join),
    "title": ((2,), _parse_title),
}
