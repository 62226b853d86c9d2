"""People with accounts in real browsers: first owner, invitation, roles, links, and being out."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Locator, Route, expect

from tests.end_to_end.browser import NODE_GONE, BrowserTab, Tabs
from tests.end_to_end.chromium import CUT, KEEP_SOCKETS
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.keystrokes import all_comes_back, note_typed, the_same, typed
from tests.end_to_end.test_browser_axe import OF_COLOURS, RULES, violations
from tests.end_to_end.test_browser_looks import SIZES, fits
from tests.end_to_end.townspeople import (
    PASSWORD,
    REFUSED,
    button,
    company,
    fill,
    give_role,
    invited,
    joined,
    made,
    owner,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

OUT_S = 1.0
"""How long a page may stay open after its sign-in is over, beside what a test needs to look."""


async def test_two_people_on_two_nodes_from_the_printed_link_to_a_role_taken_in_mid_sentence(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann, bob, doc = await company(town, tabs, ann_cookies, "Bob", "viewer", "From Ann. ")
    await bob.page.goto(f"{town.nodes['b'].url}/doc/{doc}")
    await bob.loaded()
    await expect(bob.page.get_by_test_id("reading-only")).to_contain_text("You can read")
    await expect(bob.editor).to_have_attribute("contenteditable", "false")
    await expect(bob.page.get_by_role("toolbar")).to_have_count(0)
    await bob.shows("From Ann. ")
    person = ann.page.locator('[data-testid=person][data-name="Bob"]')
    await expect(person).to_have_count(1)

    await give_role(ann, "Bob", "editor")
    await expect(bob.editor).to_have_attribute("contenteditable", "true")
    await expect(bob.page.get_by_test_id("reading-only")).to_have_text("")
    await bob.put_caret(0)
    await bob.type("And from Bob: ")
    await bob.saved()
    await ann.shows("From Ann. And from Bob: ")

    words = " ".join(f"word{number}" for number in range(60))
    await note_typed(bob)
    typing = asyncio.create_task(bob.type(words, delay_ms=10))
    await expect(ann.editor).to_contain_text("word5")
    await give_role(ann, "Bob", "viewer")
    await typing
    await expect(bob.editor).to_have_attribute("contenteditable", "false")
    await expect(bob.page.get_by_test_id("reading-only")).to_contain_text("You can read")

    before = "From Ann. And from Bob: "
    await all_comes_back(ann, bob, before)
    assert words.startswith(await typed(bob))
    assert await the_same(ann, bob) != before + words
    drafts = bob.page.get_by_test_id("draft")
    if await drafts.count():
        await expect(drafts.first).to_contain_text("You may not write here")


async def test_a_visitor_by_a_link_with_a_password_reads_until_it_is_revoked(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    await made(ann)
    await ann.put_caret(0)
    await ann.type("For visitors.")
    await ann.saved()
    await ann.page.get_by_test_id("share").click()
    await ann.page.get_by_test_id("link-password").fill("tea for two")
    await button(ann, "Make a link").click()
    link = await ann.page.get_by_test_id("secret").input_value()

    there = link.replace(town.nodes["a"].url, town.nodes["c"].url)
    visitor = await tabs.open(there, "not used")
    visitor.expect_complaints(*REFUSED)
    await fill(visitor.page, password="tea for three")
    await button(visitor, "Open").click()
    await expect(visitor.page.get_by_role("alert")).to_contain_text("s password")
    await fill(visitor.page, password="tea for two")
    await button(visitor, "Open").click()
    await visitor.loaded()
    assert "gcl_" not in visitor.page.url
    await visitor.shows("For visitors.")
    await expect(visitor.page.get_by_test_id("reading-only")).to_contain_text("You can read")
    await expect(visitor.page.get_by_test_id("share")).to_have_count(0)

    await button(ann, "Revoke the link").first.click()
    await expect(visitor.editor).to_have_count(0, timeout=5_000)
    await expect(visitor.page.get_by_role("alert")).to_be_visible()


async def test_the_sign_in_page_shows_no_words_of_a_stranger(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    await owner(town, tabs, ann_cookies)
    at = f"{town.nodes['a'].url}/sign-in"
    for said, shown in (
        ("error=x&detail=Call+0900+12345", "Signing in at your organisation did not work."),
        ("error=no_account&detail=Call+0900+12345", "You have no account here yet."),
    ):
        tab = await tabs.open(f"{at}#{said}", "not used")
        await expect(tab.page.get_by_role("status").filter(has_text=shown)).to_be_visible()
        await expect(tab.page.locator("body")).not_to_contain_text("0900")


async def test_who_has_no_password_is_not_asked_for_one(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    await ann.page.goto(f"{town.nodes['a'].url}/account")
    await expect(ann.page.get_by_test_id("current-password")).to_be_visible()

    async def by_provider(route: Route) -> None:
        answer = await (await route.fetch()).json()
        answer["user"]["has_password"] = False
        await route.fulfill(json=answer)

    await ann.page.route("**/api/v1/session", by_provider)
    await ann.page.reload()
    await expect(ann.page.get_by_test_id("no-password")).to_contain_text("your organisation")
    await expect(ann.page.get_by_test_id("current-password")).to_have_count(0)


async def test_who_is_switched_off_is_out_at_every_node_and_keeps_what_was_not_sent(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    address = await invited(ann, "eve@example.org", "editor")
    eve = await joined(tabs, town, "b", address, "Eve")
    doc = await made(eve)
    await eve.put_caret(0)
    await eve.type("Sent.")
    await eve.saved()
    others = []
    for node in ("a", "c"):
        tab = await tabs.open_in(eve.page.context, f"{town.nodes[node].url}/doc/{doc}")
        tab.expect_complaints(*REFUSED)
        await tab.loaded()
        others.append(tab)
    pages = [eve, *others]
    marks = """() => new Promise((done) => {
      const look = () => document.querySelector("[data-testid=stopped]") && done(Date.now());
      new MutationObserver(look).observe(document, { childList: true, subtree: true });
      look();
    })"""
    seen = [asyncio.create_task(tab.page.evaluate(marks)) for tab in pages]
    await ann.page.goto(f"{town.nodes['a'].url}/accounts")
    await button(ann, "Switch Eve off").click()
    await expect(button(ann, "Switch Eve on")).to_be_visible()
    ordered_ms = await ann.page.evaluate("Date.now()")
    for task in seen:
        assert await task - ordered_ms < OUT_S * 1_000
    await expect(eve.page.get_by_test_id("stopped")).to_contain_text("You are signed out")

    await eve.put_caret(0)
    await eve.type(" Not sent.")
    await expect(eve.badge).to_have_attribute("data-state", "offline")
    assert (await eve.save_state())[1] > 0
    for tab in others:
        await tab.page.close()
    await button(ann, "Switch Eve on").click()
    await expect(button(ann, "Switch Eve off")).to_be_visible()
    await eve.page.get_by_test_id("stopped").get_by_role("link", name="Sign in").click()
    await fill(eve.page, email="eve@example.org", password=PASSWORD)
    await button(eve, "Sign in").click()
    await eve.loaded()
    await eve.shows("Sent. Not sent.")
    await eve.saved()
    assert eve.page.url.endswith(f"/doc/{doc}")


async def test_what_one_person_has_not_sent_is_not_shown_to_the_next_one_at_this_browser(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    address = await invited(ann, "joe@example.org", "editor")
    joe = await joined(tabs, town, "a", address, "Joe")
    doc = await made(joe)
    await joe.put_caret(0)
    await joe.type("Sent.")
    await joe.saved()
    await ann.page.goto(f"{town.nodes['a'].url}/accounts")
    await button(ann, "Sign out Joe everywhere").click()
    await expect(joe.page.get_by_test_id("stopped")).to_be_visible()
    await joe.put_caret(0)
    await joe.type(" Of Joe alone.")
    await expect(joe.badge).to_contain_text("kept")
    await joe.page.get_by_test_id("stopped").get_by_role("link", name="Sign in").click()
    await fill(joe.page, email="ann@example.org", password=PASSWORD)
    await button(joe, "Sign in").click()
    await joe.loaded()
    await joe.shows("Sent.")
    assert (await joe.save_state())[1] == 0
    await expect(joe.page.get_by_test_id("draft")).to_have_count(0)

    await joe.page.get_by_test_id("own-account").click()
    await joe.page.get_by_test_id("sign-out").click()
    await fill(joe.page, email="joe@example.org", password=PASSWORD)
    await button(joe, "Sign in").click()
    await expect(joe.page.get_by_text("Open to send your edits")).to_have_count(1)
    await joe.page.goto(f"{town.nodes['a'].url}/doc/{doc}")
    await joe.loaded()
    await joe.shows("Sent. Of Joe alone.")
    await joe.saved()


async def test_signing_in_leads_back_and_a_wrong_password_is_said(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    doc = await made(ann)
    tab = await tabs.open(f"{town.nodes['b'].url}/doc/{doc}", "not used")
    tab.expect_complaints(*REFUSED)
    await fill(tab.page, email="ann@example.org", password="wrong and wrong")
    await button(tab, "Sign in").click()
    await expect(tab.page.get_by_role("alert")).to_contain_text("password is wrong")
    await fill(tab.page, password=PASSWORD)
    await tab.press("Enter")
    await tab.loaded()
    assert tab.page.url.endswith(f"/doc/{doc}")
    await tab.page.get_by_test_id("own-account").click()
    await tab.page.get_by_test_id("sign-out").click()
    await expect(button(tab, "Sign in")).to_be_visible()
    await tab.page.goto(f"{town.nodes['a'].url}/people")
    await expect(button(tab, "Sign in")).to_be_visible()


async def test_pages_of_accounts_fit_the_screen_and_axe_finds_nothing(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    node = town.nodes["a"].url
    nobody = await tabs.open(f"{node}/sign-in")
    nobody.expect_complaints(*REFUSED)
    await ann.page.goto(f"{node}/people")
    await ann.page.get_by_test_id("invite-email").fill("new@example.org")
    await button(ann, "Make an invitation").click()
    invitation = await ann.page.get_by_test_id("secret").input_value()

    async def look(tab: BrowserTab, name: str, shown: Locator) -> None:
        """At each size, light and dark: a page follows both while it is open."""
        await expect(shown.first).to_be_visible()
        for width, scheme in SIZES:
            rules = RULES if scheme == "light" else OF_COLOURS
            await tab.resize(width, scheme)
            await tab.screenshot(f"{name}-{width}-{scheme}")
            assert await violations(tab, rules) == "", f"{name} at {width}, {scheme}"
            await fits(tab)

    await look(ann, "people", ann.page.get_by_text("Open invitations"))
    await look(nobody, "sign-in", button(nobody, "Sign in"))
    await nobody.page.goto(invitation)
    await expect(button(nobody, "Make an account and join")).to_be_visible()  # the link is read
    await nobody.page.reload()
    await look(nobody, "join-again", nobody.page.get_by_text("Open the whole link"))
    await nobody.page.goto("about:blank")
    await nobody.page.goto(invitation)
    await look(nobody, "join", button(nobody, "Make an account and join"))
    await nobody.page.goto(f"{node}/welcome")
    await look(nobody, "welcome", nobody.page.get_by_text("has an owner already"))
    await nobody.page.goto(f"{node}/share#gcl_wrong")
    await look(nobody, "share", nobody.page.get_by_role("alert"))
    await ann.page.goto(f"{node}/account")
    await look(ann, "account", ann.page.get_by_test_id("sign-in-place"))
    await ann.page.goto(f"{node}/accounts")
    await look(ann, "accounts", ann.page.get_by_role("cell").first)
    await ann.page.goto(node)
    await made(ann)
    await ann.page.get_by_test_id("share").click()
    await button(ann, "Make a link").click()
    await look(ann, "share-dialog", ann.page.get_by_test_id("share-link"))


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
async def test_the_header_fits_a_narrow_screen_while_changes_are_kept(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]], locale: str
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    await made(ann)
    context = await tabs.context("not used", width=390, locale=locale)
    await context.add_cookies(ann_cookies)  # type: ignore[arg-type]
    await context.add_init_script(KEEP_SOCKETS)
    tab = await tabs.open_in(context, ann.page.url)
    tab.expect_complaints(*NODE_GONE, "net::ERR_INTERNET_DISCONNECTED", "CLOSING or CLOSED")
    await tab.loaded()
    await context.set_offline(True)
    await tab.page.evaluate(CUT)
    await expect(tab.badge).to_have_attribute("data-state", "offline")
    await tab.put_caret(0)
    await tab.type("kept")
    await expect(tab.badge).to_have_attribute("data-edits", re.compile("[1-9]"))
    await tab.screenshot(f"header-390-{locale}")
    await fits(tab)
