"""Who runs the cluster at its console, in real browsers: each page of it, with what it can do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Route, expect

from tests.end_to_end.browser import BrowserTab, Tabs
from tests.end_to_end.cluster import Cluster
from tests.end_to_end.test_browser_axe import OF_COLOURS, RULES, violations
from tests.end_to_end.test_browser_looks import SIZES, fits
from tests.end_to_end.townspeople import button, made, newcomer, owner

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]


async def look(tab: BrowserTab, name: str, shown: Locator) -> None:
    """At each size, light and dark: nothing over the edges, and axe finds nothing.

    All of its rules at each size, and that of colours in both schemes.
    """
    await expect(shown.first).to_be_visible()
    for width, scheme in SIZES:
        rules = RULES if scheme == "light" else OF_COLOURS
        await tab.resize(width, scheme)
        await tab.screenshot(f"console-{name}-{width}-{scheme}")
        assert await violations(tab, rules) == "", f"{name} at {width}, {scheme}"
        await fits(tab)


async def at_console(
    town: Cluster, tabs: Tabs, cookies: list[dict[str, Any]], path: str = ""
) -> BrowserTab:
    """The owner's tab at a page of the console."""
    ann = await owner(town, tabs, cookies)
    await ann.page.goto(f"{town.nodes['a'].url}/admin{path}")
    return ann


