"""Who is here: the list, following across what is not loaded, calling everybody, hiding."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Locator, expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.test_browser_looks import SIZES, fits

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

BLOCKS = 400
FIRST_IN_SIGHT = """() => [...document.querySelectorAll("[data-block-id]")]
  .findIndex((block) => block.getBoundingClientRect().bottom > 0)"""


def long_text() -> str:
    """Chapters of twenty blocks."""
    lines = [f"## Chapter {n // 20}" if n % 20 == 0 else f"Line {n} of it" for n in range(BLOCKS)]
    return "\n\n".join(lines)


def row(tab: BrowserTab, name: str) -> Locator:
    """The person's row in the list of who is here."""
    return tab.page.locator(f'[data-testid=people-row][data-name="{name}"]')


async def open_list(tab: BrowserTab) -> None:
    """Show who is here."""
    await tab.page.get_by_test_id("people").click()
    await expect(tab.page.get_by_test_id("people-panel")).to_be_visible()


async def first_in_sight(tab: BrowserTab) -> int:
    """The number of the first block in sight."""
    return int(await tab.page.evaluate(FIRST_IN_SIGHT))


async def sees_the_same(tab: BrowserTab, other: BrowserTab) -> None:
    """Wait until a tab is where the other one is."""
    near = f"(number) => Math.abs(({FIRST_IN_SIGHT})() - number) <= 2"
    await tab.page.wait_for_function(near, arg=await first_in_sight(other))


async def scroll_to(tab: BrowserTab, number: int) -> None:
    """Bring a block to the upper edge."""
    for _ in range(3):  # heights are known once blocks are drawn
        await tab.bring(number, "start")
        await tab.page.evaluate("() => new Promise(requestAnimationFrame)")


async def test_one_follows_a_person_through_what_is_not_loaded_and_comes_when_called(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", long_text())
    ann = await tabs.document(cluster.nodes["a"].url, doc, "Ann")
    bob = await tabs.document(cluster.nodes["b"].url, doc, "Bob")

    await scroll_to(bob, 250)
    await open_list(ann)
    await expect(row(ann, "Bob")).to_contain_text(re.compile("“Chapter 12”, block 2[45]"))
    await ann.page.get_by_role("button", name="Follow Bob").click()
    await expect(ann.page.get_by_test_id("following")).to_contain_text("You follow Bob.")
    await sees_the_same(ann, bob)
    await expect(ann.block(251)).not_to_have_attribute("data-away", "true")
    await scroll_to(bob, 60)
    await sees_the_same(ann, bob)
    await bob.put_caret(64)
    await bob.type(" from Bob")
    await expect(ann.block(64)).to_contain_text("from Bob")
    await expect(ann.caret_of("Bob")).to_be_in_viewport()

    await ann.page.mouse.move(600, 400)
    await ann.page.mouse.wheel(0, 300)
    await expect(ann.page.get_by_test_id("following")).to_have_count(0)

    await scroll_to(ann, 340)
    await open_list(ann)
    await ann.page.get_by_role("button", name="Bring everyone here").click()
    await expect(ann.page.get_by_role("button", name="Bring everyone here")).to_be_disabled()
    called = bob.page.get_by_test_id("called")
    await expect(called).to_contain_text("Ann asks you to come")
    await called.get_by_role("button", name="Go").click()
    await sees_the_same(bob, ann)
    await expect(called).to_have_count(0)


async def test_what_is_selected_over_several_blocks_is_drawn_in_all_of_them(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "first words\n\nall of it\n\nlast words")
    ann = await tabs.document(cluster.nodes["a"].url, doc, "Ann")
    bob = await tabs.document(cluster.nodes["b"].url, doc, "Bob")
    await bob.put_caret(0, "End")
    await bob.select(5)
    parts = ann.page.locator(".remote-selection")
    await expect(parts).to_have_text(["words"])
    await bob.put_caret(0, "Home")
    await bob.press(*["Shift+ArrowDown"] * 2)
    await expect(parts).to_have_text(["first words", "all of it"])
    await bob.press(*["Shift+Control+ArrowRight"])
    await expect(parts).to_have_text(["first words", "all of it", "last"])
    await expect(ann.block(2).locator("[data-testid=remote-caret]")).to_have_count(1)
    await ann.screenshot("selection-of-several-blocks")


async def test_carets_and_ones_own_place_can_be_hidden_and_the_list_is_for_everyone(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "# Costs\n\nRent and more\n\nlast")
    ann = await tabs.document(cluster.nodes["a"].url, doc, "Ann")
    bob = await tabs.document(cluster.nodes["b"].url, doc, "Bob")
    await bob.put_caret(1)
    await bob.select(4)
    await expect(ann.caret_of("Bob")).to_be_visible()
    await expect(ann.page.locator(".remote-selection")).to_have_text("more")
    await open_list(ann)
    await expect(row(ann, "Bob")).to_contain_text("“Costs”, block 2 of 3")
    assert await violations(ann) == ""
    await ann.page.get_by_label("Show the others' carets in the text").uncheck()
    await expect(ann.caret_of("Bob")).to_have_count(0)
    await ann.page.get_by_label("Show the others' carets in the text").check()
    await expect(ann.caret_of("Bob")).to_be_visible()

    await open_list(bob)
    await bob.page.get_by_label("Show others where I am").uncheck()
    await expect(ann.caret_of("Bob")).to_have_count(0)
    await expect(row(ann, "Bob")).to_contain_text("Place not shown")
    await expect(ann.page.get_by_role("button", name="Follow Bob")).to_be_disabled()
    await ann.press("Escape")
    await expect(ann.page.get_by_test_id("people-panel")).to_have_count(0)
    await expect(ann.page.get_by_test_id("people")).to_be_focused()
    await bob.page.goto("about:blank")
    await expect(ann.page.get_by_test_id("person")).to_have_count(0)


async def test_the_list_of_people_fits(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "# Costs\n\nRent and more\n\nlast")
    tab = await tabs.document(cluster.nodes["a"].url, doc, "Ann")
    others = ["Bob", "Charlotte Elisabeth of the very long name", "Dora"]
    opened = [await tabs.document(cluster.nodes["b"].url, doc, name) for name in others]
    await opened[0].put_caret(1)
    await expect(tab.page.get_by_test_id("person")).to_have_count(3)
    await open_list(tab)
    await expect(row(tab, "Bob")).to_contain_text("Costs")
    for width, scheme in SIZES:
        await tab.resize(width, scheme)
        await expect(row(tab, "Bob")).to_be_visible()
        await tab.screenshot(f"people-{width}-{scheme}")
        await fits(tab)
    await tab.press("Escape")
    await opened[0].page.get_by_test_id("people").click()
    await opened[0].page.get_by_role("button", name="Bring everyone here").click()
    for width, scheme in SIZES:
        await tab.resize(width, scheme)
        await expect(tab.page.get_by_test_id("called")).to_be_visible()
        await tab.screenshot(f"people-called-{width}-{scheme}")
        await fits(tab)
