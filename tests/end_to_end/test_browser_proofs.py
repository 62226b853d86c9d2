"""Addresses that are not confirmed, second factors and forgotten passwords, in real browsers."""

from __future__ import annotations

import time
from typing import Any

import pyotp
import pytest
from playwright.async_api import Locator, Route, expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_axe import OF_COLOURS, RULES, violations
from tests.end_to_end.test_browser_looks import SIZES, fits
from tests.end_to_end.townspeople import (
    PASSWORD,
    REFUSED,
    button,
    fill,
    invited,
    made,
    newcomer,
    owner,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


async def look(tab: BrowserTab, name: str, shown: Locator) -> None:
    """At each size, light and dark."""
    await expect(shown.first).to_be_visible()
    for width, scheme in SIZES:
        rules = RULES if scheme == "light" else OF_COLOURS
        await tab.resize(width, scheme)
        await tab.screenshot(f"{name}-{width}-{scheme}")
        assert await violations(tab, rules) == "", f"{name} at {width}, {scheme}"
        await fits(tab)


async def test_what_is_shared_with_a_claimed_address_is_pending_until_an_owner_confirms_it(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    node = town.nodes["a"].url
    address = await invited(ann, "", "viewer")
    squatter = await tabs.open(address, "not used")
    squatter.expect_complaints(*REFUSED)
    await fill(squatter.page, name="Ceo", email="ceo@corp.example", password=PASSWORD)
    await button(squatter, "Make an account and join").click()
    await expect(squatter.page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    await squatter.page.goto(f"{node}/account")
    own = squatter.page.get_by_test_id("own-address")
    await expect(own).to_contain_text("ceo@corp.example is not confirmed")
    await look(squatter, "account-claimed", own)

    await ann.page.goto(node)
    await made(ann)
    await ann.page.get_by_test_id("share").click()
    await fill(ann.page, share_email="ceo@corp.example")
    await button(ann, "Share").last.click()
    await expect(ann.page.get_by_role("status").get_by_text("has not confirmed")).to_be_visible()
    row = ann.page.get_by_test_id("member").filter(has_text="pending: Can edit")
    await look(ann, "share-pending", row)

    await ann.page.goto(f"{node}/accounts")
    listed = ann.page.get_by_test_id("account").filter(has_text="ceo@corp.example")
    await expect(listed).to_contain_text("address not confirmed")
    ask = button(ann, "Confirm the address of Ceo")
    await ask.focus()
    await ann.press("Enter")
    await expect(ask).to_have_attribute("aria-expanded", "true")
    await look(ann, "accounts-confirm", button(ann, "Yes, it is theirs"))
    await button(ann, "No: end its password").click()
    await expect(listed).not_to_contain_text("address not confirmed")
    await fill(squatter.page, current_password=PASSWORD)
    await squatter.page.goto(f"{node}/sign-in")
    await fill(squatter.page, email="ceo@corp.example", password=PASSWORD)
    await button(squatter, "Sign in").click()
    await expect(squatter.page.get_by_role("alert")).to_contain_text("password is wrong")


async def test_an_authenticator_is_set_up_and_asked_for(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    node = town.nodes["a"].url
    tim = await newcomer(ann, tabs, town, "Tim", "viewer")
    await tim.page.goto(f"{node}/account")
    await button(tim, "Set up an authenticator").click()
    await look(tim, "factor-begun", tim.page.get_by_role("img", name="QR code with the key"))
    key = await tim.page.get_by_test_id("secret").input_value()
    # As of a clock that is ahead: it is a code for more than a minute from now on.
    used = pyotp.TOTP(key).at(time.time() + 30)
    await fill(tim.page, new_code=used, factor_password=PASSWORD)
    await tim.press("Enter")
    codes = tim.page.get_by_test_id("recovery")
    await expect(codes.get_by_role("listitem")).to_have_count(10)
    await look(tim, "factor-on", codes)
    recovery = await codes.get_by_role("listitem").first.inner_text()

    await tim.page.get_by_test_id("sign-out").click()
    await fill(tim.page, email="tim@example.org", password=PASSWORD)
    await button(tim, "Sign in").click()
    await expect(tim.page.get_by_test_id("code")).to_be_focused()
    await fill(tim.page, code=used)
    await tim.press("Enter")
    await expect(tim.page.get_by_role("alert")).to_contain_text("used already")
    await look(tim, "factor-asked", tim.page.get_by_test_id("code"))
    await fill(tim.page, code=recovery)
    await tim.press("Enter")
    await expect(tim.page.get_by_role("heading", name="Documents", exact=True)).to_be_visible()
    await ann.page.goto(f"{node}/accounts")
    await button(ann, "Remove the second factor of Tim").click()
    await expect(button(ann, "Remove the second factor of Tim")).to_have_count(0)


async def test_pages_for_a_forgotten_password_fit_the_screen(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    await owner(town, tabs, ann_cookies)
    node = town.nodes["a"].url
    tab = await tabs.open(f"{node}/forgotten", "not used")
    tab.expect_complaints(*REFUSED)
    await look(tab, "forgotten-no-mail", tab.page.get_by_text("sends no mail"))

    async def with_mail(route: Route) -> None:
        answer = await (await route.fetch()).json()
        await route.fulfill(json={**answer, "mail": True})

    async def fine(route: Route) -> None:
        await route.fulfill(status=204)

    await tab.page.route("**/api/v1/session", with_mail)
    await tab.page.goto(f"{node}/sign-in")
    await tab.page.get_by_role("link", name="Password forgotten?").click()
    await look(tab, "forgotten", button(tab, "Send a link"))
    await tab.page.goto("about:blank")
    await tab.page.goto(f"{node}/reset#gcm_wrong")
    await look(tab, "reset-expired", tab.page.get_by_role("alert"))
    await tab.page.route("**/api/v1/password/look", fine)
    await button(tab, "Try again").click()
    await look(tab, "reset", tab.page.get_by_test_id("new-password"))
    assert "gcm_" not in tab.page.url
    await tab.page.goto("about:blank")
    await tab.page.goto(f"{node}/confirm#gcm_wrong")
    await look(tab, "confirm", tab.page.get_by_text("Sign in with the account whose address"))
