"""What a class of shared objects declares: fields, operations, and what they take.

Read once a class from its annotations and its functions' type hints. The fingerprint tells
versions of a class apart: replicas of two versions do not mix.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, get_args, get_origin, get_type_hints

from groupcore.shared.codecs import DictCodec, ListCodec, SetCodec
from groupcore.shared.errors import ArgumentsError, DeclarationError, MisfitError
from groupcore.shared.operations import Operation
from groupcore.shared.scalars import Codec
from groupcore.shared.schema import codec_of

MISSING = object()
"""Stands for no default."""

FINGERPRINT_BYTES = 8


@dataclass(frozen=True, slots=True)
class Field:
    """One field of the state; `default` is a plain value that every new object begins with."""

    name: str
    codec: Codec
    default: object


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation; `default` is MISSING where there is none."""

    name: str
    codec: Codec
    default: object
    by_place: bool


class OperationSpec:
    """An operation and how its arguments are checked and packed."""

    __slots__ = ("_codecs", "_parameters", "_places", "function", "name", "text")

    def __init__(
        self, name: str, function: Callable[..., object], parameters: Sequence[Parameter]
    ) -> None:
        self.name = name
        self.function = function
        self._parameters = parameters
        self._codecs = [parameter.codec for parameter in parameters]
        self._places = sum(parameter.by_place for parameter in parameters)
        inside = ", ".join(f"{one.name}: {one.codec.text}" for one in parameters)
        self.text = f"{name}({inside})"

    def encode(self, places: Sequence[object], names: Mapping[str, object]) -> list[object]:
        """The arguments for the wire, defaults filled in; ArgumentsError when one does not fit."""
        if len(places) > self._places:
            raise ArgumentsError(
                f"{self.name} takes {self._places} arguments by place, not {len(places)}"
            )
        wire: list[object] = []
        used = 0
        for place, parameter in enumerate(self._parameters):
            if place < len(places):
                value = places[place]
            else:
                value = names.get(parameter.name, parameter.default)
                used += parameter.name in names
            if value is MISSING:
                raise ArgumentsError(f"{self.name} needs the argument {parameter.name}")
            try:
                wire.append(parameter.codec.to_wire(value))
            except MisfitError as error:
                raise ArgumentsError(f"{self.name}, {parameter.name}: {error}") from None
        if used != len(names):
            known = {one.name for one in self._parameters[len(places) :]}
            raise ArgumentsError(
                f"{self.name} takes no (second) argument {sorted(names.keys() - known)[0]}"
            )
        return wire

    def completed(self, wire: Sequence[object]) -> list[object]:
        """Arguments from outside, defaults filled in; ArgumentsError when one does not fit."""
        places = list(wire)
        for parameter in self._parameters[len(places) :]:
            if parameter.default is MISSING:
                raise ArgumentsError(f"{self.name} needs the argument {parameter.name}")
            places.append(parameter.codec.to_wire(parameter.default))
        try:
            self.decode(places)
        except MisfitError as error:
            raise ArgumentsError(str(error)) from None
        return places

    def decode(self, wire: object) -> list[object]:
        """The arguments that have arrived; MisfitError when they are none for this operation.

        A parameter that has come to the operation since a log was written has its default there.
        """
        if type(wire) is not list or len(wire) > len(self._codecs):
            raise MisfitError(f"{self.name} takes {len(self._codecs)} arguments")
        decoded = [codec.from_wire(value) for codec, value in zip(self._codecs, wire, strict=False)]
        for parameter in self._parameters[len(wire) :]:
            if parameter.default is MISSING:
                raise MisfitError(f"{self.name} needs the argument {parameter.name}")
            decoded.append(parameter.codec.from_wire(parameter.codec.to_wire(parameter.default)))
        return decoded

    def named(self, arguments: Sequence[object]) -> dict[str, object]:
        """The arguments by the parameters' names."""
        pairs = zip(self._parameters, arguments, strict=True)
        return {parameter.name: value for parameter, value in pairs}

    def call(self, target: object, arguments: Sequence[object]) -> object:
        """Run it on the object, now."""
        places = self._places
        if places == len(arguments):
            return self.function(target, *arguments)
        names = {
            parameter.name: value
            for parameter, value in zip(self._parameters[places:], arguments[places:], strict=True)
        }
        return self.function(target, *arguments[:places], **names)


