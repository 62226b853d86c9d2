"""Codecs of what holds other values: lists, dicts, sets, tuples, records, unions, plain values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from msgpack import packb

from groupcore.shared.containers import TrackedDict, TrackedList
from groupcore.shared.errors import MisfitError
from groupcore.shared.journal import Journal
from groupcore.shared.scalars import SCALARS, Codec, ScalarCodec, array, check_str, shown
from groupcore.shared.sets import SortedSet, TrackedSet

DEPTH_MAX = 32
"""How deeply plain values may be nested."""


class ListCodec(Codec):
    """list[T]."""

    def __init__(self, item: Codec) -> None:
        super().__init__(f"list[{item.text}]", mutable=True)
        self._item = item

    def to_wire(self, value: object) -> object:
        if not isinstance(value, list):
            raise self.misfit(value)
        return [self._item.to_wire(item) for item in value]

    def from_wire(self, wire: object) -> object:
        return [self._item.from_wire(item) for item in array(self, wire)]

    def kept_to_wire(self, kept: object) -> object:
        assert isinstance(kept, list)
        return list(kept) if self._item.plain else [self._item.kept_to_wire(item) for item in kept]

    def adopt(self, value: object, journal: Journal) -> object:
        if not isinstance(value, list):
            raise self.misfit(value)
        item = self._item
        return TrackedList(value, lambda one: item.adopt(one, journal), journal)


class DictCodec(Codec):
    """dict[K, V]; its order of keys is part of the value."""

    def __init__(self, key: Codec, value: Codec) -> None:
        super().__init__(f"dict[{key.text}, {value.text}]", mutable=True)
        self._key = key
        self._value = value

    def to_wire(self, value: object) -> object:
        if not isinstance(value, dict):
            raise self.misfit(value)
        key, item = self._key, self._value
        return [[key.to_wire(k), item.to_wire(v)] for k, v in value.items()]

    def from_wire(self, wire: object) -> object:
        pairs = [array(self, pair, 2) for pair in array(self, wire)]
        decoded = {self._key.from_wire(k): self._value.from_wire(v) for k, v in pairs}
        if len(decoded) != len(pairs):
            raise MisfitError(f"a key of a {self.text} stands twice")
        return decoded

    def kept_to_wire(self, kept: object) -> object:
        assert isinstance(kept, dict)
        key, item = self._key, self._value
        if key.plain and item.plain:
            return list(map(list, kept.items()))
        return [[key.to_wire(k), item.kept_to_wire(v)] for k, v in kept.items()]

    def adopt(self, value: object, journal: Journal) -> object:
        if not isinstance(value, dict):
            raise self.misfit(value)
        item = self._value
        return TrackedDict(value, self._key.check, lambda one: item.adopt(one, journal), journal)


class SetCodec(Codec):
    """set[T], ordered by the packed elements."""

    def __init__(self, item: Codec) -> None:
        super().__init__(f"set[{item.text}]", mutable=True)
        self._item = item

    def _key(self, value: object) -> bytes:
        packed: bytes = packb(self._item.to_wire(value))
        return packed

    def to_wire(self, value: object) -> object:
        if not isinstance(value, set):
            raise self.misfit(value)
        items = [self._item.check(item) for item in set.__iter__(value)]
        return [self._item.to_wire(item) for item in sorted(items, key=self._key)]

    def from_wire(self, wire: object) -> object:
        items = [self._item.from_wire(item) for item in array(self, wire)]
        decoded = SortedSet(items, self._key)
        if len(decoded) != len(items):
            raise MisfitError(f"an element of a {self.text} stands twice")
        return decoded

    def adopt(self, value: object, journal: Journal) -> object:
        if not isinstance(value, set):
            raise self.misfit(value)
        return TrackedSet(set.__iter__(value), self._item.check, self._key, journal)


class TupleCodec(Codec):
    """tuple[A, B] of fixed length, or a NamedTuple, which `make` builds."""

    def __init__(self, text: str, items: Sequence[Codec], kind: type[tuple[object, ...]]) -> None:
        super().__init__(text)
        self._items = items
        self._kind = kind

    def to_wire(self, value: object) -> object:
        if not isinstance(value, self._kind) or len(value) != len(self._items):
            raise self.misfit(value)
        return [codec.to_wire(item) for codec, item in zip(self._items, value, strict=True)]

    def from_wire(self, wire: object) -> object:
        items = array(self, wire, len(self._items))
        decoded = [codec.from_wire(item) for codec, item in zip(self._items, items, strict=True)]
        if self._kind is tuple:
            return tuple(decoded)
        make: Callable[..., object] = self._kind
        return make(*decoded)

    def kept_to_wire(self, kept: object) -> object:
        assert isinstance(kept, tuple)
        return [one.kept_to_wire(item) for one, item in zip(self._items, kept, strict=True)]


class SequenceCodec(Codec):
    """tuple[T, ...]."""

    def __init__(self, item: Codec) -> None:
        super().__init__(f"tuple[{item.text}, ...]")
        self._item = item

    def to_wire(self, value: object) -> object:
        if not isinstance(value, tuple):
            raise self.misfit(value)
        return [self._item.to_wire(item) for item in value]

    def from_wire(self, wire: object) -> object:
        return tuple([self._item.from_wire(item) for item in array(self, wire)])

    def kept_to_wire(self, kept: object) -> object:
        assert isinstance(kept, tuple)
        return [self._item.kept_to_wire(item) for item in kept]


class RecordCodec(Codec):
    """A frozen dataclass: an array of its fields. What its `__post_init__` raises is a misfit."""

    def __init__(self, kind: type, items: dict[str, Codec]) -> None:
        super().__init__(
            f"{kind.__name__}({', '.join(f'{k}: {c.text}' for k, c in items.items())})"
        )
        self._kind = kind
        self._items = items

    def to_wire(self, value: object) -> object:
        if type(value) is not self._kind:
            raise self.misfit(value)
        return [codec.to_wire(getattr(value, name)) for name, codec in self._items.items()]

    def from_wire(self, wire: object) -> object:
        values = array(self, wire, len(self._items))
        pairs = zip(self._items.items(), values, strict=True)
        decoded = {name: codec.from_wire(value) for (name, codec), value in pairs}
        try:
            return self._kind(**decoded)
        except (ValueError, TypeError) as error:
            raise MisfitError(f"no {self._kind.__name__}: {error}") from None

    def kept_to_wire(self, kept: object) -> object:
        return [codec.kept_to_wire(getattr(kept, name)) for name, codec in self._items.items()]

    def require(self, value: object) -> None:
        if type(value) is not self._kind:
            raise self.misfit(value)
        for name, codec in self._items.items():
            codec.require(getattr(value, name))

    def check(self, value: object) -> object:
        self.require(value)
        return value


class EnumCodec(Codec):
    """An Enum: the member's name."""

    def __init__(self, kind: type[Enum]) -> None:
        super().__init__(f"{kind.__name__}[{'|'.join(kind.__members__)}]")
        self._kind = kind

    def to_wire(self, value: object) -> object:
        if not isinstance(value, self._kind):
            raise self.misfit(value)
        return value.name

    def from_wire(self, wire: object) -> object:
        if type(wire) is not str or wire not in self._kind.__members__:
            raise self.misfit(wire)
        return self._kind[wire]


