"""A role is taken in mid-sentence: what was not taken comes back, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.end_to_end.browser import NODE_GONE, BrowserTab, Tabs
from tests.end_to_end.chromium import Wire
from tests.end_to_end.cluster import NAMES, Cluster, eventually, running_cluster
from tests.end_to_end.townspeople import REFUSED, company, give_role

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

LONGEST = """() => {
  const read = () => {  // the block may be drawn anew, and another element then
    const block = document.querySelector("[data-testid=editor] [data-block-id]");
    if (block === null) return "";
    const copy = block.cloneNode(true);
    for (const caret of copy.querySelectorAll(".remote-caret")) caret.remove();
    return copy.textContent;
  };
  window.longest = read();
  new MutationObserver(() => {
    const now = read();
    if (now.length > window.longest.length) window.longest = now;
  }).observe(document.body, { childList: true, characterData: true, subtree: true });
}"""
"""Notes the most that was ever shown in the first block."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def mortals(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """Three nodes where people sign in, and which may be killed."""
    folder = tmp_path_factory.mktemp("revoked")
    async with running_cluster(folder, *NAMES, accounts="on") as cluster:
        yield cluster


async def draft_text(tab: BrowserTab) -> str:
    """What is kept for the person."""
    return "".join(await tab.page.locator(".draft-text").all_inner_texts())


async def kept_for(tab: BrowserTab, text: str) -> None:
    """Wait until this is kept for the person."""

    async def is_kept() -> bool:
        return await draft_text(tab) == text

    await eventually(is_kept, f"{text!r} is kept")


async def the_same(ann: BrowserTab, bob: BrowserTab) -> str:
    """Wait until both show the same; the text."""

    async def is_same() -> bool:
        return await bob.texts() == await ann.texts()

    await eventually(is_same, "both show the same")
    return (await ann.texts())[0]


async def all_comes_back(ann: BrowserTab, bob: BrowserTab, written: str) -> None:
    """Wait until what stands, and behind it what is kept for Bob, is all that he wrote."""

    async def all_there() -> bool:
        return (await the_same(ann, bob)) + await draft_text(bob) == written

    try:
        await eventually(all_there, "what stands, and what is kept for Bob, is all that he wrote")
    except AssertionError:
        print(repr(await the_same(ann, bob)), repr(await draft_text(bob)), repr(written), sep="\n")
        raise


async def test_a_role_taken_in_mid_sentence_gives_the_rest_back_also_while_a_sequencer_dies(
    mortals: Cluster, tabs: Tabs
) -> None:
    town = mortals
    ann, bob, doc = await company(town, tabs, [], "Bob", "viewer", "From Ann. ")
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
    await bob.page.evaluate(LONGEST)
    words = " ".join(f"word{number}" for number in range(80))
    typing = asyncio.create_task(bob.type(words, delay_ms=12))
    await expect(ann.editor).to_contain_text("word3")
    await town.nodes["c"].kill()
    await give_role(ann, "Bob", "viewer")
    await typing
    await expect(bob.editor).to_have_attribute("contenteditable", "false")
    text = await the_same(ann, bob)
    longest = str(await bob.page.evaluate("() => window.longest"))
    prefix = "From Ann. And from Bob: "
    assert text.startswith(prefix)
    assert (prefix + words).startswith(longest)
    await all_comes_back(ann, bob, longest)