class Declaration:
    """Fields and operations of one class, or of one generic class with its arguments."""

    __slots__ = ("fields", "fingerprint", "kind", "operations")

    def __init__(
        self,
        kind: type,
        fields: dict[str, Field],
        operations: dict[str, OperationSpec],
        rules: Mapping[str, str],
    ) -> None:
        self.kind = kind
        self.fields = fields
        self.operations = operations
        lines = [kind.__name__]
        lines += [f"{field.name}: {field.codec.text}" for field in fields.values()]
        lines += sorted(operation.text for operation in operations.values())
        lines += sorted(f"{operation} needs {right}" for operation, right in rules.items())
        digest = hashlib.blake2b("\n".join(lines).encode(), digest_size=FINGERPRINT_BYTES)
        self.fingerprint = digest.digest()


_declarations: dict[object, Declaration] = {}


def declaration_of(kind: object, base: type) -> Declaration:
    """What `kind`, a subclass of `base` or such a one with type arguments, declares.

    DeclarationError names the field or parameter that cannot be shared; NameError when a hint
    names something that is not defined (yet).
    """
    declaration = _declarations.get(kind)
    if declaration is None:
        declaration = _read(kind, base)
        _declarations[kind] = declaration
    return declaration


def _read(kind: object, base: type) -> Declaration:
    origin = get_origin(kind) or kind
    assert isinstance(origin, type)
    bindings = _bindings(kind)
    own = inspect.get_annotations(base)
    operations = {
        name: _operation(name, function, bindings)
        for name, function in sorted(_operations(origin, base))
    }
    fields = {
        name: _field(origin, name, hint, bindings)
        for name, hint in get_type_hints(origin, include_extras=True).items()
        if name not in own and get_origin(hint) is not ClassVar and hint is not ClassVar
    }
    rules: Mapping[str, str] = origin.access_rules()  # type: ignore[attr-defined]  # of every base
    return Declaration(origin, fields, operations, rules)


def _bindings(kind: object) -> dict[object, object]:
    """What the type variables of a class and of its bases stand for."""
    origin = get_origin(kind) or kind
    found: dict[object, object] = dict(
        zip(getattr(origin, "__parameters__", ()), get_args(kind), strict=False)
    )
    assert isinstance(origin, type)
    for generic in origin.__dict__.get("__orig_bases__", origin.__bases__):
        base = get_origin(generic) or generic
        if base in (Generic, object):
            continue
        parameters = getattr(base, "__parameters__", ())
        arguments = [found.get(argument, argument) for argument in get_args(generic)]
        inherited = dict(zip(parameters, arguments, strict=False))
        deeper = _bindings(base)
        for variable, meaning in deeper.items():
            inherited.setdefault(variable, inherited.get(meaning, meaning))
        found = {**inherited, **found}
    return found


def _operations(origin: type, base: type) -> Iterator[tuple[str, Callable[..., object]]]:
    seen = set()
    for owner in origin.__mro__:
        if owner in base.__mro__:
            continue
        for name, value in vars(owner).items():
            if name in seen:
                continue
            seen.add(name)
            if isinstance(value, Operation):
                yield name, value.function


def _operation(
    name: str, function: Callable[..., object], bindings: Mapping[object, object]
) -> OperationSpec:
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise DeclarationError(
            f"the operation {name} must be a plain function: all of it has one place in the order"
        )
    hints = get_type_hints(function, include_extras=True)
    parameters = []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise DeclarationError(f"{name}: {parameter} has no fixed type; take a list or a dict")
        if parameter.name not in hints:
            raise DeclarationError(f"{name}: give the parameter {parameter.name} a type")
        try:
            codec = codec_of(hints[parameter.name], bindings)
        except DeclarationError as error:
            raise DeclarationError(f"{name}, {parameter.name}: {error}") from None
        default = MISSING if parameter.default is parameter.empty else parameter.default
        by_place = parameter.kind is not parameter.KEYWORD_ONLY
        parameters.append(Parameter(parameter.name, codec, default, by_place))
    return OperationSpec(name, function, parameters)


def _field(kind: type, name: str, hint: object, bindings: Mapping[object, object]) -> Field:
    try:
        codec = codec_of(hint, bindings)
        default = getattr(kind, name, MISSING)
        if default is MISSING:
            default = _empty(codec)
        codec.to_wire(default)
    except (DeclarationError, MisfitError) as error:
        raise DeclarationError(f"{kind.__name__}.{name}: {error}") from None
    return Field(name, codec, default)


def _empty(codec: Codec) -> object:
    match codec:
        case ListCodec():
            return []
        case DictCodec():
            return {}
        case SetCodec():
            return set()
        case _:
            raise DeclarationError("give it a default, which every new object begins with")