async def test_the_overview_shows_all_nodes_their_load_and_views(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    await ann.page.get_by_role("link", name="Console").click()
    rows = ann.page.get_by_test_id("node-row")
    await expect(rows).to_have_count(3)
    await expect(rows.filter(has_text="Serving")).to_have_count(3)
    await expect(ann.page.locator(".chart-line[d^=M]")).to_have_count(9)
    await expect(ann.page.get_by_test_id("views")).to_contain_text("primary")
    await look(ann, "overview", ann.page.get_by_test_id("charts"))
    # On a phone the parts are one row, with the one that is shown in sight.
    await ann.resize(390, "light")
    await ann.page.goto(f"{town.nodes['a'].url}/admin/operations")
    parts = ann.page.get_by_role("navigation", name="Console")
    box = await parts.bounding_box()
    assert box is not None
    assert box["height"] < 60
    await expect(parts.locator("[aria-current=page]")).to_be_in_viewport(ratio=1)


async def test_the_console_is_for_owners_and_says_so_to_others(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    dan = await newcomer(ann, tabs, town, "Dan", "editor")
    await expect(dan.page.get_by_role("link", name="Console")).to_have_count(0)
    await dan.page.goto(f"{town.nodes['b'].url}/admin")
    await expect(dan.page.get_by_role("status")).to_contain_text("Ask one of them")


async def test_an_address_of_no_part_of_the_console_says_so(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    ann.expect_complaints("status of 404")
    await ann.page.goto(f"{town.nodes['a'].url}/admin/zebras")
    await expect(ann.page.get_by_role("status")).to_contain_text("no such page")


async def document_of(ann: BrowserTab, text: str) -> str:
    """A new document with this text, saved; its id."""
    doc = await made(ann)
    await ann.put_caret(0)
    await ann.type(text)
    await ann.saved()
    return doc


async def test_a_group_is_found_looked_at_and_sent_to_another_node(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    doc = await document_of(ann, "Counted.")
    await town.keep(f"doc/{doc}")
    tab = await tabs.open_in(ann.page.context, f"{town.nodes['a'].url}/admin/groups")
    rows = tab.page.get_by_test_id("group-row")
    await expect(rows.first).to_be_visible()
    await look(tab, "groups", rows)
    await tab.page.get_by_test_id("group-search").fill(f"doc/{doc}")
    await expect(rows.filter(has_not_text=doc)).to_have_count(0)
    await tab.page.get_by_role("link", name=re.compile(rf" doc.{doc}$")).click()
    await expect(tab.page.get_by_test_id("group-node")).to_have_count(3)
    await expect(tab.page.locator(".row-list strong").filter(has_text="Ann")).to_be_visible()
    await look(tab, "group", tab.page.get_by_test_id("group-node"))
    await tab.page.get_by_label("Sequence at").select_option(index=1)
    target = await tab.page.get_by_label("Sequence at").input_value()
    await button(tab, "Move").click()
    await expect(tab.page.get_by_text(f"On its way to {target}.")).to_be_visible()
    await tab.page.get_by_role("link", name="Migrations").click()
    moved = tab.page.get_by_test_id("migration").filter(has_text=f"doc/{doc}")
    await expect(moved.first).to_contain_text("by a plan, or by hand")
    await look(tab, "migrations", moved)
    await tab.page.goto(f"{town.nodes['a'].url}/admin/groups")
    await tab.page.get_by_test_id("group-search").fill("no such group")
    await expect(tab.page.get_by_text("No group is called that.")).to_be_visible()


async def test_a_group_is_moved_by_hand_from_the_timeline(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await at_console(town, tabs, ann_cookies, "/migrations")
    ann.expect_complaints("status of 404")
    await town.place("a", "accounts")
    await ann.page.get_by_test_id("move-group").fill("no such group")
    await ann.page.get_by_label("Sequence at").select_option("b")
    await button(ann, "Move").click()
    await expect(ann.page.get_by_role("alert")).to_contain_text("no group")
    await ann.page.get_by_test_id("move-group").fill("accounts")
    await button(ann, "Move").click()
    await expect(ann.page.get_by_text("On its way to b.")).to_be_visible()
    moved = ann.page.get_by_test_id("migration").filter(has_text="accounts")
    await expect(moved.first).to_have_attribute("data-phase", "resumed")
    phases = moved.first.get_by_test_id("phases")
    await expect(phases).to_have_text(re.compile("safe after .* ms, moved .* first numbers after"))

    async def bound(route: Route) -> None:
        """As if the group had been bound to others."""
        if not answers:
            found = await (await route.fetch()).json()
            names = [{"group": n, "name": f"choir-{n}", "last": 40 + n} for n in (1, 2)]
            found["migrations"][0] |= {"groups": names, "count": 3}
            answers.append(found)
        await route.fulfill(json=answers[0])

    answers: list[Any] = []
    await ann.page.route("**/api/v1/admin/migrations", bound)
    newest = ann.page.get_by_test_id("migration").first
    await expect(newest).to_contain_text("choir-1 and choir-2 and 1 more")
    numbers = newest.get_by_test_id("move-numbers")
    await numbers.get_by_text("Numbers of each group").click()
    await expect(numbers.get_by_role("row", name="choir-2 42 43")).to_be_visible()
    await expect(numbers).to_contain_text("And 1 more group.")
    await look(ann, "migration-numbers", numbers)
    going = {**answers[0]["migrations"][0], "phase": "began", "can_cancel": True, "move": 77}
    answers[0] = {**answers[0], "migrations": [going]}
    await button(ann, "Cancel move 77").click()
    await expect(ann.page.get_by_text("This move is over, or there was none.")).to_be_visible()
    await ann.page.route(
        "**/api/v1/admin/migrations/77/cancel",
        lambda route: route.fulfill(status=202, json={"move": 77}),
    )
    await button(ann, "Cancel move 77").click()
    await expect(ann.page.get_by_text("The move is called off")).to_be_visible()


async def test_a_plan_is_looked_at_approved_and_watched_to_its_end(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]], tmp_path: Path
) -> None:
    ann = await at_console(town, tabs, ann_cookies, "/plans")
    names = ("accounts", "activity", "documents", "nodes", "pictures")
    await town.keep(*names)

    async def give(name: str, **groups: str) -> None:
        file = tmp_path / name
        file.write_text(json.dumps({"plan": 1, "groups": groups}), encoding="utf-8")
        await ann.page.get_by_test_id("plan-file").set_input_files(file)

    await give("wrong.json", **{"no such group": "a"})
    await expect(ann.page.get_by_role("alert")).to_contain_text("no such group")
    await expect(ann.page.get_by_test_id("approve")).to_be_disabled()
    for target in "ab":  # at one of these they are not all
        await give(f"{target}.json", **dict.fromkeys(names, target))
        await expect(ann.page.get_by_role("alert")).to_have_count(0)
        await expect(ann.page.get_by_test_id("dry-run")).to_be_visible()
        if await ann.page.get_by_test_id("approve").is_enabled():
            break
    await look(ann, "plans", ann.page.get_by_test_id("dry-run"))
    await ann.page.get_by_test_id("approve").click()
    await ann.page.get_by_test_id("watch-plan").click()
    state = ann.page.get_by_test_id("plan-state")
    await expect(state).to_have_attribute("data-state", "done")
    await expect(ann.page.get_by_test_id("step")).to_have_count(len(names))
    await look(ann, "plan", state)
    await ann.page.get_by_role("link", name="All plans").click()
    await expect(ann.page.get_by_test_id("plan").first).to_contain_text("Done")


async def test_a_node_is_drained_and_revived_and_leaves_only_when_asked_twice(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await at_console(town, tabs, ann_cookies, "/nodes")
    await expect(ann.page.get_by_test_id("node")).to_have_count(3)
    epochs = ann.page.get_by_test_id("key-epochs")
    await expect(epochs.first).to_have_text(re.compile(r"^Key epoch (\d+), accepted: \1$"))
    await button(ann, "Drain node c").click()
    await expect(button(ann, "Revive node c")).to_be_visible()
    await expect(ann.page.get_by_test_id("node").nth(2)).to_contain_text("Drained")
    await look(ann, "nodes", ann.page.get_by_test_id("node"))
    await button(ann, "Revive node c").click()
    await expect(button(ann, "Drain node c")).to_be_visible()
    await button(ann, "Have node c leave").click()
    await expect(ann.page.get_by_role("dialog")).to_contain_text("leave the cluster?")
    await button(ann, "Keep it").click()
    await expect(ann.page.get_by_role("dialog")).to_have_count(0)
    assert town.nodes["c"].running
    await ann.page.get_by_test_id("node").nth(1).get_by_role("link", name="b").click()
    await expect(ann.page.get_by_role("row", name="--node-id")).to_contain_text("b")
    secret = ann.page.get_by_role("row", name=re.compile(r"^--key-file "))
    await expect(secret).to_contain_text("set")
    assert str(town.flags["key_file"]) not in await ann.page.content()
    await look(ann, "node", ann.page.get_by_role("row", name="--node-id"))


async def test_a_session_is_found_and_ended(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    kim = await newcomer(ann, tabs, town, "Kim", "editor")
    await document_of(kim, "Here.")
    await ann.page.goto(f"{town.nodes['a'].url}/admin/sessions")
    await ann.page.get_by_test_id("session-search").fill("kim")
    rows = ann.page.get_by_test_id("session")
    await expect(rows).to_have_count(1)
    await look(ann, "sessions", rows)
    await button(ann, "End the session of Kim at node b").click()
    await expect(ann.page.get_by_text("A session of Kim is over.")).to_be_visible()
    await expect(kim.page.get_by_test_id("stopped")).to_contain_text("You are signed out")
    await ann.page.get_by_test_id("session-search").fill("nobody at all")
    await expect(ann.page.get_by_text("Nobody of this name is here.")).to_be_visible()


async def test_all_sessions_of_a_person_are_ended(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)
    lea = await newcomer(ann, tabs, town, "Lea", "editor")
    await document_of(lea, "Here.")
    await ann.page.goto(f"{town.nodes['a'].url}/admin/sessions")
    await ann.page.get_by_test_id("session-search").fill("lea")
    await expect(ann.page.get_by_test_id("session")).to_have_count(1)
    await button(ann, "End all sessions of Lea").click()
    await expect(ann.page.get_by_text("All sessions of Lea are over.")).to_be_visible()
    await expect(ann.page.get_by_test_id("session")).to_have_count(0)
    await expect(lea.page.get_by_test_id("stopped")).to_contain_text("You are signed out")


async def test_an_audit_that_is_broken_or_forged_is_an_alarm(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await owner(town, tabs, ann_cookies)

    async def answer(route: Route) -> None:
        response = await route.fetch()
        forged = {"level": "bad", "code": "certificate_forged", "about": {}}
        broken = {"level": "bad", "code": "order_broken", "about": {"violations": 2}}
        found = {**await response.json(), "health": "bad", "alerts": [forged, broken]}
        await route.fulfill(response=response, json=found)

    await ann.page.route("**/api/v1/admin/overview", answer)
    await ann.page.goto(f"{town.nodes['a'].url}/admin")
    alerts = ann.page.get_by_test_id("alerts")
    await expect(alerts).to_contain_text("is not as it was signed")
    await expect(alerts).to_contain_text("the order was broken: 2 violations")
    await look(ann, "alarm", alerts)
    await alerts.get_by_role("link", name="Show the audit").first.click()
    await expect(ann.page.get_by_text("No audit has been left here")).to_be_visible()


async def test_the_order_is_certified_where_the_pipeline_has_said_so(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]]
) -> None:
    ann = await at_console(town, tabs, ann_cookies, "/order")
    await look(ann, "order-none", ann.page.get_by_text("No audit has been left here"))
    rules = {"fifo": {"says": "In the order sent.", "violations": 2, "not_auditable": 0}}
    nodes = {
        "a": {"first": 1, "last": 9, "deliveries": 9},
        "b": {"last": 12, "deliveries": 9, "unproved": 1, "missing": 3, "share_proved": 0.6666},
    }
    lost = [{"node": "b", "kind": "delivery", "from_off": 9, "to_off": None}]
    said = {"result": "broken", "made": "2026-11-01T10:00:00+00:00", "rules": rules}
    certified = {**said, "nodes": nodes, "deliveries": 9, "held": 1, "lost": lost}
    audit = {"certificate": certified, "signed": False}
    await ann.page.route("**/admin/order", lambda route: route.fallback())
    await ann.page.route(
        "**/api/v1/admin/order", lambda route: route.fulfill(json={"audit": {**audit, "key": "k"}})
    )
    await ann.page.reload()
    await expect(ann.page.get_by_test_id("audit")).to_contain_text("The order was broken")
    await expect(ann.page.get_by_role("alert")).to_contain_text("Trust nothing in it")
    await expect(ann.page.get_by_test_id("rule")).to_contain_text("2")
    await expect(ann.page.get_by_test_id("gaps")).to_contain_text("missing in the logs of: b.")
    await expect(ann.page.get_by_test_id("share")).to_have_text(["not known", "66.66%"])
    await look(ann, "order", ann.page.get_by_test_id("audit"))
    certified["result"] = "kept_in_part"
    await ann.page.reload()
    await expect(ann.page.get_by_test_id("audit")).to_contain_text(
        "The order was kept as far as the logs go"
    )


async def test_a_backup_is_taken_and_the_log_says_so(
    town: Cluster, tabs: Tabs, ann_cookies: list[dict[str, Any]], tmp_path: Path
) -> None:
    ann = await at_console(town, tabs, ann_cookies, "/operations")
    await look(ann, "operations", ann.page.get_by_test_id("note"))
    async with ann.page.expect_download() as waiting:
        await ann.page.get_by_test_id("take-backup").click()
    download = await waiting.value
    assert download.suggested_filename == "groupcore-backup.tar"
    file = tmp_path / "backup.tar"
    await download.save_as(file)
    assert file.stat().st_size > 1_000
    await ann.page.reload()
    notes = ann.page.get_by_test_id("note").filter(has_text="Backup taken")  # plans are begun, too
    await expect(notes.first).to_be_visible()
