"""The base of codecs, and the plain ones: scalars, which are the same on the wire.

A codec turns a value into what msgpack carries (`to_wire`), checks what has arrived (`from_wire`),
and makes the value that a state keeps (`adopt`): immutable ones as they are, lists, dicts and sets
as tracked ones. All of it is strict: a bool is no int, an int of more than 64 bits is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from groupcore.shared.errors import MisfitError
from groupcore.shared.journal import Journal

_INT_LEAST = -(1 << 63)
_INT_MOST = (1 << 64) - 1


class Codec:
    """One type. `text` names it, alike at all replicas; `mutable`: a state keeps a tracked one.

    `plain`: a value that has been checked travels as it is.
    """

    plain = False

    def __init__(self, text: str, mutable: bool = False) -> None:
        self.text = text
        self.mutable = mutable

    def to_wire(self, value: object) -> object:
        """What msgpack packs; MisfitError when the value is not of the type."""
        raise NotImplementedError

    def from_wire(self, wire: object) -> object:
        """The value; MisfitError when this was packed from no value of the type."""
        raise NotImplementedError

    def check(self, value: object) -> object:
        """The value, or an equal one of exactly the type; MisfitError when it is not of it."""
        return self.from_wire(self.to_wire(value))

    def require(self, value: object) -> None:
        """MisfitError when the value is not of the type."""
        self.to_wire(value)

    def adopt(self, value: object, journal: Journal) -> object:
        """What a state keeps for this value; MisfitError when it is not of the type."""
        return self.check(value)

    def kept_to_wire(self, kept: object) -> object:
        """What msgpack packs of what `adopt` gave, which need not be checked again."""
        return self.to_wire(kept)

    def misfit(self, value: object) -> MisfitError:
        """The error that says that the value is not of this type."""
        return MisfitError(f"{shown(value)} is no {self.text}")


def shown(value: object) -> str:
    """The value for an error text, shortened."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


class ScalarCodec(Codec):
    """None, a bool, an int, a float, a str or bytes: the same on the wire."""

    plain = True

    def __init__(self, kind: type, check: Callable[[object], object] | None = None) -> None:
        super().__init__("None" if kind is type(None) else kind.__name__)
        self.kind = kind
        if check is not None:  # a call less for each value there is
            self.check = self.to_wire = self.from_wire = check  # type: ignore[method-assign,assignment]

    def check(self, value: object) -> object:
        if type(value) is not self.kind:
            raise self.misfit(value)
        return value

    def to_wire(self, value: object) -> object:
        return self.check(value)

    def from_wire(self, wire: object) -> object:
        return self.check(wire)

    def adopt(self, value: object, journal: Journal) -> object:
        return self.check(value)


def check_int(value: object) -> int:
    """An int of 64 bits, signed or not; a bool is none."""
    if type(value) is not int or not _INT_LEAST <= value <= _INT_MOST:
        raise MisfitError(f"{shown(value)} is no int of 64 bits")
    return value


def check_float(value: object) -> float:
    """A float, or an int for one. Not a number is refused: it equals nothing, not even itself."""
    if type(value) is int and abs(value) <= 1 << 53:
        return float(value)
    if type(value) is not float or math.isnan(value):
        raise MisfitError(f"{shown(value)} is no float")
    return value


def check_str(value: object) -> str:
    """A text that UTF-8 can carry."""
    if type(value) is not str:
        raise MisfitError(f"{shown(value)} is no str")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise MisfitError("a text holds half a character (a lone surrogate)") from None
    return value


SCALARS: dict[type, ScalarCodec] = {
    type(None): ScalarCodec(type(None)),
    bool: ScalarCodec(bool),
    int: ScalarCodec(int, check_int),
    float: ScalarCodec(float, check_float),
    str: ScalarCodec(str, check_str),
    bytes: ScalarCodec(bytes),
}


def array(codec: Codec, wire: object, length: int | None = None) -> list[object]:
    """The wire value as an array, of `length` if given; MisfitError of the codec when not."""
    if type(wire) is not list or (length is not None and len(wire) != length):
        raise codec.misfit(wire)
    return wire
