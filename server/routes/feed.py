"""`/feed`: a WebSocket that tells a page what happens to the files that its person sees.

The page sends one message, `{"ticket": "…"}` (empty where there are no accounts). Then it is told
`{"t": "begin"}`, and from now on, soon after something has changed, the rows that look different
(`documents`, `folders`), the ids that are not there any more or not for it (`gone`), and, where
they may be others, all `workspaces`, `favourites` and `recent`; `{"t": "again"}`: ask for all anew.
Rows are those of `GET /files`, made for this person at the moment at which they are sent.
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from groupcore.errors import GroupcoreError
from groupcore.gateway.limits import TRY_AGAIN, retry_reason
from groupcore.web import Badge
from server.accounts.roles import ADMIN
from server.errors import BadMessageError
from server.files.hub import Follower
from server.files.rows import Rows
from server.node import Node
from server.routes.origins import origin_allowed

logger = logging.getLogger("server")

HELLO_S = 10.0
HELLO_MAX = 500
EXPECTED = (WebSocketDisconnect, RuntimeError, GroupcoreError)
"""The page has gone while it was told something, or this node has left its cluster."""
FULL_MS = 10_000
"""After so long a page may come again that found too many others here."""
GATHER_S = 0.1
"""So long changes are gathered before they are told."""


class Feed:
    """The endpoint, on one node."""

    def __init__(self, node: Node) -> None:
        self._node = node

    async def serve(self, websocket: WebSocket) -> None:
        """One page, until it goes or its sign-in is over."""
        if not origin_allowed(websocket, self._node.origins()):
            await websocket.close(4403, "forbidden_origin")
            return
        await websocket.accept()
        with suppress(WebSocketDisconnect, RuntimeError):  # the page is gone
            try:
                badge = await self._badge(websocket)
            except BadMessageError:  # this node has no accounts yet
                await websocket.close(TRY_AGAIN, retry_reason())
                return
            if badge is None:
                await websocket.close(4401, "sign in first")
                return
            if not self._node.ready:
                await websocket.close(TRY_AGAIN, retry_reason())
                return
            await self._follow(websocket, badge)

    async def _badge(self, websocket: WebSocket) -> Badge | None:
        """Who shows this ticket, which is used up; BadMessageError `not_ready`."""
        try:
            async with asyncio.timeout(HELLO_S):
                text = await websocket.receive_text()
            hello = json.loads(text) if len(text) <= HELLO_MAX else None
        except (TimeoutError, KeyError, ValueError, RecursionError):
            return None
        ticket = hello.get("ticket") if isinstance(hello, dict) else None
        if not isinstance(ticket, str):
            return None
        service = self._node.accounts
        if service is None:
            return Badge(ADMIN)
        return service.by_ticket(ticket) if ticket else None

    async def _follow(self, websocket: WebSocket, badge: Badge) -> None:
        hub = self._node.files.hub
        if len(hub) >= self._node.settings.sessions_max:
            await websocket.close(TRY_AGAIN, retry_reason(FULL_MS))
            return
        follower = hub.follow(badge)
        loop = asyncio.get_running_loop()
        telling = loop.create_task(self._tell(websocket, follower))
        hearing = loop.create_task(_hear(websocket))
        waited: set[asyncio.Future[object]] = {telling, hearing, follower.ended}  # type: ignore[arg-type]
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            hub.leave(follower)
            for task in (telling, hearing):
                task.cancel()
            over = await asyncio.gather(telling, hearing, return_exceptions=True)
        for error in over:
            if isinstance(error, Exception) and not isinstance(error, EXPECTED):
                logger.error("a page could not be told of its files", exc_info=error)
        if follower.ended.done():
            code, reason = follower.ended.result()
            await websocket.close(code, reason)

    async def _tell(self, websocket: WebSocket, follower: Follower) -> None:
        """What has changed; now and then only that the node is there."""
        rows = self._node.files.rows(follower.badge.principal)
        await _look(rows, follower)
        await websocket.send_text('{"t": "begin"}')
        while True:
            try:
                async with asyncio.timeout(self._node.settings.heartbeat_s):
                    await follower.news.wait()
            except TimeoutError:
                await websocket.send_text('{"t": "alive"}')
                continue
            await asyncio.sleep(GATHER_S)
            items, is_all, is_own = follower.take()
            if is_all:
                await _look(rows, follower)
                await websocket.send_text('{"t": "again"}')
                continue
            changed = rows.changed(items, follower.sight)
            if is_own or changed["gone"]:
                changed |= rows.own()
            if not is_own and not any(changed.values()):
                continue  # what has changed is nothing of this person's
            changed["t"] = "changed"
            await websocket.send_text(json.dumps(changed))


async def _look(rows: Rows, follower: Follower) -> None:
    """What the page may see from here on, if it asks."""
    async for some in rows.seen():
        follower.sight.see(some)


async def _hear(websocket: WebSocket) -> None:
    """Until the page goes; it has nothing to say."""
    with suppress(WebSocketDisconnect):
        while True:
            await websocket.receive_text()
