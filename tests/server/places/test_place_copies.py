"""A place like another one: all of its things under ids of their own, and nothing runs twice."""

from __future__ import annotations

from typing import Any

from groupcore.shared.places import Thing
from server.places.copying import copies
from tests.server.pictures.files import photo
from tests.server.places.boards import FAR, create_place
from tests.server.places.test_place_http import ask, things_of
from tests.server.places.test_place_pictures import status_of, upload
from tests.server.support import Cluster, create, get

Json = dict[str, Any]


def test_a_copy_is_bound_as_the_other_one_and_nothing_of_it_runs() -> None:
    things = [
        Thing("a", "shape", group="g", version=7, hops=3, locked=True, order=4),
        Thing("b", "sticky", group="g", text="Milk"),
        Thing("arrow", "arrow", links=("a", "gone"), props=(("ax", 5),)),
        Thing("s", "switch", links=("l", "gone"), props=(("on", True),)),
        Thing("l", "light", props=(("on", True),)),
        Thing("t", "timer", props=(("due", 9_000), ("rings", 2))),
        Thing("ball", "ball", props=(("vx", 3), ("vy", -4))),
        Thing("card", "card", props=(("document", "d-1"),)),
        Thing("v", "vote", props=(("choices", 3),), votes=(("user:bob", 1),)),
    ]
    made = dict(zip((one.id for one in things), copies(things, "new"), strict=True))
    ids = [one.id for one in made.values()]
    assert len(set(ids)) == len(ids)
    assert not {*ids, made["a"].group} & {*(one.id for one in things), "g"}
    assert (made["a"].version, made["a"].hops, made["a"].locked, made["a"].order) == (0, 0, True, 4)
    assert made["a"].group == made["b"].group != ""
    assert made["b"].text == "Milk"
    assert made["arrow"].links == (made["a"].id, "-")
    assert made["arrow"].props == (("ax", 5),)
    assert made["s"].links == (made["l"].id,)
    assert made["l"].props == (("on", True),)
    assert made["t"].props == (("due", 0), ("rings", 2))
    assert made["ball"].props == (("vx", 0), ("vy", 0))
    assert made["card"].props == (("document", "d-1"),)
    assert made["v"].votes == ()
    # The next attempt makes the same, another place its own.
    assert copies(things, "new") == list(made.values())
    assert not {one.id for one in copies(things, "other")} & set(ids)


async def test_a_place_is_copied_at_any_node_with_things_of_all_its_cells(cluster: Cluster) -> None:
    cluster.size = 2
    first, second = await cluster.start_all("a", "b")
    doc = await create_place(first, "Board")
    many: list[Json] = [
        {"id": f"n{place}", "kind": "sticky", "x": 1_000 * place, "text": "x" * 400}
        for place in range(450)
    ]
    far: Json = {"id": "far", "kind": "sticky", "x": FAR, "y": FAR}
    arrow: Json = {"id": "arrow", "kind": "arrow", "links": ["n1", "far"]}
    for some in (many[:250], many[250:], [far, arrow]):
        status, said = await ask(first, "POST", f"/places/{doc}/things", {"things": some})
        assert status == 201, said
    status, made = await ask(second, "POST", f"/places/{doc}/duplicate", {})
    assert status == 201, made
    assert made["title"] == "Copy of Board"
    copied = await things_of(first, made["id"])
    assert len(copied) == 452
    assert sorted((one["kind"], one["x"], one["text"]) for one in copied.values()) == sorted(
        (one["kind"], one["x"], one["text"]) for one in (await things_of(first, doc)).values()
    )
    [bound] = [one for one in copied.values() if one["kind"] == "arrow"]
    assert [copied[one]["x"] for one in bound["links"]] == [1_000, FAR]
    # Each is its own from now on.
    edit = {"id": bound["links"][0], "changes": {"text": "Mine"}}
    assert (await ask(first, "PATCH", f"/places/{made['id']}/things", {"edits": [edit]}))[0] == 200
    assert (await things_of(second, doc))["n1"]["text"] == "x" * 400


async def test_a_copy_shows_the_pictures_of_the_other(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create_place(node)
    name = (await upload(node, doc, photo()))[1]["picture"]
    pictures = [
        {"id": "pic", "kind": "picture", "props": {"picture": name, "alt": "A cat"}},
        {"id": "lost", "kind": "picture", "props": {"picture": "0" * 64}},
    ]
    assert (await ask(node, "POST", f"/places/{doc}/things", {"things": pictures}))[0] == 201
    status, made = await ask(node, "POST", f"/places/{doc}/duplicate", {"title": "Second"})
    assert (status, made["title"]) == (201, "Second")
    assert (await ask(node, "DELETE", f"/places/{doc}/things", {"things": ["pic"]}))[0] == 200
    assert await status_of(node, f"/places/{made['id']}/pictures/{name}") == 200


async def test_only_a_place_is_copied_as_one(cluster: Cluster) -> None:
    node = await cluster.start("a")
    letter = await create(node)
    status, said = await ask(node, "POST", f"/places/{letter}/duplicate", {})
    assert (status, said["code"]) == (409, "wrong_kind")
    status, said = await ask(node, "POST", "/places/nothing/duplicate", {})
    assert (status, said["code"]) == (404, "no_such_place")
    _, listed = await get(f"{node.url}/api/v1/places")
    assert listed["places"] == []
