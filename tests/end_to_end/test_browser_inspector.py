"""The inspector shows a migration as it happens; the list of keys opens by its keys."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Locator, expect

from tests.end_to_end.browser import Tabs
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.test_browser_looks import SIZES, fits

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


NONE = "\N{EN DASH}"


async def test_a_migration_is_seen_as_it_happens_while_one_types(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "first\n\nsecond")
    await cluster.keep(*(f"doc/{doc}{end}" for end in ("", "/b1", "/b2")))
    tab = await tabs.document(cluster.nodes["a"].url, doc, "Ann")
    await tab.put_caret(0)
    await tab.type(" more")
    await tab.saved()
    await tab.press("Control+Alt+i")
    table = tab.page.get_by_test_id("inspector-groups")
    row = table.locator(f'tr[data-name="doc/{doc}/b1"]')
    sequencer = row.locator("[data-column=sequencer]")
    await expect(sequencer).to_have_text(re.compile(r"^\s*[abc]\s*$"))
    target = "b" if (await sequencer.inner_text()).strip() == "a" else "a"
    await expect(row.locator("[data-column=nodes]")).to_contain_text("a")
    await expect(row.locator("[data-column=epoch]")).to_have_text(re.compile(r"^\s*\d+\s*$"))
    epoch = int(await row.locator("[data-column=epoch]").inner_text())
    assert await violations(tab) == ""

    await cluster.place(target, f"doc/{doc}/b1")
    await expect(sequencer).to_contain_text(target)
    await expect(row).to_contain_text("moved")
    await expect(row.locator("[data-column=epoch]")).to_have_text(str(epoch + 1))
    await expect(tab.page.get_by_test_id("inspector-log")).to_contain_text(f'"to":"{target}"')
    await tab.put_caret(0)
    await tab.type(" and more")
    await tab.shows("first more and more", "second")
    await expect(row.locator("[data-column=p50_ms]")).not_to_have_text(NONE)

    header = table.get_by_role("columnheader", name="Epoch")
    await header.get_by_role("button").click()
    await expect(header).to_have_attribute("aria-sort", "ascending")
    await tab.page.get_by_label("Filter events").fill('"to":')
    shown = tab.page.get_by_test_id("inspector-log").locator("li")
    await expect(shown.filter(has_not_text='"to":')).to_have_count(0)
    await expect(shown.filter(has_text=f"doc/{doc}/b1")).to_have_count(1)
    await tab.page.get_by_role("button", name="Copy as JSON").click()
    copied = await tab.page.evaluate("() => navigator.clipboard.readText()")
    assert f'"sequencer": "{target}"' in copied
    await tab.press("Control+Alt+i")
    await expect(tab.page.get_by_test_id("inspector")).to_have_count(0)

    await tab.press("Control+/")
    keys = tab.page.get_by_test_id("key-help")
    await expect(keys).to_contain_text("Ctrl+Shift+Z or Ctrl+Y")
    assert await violations(tab) == ""
    await tab.press("Escape")
    await expect(keys).to_have_count(0)
    await tab.put_caret(0)
    await tab.press("Escape", "?")  # a sign alone is no key of the page, outside of the text, too
    await tab.press("Control+/")
    await expect(keys).to_be_visible()


async def test_the_inspector_and_the_list_of_keys_fit(cluster: Cluster, tabs: Tabs) -> None:
    doc = await cluster.create("a", "\n\n".join(f"Block {n}" for n in range(8)))
    tab = await tabs.document(cluster.nodes["a"].url, doc, "Ann")

    async def look(name: str, shown: Locator) -> None:
        for width, scheme in SIZES:
            await tab.resize(width, scheme)
            await expect(shown).to_be_visible()
            await tab.screenshot(f"{name}-{width}-{scheme}")
            await fits(tab)

    await tab.page.get_by_role("button", name="Keyboard shortcuts").click()
    await look("keys", tab.page.get_by_test_id("key-help"))
    await tab.press("Escape")
    await tab.page.get_by_role("button", name="Inspector").click()
    groups = tab.page.get_by_test_id("inspector-groups")
    await expect(groups).to_contain_text(f"doc/{doc}")
    await look("inspector", groups)
