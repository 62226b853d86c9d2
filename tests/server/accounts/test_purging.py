"""What is deleted for good leaves no groups behind, at any node, whoever has it open or is away."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from groupcore.errors import GroupRefusedError
from groupcore.shared.documents import Block
from groupcore.shared.errors import ClosedError, DeletedError, SharedError
from server.accounts.roles import KEEPER
from server.files import service as files
from server.files.wiping import document_of
from server.serve import RunningNode
from tests.server.accounts.people import Browser, found_home, service
from tests.server.support import Cluster, eventually

pytestmark = pytest.mark.slow

NAMES = ("a", "b", "c")
TEXT = "# Plan\n\none\n\ntwo\n\nthree\n"


@pytest.fixture
async def nodes(cluster: Cluster) -> list[RunningNode]:
    cluster.size = 3
    return await cluster.start_all(*NAMES)


@pytest.fixture
async def ann(nodes: list[RunningNode]) -> AsyncIterator[Browser]:
    async with Browser(nodes[0]) as browser:
        await found_home(browser)
        yield browser


def groups_of(running: RunningNode, doc: str) -> set[str]:
    """The groups of a document, as a node knows them."""
    return {name for name in running.node.objects.groups.names if document_of(name) == doc}


def entries(running: RunningNode) -> int:
    """How many groups there are."""
    return len(running.node.objects.groups.service.plane.directory.entries)


async def open_all(running: RunningNode, doc: str) -> list[str]:
    """Have all blocks of a document open at a node, as pages do; their ids."""
    async with running.node.keeper.holding(doc) as document:
        names = list(document.outline.order)
        for name in names:
            await document.block(name)
        return names


async def purge(browser: Browser, doc: str) -> None:
    for what in ("trash", "delete"):
        status, answer = await browser.ask("POST", f"/files/{what}", {"items": [doc]})
        assert status in (200, 204), answer


async def test_the_directory_is_as_small_as_before_at_all_nodes_and_after_a_restart(
    ann: Browser, nodes: list[RunningNode], cluster: Cluster
) -> None:
    kept = await ann.create("Kept", TEXT)
    for running in nodes:  # everywhere, as those who are in it open it
        await open_all(running, kept)
    before = entries(nodes[0])
    docs = [await ann.create(f"Gone {number}", TEXT) for number in range(3)]
    for running in nodes:
        await open_all(running, docs[0])
    assert entries(nodes[0]) >= before + 3 + 3  # outlines, and the blocks of what was opened
    for doc in docs:
        await purge(ann, doc)
    for running in nodes:
        accounts = service(running).accounts
        await eventually(lambda accounts=accounts: not accounts.doomed, "all are wiped")  # type: ignore[misc]
        await eventually(lambda running=running: entries(running) == before, "no group is left")  # type: ignore[misc]
        assert not any(groups_of(running, doc) for doc in docs)
        assert not any(doc in running.node.keeper.documents for doc in docs)
    for name in NAMES:
        await cluster.stop(name)
    for running in await cluster.start_all(*NAMES):
        assert entries(running) == before
        ann.go(running)
        found = (await ann.ask("GET", f"/documents/{kept}"))[1]
        assert [block["text"] for block in found["blocks"]] == ["Plan", "one", "two", "three"]
        for doc in docs:
            assert (await ann.ask("GET", f"/documents/{doc}"))[0] == 404


async def test_a_node_that_was_away_has_no_groups_of_what_was_deleted_meanwhile(
    ann: Browser, nodes: list[RunningNode], cluster: Cluster
) -> None:
    doc = await ann.create("Gone", TEXT)
    await open_all(nodes[2], doc)
    await cluster.stop("c")
    await purge(ann, doc)
    await eventually(lambda: not service(nodes[0]).accounts.doomed, "it is wiped")
    c = await cluster.start("c")
    await eventually(lambda: entries(c) == entries(nodes[0]), "c is as far")
    assert not groups_of(c, doc)
    records = c.node.objects.groups.service.plane.records
    assert records.keys() == nodes[0].node.objects.groups.service.plane.records.keys()


async def test_a_session_that_is_still_there_is_told_and_a_late_message_is_refused(
    ann: Browser, nodes: list[RunningNode]
) -> None:
    doc = await ann.create("Gone", TEXT)
    objects = nodes[1].node.objects
    async with objects.session(KEEPER) as session:
        name = (await open_all(nodes[1], doc))[0]
        block = await session.open(Block, f"doc/{doc}/{name}")
        process, group = session.process, objects.groups.names[f"doc/{doc}/{name}"]
        await purge(ann, doc)
        await eventually(lambda: not groups_of(nodes[1], doc), "its groups are gone")
        with pytest.raises(DeletedError):
            await block.delete()
        with pytest.raises(GroupRefusedError) as refused:
            objects.groups.send(process, group, [b"late"])
        assert refused.value.code == "unknown_group"
        await objects.groups.saved()  # nobody waits for what is no more
    with pytest.raises(SharedError):
        async with objects.session(KEEPER) as session:
            raise ClosedError("sessions can be made and closed as before")


async def test_groups_that_are_made_anew_of_what_was_deleted_are_deleted_again(
    ann: Browser, nodes: list[RunningNode], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "STRAGGLERS_SWEEPS", 1)
    doc, kept = await ann.create("Gone", TEXT), await ann.create("Kept", TEXT)
    await purge(ann, doc)
    await eventually(lambda: not service(nodes[1]).accounts.doomed, "it is wiped")
    groups = nodes[1].node.objects.groups
    await groups.create(f"doc/{doc}")  # as a node does that has not heard of it
    await groups.create(f"doc/{doc}/b1")
    await eventually(lambda: not groups_of(nodes[1], doc), "they are gone")
    assert groups_of(nodes[1], kept)


async def test_the_wiping_goes_on_where_a_group_migrates_or_its_node_dies(
    ann: Browser, nodes: list[RunningNode], monkeypatch: pytest.MonkeyPatch, cluster: Cluster
) -> None:
    monkeypatch.setattr(files, "OTHERS_SWEEPS", 0)
    doc = await ann.create("Gone", TEXT)
    groups = nodes[0].node.objects.groups
    delete, asked = groups.delete, list[int]()

    async def fails_first(group: int) -> None:
        asked.append(group)
        if len(asked) < 3:
            raise GroupRefusedError("moving", f"group {group} is in move 1")
        await delete(group)

    monkeypatch.setattr(groups, "delete", fails_first)
    await purge(ann, doc)
    for running in nodes:
        await eventually(lambda running=running: not groups_of(running, doc), "its groups are gone")  # type: ignore[misc]
        accounts = service(running).accounts
        await eventually(lambda accounts=accounts: not accounts.doomed, "it is off the list")  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "doc"),
    [("doc/x", "x"), ("doc/x/b1", "x"), ("doc/x/b1/y", "x"), ("documents", ""), ("x/doc", "")],
)
def test_a_group_belongs_to_the_document_that_its_name_says(name: str, doc: str) -> None:
    assert document_of(name) == doc
