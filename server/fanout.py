"""Writing to a session's socket: whole frames, encoded once for everybody.

uvicorn's sans-I/O WebSocket class keeps the handshake, pings, fragments and closing; the subclass
only puts a handle into the ASGI scope, through which the hub writes finished frames to the
transport (hot path, section 4: 1.5 instead of 3.5 us a delivery). Where the scope has no handle
(another server, a test client) `QueueWriter` sends through the ordinary ASGI calls.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any, Protocol, cast

from starlette.websockets import WebSocket, WebSocketDisconnect
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from server.frames import Frame, close_frame

SCOPE_KEY = "groupcore.fanout"

RELIED_ON = (
    "transport", "scope", "writable", "handshake_complete", "close_sent", "disconnected",
)  # fmt: skip
"""uvicorn's attribute names that this file leans on; a test fails when one goes."""

QUEUE_BYTES = 65536
"""Above this a QueueWriter counts as congested, like a transport above its high-water mark."""


class Writer(Protocol):
    """Where the hub writes a session's frames."""

    @property
    def congested(self) -> bool:
        """Whether what was written before is not yet with the kernel."""

    def write(self, frame: Frame) -> None:
        """Send a frame; dropped when the connection is closing."""

    def buffered(self) -> int:
        """Bytes that the kernel has not taken."""

    def abort(self, code: int, reason: str) -> None:
        """Give the connection up: a close frame if it gets through, then the end."""


class FanoutHandle:
    """Writes to the transport of one of uvicorn's connections."""

    __slots__ = ("_protocol",)

    def __init__(self, protocol: WebSocketsSansIOProtocol) -> None:
        self._protocol = protocol

    @property
    def congested(self) -> bool:
        """Above the transport's high-water mark."""
        return not self._protocol.writable.is_set()

    def write(self, frame: Frame) -> None:
        """Write the frame between any two of uvicorn's own, which it never fragments."""
        protocol = self._protocol
        if protocol.handshake_complete and not protocol.close_sent and not protocol.disconnected:
            protocol.transport.write(frame.wire)

    def buffered(self) -> int:
        """Bytes in the transport's buffer."""
        return self._protocol.transport.get_write_buffer_size()

    def abort(self, code: int, reason: str) -> None:
        """Write the close frame behind what is buffered and abort a second later."""
        protocol = self._protocol
        if protocol.disconnected or protocol.close_sent:
            return
        protocol.transport.write(close_frame(code, reason))
        protocol.close_sent = True
        protocol.loop.call_later(1.0, protocol.transport.abort)
        # The reading side ends at once: what the peer still sends counts for nothing.
        protocol.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})


class FanoutWebSocketProtocol(WebSocketsSansIOProtocol):
    """uvicorn's class, with a handle in the scope."""

    async def run_asgi(self) -> None:
        """Put the handle into the scope, then run the application."""
        extensions = cast("dict[str, Any]", self.scope["extensions"])
        extensions[SCOPE_KEY] = FanoutHandle(self)
        await super().run_asgi()


class QueueWriter:
    """Sends through `WebSocket.send_bytes` from a task of its own, with a bounded queue."""

    def __init__(self, websocket: WebSocket) -> None:
        self._websocket = websocket
        self._frames: deque[Frame] = deque()
        self._bytes = 0
        self._wake = asyncio.Event()
        self._close: tuple[int, str] | None = None
        self._task = asyncio.get_running_loop().create_task(self._run())

    @property
    def congested(self) -> bool:
        """More than QUEUE_BYTES wait."""
        return self._bytes > QUEUE_BYTES

    def write(self, frame: Frame) -> None:
        """Queue the frame."""
        if self._close is None:
            self._frames.append(frame)
            self._bytes += len(frame.payload)
            self._wake.set()

    def buffered(self) -> int:
        """Bytes that wait in the queue."""
        return self._bytes

    def abort(self, code: int, reason: str) -> None:
        """Drop what waits and close."""
        self._frames.clear()
        self._bytes = 0
        self._close = (code, reason)
        self._wake.set()

    async def _run(self) -> None:
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._frames:
                    frame = self._frames.popleft()
                    await self._websocket.send_bytes(frame.payload)
                    self._bytes -= len(frame.payload)
                if self._close is not None:
                    await self._websocket.close(*self._close)
                    return
        except (WebSocketDisconnect, RuntimeError, OSError):
            self._close = self._close or (1006, "")

    def stop(self) -> None:
        """End the task; the connection is gone."""
        self._task.cancel()


def writer_of(websocket: WebSocket) -> Writer:
    """The connection's fan-out handle, or a QueueWriter where the server gives none."""
    handle = websocket.scope.get("extensions", {}).get(SCOPE_KEY)
    return handle if isinstance(handle, FanoutHandle) else QueueWriter(websocket)
