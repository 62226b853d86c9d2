"""Somebody who is signed in at every node, and types in many documents at a steady pace."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any, Self

import aiohttp

from tests.end_to_end.cluster import FIRST, Cluster, eventually
from tests.end_to_end.page import BLOCK, Tab, tokens

PACE_S = 0.3
"""Between a token's answer and the next token: a block has room for eight minutes of it."""


class SignedIn:
    """A program at all nodes with one account: cookies know no ports."""

    def __init__(self, town: Cluster) -> None:
        self._town = town
        self._http = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))
        self._csrf = ""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.close()

    async def _ask(self, url: str, path: str, body: object = None) -> dict[str, Any]:
        headers = {"X-Groupcore-CSRF": self._csrf} if self._csrf else {}
        async with self._http.post(f"{url}/api/v1{path}", json=body, headers=headers) as answer:
            found: dict[str, Any] = await answer.json()
            assert answer.status in (200, 201), found
        return found

    async def sign_in(self, email: str, password: str) -> None:
        """By password, at the first node."""
        body = {"email": email, "password": password}
        self._csrf = (await self._ask(self._town.urls()[0], "/session", body))["csrf"]

    async def ticket(self, url: str) -> str:
        """For a socket of the node of this address."""
        return str((await self._ask(url, "/ticket"))["ticket"])

    async def create(self, node: str) -> str:
        """A new document of one paragraph, made at a node; its id."""
        body = {"title": f"Of {node}", "markdown": FIRST}
        return str((await self._ask(self._town.nodes[node].url, "/documents", body))["id"])


class Desk:
    """A document with one typist, at one node."""

    def __init__(self, node: str, doc: str, tab: Tab) -> None:
        self.node = node
        self.doc = doc
        self.tab = tab

    @property
    def groups(self) -> list[str]:
        """The groups that its typing needs."""
        return [f"doc/{self.doc}", f"doc/{self.doc}/{BLOCK}"]


async def desks(
    stack: AsyncExitStack, town: Cluster, person: SignedIn, counts: dict[str, int]
) -> list[Desk]:
    """So many documents with a typist at each of these nodes."""
    made = []
    for node, count in counts.items():
        for number in range(count):
            doc = await person.create(node)
            url = town.nodes[node].url

            def urls(url: str = url) -> list[str]:
                return [url]

            tab = Tab("x", doc, urls, seed=number, ticket=person.ticket)
            made.append(Desk(node, doc, await stack.enter_async_context(tab)))
    await everywhere(town, [group for desk in made for group in desk.groups])
    return made


async def everywhere(town: Cluster, groups: list[str]) -> None:
    """Wait until all nodes know these groups."""

    async def known() -> bool:
        found = [(await town.status(name))["groups"] for name in town.nodes]
        return all(group in one for one in found for group in groups)

    await eventually(known, "every node knows the groups")


async def typed_on(desks: list[Desk], count: int) -> None:
    """Wait until each typist has typed so many tokens more."""
    wanted = [(desk.tab, desk.tab.op + count) for desk in desks]
    for tab, op in wanted:

        def is_there(tab: Tab = tab, op: int = op) -> bool:
            return tab.op >= op

        await tab.until(is_there, f"{count} more tokens", limit_s=900)


async def finish(desk: Desk) -> None:
    """Stop; everything that was typed is there, once."""
    await desk.tab.stop_typing()
    await desk.tab.all_saved()
    page = desk.tab.page
    typed = sorted([FIRST, *desk.tab.typed])
    await desk.tab.until(lambda: len(tokens(page.text)) >= len(typed), "all tokens")
    assert sorted(tokens(page.text)) == typed, f"of node {desk.node}"
    assert set(page.seen.values()) == {1}, "an edit came twice"
