"""Pictures over HTTP, at one node and between nodes."""

from __future__ import annotations

import asyncio
import os
from io import BytesIO
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from server.pictures import service
from server.pictures.register import Kept
from server.serve import RunningNode
from tests.server.pictures.files import bomb, made, photo
from tests.server.support import Cluster, create, eventually, post


async def upload(node: RunningNode, doc: str, data: bytes, **headers: str) -> tuple[int, Any]:
    """Status and body of the answer to an upload."""
    url = f"{node.url}/api/v1/documents/{doc}/pictures"
    given = {"Content-Type": "application/octet-stream", **headers}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=BytesIO(data), headers=given) as answer,
    ):
        return answer.status, await answer.json()


async def download(node: RunningNode, doc: str, name: str) -> tuple[int, bytes, dict[str, str]]:
    """Status, body and headers of a picture."""
    url = f"{node.url}/api/v1/documents/{doc}/pictures/{name}"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return (
            answer.status,
            await answer.read(),
            {key.lower(): value for key, value in answer.headers.items()},
        )


def files(node: RunningNode) -> list[Path]:
    """What the node has in its store."""
    return [path for path in node.node.pictures.store.folder.rglob("*") if path.is_file()]


async def test_a_picture_is_uploaded_and_shown_and_can_do_nothing_else(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    status, told = await upload(node, doc, photo())
    assert status == 201
    assert (told["media"], told["width"], told["height"]) == ("image/jpeg", 40, 30)
    status, data, headers = await download(node, doc, told["picture"])
    assert (status, len(data)) == (200, told["size_bytes"])
    assert b"Camera" not in data
    assert headers["content-type"] == "image/jpeg"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert "immutable" in headers["cache-control"]
    assert "private" in headers["cache-control"]
    assert await upload(node, doc, photo()) == (201, told)
    assert len(files(node)) == 1


REFUSED = [
    (b"<svg xmlns='http://www.w3.org/2000/svg'/>", 415, "not_a_picture"),
    (b"", 415, "not_a_picture"),
    (made("PNG")[:50], 422, "bad_picture"),
    (bomb(30_000, 30_000), 413, "too_large"),
    (bytes(11 << 20), 413, "too_large"),
]


async def test_what_is_no_picture_is_refused_in_words_and_nothing_is_stored(
    cluster: Cluster,
) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    for data, status, code in REFUSED:
        found, problem = await upload(node, doc, data, **{"Content-Type": "image/png"})
        assert (found, problem["code"]) == (status, code)
        assert "picture" in problem["detail"]
    assert files(node) == []
    assert not node.node.pictures.register.kept
    assert node.node.pictures.refused == 4


async def test_a_picture_is_had_by_a_document_that_it_is_in_and_by_no_other(
    cluster: Cluster,
) -> None:
    node = await cluster.start("a")
    plan, notes = await create(node), await create(node, "Notes")
    _, told = await upload(node, plan, made("PNG"))
    name = told["picture"]
    assert (await download(node, notes, name))[0] == 404
    assert (await download(node, plan, "0" * 64))[0] == 404
    assert (await download(node, plan, "..%2f..%2flog.sqlite3"))[0] == 404
    url = f"{node.url}/api/v1/documents/{notes}/pictures"
    status, problem = await post(url, {"from": notes, "picture": name})
    assert (status, problem["code"]) == (422, "unknown_picture"), "what the address names is there"
    assert await post(url, {"from": plan, "picture": name}) == (201, told)
    assert (await download(node, notes, name))[0] == 200
    bad_bodies: list[object] = [[], {"from": plan}, {"from": 1, "picture": name}]
    for bad in bad_bodies:
        assert (await post(url, bad))[1]["code"] == "bad_request"
    assert (await upload(node, "nowhere", made("PNG")))[1]["code"] == "no_such_document"


async def test_a_foreign_page_cannot_upload(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    status, problem = await upload(node, doc, made("PNG"), Origin="https://evil.example")
    assert (status, problem["code"]) == (403, "forbidden_origin")


async def test_the_room_for_pictures_is_bounded(cluster: Cluster) -> None:
    node = await cluster.start("a", pictures_mib=1)
    doc = await create(node)
    register = node.node.pictures.register
    await register.put(doc, "1" * 64, Kept("image/png", 1, 1, (1 << 20) - 10), 1 << 20)
    status, problem = await upload(node, doc, made("PNG"))
    assert (status, problem["code"]) == (507, "no_room")
    assert "MiB" in problem["detail"]


async def test_a_decoder_that_never_ends_is_ended(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.work.worker.PROGRAM", "import time; time.sleep(60)")
    monkeypatch.setattr("server.work.kinds.PICTURE_WALL_S", 0.2)
    node = await cluster.start("a")
    doc = await create(node)
    assert (await upload(node, doc, made("PNG")))[1]["code"] == "bad_picture"


async def test_an_upload_is_on_a_majority_and_every_node_gets_it(cluster: Cluster) -> None:
    """A1 and A2, with a node that was away, a lost file and a damaged one."""
    cluster.size = 3
    nodes = await cluster.start_all("a", "b", "c")
    doc = await create(nodes[0])
    _, first = await upload(nodes[0], doc, made("PNG"))
    assert sum(len(files(node)) for node in nodes) >= 2
    await cluster.stop("c")
    _, second = await upload(nodes[1], doc, photo())
    names = {first["picture"], second["picture"]}
    again = await cluster.start("c")
    store = again.node.pictures.store
    await eventually(lambda: set(store.names()) == names, "it has got what it missed")
    lost, damaged = (nodes[0].node.pictures.store.path(name) for name in sorted(names))
    before = nodes[0].node.pictures.taken
    lost.unlink()
    damaged.write_bytes(b"rubbish")
    for name in names:
        status, data, _ = await download(nodes[0], doc, name)
        assert (status, data) == (200, store.read(name))
    assert nodes[0].node.pictures.taken == before + 2


async def test_an_upload_that_reaches_no_majority_is_not_answered_as_kept(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A1: the others are in the view, and their disks refuse."""
    monkeypatch.setattr(service, "SPREAD_S", 1.0)
    cluster.size = 3
    nodes = await cluster.start_all("a", "b", "c")
    doc = await create(nodes[0])

    def full(data: bytes) -> str:
        raise OSError(28, "No space left on device")

    for node in nodes[1:]:
        monkeypatch.setattr(node.node.pictures.store, "write", full)
    status, problem = await upload(nodes[0], doc, made("PNG"))
    assert (status, problem["code"]) == (503, "not_primary")
    assert not nodes[0].node.pictures.register.kept


async def test_what_no_block_shows_is_let_go_and_what_one_shows_stays(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A3."""
    monkeypatch.setattr(service, "DAY_S", 0.0)
    node = await cluster.start("a")
    doc, pictures = await create(node), node.node.pictures
    _, used = await upload(node, doc, made("PNG"))
    _, unused = await upload(node, doc, made("JPEG"))
    async with node.node.keeper.holding(doc) as document:
        block = await document.block(document.outline.order[0])
        await block.set({"type": "image", "picture": used["picture"]})
    for path in files(node):
        os.utime(path, (1, 1))
    await pictures.sweep()
    await asyncio.sleep(0)
    await pictures.sweep()
    assert list(pictures.register.kept) == [used["picture"]]
    assert list(pictures.store.names()) == [used["picture"]]
    assert (await download(node, doc, unused["picture"]))[0] == 404
