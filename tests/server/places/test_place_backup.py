"""Places in backups: all things at one place of the order, and the same again when put back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from server.backup.archive import Reader
from server.backup.cli import create, make_parser, put_back
from server.management.finding import way_to
from server.serve import RunningNode
from tests.server.places.boards import FAR, create_place
from tests.server.places.test_place_http import ask
from tests.server.support import Cluster, eventually, get, post
from tests.server.support import create as make


def restored(file: Path, folder: Path) -> dict[str, object]:
    """Put a backup back, in a thread: it runs a loop of its own."""
    return put_back(make_parser().parse_args(["restore", str(file), "--data", str(folder)]))


async def seen(node: RunningNode) -> list[Any]:
    """The list, and every place, without how they are kept."""
    _, files = await get(f"{node.url}/api/v1/files")
    rows = [{key: row[key] for key in ("id", "kind", "title")} for row in files["documents"]]
    _, listed = await get(f"{node.url}/api/v1/places")
    places = [await get(f"{node.url}/api/v1/places/{row['id']}") for row in listed["places"]]
    return [rows, places]


async def test_a_restored_cluster_has_the_same_places(cluster: Cluster, tmp_path: Path) -> None:
    node = await cluster.start("a")
    letter, board, full = (
        await make(node, "Letter"),
        await create_place(node, "Board"),
        await create_place(node, "Full"),
    )
    things: list[dict[str, object]] = [
        {"id": "near", "kind": "sticky", "text": "Milk 😀", "style": {"colour": "yellow"}},
        {"id": "far", "kind": "ink", "x": FAR, "y": FAR, "points": [1, 2, 3, 4]},
        {"id": "ball", "kind": "ball", "props": {"vx": 800}},
    ]
    assert (await ask(node, "POST", f"/places/{board}/things", {"things": things}))[0] == 201
    many = [
        {"id": f"t{number}", "kind": "sticky", "x": FAR * (number % 5 - 2) // 3, "y": number * 997}
        for number in range(450)  # more than one cell may have
    ]
    assert (await ask(node, "POST", f"/places/{full}/things", {"things": many}))[0] == 201
    async with node.node.keepers.places.reading(board) as minding:
        await minding.place.outline.divide("r")
    file = tmp_path / "backup.tar"
    shown = await create(way_to(node.admin_url), file)
    assert shown["documents"] == 3
    await cluster.stop("a")
    found = Reader(file)
    assert found.manifest.documents[board]["blocks"] == 3
    told_of = await asyncio.to_thread(restored, file, tmp_path / "new")
    assert (told_of["documents"], told_of["blocks"]) == (3, 1 + 3 + 450)
    cluster.folder = tmp_path / "clusters"
    node = await cluster.begin("a", data=str(tmp_path / "new"))
    await eventually(lambda: node.node.ready, "ready")
    rows, places = await seen(node)
    kinds = {row["id"]: (row["kind"], row["title"]) for row in rows}
    assert kinds == {
        letter: ("document", "Letter"),
        board: ("place", "Board"),
        full: ("place", "Full"),
    }
    titles = {place["title"]: place["things"] for _, place in places}
    assert {one["id"]: one["text"] for one in titles["Board"]} == {
        **{"near": "Milk 😀", "far": "", "ball": ""},
    }
    assert len(titles["Full"]) == 450


async def test_a_place_that_is_deleted_for_good_is_in_no_group_any_more(cluster: Cluster) -> None:
    node = await cluster.start("a")
    doc = await create_place(node)
    things = {"things": [{"id": "note", "kind": "sticky"}]}
    await ask(node, "POST", f"/places/{doc}/things", things)
    for verb in ("trash", "delete"):
        assert (await post(f"{node.url}/api/v1/files/{verb}", {"items": [doc]}))[0] in (200, 204)

    def is_gone() -> bool:
        return not [one for one in node.node.objects.groups.names if one.startswith("place/")]

    await eventually(is_gone, "its groups are deleted")
    assert (await get(f"{node.url}/api/v1/places/{doc}"))[0] == 404
    assert node.node.whole_catalogue.kinds == {}
    await eventually(lambda: not node.node.keepers.places.kept, "nobody keeps it")
