"""How objects look to a browser: what a snapshot has, and what is told of a change.

Library types whose changes are smaller than their state tell them in detail, and the client keeps
a copy of its own. All others, a program's own classes among them, show their public fields, whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias, get_origin

from groupcore.gateway import document_kinds, place_kinds
from groupcore.gateway.interest import Interest, InterestParts
from groupcore.gateway.outline_parts import OutlineParts
from groupcore.gateway.parts import Parts
from groupcore.objects.changes import transaction_to_wire
from groupcore.sequencing.names import Process
from groupcore.shared.declaration import OperationSpec
from groupcore.shared.documents import Block, DocumentOutline
from groupcore.shared.errors import DeclarationError, MisfitError
from groupcore.shared.machine import Machine
from groupcore.shared.object import SharedObject, declaration
from groupcore.shared.opening import order_of
from groupcore.shared.places import Cell, PlaceOutline, PlaceTalk
from groupcore.shared.plain import plain
from groupcore.shared.types import (
    Inserted,
    ItemChanged,
    KeyChanged,
    Lease,
    List,
    Lock,
    Map,
    Moved,
    Outline,
    OutlineEdited,
    Removed,
    RichText,
    Text,
    TextEdited,
)

Snapshot: TypeAlias = Callable[[SharedObject, int], object]
"""Of an object, for a client that has a text up to so many edits (-1: none)."""

Told: TypeAlias = Callable[
    [Machine, Process, OperationSpec | None, list[object], tuple[object, ...]], list[object]
]
"""What is told of an operation of a process (None: it has departed), just done, from its arguments
and the details that it emitted."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A type that browsers may open as `name`. `whole`: each change shows the state anew.

    `detail` shows one detail of a change; where there is `told`, that shows all of them. Pages
    may follow parts of it where there is `parts`.
    """

    name: str
    kind: type[object]
    snapshot: Snapshot
    whole: bool
    detail: Callable[[object], object]
    told: Told | None = None
    parts: Callable[[SharedObject], Parts] | None = None


def kinds_of(
    types: Sequence[type[object]] | Mapping[str, type[object]],
    interest: Mapping[type[object], type[Interest[Any]]] = MappingProxyType({}),
) -> dict[str, Kind]:
    """The types that browsers may open, by name; of those in `interest` they may follow parts.

    Raises DeclarationError for what cannot be opened, and for two of a name: give a dict then; and
    for an interest in what is no type of these.
    """
    named = list(types.items()) if isinstance(types, Mapping) else [(_name(o), o) for o in types]
    unknown = [one for one in interest if one not in [kind for _, kind in named]]
    if unknown:
        raise DeclarationError(f"interest in {unknown[0]!r}, which is none of the types")
    found: dict[str, Kind] = {}
    for name, kind in named:
        order_of(kind)
        if name in found:
            raise DeclarationError(f"two types are called {name}; give a dict of names and types")
        found[name] = _kind(name, kind, interest.get(kind))
    return found


def _name(kind: object) -> str:
    origin = get_origin(kind) or kind
    assert isinstance(origin, type)
    return origin.__name__


def _kind(name: str, kind: type[object], interest: type[Interest[Any]] | None) -> Kind:
    origin = get_origin(kind) or kind
    assert isinstance(origin, type)
    own = None if interest is None else partial(_parts_of, interest)
    for base, (snapshot, whole, detail) in _LIBRARY.items():
        if issubclass(origin, base):
            parts = own or _PARTS.get(base)
            return Kind(name, kind, snapshot, whole, detail, _TOLD.get(base), parts)
    return Kind(name, kind, _fields, True, plain, parts=own)


def _parts_of(interest: type[Interest[Any]], target: SharedObject) -> Parts:
    return InterestParts(interest(target))


def shown(value: object) -> object:
    """The value in plain form; None for what has none."""
    try:
        return plain(value)
    except MisfitError:
        return None


def _fields(target: SharedObject, _base: int) -> object:
    names = [name for name in declaration(target).fields if not name.startswith("_")]
    return {name: shown(getattr(target, name)) for name in names}


def _lock(target: SharedObject, _base: int) -> object:
    assert isinstance(target, Lock)
    return {"queue": plain(target.queue)}


def _lease(target: SharedObject, _base: int) -> object:
    assert isinstance(target, Lease)
    return {"grant": plain(target.grant), "time_s": target.time_s}


def _map(target: SharedObject, _base: int) -> object:
    assert isinstance(target, Map)
    return plain(target.copy())


def _list(target: SharedObject, _base: int) -> object:
    assert isinstance(target, List)
    return [[item, shown(value)] for item, value in target.items()]


def _text(target: SharedObject, base: int) -> object:
    assert isinstance(target, Text)
    recent = target.recent(base) if base >= 0 else None
    if recent is not None and len(recent) > document_kinds.SHOWN_RECENT_MAX:
        recent = None
    return {"text": target.text, "version": target.version, "recent": plain(recent)}


def _outline(target: SharedObject, _base: int) -> object:
    assert isinstance(target, Outline)
    blocks = [list(block) for block in target.blocks()]
    return {"title": target.title, "version": target.version, "blocks": blocks}


def _map_detail(detail: object) -> object:
    if not isinstance(detail, KeyChanged):
        return None
    return [plain(detail.key), shown(detail.old), shown(detail.new)]


def _list_detail(detail: object) -> object:
    match detail:
        case Inserted():
            return ["insert", detail.id, detail.after, shown(detail.value)]
        case Removed():
            return ["delete", detail.id]
        case Moved():
            return ["move", detail.id, detail.after]
        case ItemChanged():
            return ["set", detail.id, shown(detail.new)]
    return None


def _outline_detail(detail: object) -> object:
    if not isinstance(detail, OutlineEdited):
        return None
    return [detail.version, transaction_to_wire(detail.changes)]


def _text_detail(detail: object) -> object:
    if not isinstance(detail, TextEdited):
        return None
    return [detail.version, plain(detail.delta)]


_LIBRARY: dict[type, tuple[Snapshot, bool, Callable[[object], object]]] = {
    Lock: (_lock, True, shown),
    Lease: (_lease, True, shown),
    Map: (_map, False, _map_detail),
    List: (_list, False, _list_detail),
    Text: (_text, False, _text_detail),
    Outline: (_outline, False, _outline_detail),
    RichText: (document_kinds.rich_text, False, document_kinds.rich_text_detail),
    Block: (document_kinds.block, False, document_kinds.block_detail),
    DocumentOutline: (document_kinds.outline, False, document_kinds.outline_detail),
    Cell: (place_kinds.cell, False, shown),
    PlaceOutline: (place_kinds.outline, False, shown),
    PlaceTalk: (place_kinds.talk, False, place_kinds.talk_detail),
}

_TOLD: dict[type, Told] = {Cell: place_kinds.cell_told, PlaceOutline: place_kinds.outline_told}
_PARTS: dict[type, Callable[[SharedObject], Parts]] = {PlaceOutline: OutlineParts}
