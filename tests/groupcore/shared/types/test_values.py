"""Counter, register, map and list: what each verb does, and that replicas converge."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from groupcore.shared import ArgumentsError, Changed, FieldError, Pending, SharedObject
from groupcore.shared.testing import BAD_WEATHER, Weather, World
from groupcore.shared.types import (
    Counter,
    Inserted,
    ItemChanged,
    KeyChanged,
    List,
    Map,
    Moved,
    NoSuchItemError,
    Register,
    Removed,
)
from groupcore.shared.types.list import GONE_MAX


def told(target: SharedObject, act: Callable[[], object]) -> list[object]:
    """The details of the changes that `act` makes."""
    stream = target.changes()
    act()
    changes = [change for change in stream.take() if isinstance(change, Changed)]
    return [detail for change in changes for detail in change.details]


def test_each_caller_gets_its_own_sum() -> None:
    async def main(world: World) -> None:
        counters = [await world.node(name).open(Counter, "c") for name in "abc"]
        pendings = [counter.add(1) for _ in range(10) for counter in counters]
        assert sorted([await pending for pending in pendings]) == list(range(1, 31))
        assert await counters[0].reset(5) == 30
        await world.settle()
        assert [counter.value for counter in counters] == [5, 5, 5]

    World(1, BAD_WEATHER).run(main)


def test_a_counter_has_64_bits() -> None:
    counter = Counter()
    counter.reset((1 << 64) - 1)
    with pytest.raises(FieldError):
        counter.add().result()
    assert counter.value == (1 << 64) - 1


def test_the_last_write_in_the_order_stands_and_says_who() -> None:
    async def main(world: World) -> None:
        a = await world.node("a").open(Register[str], "r")
        b = await world.node("b").open(Register[str], "r")
        assert await a.set("x") is None
        assert await b.set("y") == "x"
        await world.settle()
        assert (a.value, a.writer, b.get()) == ("y", b.process, "y")
        wins = [a.compare_and_set("y", "a"), b.compare_and_set("y", "b")]
        assert sorted([await win for win in wins]) == [False, True]
        await world.settle()
        assert a.value == b.value
        with pytest.raises(ArgumentsError):
            a.set(1)  # type: ignore[arg-type]

    for seed in range(5):
        World(seed).run(main)


def test_a_registers_copy_has_no_ties_to_it() -> None:
    register = Register[list[int]]()
    register.set([1])
    copied = register.get()
    assert copied is not None
    copied.append(2)
    assert register.value == [1]


def test_the_verbs_of_a_map() -> None:
    stock = Map[str, int]()
    assert told(stock, lambda: stock.set("pears", 1)) == [KeyChanged("pears", None, 1)]
    assert stock.set("pears", 2).result() == 1
    assert stock.setdefault("pears", 9).result() == 2
    assert stock.setdefault("figs", 9).result() == 9
    stock.update({"apples": 3, "figs": 4})
    assert stock.items() == [("pears", 2), ("figs", 4), ("apples", 3)]
    assert (stock["figs"], stock.get("nuts"), stock.get("nuts", 0)) == (4, None, 0)
    assert ("figs" in stock, "nuts" in stock, len(stock), list(stock)) == (
        True,
        False,
        3,
        ["pears", "figs", "apples"],
    )
    assert told(stock, lambda: stock.delete("figs")) == [KeyChanged("figs", 4, None)]
    with pytest.raises(KeyError):
        stock.delete("figs").result()
    assert (stock.pop("figs").result(), stock.pop("apples").result()) == (None, 3)
    assert (stock.keys(), stock.values(), dict(stock)) == (["pears"], [2], {"pears": 2})
    assert stock.copy() == {"pears": 2}
    assert stock.clear().result() == 1
    assert len(stock) == 0


def test_comparing_and_setting_a_key() -> None:
    stock = Map[str, int]()
    assert stock.compare_and_set("a", None, 1).result()
    assert not stock.compare_and_set("a", None, 2).result()
    assert stock.compare_and_set("a", 1, 2).result()
    assert stock.compare_and_set("a", 2, None).result()
    assert stock.compare_and_set("a", None, None).result()
    assert stock.copy() == {}


def test_the_verbs_of_a_list() -> None:
    tasks = List[str]()
    b = tasks.append("b").result()
    assert told(tasks, lambda: tasks.insert("a")) == [Inserted(tasks.id_at(0), None, "a")]
    a = tasks.id_at(0)
    d = tasks.append("d").result()
    c = tasks.insert("c", after=b).result()
    assert tasks.copy() == list(tasks) == ["a", "b", "c", "d"]
    assert tasks.ids() == [a, b, c, d]
    assert told(tasks, lambda: tasks.move(d, None)) == [Moved(d, None)]
    assert told(tasks, lambda: tasks.move(a, c)) == [Moved(a, c)]
    assert told(tasks, lambda: tasks.move(a, c)) == []
    assert told(tasks, lambda: tasks.move(a, a)) == []
    assert tasks.copy() == ["d", "b", "c", "a"]
    assert told(tasks, lambda: tasks.set(c, "C")) == [ItemChanged(c, "c", "C")]
    assert told(tasks, lambda: tasks.delete(b)) == [Removed(b, "b")]
    assert tasks.items() == [(d, "d"), (c, "C"), (a, "a")]
    assert (tasks[c], c in tasks, b in tasks, len(tasks)) == ("C", True, False, 3)
    failures: list[Pending[str] | Pending[None]] = [
        tasks.delete(b),
        tasks.set(b, "x"),
        tasks.move(b, a),
        tasks.insert("x", after="nowhere"),
        tasks.move(a, "nowhere"),
    ]
    assert {type(failure.error) for failure in failures} == {NoSuchItemError}
    with pytest.raises(NoSuchItemError):
        tasks[b]
    assert tasks.copy() == ["d", "C", "a"]


def test_who_inserts_behind_a_deleted_item_inserts_where_it_stood() -> None:
    tasks = List[str]()
    ids = [tasks.append(letter).result() for letter in "abcd"]
    tasks.delete(ids[1])
    tasks.delete(ids[2])
    tasks.insert("x", after=ids[2])
    assert tasks.copy() == ["a", "x", "d"]
    tasks.delete(ids[0])
    tasks.insert("y", after=ids[1])
    assert tasks.copy() == ["y", "x", "d"]


def test_deleted_items_are_not_remembered_for_ever() -> None:
    tasks = List[int]()
    ids = [tasks.append(number).result() for number in range(2 * GONE_MAX + 1)]
    for item in ids:
        tasks.delete(item)
    assert len(tasks._gone) == GONE_MAX + 1
    with pytest.raises(NoSuchItemError):
        tasks.insert(1, after=ids[0]).result()
    tasks.insert(1, after=ids[-1])
    assert tasks.copy() == [1]


def act(draw: Random, stock: Map[str, int], tasks: List[int], number: int) -> None:
    """One random operation on one of them."""
    ids = tasks.ids()
    some, other = (draw.choice([None, *ids]) for _ in range(2))
    key = draw.choice("abcdef")
    acts: list[Callable[[], object]] = [
        lambda: stock.set(key, number),
        lambda: stock.pop(key),
        lambda: stock.delete(key),
        lambda: stock.compare_and_set(key, stock.get(key), number),
        lambda: tasks.append(number),
        lambda: tasks.insert(number, some),
        lambda: tasks.insert(number, some),
        lambda: tasks.delete(some or "none"),
        lambda: tasks.move(some or "none", other),
    ]
    draw.choice(acts)()


@pytest.mark.parametrize("weather", [Weather(), BAD_WEATHER], ids=["good", "bad"])
@pytest.mark.parametrize("seed", range(8))
def test_random_operations_converge_whoever_makes_them(seed: int, weather: Weather) -> None:
    async def main(world: World) -> None:
        draw = world.draw
        nodes = [world.node(name) for name in "abc"]
        maps = [await node.open(Map[str, int], "map") for node in nodes]
        lists = [await node.open(List[int], "list") for node in nodes]
        registers = [await node.open(Register[int], "register") for node in nodes]
        for number in range(80):
            which = draw.randrange(len(maps))
            act(draw, maps[which], lists[which], number)
            registers[which].set(number)
            if draw.random() < 0.3:
                await world.elapse(draw.random() / 20)
            if number == 40:
                late = world.node("d")
                maps.append(await late.open(Map[str, int], "map"))
                lists.append(await late.open(List[int], "list"))
                registers.append(await late.open(Register[int], "register"))
        await world.settle()
        for name in ("map", "list", "register"):
            world.assert_equal(name)
        assert [tasks.copy() for tasks in lists] == [lists[0].copy()] * 4

    World(seed, weather).run(main)
