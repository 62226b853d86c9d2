"""HTTP connections whose clients do not go on: closed after a time, whatever they drip.

Idea. uvicorn waits for a request's head and body as long as a client likes, so a few thousand
sockets that send a byte a minute take all that a process may have open. Here a head has a deadline
that no byte moves, and a body must come at a least rate while somebody reads it. A connection that
is idle between two requests is another matter (`timeout_keep_alive`).

Invariants.
  P1  A connection without a whole request head is closed `HEAD_S` after it was opened, or after the
      first byte of the head if it has had requests before.
  P2  A connection whose body brings less than `BODY_BYTES_LEAST` in `BODY_S` is closed, unless this
      side does not read.
  P3  What is answered, and what has become a WebSocket, is not touched.
  P4  A body that is none is answered once, by 400: the application is told that the client is gone,
      and has nobody to answer.
"""

from __future__ import annotations

import asyncio
from typing import cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

HEAD_S = 10.0
"""How long the head of a request may take, from its first byte or the connection's beginning."""
BODY_S = 10.0
BODY_BYTES_LEAST = 4_096
"""What a body has to bring in BODY_S: less than any line, more than who drips."""
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class PatientProtocol(H11Protocol):
    """uvicorn's class for HTTP/1.1, with deadlines; for `uvicorn.Config(http=...)`."""

    _deadline: asyncio.TimerHandle | None = None
    _awaited = ""
    _has_asked = False
    _is_socket = False
    _body_bytes = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """The first head is due (P1)."""
        super().connection_made(transport)
        self._look()

    def data_received(self, data: bytes) -> None:
        """More has come: a head, a part of a body, or both."""
        self._body_bytes += len(data)
        super().data_received(data)
        self._has_asked = self._has_asked or self.conn.their_state is not h11.IDLE
        self._look()

    def on_response_complete(self) -> None:
        """An answer has left; the next request may be here, whole or in part."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._await("")
        super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """P3: the gateway has deadlines of its own."""
        self._is_socket = True
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """P4. An answer that has begun is cut off: there is no room for another one."""
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None before the first head
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        self.transport.close()
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()

    def _look(self) -> None:
        """What the client owes now."""
        theirs = self.conn.their_state
        if self.transport.is_closing() or self._is_socket:
            self._await("")
        elif theirs is h11.SEND_BODY:
            self._await("body")
        elif theirs is h11.IDLE and (not self._has_asked or self.conn.trailing_data[0]):
            self._await("head")
        else:
            self._await("")

    def _await(self, what: str) -> None:
        """A deadline for this, which stands until it is there; none for nothing."""
        if what == self._awaited:
            return
        self._awaited = what
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if what == "head":
            self._deadline = self.loop.call_later(HEAD_S, self._end)
        elif what:
            self._body_bytes = 0
            self._deadline = self.loop.call_later(BODY_S, self._on_body_due)

    def _on_body_due(self) -> None:
        """P2."""
        is_here = self._body_bytes >= BODY_BYTES_LEAST
        cycle = self.cycle
        if is_here or self.flow.read_paused or cycle.waiting_for_100_continue:
            self._body_bytes = 0
            self._deadline = self.loop.call_later(BODY_S, self._on_body_due)
        else:
            self._end()

    def _end(self) -> None:
        """Close it; who has not been answered is told why."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(TOO_SLOW)
        self.transport.close()
