"""People of a town: who owns it, who is invited there, and what they do in their tabs."""

from __future__ import annotations

from typing import Any, NamedTuple

from playwright.async_api import Locator, Page, expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster

PASSWORD = "seven blue boats"
REFUSED = ("status of 401", "status of 403", "status of 404", "status of 410")
"""What Chromium itself writes of answers that say no."""


async def fill(page: Page, **fields: str) -> None:
    """Fill fields by their test ids; `_` stands for `-`."""
    for name, text in fields.items():
        await page.get_by_test_id(name.replace("_", "-")).fill(text)


def button(tab: BrowserTab, name: str) -> Locator:
    """A button by the name that screen readers say."""
    return tab.page.get_by_role("button", name=name)


async def owner_link(town: Cluster) -> str:
    """The one-time link, printed again."""
    code, answer = await town.admin("a", "owner-link")
    assert code == 201, answer
    return str(answer["url"])


async def owner(town: Cluster, tabs: Tabs, cookies: list[dict[str, Any]]) -> BrowserTab:
    """The first owner's tab at the list of documents, made if there is none."""
    context = await tabs.context("not used")
    if cookies:
        await context.add_cookies(cookies)  # type: ignore[arg-type]
        tab = await tabs.open_in(context, town.nodes["a"].url)
    else:
        tab = await tabs.open_in(context, await owner_link(town))
        await fill(tab.page, name="Ann", email="ann@example.org", password=PASSWORD)
        await fill(tab.page, workspace="Choir")
        await button(tab, "Become the owner").click()
        await expect(tab.page.get_by_role("heading", name="Choir", exact=True)).to_be_visible()
        assert "gco_" not in tab.page.url
        await tab.page.get_by_role("link", name="All documents", exact=True).click()
    await expect(tab.page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    cookies[:] = [dict(one) for one in await context.cookies()]
    return tab


async def invited(tab: BrowserTab, email: str, role: str) -> str:
    """The owner invites somebody to the first workspace, whatever others there are; the address."""
    await tab.page.get_by_role("link", name="People").click()
    form = tab.page.get_by_role("form", name="Invite to Choir")
    await form.get_by_test_id("invite-email").fill(email)
    await form.get_by_label("Role of who is invited").select_option(role)
    await form.get_by_role("button", name="Make an invitation").click()
    address = str(await tab.page.get_by_test_id("secret").input_value())
    assert "/join#gci_" in address
    return address


async def joined(tabs: Tabs, town: Cluster, node: str, address: str, name: str) -> BrowserTab:
    """Somebody opens an invitation at this node, and makes an account."""
    there = address.replace(town.nodes["a"].url, town.nodes[node].url)
    tab = await tabs.open(there, "not used")
    tab.expect_complaints(*REFUSED)
    await fill(tab.page, name=name, password=PASSWORD)
    await button(tab, "Make an account and join").click()
    await expect(tab.page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    assert "gci_" not in tab.page.url
    return tab


async def made(tab: BrowserTab) -> str:
    """A new document, open in this tab; its id."""
    await tab.page.get_by_test_id("new-document").first.click()
    await tab.loaded()
    return tab.page.url.rpartition("/")[2]


async def give_role(tab: BrowserTab, name: str, role: str) -> None:
    """The owner makes somebody something for the document that is open."""
    await tab.page.get_by_test_id("share").click()
    label = f"Role of {name} for this document"
    await tab.page.get_by_label(label).select_option(role)
    await expect(tab.page.get_by_role("status").get_by_text(f"{name}:")).to_be_visible()
    await button(tab, "Close").click()


async def newcomer(ann: BrowserTab, tabs: Tabs, town: Cluster, name: str, role: str) -> BrowserTab:
    """The owner invites somebody with this role, who makes an account at node b."""
    address = await invited(ann, f"{name.lower()}@example.org", role)
    return await joined(tabs, town, "b", address, name)


class Company(NamedTuple):
    """The owner in a new document, and somebody at the list of documents of node b."""

    ann: BrowserTab
    other: BrowserTab
    doc: str


async def company(
    town: Cluster, tabs: Tabs, cookies: list[dict[str, Any]], name: str, role: str, text: str
) -> Company:
    """Ann writes this text, and somebody who has just come has this role."""
    ann = await owner(town, tabs, cookies)
    other = await newcomer(ann, tabs, town, name, role)
    await ann.page.get_by_role("link", name="Groupcore").first.click()
    doc = await made(ann)
    await ann.put_caret(0)
    await ann.type(text)
    await ann.saved()
    return Company(ann, other, doc)
