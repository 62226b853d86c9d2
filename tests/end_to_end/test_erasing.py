"""Real nodes, one of them killed: what was deleted for good is in no file of theirs in the end."""

from __future__ import annotations

from pathlib import Path

import aiohttp

from server.main import main
from tests.end_to_end.cluster import LIMIT_S, NAMES, Cluster, eventually, running_cluster
from tests.groupcore.aio.key_files import bytes_below
from tests.management import credentials

TITLE, TEXT, STAYS = "The plan for Bracknell", "who has to leave in spring", "what is for lunch"
WORDS = (TITLE.encode(), TEXT.encode())
LONG = "\n\n".join([f"{TEXT} " * 50] * 40)


def shown(folder: Path) -> dict[str, int]:
    """How often the files of each node show one of the words: log, trace, all."""
    return {name: sum(bytes_below(folder / name).count(word) for word in WORDS) for name in NAMES}


async def asked(url: str, body: object) -> dict[str, object]:
    async with (
        aiohttp.ClientSession(headers=credentials(url)) as http,
        http.post(url, json=body) as answer,
    ):
        assert answer.status in (200, 201, 204), await answer.text()
        found: dict[str, object] = await answer.json() if answer.status != 204 else {}
        return found


async def is_left(cluster: Cluster, at: str, left: dict[str, int]) -> None:
    """Until a node says which nodes have still to erase how much."""

    async def as_it_says() -> bool:
        found: dict[str, int] = (await cluster.status(at))["erasing"]
        return found == left

    await eventually(as_it_says, f"{at} says {left}", limit_s=4 * LIMIT_S)


async def test_what_was_deleted_for_good_is_in_no_file_of_any_node(tmp_path: Path) -> None:
    """While they run, with a node that was killed before the deletion, and behind its return."""
    async with running_cluster(tmp_path, *NAMES, trace=str(tmp_path / "trace")) as cluster:
        api = f"{cluster.nodes['b'].url}/api/v1/documents"
        kept = await asked(api, {"title": STAYS, "markdown": STAYS})
        doc = str((await asked(api, {"title": TITLE, "markdown": LONG}))["id"])

        async def all_show_it() -> bool:
            return min(shown(tmp_path).values()) > 0

        await eventually(all_show_it, "all have it on their disks")
        await cluster.nodes["c"].kill()

        async def goes_on() -> bool:
            status = await cluster.status("a")
            return status["view"] is not None and status["view"]["members"] == ["a", "b"]

        await eventually(goes_on, "a and b go on")
        admin = f"{cluster.nodes['a'].admin_url}/admin/files"
        for what in ("trash", "delete"):
            await asked(f"{admin}/{what}", {"items": [doc]})

        async def is_awaited() -> bool:
            return "c" in (await cluster.status("b"))["erasing"]

        await eventually(is_awaited, "c is awaited")
        await is_left(cluster, "b", {"c": 1})
        assert {name: shown(tmp_path)[name] for name in "ab"} == {"a": 0, "b": 0}, "while they run"
        assert shown(tmp_path)["c"] > 0, "its files are as they were"
        await cluster.start("c")
        await is_left(cluster, "c", {})
        assert shown(tmp_path) == dict.fromkeys(NAMES, 0)
        assert bytes_below(tmp_path / "c").count(STAYS.encode()) > 0
        for name in NAMES:
            await cluster.nodes[name].kill()
    assert shown(tmp_path) == dict.fromkeys(NAMES, 0), "killed"
    for name in NAMES:
        assert main(["verify-log", str(tmp_path / name)]) == 0
    assert not any(word in bytes_below(tmp_path / "trace") for word in WORDS)
    assert kept["id"] != doc
