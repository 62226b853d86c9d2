"""Rights that change while a node stands still: what it says and shows when it is back."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
import pytest_asyncio

from tests.end_to_end.cluster import NAMES, Cluster, NodeProcess, eventually, running_cluster
from tests.server.accounts.people import PASSWORD, Browser
from tests.server.support import Page

if TYPE_CHECKING:
    from server.serve import RunningNode

pytestmark = [pytest.mark.process, pytest.mark.slow]

REMOVED, KEPT = "bob", "carl"


@pytest_asyncio.fixture
async def town(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with running_cluster(tmp_path, *NAMES, accounts="on") as cluster:
        yield cluster


def browser_at(node: NodeProcess) -> Browser:
    """Of the node only its address is asked for."""
    return Browser(cast("RunningNode", node))


async def done(browser: Browser, method: str, path: str, body: object = None) -> dict[str, str]:
    status, answer = await browser.ask(method, path, body)
    assert status in (200, 201, 204), answer
    return answer or {}


async def owner(town: Cluster) -> Browser:
    """Ann, who owns it, at node a."""
    ann = browser_at(town.nodes["a"])
    _, link = await town.admin("a", "owner-link")
    new = {"name": "Ann", "email": "ann@example.org", "password": PASSWORD}
    await done(ann, "POST", "/users/first", {**new, "secret": str(link["url"]).split("#")[1]})
    return ann


async def guest(ann: Browser, name: str, doc: str, node: NodeProcess) -> tuple[str, Browser]:
    """Somebody with a role in the document alone, signed in at a node; and the account."""
    email = f"{name}@example.org"
    made = await done(ann, "POST", "/users", {"name": name, "email": email, "password": PASSWORD})
    await done(ann, "PUT", f"/documents/{doc}/members/{made['id']}", {"role": "editor"})
    browser = browser_at(node)

    async def may_read() -> bool:
        await browser.sign_in(email)
        return (await browser.ask("GET", f"/documents/{doc}"))[0] == 200

    await eventually(may_read, f"{name} may read it at {node.name}")
    return str(made["id"]), browser


async def reads(browser: Browser, doc: str, until: set[int]) -> list[int]:
    """The answers to reads, one after the other, up to the first of these."""
    found: list[int] = []
    while not found or found[-1] not in until:
        found.append((await browser.ask("GET", f"/documents/{doc}"))[0])
    return found


async def test_rights_that_change_while_a_node_stands_still_are_those_of_the_order_behind_it(
    town: Cluster,
) -> None:
    async with AsyncExitStack() as stack:
        ann = await stack.enter_async_context(await owner(town))
        doc, node = await ann.create(), town.nodes["c"]
        ids: dict[str, str] = {}
        browsers: dict[str, Browser] = {}
        pages: dict[str, Page] = {}
        for name in (REMOVED, KEPT):
            ids[name], browser = await guest(ann, name, doc, node)
            browsers[name] = await stack.enter_async_context(browser)
            pages[name] = await stack.enter_async_context(await browser.page())
            shown = await pages[name].open("DocumentOutline", f"doc/{doc}")
            assert shown["t"] == "snapshot"

        node.signal(signal.SIGSTOP)
        await town.view_of("a", "a", "b")
        await done(ann, "DELETE", f"/documents/{doc}/members/{ids[REMOVED]}")
        node.signal(signal.SIGCONT)
        removed, kept = await asyncio.gather(
            reads(browsers[REMOVED], doc, {200, 404}), reads(browsers[KEPT], doc, {200, 404})
        )
        assert removed[-1] == 404, "a read was answered by rights from before the pause"
        assert kept[-1] == 200
        assert set(removed + kept) <= {200, 404, 503}

        told = await pages[REMOVED].hear("error", name=f"doc/{doc}")
        assert (told["code"], told["temporary"]) == ("forbidden", False)
        for name in NAMES:
            await town.view_of(name, *NAMES)
        renamed = await pages[KEPT].call(f"doc/{doc}", "rename", "Carl's")
        assert renamed["t"] == "result", renamed
        lasting = [one for one in pages[KEPT].heard if one["t"] == "error" and not one["temporary"]]
        assert lasting == [], "nothing was taken from this one"
