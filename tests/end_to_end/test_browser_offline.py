"""Connections break under the hands of people who type, for a moment or for longer."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import NODE_GONE, BrowserTab, Tabs, converged, together
from tests.end_to_end.chromium import CUT, KEEP_SOCKETS
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.test_browser_marks import PASTE_HTML

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

MIDDLE_OF = """(block, [from, to]) => {
  const range = document.createRange();
  const text = document.createTreeWalker(block, NodeFilter.SHOW_TEXT).nextNode();
  range.setStart(text, from);
  range.setEnd(text, to);
  const { left, right, top, bottom } = range.getBoundingClientRect();
  return [(left + right) / 2, (top + bottom) / 2];
}"""
"""The middle of some letters of a block, in the window."""

TABLE_TOOLS = re.compile(r"/assets/table-tools-")


async def open_breakable(cluster: Cluster, tabs: Tabs, doc: str, name: str) -> BrowserTab:
    """A tab on node a whose connections the test can break."""
    context = await tabs.context(name)
    await context.add_init_script(KEEP_SOCKETS)
    tab = await tabs.open_in(context, f"{cluster.nodes['a'].url}/doc/{doc}")
    tab.expect_complaints(*NODE_GONE, "net::ERR_INTERNET_DISCONNECTED", "CLOSING or CLOSED")
    await tab.loaded()
    return tab


async def test_nothing_is_lost_or_doubled_when_connections_break_while_two_type(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "middle")
    one = await open_breakable(cluster, tabs, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(0, "Home")
    await two.put_caret(0)
    before = "".join(f"a{number:03d} " for number in range(25))
    behind = "".join(f" b{number:03d}" for number in range(25))

    async def type_in_parts() -> None:
        for at in range(0, len(before), 17):
            await one.type(before[at : at + 17])
            await one.page.evaluate(CUT)

    await together(type_in_parts(), two.type(behind))
    assert await converged(cluster, doc, [one, two]) == [f"{before}middle{behind}"]


async def test_what_is_written_offline_meets_what_others_wrote_meanwhile(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "first\n\nsecond\n\nthird")
    one = await open_breakable(cluster, tabs, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(0)
    await one.type("!")
    await two.shows("first!", "second", "third")

    await one.page.context.set_offline(True)
    await one.page.evaluate(CUT)
    await expect(one.badge).to_have_attribute("data-state", "offline")
    await one.type(" offline")
    await one.press("Enter")
    await one.type("a new one, **bold** ")
    await one.put_caret(2, "Home")
    await one.type("my ")
    await expect(one.badge).to_contain_text("changes kept")
    await two.put_caret(0, "Home")
    await two.type("online ")
    await two.put_caret(1)
    await two.type(" too")
    await two.put_caret(2)
    await two.press("Enter")
    await two.type("fourth")
    await two.saved()
    assert (await one.save_state())[1] > 0

    await one.page.context.set_offline(False)
    texts = ["online first! offline", "a new one, bold ", "my second too", "third", "fourth"]
    assert await converged(cluster, doc, [one, two]) == texts
    assert "<strong>bold</strong>" in await two.html(1)


async def test_words_written_offline_stay_with_their_neighbours_though_others_split_and_joined_them(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "one two three four\n\nhead part\n\ntail part")
    one = await open_breakable(cluster, tabs, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    for number in range(3):
        await one.put_caret(number)
        await one.type(".")
    await two.shows("one two three four.", "head part.", "tail part.")

    await one.page.context.set_offline(True)
    await one.page.evaluate(CUT)
    await expect(one.badge).to_have_attribute("data-state", "offline")
    await one.put_caret(0)
    await one.press(*["ArrowLeft"] * 3)
    await one.type("[X1]")
    await one.put_caret(2, "Home")
    await one.press(*["ArrowRight"] * 4)
    await one.type("[X2]")
    await two.put_caret(0, "Home")
    await two.press(*["ArrowRight"] * 8, "Enter")
    await two.put_caret(3, "Home")
    await two.press("Backspace")
    await two.shows("one two ", "three four.", "head part.tail part.")
    await two.saved()

    await one.page.context.set_offline(False)
    texts = ["one two ", "three fo[X1]ur.", "head part.tail[X2] part."]
    assert await converged(cluster, doc, [one, two]) == texts
    await expect(one.page.get_by_test_id("draft")).to_have_count(0)


async def test_words_written_offline_go_with_their_neighbours_that_another_cuts_and_pastes(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "one two three four\n\nhead part\n\ntail part\n\nwhole")
    one = await open_breakable(cluster, tabs, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    for number in range(4):
        await one.put_caret(number)
        await one.type(".")
    await two.shows("one two three four.", "head part.", "tail part.", "whole.")

    await one.page.context.set_offline(True)
    await one.page.evaluate(CUT)
    await expect(one.badge).to_have_attribute("data-state", "offline")
    for number, steps in [(0, 16), (1, 2), (3, 2)]:
        await one.put_caret(number, "Home")
        await one.press(*["ArrowRight"] * steps)
        await one.type(f"[X{number}]")

    # Into another block; within the block, where they stay; a whole one, and what is before it.
    await two.put_caret(0)
    await two.select(12)
    await two.press("Control+x")
    await two.put_caret(2)
    await two.press("Control+v")
    await two.put_caret(1, "Home")
    await two.press(*["Shift+ArrowRight"] * 5, "Control+x", "End", "Control+v")
    await two.saved()
    await two.put_caret(3)
    await two.select(6 + 1 + 5)
    await two.press("Control+x")
    await two.put_caret(1)
    await two.press("Control+v")
    await two.shows("one two", "part.head four.", "whole.", "tail part. three ")
    await two.saved()

    await one.page.context.set_offline(False)
    texts = ["one two", "[X1]part.head fo[X0]ur.", "wh[X3]ole.", "tail part. three "]
    assert await converged(cluster, doc, [one, two]) == texts
    await expect(one.badge).to_have_attribute("data-state", "saved")
    await expect(one.page.get_by_test_id("draft")).to_have_count(0)


async def test_words_written_offline_go_with_text_that_another_drags_to_another_block(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "one two three four\n\ntail part")
    one = await open_breakable(cluster, tabs, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    for number in range(2):
        await one.put_caret(number)
        await one.type(".")
    await two.shows("one two three four.", "tail part.")

    await one.page.context.set_offline(True)
    await one.page.evaluate(CUT)
    await expect(one.badge).to_have_attribute("data-state", "offline")
    await one.put_caret(0, "Home")
    await one.press(*["ArrowRight"] * 16)
    await one.type("[X]")
    await two.put_caret(0)
    await two.select(12)
    mouse = two.page.mouse
    await mouse.move(*await two.block(0).evaluate(MIDDLE_OF, [8, 16]))
    await mouse.down()
    await mouse.move(*await two.block(1).evaluate(MIDDLE_OF, [4, 4]), steps=5)
    await mouse.up()
    await two.shows("one two", "tail three four. part.")
    await two.saved()

    await one.page.context.set_offline(False)
    texts = ["one two", "tail three fo[X]ur. part."]
    assert await converged(cluster, doc, [one, two]) == texts
    await expect(one.badge).to_have_attribute("data-state", "saved")


async def test_what_has_no_place_any_more_is_kept_until_it_is_put_somewhere(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "stays\n\ngoes")
    one = await open_breakable(cluster, tabs, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(1)
    await one.type(".")
    await two.shows("stays", "goes.")
    await one.page.context.set_offline(True)
    await one.page.evaluate(CUT)
    await expect(one.badge).to_have_attribute("data-state", "offline")
    await one.type(" words")
    await two.put_caret(1, "Home")
    await two.press("Shift+End", "Backspace", "Backspace")
    await two.shows("stays")
    await two.saved()
    await one.page.context.set_offline(False)
    await one.shows("stays")
    draft = one.page.get_by_test_id("draft")
    await expect(draft).to_have_count(1)
    await expect(one.badge).to_have_attribute("data-state", "kept")
    await expect(one.badge).to_have_text("1 change kept")
    await one.screenshot("document-kept")
    listed = await tabs.open_in(one.page.context, cluster.nodes["a"].url)
    row = listed.page.get_by_test_id("file").filter(has=listed.page.locator(f"a[href$='{doc}']"))
    await expect(row).to_contain_text("Open to place your kept texts")
    await listed.page.close()
    await one.put_caret(0)
    await draft.get_by_role("button", name="Put it here").click()
    await expect(draft).to_have_count(0)
    assert await converged(cluster, doc, [one, two]) == ["stays words"]
    await expect(one.badge).to_have_attribute("data-state", "saved")


async def test_two_tabs_of_one_browser_write_into_one_document(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "one\n\ntwo")
    context = await tabs.context("One")
    address = f"{cluster.nodes['a'].url}/doc/{doc}"
    first = await tabs.open_in(context, address)
    second = await tabs.open_in(context, address)
    for tab in (first, second):
        await tab.loaded()
    await first.put_caret(0)
    await second.put_caret(1)
    await first.page.bring_to_front()
    await first.type(" first")
    await second.page.bring_to_front()
    await second.type(" second")
    assert await converged(cluster, doc, [first, second]) == ["one first", "two second"]


async def test_a_part_of_the_page_that_cannot_be_loaded_is_said_and_tried_again(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "words\n\n| a | b |\n| --- | --- |\n| c | d |")
    tab = await tabs.open("about:blank", "One")
    tab.expect_complaints("Failed to load resource", "ERR_FAILED", "Failed to fetch dynamically")
    late = re.compile(r"/assets/(LinkForm|TableTools|table-tools|reading|ShareDialog)-")
    await tab.page.route(late, lambda route: route.abort())
    await tab.page.goto(f"{cluster.nodes['a'].url}/doc/{doc}")
    await tab.loaded()
    missing = tab.page.get_by_test_id("part-missing")
    notice = tab.page.get_by_role("status").get_by_text("could not be loaded")
    await tab.put_caret(0)
    await tab.page.evaluate(PASTE_HTML, ["<b>bold</b>", "bold"])
    await expect(notice).to_be_visible()
    # Plain text is put in as it is, though it might be Markdown.
    await tab.paste("# Notes\n\n- one\n- two")
    await expect(tab.editor).to_contain_text("# Notes")
    await expect(tab.editor).to_contain_text("- two")
    await tab.press("Control+z")
    await expect(tab.editor).not_to_contain_text("- two")
    await tab.press("Control+k")
    await expect(missing).to_contain_text("Check your connection")
    await tab.screenshot("part-missing")
    assert await violations(tab) == ""
    await missing.get_by_role("button", name="Close").click()
    await expect(tab.editor).to_be_focused()
    await tab.press("Control+k")
    await expect(missing).to_be_visible()
    await tab.page.unroute(late)
    await missing.get_by_role("button", name="Try again").click()
    await expect(tab.page.get_by_test_id("link-address")).to_be_focused()
    await tab.press("Escape")

    await tab.page.route(late, lambda route: route.abort())
    await tab.editor.locator("td", has_text="c").click()
    await expect(missing).to_be_visible()
    await tab.page.set_viewport_size({"width": 390, "height": 800})
    await tab.page.emulate_media(color_scheme="dark")
    await tab.screenshot("part-missing-narrow-dark")
    await tab.page.unroute(late)
    await tab.page.route(TABLE_TOOLS, lambda route: route.abort())
    await missing.get_by_role("button", name="Try again").click()
    add = tab.page.get_by_role("button", name="Row below")
    await expect(notice).to_be_hidden()
    await add.click()
    await expect(notice).to_be_visible()
    # Keys need none of the tools.
    await tab.press("Tab")
    await tab.type("!")
    await expect(tab.editor.locator("td").nth(1)).to_have_text("!")
    await tab.page.unroute(TABLE_TOOLS)
    await add.click()
    await expect(tab.editor.locator("tr")).to_have_count(3)
    await tab.put_caret(0)
    await tab.page.evaluate(PASTE_HTML, ["<b>bold</b>", "bold"])
    await expect(tab.block(0).locator("strong")).to_have_text("bold")
