"""Who may what in a place: judged where the order is, at the outline and at each cell."""

from __future__ import annotations

import asyncio
from typing import Any

from server.accounts.people import HOME
from tests.server.accounts.people import Browser, found_home, hire
from tests.server.accounts.test_three_nodes import SOON_S, signed_in
from tests.server.places.boards import edit, thing
from tests.server.support import Cluster, Page, eventually, within


async def board_of(ann: Browser) -> str:
    status, made = await ann.ask("POST", "/places", {"title": "Board"})
    assert status == 201, made
    return str(made["id"])


async def enter(page: Page, doc: str) -> str:
    """Open outline, presence and cell; the cell's name."""
    assert (await page.open("PlaceOutline", f"place/{doc}"))["t"] == "snapshot"
    assert (await page.open("PlacePresence", f"place/{doc}/here"))["t"] == "opened"
    answer = await page.open("Cell", f"place/{doc}/r")
    assert answer["t"] == "snapshot", answer
    return f"place/{doc}/r"


async def things(ann: Browser, doc: str) -> set[str]:
    status, read = await ann.ask("GET", f"/places/{doc}")
    assert status == 200, read
    return {one["id"] for one in read["things"]}


async def test_a_viewer_looks_and_changes_nothing_and_a_stranger_sees_nothing(
    ann: Browser,
) -> None:
    await hire(ann, "eve", "viewer")
    await hire(ann, "bob", "")
    doc = await board_of(ann)
    body = {"things": [{"id": "note", "kind": "sticky"}]}
    assert (await ann.ask("POST", f"/places/{doc}/things", body))[0] == 201
    eve, bob = await signed_in(ann.node, "eve"), await signed_in(ann.node, "bob")
    async with eve, bob, await eve.page() as looking, await bob.page() as stranger:
        cell = await enter(looking, doc)
        calls: list[tuple[Any, ...]] = [
            ("put", [thing("mine")]),
            ("change", [edit("note", text="mine")]),
            ("delete", ["note"]),
            ("grab", ["note"]),
            ("operate", "note", "toggle", []),
            ("prepare", "j", ["r", "r0"], [edit("note", x=1)]),
            ("part", ""),
        ]
        for call in calls:
            refused = await looking.call(cell, *call)
            assert (refused["t"], refused["code"]) == ("error", "forbidden"), call
        assert (await looking.call(f"place/{doc}", "rename", "Mine"))["code"] == "forbidden"
        for kind, name in (
            ("PlaceOutline", f"place/{doc}"),
            ("Cell", cell),
            ("PlacePresence", f"place/{doc}/here"),
            ("PlaceEarshot", f"place/{doc}/near/0:0"),
        ):
            assert (await stranger.open(kind, name))["code"] == "forbidden"
        status, problem = await eve.ask(
            "POST", f"/places/{doc}/things", {"things": [{"kind": "ink"}]}
        )
        assert (status, problem["code"]) == (403, "forbidden")
        assert (await bob.ask("GET", f"/places/{doc}"))[1]["code"] == "no_such_place"
    assert await things(ann, doc) == {"note"}


async def test_a_visitor_by_a_link_does_what_the_link_gives(ann: Browser) -> None:
    doc = await board_of(ann)
    status, link = await ann.ask("POST", f"/documents/{doc}/links", {"role": "editor"})
    assert status == 201, link
    async with Browser(ann.node) as visitor:
        status, _ = await visitor.ask("POST", "/links/enter", {"secret": link["secret"]})
        assert status == 201
        await visitor.ask("GET", "/session")
        async with await visitor.page() as page:
            cell = await enter(page, doc)
            assert (await page.call(cell, "put", [thing("theirs")]))["t"] == "result"
            assert (await ann.ask("DELETE", f"/documents/{doc}/links/{link['id']}"))[0] == 204
            await within(SOON_S, page.closed(), "the visitor's socket is closed")
            assert page.close_code == 4403
    assert await things(ann, doc) == {"theirs"}


