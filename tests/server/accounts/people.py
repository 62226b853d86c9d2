"""People with browsers, and a cluster with accounts that they use over HTTP."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import aiohttp

from server.accounts.people import HOME
from server.accounts.service import AccountService
from server.serve import RunningNode
from tests.server.support import Page

PASSWORD = "correct horse battery"
Answer = tuple[int, Any]


class Browser:
    """A browser at one node: keeps its cookie, and says the word against forgery."""

    def __init__(self, node: RunningNode) -> None:
        self.node = node
        self.csrf = ""
        self.http = aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.http.close()

    @property
    def cookies(self) -> dict[str, str]:
        """What it has been given to keep."""
        return {cookie.key: cookie.value for cookie in self.http.cookie_jar}

    def go(self, node: RunningNode) -> None:
        """The same browser at another node of the same machine: cookies know no ports."""
        self.node = node

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        **headers: str,
    ) -> Answer:
        """Status and JSON of a request to the API."""
        url = self.node.url + "/api/v1" + path
        given = {"X-Groupcore-CSRF": self.csrf, **headers}
        given = {name.replace("_", "-"): value for name, value in given.items() if value}
        async with self.http.request(method, url, json=body, headers=given) as answer:
            found = await answer.json(content_type=None) if answer.status != 204 else None
            if isinstance(found, dict) and found.get("csrf"):
                self.csrf = found["csrf"]
            return answer.status, found

    async def sign_in(self, email: str, password: str = PASSWORD) -> Answer:
        """By password."""
        return await self.ask("POST", "/session", {"email": email, "password": password})

    async def ticket(self) -> str:
        """For a socket of the node."""
        status, made = await self.ask("POST", "/ticket")
        assert status == 201, made
        return str(made["ticket"])

    async def page(self) -> Page:
        """A page of this browser, not connected yet."""
        return Page(self.node.url, ticket=await self.ticket())

    async def create(self, title: str = "Plan", markdown: str = "first") -> str:
        """A new document; its id."""
        status, made = await self.ask("POST", "/documents", {"title": title, "markdown": markdown})
        assert status == 201, made
        return str(made["id"])


def service(node: RunningNode) -> AccountService:
    """The accounts at a node."""
    found = node.node.accounts
    assert found is not None, "accounts are switched on"
    return found


async def found_home(ann: Browser) -> str:
    """Ann becomes the first owner; her account."""
    secret = await service(ann.node).offer_ownership(anew=True)
    body = {"secret": secret, "name": "Ann", "email": "ann@example.org", "password": PASSWORD}
    status, session = await ann.ask("POST", "/users/first", body)
    assert status == 201, session
    return str(session["user"]["id"])


async def hire(ann: Browser, name: str, role: str = "editor") -> str:
    """An account with a role in HOME; its id."""
    email = f"{name}@example.org"
    new = {"name": name, "email": email, "password": PASSWORD}
    status, made = await ann.ask("POST", "/users", new)
    assert status == 201, made
    if role:
        body = {"email": email, "role": role}
        status, answer = await ann.ask("POST", f"/workspaces/{HOME}/members", body)
        assert status == 201, answer
    return str(made["id"])
