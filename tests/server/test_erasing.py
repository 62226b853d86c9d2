"""What was deleted for good is in no file of any node, soon, and every node says who is awaited."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import aiohttp
import pytest

from groupcore.sequencing.options import ServiceOptions
from groupcore.shared.testing import BAD_WEATHER, World
from server.files import eraser
from server.files.erasures import NAME, Erasures
from server.pictures import service as pictures_service
from server.serve import RunningNode
from tests.groupcore.aio.key_files import bytes_below
from tests.server.pictures.files import photo
from tests.server.support import Cluster, create, eventually, get, post

TITLE, TEXT = "Severance plan", "nobody is to read this again"
PICTURE = photo()[-200:-160]
SECRETS = (TITLE.encode(), TEXT.encode(), PICTURE)
NAMES = ("a", "b", "c")


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = partial(ServiceOptions, erase_after_s=0.1, erase_pause_s=0.2)
    monkeypatch.setattr("server.making.ServiceOptions", quick)
    monkeypatch.setattr(eraser, "LOOK_S", 0.05)
    monkeypatch.setattr(pictures_service, "ERASED_S", 0.0)


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    found = Cluster(tmp_path, 3)
    await found.start_all(*NAMES)
    yield found
    await found.close()


@pytest.fixture
async def cluster_of_one(tmp_path: Path) -> AsyncIterator[Cluster]:
    found = Cluster(tmp_path, 1)
    yield found
    await found.close()


def shown(cluster: Cluster, name: str) -> list[bytes]:
    """Which secrets the files of a node show."""
    data = bytes_below(cluster.folder / name)
    return [secret for secret in SECRETS if secret in data]


async def erasing(cluster: Cluster, name: str) -> dict[str, int]:
    """Who has still to erase how much, as a node says."""
    _, status = await get(f"{cluster.nodes[name].admin_url}/admin/status")
    found: dict[str, int] = status["erasing"]
    return found


async def upload(node: RunningNode, doc: str) -> None:
    headers = {"Content-Type": "application/octet-stream"}
    url = f"{node.url}/api/v1/documents/{doc}/pictures"
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, data=photo(), headers=headers) as answer,
    ):
        assert answer.status == 201, await answer.text()


async def written(cluster: Cluster) -> str:
    """A document with a title, text and a picture, which all nodes have in their files."""
    doc = await create(cluster.nodes["a"], TITLE, TEXT)
    await upload(cluster.nodes["a"], doc)
    await eventually(
        lambda: all(set(shown(cluster, n)) == set(SECRETS) for n in NAMES), "all nodes show it"
    )
    return doc


async def deleted(cluster: Cluster, doc: str) -> None:
    node = cluster.nodes["a"]
    for what in ("trash", "delete"):
        status, said = await post(f"{node.admin_url}/admin/files/{what}", {"items": [doc]})
        assert status in (200, 204), said


async def erased(cluster: Cluster, name: str, left: dict[str, int]) -> None:
    async def is_left() -> bool:
        return await erasing(cluster, name) == left

    accounts = cluster.nodes[name].node.files.accounts
    await eventually(lambda: bool(accounts.gone) and not accounts.doomed, "it is taken out")
    await eventually(is_left, f"{name} says that {left} is left")


async def test_nothing_of_a_deleted_document_is_in_any_file_of_any_node(cluster: Cluster) -> None:
    kept = await create(cluster.nodes["b"], "Lunch", "what stays")
    doc = await written(cluster)
    await deleted(cluster, doc)
    await erased(cluster, "b", {})
    assert {name: shown(cluster, name) for name in NAMES} == {name: [] for name in NAMES}
    assert all(b"what stays" in bytes_below(cluster.folder / name) for name in NAMES)
    _, text = await get(f"{cluster.nodes['c'].admin_url}/metrics")
    assert "groupcore_erasures_pending 0.0" in text
    _, overview = await get(f"{cluster.nodes['c'].admin_url}/admin/overview")
    assert "erasing" not in {alert["code"] for alert in overview["alerts"]}
    assert kept in cluster.nodes["a"].node.whole_catalogue


async def test_a_node_that_was_down_is_awaited_and_erases_when_it_is_back(
    cluster: Cluster,
) -> None:
    doc = await written(cluster)
    await cluster.stop("c")
    await deleted(cluster, doc)
    await erased(cluster, "b", {"c": 1})
    assert {name: shown(cluster, name) for name in "ab"} == {"a": [], "b": []}
    assert shown(cluster, "c"), "its files are as they were"
    _, overview = await get(f"{cluster.nodes['b'].admin_url}/admin/overview")
    (alert,) = (alert for alert in overview["alerts"] if alert["code"] == "erasing")
    assert (alert["level"], alert["about"]) == ("warn", {"node": "c", "documents": 1})
    _, text = await get(f"{cluster.nodes['b'].admin_url}/metrics")
    assert "groupcore_erasures_pending 1.0" in text
    assert "groupcore_erasures_pending_here 0.0" in text
    await cluster.start("c")
    await erased(cluster, "c", {})
    assert shown(cluster, "c") == []


async def test_what_cannot_be_cleared_yet_is_not_said_to_be_erased(cluster: Cluster) -> None:
    doc = await written(cluster)
    storage = cluster.nodes["c"].node.objects.groups.storage
    assert storage is not None
    store = storage._running.store
    store.cut_ahead = lambda: False  # type: ignore[method-assign]  # somebody reads beside it
    await deleted(cluster, doc)
    await erased(cluster, "a", {"c": 1})
    del store.cut_ahead
    await erased(cluster, "a", {})
    assert {name: shown(cluster, name) for name in NAMES} == {name: [] for name in NAMES}


async def test_a_picture_that_another_document_has_stays(cluster: Cluster) -> None:
    doc = await written(cluster)
    other = await create(cluster.nodes["a"], "Lunch", "what stays")
    await upload(cluster.nodes["a"], other)
    await deleted(cluster, doc)
    await erased(cluster, "b", {})
    assert {name: shown(cluster, name) for name in NAMES} == {name: [PICTURE] for name in NAMES}


async def test_an_owner_may_say_that_the_folder_of_a_lost_node_is_no_more(cluster: Cluster) -> None:
    doc = await written(cluster)
    await cluster.stop("c")
    await deleted(cluster, doc)
    await erased(cluster, "b", {"c": 1})
    url = f"{cluster.nodes['b'].admin_url}/admin/destroyed"
    assert [(await post(url, {"node": name}))[0] for name in ("a", "x")] == [400, 404]
    assert await post(url, {"node": "c"}) == (200, {"node": "c", "documents": 1})
    await erased(cluster, "a", {})


async def test_a_node_that_comes_while_others_erase_erases_what_it_has_taken_over(
    cluster_of_one: Cluster,
) -> None:
    cluster = cluster_of_one
    a = await cluster.start("a")
    doc = await create(a, TITLE, TEXT)
    await deleted(cluster, doc)
    await erased(cluster, "a", {})
    erasures = a.node.erasures
    assert erasures is not None
    await erasures.begin([doc], ["away"])  # nodes that erase it just now
    b = await cluster.start("b")

    def has_begun() -> bool:
        log = b.node.objects.groups.service.plane.log
        return log is not None and log.doomed > 0

    await eventually(has_begun, "b erases, too")
    await erased(cluster, "b", {"away": 1})
    assert shown(cluster, "b") == []


def test_who_comes_is_awaited_for_all_that_is_listed() -> None:
    async def main(world: World) -> None:
        here, there = [await world.node(name).open(Erasures, NAME) for name in "ab"]
        await here.begin(["one", "two"], ["a"])
        await there.also("b")
        assert there.by_node() == {"a": 2, "b": 2}
        await there.erased("b", ["one", "two", "three"])
        assert there.of("a") == ["one", "two"]
        await here.begin(["two"], ["b"])
        assert await there.destroyed("a") == 1
        assert there.awaited == {"two": ["b"]}
        await world.settle()
        world.assert_equal(NAME)

    World(1, BAD_WEATHER).run(main)


def test_the_oldest_are_listed_no_more_above_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("server.files.erasures.LISTED_MAX", 2)

    async def main(world: World) -> None:
        here = await world.node("a").open(Erasures, NAME)
        for doc in ("one", "two", "one", "three"):
            await here.begin([doc], ["a"])
        assert list(here.awaited) == ["one", "three"]

    World(1, BAD_WEATHER).run(main)