class LiteralCodec(Codec):
    """Literal[...]: one of these scalars."""

    def __init__(self, values: Sequence[object]) -> None:
        super().__init__(f"Literal[{', '.join(map(repr, values))}]")
        self._values = [(type(value), value) for value in values]

    def check(self, value: object) -> object:
        if (type(value), value) not in self._values:
            raise self.misfit(value)
        return value

    def to_wire(self, value: object) -> object:
        return self.check(value)

    def from_wire(self, wire: object) -> object:
        return self.check(wire)


class UnionCodec(Codec):
    """A | B: scalars and None as they are, anything else as [place, value].

    The first type that the value fits is taken.
    """

    def __init__(self, members: Sequence[Codec]) -> None:
        super().__init__(
            " | ".join(member.text for member in members),
            mutable=any(member.mutable for member in members),
        )
        self._members = members
        self._scalars: dict[type, Codec] = {
            member.kind: member for member in members if isinstance(member, ScalarCodec)
        }

    def _find(self, value: object) -> tuple[int, Codec]:
        for place, member in enumerate(self._members):
            try:
                member.to_wire(value)
            except MisfitError:
                continue
            return place, member
        raise self.misfit(value)

    def to_wire(self, value: object) -> object:
        scalar = self._scalars.get(type(value))
        if scalar is not None:
            return scalar.to_wire(value)
        place, member = self._find(value)
        wire = member.to_wire(value)
        return wire if isinstance(member, ScalarCodec) else [place, wire]

    def from_wire(self, wire: object) -> object:
        scalar = self._scalars.get(type(wire))
        if scalar is not None:
            return scalar.from_wire(wire)
        place, inner = array(self, wire, 2)
        if type(place) is not int or not 0 <= place < len(self._members):
            raise self.misfit(wire)
        return self._members[place].from_wire(inner)

    def check(self, value: object) -> object:
        scalar = self._scalars.get(type(value))
        return (scalar or self._find(value)[1]).check(value)

    def adopt(self, value: object, journal: Journal) -> object:
        scalar = self._scalars.get(type(value))
        return (scalar or self._find(value)[1]).adopt(value, journal)


class PlainCodec(Codec):
    """`object`: None, bool, int, float, str, bytes, lists, and dicts with str keys, nested."""

    def __init__(self, depth: int = 0) -> None:
        super().__init__("object", mutable=True)
        self._depth = depth

    def _inner(self) -> PlainCodec:
        if self._depth == DEPTH_MAX:
            raise MisfitError(f"a value is nested more than {DEPTH_MAX} deep; flatten it")
        return PlainCodec(self._depth + 1)

    def to_wire(self, value: object) -> object:
        scalar = SCALARS.get(type(value))
        if scalar is not None:
            return scalar.check(value)
        if isinstance(value, list):
            inner = self._inner()
            return [inner.to_wire(item) for item in value]
        if isinstance(value, dict):
            inner = self._inner()
            return {check_str(key): inner.to_wire(item) for key, item in value.items()}
        raise MisfitError(f"{shown(value)} is no plain value (None, scalars, list, dict[str, ...])")

    def from_wire(self, wire: object) -> object:
        return self.to_wire(wire)

    def adopt(self, value: object, journal: Journal) -> object:
        if isinstance(value, list):
            inner = self._inner()
            return TrackedList(value, lambda one: inner.adopt(one, journal), journal)
        if isinstance(value, dict):
            inner = self._inner()
            return TrackedDict(value, check_str, lambda one: inner.adopt(one, journal), journal)
        return self.check(value)
