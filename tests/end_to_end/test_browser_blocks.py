"""Blocks are dragged, code is coloured, and a click into what is not loaded finds its place."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import Tabs, converged
from tests.end_to_end.cluster import Cluster

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
