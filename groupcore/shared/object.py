"""The base of shared objects: an ordinary class whose annotated attributes are the state."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from inspect import get_annotations
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar, cast

from groupcore.sequencing.names import Order, Process
from groupcore.shared.changes import Change
from groupcore.shared.declaration import Declaration, declaration_of
from groupcore.shared.errors import DeclarationError, FieldError, MisfitError
from groupcore.shared.handle import Caller, Handle
from groupcore.shared.messages import Authorized
from groupcore.shared.operation_context import OperationContext
from groupcore.shared.operations import Operation
from groupcore.shared.pending import Pending
from groupcore.shared.solitude import Solitary
from groupcore.shared.streams import WAITING_MAX, Stream
from groupcore.shared.transactions import Transaction

T = TypeVar("T")

CHECK_EVERY = 64
"""Operations between two comparisons of the replicas' states, unless the class says otherwise."""


class SharedObject:
    """A replicated object: declare fields with types, `@operation`s that change them, open it.

    Every annotated attribute (but ClassVars) is part of the state, and every new object begins
    with its default; lists, dicts and sets without one begin empty. Fields are read like any
    attribute, at once, from this node's replica; they are changed in operations only. Other
    attributes cannot be set: they would not be shared.

    `class Price(SharedObject, order=Order.STRICT, check_every=256)` chooses the order of the
    object's group, and how many operations pass between two comparisons of the replicas' states
    (0: never).

    Raises DeclarationError when the class is made, if something in it cannot be shared.
    """

    __slots__ = ("__dict__", "__weakref__", "_shared")
    group_order: ClassVar[Order] = Order.CAUSALLY_TOTAL
    check_every: ClassVar[int] = CHECK_EVERY
    for_nodes: ClassVar[frozenset[str]] = frozenset()
    """Operations that nodes call for themselves, as nobody in particular. No page may call them,
    nor have such an object open without saying who it is."""
    sessions_join: ClassVar[bool] = False
    """Whether sessions of pages are members of the object's group, each by a number in its order.

    Else they attend (decision 184): `members` are then the nodes' own processes, and `on_joined` is
    not told of sessions. A class that overrides `on_joined` has it so, as do `strict` objects.
    """
    notes_departed: ClassVar[bool] = False
    """Whether the class overrides `on_departed`; set by itself."""
    asks_authorization: ClassVar[bool] = False
    """Whether the class overrides `check_authorization`; set by itself."""
    formerly: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """What states of former versions of the class hold: fields by fingerprint, in hexadecimal.

    Fields that such a version had not begin with their defaults. The types of those that it had,
    and what its operations did, have to be the same still."""
    _shared: Handle

    def __init_subclass__(
        cls, *, order: Order | None = None, check_every: int | None = None
    ) -> None:
        super().__init_subclass__()
        if order is not None:
            cls.group_order = order
        if check_every is not None:
            cls.check_every = check_every
        cls.notes_departed = cls.on_departed is not SharedObject.on_departed
        judge = cls.check_authorization
        cls.asks_authorization = judge is not SharedObject.check_authorization
        _refuse_reserved(cls)
        if not getattr(cls, "__parameters__", ()):  # type arguments are known when it is opened
            # A hint may name a class that comes further down: then the first object reads them.
            with suppress(NameError):
                declaration_of(cls, SharedObject)

    def __init__(self) -> None:
        if not getattr(type(self), "__parameters__", ()):
            _begin(self, type(self), Solitary(self))

    def __setattr__(self, name: str, value: object) -> None:
        if name == "__orig_class__":  # typing says with which type arguments it was made
            _begin(self, value, Solitary(self))
            return
        handle = self._shared
        field = handle.declaration.fields.get(name)
        if field is None:
            raise FieldError(
                f"{type(self).__name__} declares no field {name}; annotate it in the class: "
                "what is not declared is not shared"
            )
        steps = handle.journal.open_steps()
        try:
            new = field.codec.adopt(value, handle.journal)
        except MisfitError as error:
            raise FieldError(f"{type(self).__name__}.{name}: {error}") from None
        steps.append((object.__setattr__, (self, name, getattr(self, name))))
        object.__setattr__(self, name, new)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            kind = type(self).__name__
            if name == "_shared":
                raise DeclarationError(f"{kind} has type parameters; make it as {kind}[...]")
            raise AttributeError(f"{kind} has no attribute {name}")

    def __delattr__(self, name: str) -> None:
        raise FieldError(f"the field {name} cannot be deleted; give it another value")

    @property
    def context(self) -> OperationContext:
        """Who called the operation that runs, and when in the order; ContextError in none."""
        return self._shared.context

    @property
    def process(self) -> Process:
        """The process as which this program has the object open."""
        return self._shared.caller.process

    @property
    def members(self) -> tuple[Process, ...]:
        """The processes that have the object open, as far as this replica is, oldest first."""
        return self._shared.caller.members

    @property
    def time_s(self) -> float:
        """This replica's estimate of the order's time now, in seconds since 1970.

        Not for operations: these have `context.time_s`, which is the same at every replica.
        """
        return self._shared.caller.time_s

    def emit(self, detail: object) -> None:
        """Tell whoever follows `changes()` of this; ContextError outside an operation."""
        assert self._shared.context is not None
        self._shared.details.append(detail)

    def changes(self, waiting_max: int = WAITING_MAX) -> Stream[Change]:
        """What happens to the object from now on, for `async for`; see `changes.Change`."""
        return self._shared.caller.changes(waiting_max)

    def transaction(self) -> Transaction[Self]:
        """Several operations as one: `async with obj.transaction() as t:`, and call them on t."""
        return Transaction(self._shared)

    def refresh(self) -> Pending[None]:
        """Wait until this replica has done all that was ordered before this call."""
        pending: Pending[object] = Pending(self._shared.caller.wait)
        self._shared.caller.order((), (pending,))
        return cast("Pending[None]", pending)

    def close(self) -> Pending[None]:
        """Close the object at this node; what is under way is still done, but not waited for."""
        return self._shared.caller.close()

    def may_call(self, principal: str, operation: str) -> bool:
        """Override it to judge, by the fields alone, who may call what; False: ForbiddenError.

        It is asked at the message's place in the order, at every replica, about the state before
        the message. What it raises counts as no. `groupcore.shared.access` has one with a list.
        """
        del principal, operation
        return True

    def check_authorization(self, operations: tuple[str, ...], authorized: Authorized) -> None:
        """Override it to demand that the sender's node shows what allows it to call these.

        What it shows is what `authorize` of that `Node` gave for the message, or nothing. It is
        asked at the message's place in the order, at every replica, before `may_call`, and runs
        like an operation of its own: what it changes stays, whatever becomes of the operations.
        Whatever it raises refuses the message.
        """

    @classmethod
    def access_rules(cls) -> Mapping[str, str]:
        """What `may_call` goes by beside the fields, if anything: part of the class's version.

        Nodes whose classes differ in it would judge the same call otherwise; SchemaMismatchError.
        """
        return {}

    def may_read(self, principal: str) -> bool:
        """Override it to judge, by the fields alone, who may have the object open and follow it."""
        del principal
        return True

    def on_joined(self, process: Process) -> None:
        """Override it to change the object when a process opens it; runs like an operation."""

    def on_departed(self, process: Process) -> None:
        """Override it to change the object when a process closes it or its node is gone.

        Of sessions that attend (`sessions_join`) those are told of that have done something here.
        """


