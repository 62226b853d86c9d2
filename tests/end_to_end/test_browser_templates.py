"""A board from a template: chosen on the page of the files, there for everybody."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from server.places.templates import TEMPLATES
from tests.end_to_end.browser import Tabs
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_board import show_list

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


async def test_a_meeting_room_is_chosen_by_keyboard_and_has_its_name_and_things(
    cluster: Cluster, tabs: Tabs
) -> None:
    ann = await tabs.open(f"{cluster.nodes['a'].url}/", "Ann")
    menu = ann.page.get_by_test_id("board-templates")
    await menu.focus()
    await ann.press("Enter")
    await expect(ann.page.get_by_role("menuitem")).to_have_count(len(TEMPLATES) - 1)
    await ann.screenshot("board-templates")
    await ann.page.get_by_role("menuitem", name="Meeting room").press("Enter")
    await expect(ann.page.get_by_test_id("title")).to_have_value("Meeting room")
    await ann.saved()
    await ann.screenshot("board-meeting")
    await show_list(ann)
    for kind in ("frame", "furniture", "light", "switch", "clock", "timer", "vote"):
        there = sum(thing.kind == kind for thing in TEMPLATES["meeting"]("en"))
        await expect(ann.page.locator(f"[data-kind={kind}]")).to_have_count(there)
