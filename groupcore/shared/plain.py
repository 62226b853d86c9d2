"""Values as plain ones, for who does not run this program: browsers, and verdicts that are kept.

A dict becomes a list of pairs, as keys need not be texts and their order counts; a dataclass or a
named tuple a map by field names; an enum's member its name; a process its `who`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from enum import Enum

from msgpack import packb

from groupcore.sequencing.names import Process
from groupcore.shared.errors import MisfitError
from groupcore.view import Address

DEPTH_MAX = 40
"""How deeply values may be nested."""


def who(process: Process) -> str:
    """A process as a text that is no other process's."""
    return f"{process.node.name}#{process.node.incarnation:x}/{process.number}"


def process_of(text: str) -> Process:
    """The process that `who` has written so. Raises ValueError where it has not."""
    node, _, number = text.rpartition("/")
    name, _, incarnation = node.rpartition("#")
    return Process(Address(name, int(incarnation, 16)), int(number))


def plain(value: object, depth: int = 0) -> object:
    """The value in what msgpack carries; MisfitError when it has no such form."""
    if depth > DEPTH_MAX:
        raise MisfitError(f"a value is nested more than {DEPTH_MAX} deep")
    match value:
        case None | bool() | float() | bytes():
            return value
        case Enum():
            return value.name
        case int():
            return int(value)
        case str():
            return str(value)
        case Process():
            return who(value)
        case set() | frozenset():
            return sorted(_each(value, depth), key=lambda one: bytes(packb(one)))
        case dict():
            return [_each(pair, depth) for pair in value.items()]
        case tuple() if hasattr(value, "_fields"):
            return {name: plain(one, depth + 1) for name, one in zip(value._fields, value)}  # noqa: B905
        case list() | tuple():
            return _each(value, depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name), depth + 1) for name in names}
    raise MisfitError(f"{type(value).__name__} has no plain form; give back plain values")


def _each(values: Iterable[object], depth: int) -> list[object]:
    return [plain(one, depth + 1) for one in values]
