"""Who runs the cluster, with what the pipeline has left and a folder for backups: the overlap map,
violations, operations; and every page of the console by keyboard alone.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Route, expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import NAMES, Cluster, running_cluster
from tests.end_to_end.scrolling import TWO_FRAMES
from tests.end_to_end.test_browser_console import document_of, look
from tests.end_to_end.test_browser_walks import STOP, Walker
from tests.end_to_end.townspeople import button, newcomer, owner
from tests.server.console.stores import (
    ARTICULATION,
    COMPONENT,
    DELIVERY,
    VIEW,
    VIOLATION,
    Rows,
    keep,
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

STOPS_MAX = 150
PARTS = (
    "Overview",
    "Groups",
    "Overlap",
    "Migrations",
    "Plans",
    "Nodes",
    "Sessions",
    "Order",
    "Operations",
)


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def works(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    """Three nodes that write a trace, with a folder of results and one for backups."""
    folder = tmp_path_factory.mktemp("works")
    results = folder / "results"
    results.mkdir()
    flags: dict[str, str | int] = {"accounts": "on", "results": str(results)}
    flags |= {"backups": str(folder / "backups"), "trace": str(folder / "trace")}
    async with running_cluster(folder, *NAMES, **flags) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def cookies() -> list[dict[str, Any]]:
    """Filled by the first test that needs the owner."""
    return []


@pytest_asyncio.fixture(loop_scope="session")
async def ann(works: Cluster, tabs: Tabs, cookies: list[dict[str, Any]]) -> BrowserTab:
    return await owner(works, tabs, cookies)


def results_of(works: Cluster) -> Path:
    return Path(str(works.flags["results"]))


async def at(ann: BrowserTab, works: Cluster, path: str) -> None:
    await ann.page.goto(f"{works.nodes['a'].url}/admin{path}")


async def test_the_overlap_map_shows_what_hangs_together_and_what_it_costs(
    works: Cluster, tabs: Tabs, ann: BrowserTab
) -> None:
    kim = await newcomer(ann, tabs, works, "Kim", "editor")
    await at(ann, works, "/overlap")
    await look(ann, "overlap-none", ann.page.get_by_text("Nobody is in nearly everything."))
    await ann.page.get_by_role("link", name="Groupcore").first.click()
    doc = await document_of(ann, "Shared.")
    await ann.press("Enter")
    await ann.type("And more.")
    await ann.saved()
    await kim.page.goto(f"{works.nodes['b'].url}/doc/{doc}")
    await kim.loaded()
    tab = await tabs.open_in(ann.page.context, f"{works.nodes['a'].url}/admin/overlap")
    islands = tab.page.get_by_test_id("island")
    await expect(islands).to_have_count(1)
    await expect(islands).to_contain_text(doc)
    await expect(tab.page.get_by_test_id("component")).to_contain_text(doc)
    await look(tab, "overlap", islands)
    await islands.click()
    picture = tab.page.get_by_test_id("component-picture")
    marks = picture.get_by_role("link")
    rows = tab.page.get_by_test_id("component-group")
    await expect(rows.first).to_be_visible()
    await expect(marks).to_have_count(await rows.count())
    await expect(tab.page.get_by_test_id("target")).to_have_count(2)
    await expect(tab.page.get_by_test_id("split")).to_contain_text("nobody has to leave")
    await look(tab, "overlap-component", picture)
    await marks.nth(1).focus()
    await tab.press("Enter")
    chosen = rows.and_(tab.page.locator("[aria-current=true]"))
    await expect(chosen).to_have_count(1)
    name = await chosen.get_by_role("link").inner_text()
    await expect(tab.page.get_by_test_id("costs")).to_contain_text(name)


def audited(works: Cluster, rows: Rows, commit: int, deliveries: Rows = ()) -> None:
    """What an audit and an overlap job leave."""
    store = results_of(works) / "store"
    view = {"t": datetime(2026, 1, 1, tzinfo=UTC), "number": 1, "epoch": 0, "primary": True}
    held = {"component": 4, "process": "a#1f/2", "parts": 2, "largest": 3}
    tables = {
        "audit_violation": (VIOLATION, rows),
        "delivery": (DELIVERY, deliveries),
        "overlap_component": (COMPONENT, [{"gid": gid, "component": 4} for gid in (4, 5, 6)]),
        "overlap_articulation": (ARTICULATION, [held]),
        "view": (VIEW, [{**view, "members": ["older#1"]}]),
    }
    keep(store, commit, tables, {"audit": {}})
    found = [str(row["rule"]) for row in rows]
    judged = {"since": "2026-11-01T09:00:00+00:00", "until": "2026-11-01T09:59:59.5+00:00"}
    earlier = {"first": 1, "last": 0, "deliveries": 0}
    said = {
        "result": "broken" if found else "kept",
        "made": "2026-11-01T10:00:00+00:00",
        "rules": {
            rule: {"says": rule, "violations": found.count(rule), "not_auditable": 0}
            for rule in ("gap", "fifo", "causal")
        },
        "nodes": {"a": {"first": 1, "last": 9, "deliveries": 9, **judged}, "b": earlier},
        "deliveries": 9,
        **judged,
        "held": 0,
    }
    text = json.dumps({"certificate": said, "key": "none", "signature": "none"})
    (results_of(works) / "order.json").write_text(text, encoding="utf-8")


async def test_violations_are_looked_into_down_to_the_messages(
    works: Cluster, ann: BrowserTab
) -> None:
    audited(works, [], 1)
    await at(ann, works, "/order")
    nothing = ann.page.get_by_test_id("nothing-found")
    await expect(nothing).to_contain_text("Nothing was found. 9 deliveries were judged")
    await expect(ann.page.get_by_test_id("between")).to_contain_text("by the clocks of the nodes")
    await expect(ann.page.get_by_text("1 to 9")).to_be_visible()
    await look(ann, "order-clean", nothing)
    side = {"gid": 4, "seq": 8, "node": "b#7", "dno": 41, "message": "a#1f/2:3-5", "segment": "s/1"}
    other = {"gid2": 99, "seq2": 7, "node2": "b#7", "message2": "c#2/9:1", "dno2": 42}
    rows: Rows = [{"rule": "causal", **side, **other, "says": "frame 3 is behind frame 9"}]
    gaps = [{"rule": "gap", "gid": 5, "seq": number, "node": "c#3"} for number in range(60)]
    audited(works, [*rows, *gaps], 2)
    await ann.page.reload()
    found = ann.page.get_by_test_id("violation")
    await expect(found).to_have_count(50)
    await look(ann, "violations", found)
    await button(ann, "Next").click()
    await expect(found).to_have_count(11)
    await expect(button(ann, "Next")).to_be_disabled()
    await expect(button(ann, "Next")).to_be_focused()
    await ann.press("Enter")
    await expect(ann.page.get_by_text("Page 2 of 2")).to_be_visible()
    await ann.page.get_by_test_id("violation-rule").select_option("causal")
    await expect(found).to_have_count(1)
    await found.get_by_role("link").click()
    one = ann.page.get_by_test_id("one-violation")
    await expect(one).to_contain_text("Nobody is given a message before one that its sender knew")
    for text in ("a#1f/2:3-5", "c#2/9:1", "Group 99, which is no more", "frame 3 is behind"):
        await expect(ann.page.get_by_text(text)).to_be_visible()
    await look(ann, "violation", one)
    await at(ann, works, "/overlap")
    await expect(ann.page.get_by_test_id("held")).to_contain_text("a#1f/2")
    await at(ann, works, "")
    await expect(ann.page.get_by_test_id("views")).to_contain_text("older")


async def test_around_a_violation_each_node_shows_what_it_delivered(
    works: Cluster, ann: BrowserTab
) -> None:
    row = {"gid": 4, "count": 1, "what": 0, "sender": "a#1f/2", "sequencer": "a#1f"}
    at_s = datetime(2026, 11, 1, 10, tzinfo=UTC)
    rows = [
        {**row, "t": at_s, "node": node, "dno": 30 + seq, "seq": seq, "first": seq}
        for node in ("a#1f", "b#7")
        for seq in (5, 6, 7, 8, 9)
        if (node, seq) != ("b#7", 7)
    ]
    gap = {"rule": "gap", "gid": 4, "seq": 8, "node": "b#7", "dno": 38, "message": "a#1f/2:8"}
    audited(works, [gap], 3, rows)
    await at(ann, works, "/order")
    await ann.page.get_by_test_id("violation").get_by_role("link").click()
    nodes = ann.page.get_by_test_id("around-node")
    await expect(nodes).to_have_count(2)
    wrong, right = nodes.nth(0), nodes.nth(1)
    await expect(wrong.get_by_role("heading")).to_have_text("At node b#7")
    await expect(wrong.get_by_test_id("missing")).to_have_text("Not delivered here: 7.")
    await expect(right.get_by_test_id("missing")).to_have_count(0)
    await expect(right.get_by_test_id("delivered")).to_have_count(5)
    marked = wrong.locator("[aria-current=true]")
    await expect(marked).to_contain_text("a#1f/2:8")
    await expect(marked).to_contain_text("The violation speaks of this.")
    await look(ann, "violation-around", nodes)


def kept(works: Cluster) -> list[str]:
    """What is in the folder of backups."""
    return sorted(path.name for path in Path(str(works.flags["backups"])).iterdir())


async def test_what_the_pipeline_proposes_is_shown_with_its_reasons(
    works: Cluster, ann: BrowserTab
) -> None:
    group = f"doc/{await document_of(ann, 'Planned.')}"
    file = results_of(works) / "plan.json"
    said = {"infeasible": ["All groups together need more than all nodes carry. Add nodes."]}
    file.write_text(json.dumps({"plan": 1, "groups": {}, "reasons": {}, **said}), encoding="utf-8")
    await at(ann, works, "/plans")
    await expect(ann.page.get_by_test_id("nothing-proposed")).to_be_visible()
    await expect(ann.page.get_by_test_id("look-at-proposal")).to_have_count(0)
    await look(ann, "plans-nothing", ann.page.get_by_test_id("infeasible"))
    plan = {"plan": 1, "groups": {group: "c"}, "reasons": {group: "drain"}, "supposes": ["c", "d"]}
    file.write_text(json.dumps(plan), encoding="utf-8")
    await ann.page.get_by_test_id("look-at-proposal").click()
    tried = ann.page.get_by_test_id("dry-run")
    await expect(tried).to_contain_text("to c, as the node is drained")
    await expect(ann.page.get_by_text("it is for the nodes c and d")).to_be_visible()
    await look(ann, "plans-reasons", tried)
    file.unlink()


async def test_a_backup_is_taken_verified_and_put_back_and_the_trace_is_pruned(
    works: Cluster, ann: BrowserTab
) -> None:
    await at(ann, works, "/operations")
    await ann.page.get_by_test_id("backup-here").click()
    done = ann.page.locator("[data-testid=operation][data-state=done]")
    await expect(done).to_have_count(1)
    file = ann.page.get_by_test_id("backup-file")
    await expect(file).to_have_count(1)
    name = await file.get_by_role("rowheader").inner_text()
    verify = button(ann, f"Verify {name}")
    await verify.click()
    await expect(done).to_have_count(2)
    await expect(verify).to_be_focused()
    await expect(done.first).to_contain_text("It is whole: ")
    await button(ann, f"Put {name} back").click()
    dialog = ann.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("The running cluster is not touched")
    await look(ann, "restore", dialog)
    await ann.page.get_by_test_id("restore-folder").fill("again")
    await ann.page.get_by_test_id("restore-begin").click()
    await expect(dialog).to_have_count(0)
    await expect(done).to_have_count(3, timeout=60_000)
    await expect(done.first).to_contain_text("again is filled: ")
    await expect(ann.page.get_by_test_id("prune-now")).to_be_disabled()
    await button(ann, "Say what would go").click()
    await expect(done).to_have_count(4)
    await expect(done.first).to_contain_text("c: 0 files")
    await ann.page.get_by_test_id("prune-now").click()
    await expect(dialog).to_contain_text("cannot be audited any more")
    await ann.page.get_by_test_id("confirm").click()
    await expect(done).to_have_count(5)
    await look(ann, "operations-done", done)
    assert kept(works) == sorted([name, "again"])
    await ann.page.reload()
    await expect(ann.page.get_by_test_id("note").filter(has_text="Trace pruned")).to_be_visible()


async def test_a_page_that_is_on_its_way_says_so(works: Cluster, ann: BrowserTab) -> None:
    may_come = await ann.hold_back("**/assets/Operations-*.js")
    await at(ann, works, "")
    await ann.page.get_by_role("link", name="Operations").click()
    await expect(ann.page.get_by_role("status", name="Loading Operations")).to_be_visible()
    may_come.set()
    await expect(ann.page.get_by_test_id("take-backup")).to_be_visible()


async def test_every_page_is_gone_through_by_keyboard(works: Cluster, ann: BrowserTab) -> None:
    shutil.rmtree(results_of(works) / "store", ignore_errors=True)
    await at(ann, works, "")
    walker = Walker(ann)
    for part in PARTS:
        await walker.use("link", part)
        await expect(ann.page.get_by_role("heading", name=part, level=1)).to_be_visible()
        await expect(ann.page.locator(".skeleton")).to_have_count(0)
        await through(ann, part)
        await refreshed(ann, part)


async def through(tab: BrowserTab, part: str) -> None:
    """Tab on to the end of the page, and out: each stop can be seen, and the last one is not
    passed by.
    """
    await tab.page.evaluate(WATCH)
    for _ in range(STOPS_MAX):
        await tab.press("Tab")
        assert await tab.page.evaluate(STOP) == "", part
        left_at = await tab.page.evaluate("() => window.leftAt")
        if left_at is not None:
            assert left_at == "the last stop", part
            return
    pytest.fail(f"the last stop of {part} is not reached")


async def refreshed(tab: BrowserTab, part: str) -> None:
    """Back at the last stop the page is asked for anew: what the keyboard stops at stays."""
    await tab.press("Shift+Tab")
    await tab.page.evaluate("() => { window.before = window.stops(); }")
    async with tab.page.expect_response("**/api/v1/admin/**") as asked:
        await tab.page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    await (await asked.value).finished()
    await tab.page.evaluate(TWO_FRAMES)
    assert await tab.page.evaluate(REPLACED) == [], part
    assert await tab.page.evaluate("() => window.before.at(-1) === document.activeElement"), part


WATCH = """() => {
  window.leftAt = null;
  if (window.stops !== undefined) return;
  const main = document.querySelector("main");
  const stops = "a[href], button:not(:disabled), input:not(:disabled), select, summary";
  window.stops = () => [...main.querySelectorAll(stops)].filter((one) => one.checkVisibility());
  main.addEventListener("focusout", ({ target, relatedTarget }) => {
    if (main.contains(relatedTarget)) return;
    const isLast = window.stops().at(-1) === target;
    window.leftAt ??= isLast && relatedTarget !== null ? "the last stop" : target.outerHTML;
  });
}"""
"""Notes in the page itself where the focus leaves its main part: what is there may change."""

REPLACED = """() => {
  const nameOf = (one) => `${one.localName} ${one.id} ${one.ariaLabel ?? one.textContent}`;
  const gone = window.before.filter((one) => !one.isConnected).map(nameOf);
  const come = window.stops().filter((one) => !window.before.includes(one)).map(nameOf);
  return come.filter((name) => gone.includes(name));
}"""


async def test_the_focus_stays_when_the_page_changes_under_it(
    works: Cluster, ann: BrowserTab
) -> None:
    rows = ann.page.get_by_test_id("group-row").get_by_role("link")
    await at(ann, works, "/groups")
    await ann.page.get_by_label("Sort by").select_option("name")
    await expect(rows.first).to_contain_text("accounts")
    name = await rows.first.inner_text()
    await rows.first.focus()

    async def turned(route: Route) -> None:
        """The order in which the groups stand changes all the time, where people work."""
        answer = await route.fetch()
        said = await answer.json()
        await route.fulfill(response=answer, json={**said, "groups": said["groups"][::-1]})

    await ann.page.route("**/api/v1/admin/groups?*", turned)
    await ann.page.get_by_label("Sort by").evaluate(
        "(one) => one.dispatchEvent(new Event('change'))"
    )
    await expect(rows.last).to_have_text(name)
    await expect(rows.last).to_be_focused()

    # What was the link is gone with its page: the page that it leads to is said.
    await ann.press("Enter")
    await expect(ann.page.get_by_test_id("group-node")).to_have_count(3)
    await expect(ann.page.get_by_role("main")).to_be_focused()

    # The same button does the contrary now.
    await at(ann, works, "/nodes")
    await button(ann, "Drain node c").focus()
    await ann.press("Enter")
    await expect(button(ann, "Revive node c")).to_be_focused()
    await ann.press("Enter")
    await expect(button(ann, "Drain node c")).to_be_focused()
