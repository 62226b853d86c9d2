"""From a skewed load to a plan that an admin approves in a browser, and what it really brings.

Nodes write traces. All documents are sequenced by one of them, while people type at each. The
pipeline proposes a plan with what it expects of it; the admin looks at it, tries it, approves it
and watches its steps while typing goes on. Then the same job that measured the load before measures
it again, and the audit judges every delivery of it all. `make plan-end-to-end` takes its time, has
five nodes, as from five on it matters to those who wait where a group is sequenced, and holds
latency to the expectation as well; with TYPED=0, the smaller form, it has three, and holds the load
only.

Nodes, typists, browser and jobs share one machine, so whatever else it does in one of the two
periods makes everybody wait longer there, and no placement is why. Who types at the first node is
near to its sequencer before and behind the plan: how much longer or shorter they wait says how much
of a change is the machine's, and is taken off what was measured.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster, running_cluster
from tests.end_to_end.jobs import Jobs, running_jobs
from tests.end_to_end.test_browser_looks import SIZES, fits
from tests.end_to_end.townspeople import PASSWORD, made, owner
from tests.end_to_end.typists import PACE_S, SignedIn, desks, finish, typed_on

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

PHASE_S = float(os.environ.get("PLAN_PHASE_S", "0"))
"""How long is typed before the plan and behind it; 0: the smaller form."""
TOKENS = int(PHASE_S * 3) or 60
WINDOW_S = 5
SEGMENT_S = 5
TYPISTS = dict.fromkeys("abcde", 3) if PHASE_S else {"a": 3, "b": 6, "c": 4}
"""How many type at each node."""
SETTLING = 12
"""So many tokens later what has just begun, or moved, goes on evenly."""
WITHIN = 0.2
"""What was expected may be missed by so much."""


async def look(tab: BrowserTab, name: str) -> None:
    """A picture at each size, light and dark, with nothing over the edges."""
    for width, scheme in SIZES:
        await tab.page.set_viewport_size({"width": width, "height": 800})
        await tab.page.emulate_media(color_scheme=scheme)
        await tab.screenshot(f"plan-{name}-{width}-{scheme}")
        await fits(tab)


async def proposed(
    jobs: Jobs, since_s: float, results: Path
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The load since then, and what the pipeline proposes; its plan is where the console looks."""
    asked = ("--since", f"{since_s:.0f}", "--window", str(WINDOW_S))
    await jobs.ingest()
    before = await jobs.run("load", *asked)
    await jobs.run("overlap")
    there = ("--rest", "0", "--output", str(results / "plan.json"))  # all have been placed just now
    plan = await jobs.run("plan", *asked, *there, code=3)
    print(f"\nbefore: {before}\nplan: {plan}")
    assert plan["infeasible"] == []
    return before, plan


async def approved(ann: BrowserTab, town: Cluster) -> str:
    """The admin looks at what is proposed, tries it, approves it, sees it arrive; its id."""
    page = ann.page
    await page.goto(f"{town.nodes['a'].url}/admin/plans")
    await expect(page.get_by_test_id("proposed")).to_contain_text("Imbalance from")
    await page.get_by_test_id("look-at-proposal").click()
    await expect(page.get_by_test_id("dry-run")).to_be_visible()
    await look(ann, "tried")
    await page.get_by_test_id("approve").click()
    await page.get_by_test_id("watch-plan").click()
    state = page.get_by_test_id("plan-state")
    await expect(state).to_have_attribute("data-state", "done", timeout=30_000)
    await look(ann, "done")
    return page.url.rpartition("/")[2]


async def brought(ann: BrowserTab, town: Cluster, plan: str) -> dict[str, Any]:
    """What the console says of the plan by now."""
    code, found = await town.get(f"{town.nodes['b'].admin_url}/admin/plans/{plan}")
    assert code == 200, found
    await ann.page.goto(f"{town.nodes['a'].url}/admin/plans")
    await expect(ann.page.get_by_test_id("plan").first).to_contain_text("Done")
    await look(ann, "history")
    told: dict[str, Any] = found
    return told


