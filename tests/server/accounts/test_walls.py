"""Tenants are walls: whoever asks by an id of another tenant hears what they hear of no id at all.

Two owners share a cluster and nothing else. Every operation of the API that takes an id, in its
address or in its body, is asked by one with the ids of the other and with ids that nobody has; the
answers are the same but for the id itself, and none has a name, an address or a title of the other
in it. The table of operations is read from the server's own description, so a new route is in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.server.accounts.people import Browser, hire, service
from tests.server.accounts.test_everybody_asks import body_of
from tests.server.followers import Follower
from tests.server.support import get

Ids = dict[str, str]
NOBODYS = "0123456789abcdef0123"
SECRETS_OF_CAL = ("calliope", "cellar", "dorothea")
"""What stands in Cal's names, addresses, titles; nothing of Bea's has it."""
IN_BODIES = {"workspace": "workspace", "folder": "folder", "from": "doc", "before": "doc"}
LEAVES = {"delete_session", "delete_me_sessions", "post_me_passkeys_begin"}
SAID_BY_ANN = {"id", "created", "date", "content-length"}


async def tenant(ann: Browser, browser: Browser, name: str, space: str) -> Ids:
    """A person who owns a workspace of their own, and one of each thing; their ids."""
    user = await hire(ann, name, "")
    _, made = await ann.ask("POST", "/workspaces", {"name": space})
    workspace = str(made["id"])
    members = f"/workspaces/{workspace}/members"
    body = {"email": f"{name}@example.org", "role": "owner"}
    assert (await ann.ask("POST", members, body))[0] == 201
    _, me = await ann.ask("GET", "/me")
    assert (await ann.ask("DELETE", f"{members}/{me['id']}"))[0] == 204
    assert (await browser.sign_in(f"{name}@example.org"))[0] == 201
    wanted = {"title": f"{space} plan", "markdown": f"# {space}", "workspace": workspace}
    _, doc = await browser.ask("POST", "/documents", wanted)
    _, folder = await browser.ask("POST", "/folders", {"workspace": workspace, "name": space})
    _, old = await browser.ask("POST", "/folders", {"workspace": workspace, "name": f"{space} old"})
    assert (await browser.ask("POST", "/files/trash", {"items": [old["id"]]}))[0] == 204
    _, link = await browser.ask("POST", f"/documents/{doc['id']}/links", {"role": "viewer"})
    _, token = await browser.ask("POST", "/tokens", {"name": space, "scopes": ["documents:read"]})
    inviting = {"role": "viewer", "email": f"friend-of-{name}@example.org"}
    _, invitation = await browser.ask("POST", f"/workspaces/{workspace}/invitations", inviting)
    _, sessions = await browser.ask("GET", "/me/sessions")
    return {
        "user": user,
        "workspace": workspace,
        "doc": doc["id"],
        "item": doc["id"],
        "folder": folder["id"],
        "trashed": old["id"],
        "link": link["id"],
        "token": token["id"],
        "invitation": invitation["id"],
        "session": sessions["sessions"][0]["id"],
    }


class Asked:
    """One request, with one id in the place of another."""

    def __init__(self, operation: str, verb: str, path: str, body: object) -> None:
        self.operation, self.verb, self.path, self.body = operation, verb, path, body

    def filled(self, ids: Ids) -> tuple[str, object]:
        """The address and the body with these ids in them."""
        path = re.sub(r"{(\w+)}", lambda name: ids.get(name[1], NOBODYS), self.path)
        return path, self._body(ids)

    def _body(self, ids: Ids) -> object:
        if not isinstance(self.body, dict):
            return self.body
        body = dict(self.body)
        for name, of in IN_BODIES.items():
            if name in body:
                body[name] = ids[of]
        if "items" in body:
            body["items"] = [ids["items"]]
        return body

    def names(self) -> list[str]:
        """The ids that it takes."""
        named = re.findall(r"{(\w+)}", self.path)
        body = self.body if isinstance(self.body, dict) else {}
        return [*named, *(IN_BODIES[one] for one in body if one in IN_BODIES)] + (
            ["items"] if "items" in body else []
        )


def asked_of(described: dict[str, Any]) -> Iterator[Asked]:
    """Every operation that the server describes, with the most of a body that names ids."""
    for path, verbs in described["paths"].items():
        for verb, operation in verbs.items():
            id = operation["operationId"]
            body = body_of(operation, {"email": "nobody@example.org", "role": "viewer"})
            content = operation.get("requestBody", {}).get("content", {})
            known = content.get("application/json", {}).get("schema", {}).get("properties", {})
            if isinstance(body, dict):
                body |= {name: "" for name in IN_BODIES if name in known}
            if id not in LEAVES:
                yield Asked(id, verb.upper(), path, body)
            if isinstance(body, dict) and "folder" in body:  # without the workspace around it
                rest = {name: value for name, value in body.items() if name != "workspace"}
                yield Asked(id, verb.upper(), path, rest)


async def told(browser: Browser, asked: Asked, ids: Ids) -> tuple[int, dict[str, str], str]:
    """Status, headers and text of an answer; the ids that were asked for are left out of it."""
    path, body = asked.filled(ids)
    headers = {"X-Groupcore-CSRF": browser.csrf}
    async with browser.http.request(
        asked.verb,
        f"{browser.node.url}/api/v1{path}",
        json=body,
        headers=headers,
        allow_redirects=False,
    ) as answer:
        text = await answer.text(errors="replace")
        kept = {name.lower(): value for name, value in answer.headers.items()}
    for one in sorted(ids.values(), key=len, reverse=True):
        text = text.replace(one, "ID")
    return answer.status, {k: v for k, v in kept.items() if k not in SAID_BY_ANN}, text


async def test_ids_of_another_tenant_are_answered_as_ids_of_nobody(ann: Browser) -> None:
    _, described = await get(f"{ann.node.url}/api/v1/openapi.json")
    async with AsyncExitStack() as stack:
        bea = await stack.enter_async_context(Browser(ann.node))
        cal = await stack.enter_async_context(Browser(ann.node))
        own = await tenant(ann, bea, "bea", "Bakery")
        others = await tenant(ann, cal, "calliope", "Cellar")
        before = await everything(cal, others)
        compared = 0
        for asked in asked_of(described):
            names = asked.names()
            for name in dict.fromkeys(names):
                for theirs in kinds(name, others):
                    rest = own | {"items": own["folder"]}
                    status, headers, text = await told(bea, asked, rest | {name: theirs})
                    nobody = await told(bea, asked, rest | {name: NOBODYS[: len(theirs)]})
                    assert (status, headers, text) == nobody, (asked.operation, name, theirs)
                    assert status >= 400 or asked.operation in HARMLESS, (asked.operation, name)
                    check_walls(asked, text)
                    compared += 1
            if not names:
                check_walls(asked, (await told(bea, asked, own))[2])
        assert compared > 60, "the table is read"
        assert await everything(cal, others) == before


HARMLESS = {"delete_me_favourites_item", "put_me_favourites_item"}
"""To like no longer what one never liked does nothing; a place in one's own list is one's own."""


def kinds(name: str, others: Ids) -> list[str]:
    """What of the other tenant could stand there."""
    if name in ("item", "items"):
        return [others["doc"], others["folder"], others["trashed"], others["workspace"]]
    if name in others:
        return [others[name], *([others["trashed"]] if name == "folder" else [])]
    return []


def check_walls(asked: Asked, text: str) -> None:
    """Nothing of Cal's is in an answer to Bea."""
    for word in SECRETS_OF_CAL:
        assert word not in text.casefold(), (asked.operation, word, text)


