"""Places over HTTP: made, read, changed; what is no thing is refused, and nothing is done."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from server.serve import RunningNode
from tests.server.places.boards import FAR, create_place
from tests.server.support import Cluster, create, get

Json = dict[str, Any]


async def ask(node: RunningNode, method: str, path: str, body: object = None) -> tuple[int, Any]:
    async with (
        aiohttp.ClientSession() as http,
        http.request(method, f"{node.url}/api/v1{path}", json=body) as answer,
    ):
        return answer.status, await answer.json(content_type=None)


async def things_of(node: RunningNode, doc: str) -> dict[str, Json]:
    status, read = await get(f"{node.url}/api/v1/places/{doc}")
    assert status == 200, read
    return {one["id"]: one for one in read["things"]}


async def test_a_place_is_made_listed_read_and_renamed(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc, letter = await create_place(node, "Board"), await create(node, "Letter")
    assert await get(f"{node.url}/api/v1/places/{doc}") == (
        200,
        {"id": doc, "title": "Board", "things": []},
    )
    _, listed = await get(f"{node.url}/api/v1/places")
    assert [(row["id"], row["title"]) for row in listed["places"]] == [(doc, "Board")]
    _, listed = await get(f"{node.url}/api/v1/documents")
    assert [row["id"] for row in listed["documents"]] == [letter]
    assert await ask(node, "PATCH", f"/places/{doc}", {"title": "Hall"}) == (
        200,
        {"id": doc, "title": "Hall"},
    )
    _, files = await get(f"{node.url}/api/v1/files")
    kinds = {row["title"]: row["kind"] for row in files["documents"]}
    assert kinds == {"Letter": "document", "Hall": "place"}
    _, where = await get(f"{node.url}/api/v1/documents/{doc}/place")
    assert where["kind"] == "place"


async def test_things_are_put_changed_over_cells_and_deleted_at_any_node(cluster: Cluster) -> None:
    cluster.size = 2
    first, second = await cluster.start_all("a", "b")
    doc = await create_place(first)
    at = f"/places/{doc}/things"
    near = {"id": "near", "kind": "sticky", "text": "Milk", "style": {"colour": "yellow"}}
    far = {"id": "far", "kind": "sticky", "x": FAR, "y": FAR}
    assert await ask(first, "POST", at, {"things": [near, far]}) == (
        201,
        {"things": ["near", "far"]},
    )
    async with second.node.keepers.places.reading(doc) as minding:
        await minding.place.outline.divide("r")
    found = await things_of(second, doc)
    assert found["near"]["style"] == {"colour": "yellow"}
    edits = [
        {"id": "near", "changes": {"x": FAR, "text": "Bread"}},
        {"id": "far", "changes": {"x": 0, "y": 0}, "expected": {"x": FAR}},
    ]
    status, changed = await ask(second, "PATCH", at, {"edits": edits})
    assert status == 200, changed
    assert sorted(changed["changed"]) == ["far", "near"]
    found = await things_of(first, doc)
    assert (found["near"]["x"], found["near"]["text"], found["far"]["x"]) == (FAR, "Bread", 0)
    assert await ask(first, "DELETE", at, {"things": ["near", "gone"]}) == (
        200,
        {"deleted": ["near"]},
    )
    assert set(await things_of(second, doc)) == {"far"}


async def test_a_thing_without_an_id_is_given_one_and_a_template_puts_its_own(
    cluster: Cluster,
) -> None:
    node = await cluster.start("a")
    body = {"title": "Retro", "template": "retrospective"}
    status, made = await ask(node, "POST", "/places", body)
    assert status == 201
    assert len(await things_of(node, made["id"])) == 3
    at = f"/places/{made['id']}/things"
    status, put = await ask(node, "POST", at, {"things": [{"kind": "text"}]})
    assert status == 201
    assert put["things"][0] in await things_of(node, made["id"])


@pytest.mark.parametrize(
    ("things", "status", "code"),
    [
        ([{"id": "a", "kind": "sticky"}], 409, "thing_exists"),
        ([{"kind": "spaceship"}], 422, "bad_thing"),
        ([{"kind": "text", "x": 1 << 60}], 422, "bad_thing"),
        ([{"kind": "text", "x": "left"}], 422, "bad_thing"),
        ([{"kind": "text", "text": "x" * 10_001}], 422, "bad_thing"),
        ([{"kind": "text", "text": "\ud800"}], 422, "bad_thing"),
        ([{"kind": "text", "text": "a\0b"}], 422, "bad_thing"),
        ([{"kind": "text", "style": {"c": {"deep": 1}}}], 422, "bad_thing"),
        ([{"kind": "ink", "points": [1, 2, 3]}], 422, "bad_thing"),
        ([{"kind": "text", "votes": {"ann": 1}}], 422, "bad_thing"),
        ([{"id": "b", "kind": "text"}, {"id": "b", "kind": "text"}], 422, "bad_thing"),
        ([{"kind": "text"}] * 501, 400, "bad_request"),
        (["a"], 400, "bad_request"),
        ([], 400, "bad_request"),
    ],
)
async def test_what_is_no_thing_is_refused_and_nothing_is_put(
    cluster: Cluster, things: list[object], status: int, code: str
) -> None:
    node = await cluster.start("a")
    doc = await create_place(node)
    at = f"/places/{doc}/things"
    await ask(node, "POST", at, {"things": [{"id": "a", "kind": "text"}]})
    found, problem = await ask(node, "POST", at, {"things": things})
    assert (found, problem["code"]) == (status, code)
    assert set(await things_of(node, doc)) == {"a"}


@pytest.mark.parametrize(
    ("edits", "status", "code"),
    [
        ([{"id": "gone", "changes": {"x": 1}}], 404, "no_such_thing"),
        ([{"id": "a", "changes": {"x": 1}}, {"id": "gone", "changes": {"x": 1}}], 404, None),
        ([{"id": "a", "changes": {"wings": 2}}], 422, "bad_thing"),
        ([{"id": "a", "changes": {}}], 422, "bad_thing"),
        ([{"id": "a", "changes": {"x": True}}], 422, "bad_thing"),
        ([{"id": "lock", "changes": {"x": 5}}], 409, "thing_locked"),
        ([{"id": "a", "changes": {"x": 1}}, {"id": "a", "changes": {"y": 1}}], 422, "bad_thing"),
        ([{"changes": {"x": 1}}], 422, "bad_thing"),
    ],
)
async def test_what_is_no_edit_is_refused_and_nothing_is_changed(
    cluster: Cluster, edits: list[object], status: int, code: str | None
) -> None:
    node = await cluster.start("a")
    doc = await create_place(node)
    at = f"/places/{doc}/things"
    things = [{"id": "a", "kind": "text"}, {"id": "lock", "kind": "text", "locked": True}]
    await ask(node, "POST", at, {"things": things})
    before = await things_of(node, doc)
    found, problem = await ask(node, "PATCH", at, {"edits": edits})
    assert (found, problem["code"]) == (status, code or "no_such_thing")
    assert await things_of(node, doc) == before


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/documents/{place}", None),
        ("GET", "/documents/{place}/markdown", None),
        ("GET", "/documents/{place}/headings", None),
        ("GET", "/documents/{place}/export.zip", None),
        ("PATCH", "/documents/{place}", {"title": "Other"}),
        ("POST", "/documents/{place}/duplicate", {}),
        ("POST", "/documents/{place}/pictures", {"from": "x", "picture": "y"}),
        ("GET", "/places/{document}", None),
        ("PATCH", "/places/{document}", {"title": "Other"}),
        ("POST", "/places/{document}/things", {"things": [{"kind": "text"}]}),
        ("PATCH", "/places/{document}/things", {"edits": [{"id": "a", "changes": {"x": 1}}]}),
        ("DELETE", "/places/{document}/things", {"things": ["a"]}),
    ],
)
async def test_what_is_for_documents_refuses_places_and_the_other_way_round(
    cluster: Cluster, method: str, path: str, body: object
) -> None:
    node = await cluster.start("a")
    named = {"place": await create_place(node), "document": await create(node)}
    status, problem = await ask(node, method, path.format(**named), body)
    assert (status, problem["code"]) == (409, "wrong_kind")
    assert ("/api/v1/places/" in problem["detail"]) == ("{place}" in path)
    missing = {"place": "none", "document": "none"}
    assert (await ask(node, method, path.format(**missing), body))[0] == 404


async def test_what_is_in_the_trash_is_not_changed_and_what_is_deleted_is_gone(
    cluster: Cluster,
) -> None:
    node = await cluster.start("a")
    doc = await create_place(node)
    at = f"/places/{doc}/things"
    await ask(node, "POST", at, {"things": [{"id": "a", "kind": "text"}]})
    assert (await ask(node, "POST", "/files/trash", {"items": [doc]}))[0] == 204
    status, problem = await ask(node, "POST", at, {"things": [{"kind": "text"}]})
    assert (status, problem["code"]) == (409, "trashed")
    assert (await ask(node, "POST", "/files/restore", {"items": [doc]}))[0] == 204
    assert set(await things_of(node, doc)) == {"a"}
