"""What is drawn on a board without a connection is kept in the browser, and done once."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import Tabs
from tests.end_to_end.chromium import KEPT
from tests.end_to_end.cluster import Cluster, eventually
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.test_browser_board import (
    create_place,
    drag,
    open_board,
    show_list,
    stage,
    take,
)
from tests.end_to_end.test_browser_looks import SIZES, fits
from tests.end_to_end.test_browser_reload import go_offline, kept_page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


async def test_what_was_drawn_offline_survives_reloads_and_is_there_once_for_others(
    cluster: Cluster, tabs: Tabs
) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    maker = await tabs.open("about:blank", "Maker")
    place = await create_place(maker, a, "Kept")
    ann = await kept_page(tabs, f"{a}/p/{place}", "Ann")
    await expect(stage(ann)).to_be_visible()
    await take(ann, "ellipse")
    await drag(ann, (300, 300), (420, 380))
    await ann.saved()

    await go_offline(ann)
    await take(ann, "rectangle")
    await drag(ann, (500, 300), (640, 400))
    await take(ann, "diamond")
    await drag(ann, (800, 300), (940, 400))
    await expect(ann.badge).to_have_text("Offline · 2 changes kept")

    async def is_kept() -> bool:
        found = await ann.page.evaluate(KEPT)
        return "rectangle" in found and "diamond" in found

    await eventually(is_kept, "both are kept")
    await ann.page.reload()
    await expect(stage(ann)).to_have_attribute("data-things", "3")
    await expect(ann.badge).to_have_text("Offline · 2 changes kept")
    partly = ann.page.get_by_test_id("away-partly")
    await expect(partly).to_contain_text("This is the board as this device has it")
    for width, scheme in SIZES:
        await ann.resize(width, scheme)
        await ann.screenshot(f"board-away-{width}-{scheme}")
        await fits(ann)
    assert await violations(ann) == ""

    await ann.page.context.set_offline(False)
    await ann.saved()
    await expect(partly).to_be_hidden()
    bob = await open_board(tabs, b, place, "Bob")
    await show_list(bob)
    things = bob.page.get_by_test_id("thing")
    await expect(things).to_have_count(3)
    for kind in ("Rectangle", "Diamond", "Ellipse"):
        await expect(things.filter(has_text=kind)).to_have_count(1)
    await eventually(lambda: is_empty(ann.page.evaluate(KEPT)), "nothing is kept any more")


async def is_empty(kept: object) -> bool:
    """Whether a browser has nothing that waits to be sent."""
    return "isPlace" not in str(await kept)  # type: ignore[misc]


async def test_the_list_says_on_which_boards_something_waits_to_be_sent(
    cluster: Cluster, tabs: Tabs
) -> None:
    a = cluster.nodes["a"].url
    maker = await tabs.open("about:blank", "Maker")
    place = await create_place(maker, a, "Waiting")
    ann = await kept_page(tabs, f"{a}/p/{place}", "Ann")
    await expect(stage(ann)).to_be_visible()
    await go_offline(ann)
    await take(ann, "rectangle")
    await drag(ann, (500, 300), (640, 400))
    await expect(ann.badge).to_have_text("Offline · 1 change kept")

    await ann.page.goto(a)
    row = ann.page.get_by_test_id("away").get_by_role("listitem")
    await expect(row).to_contain_text("Waiting")
    await expect(row).to_contain_text("1 change")
    await row.get_by_role("link", name="Waiting").click()
    await expect(stage(ann)).to_have_attribute("data-things", "1")
    await ann.page.goto(a)
    await expect(row).to_contain_text("Waiting")
    await ann.page.context.set_offline(False)
    listed = ann.page.get_by_test_id("file").filter(has_text="Waiting")
    await expect(listed).to_contain_text("Open to send your edits")
    await ann.page.get_by_role("link", name="Waiting").click()
    await ann.saved()
    await ann.page.goto(a)
    await expect(listed).to_be_visible()
    await expect(listed).not_to_contain_text("Open to send your edits")
