"""Pages at `/ws` open places: the outline, cells, who is here, and what they may not have."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.places.boards import FAR, create_place, edit, thing
from tests.server.support import Cluster, Page, create, eventually, get

HERE = {
    **{"name": "Ann", "pointer": [], "view": [], "selection": [], "drag": [], "idle": False},
    **{"calls": 0, "editing": "", "line": [], "colour": "", "width": 0},
    **{"avatar": [], "nimbus": ""},
}


async def test_a_page_puts_a_note_that_a_page_at_another_node_is_told_of(cluster: Cluster) -> None:
    cluster.size = 2
    first, second = await cluster.start_all("a", "b")
    doc = await create_place(first)
    async with Page(first.url) as ann, Page(second.url) as bob:
        outline = await ann.open("PlaceOutline", f"place/{doc}")
        assert (outline["state"]["title"], outline["state"]["tree"]) == ("Board", [["r", "leaf"]])
        name = f"place/{doc}/r"
        assert (await ann.open("Cell", name))["state"]["role"] == "leaf"
        assert (await bob.open("Cell", name))["state"]["things"] == []
        note = thing("note", text="Milk")
        assert (await ann.call(name, "put", [note]))["t"] == "result"
        await ann.hear("saved", name=name)
        told = await bob.hear("changes", name=name)
        [[_, who, operation, [[arguments, time_ms, is_member, _]]]] = told["items"]
        assert (operation, arguments) == ("put", [[note], ""])
        assert (who, is_member) == (ann.welcome["who"], True)
        assert time_ms > 0
        await bob.call(name, "change", [edit("note", text="Bread")])
        late = Page(first.url)
        async with late:
            state = (await late.open("Cell", name))["state"]
            [[id, row]] = state["things"]
            assert (id, row[10]) == ("note", "Bread")


async def test_who_has_grabbed_a_thing_loses_it_with_the_session(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create_place(node)
    name = f"place/{doc}/r"
    async with Page(node.url) as bob:
        await bob.open("Cell", name)
        async with Page(node.url) as ann:
            await ann.open("Cell", name)
            await ann.call(name, "put", [thing("token", "token")])
            assert (await ann.call(name, "grab", ["token"]))["t"] == "result"
            refused = await bob.call(name, "change", [edit("token", x=5)])
            assert (refused["t"], refused["code"]) == ("error", "thing_held")
            await ann.send({"t": "close", "name": name})

            async def is_free() -> bool:
                return bool((await bob.call(name, "change", [edit("token", x=5)]))["t"] == "result")

            await eventually(is_free, "the token is free")
        told = [item[2] for one in bob.heard if one["t"] == "changes" for item in one["items"]]
        assert "departed" in told


async def test_a_thing_that_is_dragged_over_a_border_is_carried_by_the_node(
    cluster: Cluster,
) -> None:
    cluster.size = 2
    first, second = await cluster.start_all("a", "b")
    doc = await create_place(first)
    async with first.node.keepers.places.reading(doc) as minding:
        await minding.place.outline.divide("r")
    async with Page(first.url) as ann, Page(second.url) as bob:
        await ann.open("Cell", f"place/{doc}/r0")
        await bob.open("Cell", f"place/{doc}/r3")
        await ann.call(f"place/{doc}/r0", "put", [thing("note")])
        await ann.call(f"place/{doc}/r0", "change", [edit("note", x=FAR, y=FAR)])

        async def has_come() -> bool:
            told = await bob.hear("changes", name=f"place/{doc}/r3")
            return any(item[2] == "accept" for item in told["items"])

        await eventually(has_come, "b is told of the note")


async def test_pages_of_a_place_see_who_is_here(cluster: Cluster) -> None:
    node = await cluster.start("a")
    name = f"place/{await create_place(node)}/here"
    async with Page(node.url) as ann, Page(node.url) as bob:
        await bob.open("PlacePresence", name)
        await ann.open("PlacePresence", name)
        await ann.send({"t": "present", "name": name, "value": ["Ann"]})
        assert (await bob.hear("presence", name=name))["value"] == HERE
        drag = [["note", 5, 6, 640, 640, 0]]
        shown = ["Ann", [1, 2], [-5, -5, 5, 5], ["note"], drag, True, 1, "note", [1, 2], "red", 64]
        shown += [[5, -6, 90 * 64], "quiet"]
        await ann.send({"t": "present", "name": name, "value": shown})
        assert list((await bob.hear("presence", name=name))["value"].values()) == shown


async def test_words_are_heard_once_by_pages_of_all_nodes_that_have_the_square(
    cluster: Cluster,
) -> None:
    cluster.size = 2
    first, second = await cluster.start_all("a", "b")
    doc = await create_place(first)
    square, other = f"place/{doc}/near/0:0", f"place/{doc}/near/0:1"
    async with Page(first.url) as ann, Page(second.url) as bob, Page(second.url) as eve:
        for page in (ann, bob):
            assert (await page.open("PlaceEarshot", square))["t"] == "opened"
        await eve.open("PlaceEarshot", other)
        words = ["words", "Ann", 100, 200, 6_400, "Hi"]
        for number, text in enumerate(("Hi", "there"), 1):
            value = [*words[:5], text]
            await ann.send({"t": "publish", "name": square, "n": number, "value": value})
            assert (await ann.hear("result", name=square))["n"] == number
        said = [(await bob.hear("event", name=square))["value"] for _ in range(2)]
        assert [one["text"] for one in said] == ["Hi", "there"]
        assert said[0] == dict(zip(("kind", "name", "x", "y", "reach", "text"), words, strict=True))
        await ann.send(
            {"t": "publish", "name": square, "n": 3, "value": ["sings", "", 1, 2, 64, ""]}
        )
        assert (await ann.hear("error", name=square))["code"] == "arguments"
        away = ["words", "Ann", 100, 200_000, 6_400, "Hi"]
        await ann.send({"t": "publish", "name": square, "n": 4, "value": away})
        assert (await ann.hear("error", name=square))["code"] == "value"
        assert [one for one in eve.heard if one["t"] == "event"] == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "x" * 81},
        {"pointer": [1]},
        {"pointer": [1 << 40, 1]},
        {"view": [1, 2, 3]},
        {"selection": ["a"] * 201},
        {"selection": ["no id!"]},
        {"drag": [["a", 1, 2, 3, 4, 5]] * 61},
        {"drag": [["a", 1, 2, -3, 4, 5]]},
        {"drag": [["a", 1, 2, 3, 4, 1 << 20]]},
        {"line": [1, 2, 3]},
        {"line": [1, 2] * 257},
        {"editing": "no id!"},
        {"colour": "r" * 33},
        {"width": -1},
        {"avatar": [1, 2]},
        {"avatar": [1 << 40, 2, 3]},
        {"avatar": [1, 2, 1 << 20]},
        {"nimbus": "loud"},
        {"calls": -1},
        {"idle": 1},
    ],
)
async def test_what_nobody_shows_of_oneself_is_refused(
    cluster: Cluster, wrong: dict[str, Any]
) -> None:
    node = await cluster.start("a")
    name = f"place/{await create_place(node)}/here"
    async with Page(node.url) as page:
        await page.open("PlacePresence", name)
        value = list({**HERE, **wrong}.values())
        await page.send({"t": "present", "name": name, "value": value})
        assert (await page.hear("error", name=name))["code"] == "arguments"


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        ("PlaceOutline", "place/none", "no_such_place"),
        ("PlacePresence", "place/none/here", "no_such_place"),
        ("Cell", "place/none/r", "no_such_place"),
        ("PlaceEarshot", "place/none/near/all", "no_such_place"),
        ("PlaceEarshot", "place/{place}/near/far", "no_such_object"),
        ("Cell", "place/{place}/r0", "no_such_cell"),
        ("Cell", "place/{place}/x", "no_such_object"),
        ("Cell", "place/{place}/here", "no_such_object"),
        ("Presence", "place/{place}/here", "no_such_object"),
        ("DocumentOutline", "place/{place}", "no_such_object"),
        ("DocumentOutline", "doc/{place}", "no_such_document"),
        ("Block", "doc/{place}/b1", "no_such_document"),
        ("PlaceOutline", "place/{doc}", "no_such_place"),
        ("Cell", "place/{doc}/r", "no_such_place"),
    ],
)
async def test_what_is_no_part_of_a_place_is_not_made_by_asking_for_it(
    cluster: Cluster, kind: str, name: str, code: str
) -> None:
    node = await cluster.start("a")
    doc, place = await create(node), await create_place(node)
    before = {"doc": doc, "place": place}
    async with Page(node.url) as page:
        answer = await page.open(kind, name.format(**before))
        assert (answer["t"], answer["code"]) == ("error", code)
    _, status = await get(node.admin_url + "/admin/status")
    assert not [one for one in status["groups"] if one.startswith(f"place/{place}/")]
    assert f"place/{doc}" not in status["groups"]


@pytest.mark.parametrize(
    ("kind", "name", "call"),
    [
        ("PlaceOutline", "place/{doc}", ("attend",)),
        ("PlaceOutline", "place/{doc}", ("divide", "r")),
        ("PlaceOutline", "place/{doc}", ("entitle", 1 << 40, [["guest", "MANAGE"]])),
        ("Cell", "place/{doc}/r", ("become", "r", 99, "out")),
        ("Cell", "place/{doc}/r", ("tick", 1)),
        ("Cell", "place/{doc}/r", ("accept", "r0", [1, [], [], [], ""])),
        ("Cell", "place/{doc}/r", ("follow", 1 << 40, [])),
    ],
)
async def test_a_page_cannot_do_what_is_for_nodes_of_a_place(
    cluster: Cluster, kind: str, name: str, call: tuple[Any, ...]
) -> None:
    node = await cluster.start("a")
    name = name.format(doc=await create_place(node))
    async with Page(node.url) as page:
        await page.open(kind, name)
        answer = await page.call(name, *call)
        assert (answer["t"], answer["code"]) == ("error", "forbidden")


async def test_the_node_keeps_a_place_and_its_cells_as_long_as_pages_have_them(
    cluster: Cluster,
) -> None:
    node = await cluster.start("a")
    keeper = node.node.keepers.places
    keeper.linger_s = 0.05
    doc = await create_place(node)
    await eventually(lambda: doc not in keeper.kept, "nobody holds it")
    async with Page(node.url) as page:
        await page.open("PlacePresence", f"place/{doc}/here")
        assert keeper.kept[doc].place.cells == {}
        await page.open("Cell", f"place/{doc}/r")
        assert keeper.kept[doc].needed == {"r"}
        await page.send({"t": "close", "name": f"place/{doc}/r"})
        await eventually(lambda: keeper.kept[doc].place.cells == {}, "the cell is closed")
        await page.send({"t": "close", "name": f"place/{doc}/here"})
        await eventually(lambda: not keeper.kept, "the place is closed")


async def test_a_ball_rolls_while_somebody_sees_it(cluster: Cluster) -> None:
    node = await cluster.start("a")
    name = f"place/{await create_place(node)}/r"
    async with Page(node.url) as page:
        await page.open("Cell", name)
        await page.call(name, "put", [thing("ball", "ball")])
        await page.call(name, "operate", "ball", "kick", [500, 0])
        for number in range(1, 4):

            def is_tick(number: int = number) -> bool:
                items = [one for told in page.heard for one in told.get("items", ())]
                return [number] in [one[3][0][0] for one in items if one[2] == "tick"]

            await eventually(is_tick, f"tick {number} comes")
