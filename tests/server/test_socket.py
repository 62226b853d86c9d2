"""Pages at `/ws`: documents, who is here, and what they may not have."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from websockets.asyncio.client import connect

from tests.server.support import LIMIT_S, Cluster, Page, create, eventually, get


def text_of(snapshot: dict[str, Any]) -> str:
    """The text of a block, without its marks."""
    assert snapshot["t"] == "snapshot", snapshot
    runs: list[Any] = snapshot["state"]["content"]
    runs = [run["text"] if isinstance(run, dict) else run for run in runs]
    return "".join(run if isinstance(run, str) else run[0] for run in runs)


async def test_a_page_opens_a_document_and_writes_in_a_block_that_another_node_shows(
    cluster: Cluster,
) -> None:
    cluster.size = 2
    first, second = await cluster.start_all("a", "b")
    doc = await create(first, markdown="Milk")
    async with Page(first.url) as ann, Page(second.url) as bob:
        assert ann.welcome["principal"] == "guest"
        assert ann.welcome["saves"] is True
        outline = await ann.open("DocumentOutline", f"doc/{doc}")
        [[block, *_]] = outline["state"]["blocks"]
        name = f"doc/{doc}/{block}"
        assert text_of(await ann.open("Block", name)) == "Milk"
        await bob.open("DocumentOutline", f"doc/{doc}")
        version = (await bob.open("Block", name))["state"]["version"]
        assert (await ann.call(name, "edit", version, [4, " and bread"]))["t"] == "result"
        await ann.hear("saved", name=name)
        await bob.hear("changes", name=name)

        async def is_there() -> bool:
            _, body = await get(f"{second.url}/api/v1/documents/{doc}")
            return bool(body["blocks"][0]["text"] == "Milk and bread")

        await eventually(is_there, "b has it")


async def test_an_enter_makes_a_block_that_every_node_shows(cluster: Cluster) -> None:
    cluster.size = 2
    first, second = await cluster.start_all("a", "b")
    doc = await create(first, markdown="Milk and bread")
    async with Page(first.url) as ann, Page(second.url) as bob:
        await bob.open("DocumentOutline", f"doc/{doc}")
        await ann.open("DocumentOutline", f"doc/{doc}")
        name = f"doc/{doc}/b1"
        version = (await ann.open("Block", name))["state"]["version"]
        await ann.call(name, "split", version, 4, "fresh", [])
        assert text_of(await ann.open("Block", f"doc/{doc}/fresh")) in ("", " and bread")

        async def is_split() -> bool:
            _, body = await get(f"{second.url}/api/v1/documents/{doc}")
            return [one["text"] for one in body["blocks"]] == ["Milk", " and bread"]

        await eventually(is_split, "b has both blocks")


async def test_who_comes_to_a_node_that_joins_is_told_when_to_come_again(cluster: Cluster) -> None:
    cluster.size = 3
    node = await cluster.begin("a")  # alone it is no cluster of three
    page = Page(node.url)
    assert await page.refusal() == 1013
    assert page.close_reason == '{"retry_after_ms": 1000}'
    url = node.url.replace("http", "ws", 1) + "/feed"
    async with connect(url) as feed:
        await feed.send('{"ticket": ""}')
        async with asyncio.timeout(LIMIT_S):
            await feed.wait_closed()
        assert (feed.close_code, feed.close_reason) == (1013, page.close_reason)
    status, refused = await get(f"{node.url}/api/v1/documents")
    assert (status, refused["code"]) == (503, "not_ready")


async def test_what_a_node_cannot_do_yet_is_told_as_that_and_is_no_fault(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    async with Page(node.url) as page:
        monkeypatch.setattr(node.node, "catalogue", None)  # as before it has joined
        refused = await page.open("DocumentOutline", f"doc/{doc}")
        assert (refused["code"], refused["temporary"]) == ("not_ready", True)
        monkeypatch.undo()
        assert (await page.open("DocumentOutline", f"doc/{doc}"))["t"] == "snapshot"
    assert not [one for one in caplog.records if one.exc_info]


async def test_pages_see_who_is_here(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    async with Page(node.url) as ann, Page(node.url) as bob:
        name = f"doc/{doc}/here"
        await bob.open("Presence", name)
        await ann.open("Presence", name)
        await ann.send({"t": "present", "name": name, "value": ["Ann", "b1", 0, 3]})
        shown = await bob.hear("presence", name=name)
        here = {"name": "Ann", "block": "b1", "anchor": 0, "head": 3}
        nothing = dict.fromkeys(("view", "start", "version", "start_version"))
        assert shown["value"] == {**here, **nothing, "idle": False, "calls": 0}
        await ann.send({"t": "present", "name": name, "value": ["Ann", None, 0, 0, "b1", True, 1]})
        shown = await bob.hear("presence", name=name)
        assert (shown["value"]["view"], shown["value"]["idle"]) == ("b1", True)
        assert shown["value"]["calls"] == 1
        await ann.send({"t": "present", "name": name, "value": ["x" * 81, None, 0, 0]})
        assert (await ann.hear("error", name=name))["code"] == "arguments"


async def test_the_list_of_documents_follows_their_titles(cluster: Cluster) -> None:
    cluster.size = 2
    first, second = await cluster.start_all("a", "b")
    doc = await create(first, "Plan")
    async with Page(second.url) as page:
        listed = await page.open("Catalogue", "documents")
        assert [(row[0], row[1]["title"]) for row in listed["state"]] == [(doc, "Plan")]
        await page.open("DocumentOutline", f"doc/{doc}")
        await page.call(f"doc/{doc}", "rename", "Schedule")
        change = await page.hear("changes", name="documents")
        [[_, _, operation, [[key, before, now]]]] = change["items"]
        assert (operation, key) == ("retitle", doc)
        assert (before["title"], now["title"]) == ("Plan", "Schedule")


@pytest.mark.parametrize(
    ("kind", "name", "code"),
    [
        ("DocumentOutline", "doc/none", "no_such_document"),
        ("Presence", "doc/none/here", "no_such_document"),
        ("Block", "doc/none/b1", "no_such_document"),
        ("Block", "doc/{doc}/here", "no_such_object"),
        ("DocumentOutline", "doc/{doc}/b1", "no_such_object"),
        ("DocumentOutline", "documents", "no_such_object"),
        ("Block", "doc/{doc}/b1/x", "no_such_object"),
        ("Catalogue", "else", "no_such_object"),
        ("Counter", "clicks", "unknown_type"),
    ],
)
async def test_what_is_not_there_is_not_made_by_asking_for_it(
    cluster: Cluster, kind: str, name: str, code: str
) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    async with Page(node.url) as page:
        answer = await page.open(kind, name.format(doc=doc))
        assert (answer["t"], answer["code"]) == ("error", code)
    _, status = await get(node.admin_url + "/admin/status")
    own = {"charters", "documents", "nodes", "pictures", "accounts", "activity", "erasures"}
    assert set(status["groups"]) == {*own, f"doc/{doc}"}


async def test_a_block_that_nobody_knows_is_not_made(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    async with Page(node.url) as page:
        answer = await page.open("Block", f"doc/{doc}/unheard-of")
        assert (answer["t"], answer["code"]) == ("error", "no_such_block")


@pytest.mark.parametrize(
    ("kind", "name", "call"),
    [
        ("Catalogue", "documents", ("add", "x", "Mine", 10)),
        ("Catalogue", "documents", ("clear",)),
        ("Nodes", "nodes", ("set", "a", "http://evil.example")),
        ("DocumentOutline", "doc/{doc}", ("attend",)),
        ("Block", "doc/{doc}/b1", ("handed", "b2", 1)),
    ],
)
async def test_a_page_cannot_do_what_is_for_nodes(
    cluster: Cluster, kind: str, name: str, call: tuple[Any, ...]
) -> None:
    node = await cluster.start("a")
    doc = await create(node)
    name = name.format(doc=doc)
    async with Page(node.url) as page:
        await page.open(kind, name)
        answer = await page.call(name, *call)
        assert (answer["t"], answer["code"]) == ("error", "forbidden")


async def test_the_node_keeps_a_document_as_long_as_pages_have_any_of_it(cluster: Cluster) -> None:
    node = await cluster.start("a")
    node.node.keeper.linger_s = 0.05
    doc = await create(node)
    held = node.node.keeper.documents
    await eventually(lambda: doc not in node.node.keeper.documents, "nobody holds it")
    async with Page(node.url) as page:
        await page.open("Presence", f"doc/{doc}/here")
        await page.open("DocumentOutline", f"doc/{doc}")
        await page.send({"t": "close", "name": f"doc/{doc}"})
        assert (await page.open("Block", f"doc/{doc}/b1"))["state"]["status"] == "open"
        held = node.node.keeper.documents
        assert list(held) == [doc]
        await page.send({"t": "close", "name": f"doc/{doc}/b1"})
        await page.send({"t": "close", "name": f"doc/{doc}/here"})
        await eventually(lambda: not node.node.keeper.documents, "it was let go")


async def test_a_page_of_another_origin_is_refused(cluster: Cluster) -> None:
    node = await cluster.start("a")
    with pytest.raises(Exception, match="403"):
        async with Page(node.url, origin="http://evil.example"):
            pass
    async with Page(node.url, origin=node.url):
        pass


async def test_a_node_that_leaves_sends_its_pages_to_another(cluster: Cluster) -> None:
    node = await cluster.start("a")
    async with Page(node.url) as page:
        await cluster.stop("a")
        await eventually(lambda: page.close_code is not None, "the connection is closed")
        assert page.close_code == 4001


async def test_a_document_is_tended_whichever_of_its_pages_have_gone(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create(node, markdown="Milk and bread")
    outline = node.node.keeper.documents[doc].outline
    async with Page(node.url) as ann, Page(node.url) as bob:
        await bob.open("DocumentOutline", f"doc/{doc}")
        before = len(outline.members)
        await ann.open("DocumentOutline", f"doc/{doc}")
        await ann.send({"t": "close", "name": f"doc/{doc}"})
        await eventually(lambda: len(outline.members) == before, "ann has gone")
        assert len(outline.tenders) == 1
        name = f"doc/{doc}/b1"
        version = (await bob.open("Block", name))["state"]["version"]
        await bob.call(name, "split", version, 4, "fresh", [])
        await eventually(lambda: outline.order == ["b1", "fresh"], "the outline has the new block")


async def test_pages_of_a_node_that_is_apart_are_sent_to_others_and_may_come_back(
    cluster: Cluster,
) -> None:
    cluster.size = 2
    nodes = await cluster.start_all("a", "b")
    doc = await create(nodes[0])
    view = nodes[0].node.view
    assert view is not None
    nodes.sort(key=lambda node: node.settings.node_id == view.coordinator.name)
    other, coordinator = nodes
    async with Page(other.url) as page:
        await page.open("DocumentOutline", f"doc/{doc}")
        life = coordinator.node.channel._lives.node
        assert life is not None
        life.halt()
        await eventually(lambda: page.close_code is not None, "the connection is closed")
        assert page.close_code == 4001
    async with Page(other.url) as page:
        assert page.welcome["node"] == other.settings.node_id
