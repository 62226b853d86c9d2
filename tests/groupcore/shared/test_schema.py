"""Type hints as schemas: what fits travels and comes back equal, what does not is refused."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Literal, NamedTuple, NewType, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.objects.rich_delta import rich
from groupcore.sequencing.names import Process
from groupcore.shared.codecs import DEPTH_MAX, DictCodec, PlainCodec
from groupcore.shared.errors import DeclarationError, MisfitError
from groupcore.shared.messages import pack, unpack
from groupcore.shared.scalars import Codec
from groupcore.shared.schema import codec_of
from groupcore.shared.types.rich_text import RichCodec, RichContent
from groupcore.view import Address

Key = NewType("Key", str)
T = TypeVar("T")


class Colour(Enum):
    RED = 1
    BLUE = 2


class Point(NamedTuple):
    x: int
    y: float


@dataclass(frozen=True)
class Item:
    name: str
    price: float
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.price < 0:
            raise ValueError("a price is not negative")


@dataclass(frozen=True)
class Tree:
    children: tuple[Tree, ...]


@dataclass
class Loose:
    name: str


def said(value: object) -> str:
    """The value as part of a test's name: the same in every process, without addresses."""
    if isinstance(value, set | frozenset):
        return str(sorted(value))
    return re.sub(r" object at 0x[0-9a-f]+", "", str(value))


class Upper(Codec):
    """A codec of one's own: texts in capitals."""

    def to_wire(self, value: object) -> object:
        if not isinstance(value, str):
            raise self.misfit(value)
        return value.lower()

    def from_wire(self, wire: object) -> object:
        return str(wire).upper()


GOOD: list[tuple[object, object]] = [
    (None, None),
    (bool, True),
    (int, (1 << 64) - 1),
    (int, -(1 << 63)),
    (float, 1.5),
    (str, "é𝒳"),
    (bytes, b"\x00\xff"),
    (Key, "k"),
    (list[int], [3, 1]),
    (dict[str, list[int]], {"b": [1], "a": []}),
    (dict[int, Point], {2: Point(1, 2.0)}),
    (set[str], {"a", "b"}),
    (set[tuple[int, str]], {(1, "a"), (0, "b")}),
    (tuple[int, str], (1, "a")),
    (tuple[int, ...], (1, 2, 3)),
    (int | None, None),
    (int | str | None, "x"),
    (int | float, 2),
    (int | float, 2.0),
    (Item | list[int] | None, Item("a", 1.0, ("x",))),
    (Item | list[int] | None, [1]),
    (Literal["on", 1], "on"),
    (Colour, Colour.BLUE),
    (Point, Point(1, 2.5)),
    (Process, Process(Address("a", 3), 1)),
    (Item, Item("a", 0.5)),
    (Annotated[str, Upper("upper")], "LOUD"),
    (Annotated[int, "a remark"], 4),
    (object, {"a": [1, None, {"b": b"c"}]}),
]
BAD: list[tuple[object, object]] = [
    (int, True),
    (int, 1 << 64),
    (int, "1"),
    (float, float("nan")),
    (str, "\ud800"),
    (str, b"a"),
    (list[int], (1,)),
    (list[int], ["1"]),
    (dict[str, int], {1: 1}),
    (set[int], [1]),
    (tuple[int, str], (1,)),
    (tuple[int, ...], [1]),
    (int | None, "x"),
    (Item | None, Point(1, 1.0)),
    (Literal[1], True),
    (Colour, 1),
    (Point, (1, 2.0)),
    (Item, {"name": "a"}),
    (object, {1: 2}),
    (object, {1, 2}),
]


@pytest.mark.parametrize(("hint", "value"), GOOD, ids=said)
def test_a_value_that_fits_comes_back_equal_and_of_its_type(hint: object, value: object) -> None:
    codec = codec_of(hint)
    arrived = codec.from_wire(unpack(pack(codec.to_wire(value))))
    assert arrived == value
    assert isinstance(arrived, type(value))
    assert codec.check(value) == value


