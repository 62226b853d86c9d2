"""A role is taken in mid-sentence: what was not taken comes back, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.end_to_end.browser import NODE_GONE, BrowserTab, Tabs
from tests.end_to_end.chromium import Wire
from tests.end_to_end.cluster import NAMES, Cluster, eventually, running_cluster
from tests.end_to_end.keystrokes import all_comes_back, draft_text, note_typed, the_same, typed
from tests.end_to_end.townspeople import REFUSED, company, give_role

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def mortals(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """Three nodes where people sign in, and which may be killed."""
    folder = tmp_path_factory.mktemp("revoked")
    async with running_cluster(folder, *NAMES, accounts="on") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def cookies() -> list[dict[str, Any]]:
    """Filled by the first test that needs the owner."""
    return []


async def kept_for(tab: BrowserTab, text: str) -> None:
    """Wait until this is kept for the person."""

    async def is_kept() -> bool:
        return await draft_text(tab) == text

    await eventually(is_kept, f"{text!r} is kept")


async def two_writers(
    mortals: Cluster, tabs: Tabs, cookies: list[dict[str, Any]], name: str
) -> tuple[BrowserTab, BrowserTab]:
    """The owner, and somebody who may write by a role of the document, in it at node b."""
    ann, other, doc = await company(mortals, tabs, cookies, name, "viewer", "From Ann. ")
    await give_role(ann, name, "editor")
    await other.page.goto(f"{mortals.nodes['b'].url}/doc/{doc}")
    await other.loaded()
    await expect(other.editor).to_have_attribute("contenteditable", "true")
    return ann, other


async def test_a_role_taken_in_mid_sentence_gives_the_rest_back_also_while_a_sequencer_dies(
    mortals: Cluster, tabs: Tabs, cookies: list[dict[str, Any]]
) -> None:
    town = mortals
    ann, bob, doc = await company(town, tabs, cookies, "Bob", "viewer", "From Ann. ")
    await give_role(ann, "Bob", "editor")
    wire = Wire()
    await bob.page.route_web_socket("**/ws", wire.take)
    await bob.page.goto(f"{town.nodes['b'].url}/doc/{doc}")
    await bob.loaded()
    await expect(bob.editor).to_have_attribute("contenteditable", "true")
    await bob.put_caret(0)
    await bob.type("And from Bob: ")
    await bob.saved()

    # What he types now is still on its way when the role is gone.
    wire.is_held = True
    await bob.type("never taken")
    await give_role(ann, "Bob", "viewer")
    await expect(bob.editor).to_have_attribute("contenteditable", "false")
    assert await draft_text(bob) == ""
    wire.release()
    await kept_for(bob, "never taken")
    await expect(bob.page.get_by_test_id("draft").first).to_contain_text("You may not write here")
    assert await the_same(ann, bob) == "From Ann. And from Bob: "
    await bob.page.reload()
    await bob.loaded()
    await kept_for(bob, "never taken")
    for _ in range(await bob.page.get_by_test_id("draft").count()):
        await bob.page.get_by_role("button", name="Discard").first.click()
    await kept_for(bob, "")

    # Now the node that puts the block's edits in order dies at that moment.
    await give_role(ann, "Bob", "editor")
    await expect(bob.editor).to_have_attribute("contenteditable", "true")
    status = await town.status("a")
    block = next(name for name in status["groups"] if name.startswith(f"doc/{doc}/"))
    await town.place("c", block)
    for tab in (ann, bob):
        tab.expect_complaints(*REFUSED, *NODE_GONE)
    await bob.put_caret(0)
    await note_typed(bob)
    words = " ".join(f"word{number}" for number in range(80))
    typing = asyncio.create_task(bob.type(words, delay_ms=12))
    await expect(ann.editor).to_contain_text("word3")
    await town.nodes["c"].kill()
    await give_role(ann, "Bob", "viewer")
    await typing
    await expect(bob.editor).to_have_attribute("contenteditable", "false")
    assert words.startswith(await typed(bob))
    await all_comes_back(ann, bob, "From Ann. And from Bob: ")


async def test_what_is_typed_before_the_page_knows_that_the_role_is_gone_is_kept_too(
    mortals: Cluster, tabs: Tabs, cookies: list[dict[str, Any]]
) -> None:
    ann, bob = await two_writers(mortals, tabs, cookies, "Cid")
    may_know = await bob.hold_back("**/api/v1/documents/*/place")
    bob.expect_complaints(*REFUSED)
    await give_role(ann, "Cid", "viewer")
    await bob.put_caret(0)
    await note_typed(bob)
    for words in ("These are refused", ", and these as well."):
        await bob.type(words)
        await all_comes_back(ann, bob, "From Ann. ")
    assert await typed(bob) == "These are refused, and these as well."
    assert await ann.texts() == ["From Ann. "]
    may_know.set()
    await expect(bob.editor).to_have_attribute("contenteditable", "false")
    await all_comes_back(ann, bob, "From Ann. ")


async def test_a_word_of_an_input_method_comes_to_its_end_when_the_role_is_gone(
    mortals: Cluster, tabs: Tabs, cookies: list[dict[str, Any]]
) -> None:
    ann, bob = await two_writers(mortals, tabs, cookies, "Dan")
    bob.expect_complaints(*REFUSED)
    await bob.put_caret(0)
    session = await bob.page.context.new_cdp_session(bob.page)

    async def compose(part: str) -> None:
        composed = {"text": part, "selectionStart": len(part), "selectionEnd": len(part)}
        await session.send("Input.imeSetComposition", composed)

    await compose("\u306b")
    await ann.shows("From Ann. \u306b")
    await give_role(ann, "Dan", "viewer")
    await expect(bob.page.get_by_test_id("reading-only")).to_contain_text("You can read")
    await compose("\u65e5\u672c")
    await bob.page.keyboard.insert_text("\u65e5\u672c\u8a9e")
    await expect(bob.editor).to_have_attribute("contenteditable", "false")
    await kept_for(bob, "\u65e5\u672c\u8a9e")
    assert await the_same(ann, bob) == "From Ann. \u306b"
    # His page goes on: what others write there is shown again.
    await ann.put_caret(0, "Home")
    await ann.type("Again. ")
    await bob.shows("Again. From Ann. \u306b")
