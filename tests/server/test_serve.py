"""The sockets at which a node listens."""

from __future__ import annotations

import asyncio
import socket

from server.listening import listen


async def test_what_is_written_does_not_wait_for_an_acknowledgement() -> None:
    found: list[int] = []
    over = asyncio.Event()

    async def accepted(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        taken = writer.get_extra_info("socket")
        found.append(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()
        over.set()

    listener = listen("127.0.0.1:0", "--http")
    async with await asyncio.start_server(accepted, sock=listener):
        host, port = listener.getsockname()[:2]
        _, writer = await asyncio.open_connection(host, port)
        await over.wait()
        writer.close()
        await writer.wait_closed()
    assert found
    assert all(found)
