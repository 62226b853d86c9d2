"""The functions that a dispatcher may run: only those registered, only with what they accept."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import get_type_hints

from groupcore.blocks.errors import RegistrationError
from groupcore.blocks.rpc_messages import NAME_MAX
from groupcore.blocks.values import check_annotation, conforms

Function = Callable[..., object]
"""A plain or an `async` function; every parameter has a type."""


class ArgumentsError(Exception):
    """The arguments of a request do not fit the function."""


@dataclass(frozen=True, slots=True)
class Registered:
    """One function and the types of its parameters; `least` of them have no default."""

    function: Function
    types: tuple[object, ...]
    least: int

    def check(self, arguments: list[object]) -> None:
        """Accept arguments that fit; ArgumentsError says which does not."""
        if not self.least <= len(arguments) <= len(self.types):
            raise ArgumentsError(
                f"takes {self.least} to {len(self.types)} arguments, got {len(arguments)}"
            )
        for place, (argument, wanted) in enumerate(zip(arguments, self.types, strict=False), 1):
            if not conforms(argument, wanted):
                name = getattr(wanted, "__name__", str(wanted))
                raise ArgumentsError(f"argument {place} is {type(argument).__name__}, not {name}")


class Functions:
    """Functions by name."""

    def __init__(self) -> None:
        self._functions: dict[str, Registered] = {}

    def register(self, name: str, function: Function) -> None:
        """Make the function callable; RegistrationError when the name or a type is not usable."""
        if not 0 < len(name) <= NAME_MAX:
            raise RegistrationError(f"{name!r} is not a name of 1 to {NAME_MAX} characters")
        if name in self._functions:
            raise RegistrationError(f"{name!r} is registered already; take another name")
        self._functions[name] = read(name, function)

    def unregister(self, name: str) -> None:
        """Make it callable no more; RegistrationError when it was not registered."""
        if self._functions.pop(name, None) is None:
            raise RegistrationError(f"{name!r} is not registered")

    def find(self, name: str) -> Registered | None:
        """The function of this name."""
        return self._functions.get(name)


def read(name: str, function: Function) -> Registered:
    """Read the parameters; RegistrationError for one without a type, or with one like `**kw`."""
    hints = get_type_hints(function)
    types: list[object] = []
    least = 0
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise RegistrationError(f"{name}: {parameter} cannot be given by place; leave it out")
        if parameter.name not in hints:
            raise RegistrationError(f"{name}: give the parameter {parameter.name} a type")
        check_annotation(hints[parameter.name])
        types.append(hints[parameter.name])
        least += parameter.default is parameter.empty
    return Registered(function, tuple(types), least)
