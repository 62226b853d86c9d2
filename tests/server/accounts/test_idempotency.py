"""An Idempotency-Key makes one request one thing, and is no name for two."""

from __future__ import annotations

import aiohttp
import pytest

from server.accounts.people import HOME
from tests.server.accounts.people import Browser
from tests.server.support import Cluster

pytestmark = pytest.mark.slow

OTHER = {
    "/documents": ({"title": "Plan"}, {"title": "Plan", "markdown": "text"}),
    "/documents/{doc}/duplicate": ({}, {"title": "Second"}),
    "/documents/{doc}/links": ({"role": "viewer"}, {"role": "editor"}),
    "/folders": ({"workspace": HOME, "name": "A"}, {"workspace": HOME, "name": "B"}),
    "/workspaces": ({"name": "Club"}, {"name": "Choir"}),
    f"/workspaces/{HOME}/invitations": ({"role": "viewer"}, {"role": "editor"}),
    "/places": (
        {"title": "Wall", "workspace": HOME},
        {"title": "Wall", "workspace": HOME, "template": "kanban"},
    ),
    "/places/{doc}/duplicate": ({}, {"title": "Second"}),
    "/tokens": (
        {"name": "ci", "scopes": ["documents:read"]},
        {"name": "ci", "scopes": ["documents:write"]},
    ),
}
"""What makes something: a body, and another one."""


async def item_for(browser: Browser, path: str) -> str:
    """A document or a place, as the address is for."""
    if not path.startswith("/places/"):
        return await browser.create()
    status, made = await browser.ask("POST", "/places", {"title": "Wall"})
    assert status == 201, made
    return str(made["id"])


@pytest.mark.parametrize("path", OTHER)
async def test_another_request_with_the_same_key_makes_its_own(ann: Browser, path: str) -> None:
    at, made = path.format(doc=await item_for(ann, path)), []
    first, second = OTHER[path]
    for body in (first, second, first, second):
        status, answer = await ann.ask("POST", at, body, Idempotency_Key="k")
        assert status == 201, answer
        made.append({name: answer.get(name) for name in ("id", "secret", "name", "role")})
    assert made[:2] == made[2:]
    assert made[0]["id"] != made[1]["id"]
    assert made[0]["secret"] is None or made[0]["secret"] != made[1]["secret"]


async def test_one_key_at_several_addresses_makes_several_documents(ann: Browser) -> None:
    key = {"Idempotency-Key": "k", "X-Groupcore-CSRF": ann.csrf}
    _, doc = await ann.ask("POST", "/documents", {"title": "Plan"}, Idempotency_Key="k")
    _, copy = await ann.ask("POST", f"/documents/{doc['id']}/duplicate", {}, Idempotency_Key="k")
    imported = []
    asked = (("title=A", b"a"), ("title=A", b"b"), ("title=B", b"a"), ("title=A", b"a"))
    for query, source in asked:
        url = f"{ann.node.url}/api/v1/documents/import?{query}"
        said = {"Content-Type": "text/markdown", **key}
        async with ann.http.post(url, data=source, headers=said) as answer:
            assert answer.status == 201
            imported.append((await answer.json())["id"])
    assert imported[0] == imported[3]
    assert len({doc["id"], copy["id"], *imported}) == 5
    assert copy["title"] == "Copy of Plan"


async def test_a_workspace_that_was_renamed_is_not_called_as_it_was(ann: Browser) -> None:
    _, made = await ann.ask("POST", "/workspaces", {"name": "Club"}, Idempotency_Key="k")
    await ann.ask("PATCH", f"/workspaces/{made['id']}", {"name": "Choir"})
    _, again = await ann.ask("POST", "/workspaces", {"name": "Club"}, Idempotency_Key="k")
    assert again == {**made, "name": "Choir"}


async def test_a_key_that_is_too_long_is_refused_where_keys_are_read(ann: Browser) -> None:
    long = "k" * 201
    for path, (body, _) in OTHER.items():
        at = path.format(doc=await item_for(ann, path))
        status, problem = await ann.ask("POST", at, body, Idempotency_Key=long)
        assert (status, problem["code"]) == (400, "bad_request"), path
        assert (await ann.ask("POST", at, body, Idempotency_Key=long[1:]))[0] == 201, path


async def test_the_description_names_the_header_where_it_is_read(cluster: Cluster) -> None:
    node = await cluster.start("a")
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{node.url}/api/v1/openapi.json") as answer,
    ):
        paths = (await answer.json())["paths"]
    found = {
        path
        for path, verbs in paths.items()
        for verb in verbs.values()
        if any(one["name"] == "Idempotency-Key" for one in verb["parameters"])
    }
    spaces = "/workspaces/{workspace}/invitations"
    plain = {path for path in OTHER if HOME not in path}
    assert found == {*plain, spaces, "/documents/import"}
