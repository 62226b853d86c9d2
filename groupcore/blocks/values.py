"""Values that travel: what msgpack carries, checked on the way out and on the way in.

A value is None, a bool, an int of 64 bits, a float, a str, bytes, a list of values, or a dict from
str to values. Tuples travel as lists. Nothing else does, so what one member sends is what every
other one reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import TypeAlias, Union, get_args, get_origin

from msgpack import ExtType, packb, unpackb
from msgpack.exceptions import UnpackException

from groupcore.blocks.errors import RegistrationError, ValueRefusedError

Value: TypeAlias = "bool | int | float | str | bytes | Sequence[Value] | Mapping[str, Value] | None"
"""Anything that travels."""

DEPTH_MAX = 32
"""How deeply lists and dicts may be nested."""
VALUE_BYTES_MAX = 15 << 20
"""Largest packed value; a message of a channel holds 16 MiB on loopback."""

_INT_LEAST = -(1 << 63)
_INT_MOST = (1 << 64) - 1
_PLAIN = (NoneType, bool, int, float, str, bytes)


def pack_value(value: object, bytes_max: int = VALUE_BYTES_MAX) -> bytes:
    """The value as bytes; ValueRefusedError when it cannot travel or is above `bytes_max`."""
    check_value(value)
    packed: bytes = packb(value, use_bin_type=True)
    if len(packed) > bytes_max:
        raise ValueRefusedError(f"the value has {len(packed)} bytes packed, at most {bytes_max}")
    return packed


def unpack_value(packed: bytes) -> object:
    """The value in these bytes; ValueRefusedError when they are not one value."""
    try:
        value: object = unpackb(packed, raw=False, strict_map_key=True)
    except (ValueError, TypeError, RecursionError, UnpackException) as error:
        raise ValueRefusedError(f"not a packed value ({type(error).__name__})") from None
    check_value(value)
    return value


def check_value(value: object, depth: int = 0) -> None:
    """Accept what travels; ValueRefusedError names the type or the limit."""
    if depth > DEPTH_MAX:
        raise ValueRefusedError(f"a value is nested more than {DEPTH_MAX} deep; flatten it")
    match value:
        case bool() | float() | bytes() | None:
            return
        case int():
            if not _INT_LEAST <= value <= _INT_MOST:
                raise ValueRefusedError("an integer has more than 64 bits; send it as text")
        case str():
            _check_text(value)
        case list() | tuple() if not isinstance(value, ExtType):
            for item in value:
                check_value(item, depth + 1)
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    raise ValueRefusedError(f"a dict key is {type(key).__name__}; use str keys")
                _check_text(key)
                check_value(item, depth + 1)
        case _:
            raise ValueRefusedError(
                f"a {type(value).__name__} does not travel; use None, bool, int, float, str, "
                "bytes, lists and dicts with str keys"
            )


def _check_text(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueRefusedError("a text holds half a character (a lone surrogate)") from None


def check_annotation(annotation: object) -> None:
    """Accept a type that `conforms` can check; RegistrationError for another."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in (object, None, *_PLAIN, list, dict):
        return
    if origin in (Union, UnionType) or origin in (list, Sequence):
        for argument in arguments:
            check_annotation(argument)
        return
    if origin in (dict, Mapping) and arguments[0] is str:
        check_annotation(arguments[1])
        return
    raise RegistrationError(
        f"the type {annotation!r} cannot be checked; use None, bool, int, float, str, bytes, "
        "object, list[...], dict[str, ...] and unions of these"
    )


def conforms(value: object, annotation: object) -> bool:
    """Whether the value is of this type. An int is a float as well; a bool is no int."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is object:
        return True
    if annotation is None or annotation is NoneType:
        return value is None
    if annotation is float:
        return type(value) in (float, int)
    if origin in (Union, UnionType):
        return any(conforms(value, argument) for argument in arguments)
    if origin in (list, Sequence):
        return isinstance(value, list) and all(conforms(item, arguments[0]) for item in value)
    if origin in (dict, Mapping):
        if not isinstance(value, dict):
            return False
        return all(conforms(item, arguments[1]) for item in value.values())
    return type(value) is annotation
