"""Fan-out: one shared text, 500 pages on one node, 20 edits a second: CPU for each delivery."""

from __future__ import annotations

import asyncio
import base64
import resource
import secrets
import socket
import struct
import time
from functools import partial
from multiprocessing.connection import Connection
from urllib.parse import urlsplit

import msgpack

from bench.gateways import NAME, PATH, SUBPROTOCOL, gateways
from bench.helpers import helper
from bench.measuring import cpu_of, load_average, quantile, rss_kb_of
from bench.pages import TEXT, Page, hello, opening, type_steadily

UPDATES_PER_S = 20
WARM_UP_S = 1.0
FRAME_BYTES = 150
"""About what one update is on the wire, for the floor: the same writes and nothing else."""
BUFFER_BYTES = 1 << 20
"""Of each socket that is not read during the round."""


# --- sessions that sleep ----------------------------------------------------------------------


def masked(payload: bytes) -> bytes:
    """A client's binary frame (RFC 6455, section 5.2), masked with zeros."""
    size = len(payload)
    head = struct.pack("!BB", 0x82, 0x80 | size) if size < 126 else b""
    return (head or struct.pack("!BBH", 0x82, 0x80 | 126, size)) + bytes(4) + payload


def open_session(url: str) -> socket.socket:
    """A session by hand: handshake, hello, open; nothing of it is read after the handshake."""
    parts = urlsplit(url)
    opened = socket.create_connection((parts.hostname, parts.port), timeout=20)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER_BYTES)
    key = base64.b64encode(secrets.token_bytes(16)).decode()
    opened.sendall(
        f"GET {PATH} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\n"
        f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
        f"Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n".encode()
    )
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += opened.recv(4096)
    assert answer.startswith(b"HTTP/1.1 101"), answer
    opened.sendall(masked(msgpack.packb([hello(), opening(TEXT)])))
    return opened


def drained(opened: socket.socket) -> int:
    """Bytes that have come so far."""
    size = 0
    opened.setblocking(False)
    while True:
        try:
            data = opened.recv(BUFFER_BYTES)
        except BlockingIOError:
            return size
        assert data, "the session has ended"
        size += len(data)


def hold_sessions(url: str, count: int, pipe: Connection) -> None:
    """Open sessions; sleep until told to look what has come."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    held = [open_session(url) for _ in range(count)]
    pipe.send(len(held))
    while pipe.recv() == "look":
        pipe.send([drained(one) for one in held])


# --- the floor ----------------------------------------------------------------------------------


def hold_sockets(port: int, count: int, pipe: Connection) -> None:
    """Connect plain sockets, and sleep."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    held = [socket.create_connection(("127.0.0.1", port)) for _ in range(count)]
    pipe.send(len(held))
    pipe.recv()


def send_bare(count: int, rounds: int, pipe: Connection) -> None:
    """CPU of writing to as many sockets at the same pace, in microseconds each."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    with (
        socket.create_server(("127.0.0.1", 0), backlog=1024) as listener,
        helper(hold_sockets, listener.getsockname()[1], count) as holder,
    ):
        sockets = [listener.accept()[0] for _ in range(count)]
        asyncio.run(holder.ask())
        data = secrets.token_bytes(FRAME_BYTES)
        used_ns = 0
        for _ in range(rounds):
            time.sleep(1 / UPDATES_PER_S)
            began = time.thread_time_ns()
            for one in sockets:
                one.send(data)
            used_ns += time.thread_time_ns() - began
        for one in sockets:
            one.close()
    pipe.send(used_ns / 1e3 / (rounds * count))


# --- the round ----------------------------------------------------------------------------------


def note(seen: dict[int, float], _name: str, edits: int) -> None:
    """The page has seen this edit."""
    seen[edits] = time.monotonic()


async def measure(sessions: int, updates: int) -> dict[str, object]:
    """Two nodes: one is typed at, the other has the pages and gets each update by datagram."""
    with gateways(2) as (other, busy):
        before_kb = rss_kb_of(busy.pid)
        idle_s, idle = cpu_of(busy.pid), time.monotonic()
        await asyncio.sleep(WARM_UP_S)
        idle_share = (cpu_of(busy.pid) - idle_s) / (time.monotonic() - idle)
        with helper(hold_sessions, busy.url, sessions) as holder:
            await holder.ask()
            # The last that opens is the last that is written to.
            async with Page(other.url) as writer, Page(busy.url) as reader:
                await writer.open(NAME)
                await reader.open(NAME)
                warm_up = int(WARM_UP_S * UPDATES_PER_S)
                seen: dict[int, float] = {}
                reader.on_edit = partial(note, seen)
                await type_steadily(writer, warm_up, UPDATES_PER_S)
                await reader.until(lambda: warm_up in seen)
                await holder.ask("look")
                session_kb = (rss_kb_of(busy.pid) - before_kb) / sessions
                used_s, began = cpu_of(busy.pid), time.monotonic()
                fell = await type_steadily(writer, updates, UPDATES_PER_S)
                await reader.until(lambda: warm_up + updates in seen)
                used_s, wall_s = cpu_of(busy.pid) - used_s, time.monotonic() - began
                got = await holder.ask("look")
    assert len(set(got)) == 1, "every page has got the same"
    deliveries = updates * (sessions + 1)
    times = [1000 * (seen[warm_up + at] - pressed) for at, pressed in enumerate(fell, 1)]
    return {
        "sessions": sessions,
        "updates_per_s": UPDATES_PER_S,
        "updates": updates,
        "cpu_us_per_delivery": round(1e6 * used_s / deliveries, 2),
        "idle_us_per_delivery": round(1e6 * idle_share * wall_s / deliveries, 2),
        "bytes_per_delivery": round(got[0] / updates, 1),
        "p50_ms": round(quantile(times, 0.5), 2),
        "p99_ms": round(quantile(times, 0.99), 2),
        "rss_kb_per_session": round(session_kb, 1),
    }


def run(quick: bool) -> dict[str, object]:
    """The node, and beside it the floor: a bare `send` to as many sockets at the same pace.

    `idle_us_per_delivery` is the part of the CPU that the node uses when nobody types.
    """
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
    sessions, updates = (500, 40) if quick else (500, 300)

    async def floor() -> float:
        with helper(send_bare, sessions, updates // 2) as sender:
            return float(await sender.ask())

    figures = asyncio.run(measure(sessions, updates))
    send_us = asyncio.run(floor())
    cpu_us = figures["cpu_us_per_delivery"]
    assert isinstance(cpu_us, float)
    return {
        **figures,
        "bare_send_us": round(send_us, 2),
        "times_bare_send": round(cpu_us / send_us, 2),
        "load_average": load_average(),
    }
