"""Groups of places are what they are to those who look at a cluster: console, log, rebuilding."""

from __future__ import annotations

from groupcore.shared.places import Cell, PlaceOutline
from server.console.titles import Titles
from server.documents.names import place_of
from server.files.wiping import document_of
from server.rebuilding import kind_of
from tests.server.places.boards import create_place
from tests.server.support import Cluster, Page, get


def test_a_cell_is_rebuilt_as_a_cell_and_an_outline_as_one() -> None:
    assert kind_of("place/hall") is PlaceOutline
    assert kind_of("place/hall/r03") is Cell


def test_every_group_of_a_place_is_deleted_with_it() -> None:
    groups = ("place/hall", "place/hall/r", "place/hall/r0", "place/hall/here")
    assert {document_of(name) for name in groups} == {"hall"}
    assert document_of("places/hall") == ""


def test_what_names_of_places_mean() -> None:
    assert place_of("place/hall") == ("PlaceOutline", "hall", "", "place")
    assert place_of("place/hall/r03") == ("Cell", "hall", "r03", "place")
    assert place_of("place/hall/here") == ("PlacePresence", "hall", "", "place")
    for name in (
        "place",
        "place/",
        "place/a b",
        "place/hall/r4",
        "place/hall/r/0",
        "place/hall/b1",
    ):
        assert place_of(name) is None, name


async def test_the_status_tells_of_places_that_are_open(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create_place(node)
    async with Page(node.url) as page:
        await page.open("Cell", f"place/{doc}/r")
        _, status = await get(node.admin_url + "/admin/status")
        assert (status["places"], status["places_held"]) == ({doc: 1}, 1)
        assert {f"place/{doc}", f"place/{doc}/r"} <= status["groups"].keys()
        _, metrics = await get(node.admin_url + "/metrics")
        assert "groupcore_cells_held 1.0" in metrics
    assert Titles(node.node, "guest").of(f"place/{doc}/r") == ""  # nobody signs in here
