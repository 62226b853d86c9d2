"""A place on three real nodes: a thing is dragged while the node that orders its cell is killed."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.end_to_end.cluster import NAMES, Cluster, eventually, running_cluster
from tests.server.places.boards import FAR, edit, thing
from tests.server.support import Page

pytestmark = [pytest.mark.process, pytest.mark.slow]

STEPS = 20
CROWD = 420
"""More things than a cell may have: it is quartered."""


async def made(url: str, path: str, body: object) -> dict[str, Any]:
    async with (
        aiohttp.ClientSession() as http,
        http.post(f"{url}/api/v1{path}", json=body) as answer,
    ):
        assert answer.status == 201, await answer.text()
        answered: dict[str, Any] = await answer.json()
        return answered


async def insist(page: Page, name: str, operation: str, *arguments: object) -> dict[str, Any]:
    """A call until it has its end: what passes is asked again, under the same number."""
    answers: list[dict[str, Any]] = []

    async def ended() -> bool:
        answer = await page.call(name, operation, *arguments)
        if answer["t"] == "error" and answer["temporary"]:
            page._numbers[name] -= 1
            await page.open("Cell", name)
            return False
        answers.append(answer)
        return True

    await eventually(ended, f"{operation} has its end")
    return answers[0]


async def divided_place(cluster: Cluster) -> str:
    """A place that has been quartered, as it is crowded; its id."""
    url = cluster.nodes["a"].url
    doc = str((await made(url, "/places", {"title": "Hall"}))["id"])
    crowd = [
        {"id": f"t{number}", "kind": "sticky", "x": FAR * (number % 3 - 1) // 2, "y": number}
        for number in range(CROWD)
    ]
    await made(url, f"/places/{doc}/things", {"things": crowd})
    async with Page(url) as page:

        async def is_quartered() -> bool:
            outline = await page.open("PlaceOutline", f"place/{doc}")
            await page.open("Cell", f"place/{doc}/r")
            await page.send({"t": "close", "name": f"place/{doc}"})
            return dict(outline["state"]["tree"]).get("r") == "inner"

        await eventually(is_quartered, "the place is quartered")
    return doc


async def where_it_is(cluster: Cluster, doc: str) -> list[list[dict[str, Any]]]:
    """What each living node shows of the note and the token."""
    found = []
    for url in cluster.urls():
        status, read = await cluster.get(f"{url}/api/v1/places/{doc}")
        rows = read["things"] if status == 200 else []
        found.append([one for one in rows if one["id"] in ("note", "token")])
    return found


async def test_a_thing_is_dragged_over_a_border_while_the_cells_sequencer_is_killed(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(tmp_path, *NAMES))
        doc = await divided_place(cluster)
        here, there = f"place/{doc}/r0", f"place/{doc}/r3"
        ann = await stack.enter_async_context(Page(cluster.nodes["a"].url))
        bob = await stack.enter_async_context(Page(cluster.nodes["b"].url))
        eve = Page(cluster.nodes["c"].url)
        await stack.enter_async_context(eve)
        for page in (ann, bob, eve):
            for name in (here, there):
                answer = await page.open("Cell", name)
                assert answer["state"]["role"] == "leaf", answer
        await insist(ann, here, "put", [thing("note"), thing("token", "token")])
        assert (await insist(ann, here, "grab", ["note"]))["t"] == "result"
        assert (await insist(eve, here, "grab", ["token"]))["t"] == "result"
        await cluster.place("c", here, there)

        for step in range(1, STEPS + 1):
            if step == STEPS // 2:
                await cluster.nodes["c"].kill()
            answer = await insist(ann, here, "change", [edit("note", x=64 * step)])
            assert answer["t"] == "result", answer
            assert (await insist(bob, here, "change", [edit("note", y=1)]))["code"] == "thing_held"
        last = edit("note", x=FAR, y=FAR)
        last[3] = "r3"
        assert (await insist(ann, here, "change", [last]))["t"] == "result"

        async def is_free() -> bool:
            """The holder's node is gone, and with it the hold."""
            answer = await insist(bob, here, "change", [edit("token", x=-5)])
            return bool(answer["t"] == "result")

        await eventually(is_free, "what eve had is free")

        async def is_once() -> bool:
            found = await where_it_is(cluster, doc)
            return all(
                sorted((one["id"], one["x"]) for one in rows) == [("note", FAR), ("token", -5)]
                for rows in found
            )

        await eventually(is_once, "both nodes show each thing once, where it was put")

        # The place is looked after by those who are left: what goes back is carried, too.
        async def goes_back() -> bool:
            """Until the cell has it, it is owed by the other one: pages ask again, too."""
            answer = await insist(bob, there, "change", [edit("note", x=0, y=0)])
            assert answer["t"] == "result" or answer["code"] == "no_such_thing", answer
            return bool(answer["t"] == "result")

        await eventually(goes_back, "what lies there is put back")

        async def is_back() -> bool:
            found = await where_it_is(cluster, doc)
            return all([one["x"] for one in rows if one["id"] == "note"] == [0] for rows in found)

        await eventually(is_back, "it is back, once")