async def test_what_is_put_behind_a_revocation_is_not_done_at_any_node(cluster: Cluster) -> None:
    """Exact: each put that was answered is there, none that was refused, and none is told."""
    cluster.size = 3
    nodes = await cluster.start_all("a", "b", "c")
    async with Browser(nodes[0]) as ann:
        await found_home(ann)
        bob = await hire(ann, "bob", "editor")
        doc = await board_of(ann)
        at_b = await signed_in(nodes[1], "bob")
        async with at_b, await at_b.page() as page:
            cell = await enter(page, doc)
            done: set[str] = set()
            refused: list[Any] = []

            async def write() -> None:
                number = 0
                while not refused:
                    name = f"t{number}"
                    answer = await page.call(cell, "put", [thing(name)])
                    if answer["t"] == "result":
                        done.add(name)
                    else:
                        refused.append(answer["code"])
                    number += 1

            writing = asyncio.create_task(write())
            await eventually(lambda: len(done) > 20, "bob puts things")
            assert (await ann.ask("DELETE", f"/workspaces/{HOME}/members/{bob}"))[0] == 204
            await within(SOON_S, writing, "bob is refused")
            assert refused[0] in ("forbidden", "not_open")
            await eventually(lambda: is_told(page, cell), "bob is told that the cell is closed")
            page.heard.clear()
            body = {"things": [{"id": "news", "kind": "sticky"}]}
            assert (await ann.ask("POST", f"/places/{doc}/things", body))[0] == 201
            assert (await page.open("Cell", cell))["code"] == "forbidden"
            assert not [one for one in page.heard if one["t"] in ("changes", "snapshot")]
        for node in nodes:
            ann.go(node)
            assert await things(ann, doc) == done | {"news"}


def is_told(page: Page, cell: str) -> bool:
    return any(one["t"] == "error" and one.get("name") == cell for one in page.heard)


async def test_a_list_that_changed_while_nobody_had_the_place_open_is_in_force_at_once(
    ann: Browser,
) -> None:
    keeper = ann.node.node.keepers.places
    keeper.linger_s = 0.05
    bob, doc = await hire(ann, "bob", "viewer"), await board_of(ann)
    at_bob = await signed_in(ann.node, "bob")
    async with at_bob:
        async with await at_bob.page() as page:
            cell = await enter(page, doc)
            assert (await page.call(cell, "put", [thing("early")]))["code"] == "forbidden"
        for one in list(ann.node.pages.gateway.pages.values()):
            one.end_soon()
        await eventually(lambda: not keeper.kept, "nobody keeps the place")
        body = {"role": "editor"}
        assert (await ann.ask("PUT", f"/documents/{doc}/members/{bob}", body))[0] == 204
        async with await at_bob.page() as page:
            cell = await enter(page, doc)
            answer = await page.call(cell, "put", [thing("mine")])
            assert answer["t"] == "result", answer


async def test_a_place_in_the_trash_is_read_only_until_it_is_restored(ann: Browser) -> None:
    await hire(ann, "bob", "editor")
    doc = await board_of(ann)
    bob = await signed_in(ann.node, "bob")
    async with bob, await bob.page() as page:
        cell = await enter(page, doc)
        assert (await ann.ask("POST", "/files/trash", {"items": [doc]}))[0] == 204

        async def is_refused() -> bool:
            answer = await page.call(cell, "put", [thing(f"t{len(page.heard)}")])
            return bool(answer["t"] == "error" and answer["code"] == "forbidden")

        await eventually(is_refused, "nothing is put into what is in the trash")
        _, files = await bob.ask("GET", "/files")
        [row] = [row for row in files["documents"] if row["id"] == doc]
        assert (row["kind"], row["trashed"]["own"]) == ("place", True)
        assert (await ann.ask("POST", "/files/restore", {"items": [doc]}))[0] == 204

        async def is_done() -> bool:
            answer = await page.call(cell, "put", [thing(f"u{len(page.heard)}")])
            return bool(answer["t"] == "result")

        await eventually(is_done, "and again once it is restored")


async def test_what_one_has_opened_and_likes_may_be_a_place(ann: Browser) -> None:
    doc = await board_of(ann)
    async with await ann.page() as page:
        await enter(page, doc)
    assert (await ann.ask("PUT", f"/me/favourites/{doc}", {}))[0] == 204

    async def is_known() -> bool:
        _, files = await ann.ask("GET", "/files")
        return files["favourites"] == [doc] and [one["id"] for one in files["recent"]] == [doc]

    await eventually(is_known, "it is a favourite, and was opened last")
