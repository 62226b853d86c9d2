"""A node that may not know who may read: nothing is read there until the order has answered."""

from __future__ import annotations

import asyncio
import re
from math import inf

import pytest

from tests.server.accounts.people import Browser, service

pytestmark = pytest.mark.slow


@pytest.fixture
def cut_off(ann: Browser, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The node hears nobody, and the order does not answer; until it is undone."""

    async def never() -> None:
        await asyncio.get_running_loop().create_future()

    standing = service(ann.node).standing
    monkeypatch.setattr(standing, "_silent_s", lambda: inf)
    monkeypatch.setattr(standing, "_ask", never)
    for name in ("WAIT_S", "ORDER_S"):
        monkeypatch.setattr(f"server.routes.auth.{name}", 0.0)
    return monkeypatch


async def test_no_route_that_is_not_for_everybody_answers_there(
    ann: Browser, cut_off: pytest.MonkeyPatch
) -> None:
    """By the table of routes, so that a new one is not forgotten."""
    _, described = await ann.ask("GET", "/openapi.json")
    asked: dict[bool, int] = {True: 0, False: 0}
    for path, verbs in described["paths"].items():
        for method, operation in verbs.items():
            # The console says why a node is apart, and shows no document; but a backup has all.
            is_console = method == "get" and path.startswith("/admin/") and path != "/admin/backup"
            is_public = {} in operation["security"] or is_console
            if is_public and method != "get":
                continue
            asked[is_public] += 1
            status, problem = await ann.ask(method.upper(), re.sub(r"{\w+}", "x", path))
            if is_public:
                assert status < 500 or is_console, path
                assert status != 503 or problem["code"] != "not_primary", path
            else:
                assert (status, problem["code"]) == (503, "not_primary"), (method, path)
    assert asked[False] > 60
    assert asked[True] > 2


async def test_no_object_is_opened_there_until_the_order_has_answered(
    ann: Browser, cut_off: pytest.MonkeyPatch
) -> None:
    cut_off.undo()
    doc = await ann.create()
    standing = service(ann.node).standing
    async with await ann.page() as page:
        cut_off.setattr(standing, "_silent_s", lambda: inf)
        refused = await page.open("DocumentOutline", f"doc/{doc}")
        assert (refused["code"], refused["temporary"]) == ("not_primary", True)
        cut_off.undo()
        await standing.sure(10.0)
        assert (await page.open("DocumentOutline", f"doc/{doc}"))["t"] == "snapshot"
    assert (await ann.ask("GET", f"/documents/{doc}"))[0] == 200
