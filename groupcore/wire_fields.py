"""How the fields of headers and records are written into msgpack, and strictly read from it.

The annotations of a class say how each of its fields is encoded and checked, so no class has code
of its own for it. Whatever is read takes time and memory in proportion to what has arrived; what
does not fit raises `WireError`, never anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import cache
from operator import attrgetter
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from groupcore.errors import WireError
from groupcore.sequencing.names import NAME_MAX
from groupcore.view import MEMBERS_MAX, Address, View

INTEGER_MAX = (1 << 64) - 1

_new_tuple = tuple.__new__  # a named tuple without a Python call

# msgpack hands over and takes what it likes: the codec boundary is where Any lives.
Encode = Callable[[Any], Any]
Decode = Callable[[Any], Any]


def _identity(value: Any) -> Any:
    return value


def _decode_int(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= INTEGER_MAX:
        raise WireError("bad_header", "not an unsigned 64-bit integer")
    return value


def _decode_bool(value: Any) -> bool:
    if type(value) is not bool:
        raise WireError("bad_header", "not a boolean")
    return value


def _decode_text(value: Any) -> str:
    if type(value) is not str or len(value) > NAME_MAX:
        raise WireError("bad_header", f"not a text of up to {NAME_MAX} characters")
    return value


def _decode_bytes(value: Any) -> bytes:
    if type(value) is not bytes:
        raise WireError("bad_header", "not a binary")
    return value


def _items(value: Any, length: int | None = None) -> list[Any]:
    if type(value) is not list or (length is not None and len(value) != length):
        raise WireError("bad_header", "not an array of the right length")
    return value


def _decode_address(value: Any) -> Address:
    if type(value) is not list or len(value) != 2:
        raise WireError("bad_header", "not [node id, incarnation]")
    name, incarnation = value
    if type(name) is not str or not 0 < len(name) <= NAME_MAX:
        raise WireError("bad_header", f"not a node id of up to {NAME_MAX} characters")
    if type(incarnation) is not int or not 0 <= incarnation <= INTEGER_MAX:
        raise WireError("bad_header", "not an unsigned 64-bit integer")
    return _new_tuple(Address, value)


def _encode_view(view: View) -> list[Any]:
    """Five items; the voters are a sixth where they are not all the members, in their order."""
    items = [view.number, view.epoch, view.floor, view.lineage, list(view.members)]
    return items if view.voters == view.names else [*items, list(view.voters)]


def _decode_view(value: Any) -> View:
    items = _items(value)
    voters = _decode_names(items[5]) if len(items) == 6 else ()
    *numbers, members = _items(items[:5], 5)
    decoded = tuple(_decode_address(member) for member in _items(members))
    if not 1 <= len(decoded) <= MEMBERS_MAX or len({m.name for m in decoded}) != len(decoded):
        raise WireError("bad_header", "not a list of different members")
    number, epoch, floor, lineage = (_decode_int(item) for item in numbers)
    return View(number, epoch, floor, lineage, decoded, voters)


def _decode_names(value: Any) -> tuple[str, ...]:
    names = _items(value)
    if not 1 <= len(names) <= MEMBERS_MAX:
        raise WireError("bad_header", "not a list of voters")
    for name in names:
        if type(name) is not str or not 0 < len(name) <= NAME_MAX:
            raise WireError("bad_header", f"not a node id of up to {NAME_MAX} characters")
    if len(set(names)) != len(names):
        raise WireError("bad_header", "a voter stands twice")
    return tuple(names)


_LEAVES: dict[Any, tuple[Encode, Decode]] = {
    int: (_identity, _decode_int),
    bool: (_identity, _decode_bool),
    str: (_identity, _decode_text),
    bytes: (_identity, _decode_bytes),
    Address: (_identity, _decode_address),
    View: (_encode_view, _decode_view),
}


def _sequence_codec(item: Any) -> tuple[Encode, Decode]:
    encode, decode = codec(item)

    def encode_all(values: Any) -> Any:
        return [encode(value) for value in values]

    def decode_all(values: Any) -> Any:
        return tuple([decode(value) for value in _items(values)])

    return (list if encode is _identity else encode_all), decode_all


def _mapping_codec(key: Any, value: Any) -> tuple[Encode, Decode]:
    encode_key, decode_key = codec(key)
    encode_value, decode_value = codec(value)

    def encode_all(mapping: Any) -> Any:
        return [[encode_key(k), encode_value(v)] for k, v in mapping.items()]

    def decode_all(pairs: Any) -> Any:
        decoded = {}
        for pair in _items(pairs):
            raw_key, raw_value = _items(pair, 2)
            decoded[decode_key(raw_key)] = decode_value(raw_value)
        if len(decoded) != len(pairs):
            raise WireError("bad_header", "a key stands twice")
        return decoded

    return encode_all, decode_all


def _optional_codec(item: Any) -> tuple[Encode, Decode]:
    encode, decode = codec(item)
    return (
        lambda value: None if value is None else encode(value),
        lambda value: None if value is None else decode(value),
    )


def _record_codec(record: Any) -> tuple[Encode, Decode]:
    """A dataclass or named tuple inside a header: an array of its fields.

    The last `later_fields` of a class may be missing: they have come since what is read was stored.
    """
    hints = get_type_hints(record)
    tuples = issubclass(record, tuple)
    known = () if tuples else fields(record)
    names = list(record._fields) if tuples else [field.name for field in known]
    later = getattr(record, "later_fields", 0)
    absent = [encode_absent(field, hints) for field in known[len(known) - later :]]
    form = Form([hints[name] for name in names])
    read = list if tuples else values_of(names)

    def encode_record(value: Any) -> Any:
        return form.encode(read(value))

    def decode_record(values: Any) -> Any:
        if absent and type(values) is list and form.count - later <= len(values) < form.count:
            values = values + absent[len(values) - form.count :]
        return record(*form.decode(_items(values, form.count)[:]))

    return encode_record, decode_record


def encode_absent(field: Any, hints: dict[str, Any]) -> Any:
    """The default of a field, as it would have been written."""
    made = field.default if field.default_factory is MISSING else field.default_factory()
    return codec(hints[field.name])[0](made)


@cache
def codec(hint: Any) -> tuple[Encode, Decode]:
    """What writes and what reads values of this type, or of this class."""
    if hint in _LEAVES:
        return _LEAVES[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return _sequence_codec(arguments[0])
    if origin is dict:
        return _mapping_codec(*arguments)
    if origin in (Union, UnionType) and type(None) in arguments:
        (item,) = [argument for argument in arguments if argument is not type(None)]
        return _optional_codec(item)
    return _record_codec(hint)


class Form:
    """How the fields of a class are written and read; `count` of them.

    Most are numbers, or are written as they are: those cost no call each.
    """

    __slots__ = ("_encoders", "_integers", "_others", "count")

    def __init__(self, hints: list[Any]) -> None:
        pairs = [codec(hint) for hint in hints]
        self.count = len(pairs)
        self._encoders = [(at, e) for at, (e, _) in enumerate(pairs) if e is not _identity]
        self._integers = [at for at, (_, d) in enumerate(pairs) if d is _decode_int]
        self._others = [(at, d) for at, (_, d) in enumerate(pairs) if d is not _decode_int]

    def encode(self, values: list[Any]) -> list[Any]:
        """The list itself, each field encoded."""
        for at, encode in self._encoders:
            values[at] = encode(values[at])
        return values

    def decode(self, values: list[Any]) -> list[Any]:
        """The list itself, each field checked and decoded; it has as many as it should."""
        for at in self._integers:
            value = values[at]
            if type(value) is not int or not 0 <= value <= INTEGER_MAX:
                raise WireError("bad_header", "not an unsigned 64-bit integer")
        for at, decode in self._others:
            values[at] = decode(values[at])
        return values


def values_of(names: list[str]) -> Callable[[Any], list[Any]]:
    """What reads these fields of an object."""
    if len(names) == 1:
        (name,) = names
        return lambda value: [getattr(value, name)]
    if not names:
        return lambda value: []
    get = attrgetter(*names)
    return lambda value: list(get(value))
