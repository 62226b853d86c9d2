"""Blocks are dragged, code is coloured, and a click into what is not loaded finds its place."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import BrowserTab, Tabs, converged, node_texts
from tests.end_to_end.cluster import Cluster, eventually

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

SOURCE = "first\n\nsecond\n\n```\ndef f(x):\n    return 'a'  # b\n```\n\nlast"
CODE = "def f(x):\n    return 'a'  # b"


async def test_blocks_are_dragged_and_code_is_coloured_on_both_nodes(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", SOURCE)
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    # A handle comes up beside the block under the pointer, and takes it along.
    await one.block(0).hover()
    handle = one.page.get_by_test_id("block-handle")
    await expect(handle).to_be_visible()
    target = await one.block(1).bounding_box()
    assert target is not None
    await handle.hover()
    await one.page.mouse.down()
    await one.page.mouse.move(target["x"] + 40, target["y"] + 4)
    await one.page.mouse.move(target["x"] + 40, target["y"] + target["height"] - 2)
    await expect(one.page.locator(".drop-line")).to_be_visible()
    await one.screenshot("block-dragged")
    await one.page.mouse.up()
    assert await converged(cluster, doc, [one, two]) == ["second", "first", CODE, "last"]
    # All that is selected moves by keys.
    await one.put_caret(0, "Home")
    await one.press("Shift+ArrowDown", "Alt+ArrowDown", "ArrowLeft")
    assert await converged(cluster, doc, [one, two]) == [CODE, "second", "first", "last"]
    # Selected words are dragged, too.
    await one.put_caret(3)
    await one.select(4)
    words = await one.block(3).bounding_box()
    goal = await one.block(1).bounding_box()
    assert words is not None
    assert goal is not None
    await one.page.mouse.move(words["x"] + 8, words["y"] + words["height"] / 2)
    await one.page.mouse.down()
    await one.page.mouse.move(goal["x"] + 4, goal["y"] + goal["height"] / 2)
    await one.page.mouse.move(goal["x"] + 1, goal["y"] + goal["height"] / 2)
    await one.page.mouse.up()
    assert await converged(cluster, doc, [one, two]) == [CODE, "lastsecond", "first", ""]
    # The language is chosen among the tools, by keys alone.
    await one.put_caret(0)
    language = one.page.get_by_label("Language of the code")
    await language.focus()
    await language.select_option("python")
    for tab in (one, two):
        await expect(tab.block(0).locator(".hljs-keyword")).to_have_text(["def", "return"])
    await one.screenshot("code")
    await one.press("ArrowDown", "End", "Enter")
    await one.type("pass", delay_ms=1)
    assert (await converged(cluster, doc, [one, two]))[0] == f"{CODE}\n    pass"


ENDINGS = ["words\n\n```\nx = 1\n```", "words\n\n---", "words\n\n| a | b |\n|---|---|\n| c | d |"]


@pytest.mark.parametrize("source", ENDINGS, ids=["code", "divider", "table"])
async def test_a_click_below_a_last_block_without_room_for_words_goes_on_there(
    cluster: Cluster, tabs: Tabs, source: str
) -> None:
    doc = await cluster.create("a", source)
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await expect(one.block(1)).not_to_have_attribute("data-away", "true")
    paper = await one.page.locator(".paper").bounding_box()
    assert paper is not None
    await one.page.mouse.click(paper["x"] + 200, paper["y"] + paper["height"] - 20)
    await one.type("below")
    await ends_with(cluster, doc, one, "below")
    # Below words the click goes on with these.
    await one.press("Escape")
    await one.page.mouse.click(paper["x"] + 200, paper["y"] + paper["height"] - 20)
    await one.type(" it")
    await ends_with(cluster, doc, one, "below it")


async def ends_with(cluster: Cluster, doc: str, tab: BrowserTab, text: str) -> None:
    """Wait until this is the third block and the last one, for the page and a node."""
    await expect(tab.block(2)).to_have_text(text)
    await expect(tab.block(3)).to_have_count(0)

    async def has_it() -> bool:
        return (await node_texts(cluster, "b", doc))[2:] == [text]

    await eventually(has_it, "the node has what the page has")


async def test_the_arrow_down_leaves_a_last_block_of_code(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "```\nx = 1\ny = 2\n```")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await one.put_caret(0)
    await one.press("Control+Home", "ArrowDown")
    await one.type("# ")
    await one.press("ArrowDown")
    await one.type("below")
    assert await converged(cluster, doc, [one]) == ["x = 1\n# y = 2", "below"]


async def test_an_empty_document_says_what_one_can_do_until_something_is_written(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    said = 'block => getComputedStyle(block, "::before").content'
    assert "type /" in await one.block(0).evaluate(said)
    await one.put_caret(0)
    await one.type("x")
    assert await one.block(0).evaluate(said) == "none"
    await one.press("Backspace", "Enter")
    assert await one.block(0).evaluate(said) == "none"
