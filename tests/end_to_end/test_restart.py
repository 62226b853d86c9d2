"""What was reported saved outlives the whole cluster, and a tab goes on wherever it was."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from tests.end_to_end.cluster import FIRST, NAMES, eventually, running_cluster
from tests.end_to_end.page import Tab, tokens

pytestmark = [pytest.mark.process, pytest.mark.slow]


async def test_what_was_reported_saved_outlives_the_whole_cluster(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(tmp_path, *NAMES))
        doc = await cluster.create("a")

        tab = await stack.enter_async_context(Tab("x", doc, cluster.urls))
        tab.start_typing(0.005)
        await tab.typed_more(40)
        await tab.until(lambda: tab.page.saved >= 20, "some of it is saved")
        for name in NAMES:
            cluster.nodes[name].process.kill()
        saved = tab.page.saved
        for name in NAMES:
            await cluster.nodes[name].kill()
        await tab.interrupt()

        await cluster.start(*NAMES)
        later = await stack.enter_async_context(Tab("z", doc, cluster.urls))
        for _ in range(5):
            await later.type_token()
            await later.until(lambda: later.unanswered is None, "typing goes on")
        await later.all_saved()
        await tab.until(lambda: tab.page.text == later.page.text, "it shows what there is")
        found = tokens(later.page.text)
        assert len(set(found)) == len(found), "something came twice"
        # Call n is the one of the n-th token.
        assert {FIRST, *tab.typed[:saved], *later.typed} <= set(found)
        assert set(found) <= {FIRST, *tab.typed, *later.typed}
        for name in NAMES:
            await cluster.shows(name, doc, tab.page.text)


async def test_a_tab_goes_on_at_another_node_with_its_position_and_its_submit(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        cluster = await stack.enter_async_context(running_cluster(tmp_path, *NAMES))
        doc = await cluster.create("a")
        at = {"x": "a"}
        moving = await stack.enter_async_context(
            Tab("x", doc, lambda: [cluster.nodes[at["x"]].url])
        )
        staying = await stack.enter_async_context(Tab("y", doc, lambda: [cluster.nodes["c"].url]))
        for round_number, name in enumerate(("b", "c", "a")):
            await moving.type_token()
            if round_number != 1:
                # The answer is on its way or lost with the connection; either must be harmless.
                await moving.drop()
            else:
                await moving.until(lambda: moving.unanswered is None, "an answer")
                await moving.drop()
            for _ in range(5):
                await staying.type_token()
                await staying.until(lambda: staying.unanswered is None, "an answer")
            at["x"] = name
            moving.come_back()
            await moving.until(lambda: moving.unanswered is None, "the call is answered")
            await moving.until(
                lambda: moving.page.edits >= staying.page.edits, "it has what it missed"
            )

        async def same() -> bool:
            return moving.page.text == staying.page.text

        await eventually(same, "both show the same")
        assert sorted(tokens(moving.page.text)) == sorted([FIRST, *moving.typed, *staying.typed])
        assert moving.page.snapshots <= 3, "where it comes back to its position is recognised"
        assert set(moving.page.seen.values()) == {1}
        assert moving.connections == 4
