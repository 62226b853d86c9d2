"""`/ws`: the connection around a session. All rules of the protocol are in `server.sessions`."""

from __future__ import annotations

import asyncio

from starlette.websockets import WebSocket, WebSocketDisconnect

from server.errors import BadMessageError
from server.fanout import QueueWriter, writer_of
from server.frames import decode_frame
from server.node import Node
from server.routes.origins import origin_allowed
from server.routes.problems import problem
from server.session_registry import SessionRegistry
from server.sessions import PROTOCOL, Session, SessionEnd
from server.state import State

CLOSE_S = 2.0
"""How long a close frame may wait for a congested connection."""


class SocketRoute:
    """The endpoint of `/ws`, on one node."""

    def __init__(self, node: Node, sessions: SessionRegistry) -> None:
        self.node = node
        self.sessions = sessions

    async def endpoint(self, websocket: WebSocket) -> None:
        """Accept or refuse the connection, run its session, close it."""
        if await self._refused(websocket):
            return
        await websocket.accept(subprotocol=PROTOCOL)
        writer = writer_of(websocket)
        session = Session(self.node, writer, asyncio.get_running_loop().time())
        self.sessions.add(session)
        try:
            await self._run(websocket, session)
        except SessionEnd as end:
            self.node.metrics.drop(f"session_{end.code}")
            await self._close(websocket, session, end)
        finally:
            self.sessions.remove(session)
            if isinstance(writer, QueueWriter):
                writer.stop()

    async def _refused(self, websocket: WebSocket) -> bool:
        """Answer in HTTP what cannot become a session."""
        if PROTOCOL not in websocket.scope["subprotocols"]:
            response = problem(426, "unknown_protocol", f"this node speaks {PROTOCOL}")
            response.headers["Sec-WebSocket-Protocol"] = PROTOCOL
        elif not origin_allowed(websocket, self.node.settings, self.node.neighbours.urls.values()):
            response = problem(403, "forbidden_origin", "this page may not open a session here")
        elif len(self.sessions) >= self.node.settings.sessions_max:
            response = problem(503, "busy", "too many sessions here; try another node")
        elif self.node.state is State.DRAINING:
            response = problem(503, "busy", "this node is leaving; try another")
        else:
            return False
        await websocket.send_denial_response(response)
        return True

    async def _run(self, websocket: WebSocket, session: Session) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self.node.settings.hello_s):
                while session.subscriber is None:
                    if not await self._receive(websocket, session, loop):
                        return
        except TimeoutError:
            raise SessionEnd(4408, "hello did not come in time") from None
        while await self._receive(websocket, session, loop):
            pass

    async def _receive(
        self, websocket: WebSocket, session: Session, loop: asyncio.AbstractEventLoop
    ) -> bool:
        """Take one frame; False when the connection is gone."""
        message = await websocket.receive()
        if message["type"] != "websocket.receive":
            return False
        data = message.get("bytes")
        if data is None:
            raise SessionEnd(1008, "frames must be binary")
        self.node.metrics.frames_in.inc()
        try:
            messages = decode_frame(data)
        except BadMessageError as error:
            raise SessionEnd(1008, error.message) from None
        await session.receive(messages, loop.time())
        return True

    async def _close(self, websocket: WebSocket, session: Session, end: SessionEnd) -> None:
        try:
            async with asyncio.timeout(CLOSE_S):
                await websocket.close(end.code, end.reason)
        except TimeoutError:
            session.writer.abort(end.code, end.reason)
        except (RuntimeError, WebSocketDisconnect):
            # The peer was faster.
            return
