"""Shared objects as ordinary classes: declared, checked, undone; here without any node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import pytest

from groupcore.sequencing.names import Order
from groupcore.shared import (
    ArgumentsError,
    ContextError,
    DeclarationError,
    FieldError,
    NestedOperationError,
    ReadOnlyError,
    SharedObject,
    operation,
    query,
    shared,
)
from groupcore.shared.object import declaration

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class Entry:
    name: str
    amount: int


LIMITS = {"most": 100}


class Account(SharedObject):
    """An object with a field of each sort."""

    PLACES: ClassVar[int] = 2
    owner: str = "nobody"
    balance: int = 0
    book: list[Entry]
    tags: set[str]
    limits: dict[str, int] = LIMITS

    @operation
    def deposit(self, amount: int, *, note: str = "") -> int:
        self.balance += amount
        self.book.append(Entry(note, amount))
        if self.balance > self.limits["most"]:
            raise ValueError("too rich")
        return self.balance

    @operation
    def rename(self, owner: str) -> list[Entry]:
        self.owner = owner
        self.emit(("renamed", owner))
        return self.book

    @operation
    def draw_lots(self) -> tuple[int, str, str, float]:
        context = self.context
        return context.random.randrange(10**9), context.new_id(), context.new_id(), context.time_s

    @query
    def entries(self) -> list[Entry]:
        return self.book

    @query
    def spoil(self) -> None:
        self.balance = 7

    @operation
    def nest(self) -> None:
        self.deposit(1)


class Table(SharedObject, Generic[K, V], order=Order.STRICT, check_every=5):
    cells: dict[K, V]
    last: V | None = None

    @operation
    def put(self, key: K, value: V) -> V | None:
        old = self.cells.get(key)
        self.cells[key] = self.last = value
        return old


class Prices(Table[str, float]):
    """A subclass binds the type variables as well."""


def test_an_operation_changes_the_object_and_gives_its_result() -> None:
    account = Account()
    assert account.deposit(5).result() == 5
    assert account.deposit(2, note="gift").result() == 7
    assert (account.balance, account.book) == (7, [Entry("", 5), Entry("gift", 2)])


def test_an_operation_that_raises_has_changed_nothing_and_raises_the_same_at_the_caller() -> None:
    account = Account()
    account.deposit(60)
    pending = account.deposit(60)
    with pytest.raises(ValueError, match="too rich"):
        pending.result()
    assert isinstance(pending.error, ValueError)
    assert (account.balance, account.book) == (60, [Entry("", 60)])


@pytest.mark.parametrize(
    ("places", "names", "says"),
    [
        (("5",), {}, "amount: '5' is no int"),
        ((True,), {}, "amount"),
        ((), {}, "needs the argument amount"),
        ((1, "x"), {}, "takes 1 arguments by place"),
        ((1,), {"amount": 2}, "no .second. argument amount"),
        ((1,), {"colour": 2}, "argument colour"),
        ((1,), {"note": 2}, "note: 2 is no str"),
    ],
)
def test_bad_arguments_are_refused_before_anything_happens(
    places: tuple[object, ...], names: dict[str, object], says: str
) -> None:
    account = Account()
    with pytest.raises(ArgumentsError, match=says):
        account.deposit(*places, **names)  # type: ignore[arg-type]
    assert account.balance == 0


def test_fields_are_read_freely_and_changed_in_operations_only() -> None:
    account = Account()
    changes: list[Callable[[], object]] = [
        lambda: setattr(account, "balance", 5),
        lambda: account.book.append(Entry("", 1)),
        lambda: account.limits.update(most=1000),
        account.spoil,
    ]
    for change in changes:
        with pytest.raises(ReadOnlyError, match="@operation"):
            change()
    with pytest.raises(FieldError, match="declares no field"):
        account.colour = "red"
    with pytest.raises(FieldError, match="cannot be deleted"):
        del account.balance
    assert not hasattr(account, "colour")


def test_a_field_takes_only_values_of_its_type() -> None:
    class Wrong(SharedObject):
        count: int = 0

        @operation
        def break_it(self) -> None:
            self.count = 1
            self.count = "one"  # type: ignore[assignment]

    wrong = Wrong()
    with pytest.raises(FieldError, match=r"Wrong.count: 'one' is no int"):
        wrong.break_it().result()
    assert wrong.count == 0


def test_every_object_begins_with_its_own_copy_of_the_defaults() -> None:
    one, other = Account(), Account()
    one.deposit(1)
    assert (other.balance, other.book, other.limits) == (0, [], {"most": 100})
    assert one.limits is not other.limits


def test_results_and_queries_give_copies() -> None:
    account = Account()
    account.deposit(1)
    for copied in (account.rename("ann").result(), account.entries()):
        copied.append(Entry("forged", 1))
    assert account.book == [Entry("", 1)]


def test_what_an_operation_draws_depends_on_its_place_only() -> None:
    one, other = Account(), Account()
    first = one.draw_lots().result()
    assert first == other.draw_lots().result()
    assert first[0] != one.draw_lots().result()[0]
    assert first[1:] == ("1", "1-2", 0.0)


def test_only_an_operation_has_a_context() -> None:
    account = Account()
    with pytest.raises(ContextError):
        _ = account.context
    with pytest.raises(ContextError):
        account.emit("x")
    account.deposit(1)
    with pytest.raises(ContextError):
        _ = account.context


def test_operations_do_not_call_operations() -> None:
    account = Account()
    with pytest.raises(NestedOperationError, match="plain method"):
        account.nest().result()
    assert account.balance == 0


async def test_changes_tell_of_operations_that_did_something() -> None:
    account = Account()
    changes = account.changes()
    account.deposit(60, note="a")
    account.deposit(60)
    account.rename("ann")
    seen = [(change.operation, dict(change.arguments), change.details) for change in changes.take()]  # type: ignore[union-attr]
    assert seen == [
        ("deposit", {"amount": 60, "note": "a"}, ()),
        ("rename", {"owner": "ann"}, (("renamed", "ann"),)),
    ]


def test_type_arguments_are_part_of_the_schema() -> None:
    table = Table[str, int]()
    table.put("a", 1)
    assert (table.put("a", 2).result(), table.last) == (1, 2)
    with pytest.raises(ArgumentsError):
        table.put(1, 1)  # type: ignore[arg-type]
    prices = Prices()
    prices.put("chips", 3)
    assert prices.cells == {"chips": 3.0}
    with pytest.raises(ArgumentsError):
        prices.put("chips", "dear")  # type: ignore[arg-type]
    with pytest.raises(DeclarationError, match=r"Table\[...\]"):
        Table[str, int].__origin__().put("a", 1)  # type: ignore[attr-defined]
    assert (Table.group_order, Table.check_every) == (Order.STRICT, 5)


def test_classes_that_differ_have_other_fingerprints() -> None:
    prints = [
        declaration(made).fingerprint
        for made in (Table[str, int](), Table[str, float](), Prices(), Account())
    ]
    assert len(set(prints)) == 4
    assert declaration(Table[str, int]()).fingerprint == prints[0]


def test_an_ordinary_class_becomes_a_shared_one() -> None:
    @shared
    class Clicks:
        """Counts."""

        count: int = 0

        @operation
        def click(self) -> int:
            self.count += 1
            return self.count

    clicks = Clicks()
    assert (clicks.click().result(), clicks.click().result(), clicks.count) == (1, 2, 2)
    assert isinstance(clicks, SharedObject)
    assert (Clicks.__name__, Clicks.__doc__) == ("Clicks", "Counts.")


def test_an_overridden_operation_is_the_one_that_is_done() -> None:
    class Double(Account):
        @operation
        def deposit(self, amount: int, *, note: str = "") -> int:
            self.balance += 2 * amount
            return self.balance

    assert Double().deposit(4).result() == 8


def test_what_cannot_be_shared_is_found_when_the_class_is_made() -> None:
    with pytest.raises(DeclarationError, match=r"Half.count: give it a default"):

        class Half(SharedObject):
            count: int

    with pytest.raises(DeclarationError, match="'x' is no int"):

        class Mistyped(SharedObject):
            count: int = "x"  # type: ignore[assignment]

    with pytest.raises(DeclarationError, match="cannot be shared"):

        class Odd(SharedObject):
            socket: complex = 1j

    with pytest.raises(DeclarationError, match="give the parameter by a type"):

        class Untyped(SharedObject):
            @operation
            def add(self, by) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
                pass

    with pytest.raises(DeclarationError, match="must be a plain function"):

        class Slow(SharedObject):
            @operation
            async def add(self) -> None:
                pass

    with pytest.raises(DeclarationError, match="must be a plain function"):

        class Lazy(SharedObject):
            @query
            async def look(self) -> None:
                pass

    with pytest.raises(DeclarationError, match="no fixed type"):

        class Loose(SharedObject):
            @operation
            def add(self, *by: int) -> None:
                pass

    with pytest.raises(DeclarationError, match=r"add, by: the dataclass|add, by: "):

        class Strange(SharedObject):
            @operation
            def add(self, by: complex) -> None:
                pass


def test_names_that_every_object_has_are_not_taken() -> None:
    with pytest.raises(DeclarationError, match="rename it"):

        class Field(SharedObject):
            members: int = 0  # type: ignore[assignment]

    with pytest.raises(DeclarationError, match="rename it"):

        class Verb(SharedObject):
            @operation
            def refresh(self) -> None:
                pass

    with pytest.raises(DeclarationError, match="__init__"):

        class Made(SharedObject):
            def __init__(self) -> None:
                pass

    with pytest.raises(DeclarationError, match="__init__"):

        @shared
        class MadeToo:
            def __init__(self) -> None:
                pass
