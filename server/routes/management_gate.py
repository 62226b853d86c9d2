"""The gate of the management address: the one place that judges who may do what there.

Idea. Each request passes it, whatever route it is for. It says whether a page has sent it, who
asks, and whether that is enough for the route; a handler finds who asks in the request's state.

Invariants.
  M1  What a page sends on its own is refused on every path, and what calls this address by a name
      that is not its own: a name can be pointed here from outside.
  M2  A route that the table of ranks does not name is closed to everybody.
  M3  Open routes answer without credentials on this machine alone; wrong credentials are refused
      there, too.
  M4  Whoever has the right token is let in, however often others guess: waiting is for wrong ones.
  M5  A refusal is counted, and noted in the audit log, bounded, without what was shown.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from groupcore.origins import is_address, is_loopback
from server.accounts.backoff import Backoff, address_key
from server.errors import BadMessageError, TooFastError
from server.management.identity import IDENTITY, NAME_MAX, NOBODY, Identity
from server.management.peer import PEER, Peer
from server.management.ranks import GIVEN, RANKS, Rank
from server.management.ranks import Route as RouteName
from server.management.tokens import ManagementTokens
from server.noticed import REFUSED, Noticed
from server.routes.problems import on_bad_message

FREE = 10
"""So many wrong tokens an address may show before it waits."""
FIRST_S, MOST_S = 1.0, 60.0
ADDRESSES_MAX = 1_000
REASONS = ("page", "host", "credentials", "wrong", "wait", "rank", "unranked")
"""Why it refuses, as the metric says it."""
SHOW = (
    "the management address asks for credentials: run the command as the user that the node runs "
    "as, or give --token-file FILE, or --admin unix:FOLDER with the node's --data folder"
)


class ManagementRefusal(BadMessageError):
    """`reason` is one of REASONS; `origin`: who has asked, where that is known."""

    def __init__(self, reason: str, code: str, message: str, origin: str = "") -> None:
        super().__init__(code, message)
        self.reason = reason
        self.origin = origin


class Judge:
    """Of one node: `names` are the host's own beside its addresses, `uids` whose programs may use
    the Unix socket.
    """

    def __init__(
        self,
        tokens: ManagementTokens,
        names: Collection[str] = (),
        uids: Collection[int] | None = None,
    ) -> None:
        self.tokens = tokens
        self.refused: Counter[str] = Counter(dict.fromkeys(REASONS, 0))
        self._names = frozenset(("localhost", *(name.lower() for name in names)))
        self._uids = frozenset((0, os.geteuid()) if uids is None else uids)
        self._backoff = Backoff(FREE, FIRST_S, MOST_S, ADDRESSES_MAX)

    def let_in(self, request: Request, row: RouteName | None) -> Identity:
        """Who asks, if that is enough for the route; BadMessageError says why not.

        Without a route the application says that there is none, or not with this method.
        """
        try:
            self._check_page(request, row)
            found = self._shown(request)
            if row is not None:
                self._check_rank(request, row, found)
        except ManagementRefusal as refusal:
            self.refused[refusal.reason] += 1
            raise
        except TooFastError:
            self.refused["wait"] += 1
            raise
        return found or NOBODY

    # --- pages ------------------------------------------------------------------------------------

    def _check_page(self, request: Request, row: RouteName | None) -> None:
        """M1. What a person has typed into a browser may look at what is open."""
        host = _named(request)
        if not is_address(host) and host not in self._names:
            text = "ask for this address by its number, or by the name in its certificate"
            raise ManagementRefusal("host", "forbidden_origin", text)
        site = request.headers.get("sec-fetch-site")
        is_typed = site == "none" and row is not None and RANKS.get(row) is Rank.OPEN
        if "origin" in request.headers or not (site is None or is_typed):
            text = "this address is for programs, not for pages"
            raise ManagementRefusal("page", "forbidden_origin", text)

    # --- who asks ---------------------------------------------------------------------------------

    def _shown(self, request: Request) -> Identity | None:
        """By a token, the Unix socket, or a certificate; None: by nothing."""
        peer = _peer(request)
        if "authorization" in request.headers:
            return self._of_token(request)
        if peer.uid is not None:
            if peer.uid not in self._uids:
                text = f"this socket is for the node's own user, not for uid {peer.uid}"
                raise ManagementRefusal("rank", "forbidden", text)
            return Identity("uid", str(peer.uid), Rank.OWNER)
        if peer.subject:
            return self._of_certificate(peer)
        return None

    def _of_token(self, request: Request) -> Identity:
        """M4."""
        scheme, _, secret = request.headers["authorization"].partition(" ")
        found = self.tokens.find(secret.strip()) if scheme.lower() == "bearer" else None
        if found is not None:
            return found
        now = asyncio.get_running_loop().time()
        place = address_key(_host(request))
        wait_s = self._backoff.wait_s(place, now)
        if wait_s > 0:
            whole_s = int(wait_s) + 1
            raise TooFastError(f"too many wrong tokens; wait {whole_s} s", whole_s, "wait")
        self._backoff.attempt(place, now)
        text = "this token is not good at this node, or not any more"
        raise ManagementRefusal("wrong", "unauthenticated", text)

    def _of_certificate(self, peer: Peer) -> Identity:
        name = peer.said("commonName")[:NAME_MAX]
        rank = GIVEN.get(peer.said("organizationalUnitName").lower())
        if rank is None or not name:
            ranks = ", ".join(GIVEN)
            text = f"a certificate has a name (CN), and as its unit (OU) one of {ranks}"
            raise ManagementRefusal("rank", "forbidden", text)
        return Identity("certificate", name, rank)

    # --- whether that is enough -------------------------------------------------------------------

    def _check_rank(self, request: Request, row: RouteName, found: Identity | None) -> None:
        needed = RANKS.get(row)
        if needed is None:  # M2
            raise ManagementRefusal("unranked", "forbidden", "this is closed: it has no rank")
        if needed is Rank.OPEN:
            if found is not None or _is_here(request):  # M3
                return
            needed = Rank.VIEWER
        if found is None:
            raise ManagementRefusal("credentials", "unauthenticated", SHOW)
        if found.rank < needed:
            mine, wanted = found.rank.name.lower(), needed.name.lower()
            text = f"{found.text} is {mine} at the management address; this takes {wanted}"
            raise ManagementRefusal("rank", "forbidden", text, found.origin)


class ManagementGate:
    """The judge before an application; refusals are noted by `noticed`."""

    def __init__(self, app: ASGIApp, judge: Judge, noticed: Noticed) -> None:
        self.app = app
        self._judge = judge
        self._noticed = noticed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it through with who asks in its state, or answer why not."""
        if scope["type"] != "http":
            await WebSocketClose(1008)(scope, receive, send)
            return
        request = Request(scope, receive)
        row = route_of(request.app.routes, scope)
        try:
            found = self._judge.let_in(request, row)
        except BadMessageError as refusal:
            if row is not None and isinstance(refusal, ManagementRefusal):  # M5
                origin = refusal.origin or _host(request)
                self._noticed.note(REFUSED, "", " ".join(row), origin)
            answer = await on_bad_message(request, refusal)
            if answer.status_code == 401:
                answer.headers["WWW-Authenticate"] = "Bearer"
            await answer(scope, receive, send)
            return
        scope.setdefault("state", {})[IDENTITY] = found
        await self.app(scope, receive, send)


def route_of(routes: Iterable[BaseRoute], scope: Scope) -> RouteName | None:
    """The route that answers; None where none does, or none with this method."""
    for route in routes:
        if route.matches(scope)[0] is Match.FULL:
            assert isinstance(route, Route), "the management address has nothing else"
            method = scope["method"]
            return ("GET" if method == "HEAD" else method), route.path
    return None


def _named(request: Request) -> str:
    """What it calls this address, without a port; empty where that is no name at all."""
    try:
        return (urlsplit(f"//{request.headers.get('host', '')}").hostname or "").lower()
    except ValueError:
        return ""


def _peer(request: Request) -> Peer:
    found = getattr(request.state, PEER, None)
    return found if isinstance(found, Peer) else Peer()


def _host(request: Request) -> str:
    """Where it comes from, as the audit log has it."""
    return "socket" if request.client is None else request.client.host


def _is_here(request: Request) -> bool:
    """Whether it comes from this machine."""
    if _peer(request).uid is not None:
        return True
    return request.client is not None and is_loopback(request.client.host)
