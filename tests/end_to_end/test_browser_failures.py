"""Nodes are killed under the hands of people who type in browsers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.end_to_end.browser import NODE_GONE, BrowserTab, Tabs, converged, node_texts, together
from tests.end_to_end.chromium import KEPT
from tests.end_to_end.cluster import NAMES, Cluster, eventually, running_cluster

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


@pytest_asyncio.fixture(loop_scope="session")
async def mortals(tmp_path: Path) -> AsyncIterator[Cluster]:
    """Three nodes that the test may kill."""
    async with running_cluster(tmp_path, *NAMES) as cluster:
        yield cluster


async def start_again(cluster: Cluster, *names: str) -> None:
    """Start nodes with the addresses that they had."""
    for name in names:
        address = cluster.nodes[name].url.removeprefix("http://")
        cluster.nodes[name] = await cluster.spawn(name, http=address)
    for name in names:
        await cluster.ready(name)


async def test_the_sequencer_is_killed_while_two_type_through_the_others(
    mortals: Cluster, tabs: Tabs
) -> None:
    cluster = mortals
    doc = await cluster.create("a", "middle")
    victim = await cluster.sequencer()
    others = [name for name in NAMES if name != victim]
    one = await tabs.document(cluster.nodes[others[0]].url, doc, "One")
    two = await tabs.document(cluster.nodes[others[1]].url, doc, "Two")
    await one.put_caret(0, "Home")
    await two.put_caret(0, "End")

    before = "".join(f"a{number:03d} " for number in range(12))
    behind = "".join(f" b{number:03d}" for number in range(12))
    typing = asyncio.gather(one.type(before), two.type(behind))
    await expect(two.block(0)).to_contain_text("a001")
    await cluster.nodes[victim].kill()
    await typing
    for name in others:
        await cluster.view_of(name, *others)
    text = f"{before}middle{behind}"
    assert await converged(cluster, doc, [one, two]) == [text]

    await start_again(cluster, victim)
    three = await tabs.document(cluster.nodes[victim].url, doc, "Three")
    await three.put_caret(0)
    await together(one.type("still here "), three.type(" and back"))
    text = f"{before}still here middle{behind} and back"
    assert await converged(cluster, doc, [one, two, three]) == [text]


async def is_on_a_majority(cluster: Cluster, doc: str, start: str) -> bool:
    """Whether two of the nodes have a text that begins like this."""
    count = 0
    for name in NAMES:
        try:
            count += (await node_texts(cluster, name, doc))[0].startswith(start)
        except aiohttp.ClientError:
            continue  # the one that was killed
    return count >= 2


async def sample(cluster: Cluster, doc: str, tab: BrowserTab, stop: asyncio.Event) -> int:
    """As often as the badge says saved: what is shown is at a majority; how often it did."""
    seen = 0
    while not stop.is_set():
        found = await tab.page.evaluate(
            """() => [document.querySelector("[data-testid=save-state]").dataset.state,
              document.querySelector("[data-block-id]").textContent]"""
        )
        state, text = found
        if state == "saved":
            seen += 1
            assert await is_on_a_majority(cluster, doc, text), f"{text!r} was called saved"
        await asyncio.sleep(0)
    return seen


async def test_a_tab_whose_node_is_killed_goes_on_at_another_and_never_says_saved_too_early(
    mortals: Cluster, tabs: Tabs
) -> None:
    cluster = mortals
    doc = await cluster.create("a", ".")
    sequencer = await cluster.sequencer()
    victim = next(name for name in NAMES if name != sequencer)
    tab = await tabs.document(cluster.nodes[victim].url, doc, "One")
    tab.expect_complaints(*NODE_GONE)
    await tab.record_states()
    await tab.put_caret(0)
    stop = asyncio.Event()
    sampling = asyncio.create_task(sample(cluster, doc, tab, stop))
    first = "".join(f"a{number:03d} " for number in range(10))
    await tab.type(first)
    await tab.saved()

    await cluster.nodes[victim].kill()
    second = "".join(f"b{number:03d} " for number in range(15))
    await tab.type(second)
    assert await converged(cluster, doc, [tab]) == [f".{first}{second}"]
    stop.set()
    assert await sampling > 0
    assert any(kind == "offline" and edits > 0 for kind, edits in await tab.states())

    await tab.type("go on")
    assert await converged(cluster, doc, [tab]) == [f".{first}{second}go on"]

    # All that any painted frame called saved is there when all nodes have lost their power.
    start = f".{first}{second}go on"
    last = "".join(f" c{number:03d}" for number in range(40))
    await tab.sample_frames()
    typing = asyncio.create_task(tab.type(last))
    await expect(tab.block(0)).to_contain_text("c012")
    await asyncio.gather(*(node.kill() for node in cluster.nodes.values()))
    await typing
    await expect(tab.badge).to_have_attribute("data-state", "offline")
    frames = await tab.frames()
    assert {frame.kind for frame in frames} >= {"offline"}
    said_saved = max((frame.text for frame in frames if frame.kind == "saved"), key=len)
    await tab.page.close()
    await start_again(cluster, *NAMES)
    (text,) = await node_texts(cluster, victim, doc)
    assert text.startswith(said_saved)
    assert f"{start}{last}".startswith(text)


async def test_edits_of_a_tab_that_was_closed_while_all_nodes_were_down_are_sent_later_once(
    mortals: Cluster, tabs: Tabs
) -> None:
    cluster = mortals
    doc = await cluster.create("a", "start")
    context = await tabs.context("One")
    address = f"{cluster.nodes['a'].url}/doc/{doc}"
    tab = await tabs.open_in(context, address)
    tab.expect_complaints(*NODE_GONE)
    await tab.loaded()
    await tab.put_caret(0)
    await tab.type(" sent")
    await tab.saved()
    for name in NAMES[1:]:
        await cluster.nodes[name].kill()
    notice = tab.page.get_by_test_id("node-notice")
    await expect(notice).to_contain_text("cannot reach the others")
    await tab.screenshot("document-stale")
    await cluster.nodes["a"].kill()
    await expect(notice).to_be_empty()
    await expect(tab.badge).to_have_attribute("data-state", "offline")
    await tab.type(" kept")
    await tab.press("Enter")
    await tab.type("in this browser")
    await expect(tab.badge).to_contain_text("changes kept")
    await tab.screenshot("document-offline")

    async def is_kept() -> bool:
        return "in this browser" in await tab.page.evaluate(KEPT)

    await eventually(is_kept, "the browser keeps the edits")
    await tab.page.close()

    await start_again(cluster, *NAMES)
    again = await tabs.open_in(context, address)
    await again.loaded()
    other = await tabs.document(cluster.nodes["b"].url, doc, "Two")
    texts = ["start sent kept", "in this browser"]
    await other.shows(*texts)
    assert await converged(cluster, doc, [again, other]) == texts
    await again.put_caret(1)
    await again.type(" for a while")
    texts[1] += " for a while"
    assert await converged(cluster, doc, [again, other]) == texts