async def everything(browser: Browser, ids: Ids) -> list[Any]:
    """What a tenant has, as they see it."""
    workspace, doc = ids["workspace"], ids["doc"]
    asked = ("/files", f"/workspaces/{workspace}/members", f"/workspaces/{workspace}/invitations")
    more = (f"/documents/{doc}", f"/documents/{doc}/members", f"/documents/{doc}/links", "/tokens")
    return [await browser.ask("GET", path) for path in (*asked, *more)]


async def test_who_is_in_a_workspace_is_not_told_by_the_answer_for_its_members(
    ann: Browser,
) -> None:
    """Found: an account that was there was answered by another error than one that was not."""
    async with Browser(ann.node) as bea, Browser(ann.node) as cal:
        await tenant(ann, bea, "bea", "Bakery")
        others = await tenant(ann, cal, "calliope", "Cellar")
        members = f"/workspaces/{others['workspace']}/members"
        there = await bea.ask("PUT", f"{members}/{others['user']}", {"role": "viewer"})
        assert there == await bea.ask("PUT", f"{members}/{NOBODYS}", {"role": "viewer"})
        assert there[0] == 404


async def test_a_page_is_told_of_no_file_of_another_tenant(ann: Browser) -> None:
    """Found: each page heard the ids of all documents that changed, as `gone`."""
    async with AsyncExitStack() as stack:
        bea = await stack.enter_async_context(Browser(ann.node))
        cal = await stack.enter_async_context(Browser(ann.node))
        own = await tenant(ann, bea, "bea", "Bakery")
        others = await tenant(ann, cal, "calliope", "Cellar")
        page = await stack.enter_async_context(Follower(ann.node.url, await bea.ticket()))
        await page.begun()
        await cal.ask("POST", "/files/trash", {"items": [others["doc"]]})
        await cal.ask("POST", "/files/restore", {"items": [others["doc"]]})
        await cal.create("Cellar stock")
        await cal.ask("PATCH", f"/folders/{others['folder']}", {"name": "Cellar two"})
        await bea.ask("POST", "/files/trash", {"items": [own["folder"]]})
        heard: list[str] = []
        await page.hear(lambda message: remembered(heard, message, own["folder"]))
        assert not [one for one in others.values() if one in "".join(heard)], heard


