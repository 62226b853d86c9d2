"""Nodes that die, leave or stand still while others type: nothing is lost and nothing doubled."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.end_to_end.cluster import FIRST, NAMES, Cluster, eventually, running_cluster
from tests.end_to_end.page import BLOCK, Tab, tokens

pytestmark = [pytest.mark.process, pytest.mark.slow]

GAP_MOST_S = 2.0
PAUSE_S = 3.0


async def open_tabs(stack: AsyncExitStack, cluster: Cluster, doc: str, *names: str) -> list[Tab]:
    """A tab on each of these nodes, called x, y, z, that stays on its node."""
    tabs = []
    for number, (client, name) in enumerate(zip("xyz", names, strict=False)):

        def urls(name: str = name) -> list[str]:
            return [cluster.nodes[name].url]

        tabs.append(await stack.enter_async_context(Tab(client, doc, urls, seed=number)))
    return tabs


async def finish(cluster: Cluster, doc: str, tabs: list[Tab]) -> None:
    """Stop typing; then everything typed is there once, everywhere, and saved."""
    for tab in tabs:
        await tab.stop_typing()
        await tab.all_saved()
    typed = sorted([FIRST, *(token for tab in tabs for token in tab.typed)])
    for tab in tabs:
        await tab.until(lambda tab=tab: len(tokens(tab.page.text)) >= len(typed), "all tokens")  # type: ignore[misc]
        assert sorted(tokens(tab.page.text)) == typed
        assert tab.page.text == tabs[0].page.text
        assert set(tab.page.seen.values()) == {1}, "an edit came twice"
    for name, node in cluster.nodes.items():
        if node.running:
            await cluster.shows(name, doc, tabs[0].page.text)


def groups_of(doc: str) -> list[str]:
    """The groups that typing needs."""
    return [f"doc/{doc}", f"doc/{doc}/{BLOCK}"]


def report_gap(what: str, tabs: list[Tab]) -> float:
    """Print the longest time without progress at any tab, in seconds."""
    gap_s = max(tab.longest_gap_s() for tab in tabs)
    print(f"\n{what}: longest gap {gap_s:.2f} s (at most {GAP_MOST_S:g} s)")
    return gap_s


async def test_the_sequencer_is_killed_while_two_type_and_comes_back(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(tmp_path, *NAMES))
        doc = await cluster.create("a")
        victim = await cluster.coordinator()
        others = [name for name in NAMES if name != victim]
        tabs = await open_tabs(stack, cluster, doc, *others)
        for tab in tabs:
            tab.start_typing()
        for tab in tabs:
            await tab.typed_more(10)
        await cluster.place(victim, *groups_of(doc))

        await cluster.nodes[victim].kill()
        for tab in tabs:
            await tab.typed_more(20)
        for name in others:
            await cluster.view_of(name, *others)
        gap_s = report_gap("the sequencer is killed", tabs)

        await cluster.start(victim)
        for name in NAMES:
            await cluster.view_of(name, *NAMES)
        for tab in tabs:
            await tab.typed_more(5)
        await finish(cluster, doc, tabs)
        assert gap_s < GAP_MOST_S


async def test_a_node_that_has_lost_its_disk_takes_everything_from_the_others(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(tmp_path, *NAMES))
        doc, quiet = await cluster.create("a"), await cluster.create("b", "Nobody has this open.")
        tabs = await open_tabs(stack, cluster, doc, "a", "b")
        for tab in tabs:
            tab.start_typing()
        await cluster.place("c", *groups_of(doc))
        await cluster.nodes["c"].kill()
        (cluster.folder / "c").rename(cluster.folder / "lost")
        for tab in tabs:
            await tab.typed_more(10)

        await cluster.start("c")
        await cluster.view_of("c", *NAMES)
        await cluster.shows("c", quiet, "Nobody has this open.")
        await cluster.place("c", *groups_of(doc))
        tabs += await open_tabs(stack, cluster, doc, "c")
        for tab in tabs[:2]:
            await tab.typed_more(5)
        tabs[2].client = "z"  # its tokens are its own
        tabs[2].start_typing()
        await tabs[2].typed_more(5)
        await finish(cluster, doc, tabs)


async def test_a_node_that_is_told_to_leave_does_so_and_the_others_go_on(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(tmp_path, *NAMES))
        doc = await cluster.create("a")
        leaver = await cluster.coordinator()
        others = [name for name in NAMES if name != leaver]
        tabs = await open_tabs(stack, cluster, doc, *others)
        for tab in tabs:
            tab.start_typing()
        for tab in tabs:
            await tab.typed_more(10)
        await cluster.place(leaver, *groups_of(doc))

        cluster.nodes[leaver].signal(signal.SIGTERM)
        assert await cluster.nodes[leaver].exit_code() == 0
        for name in others:
            await cluster.view_of(name, *others)
        for tab in tabs:
            await tab.typed_more(10)
        await finish(cluster, doc, tabs)
        # A crash is found after 0.6 s at the earliest: who leaves is not waited for.
        assert report_gap("the sequencer leaves", tabs) < GAP_MOST_S


async def test_a_tab_of_a_node_that_leaves_goes_on_at_another(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(tmp_path, *NAMES))
        doc = await cluster.create("a")

        tab = await stack.enter_async_context(Tab("x", doc, cluster.urls))
        tab.start_typing()
        await tab.typed_more(10)
        cluster.nodes["a"].signal(signal.SIGTERM)
        await tab.typed_more(10)
        assert await cluster.nodes["a"].exit_code() == 0
        assert tab.connections >= 2
        await finish(cluster, doc, [tab])


def is_in_state(cluster: Cluster, name: str, state: str) -> Callable[[], Awaitable[bool]]:
    """Whether a node says that it is in a state."""

    async def ask() -> bool:
        return bool((await cluster.status(name))["state"] == state)

    return ask


@pytest.mark.parametrize("who", ["the sequencer", "another node"])
async def test_a_node_that_stood_still_comes_back(tmp_path: Path, who: str) -> None:
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(tmp_path, *NAMES))
        doc = await cluster.create("a")
        frozen = await cluster.coordinator()
        others = [name for name in NAMES if name != frozen]
        tabs = await open_tabs(stack, cluster, doc, *others)
        for tab in tabs:
            tab.start_typing()
        for tab in tabs:
            await tab.typed_more(5)
        await cluster.place(frozen if who == "the sequencer" else others[0], *groups_of(doc))

        cluster.nodes[frozen].signal(signal.SIGSTOP)
        stopped_at = tabs[0].progress[-1]
        await tabs[0].until(
            lambda: tabs[0].progress[-1] > stopped_at + PAUSE_S, "the others go on for a while"
        )
        cluster.nodes[frozen].signal(signal.SIGCONT)
        await eventually(is_in_state(cluster, frozen, "serving"), f"{frozen} serves again")
        for name in NAMES:
            await cluster.view_of(name, *NAMES)
        for tab in tabs:
            await tab.typed_more(5)
        gap_s = report_gap(f"{who} stands still for {PAUSE_S:g} s", tabs)
        await finish(cluster, doc, tabs)
        assert gap_s < GAP_MOST_S
