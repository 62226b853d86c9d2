"""A page that is loaded again while no node can be reached: what the browser keeps is shown."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import NODE_GONE, BrowserTab, Tabs, converged
from tests.end_to_end.chromium import CUT, KEEP_SOCKETS, KEPT
from tests.end_to_end.cluster import Cluster, eventually
from tests.end_to_end.test_browser_axe import violations
from tests.end_to_end.townspeople import owner

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

HAS_PAGE = """async () => {
  const found = await navigator.serviceWorker.getRegistration();
  return Boolean(found?.active?.state === "activated" && navigator.serviceWorker.controller);
}"""
"""Whether the browser keeps the whole page, and has it from there from now on."""
CACHED = """async () => {
  const caches_ = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
  const all = await Promise.all(caches_.map((one) => one.keys()));
  return all.flat().map(({ url }) => new URL(url).pathname);
}"""
"""The addresses of all that the worker keeps."""
OFFLINE = (*NODE_GONE, "net::ERR_INTERNET_DISCONNECTED", "net::ERR_FAILED", "CLOSING or CLOSED")


async def kept_page(tabs: Tabs, url: str, name: str = "One") -> BrowserTab:
    """A tab whose page the browser has kept by now."""
    context = await tabs.context(name, keeps_page=True)
    await context.add_init_script(KEEP_SOCKETS)
    tab = await tabs.open_in(context, url)
    tab.expect_complaints(*OFFLINE)
    await has_page(tab)
    return tab


async def has_page(tab: BrowserTab) -> None:
    """Wait until the browser keeps the page."""

    async def is_there() -> bool:
        return bool(await tab.page.evaluate(HAS_PAGE))

    await eventually(is_there, "the browser keeps the page")


async def go_offline(tab: BrowserTab) -> None:
    """Nothing comes through any more."""
    await tab.page.context.set_offline(True)
    await tab.page.evaluate(CUT)
    await expect(tab.badge).to_have_attribute("data-state", "offline")


async def wait_kept(tab: BrowserTab, text: str) -> None:
    """Wait until what was written is on the device."""

    async def is_kept() -> bool:
        return text in await tab.page.evaluate(KEPT)

    await eventually(is_kept, "the edits are kept")


async def test_a_reload_without_a_connection_shows_the_document_with_what_was_not_sent(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "first\n\nsecond")
    tab = await kept_page(tabs, f"{cluster.nodes['a'].url}/doc/{doc}")
    await tab.loaded()
    await go_offline(tab)
    await tab.put_caret(0)
    await tab.type(" written offline")
    await wait_kept(tab, "written offline")

    await tab.page.reload()
    await tab.loaded()
    await tab.shows("first written offline", "second")
    await expect(tab.badge).to_have_text("Offline · 1 change kept")
    partly = tab.page.get_by_test_id("away-partly")
    await expect(partly).to_contain_text("as this device has it")
    await tab.put_caret(1)
    await tab.type(" and more")
    await expect(tab.badge).to_have_text("Offline · 2 changes kept")
    await wait_kept(tab, "and more")
    await tab.screenshot("away-document")
    assert await violations(tab) == ""
    await tab.resize(390, "dark")
    await tab.screenshot("away-document-narrow-dark")

    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    await two.put_caret(1, "Home")
    await two.type("the ")
    await two.saved()
    await tab.page.context.set_offline(False)
    texts = ["first written offline", "the second and more"]
    assert await converged(cluster, doc, [tab, two]) == texts
    await expect(partly).to_be_hidden()


async def test_without_a_connection_one_is_told_which_documents_have_changes_on_this_device(
    cluster: Cluster, tabs: Tabs
) -> None:
    node = cluster.nodes["a"].url
    plan = await cluster.create("a", "first")
    other = await cluster.create("a", "elsewhere")
    tab = await kept_page(tabs, f"{node}/doc/{plan}")
    await tab.loaded()
    await go_offline(tab)
    await tab.put_caret(0)
    await tab.type(" kept")
    await wait_kept(tab, "kept")

    await tab.page.goto(f"{node}/doc/{other}")
    away = tab.page.get_by_test_id("away")
    await expect(away).to_contain_text("The text of this document is not on this device")
    row = away.get_by_role("listitem")
    await expect(row).to_contain_text("Plan")
    await expect(row).to_contain_text("1 change")
    await tab.screenshot("away")
    assert await violations(tab) == ""
    await tab.resize(390, "dark")
    await tab.screenshot("away-narrow-dark")
    await away.get_by_role("link", name="Plan").click()
    await tab.shows("first kept")
    await tab.page.goto(node)
    await expect(row).to_contain_text("Plan")

    # The page goes on by itself, at the address that one is at.
    await tab.page.goto(f"{node}/doc/{other}")
    await expect(away).to_be_visible()
    await tab.page.context.set_offline(False)
    await tab.loaded()
    await tab.shows("elsewhere")
    await tab.page.goto(f"{node}/doc/{plan}")
    assert await converged(cluster, plan, [tab]) == ["first kept"]


async def test_the_browser_keeps_the_page_and_nothing_that_anybody_wrote(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "secret words")
    node = cluster.nodes["a"].url
    tab = await kept_page(tabs, f"{node}/doc/{doc}")
    await tab.page.reload()
    await tab.loaded()
    await tab.page.goto(node)
    await expect(tab.page.get_by_test_id("document-link").first).to_be_visible()
    kept = await tab.page.evaluate(CACHED)
    assert "/" in kept
    assert len(kept) > 20
    assert {path for path in kept if path != "/" and not path.startswith("/assets/")} == set()
    whole = """async () => {
      const caches_ = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
      const found = await Promise.all(caches_.map(async (one) => {
        const answers = await one.matchAll();
        return Promise.all(answers.map((answer) => answer.text()));
      }));
      return found.flat().some((text) => /secret words/.test(text));
    }"""
    assert not await tab.page.evaluate(whole)


async def test_who_has_signed_out_leaves_nothing_to_be_seen_without_a_connection(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    await owner(town, tabs, ann_cookies)
    node = town.nodes["a"].url
    context = await tabs.context("not used", keeps_page=True)
    await context.add_cookies(ann_cookies)  # type: ignore[arg-type]
    await context.add_init_script(KEEP_SOCKETS)
    tab = await tabs.open_in(context, node)
    tab.expect_complaints(*OFFLINE, "status of 401")
    await tab.page.get_by_role("button", name="New document").first.click()
    await tab.loaded()
    await has_page(tab)
    address = tab.page.url
    await tab.saved()
    await go_offline(tab)
    await tab.put_caret(0)
    await tab.type("for Ann alone")
    await wait_kept(tab, "for Ann alone")
    await tab.page.reload()
    await tab.shows("for Ann alone")

    await tab.page.evaluate("() => localStorage.removeItem('groupcore.identity')")
    await tab.page.reload()
    alert = tab.page.get_by_role("alert")
    await expect(alert).to_contain_text("server cannot be reached")
    await expect(tab.page.get_by_text("for Ann alone")).to_have_count(0)
    # What was written waits for Ann.
    await context.set_offline(False)
    await tab.page.goto(address)
    await tab.saved()
    await tab.shows("for Ann alone")
    # Cookies are gone, as after signing out in another tab: a node says so, and it is forgotten.
    await context.clear_cookies()
    await tab.page.goto(node)
    await expect(tab.page.get_by_role("button", name="Sign in")).to_be_visible()
    assert "user:" not in await tab.page.evaluate("() => localStorage['groupcore.identity']")
