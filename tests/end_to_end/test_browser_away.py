"""What a person has not sent outlives hours offline, a sign-in, a tab, and a browser's crash."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Error, expect

from tests.end_to_end.browser import NODE_GONE, BrowserTab, Tabs, converged, node_texts
from tests.end_to_end.chromium import CUT, KEEP_SOCKETS, KEPT, Wire, own_chromium
from tests.end_to_end.cluster import Cluster, eventually
from tests.end_to_end.townspeople import PASSWORD, REFUSED, button, company, fill

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

HOUR_MS = 3_600_000


async def is_kept(tab: BrowserTab, text: str) -> bool:
    """Whether the browser keeps this for later."""
    return text in await tab.page.evaluate(KEPT)


async def is_signed_out(node: str, tab: BrowserTab) -> bool:
    """Whether this node takes the tab's cookies for nobody's."""
    kept = [(one.get("name"), one.get("value")) for one in await tab.page.context.cookies()]
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in kept)}
    url = f"{node}/api/v1/session"
    async with aiohttp.ClientSession() as http, http.get(url, headers=headers) as answer:
        return (await answer.json())["principal"] is None


async def test_hours_offline_and_the_end_of_the_sign_in_lose_nothing_and_never_say_saved(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann, may, doc = await company(town, tabs, ann_cookies, "May", "editor", "one")
    may.expect_complaints(*NODE_GONE, "net::ERR_INTERNET_DISCONNECTED", "CLOSING or CLOSED")
    await ann.press("Enter")
    await ann.type("two")
    await ann.saved()
    await may.page.context.add_init_script(KEEP_SOCKETS)
    await may.page.clock.install()
    await may.page.goto(f"{town.nodes['b'].url}/doc/{doc}")
    await may.loaded()
    await may.shows("one", "two")

    await may.page.context.set_offline(True)
    await may.page.evaluate(CUT)
    await expect(may.badge).to_have_attribute("data-state", "offline")
    await may.sample_frames()
    await may.put_caret(0)
    for hour in range(5):
        await may.type(f" h{hour}")
        await may.page.clock.fast_forward(HOUR_MS)
    await may.press("Enter")
    await may.type("a line of hers")
    await ann.put_caret(0, "Home")
    await ann.type("meanwhile ")
    await ann.put_caret(1)
    await ann.type(" too")
    await ann.saved()
    await eventually(lambda: is_kept(may, "a line of hers"), "the browser keeps the edits")
    frames = await may.frames()
    assert {frame.kind for frame in frames} == {"offline"}
    assert all(frame.edits > 0 for frame in frames if "h0" in frame.text)
    await ann.shows("meanwhile one", "two too")

    # Her sign-in has ended meanwhile, everywhere.
    await ann.page.goto(f"{town.nodes['a'].url}/accounts")
    await button(ann, "Sign out May everywhere").click()
    await expect(ann.page.get_by_text("May is signed out everywhere.")).to_be_visible()
    # Node b hears of it in the order: before that it would take her edits, as it should.
    await eventually(lambda: is_signed_out(town.nodes["b"].url, may), "node b knows her no more")
    may.expect_complaints(*REFUSED)
    await may.page.context.set_offline(False)
    stopped = may.page.get_by_test_id("stopped")
    await expect(stopped).to_contain_text("kept in this browser")
    assert {frame.kind for frame in await may.frames()} == {"offline"}
    await stopped.get_by_role("link", name="Sign in").click()
    await fill(may.page, email="may@example.org", password=PASSWORD)
    await button(may, "Sign in").click()
    await may.loaded()
    await may.sample_frames()
    texts = ["meanwhile one h0 h1 h2 h3 h4", "a line of hers", "two too"]
    await may.shows(*texts)
    await may.saved()
    await ann.page.goto(f"{town.nodes['a'].url}/doc/{doc}")
    await ann.loaded()
    await ann.shows(*texts)
    said_saved = [frame.text for frame in await may.frames() if frame.kind == "saved"]
    assert all("a line of hers" in text for text in said_saved)


async def test_a_crash_of_the_browser_loses_nothing_that_it_kept_and_sends_it_once(
    cluster: Cluster, tabs: Tabs, chromium_path: Path, tmp_path: Path
) -> None:
    doc = await cluster.create("a", "start")
    address = f"{cluster.nodes['a'].url}/doc/{doc}"
    words = "".join(f" w{number:03d}" for number in range(400))

    async def type_until_killed(tab: BrowserTab) -> None:
        with pytest.raises(Error):
            await tab.type(words, delay_ms=5)

    async with own_chromium(chromium_path, tmp_path / "profile") as browser:
        await browser.context.add_init_script(KEEP_SOCKETS)
        tab = BrowserTab(await browser.context.new_page())
        await tab.page.goto(address)
        await tab.loaded()
        await tab.put_caret(0)
        await tab.type(" sent")
        await tab.saved()
        await browser.context.set_offline(True)
        await tab.page.evaluate(CUT)
        await expect(tab.badge).to_have_attribute("data-state", "offline")
        typing = asyncio.create_task(type_until_killed(tab))
        await eventually(lambda: is_kept(tab, " w020"), "the browser keeps the edits")
        await browser.kill()
        await typing
    assert await node_texts(cluster, "b", doc) == ["start sent"]

    two = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    async with own_chromium(chromium_path, tmp_path / "profile") as browser:
        tab = BrowserTab(await browser.context.new_page())
        await tab.page.goto(address)
        await tab.loaded()
        (text,) = await converged(cluster, doc, [tab, two])
        back = text.removeprefix("start sent")
        assert words.startswith(back), back
        assert " w020" in back

        # Now in the middle of sending. What is there may be longer than a line of the page.
        await tab.put_caret(0)
        await tab.press("Control+End")
        await tab.type(".")
        typing = asyncio.create_task(type_until_killed(tab))
        await expect(two.block(0)).to_contain_text(". w000 w001 w002 w003")
        await browser.kill()
        await typing
    async with own_chromium(chromium_path, tmp_path / "profile") as browser:
        tab = BrowserTab(await browser.context.new_page())
        await tab.page.goto(address)
        await tab.loaded()
        (text,) = await converged(cluster, doc, [tab, two])
        more = text.removeprefix(f"start sent{back}.")
        assert words.startswith(more), more
        assert more.startswith(" w000 w001 w002 w003")


async def test_a_tab_is_closed_with_unsent_edits_while_another_one_goes_on(
    cluster: Cluster, tabs: Tabs
) -> None:
    doc = await cluster.create("a", "one\n\ntwo")
    context = await tabs.context("One")
    address = f"{cluster.nodes['a'].url}/doc/{doc}"
    wire = Wire()
    first = await tabs.open_in(context, "about:blank")
    await first.page.route_web_socket("**/ws", wire.take)
    await first.page.goto(address)
    second = await tabs.open_in(context, address)
    for tab in (first, second):
        await tab.loaded()
    await first.page.bring_to_front()
    await first.put_caret(0)
    await first.type(" sent")
    await first.saved()
    wire.is_held = True
    await first.type(" and closed")
    await eventually(lambda: is_kept(first, "closed"), "the browser keeps the edits")
    assert (await first.save_state())[0] != "saved"
    await first.page.close()
    await second.put_caret(1)
    await second.type(" goes on")
    await second.saved()
    await second.shows("one sent", "two goes on")

    third = await tabs.open_in(context, address)
    await third.loaded()
    texts = ["one sent and closed", "two goes on"]
    assert await converged(cluster, doc, [second, third]) == texts
    await third.page.close()
    fourth = await tabs.open_in(context, address)
    await fourth.loaded()
    assert await converged(cluster, doc, [second, fourth]) == texts
