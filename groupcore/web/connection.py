"""One WebSocket of a page: frames in, frames out, and whether anybody is still there.

Frames go out through a `Writer`. Where the server puts one into the ASGI scope, as
`groupcore.web.fanout` has uvicorn do, a frame goes straight to the transport. Elsewhere a
`QueueWriter` sends through the ordinary ASGI calls.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.websockets import WebSocket, WebSocketDisconnect

from groupcore.frames import BadFrameError, Message, decode, pack
from groupcore.gateway.errors import SessionEndError
from groupcore.gateway.limits import CONGESTED_BYTES, FRAME_BYTES_MAX, RULES, SCOPE_KEY
from groupcore.gateway.outlet import Writer

if TYPE_CHECKING:
    from groupcore.gateway.gateway import Gateway

PING = b"\x91" + pack({"t": "ping"})
CLOSE_S = 2.0
"""How long a close frame may wait for a congested connection."""


class Connection:
    """The WebSocket of a page that the running task serves; `writer` is where its frames go.

    A ping goes out once a heartbeat. A page that is silent for two is closed.
    """

    def __init__(self, websocket: WebSocket, gateway: Gateway) -> None:
        self._websocket = websocket
        self._figures = gateway.figures
        self._heartbeat_s = gateway.terms.heartbeat_s
        self.frame_bytes = 0
        """Of the frame that came last."""
        self._silent = 0
        self._is_over = False
        task = asyncio.current_task()
        assert task is not None, "a connection is made by the task that serves it"
        self._serving = task
        given: Writer | None = websocket.scope.get("extensions", {}).get(SCOPE_KEY)
        self._queue = None if given is not None else QueueWriter(websocket, self._give_up)
        self.writer: Writer = given or self._queue  # type: ignore[assignment]
        self._timer = asyncio.get_running_loop().call_later(self._heartbeat_s, self._beat)

    def _beat(self) -> None:
        """A heartbeat has passed."""
        self._silent += 1
        if self._silent > 2:
            self.end(4003, "nothing was heard for two heartbeats")
            return
        self.writer.write(PING)
        self._timer = asyncio.get_running_loop().call_later(self._heartbeat_s, self._beat)

    def _give_up(self) -> None:
        """The writer was aborted: stop reading, too."""
        if not self._is_over:
            self._is_over = True
            self._serving.cancel()

    def end(self, code: int, reason: str) -> None:
        """Close it for what has come over it, or has not."""
        self._figures.cut[code] += 1
        self.writer.abort(code, reason)

    async def receive(self) -> list[Message]:
        """The messages of the next frame.

        Raises SessionEndError for what is no frame, WebSocketDisconnect when the connection is gone
        or given up.
        """
        try:
            received = await self._websocket.receive()
        except asyncio.CancelledError:
            if self._is_over and self._serving.uncancel() == 0:
                raise WebSocketDisconnect(1006) from None
            raise
        if received["type"] != "websocket.receive":
            raise WebSocketDisconnect(received.get("code", 1006))
        self._silent = 0
        data = received.get("bytes")
        if data is None:
            raise SessionEndError(1008, "frames must be binary")
        if len(data) > FRAME_BYTES_MAX:
            raise SessionEndError(1009, f"a frame has {FRAME_BYTES_MAX} bytes at most")
        try:
            messages = decode(data, RULES)
        except BadFrameError as error:
            raise SessionEndError(1008, str(error)) from None
        self.frame_bytes = len(data)
        self._figures.frames_in += 1
        self._figures.messages_in += len(messages)
        return messages

    async def finish(self) -> None:
        """It is over: what is queued has a moment to leave."""
        self._is_over = True
        self._timer.cancel()
        if self._queue is not None:
            await self._queue.finish()


class QueueWriter:
    """Sends through `WebSocket.send_bytes` from a task of its own; `on_abort` ends the reading."""

    def __init__(self, websocket: WebSocket, on_abort: Callable[[], None]) -> None:
        self._websocket = websocket
        self._on_abort = on_abort
        self._frames: deque[bytes] = deque()
        self._bytes = 0
        self._wake = asyncio.Event()
        self._close: tuple[int, str] | None = None
        self._task = asyncio.get_running_loop().create_task(self._send())

    @property
    def congested(self) -> bool:
        """More than CONGESTED_BYTES wait."""
        return self._bytes > CONGESTED_BYTES

    def buffered(self) -> int:
        """Bytes that wait."""
        return self._bytes

    def write(self, frame: bytes) -> None:
        """Queue a frame."""
        if self._close is None:
            self._frames.append(frame)
            self._bytes += len(frame)
            self._wake.set()

    def abort(self, code: int, reason: str) -> None:
        """Close it, behind what is queued if that leaves soon."""
        if self._close is None:
            self._close = (code, reason)
            self._wake.set()
            self._on_abort()

    async def _send(self) -> None:
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._frames:
                    frame = self._frames.popleft()
                    await self._websocket.send_bytes(frame)
                    self._bytes -= len(frame)
                if self._close is not None:
                    await self._websocket.close(*self._close)
                    return
        except (WebSocketDisconnect, RuntimeError, OSError):
            self._close = self._close or (1006, "")

    async def finish(self) -> None:
        """The connection is over: what is queued has a moment to leave, if it was aborted."""
        if self._close is None:
            self._task.cancel()
        await asyncio.wait([self._task], timeout=CLOSE_S)
        self._task.cancel()
