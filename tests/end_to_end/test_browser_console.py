"""Who runs the cluster at its console, in real browsers: each page of it, with what it can do."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Locator, expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.test_browser_looks import SIZES, fits
from tests.end_to_end.townspeople import newcomer, owner

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


async def look(tab: BrowserTab, name: str, shown: Locator) -> None:
    """At each size, light and dark: nothing over the edges, and axe finds nothing."""
    await expect(shown.first).to_be_visible()
    for width, scheme in SIZES:
        await tab.page.set_viewport_size({"width": width, "height": 800})
        await tab.page.emulate_media(color_scheme=scheme)
        await tab.screenshot(f"console-{name}-{width}-{scheme}")
        assert await violations(tab) == "", f"{name} at {width}, {scheme}"
        await fits(tab)


async def at_console(
    town: Cluster, tabs: Tabs, cookies: list[dict[str, Any]], path: str = ""
) -> BrowserTab:
    """The owner's tab at a page of the console."""
    ann = await owner(town, tabs, cookies)
    await ann.page.goto(f"{town.nodes['a'].url}/admin{path}")
    return ann


async def test_the_overview_shows_all_nodes_their_load_and_views(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    await ann.page.get_by_role("link", name="Console").click()
    rows = ann.page.get_by_test_id("node-row")
    await expect(rows).to_have_count(3)
    await expect(rows.filter(has_text="Serving")).to_have_count(3)
    await expect(ann.page.locator(".chart-line[d^=M]")).to_have_count(9)
    await expect(ann.page.get_by_test_id("views")).to_contain_text("primary")
    await look(ann, "overview", ann.page.get_by_test_id("charts"))


async def test_the_console_is_for_owners_and_says_so_to_others(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    dan = await newcomer(ann, tabs, town, "Dan", "editor")
    await expect(dan.page.get_by_role("link", name="Console")).to_have_count(0)
    await dan.page.goto(f"{town.nodes['b'].url}/admin")
    await expect(dan.page.get_by_role("status")).to_contain_text("Ask one of them")


async def test_an_address_of_no_part_of_the_console_says_so(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await at_console(town, tabs, ann_cookies, "/zebras")
    await expect(ann.page.get_by_role("status")).to_contain_text("no such page")
