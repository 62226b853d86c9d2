"""Frames straight to the transports of uvicorn: `uvicorn.Config(app, ws=FanoutProtocol)`.

uvicorn's sans-I/O WebSocket class keeps the handshake, pings, fragments and closing. The subclass
puts a handle into the ASGI scope, through which the gateway writes finished frames: one that goes
to many pages gets its WebSocket header once. The gateway works with every ASGI server; with this
one a delivery costs a third of the CPU.
"""

from __future__ import annotations

import asyncio
import struct
from typing import Any, cast

from groupcore.gateway.errors import MissingPackageError
from groupcore.gateway.limits import SCOPE_KEY

try:
    from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
except ImportError as error:
    raise MissingPackageError(
        "groupcore.web.fanout needs uvicorn 0.35 or newer, and websockets; "
        'run: pip install "uvicorn>=0.35" websockets'
    ) from error

RELIED_ON = (
    *("transport", "conn", "scope", "queue"),
    *("handshake_complete", "close_sent", "disconnected"),
)
"""uvicorn's attribute names that this file leans on."""

BAD_HEAD = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"

ABORT_S = 1.0
"""How long a close frame may wait behind what is buffered."""


def websocket_header(size_bytes: int) -> bytes:
    """The header of an unmasked, unfragmented binary frame (RFC 6455, section 5.2)."""
    if size_bytes < 126:
        return bytes((0x82, size_bytes))
    if size_bytes < 65536:
        return struct.pack("!BBH", 0x82, 126, size_bytes)
    return struct.pack("!BBQ", 0x82, 127, size_bytes)


def close_frame(code: int, reason: str) -> bytes:
    """A whole close frame, for a connection that is past ordinary closing."""
    body = struct.pack("!H", code) + reason.encode()[:120]
    return bytes((0x88, len(body))) + body


class _Last:
    """The frame that was written last, with its header: mostly the next page gets the same."""

    frame = b""
    wire = b""


class FanoutHandle:
    """Writes to the transport of one of uvicorn's connections."""

    __slots__ = ("_protocol", "congested")

    def __init__(self, protocol: WebSocketsSansIOProtocol) -> None:
        self._protocol = protocol
        self.congested = False
        """Above the transport's high-water mark."""

    def write(self, frame: bytes) -> None:
        """Write the frame between any two of uvicorn's own, which it never fragments."""
        if frame is not _Last.frame:
            _Last.frame = frame
            _Last.wire = websocket_header(len(frame)) + frame
        protocol = self._protocol
        if protocol.handshake_complete and not protocol.close_sent and not protocol.disconnected:
            protocol.transport.write(_Last.wire)

    def buffered(self) -> int:
        """Bytes in the transport's buffer."""
        return self._protocol.transport.get_write_buffer_size()

    def abort(self, code: int, reason: str) -> None:
        """Write the close frame behind what is buffered, and abort a second later."""
        protocol = self._protocol
        if protocol.disconnected or protocol.close_sent:
            return
        protocol.transport.write(close_frame(code, reason))
        protocol.close_sent = True
        protocol.loop.call_later(ABORT_S, protocol.transport.abort)
        # The reading side ends at once: what the page still sends counts for nothing.
        protocol.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})


class FanoutProtocol(WebSocketsSansIOProtocol):
    """uvicorn's class, with a handle in the scope."""

    handle: FanoutHandle

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection has a handle from its beginning."""
        self.handle = FanoutHandle(self)
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """A head that is none is refused: uvicorn leaves its connection open, and says nothing."""
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.transport.is_closing():
            self.transport.write(b"".join(self.conn.data_to_send()) or BAD_HEAD)
            self.transport.close()

    async def run_asgi(self) -> None:
        """Put the handle into the scope, then run the application."""
        extensions = cast("dict[str, Any]", self.scope["extensions"])
        extensions[SCOPE_KEY] = self.handle
        await super().run_asgi()

    def pause_writing(self) -> None:
        """The transport's buffer is above its high-water mark."""
        self.handle.congested = True
        super().pause_writing()

    def resume_writing(self) -> None:
        """There is room again."""
        self.handle.congested = False
        super().resume_writing()
