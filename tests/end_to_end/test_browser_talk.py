"""People talk in a place: the chat, on every face."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.test_browser_board import create_place, open_board, show_list, stage
from tests.end_to_end.test_browser_looks import MOVING, SIZES, fits
from tests.end_to_end.test_browser_reload import go_offline, kept_page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


def remarks(tab: BrowserTab) -> Locator:
    """What the chat shows."""
    return tab.page.get_by_test_id("remark")


def field(tab: BrowserTab) -> Locator:
    """Where one writes."""
    return tab.page.get_by_test_id("talk-field")


async def say(tab: BrowserTab, *texts: str) -> None:
    """Write and send, by keys."""
    for text in texts:
        await field(tab).fill(text)
        await tab.press("Enter")


async def two(cluster: Cluster, tabs: Tabs, title: str) -> tuple[BrowserTab, BrowserTab, str]:
    """Ann and Bob at two nodes before an empty place."""
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    ann = await tabs.open("about:blank", "Ann")
    place = await create_place(ann, a, title)
    await ann.page.goto(f"{a}/p/{place}")
    await expect(stage(ann)).to_be_visible()
    return ann, await open_board(tabs, b, place, "Bob"), place


async def test_what_is_said_is_read_by_all_counted_and_taken_back(
    cluster: Cluster, tabs: Tabs
) -> None:
    ann, bob, place = await two(cluster, tabs, "Talk")
    await stage(ann).focus()
    await ann.press("c")
    await expect(field(ann)).to_be_focused()
    await expect(ann.page.get_by_test_id("talk-empty")).to_be_visible()
    for width, scheme in SIZES:
        await ann.resize(width, scheme)
        await ann.screenshot(f"talk-empty-{width}-{scheme}")
        await fits(ann)
        assert await violations(ann) == ""
    await ann.resize(1280, "light")
    await field(ann).fill("Shall we begin?")
    await ann.press("Shift+Enter")
    await ann.type("With the notes.")
    await ann.press("Enter")
    await expect(remarks(ann)).to_have_count(1)
    await expect(field(ann)).to_have_value("")
    # Who has it closed is told how many there are, in words, too.
    unread = bob.page.get_by_test_id("talk-unread")
    await expect(unread).to_have_text("1")
    await expect(bob.page.get_by_test_id("changes-said")).to_contain_text("from Ann")
    await expect(bob.page.get_by_test_id("talk-button")).to_have_accessible_name(
        "Chat, 1 new message"
    )
    await show_list(bob)
    await bob.page.get_by_test_id("talk-button").click()
    await expect(remarks(bob).first).to_contain_text("Shall we begin?\nWith the notes.")
    await expect(unread).to_have_count(0)
    await say(bob, "Yes.", "I have put them on the left, sorted by what came up most often.")
    await expect(remarks(ann)).to_have_count(3)
    await say(ann, "Oops")
    await expect(remarks(bob)).to_have_count(4)
    # One's own is taken back, and is gone for all.
    await remarks(ann).nth(3).hover()
    await remarks(ann).nth(3).get_by_test_id("ask-take").click()
    await ann.page.get_by_test_id("take-away").click()
    await expect(remarks(bob)).to_have_count(3)
    await expect(ann.page.get_by_role("status").filter(has_text="is gone")).to_have_count(1)
    # Where there are no accounts everybody manages the place, as all its things.
    await remarks(bob).nth(0).hover()
    await remarks(bob).nth(0).get_by_test_id("ask-take").click()
    await bob.page.get_by_test_id("take-away").click()
    await expect(remarks(ann)).to_have_count(2)
    await say(ann, "Good, let us look at them together: https://example.org/notes is the source.")
    await expect(remarks(bob)).to_have_count(3)
    # Who comes late has all of it, and their keys are on the board again when they close it.
    cyd = await open_board(tabs, cluster.nodes["b"].url, place, "Cyd")
    await expect(cyd.page.get_by_test_id("talk-unread")).to_have_text("3")
    await stage(cyd).focus()
    await cyd.press("c")
    await expect(remarks(cyd)).to_have_count(3)
    await cyd.press("Escape")
    await expect(cyd.page.get_by_test_id("talk")).to_have_count(0)
    await expect(stage(cyd)).to_be_focused()
    for width, scheme in SIZES:
        for tab, name in ((ann, "board"), (bob, "list")):
            await tab.resize(width, scheme)
            await tab.screenshot(f"talk-{name}-{width}-{scheme}")
            await fits(tab)
            assert await violations(tab) == ""
            assert await tab.page.evaluate(MOVING) == 0


async def test_what_is_said_offline_waits_survives_a_reload_and_is_sent_once(
    cluster: Cluster, tabs: Tabs
) -> None:
    a, b = cluster.nodes["a"].url, cluster.nodes["b"].url
    maker = await tabs.open("about:blank", "Maker")
    place = await create_place(maker, a, "Later")
    ann = await kept_page(tabs, f"{a}/p/{place}", "Ann")
    await expect(stage(ann)).to_be_visible()
    bob = await open_board(tabs, b, place, "Bob")
    await ann.page.get_by_test_id("talk-button").click()
    await bob.page.get_by_test_id("talk-button").click()
    await say(ann, "Here")
    await expect(remarks(bob)).to_have_count(1)
    await ann.saved()
    await go_offline(ann)
    await say(ann, "Under way", "Almost there")
    await expect(remarks(ann).nth(2)).to_have_attribute("data-state", "waiting")
    await expect(ann.page.get_by_test_id("talk")).to_contain_text("Not connected")
    await ann.resize(390, "dark")
    await ann.screenshot("talk-offline-390-dark")
    await fits(ann)
    await ann.resize(1280, "light")
    await ann.screenshot("talk-offline-1280-light")
    await expect(ann.badge).to_contain_text("2")
    await ann.page.reload()
    await expect(stage(ann)).to_be_visible()
    await ann.page.get_by_test_id("talk-button").click()
    await expect(remarks(ann)).to_have_count(2)
    await ann.page.context.set_offline(False)
    await expect(remarks(bob)).to_have_count(3)
    await expect(remarks(ann)).to_have_count(3)
    await ann.saved()
    await expect(remarks(bob).locator(".talk-text")).to_have_text(
        ["Here", "Under way", "Almost there"]
    )
