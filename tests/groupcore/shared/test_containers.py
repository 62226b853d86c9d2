"""Tracked lists, dicts and sets behave as Python's own, and rolling back leaves nothing behind."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

import pytest

from groupcore.shared.containers import TrackedDict, TrackedList, detach
from groupcore.shared.errors import MisfitError, ReadOnlyError
from groupcore.shared.journal import Journal
from groupcore.shared.scalars import Codec
from groupcore.shared.schema import codec_of
from groupcore.shared.sets import SortedSet, TrackedSet

LISTS = codec_of(list[int])
DICTS = codec_of(dict[str, int])
SETS = codec_of(set[str])
NESTED = codec_of(dict[str, list[int]])

ListStep = Callable[[list[int], random.Random], object]
DictStep = Callable[[dict[str, int], random.Random], object]
SetStep = Callable[[set[str], random.Random], object]


def _index(items: list[int], draw: random.Random) -> int:
    return draw.randrange(-len(items), len(items))


def _put(items: list[int], draw: random.Random) -> None:
    items[_index(items, draw)] = 9


def _put_slice(items: list[int], draw: random.Random) -> None:
    items[1:3] = [draw.randrange(5)] * 3


def _delete(items: list[int], draw: random.Random) -> None:
    del items[_index(items, draw)]


def _add(items: list[int], draw: random.Random) -> None:
    items += [draw.randrange(9), 1]


def _double(items: list[int], draw: random.Random) -> None:
    items *= 2


LIST_STEPS: list[ListStep] = [
    lambda items, draw: items.append(draw.randrange(9)),
    lambda items, draw: items.extend([1, draw.randrange(9)]),
    lambda items, draw: items.insert(draw.randrange(4), 7),
    lambda items, draw: items.pop(),
    lambda items, draw: items.pop(_index(items, draw)),
    lambda items, draw: items.remove(items[0]),
    lambda items, draw: items.reverse(),
    lambda items, draw: items.sort(key=lambda item: -item),
    lambda items, draw: items.clear(),
    _put,
    _put_slice,
    _delete,
    _add,
    _double,
]


def _key(items: dict[str, int], draw: random.Random) -> str:
    return draw.choice(list(items))


def _set_key(items: dict[str, int], draw: random.Random) -> None:
    items[draw.choice("abcdef")] = draw.randrange(9)


def _delete_key(items: dict[str, int], draw: random.Random) -> None:
    del items[_key(items, draw)]


def _merge(items: dict[str, int], draw: random.Random) -> None:
    items |= {"a": 5, "z": draw.randrange(9)}


DICT_STEPS: list[DictStep] = [
    _set_key,
    _set_key,
    _delete_key,
    _merge,
    lambda items, draw: items.pop(_key(items, draw)),
    lambda items, draw: items.pop("nowhere", 4),
    lambda items, draw: items.popitem(),
    lambda items, draw: items.update({"b": 1}, c=2),
    lambda items, draw: items.setdefault(draw.choice("abcxy"), 3),
    lambda items, draw: items.clear(),
]


def _or(items: set[str], draw: random.Random) -> None:
    items |= {"o", draw.choice("abc")}


def _and(items: set[str], draw: random.Random) -> None:
    items &= {"a", "b", "c", "o"}


def _minus(items: set[str], draw: random.Random) -> None:
    items -= {"a", draw.choice("bcd")}


def _xor(items: set[str], draw: random.Random) -> None:
    items ^= {"a", draw.choice("bcd")}


SET_STEPS: list[SetStep] = [
    _or,
    _and,
    _minus,
    _xor,
    lambda items, draw: items.add(draw.choice("abcdef")),
    lambda items, draw: items.discard(draw.choice("abcdef")),
    lambda items, draw: items.remove(min(items)),
    lambda items, draw: items.update(["p", "q"], ["r"]),
    lambda items, draw: items.intersection_update("abcpq"),
    lambda items, draw: items.difference_update("pq", "a"),
    lambda items, draw: items.symmetric_difference_update("ab"),
    lambda items, draw: items.clear(),
]


def play(
    codec: Codec, start: object, steps: list[Callable[..., object]], seed: int
) -> tuple[object, object, Journal, bytes]:
    """The same random steps on a tracked container and on a plain one."""
    draw = random.Random(seed)
    journal = Journal()
    tracked, plain = codec.adopt(start, journal), copy.deepcopy(start)
    before = repr(tracked).encode()
    journal.begin()
    for _ in range(draw.randint(1, 8)):
        step = draw.choice(steps)
        chance = draw.random()
        outcomes = []
        for target in (tracked, plain):
            try:
                outcomes.append(step(target, random.Random(chance)))
            except (IndexError, KeyError, ValueError) as error:
                outcomes.append(type(error))
        assert outcomes[0] == outcomes[1]
    return tracked, plain, journal, before


@pytest.mark.parametrize(
    ("codec", "start", "steps"),
    [
        (LISTS, [3, 1, 2], LIST_STEPS),
        (DICTS, {"a": 1, "b": 2, "c": 3, "d": 4}, DICT_STEPS),
        (SETS, {"a", "b", "c"}, SET_STEPS),
    ],
    ids=["list", "dict", "set"],
)
def test_a_tracked_container_does_what_a_plain_one_does_and_can_be_rolled_back(
    codec: Codec, start: object, steps: list[Callable[..., object]]
) -> None:
    for seed in range(400):
        tracked, plain, journal, before = play(codec, start, steps, seed)
        assert tracked == plain, seed
        if isinstance(plain, dict):
            assert list(tracked) == list(plain)  # type: ignore[call-overload]
        journal.rollback()
        assert tracked == start, seed
        assert repr(tracked).encode() == before, "the order of keys is restored as well"


@pytest.mark.parametrize(
    ("codec", "start", "steps"),
    [(LISTS, [3, 1, 2], LIST_STEPS), (DICTS, {"a": 1}, DICT_STEPS), (SETS, {"a"}, SET_STEPS)],
    ids=["list", "dict", "set"],
)
def test_nothing_changes_outside_an_operation(
    codec: Codec, start: object, steps: list[Callable[..., object]]
) -> None:
    tracked = codec.adopt(start, Journal())
    for step in steps:
        with pytest.raises(ReadOnlyError):
            step(tracked, random.Random(1))
    assert tracked == start


def test_what_goes_in_is_checked_and_changes_nothing_when_it_does_not_fit() -> None:
    journal = Journal()
    items = LISTS.adopt([1], journal)
    pairs = DICTS.adopt({"a": 1}, journal)
    names = SETS.adopt({"a"}, journal)
    assert isinstance(items, TrackedList)
    assert isinstance(pairs, TrackedDict)
    assert isinstance(names, TrackedSet)
    journal.begin()
    changes: list[Callable[[], object]] = [
        lambda: items.append("x"),
        lambda: items.extend([1, "x"]),
        lambda: items.insert(0, None),
        lambda: items.__setitem__(0, 1.5),
        lambda: items.__setitem__(slice(0, 1), ["x"]),
        lambda: pairs.__setitem__("a", "x"),
        lambda: pairs.__setitem__(1, 1),
        lambda: names.add(1),
        lambda: names.update([1]),
    ]
    for change in changes:
        with pytest.raises(MisfitError):
            change()
    journal.rollback()
    assert (items, pairs, names) == ([1], {"a": 1}, {"a"})


def test_a_container_that_goes_in_is_copied_and_tracked_itself() -> None:
    journal = Journal()
    table = NESTED.adopt({}, journal)
    assert isinstance(table, TrackedDict)
    mine = [1]
    journal.begin()
    table["a"] = mine
    mine.append(2)
    inside = table["a"]
    assert isinstance(inside, TrackedList)
    inside.append(3)
    assert table == {"a": [1, 3]}
    journal.rollback()
    assert table == {}


def test_a_set_is_iterated_in_one_order_whatever_was_done_to_it() -> None:
    forwards, backwards = (SETS.adopt(set(), Journal()) for _ in range(2))
    for tracked, names in ((forwards, "badc"), (backwards, "cdab")):
        assert isinstance(tracked, TrackedSet)
        tracked._journal.begin()
        tracked.update(names)
    assert isinstance(forwards, TrackedSet)
    assert isinstance(backwards, TrackedSet)
    assert list(forwards) == list(backwards) == list("abcd")
    assert repr(forwards) == "{'a', 'b', 'c', 'd'}"
    for made in (
        forwards | {"z", "e"},
        {"z", "e"} | forwards,
        forwards & {"d", "a"},
        forwards - {"c"},
        {"x", "b", "q"} - forwards,
        forwards ^ {"a", "x"},
        forwards.copy(),
        forwards.union(["q"]),
    ):
        assert isinstance(made, SortedSet)
        assert list(made) == sorted(made)  # type: ignore[type-var]
    assert forwards.pop() == "a"


def test_popping_from_an_empty_set_is_a_key_error() -> None:
    tracked = SETS.adopt(set(), Journal())
    assert isinstance(tracked, TrackedSet)
    tracked._journal.begin()
    with pytest.raises(KeyError):
        tracked.pop()
    assert repr(tracked) == "set()"


def test_copies_have_no_ties_to_the_state() -> None:
    journal = Journal()
    table = NESTED.adopt({"a": [1]}, journal)
    names = SETS.adopt({"a"}, journal)
    assert isinstance(table, TrackedDict)
    assert isinstance(names, TrackedSet)
    for made in (detach(table), copy.deepcopy(table)):
        assert type(made) is dict
        assert type(made["a"]) is list
    for shallow in (table.copy(), copy.copy(table)):
        assert type(shallow) is dict
    assert type(copy.deepcopy(names)) is set
    assert type(copy.copy(names)) is set
    nested = detach((table, names))
    assert isinstance(nested, tuple)
    assert [type(part) for part in nested] == [dict, set]
    inside = table["a"]
    assert isinstance(inside, TrackedList)
    assert type(copy.copy(inside)) is type(inside.copy()) is type(copy.deepcopy(inside)) is list
