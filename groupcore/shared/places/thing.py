"""A thing of a place: what it is made of, what may be changed, and what a change is refused for.

All numbers are integers (lengths in 1/64 unit), so every replica, a page's as well, computes the
same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

from groupcore.objects.parsing import is_identifier
from groupcore.shared.places.limits import (
    END,
    LINKS_MAX,
    NAME_MAX,
    ORDER_MAX,
    POINTS_MAX,
    PROPERTIES_MAX,
    SIZE_MAX,
    START,
    TEXT_MAX,
    THING_BYTES_MAX,
    TURN_MAX,
    VALUE_MAX,
    VOTES_MAX,
)
from groupcore.shared.places.refusals import BadThingError, ThingLockedError

Value: TypeAlias = str | int | bool
Properties: TypeAlias = tuple[tuple[str, Value], ...]
Changes: TypeAlias = tuple[tuple[str, str | int | bool | None], ...]
"""New values by field; `style.NAME` and `props.NAME` name one property, which None removes."""

KINDS = frozenset(
    {
        *("ink", "shape", "arrow", "sticky", "text", "picture", "frame", "card", "link", "door"),
        *("light", "switch", "clock", "timer", "dice", "vote", "token", "furniture", "ball"),
    }
)
"""What a thing may be. `card` shows a document; `furniture` is made of primitives, by `props`."""
NUMBERS: Mapping[str, tuple[int, int]] = {
    "x": (START, END - 1),
    "y": (START, END - 1),
    "z": (-SIZE_MAX, SIZE_MAX),
    "turn": (0, TURN_MAX - 1),
    "width": (0, SIZE_MAX),
    "height": (0, SIZE_MAX),
    "depth": (0, SIZE_MAX),
    "order": (-ORDER_MAX, ORDER_MAX),
}
"""The least and the largest value of each field that is a number."""
TEXTS: Mapping[str, int] = {"text": TEXT_MAX, "group": NAME_MAX}
"""Most characters of each field that is a text."""
BAGS = ("style", "props")
"""The fields that hold properties."""
COUNT_MAX = 1 << 48
"""How often a thing may be said to have been changed, or handed over, when it is put."""
_INT_MAX = (1 << 53) - 1


@dataclass(frozen=True, slots=True)
class Thing:
    """One thing. `x` and `y` are its centre; `version` counts what was done to it.

    `group`: things of one group are chosen together. `points` are the pairs of a line, from the
    centre. `links`: the things an arrow is bound to, or a switch is wired to; what they name may be
    gone, and is a loose end then. `votes`: who has chosen what, sorted by who. `hops`: how often
    it was handed over, so of two that are known of it, the one with more is the later one.
    """

    id: str
    kind: str
    x: int = 0
    y: int = 0
    z: int = 0
    turn: int = 0
    width: int = 0
    height: int = 0
    depth: int = 0
    order: int = 0
    text: str = ""
    group: str = ""
    locked: bool = False
    style: Properties = ()
    props: Properties = ()
    points: tuple[int, ...] = ()
    links: tuple[str, ...] = ()
    votes: tuple[tuple[str, int], ...] = ()
    version: int = 0
    hops: int = 0

    def prop(self, name: str, default: int = 0) -> int:
        """A property that is a number (or a truth value), or else the default."""
        for known, value in self.props:
            if known == name and isinstance(value, int):
                return int(value)
        return default

    def with_props(self, **changes: Value) -> Thing:
        """The same thing with these properties."""
        known = {**dict(self.props), **changes}
        return replace(self, props=tuple(sorted(known.items())))


@dataclass(frozen=True, slots=True)
class Edit:
    """Changes of one thing, each only where the field has its `expected` value, if one is named.

    `to`: the cell in which it will lie, as far as who asks knows the place; empty: nobody knows.
    """

    id: str
    changes: Changes
    expected: Changes = ()
    to: str = ""


def size_bytes(thing: Thing) -> int:
    """About so many bytes the thing takes in a message, never too few."""
    texts = len(thing.text.encode()) + len(thing.group) + len(thing.id) + len(thing.kind)
    bags = sum(_value_bytes(one) for one in (*thing.style, *thing.props))
    links = sum(len(link) + 3 for link in thing.links)
    votes = sum(len(who.encode()) + 12 for who, _ in thing.votes)
    return 150 + texts + bags + links + votes + 9 * len(thing.points)


def _value_bytes(pair: tuple[str, Value]) -> int:
    name, value = pair
    return len(name) + 6 + (len(value.encode()) + 5 if isinstance(value, str) else 9)


def check_thing(thing: Thing) -> None:
    """BadThingError when there can be no such thing; the text names the field."""
    if not is_identifier(thing.id):
        raise BadThingError("a thing's id must be 1 to 64 characters of A-Za-z0-9_-")
    if thing.kind not in KINDS:
        raise BadThingError(f"there is no kind of thing called {thing.kind[:NAME_MAX]}")
    for name, (least, most) in NUMBERS.items():
        if not least <= getattr(thing, name) <= most:
            raise BadThingError(f"{thing.id}: {name} must be {least} to {most}")
    for name, most in TEXTS.items():
        if len(getattr(thing, name)) > most:
            raise BadThingError(f"{thing.id}: {name} may have {most} characters")
    for name in BAGS:
        _check_bag(thing.id, name, getattr(thing, name))
    _check_lists(thing)
    if not (0 <= thing.version <= COUNT_MAX and 0 <= thing.hops <= COUNT_MAX):
        raise BadThingError(f"{thing.id}: version and hops must be 0 to {COUNT_MAX}")
    if size_bytes(thing) > THING_BYTES_MAX:
        raise BadThingError(f"{thing.id}: a thing may have {THING_BYTES_MAX} bytes; make it two")


def check_place(thing: Thing) -> None:
    """BadThingError when the thing lies outside of every place, or has no proper id."""
    least, most = NUMBERS["x"]
    if not (is_identifier(thing.id) and least <= thing.x <= most and least <= thing.y <= most):
        raise BadThingError("a thing has an id, and lies in its place")


def _check_bag(thing: str, name: str, bag: Properties) -> None:
    names = [one for one, _ in bag]
    if len(bag) > PROPERTIES_MAX or names != sorted(set(names)):
        raise BadThingError(f"{thing}: {name} may have {PROPERTIES_MAX} properties, sorted by name")
    for one, value in bag:
        _check_property(thing, f"{name}.{one}", one, value)


def _check_property(thing: str, field: str, name: str, value: Value) -> None:
    if not 0 < len(name) <= NAME_MAX or not name.isascii():
        raise BadThingError(f"{thing}: a property's name has 1 to {NAME_MAX} ASCII characters")
    if isinstance(value, str):
        if len(value) > VALUE_MAX:
            raise BadThingError(f"{thing}: {field} may have {VALUE_MAX} characters")
    elif abs(value) > _INT_MAX:
        raise BadThingError(f"{thing}: {field} must be between -2^53 and 2^53")


def _check_lists(thing: Thing) -> None:
    points = thing.points
    if len(points) > POINTS_MAX or len(points) % 2 or not all(_is_near(one) for one in points):
        raise BadThingError(f"{thing.id}: points are pairs, {POINTS_MAX} numbers at most")
    if len(thing.links) > LINKS_MAX or not all(map(is_identifier, thing.links)):
        raise BadThingError(f"{thing.id}: links are up to {LINKS_MAX} ids of things")
    voters = [who for who, _ in thing.votes]
    if len(voters) > VOTES_MAX or voters != sorted(set(voters)):
        raise BadThingError(f"{thing.id}: at most {VOTES_MAX} people vote, each once")
    if any(len(who) > VALUE_MAX or not 0 <= choice < 100 for who, choice in thing.votes):
        raise BadThingError(f"{thing.id}: a choice is a number from 0 to 99")


def _is_near(number: int) -> bool:
    return -SIZE_MAX <= number <= SIZE_MAX


# --- changes --------------------------------------------------------------------------------------


def field_of(thing: Thing, name: str) -> str | int | bool | None:
    """The value of a field, or of a property; None where there is no such property."""
    bag, dot, key = name.partition(".")
    if dot and bag in BAGS:
        return dict(cast("Properties", getattr(thing, bag))).get(key)
    if name in NUMBERS or name in TEXTS or name == "locked":
        return cast("str | int | bool", getattr(thing, name))
    if name == "links":
        return ",".join(thing.links)
    raise BadThingError(f"{thing.id}: {name[:NAME_MAX]} is no field that can be changed")


def edited(thing: Thing, edit: Edit) -> Thing:
    """The thing with the changes that apply, one version on; as it is where none of them does.

    Raises BadThingError, and ThingLockedError unless the edit unlocks it.
    """
    expected = dict(edit.expected)
    new: dict[str, Any] = {}
    for name, value in edit.changes:
        now = field_of(thing, name)
        if name in expected and not _is_same(now, expected[name]):
            continue
        if not _is_same(now, value):
            _put(thing, new, name, value)
    if not new:
        return thing
    if thing.locked and new.get("locked") is not False:
        raise ThingLockedError(f"{thing.id} is locked; unlock it first")
    changed = replace(thing, version=thing.version + 1, **new)
    check_thing(changed)
    return changed


def _is_same(one: object, other: object) -> bool:
    return type(one) is type(other) and one == other


def _put(thing: Thing, new: dict[str, Any], name: str, value: str | int | bool | None) -> None:
    """Note the new value of a field; BadThingError when it is of the wrong type."""
    bag, dot, key = name.partition(".")
    if dot:
        known = dict(cast("Properties", new.get(bag, getattr(thing, bag))))
        if value is None:
            known.pop(key, None)
        else:
            known[key] = value
        new[bag] = tuple(sorted(known.items()))
    elif name == "links" and type(value) is str:
        new[name] = tuple(value.split(",")) if value else ()
    elif type(value) is _type_of(name):
        new[name] = value
    else:
        raise BadThingError(f"{thing.id}: {name} must be a {_type_of(name).__name__}")


def _type_of(name: str) -> type:
    if name in NUMBERS:
        return int
    return bool if name == "locked" else str


def check_edits(edits: Iterable[Edit], most: int) -> list[Edit]:
    """The edits, one a thing; BadThingError when they are too many or name a thing twice."""
    some = list(edits)
    if len(some) > most or len({one.id for one in some}) != len(some):
        raise BadThingError(f"an operation changes at most {most} things, each once")
    for one in some:
        if len(one.changes) > 2 * PROPERTIES_MAX or len(one.expected) > 2 * PROPERTIES_MAX:
            raise BadThingError(f"{one.id}: an edit has {2 * PROPERTIES_MAX} changes at most")
    return some
