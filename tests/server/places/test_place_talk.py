"""The chat of a place at a server: over HTTP, in backups and copies, and when a place goes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from groupcore.shared.places import PlaceTalk
from server.backup.cli import create
from server.management.finding import way_to
from server.serve import RunningNode
from tests.server.places.boards import create_place
from tests.server.places.test_place_backup import restored
from tests.server.places.test_place_http import ask
from tests.server.support import Cluster, eventually, get, post

MANY = 120


async def say(node: RunningNode, doc: str, *texts: str, by: str = "ann") -> list[str]:
    """Remarks of a guest, as a page makes them."""
    async with (
        node.node.keepers.places.reading(doc) as minding,
        node.node.objects.session("guest") as session,
    ):
        await minding.place.talking.open()
        talk = await session.open(PlaceTalk, f"place/{doc}/talk")
        return [await talk.say(text, "Ann", by) for text in texts]


async def remarks(node: RunningNode, doc: str) -> list[dict[str, Any]]:
    """What the node says was said."""
    status, told = await get(f"{node.url}/api/v1/places/{doc}/talk")
    assert status == 200, told
    return list(told["remarks"])


async def test_what_was_said_is_read_and_taken_away_over_http(cluster: Cluster) -> None:
    cluster.size = 2
    first, second = await cluster.start_all("a", "b")
    doc = await create_place(first)
    assert await remarks(second, doc) == []
    ids = await say(first, doc, "Hello", "two\nlines 😀")
    await eventually(lambda: True, "told")
    found = await remarks(second, doc)
    assert [(one["id"], one["by"], one["text"]) for one in found] == [
        (ids[0], "Ann", "Hello"),
        (ids[1], "Ann", "two\nlines 😀"),
    ]
    assert (found[0]["author"], found[0]["at"][-1]) == ("guest/ann", "Z")
    assert (await ask(second, "DELETE", f"/places/{doc}/talk/{ids[0]}"))[0] == 204
    assert (await ask(second, "DELETE", f"/places/{doc}/talk/never"))[0] == 204
    assert [one["id"] for one in await remarks(second, doc)] == [ids[1]]
    status, said = await get(f"{first.url}/api/v1/places/nothing/talk")
    assert (status, said["code"]) == (404, "no_such_place")


async def test_a_restored_place_has_its_chat_and_a_copy_has_none(
    cluster: Cluster, tmp_path: Path
) -> None:
    node = await cluster.start("a")
    doc, quiet = await create_place(node), await create_place(node, "Quiet")
    await say(node, doc, *(f"{number} {'x' * 900}" for number in range(MANY)))
    before = await remarks(node, doc)
    status, made = await ask(node, "POST", f"/places/{doc}/duplicate", {})
    assert status == 201
    assert await remarks(node, made["id"]) == []
    file = tmp_path / "backup.tar"
    await create(way_to(node.admin_url), file)
    await cluster.stop("a")
    await asyncio.to_thread(restored, file, tmp_path / "new")
    cluster.folder = tmp_path / "clusters"
    node = await cluster.begin("a", data=str(tmp_path / "new"))
    await eventually(lambda: node.node.ready, "ready")
    assert len(before) == MANY
    assert await remarks(node, doc) == before
    assert await remarks(node, quiet) == []
    [after] = await say(node, doc, "after")
    assert after not in {one["id"] for one in before}


async def test_the_chat_goes_with_its_place_for_good(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create_place(node)
    [one] = await say(node, doc, "Hello")
    names = node.node.objects.groups.names
    assert f"place/{doc}/talk" in {str(name) for name in names}
    await post(f"{node.url}/api/v1/files/trash", {"items": [doc]})
    status, said = await ask(node, "DELETE", f"/places/{doc}/talk/{one}")
    assert (status, said["code"]) == (409, "trashed")
    await post(f"{node.url}/api/v1/files/delete", {"items": [doc]})
    gone = f"place/{doc}"
    await eventually(lambda: not [name for name in names if name.startswith(gone)], "groups")
    assert json.dumps(await get(f"{node.url}/api/v1/places/{doc}/talk")).count("Hello") == 0
