"""What a new cluster begins with lies in a folder, whoever owns the workspace in the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from server.accounts.people import HOME
from server.announce import SHELF, WELCOME, announce
from server.building import BUILDING, ROOMS
from server.serve import RunningNode
from tests.server.accounts.people import PASSWORD, Browser, service
from tests.server.support import Cluster, get

pytestmark = pytest.mark.slow

SOURCES = {
    **{"README.md": "# Read me", "docs/guide.md": "# Guide", "docs/notes/first.md": "# First"},
    WELCOME: "# Welcome",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, source in SOURCES.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return tmp_path / "project"


HOUSE = {BUILDING: sorted(room.title for room in ROOMS)}
SHOWN = {"": ["Welcome"], SHELF: ["Guide", "Read me"], "Notes": ["First"], **HOUSE}


async def begun(node: RunningNode, project: Path) -> int:
    data = project.parent / "data"
    data.mkdir(exist_ok=True)
    return await announce(node.admin_url, project, data)


def places(found: dict[str, list[dict[str, str]]]) -> dict[str, list[str]]:
    """The titles of the documents by the names of their folders."""
    names = {folder["id"]: folder["name"] for folder in found["folders"]}
    shown: dict[str, list[str]] = {name: [] for name in ["", *names.values()]}
    for document in found["documents"]:
        shown[names.get(document["folder"], "")].append(document["title"])
    return {name: sorted(titles) for name, titles in shown.items()}


async def test_samples_are_in_a_folder_of_the_workspace_that_the_owner_names(
    cluster: Cluster, project: Path
) -> None:
    node = await cluster.start("a")
    assert await begun(node, project) == len(SOURCES) + len(ROOMS)
    async with Browser(node) as ann:
        secret = await service(node).offer_ownership(anew=True)
        person = {"name": "Ann", "email": "ann@example.org", "password": PASSWORD}
        body = {"secret": secret, **person, "workspace": "Choir"}
        assert (await ann.ask("POST", "/users/first", body))[0] == 201
        _, found = await ann.ask("GET", "/files")
    assert [(one["id"], one["name"]) for one in found["workspaces"]] == [(HOME, "Choir")]
    assert places(found) == SHOWN
    parents = {one["name"]: one["folder"] for one in found["folders"]}
    shelf = next(one["id"] for one in found["folders"] if one["name"] == SHELF)
    assert parents == {SHELF: None, "Notes": shelf, BUILDING: None}
    assert {one["role"] for one in found["documents"]} == {"owner"}


async def test_an_import_that_was_broken_off_puts_nothing_there_twice(
    cluster: Cluster, project: Path
) -> None:
    cluster.flags = {"accounts": "off"}
    node = await cluster.start("a")
    await begun(node, project)
    assert await begun(node, project) == 0
    (project.parent / "data" / "sample-imported").unlink()
    await begun(node, project)
    _, found = await get(f"{node.url}/api/v1/files")
    assert places(found) == SHOWN


async def test_each_door_of_the_building_leads_to_the_room_that_it_names(
    cluster: Cluster, project: Path
) -> None:
    cluster.flags = {"accounts": "off"}
    node = await cluster.start("a")
    await begun(node, project)
    _, listed = await get(f"{node.url}/api/v1/places")
    ids = {one["title"]: one["id"] for one in listed["places"]}
    assert sorted(ids) == HOUSE[BUILDING]
    for room in ROOMS:
        _, place = await get(f"{node.url}/api/v1/places/{ids[room.title]}")
        doors = {
            one["text"]: one["props"]["place"] for one in place["things"] if one["kind"] == "door"
        }
        assert doors == {to: ids[to] for to, *_ in room.doors}
        assert len(place["things"]) > len(doors)