class Writer:
    """Somebody who types words with real keys, in a document of their own."""

    def __init__(self, tab: BrowserTab) -> None:
        self.tab = tab
        self.words: list[str] = []
        self._over = asyncio.Event()
        self._typing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Type in a new document from here on."""
        await made(self.tab)
        await self.tab.put_caret(0)
        self._typing = asyncio.create_task(self._type())

    async def _type(self) -> None:
        while not self._over.is_set():
            self.words.append(f"word{len(self.words)} ")
            await self.tab.type(self.words[-1])

    async def stop(self) -> None:
        """Everything that was typed is there, and saved."""
        assert self._typing is not None, "it has been started"
        self._over.set()
        await self._typing
        await self.tab.type("end")
        await self.tab.saved()
        await self.tab.shows("".join(self.words) + "end")


async def measured(jobs: Jobs, since_s: float, results: Path) -> dict[str, Any]:
    """The load since then, which is also where the console looks.

    Of windows that are over while all type: in one of a moment's work nothing is divided evenly.
    """
    until_s = time.time() - WINDOW_S
    span = ("--since", f"{since_s:.0f}", "--until", f"{until_s:.0f}")
    await jobs.ingest()
    asked = (*span, "--window", str(WINDOW_S))
    found = await jobs.run("load", *asked, "--output", str(results / "load.json"))
    print(f"\nafter: {found}")
    return found


async def ended(town: Cluster, *tabs: BrowserTab) -> None:
    """All nodes leave, and complete their traces; no page is left behind to miss them."""
    for tab in tabs:
        await tab.page.goto("about:blank")
    for name in TYPISTS:
        town.nodes[name].signal(signal.SIGTERM)
    for name in TYPISTS:
        assert await town.nodes[name].exit_code() == 0


async def test_a_plan_brings_what_it_says_while_people_type(tmp_path: Path, tabs: Tabs) -> None:
    trace, results = tmp_path / "trace", tmp_path / "results"
    results.mkdir()
    async with AsyncExitStack() as stack:
        town = await stack.enter_async_context(
            running_cluster(
                tmp_path / "town",
                *TYPISTS,
                accounts="on",
                trace=str(trace),
                trace_segment=SEGMENT_S,
                results=str(results),
            )
        )
        jobs = await stack.enter_async_context(
            running_jobs(trace, tmp_path / "store", tmp_path / "jobs.log")
        )
        ann = await owner(town, tabs, [])
        person = await stack.enter_async_context(SignedIn(town))
        await person.sign_in("ann@example.org", PASSWORD)
        typists = await desks(stack, town, person, TYPISTS)
        groups = [group for desk in typists for group in desk.groups]
        await town.place("a", *groups)  # placement leaves alone what somebody has placed
        for desk in typists:
            desk.tab.start_typing(PACE_S)
        await typed_on(typists, SETTLING)
        since_s = time.time()
        await typed_on(typists, TOKENS)
        load, plan = await proposed(jobs, since_s, results)

        writer = Writer(await tabs.open_in(ann.page.context, town.nodes["b"].url))
        await writer.start()
        id = await approved(ann, town)
        await writer.stop()
        assert {await town.sequencer(group) for group in groups} == set(TYPISTS)

        await typed_on(typists, SETTLING)
        since_s = time.time()
        await typed_on(typists, TOKENS)
        after = await measured(jobs, since_s, results)
        told = await brought(ann, town, id)
        for desk in typists:
            await finish(desk)
        await ended(town, ann, writer.tab)
        await jobs.ingest()
        audit = await jobs.run("audit")
    print(f"\nthe console: {told}\naudit: {audit}")
    assert (audit["result"], audit["held"]) == ("kept", 0)
    before, expected = plan["imbalance_replayed"]
    assert after["imbalance"] < before
    assert after["imbalance"] == pytest.approx(expected, rel=WITHIN)
    assert told["expects"]["imbalance"] == [before, expected]
    assert told["measured"]["imbalance"] == after["imbalance"]
    if PHASE_S:
        machine = after["latency_us_at"]["a"] / load["latency_us_at"]["a"]
        waited, expected = plan["latency_us"]
        assert after["near"] == pytest.approx(plan["near"][1], abs=0.1)
        assert after["latency_us"] / machine == pytest.approx(expected, rel=WITHIN)
        if expected < (1 - WITHIN / 2) * waited:
            assert after["latency_us"] / machine < waited
