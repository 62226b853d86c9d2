"""Things as JSON: how they are read, described, and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import cast

from groupcore.aio.documents import new_id
from groupcore.shared.places import Edit, Thing
from groupcore.shared.places.limits import (
    LINKS_MAX,
    NAME_MAX,
    POINTS_MAX,
    PROPERTIES_MAX,
    SIZE_MAX,
    TEXT_MAX,
    VALUE_MAX,
)
from groupcore.shared.places.refusals import BadThingError
from groupcore.shared.places.thing import (
    BAGS,
    KINDS,
    NUMBERS,
    TEXTS,
    Changes,
    Properties,
    Value,
    check_edits,
    check_thing,
)

Json = dict[str, object]

ID_PATTERN = "^[A-Za-z0-9_-]{1,64}$"
GIVEN = frozenset({one.name for one in fields(Thing)} - {"votes", "version", "hops"})
"""The fields that who puts a thing may give."""
INT_MAX = (1 << 53) - 1
BAG: Json = {
    "type": "object",
    "maxProperties": PROPERTIES_MAX,
    "propertyNames": {"minLength": 1, "maxLength": NAME_MAX, "pattern": "^[!-~]+$"},
    "additionalProperties": {
        "oneOf": [
            {"type": "string", "maxLength": VALUE_MAX},
            {"type": "integer", "minimum": -INT_MAX, "maximum": INT_MAX},
            {"type": "boolean"},
        ]
    },
}
NUMBER: Json = {"type": "integer", "minimum": -SIZE_MAX, "maximum": SIZE_MAX}
THING: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["kind"],
    "properties": {
        "id": {
            "type": "string",
            "pattern": ID_PATTERN,
            "description": "its own, never used before; else a new one is drawn",
        },
        "kind": {"enum": sorted(KINDS)},
        **{
            name: {"type": "integer", "minimum": least, "maximum": most}
            for name, (least, most) in NUMBERS.items()
        },
        **{name: {"type": "string", "maxLength": most} for name, most in TEXTS.items()},
        "locked": {"type": "boolean"},
        **dict.fromkeys(BAGS, BAG),
        "points": {
            "type": "array",
            "maxItems": POINTS_MAX,
            "items": NUMBER,
            "description": "pairs, from the centre",
        },
        "links": {
            "type": "array",
            "maxItems": LINKS_MAX,
            "items": {"type": "string", "pattern": ID_PATTERN},
        },
    },
}
VALUES: Json = {
    "type": "object",
    "minProperties": 1,
    "maxProperties": 2 * PROPERTIES_MAX,
    "additionalProperties": {
        "oneOf": [
            {"type": "string", "maxLength": TEXT_MAX},
            {"type": "integer", "minimum": -INT_MAX, "maximum": INT_MAX},
            {"type": "boolean"},
            {"type": "null"},
        ]
    },
    "description": "by field: numbers, `text`, `group`, `locked`, `links` with commas between, "
    "`style.NAME` and `props.NAME` (null takes one away)",
}
EDIT: Json = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "changes"],
    "properties": {
        "id": {"type": "string", "pattern": ID_PATTERN},
        "changes": VALUES,
        "expected": {**VALUES, "minProperties": 0},
    },
}


def things_of(given: list[Json]) -> list[Thing]:
    """The things that somebody wants to put; BadThingError."""
    things = [_thing_of(one) for one in given]
    if len({one.id for one in things}) != len(things):
        raise BadThingError("a thing is named twice")
    return things


def _thing_of(given: Json) -> Thing:
    if unknown := sorted(given.keys() - GIVEN):
        raise BadThingError(f"{str(unknown[0])[:NAME_MAX]!r} is no field that can be given")
    read: dict[str, object] = {"id": new_id(), "kind": ""}
    for name, value in given.items():
        read[name] = _field_of(name, value)
    thing = Thing(**read)  # type: ignore[arg-type]
    check_thing(thing)
    return thing


def _field_of(name: str, value: object) -> object:
    if name in NUMBERS:
        return whole(name, value)
    if name == "locked":
        if type(value) is not bool:
            raise BadThingError("locked must be true or false")
        return value
    if name in BAGS:
        return _bag_of(name, value)
    if name == "points":
        return tuple(whole(name, one) for one in _list_of(name, value, POINTS_MAX))
    if name == "links":
        return tuple(text_of(name, one) for one in _list_of(name, value, LINKS_MAX))
    return text_of(name, value)


def whole(name: str, value: object) -> int:
    """A whole number, of JSON's one kind of numbers; BadThingError."""
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or abs(value) > INT_MAX:
        raise BadThingError(f"{name} must be whole numbers below 2^53")
    return value


def text_of(name: str, value: object) -> str:
    """A text of whole characters; BadThingError."""
    if type(value) is not str or "\0" in value:
        raise BadThingError(f"{name} must be text without U+0000")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadThingError(f"{name} holds half a character") from None
    return value


def _list_of(name: str, value: object, most: int) -> list[object]:
    if type(value) is not list or len(value) > most:
        raise BadThingError(f"{name} must be a list of at most {most}")
    return value


def _value_of(name: str, value: object) -> Value:
    if type(value) is bool:
        return value
    return text_of(name, value) if type(value) is str else whole(name, value)


def _bag_of(name: str, value: object) -> Properties:
    if type(value) is not dict:
        raise BadThingError(f"{name} must be an object")
    known = cast("Json", value)
    return tuple(sorted((text_of(name, one), _value_of(name, it)) for one, it in known.items()))


def edits_of(given: list[Json], most: int) -> list[Edit]:
    """The edits that somebody asks for; BadThingError."""
    edits = [
        Edit(
            text_of("id", one.get("id")), _changes_of(one, "changes"), _changes_of(one, "expected")
        )
        for one in given
    ]
    for one in given:
        if unknown := sorted(one.keys() - {"id", "changes", "expected"}):
            raise BadThingError(f"{str(unknown[0])[:NAME_MAX]!r} is no field of an edit")
    if not all(one.changes for one in edits):
        raise BadThingError("an edit has changes")
    return check_edits(edits, most)


def _changes_of(one: Json, name: str) -> Changes:
    given = one.get(name, {})
    if type(given) is not dict:
        raise BadThingError(f"{name} must be an object")
    return tuple(
        (text_of(name, field), None if value is None else _value_of(field, value))
        for field, value in cast("Json", given).items()
    )


def shown(thing: Thing) -> Mapping[str, object]:
    """A thing as an answer has it: what can be given again, how often it was changed, and votes."""
    whole = asdict(thing)
    del whole["hops"]
    return {
        **whole,
        "style": dict(thing.style),
        "props": dict(thing.props),
        "votes": dict(thing.votes),
    }