def shared(kind: type[T]) -> type[T]:
    """Make an ordinary class a shared one, as if it were derived from SharedObject.

    Type checkers go on seeing the class as it was written; derive from SharedObject where they
    should know `changes`, `transaction` and the rest.
    """
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    made = type(kind.__name__, (kind, SharedObject), {**names, "__doc__": kind.__doc__})
    return cast("type[T]", made)


def declaration(target: SharedObject) -> Declaration:
    """What the object's class declares."""
    return target._shared.declaration


def is_current(target: SharedObject) -> bool:
    """Whether its state is of now, as far as its node is.

    Not while it is opened again, in the node's next life: then it shows states that lead to it.
    """
    return target._shared.caller.is_in


async def caught_up(*targets: SharedObject) -> None:
    """Wait until these are of now; ClosedError, OutcomeUnknownError where one is closed."""
    for target in targets:
        if not is_current(target):
            await target.refresh()


def view_of(target: T, caller: Caller) -> T:
    """The same object for another caller: it has the same fields, and changes none of them."""
    origin = cast("SharedObject", target)
    view = object.__new__(type(target))
    object.__setattr__(view, "__dict__", origin.__dict__)
    object.__setattr__(view, "_shared", Handle(origin._shared.declaration, caller))
    return view


def part(view: object, copy: object) -> None:
    """Let a view go on showing what `copy` does: what comes from now on is not for its reader."""
    object.__setattr__(view, "__dict__", cast("SharedObject", copy).__dict__)


def _begin(target: SharedObject, kind: object, caller: Caller) -> None:
    """Give the object the fields that its class declares, with their defaults."""
    handle = Handle(declaration_of(kind, SharedObject), caller)
    object.__setattr__(target, "_shared", handle)
    for field in handle.declaration.fields.values():
        value = field.codec.adopt(field.default, handle.journal)
        object.__setattr__(target, field.name, value)


def _refuse_reserved(kind: type) -> None:
    for owner in kind.__mro__:
        if owner in SharedObject.__mro__:
            continue
        if "__init__" in vars(owner):
            raise DeclarationError(
                f"{kind.__name__} has an __init__; give the fields defaults instead"
            )
        names = [name for name, value in vars(owner).items() if isinstance(value, Operation)]
        for name in (*get_annotations(owner), *names):
            if hasattr(SharedObject, name) or name == "_shared":
                raise DeclarationError(
                    f"{kind.__name__}.{name}: every shared object has a {name} of its own; "
                    "rename it"
                )
