"""The decorators: `@operation` for what changes an object, `@query` for what reads it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Concatenate, Generic, ParamSpec, Protocol, TypeVar, cast, overload

from groupcore.shared.containers import detach
from groupcore.shared.errors import DeclarationError
from groupcore.shared.pending import Pending

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


class _Handle(Protocol):
    """Where an object sends the calls of its operations."""

    def call(self, name: str, places: tuple[object, ...], names: dict[str, object]) -> object:
        """Order it; gives the pending result."""


class _Shared(Protocol):
    @property
    def _shared(self) -> _Handle: ...


class Operation(Generic[P, R]):
    """A method that changes the object: called, it is ordered and then done at every replica.

    The call gives a `Pending`: await it for the result, or for the exception, from its place in
    the order. Arguments are checked against the type hints before anything is sent.
    """

    def __init__(self, function: Callable[..., R]) -> None:
        self.function = function
        self.name = function.__name__
        functools.update_wrapper(cast("Callable[..., object]", self), function)

    @overload
    def __get__(self, instance: None, owner: type) -> Operation[P, R]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Callable[P, Pending[R]]: ...

    def __get__(
        self, instance: object | None, owner: type
    ) -> Operation[P, R] | Callable[P, Pending[R]]:
        if instance is None:
            return self
        handle = cast("_Shared", instance)._shared
        name = self.name

        def ordered(*places: P.args, **names: P.kwargs) -> Pending[R]:
            return cast("Pending[R]", handle.call(name, places, names))

        return ordered


def operation(function: Callable[Concatenate[S, P], R]) -> Operation[P, R]:
    """Make a method an operation: deterministic, not `async`, every parameter with a type.

    It may read and change the object's fields and use `self.context`; nothing else may decide
    what it does. When it raises, it has changed nothing, at any replica.
    """
    return Operation(function)


def query(function: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Make a method a query: it reads this replica at once and changes nothing.

    What it returns is a copy without ties to the state. DeclarationError when it is a generator
    or `async`: it would go on reading while the object changes.
    """
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise DeclarationError(f"the query {function.__name__} must be a plain function")

    @functools.wraps(function)
    def ask(target: S, *places: P.args, **names: P.kwargs) -> R:
        return cast("R", detach(function(target, *places, **names)))

    return cast("Callable[Concatenate[S, P], R]", ask)
