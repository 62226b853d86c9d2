"""Pictures of places: put into one, shown to who may look, let go when no thing names them."""

from __future__ import annotations

from io import BytesIO
from typing import Any

import aiohttp

from groupcore.shared.places import Thing
from server.places.reading import named_in
from server.serve import RunningNode
from tests.server.pictures.files import photo
from tests.server.places.boards import create_place
from tests.server.places.test_place_http import ask
from tests.server.support import Cluster, create


async def upload(node: RunningNode, doc: str, data: bytes) -> tuple[int, Any]:
    url = f"{node.url}/api/v1/places/{doc}/pictures"
    headers = {"Content-Type": "image/jpeg"}
    async with (
        aiohttp.ClientSession() as http,
        http.post(url, data=BytesIO(data), headers=headers) as answer,
    ):
        return answer.status, await answer.json()


async def status_of(node: RunningNode, path: str) -> int:
    async with aiohttp.ClientSession() as http, http.get(f"{node.url}/api/v1{path}") as answer:
        return answer.status


async def test_a_picture_of_a_place_is_kept_while_a_thing_names_it(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc, letter = await create_place(node), await create(node)
    status, told = await upload(node, doc, photo())
    assert status == 201, told
    name = told["picture"]
    assert await status_of(node, f"/places/{doc}/pictures/{name}") == 200
    assert await status_of(node, f"/documents/{doc}/pictures/{name}") == 409
    thing = {"id": "pic", "kind": "picture", "props": {"picture": name}}
    assert (await ask(node, "POST", f"/places/{doc}/things", {"things": [thing]}))[0] == 201
    body = {"from": doc, "picture": name}
    assert await ask(node, "POST", f"/documents/{letter}/pictures", body) == (201, told)
    assert await node.node._pictures_of(doc) == {name}
    assert (await ask(node, "DELETE", f"/places/{doc}/things", {"things": ["pic"]}))[0] == 200
    assert await node.node._pictures_of(doc) == set()
    assert (await upload(node, letter, photo()))[1]["code"] == "wrong_kind"


def test_only_things_that_are_pictures_name_pictures_and_only_by_hashes() -> None:
    name = "0" * 64
    things = [
        Thing("a", "picture", props=(("picture", name),)),
        Thing("b", "sticky", props=(("picture", "1" * 64),)),
        Thing("c", "picture", props=(("picture", "../x"),)),
        Thing("d", "picture", props=(("picture", 5),)),
        Thing("e", "picture"),
    ]
    assert named_in(things) == {name}