def remembered(heard: list[str], message: dict[str, Any], id: str) -> bool:
    """Whether a message tells of this thing; it is kept."""
    heard.append(json.dumps(message))
    return id in heard[-1]


async def test_what_was_seen_and_is_taken_away_is_told_as_gone(ann: Browser) -> None:
    async with AsyncExitStack() as stack:
        bea = await stack.enter_async_context(Browser(ann.node))
        cal = await stack.enter_async_context(Browser(ann.node))
        own = await tenant(ann, bea, "bea", "Bakery")
        others = await tenant(ann, cal, "calliope", "Cellar")
        sharing = f"/documents/{own['doc']}/members"
        page = await stack.enter_async_context(Follower(ann.node.url, await cal.ticket()))
        await page.begun()
        body = {"email": "calliope@example.org", "role": "viewer"}
        assert (await bea.ask("POST", sharing, body))[0] == 201
        await page.hear(lambda message: remembered([], message, own["doc"]))
        assert (await bea.ask("DELETE", f"{sharing}/{others['user']}"))[0] == 204
        heard = await page.hear(lambda message: bool(message.get("gone")))
        assert heard["gone"] == [own["doc"]]


async def test_ids_follow_from_no_other(ann: Browser) -> None:
    """Found: accounts, links, tokens, invitations and sign-ins were numbered in a row."""
    async with Browser(ann.node) as bea:
        ids = await tenant(ann, bea, "bea", "Bakery")
        for name in ("user", "link", "token", "invitation", "session"):
            assert re.fullmatch(r"[0-9a-f]{20}", ids[name]), (name, ids[name])
        more = [await hire(ann, f"one{number}", "") for number in range(3)]
        starts = {one[:4] for one in more}
        assert len(starts) == 3, "they have nothing in common"


async def test_the_key_of_ids_is_in_no_answer(ann: Browser) -> None:
    _, described = await get(f"{ann.node.url}/api/v1/openapi.json")
    secret = service(ann.node).accounts.secret
    assert len(secret) > 40
    for path, verbs in described["paths"].items():
        if "get" in verbs and "{" not in path and "backup" not in path:
            async with ann.http.get(f"{ann.node.url}/api/v1{path}") as answer:
                assert secret not in await answer.text(errors="replace"), path


@pytest.mark.parametrize("kind", ["outline", "block", "presence"])
async def test_a_socket_answers_for_anothers_document_as_for_none(ann: Browser, kind: str) -> None:
    async with Browser(ann.node) as bea, Browser(ann.node) as cal:
        await tenant(ann, bea, "bea", "Bakery")
        others = await tenant(ann, cal, "calliope", "Cellar")
        _, read = await cal.ask("GET", f"/documents/{others['doc']}")
        block = read["blocks"][0]["id"]
        answers = []
        for doc, part in ((others["doc"], block), (NOBODYS[:16], "b" * 32)):
            name = {"outline": f"doc/{doc}", "block": f"doc/{doc}/{part}"}.get(
                kind, f"doc/{doc}/here"
            )
            type = {"outline": "DocumentOutline", "block": "Block"}.get(kind, "Presence")
            async with await bea.page() as page:
                answer = await page.open(type, name)
                answers.append(json.dumps(answer).replace(doc, "DOC").replace(part, "PART"))
        assert answers[0] == answers[1]
        assert json.loads(answers[0])["t"] == "error"
