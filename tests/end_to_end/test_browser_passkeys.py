"""Passkeys in a real browser, with the virtual authenticator that Chromium has for tests."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import CDPSession, expect

from server.accounts.passwords import Passwords
from server.serve import RunningNode
from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.test_browser_proofs import look
from tests.end_to_end.townspeople import REFUSED, button, fill
from tests.server.accounts.people import PASSWORD, Browser, found_home, service
from tests.server.support import Cluster

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest_asyncio.fixture(loop_scope="session")
async def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RunningNode]:
    """A node that browsers call by a name: passkeys are for names. Ann is its owner."""
    monkeypatch.setattr("server.making.Passwords", lambda: Passwords(1, 64, 1))
    cluster = Cluster(tmp_path)
    port = free_port()
    node = await cluster.start(
        "a",
        accounts="on",
        http=f"127.0.0.1:{port}",
        public_url=f"http://localhost:{port}",
        owner_link="off",
    )
    async with Browser(node) as ann:
        await found_home(ann)
    yield node
    await cluster.close()


async def authenticator(tab: BrowserTab) -> CDPSession:
    """The tab has a device that asks its person, who agrees."""
    session = await tab.page.context.new_cdp_session(tab.page)
    await session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    await session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return session


async def test_a_passkey_is_made_and_signs_in_alone_and_behind_the_password(
    named: RunningNode, tabs: Tabs
) -> None:
    at = named.node.public_url
    tab = await tabs.open(f"{at}/sign-in", "not used")
    tab.expect_complaints(*REFUSED)
    await authenticator(tab)
    await fill(tab.page, email="ann@example.org", password=PASSWORD)
    await button(tab, "Sign in").first.click()
    documents = tab.page.get_by_role("heading", name="Documents", exact=True)
    await expect(documents).to_be_visible()
    await tab.page.goto(f"{at}/account")
    await fill(tab.page, passkey_name="Laptop", passkey_password=PASSWORD)
    await tab.press("Enter")
    await expect(tab.page.get_by_test_id("passkey")).to_contain_text("Laptop")
    codes = tab.page.get_by_test_id("recovery").get_by_role("listitem")
    await expect(codes).to_have_count(10)
    recovery = await codes.first.inner_text()
    await look(tab, "passkeys", tab.page.get_by_test_id("passkey"))

    await tab.page.get_by_test_id("sign-out").click()
    await look(tab, "sign-in-passkey", button(tab, "Sign in with a passkey"))
    await button(tab, "Sign in with a passkey").click()
    await expect(documents).to_be_visible()
    await tab.page.goto(f"{at}/account")
    await tab.page.get_by_test_id("sign-out").click()
    await fill(tab.page, email="ann@example.org", password=PASSWORD)
    await button(tab, "Sign in").first.click()
    await look(tab, "factor-passkey", button(tab, "Use a passkey"))
    await button(tab, "Use a passkey").click()
    await expect(documents).to_be_visible()

    await tab.page.goto(f"{at}/account")
    await expect(button(tab, "Remove the passkey Laptop")).to_be_disabled()
    await fill(tab.page, passkey_code=recovery)
    await button(tab, "Remove the passkey Laptop").click()
    await expect(tab.page.get_by_test_id("passkey")).to_have_count(0)
    whats = [one.what for one in service(named).accounts.notes]
    assert whats.count("passkey.added") == whats.count("passkey.removed") == 1


async def test_who_has_no_passkey_here_is_told_so(named: RunningNode, tabs: Tabs) -> None:
    tab = await tabs.open(f"{named.node.public_url}/sign-in", "not used")
    tab.expect_complaints(*REFUSED)
    session = await authenticator(tab)
    await session.send("WebAuthn.disable")
    await session.send("WebAuthn.enable")  # no device any more
    await tab.page.evaluate("""() => {
        navigator.credentials.get = () => Promise.reject(new DOMException("", "NotAllowedError"));
    }""")
    await button(tab, "Sign in with a passkey").click()
    await expect(tab.page.get_by_role("alert")).to_contain_text("No passkey was used")
