"""The way in for requests: whose page may write, who asks, and rows of the table as endpoints.

What all gates have in common. `Gatehouse` knows people by their accounts; `OpenGate` lets everybody
in where there are none; `OperatorGate` is that of the management address.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from ipaddress import ip_address

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from groupcore.errors import GroupcoreError
from server.accounts.backoff import address_key
from server.accounts.roles import ADMIN
from server.accounts.service import Caller
from server.errors import BadMessageError, TooFastError
from server.management.identity import identity_of
from server.management.ranks import Rank
from server.node import Node
from server.noticed import REFUSED
from server.routes.asks import IDEMPOTENCY, Ask, Row, read_body, read_key, read_query
from server.routes.origins import origin_allowed
from server.routes.pace import Pace
from server.routes.packed import packed
from server.routes.problems import is_forbidden

logger = logging.getLogger("server")

CSRF = "X-Groupcore-CSRF"
SAFE = ("GET", "HEAD", "OPTIONS")
READS = ("GET", "HEAD")
STALE = "Groupcore-Stale"
"""Marks an answer to a read of a node outside the primary view: others may know newer things."""
MANAGED = ("admin:", "accounts:")
"""How the scopes begin of what manages accounts or the cluster."""
GUEST = "guest"
"""On whose behalf every page acts where there are no accounts."""


Endpoint = Callable[[Request], Awaitable[Response]]


class Gate:
    """Lets requests in, at one node."""

    has_preflight = True
    """Whether pages of other nodes may ask."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._pace = Pace(node.settings.api_rate)
        self._has_warned = False

    @property
    def cookie_name(self) -> str:
        """What the browser keeps its sign-in under; empty where nobody signs in."""
        return ""

    def let_in(self, request: Request, scope: str) -> Caller | None:
        """Who asks, if that is enough for the scope; AccountError, BadMessageError."""
        raise NotImplementedError

    async def may_judge(self, request: Request, scope: str) -> None:
        """Wait until this node knows who may read this; BadMessageError where it does not."""

    def manages(self, scope: str) -> bool:
        """Whether accounts or the cluster are managed by what has this scope."""
        return scope.startswith(MANAGED)

    def asker(self, request: Request) -> str:
        """The principal who asks, empty where that is not known."""
        del request
        return ""

    @contextmanager
    def noting_refusals(self, request: Request, path: str, scope: str) -> Iterator[None]:
        """What is refused of the ways to manage goes to the audit log, bounded."""
        try:
            yield
        except GroupcoreError as error:
            if self.manages(scope) and is_forbidden(error):
                about = f"{request.method} {path}"
                self.node.noticed.note(REFUSED, self.asker(request), about, self.address(request))
            raise

    def check_origin(self, request: Request) -> None:
        """BadMessageError where a foreign page writes; no page can send another's bearer token."""
        if request.method in SAFE or "authorization" in request.headers:
            return
        if not origin_allowed(request, self.node.origins()):
            raise BadMessageError("forbidden_origin", "this page may not write here")

    def address(self, request: Request) -> str:
        """From where the request comes, as proxies say that the settings name."""
        proxies = self.node.settings.proxies
        self._look_for_proxies(request, proxies)
        return address_of(request, proxies)

    def _look_for_proxies(self, request: Request, proxies: Collection[str]) -> None:
        """Say once that a proxy is not named: all who come by it count as one place."""
        host = "" if request.client is None else request.client.host
        if self._has_warned or host in proxies or "x-forwarded-for" not in request.headers:
            return
        with suppress(ValueError):
            if ip_address(host).is_private:  # strangers from elsewhere may write what they like
                self._has_warned = True
                logger.warning(
                    "%s passes requests on, and is not in --proxies: all who come by it share one "
                    "limit for guesses and requests",
                    host,
                )

    def endpoint(self, row: Row) -> Endpoint:
        """The row as Starlette calls it."""

        async def answer(request: Request) -> Response:
            is_stale = not self.node.primary
            with self.noting_refusals(request, row.path, row.scope):
                await self.may_judge(request, row.scope)
                caller = self.let_in(request, row.scope)
                self._check_pace(request, caller, row.path)
                query, key = read_query(request, row.query), read_key(request, row)
                body, raw = await read_body(request, row, self.node.settings)
                ask = Ask(request, caller, body, self.address(request), query, raw, key)
                response = await row.handler(ask)
            if request.method in READS and (is_stale or not self.node.primary):
                response.headers[STALE] = "true"
            response.headers.setdefault("Cache-Control", "no-store")
            return await packed(response, request.headers) if row.may_be_packed else response

        return answer

    def _check_pace(self, request: Request, caller: Caller | None, path: str) -> None:
        """TooFastError for who asks more than the settings allow.

        Of people who are not known many may come from one address: what one of them asks too often
        keeps the others from nothing else.
        """
        user = "" if caller is None else caller.user
        asker = user or f"{address_key(self.address(request))} {path}"
        wait_s = self._pace.take(asker, asyncio.get_running_loop().time())
        if wait_s:
            raise TooFastError(f"too many requests; try again in {wait_s} s", wait_s)

    async def preflight(self) -> Response:
        """What a browser asks before it sends the request of another node's page."""
        response = Response(status_code=204)
        response.headers["Access-Control-Allow-Methods"] = "GET, POST, PUT, PATCH, DELETE"
        response.headers["Access-Control-Allow-Headers"] = f"Content-Type, {IDEMPOTENCY}, {CSRF}"
        response.headers["Access-Control-Max-Age"] = "600"
        return response

    def routes(self, rows: Sequence[Row]) -> list[Route]:
        """The rows as routes: one for each path, so that it can say which methods it has."""
        by_path: dict[str, dict[str, Endpoint]] = {}
        for row in rows:
            by_path.setdefault(row.path, {})[row.method] = self.endpoint(row)
        return [self._route(path, verbs) for path, verbs in by_path.items()]

    def _route(self, path: str, verbs: dict[str, Endpoint]) -> Route:
        async def answer(request: Request) -> Response:
            if request.method == "OPTIONS":
                return await self.preflight()
            return await verbs["GET" if request.method == "HEAD" else request.method](request)

        asked = ["OPTIONS"] if self.has_preflight else []
        return Route(path, answer, methods=[*verbs, *asked])


