"""Pages follow the parts of a program's own object that they see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import pytest

from groupcore.gateway.gateway import Gateway
from groupcore.gateway.interest import Interest
from groupcore.gateway.kinds import kinds_of
from groupcore.shared.errors import DeclarationError
from groupcore.shared.types import Counter, Map
from tests.groupcore.aio.pages import programs
from tests.groupcore.web.gateways import Site, tab
from tests.groupcore.web.tabs import Heard, Tab

pytestmark = pytest.mark.slow
PAGE = programs("shared/interest.md")["In a Starlette application"].run("interest")
Meadow: type[Any] = PAGE["Meadow"]
Squares: type[Interest[Any]] = PAGE["Squares"]
HERE = [0, 0, 150, 150]
THERE = [400, 400, 550, 550]
Sheep = dict[str, list[int]]


class Seen:
    """What a page sees of a meadow: squares with sheep, as in `webui/src/client/parts.ts`."""

    def __init__(self) -> None:
        self.parts: dict[str, Sheep] = {}

    def hear(self, message: Heard) -> None:
        if message["t"] == "snapshot":
            state = message["state"]
            if "left" not in state:
                self.parts.clear()
            for part in state.get("left", []):
                self.parts.pop(part, None)
            self._put(state["parts"])
        elif message["t"] == "changes":
            for _, _, _, pairs in message["items"]:
                self._put(pairs)

    def _put(self, pairs: list[Any]) -> None:
        for part, sheep in pairs:
            self.parts.pop(part, None)
            if sheep is not None:
                self.parts[part] = dict(sheep)


async def meadow(site: Site) -> tuple[Gateway, Tab]:
    await site.start("a")
    node = site.cluster.nodes["a"]
    gateway = Gateway(node, [Meadow], {Meadow: Squares}, linger_s=0.2)
    ann = tab(1)
    await ann.connect(gateway)
    return gateway, ann


async def test_a_page_is_given_what_it_sees_and_told_of_nothing_else(site: Site) -> None:
    gateway, ann = await meadow(site)
    whole = tab(2)
    await whole.connect(gateway)
    shown = await whole.open("Meadow", "north")
    assert shown["state"] == {"sheep": []}
    await whole.call("north", 1, ["walk", ["dolly", 10, 10]], ["walk", ["molly", 500, 500]])
    snapshot = await ann.open("Meadow", "north", sight=HERE)
    assert snapshot["state"] == {"parts": [[one, snapshot_of(one)] for one in squares(2)]}
    await whole.call("north", 2, ["walk", ["molly", 510, 510]])
    await whole.call("north", 3, ["walk", ["dolly", 120, 10]])
    changes = await ann.hears("changes", name="north")
    assert changes["items"][0][2:] == ["walk", [["0:0", None], ["1:0", [["dolly", [120, 10]]]]]]
    assert "state" not in changes
    assert [one["t"] for one in ann.heard if one.get("name") == "north"] == []


def squares(count: int) -> list[str]:
    return sorted(f"{x}:{y}" for x in range(count) for y in range(count))


def snapshot_of(square: str) -> list[Any] | None:
    return [["dolly", [10, 10]]] if square == "0:0" else None


async def test_who_looks_elsewhere_gets_what_comes_and_is_told_what_has_gone(site: Site) -> None:
    gateway, ann = await meadow(site)
    seen = Seen()
    seen.hear(await ann.open("Meadow", "north", sight=HERE))
    await ann.call("north", 1, ["walk", ["dolly", 10, 10]], ["walk", ["molly", 500, 500]])
    ann.say("look", name="north", sight=THERE)
    looked = await ann.hears("snapshot", name="north")
    assert looked["state"]["left"] == squares(2)
    seen.hear(looked)
    assert seen.parts == {"5:5": {"molly": [500, 500]}}
    gateway.flush()


async def test_at_each_step_of_a_game_a_page_has_the_squares_that_it_sees(site: Site) -> None:
    draw = Random(7)
    gateway, ann = await meadow(site)
    walker, seen, sight = tab(2), Seen(), HERE
    await walker.connect(gateway)
    await walker.open("Meadow", "north")
    seen.hear(await ann.open("Meadow", "north", sight=HERE))
    node = site.cluster.nodes["a"]
    target = await node.open(Meadow, "north")
    for step in range(1, 60):
        if draw.random() < 0.3:
            left, top = draw.randrange(0, 600, 50), draw.randrange(0, 600, 50)
            sight = [left, top, left + 150, top + 150]
            ann.say("look", name="north", sight=sight)
        walk: list[object] = [
            "walk",
            [f"s{draw.randrange(9)}", draw.randrange(700), draw.randrange(700)],
        ]
        await walker.call("north", step, walk, answered=step - 1)
        gateway.flush()
        while ann.heard:
            seen.hear(ann.heard.pop(0))
        assert seen.parts == expected(Squares(target), sight)


def expected(interest: Interest[Any], sight: list[int]) -> dict[str, Sheep]:
    pairs = {part: interest.shown(part) for part in interest.seen(tuple(sight))}  # type: ignore[arg-type]
    shown: dict[str, Any] = {part: sheep for part, sheep in pairs.items() if sheep is not None}
    return {part: {n: list(at) for n, at in sheep.items()} for part, sheep in shown.items()}


async def test_a_type_without_interest_is_followed_as_a_whole(site: Site) -> None:
    (gateway,) = await site.start("a")
    ann = tab(1)
    await ann.connect(gateway)
    ann.say("open", name="c", type="Counter", sight=HERE)
    assert (await ann.hears("error", name="c"))["code"] == "bad_message"


async def test_a_page_that_would_see_too_much_is_refused_and_nobody_else(site: Site) -> None:
    _, ann = await meadow(site)
    ann.say("open", name="north", type="Meadow", sight=[0, 0, 2**40, 2**40])
    assert (await ann.hears("error", name="north"))["code"] == "too_many_open"
    await ann.open("Meadow", "north", sight=HERE)
    ann.say("look", name="north", sight=[0, 0, 2**40, 2**40])
    assert (await ann.hears("error", name="north"))["code"] == "too_many_open"
    await ann.open("Meadow", "north", sight=HERE)


class Unsure(Interest[Any]):
    """Squares whose program fails where it is told to."""

    fails = ""

    def __init__(self, target: Any) -> None:  # noqa: ANN401
        super().__init__(target)
        self._squares = Squares(target)

    def seen(self, sight: tuple[int, int, int, int]) -> Iterable[str]:
        assert self.fails != "seen"
        return self._squares.seen(sight)

    def shown(self, part: str) -> object:
        assert self.fails != "shown"
        return self._squares.shown(part)

    def touched(self, operation: str, details: Sequence[object]) -> Iterable[str]:
        assert self.fails != "touched"
        return self._squares.touched(operation, details)


@pytest.mark.parametrize("fails", ["seen", "shown", "touched"])
async def test_an_interest_that_fails_costs_those_who_follow_parts_that_object_alone(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, fails: str
) -> None:
    await site.start("a")
    gateway = Gateway(site.cluster.nodes["a"], [Meadow, Counter], {Meadow: Unsure}, linger_s=0.2)
    ann, bob = tab(1), tab(2)
    for one in (ann, bob):
        await one.connect(gateway)
    await ann.open("Meadow", "north", sight=HERE)
    await ann.open("Counter", "c")
    await bob.open("Meadow", "north")
    await bob.call("north", 1, ["walk", ["dolly", 10, 10]])
    await ann.hears("changes", name="north")
    monkeypatch.setattr(Unsure, "fails", fails)
    await bob.call("north", 2, ["walk", ["dolly", 20, 10]], answered=1)
    assert (await ann.hears("error", name="north"))["code"] == "interest"
    assert "Unsure has failed" in caplog.text
    await ann.call("c", 1, ["add", [1]])
    monkeypatch.setattr(Unsure, "fails", "")
    snapshot = await ann.open("Meadow", "north", sight=HERE)
    assert ["0:0", [["dolly", [20, 10]]]] in snapshot["state"]["parts"]


class Keys(Interest[Any]):
    """Keys of a map by their first letter."""

    def seen(self, sight: tuple[int, int, int, int]) -> Iterable[str]:
        return [chr(code) for code in range(sight[0], sight[2])]

    def shown(self, part: str) -> object:
        return {key: n for key, n in self.target.copy().items() if key[0] == part} or None

    def touched(self, operation: str, details: Sequence[object]) -> Iterable[str]:
        return [one.key[0] for one in details if hasattr(one, "key")]


async def test_a_type_of_the_library_may_have_an_interest(site: Site) -> None:
    await site.start("a")
    kind: type[object] = Map[str, int]
    gateway = Gateway(site.cluster.nodes["a"], {"Words": kind}, {kind: Keys})
    ann = tab(1)
    await ann.connect(gateway)
    await ann.open("Words", "w", sight=[ord("a"), 0, ord("b"), 1])
    await ann.call("w", 1, ["set", ["apple", 1]], ["set", ["bear", 2]])
    bob = tab(2)
    await bob.connect(gateway)
    snapshot = await bob.open("Words", "w", sight=[ord("b"), 0, ord("c"), 1])
    assert snapshot["state"] == {"parts": [["b", [["bear", 2]]]]}


def test_an_interest_in_what_is_none_of_the_types_is_a_wrong_declaration() -> None:
    with pytest.raises(DeclarationError, match="interest"):
        kinds_of([Counter], {Meadow: Squares})
