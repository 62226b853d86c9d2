"""From type hints to codecs.

A hint may be None, bool, int, float, str, bytes, `object` (any plain value), list, dict, set and
tuple of hints, unions, Literal, Enum, frozen dataclasses, NamedTuples, NewTypes, type variables
that are bound to one of these, and `Annotated[T, codec]` with a codec of one's own for T.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import (
    Annotated,
    Literal,
    NewType,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from groupcore.shared.codecs import (
    DictCodec,
    EnumCodec,
    ListCodec,
    LiteralCodec,
    PlainCodec,
    RecordCodec,
    SequenceCodec,
    SetCodec,
    TupleCodec,
    UnionCodec,
)
from groupcore.shared.errors import DeclarationError
from groupcore.shared.scalars import SCALARS, Codec

Bindings = Mapping[object, object]
"""What each type variable stands for."""

_codecs: dict[object, Codec] = {}
_UNDER_WAY: list[object] = []


def codec_of(hint: object, bindings: Bindings | None = None) -> Codec:
    """The codec of a hint; DeclarationError when values of that type cannot be shared."""
    bound = _bind(hint, bindings or {})
    codec = _codecs.get(bound)
    if codec is None:
        if bound in _UNDER_WAY:
            raise DeclarationError(f"{_name(bound)} contains itself; use `object` inside")
        _UNDER_WAY.append(bound)
        try:
            codec = _make(bound)
        finally:
            _UNDER_WAY.pop()
        _codecs[bound] = codec
    return codec


def _bind(hint: object, bindings: Bindings) -> object:
    """The hint with its type variables replaced."""
    if isinstance(hint, TypeVar):
        bound = bindings.get(hint, hint.__bound__ or object)
        return bound if bound is not hint else object
    parameters = getattr(hint, "__parameters__", ())
    if not parameters or isinstance(hint, type):
        return hint
    arguments = tuple([_bind(parameter, bindings) for parameter in parameters])
    replaced: object = hint[arguments]  # type: ignore[index]
    return replaced


def _make(hint: object) -> Codec:
    if hint is None:
        return SCALARS[NoneType]
    if hint is object:
        return PlainCodec()
    if isinstance(hint, NewType):
        return codec_of(hint.__supertype__)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is not None:
        return _make_generic(hint, origin, arguments)
    if isinstance(hint, type):
        return _make_class(hint)
    raise DeclarationError(f"the type {_name(hint)} cannot be shared")


def _make_generic(hint: object, origin: object, arguments: tuple[object, ...]) -> Codec:
    if origin is Annotated:
        own = [extra for extra in arguments[1:] if isinstance(extra, Codec)]
        return own[0] if own else codec_of(arguments[0])
    if origin is Literal:
        return LiteralCodec(arguments)
    if origin in (Union, UnionType):
        return UnionCodec([codec_of(argument) for argument in arguments])
    if origin is list:
        return ListCodec(codec_of(arguments[0]))
    if origin is dict:
        return DictCodec(_key(arguments[0]), codec_of(arguments[1]))
    if origin is set:
        return SetCodec(_key(arguments[0]))
    if origin is tuple:
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return SequenceCodec(_immutable(arguments[0], "tuple"))
        items = [_immutable(argument, "tuple") for argument in arguments]
        return TupleCodec(f"tuple[{', '.join(item.text for item in items)}]", items, tuple)
    raise DeclarationError(
        f"the type {_name(hint)} cannot be shared; use list, dict, set or tuple of shared types"
    )


def _make_class(kind: type) -> Codec:
    if kind in SCALARS:
        return SCALARS[kind]
    if issubclass(kind, Enum):
        return EnumCodec(kind)
    if dataclasses.is_dataclass(kind):
        parameters = kind.__dict__.get("__dataclass_params__")
        if parameters is None or not parameters.frozen:
            raise DeclarationError(
                f"the dataclass {kind.__name__} can be changed behind the object's back; declare "
                "it with frozen=True and replace it as a whole"
            )
        hints = get_type_hints(kind, include_extras=True)
        names = [field.name for field in dataclasses.fields(kind) if field.init]
        return RecordCodec(kind, {name: _immutable(hints[name], kind.__name__) for name in names})
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        hints = get_type_hints(kind, include_extras=True)
        items = [_immutable(hints[name], kind.__name__) for name in kind._fields]
        text = f"{kind.__name__}({', '.join(item.text for item in items)})"
        return TupleCodec(text, items, kind)
    raise DeclarationError(
        f"the type {_name(kind)} cannot be shared; use a frozen dataclass, or list[...], "
        "dict[..., ...], set[...], tuple[...] with the types of what is inside"
    )


def _immutable(hint: object, outer: str) -> Codec:
    codec = codec_of(hint)
    if codec.mutable:
        raise DeclarationError(
            f"{codec.text} inside the immutable {outer} could not be undone; use a tuple there"
        )
    return codec


def _key(hint: object) -> Codec:
    codec = codec_of(hint)
    if codec.mutable:
        raise DeclarationError(f"{codec.text} cannot be a key or an element of a set")
    return codec


def _name(hint: object) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
