"""Who may say what in the chat of a place, who takes it away, and what is known of who is gone."""

from __future__ import annotations

from typing import Any

from server.accounts.erasing import STAY
from server.accounts.roles import USER
from tests.server.accounts.offices import ORIGIN
from tests.server.accounts.people import Browser, hire
from tests.server.accounts.test_place_rights import board_of
from tests.server.accounts.test_three_nodes import signed_in
from tests.server.support import Page

Json = dict[str, Any]


async def open_talk(page: Page, doc: str) -> list[list[Any]]:
    """What is in the chat when a page opens it."""
    answer = await page.open("PlaceTalk", f"place/{doc}/talk")
    assert answer["t"] == "snapshot", answer
    remarks: list[list[Any]] = answer["state"]["remarks"]
    return remarks


async def told(browser: Browser, doc: str) -> list[Json]:
    """What is told over HTTP."""
    status, read = await browser.ask("GET", f"/places/{doc}/talk")
    assert status == 200, read
    return list(read["remarks"])


async def test_editors_say_viewers_read_owners_take_away(ann: Browser) -> None:
    await hire(ann, "eve", "viewer")
    await hire(ann, "ed", "editor")
    await hire(ann, "bob", "")
    doc = await board_of(ann)
    name = f"place/{doc}/talk"
    eve, ed = await signed_in(ann.node, "eve"), await signed_in(ann.node, "ed")
    bob = await signed_in(ann.node, "bob")
    async with (
        eve,
        ed,
        bob,
        await ann.page() as owner,
        await eve.page() as viewer,
        await ed.page() as editor,
        await bob.page() as stranger,
    ):
        assert await open_talk(editor, doc) == []
        await open_talk(owner, doc)
        assert (await stranger.open("PlaceTalk", name))["code"] == "forbidden"
        said = await editor.call(name, "say", "Hello", "Not my name", "")
        [mine] = said["results"]
        [seen] = await open_talk(viewer, doc)
        assert (seen[0], seen[1].startswith("user:"), seen[2], seen[4]) == (mine, True, "", "Hello")
        for call in (("say", "no", "", ""), ("take_back", mine, ""), ("remove", [mine])):
            assert (await viewer.call(name, *call))["code"] == "forbidden", call
        nodes_own: list[tuple[str, list[object]]] = [
            ("follow", [99, {}]),
            ("bring_back", [[], 1]),
            ("remove", [[mine]]),
        ]
        for verb, arguments in nodes_own:
            assert (await editor.call(name, verb, *arguments))["code"] == "forbidden", verb
        assert (await owner.call(name, "take_back", mine, ""))["code"] == "not_yours"
        # Names are those of the accounts, for all who may read.
        assert [(one["by"], one["text"]) for one in await told(eve, doc)] == [("ed", "Hello")]
        assert (await bob.ask("GET", f"/places/{doc}/talk"))[1]["code"] == "no_such_place"
        theirs = (await owner.call(name, "say", "Mine", "", ""))["results"][0]
        status, problem = await ed.ask("DELETE", f"/places/{doc}/talk/{theirs}")
        assert (status, problem["code"]) == (403, "not_yours")
        status, problem = await eve.ask("DELETE", f"/places/{doc}/talk/{mine}")
        assert (status, problem["code"]) == (403, "forbidden")
        assert (await ann.ask("DELETE", f"/places/{doc}/talk/{mine}"))[0] == 204
        assert [one["text"] for one in await told(eve, doc)] == ["Mine"]


async def test_who_is_erased_leaves_no_name_in_a_chat(ann: Browser) -> None:
    user = await hire(ann, "ed", "editor")
    doc = await board_of(ann)
    ed = await signed_in(ann.node, "ed")
    async with ed, await ed.page() as editor:
        await open_talk(editor, doc)
        await editor.call(f"place/{doc}/talk", "say", "I was here", "ed", "")
        assert [one["by"] for one in await told(ann, doc)] == ["ed"]
        accounts = ann.node.node.files.accounts
        await accounts.erase(USER + user, user, STAY, "", ORIGIN)
    [left] = await told(ann, doc)
    assert (left["by"], left["by_erased"], left["text"]) == ("", True, "I was here")
