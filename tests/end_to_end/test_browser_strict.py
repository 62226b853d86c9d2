"""Strict groups in the console, in a real browser: what binds them, and what parting costs.

The nodes are in this process: strict groups are what embedding programs make, and no page does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from groupcore.sequencing.names import GroupId, Order, Process
from server.accounts.passwords import Passwords
from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.test_browser_console import look
from tests.end_to_end.townspeople import button
from tests.server.accounts.people import Browser, found_home
from tests.server.support import Cluster

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


@pytest_asyncio.fixture(loop_scope="session")
async def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cluster]:
    """Three nodes with accounts."""
    monkeypatch.setattr("server.making.Passwords", lambda: Passwords(1, 64, 1))
    made = Cluster(tmp_path, 3)
    made.flags = {"accounts": "on"}
    await made.start_all("a", "b", "c")
    yield made
    await made.close()


async def at_console(nodes: Cluster, tabs: Tabs, path: str) -> BrowserTab:
    """The owner's tab at a page of node a's console."""
    url = nodes.nodes["a"].url
    async with Browser(nodes.nodes["a"]) as ann:
        await found_home(ann)
        cookies = [{"name": name, "value": one, "url": url} for name, one in ann.cookies.items()]
    context = await tabs.context("not used")
    await context.add_cookies(cookies)  # type: ignore[arg-type]
    return await tabs.open_in(context, f"{url}/admin{path}")


async def bound(nodes: Cluster, names: Sequence[str]) -> list[GroupId]:
    """Strict groups of which each shares two processes with the next, and all one with all; two
    more processes observe every one.
    """
    groups = nodes.nodes["a"].node.objects.groups
    ids = [await groups.create(name, Order.STRICT) for name in names]
    everywhere: Process = groups.open_process()
    pairs = [groups.open_process() for _ in ids[1:]]
    for group in ids:
        await groups.join(everywhere, group)
    for pair, process in enumerate(pairs):
        for group in ids[pair : pair + 2]:
            await groups.join(process, group)
    for _ in range(2):
        bot = groups.open_process()
        for group in ids:
            await groups.join(bot, group, observes=True)
    return ids


async def test_strict_groups_are_shown_bound_with_what_a_move_and_a_split_cost(
    nodes: Cluster, tabs: Tabs
) -> None:
    await bound(nodes, ("orders", "payments", "stock"))
    alone = await bound(nodes, ("archive",))
    tab = await at_console(nodes, tabs, "/overlap")
    row = tab.page.get_by_test_id("component").filter(has_text="payments")
    await expect(row.get_by_role("cell").nth(1)).to_have_text("3")  # bound together: all of them
    await expect(row).not_to_contain_text("archive")
    observers = tab.page.get_by_role("region", name="Observers")
    await expect(observers.get_by_role("listitem")).to_have_count(4)
    await expect(observers).to_contain_text("observes 3 strict groups")
    await look(tab, "overlap-strict", row)

    await row.get_by_role("link").click()
    costs, split = tab.page.get_by_test_id("costs"), tab.page.get_by_test_id("split")
    await expect(costs).to_contain_text("3 groups go together, as they are bound")
    await expect(costs.get_by_test_id("target")).to_have_count(2)
    # The one who is in all holds all three together, each other one two of them.
    leavers = split.get_by_test_id("leaver")
    await expect(leavers).to_have_count(3)
    await expect(leavers.first).to_contain_text("without them 3 parts, the largest of 1 group")
    await expect(leavers.nth(1)).to_contain_text("without them 2 parts, the largest of 2 groups")
    await look(tab, "component-strict", costs)

    # It is moved whole, from the page of one of them.
    await tab.page.get_by_role("link", name="Look at this group, and move it").click()
    await expect(tab.page.get_by_text("It must have one sequencer with")).to_be_visible()
    await expect(tab.page.get_by_text("observes", exact=True)).to_have_count(2)
    await tab.page.get_by_label("Sequence at").select_option("b")
    await button(tab, "Move").click()
    await expect(tab.page.get_by_test_id("sequencer")).to_have_text("b")
    await tab.page.goto(f"{nodes.nodes['a'].url}/admin/overlap")
    await expect(row.get_by_role("cell").nth(3)).to_have_text("b: 3")

    await tab.page.goto(f"{nodes.nodes['a'].url}/admin/overlap/{alone[0]}")
    await expect(split).to_contain_text("none of these groups is bound to another")