@pytest.mark.parametrize(("hint", "value"), BAD, ids=said)
def test_a_value_that_does_not_fit_is_refused(hint: object, value: object) -> None:
    with pytest.raises(MisfitError):
        codec_of(hint).to_wire(value)


@pytest.mark.parametrize(
    ("hint", "wire"),
    [
        (int, "1"),
        (list[int], {"a": 1}),
        (dict[str, int], [["a", 1], ["a", 2]]),
        (dict[str, int], [["a"]]),
        (set[int], [1, 1]),
        (tuple[int, str], [1]),
        (Item | None, [9, []]),
        (Item | None, ["x", []]),
        (Item, ["a", 1.0]),
        (Item, ["a", -1.0, []]),
        (Colour, "GREEN"),
        (Literal["a"], "b"),
        (object, object()),
    ],
    ids=said,
)
def test_what_arrives_is_checked_as_strictly(hint: object, wire: object) -> None:
    with pytest.raises(MisfitError):
        codec_of(hint).from_wire(wire)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.text("aé"),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab"), inner),
        max_leaves=8,
    )
)
def test_any_plain_value_comes_back_equal(value: object) -> None:
    codec = codec_of(object)
    assert codec.from_wire(unpack(pack(codec.to_wire(value)))) == value


def test_plain_values_have_a_depth() -> None:
    value: object = 1
    for _ in range(DEPTH_MAX):
        value = [value]
    PlainCodec().to_wire(value)
    with pytest.raises(MisfitError, match="flatten"):
        PlainCodec().to_wire([value])


@pytest.mark.parametrize(
    ("hint", "says"),
    [
        (Loose, "frozen=True"),
        (Tree, "contains itself"),
        (tuple[list[int], ...], "use a tuple"),
        (dict[tuple[int, ...] | list[int], int], "key"),
        (frozenset[int], "cannot be shared"),
        (complex, "frozen dataclass"),
        (list, "frozen dataclass"),
        ("Item", "cannot be shared"),
    ],
    ids=said,
)
def test_a_type_that_could_not_be_kept_equal_is_refused(hint: object, says: str) -> None:
    with pytest.raises(DeclarationError, match=says):
        codec_of(hint)


def test_a_dataclass_with_a_list_inside_is_refused() -> None:
    @dataclass(frozen=True)
    class Bag:
        items: list[int] = field(default_factory=list)

    with pytest.raises(DeclarationError, match="tuple there"):
        codec_of(Bag)


def test_a_type_variable_stands_for_what_it_is_bound_to() -> None:
    codec = codec_of(dict[str, T | None], {T: int})  # type: ignore[valid-type]
    assert codec.text == "dict[str, int | None]"
    assert codec_of(T).text == "object"


def test_a_union_takes_an_int_for_a_float() -> None:
    arrived = codec_of(float | None).check(1)
    assert (type(arrived), arrived) == (float, 1.0)


def test_sets_are_packed_in_one_order() -> None:
    codec = codec_of(set[str])
    words = [f"w{number}" for number in range(50)]
    backwards = {f"w{number}" for number in reversed(range(50))}
    assert pack(codec.to_wire(set(words))) == pack(codec.to_wire(backwards))


@dataclass(frozen=True)
class Page:
    text: RichContent
    places: tuple[Point, ...]
    more: tuple[RichContent, ...] = ()


def test_what_a_state_keeps_is_packed_the_same_without_being_checked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    codec = codec_of(dict[str, Page])
    assert isinstance(codec, DictCodec)
    kept = {"a": Page(rich("Milk"), (Point(1, 2.0),), (rich("and"), rich("bread")))}
    wire = codec.to_wire(kept)
    checked = 0
    from_wire = RichCodec.from_wire

    def count(one: RichCodec, value: object) -> object:
        nonlocal checked
        checked += 1
        return from_wire(one, value)

    monkeypatch.setattr(RichCodec, "from_wire", count)
    assert codec.kept_to_wire(kept) == wire
    assert checked == 0
    assert codec.to_wire(kept) == wire
    assert checked == 3