class OpenGate(Gate):
    """No accounts: everybody may everything, and pages of foreign origins may not write."""

    def let_in(self, request: Request, scope: str) -> Caller | None:
        """Nobody in particular; BadMessageError for a foreign page."""
        self.check_origin(request)
        return Caller(GUEST, "", "", "")


class OperatorGate(Gate):
    """The management address, behind `server.management.gate`, which has judged who asks."""

    has_preflight = False

    def let_in(self, request: Request, scope: str) -> Caller | None:
        """The operator, whoever it is: accounts know it as one."""
        del scope
        assert identity_of(request).rank is not Rank.OPEN, "its gate lets in who is known"
        return Caller(ADMIN, "", "", "")

    def manages(self, scope: str) -> bool:
        """All of it does."""
        del scope
        return True

    def _check_pace(self, request: Request, caller: Caller | None, path: str) -> None:
        """The machine's own programs are as fast as they are."""

    def address(self, request: Request) -> str:
        """What the audit log says."""
        return identity_of(request).origin


def address_of(request: Request, proxies: Collection[str] = ()) -> str:
    """From which address the request comes: what the last proxy that is known says, if one does.

    What stands before that in X-Forwarded-For anybody may have written.
    """
    found = "" if request.client is None else request.client.host
    said = [one.strip() for one in ",".join(request.headers.getlist("x-forwarded-for")).split(",")]
    while found in proxies and said:
        try:
            found = str(ip_address(said.pop()))
        except ValueError:
            break
    return found
