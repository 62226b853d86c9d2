"""Find and replace in a document of which a browser has only loaded a part."""

from __future__ import annotations

import asyncio

import pytest
from playwright.async_api import Route, expect

from tests.end_to_end.browser import Tabs, converged, node_texts
from tests.end_to_end.cluster import LIMIT_S, Cluster, eventually

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

BLOCKS = 300
FAR = 280


async def test_words_are_found_and_replaced_by_keys_alone(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "Milk and eggs\n\nmore milk\n\nbread")
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await one.put_caret(2)
    await one.press("Control+f")
    await one.type("milk")
    found = one.page.get_by_test_id("found")
    await expect(found).to_have_text("1 of 2")
    await one.press("Enter")
    await expect(found).to_have_text("2 of 2")
    await one.screenshot("find")
    await one.page.get_by_test_id("replacement").fill("cheese")
    await one.page.get_by_role("button", name="Replace", exact=True).click()
    await two.shows("Milk and eggs", "more cheese", "bread")
    await one.page.get_by_test_id("find").press("Escape")
    await expect(one.editor).to_be_focused()
    await expect(one.page.get_by_test_id("find")).to_have_count(0)
    assert await converged(cluster, doc, [one, two]) == ["Milk and eggs", "more cheese", "bread"]


async def test_a_place_is_brought_into_sight_when_its_text_comes_behind_the_last_letter(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "\n\n".join(f"line {number}" for number in range(BLOCKS)))
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await two.put_caret(FAR)
    await two.type(" needle")
    await two.saved()
    tab = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await expect(tab.block(FAR)).to_have_attribute("data-away", "true")
    are_asked, may_come = asyncio.Event(), asyncio.Event()

    async def slowly(route: Route) -> None:
        are_asked.set()
        async with asyncio.timeout(LIMIT_S):
            await may_come.wait()
        await route.continue_()

    await tab.page.route(f"**/api/v1/documents/{doc}", slowly)
    await tab.put_caret(0)
    await tab.press("Control+f")
    await tab.type("needle")
    async with asyncio.timeout(LIMIT_S):
        await are_asked.wait()
    await expect(tab.page.get_by_test_id("found")).to_have_text("Not found")
    may_come.set()
    await expect(tab.page.get_by_test_id("found")).to_have_text("1 of 1")
    await expect(tab.block(FAR)).to_have_text(f"line {FAR} needle")
    await expect(tab.block(FAR)).to_be_in_viewport()


async def test_what_is_not_loaded_is_found_and_replaced_too(cluster: Cluster, tabs: Tabs) -> None:
    lines = [f"line {number}" for number in range(BLOCKS)]
    doc = await cluster.create("a", "\n\n".join(lines))
    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await two.put_caret(FAR)
    await two.type(" needle")
    await two.saved()
    one = await tabs.document(cluster.nodes["a"].url, doc, "One")
    await expect(one.block(FAR)).to_have_attribute("data-away", "true")
    await one.put_caret(0)
    await one.press("Control+f")
    await one.type("needle")
    await expect(one.page.get_by_test_id("found")).to_have_text("1 of 1")
    await expect(one.block(FAR)).to_have_text(f"line {FAR} needle")
    await expect(one.block(FAR)).to_be_in_viewport()
    await one.press("Control+a")
    await one.type("line 2")
    await expect(one.page.get_by_test_id("found")).to_have_text("1 of 111")
    await one.page.get_by_test_id("replacement").fill("row 2")
    await one.page.get_by_role("button", name="Replace all").click()
    await expect(one.page.get_by_test_id("found")).to_have_text("111 places replaced")
    wanted = [text.replace("line 2", "row 2") for text in lines]
    wanted[FAR] += " needle"

    async def have_it() -> bool:
        return all([await node_texts(cluster, name, doc) == wanted for name in cluster.nodes])

    await eventually(have_it, "all nodes have the other words")
    await converged(cluster, doc, [one, two])
