"""Clients that do not go on: heads and bodies that drip are closed at both addresses."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import pytest

from server import patience
from server.serve import RunningNode
from tests.management import credentials
from tests.server.support import Cluster, Page, create, eventually, get

ADDRESSES = pytest.mark.parametrize("address", ["url", "admin_url"])


class Dripper:
    """A connection by hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.heard = b""
        self._hearing = asyncio.create_task(self._hear())

    async def _hear(self) -> None:
        try:
            while data := await self.reader.read(1000):
                self.heard += data
        except OSError:
            return
        finally:
            self.writer.close()

    def say(self, data: bytes) -> None:
        """Send it."""
        self.writer.write(data)

    async def is_closed(self, drip: bytes = b"") -> bool:
        """Whether the other side has ended it; a byte more goes out each time."""
        if drip and not self.writer.is_closing():
            self.say(drip)
        return self._hearing.done()

    async def has(self, words: bytes) -> bool:
        """Whether it has been answered that."""
        return words in self.heard

    def end(self) -> None:
        """Hang up."""
        self._hearing.cancel()


async def connect(node: RunningNode, address: str) -> Dripper:
    """A connection to one of the node's addresses."""
    url = urlsplit(str(getattr(node, address)))
    return Dripper(*await asyncio.open_connection(url.hostname, url.port))


def shown(node: RunningNode, address: str) -> str:
    """The lines of a head by which one of the node's addresses lets it in."""
    headers = credentials(str(getattr(node, address)))
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items())


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deadlines that a test can wait for."""
    monkeypatch.setattr(patience, "HEAD_S", 0.3)
    monkeypatch.setattr(patience, "BODY_S", 0.3)


def test_the_deadlines_are_ten_seconds() -> None:
    assert (patience.HEAD_S, patience.BODY_S) == (10.0, 10.0)


@ADDRESSES
async def test_who_connects_and_says_nothing_is_closed(
    cluster: Cluster, hasty: None, address: str
) -> None:  # P1
    node = await cluster.start("a")
    silent = await connect(node, address)
    await eventually(silent.is_closed, "it is closed")
    assert silent.heard.startswith(b"HTTP/1.1 408 ")


@ADDRESSES
async def test_a_head_that_drips_is_closed_whenever_it_begins(
    cluster: Cluster, hasty: None, address: str
) -> None:  # P1
    node = await cluster.start("a")
    one = await connect(node, address)
    one.say(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
    await eventually(lambda: one.is_closed(b"x"), "it is closed", 0.02)
    other = await connect(node, address)
    other.say(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    await eventually(lambda: other.has(b"ok"), "it is answered")
    other.say(b"GET /livez HTTP/1.1\r\nX-Slow: ")
    await eventually(lambda: other.is_closed(b"x"), "the next head, too", 0.02)
    assert b" 408 " in one.heard
    assert b" 408 " in other.heard


@ADDRESSES
async def test_a_body_that_drips_is_closed_and_is_no_fault(
    cluster: Cluster, hasty: None, address: str, caplog: pytest.LogCaptureFixture
) -> None:  # P2
    node = await cluster.start("a")
    path = "/api/v1/documents" if address == "url" else "/admin/folders"
    slow = await connect(node, address)
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += shown(node, address)
    slow.say(head.encode() + b"Content-Length: 50000\r\n\r\n{")
    await eventually(lambda: slow.is_closed(b" "), "it is closed", 0.02)
    assert slow.heard.startswith(b"HTTP/1.1 408 ")
    assert not [one for one in caplog.records if one.exc_info]


async def test_a_body_that_comes_slowly_but_comes_is_taken(
    cluster: Cluster, hasty: None, monkeypatch: pytest.MonkeyPatch
) -> None:  # P2
    monkeypatch.setattr(patience, "BODY_BYTES_LEAST", 4)
    node = await cluster.start("a")
    slow = await connect(node, "url")
    body = b'{"title": "Plan", "markdown": "' + b"x" * 100 + b'"}'
    head = (
        "POST /api/v1/documents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    )
    slow.say(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body))
    parts = iter(body[at : at + 2] for at in range(0, len(body), 2))

    async def sent() -> bool:
        part = next(parts, b"")
        slow.say(part)
        return not part

    await eventually(sent, "all of it is sent", 0.01)
    await eventually(lambda: slow.has(b"201 Created"), "it is made")
    slow.end()


async def test_who_is_idle_between_requests_and_pages_at_sockets_stay(
    cluster: Cluster, hasty: None, caplog: pytest.LogCaptureFixture
) -> None:  # P3
    node = await cluster.start("a")
    doc = await create(node)
    idle = await connect(node, "url")
    idle.say(b"GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    await eventually(lambda: idle.has(b"ok"), "it is answered")
    gone = await connect(node, "url")
    async with Page(node.url) as page:
        await eventually(gone.is_closed, "the deadline has passed")
        again = await connect(node, "url")
        await eventually(again.is_closed, "and once more")
        assert (await page.open("DocumentOutline", f"doc/{doc}"))["t"] == "snapshot"
    assert not await idle.is_closed()
    idle.say(b"GET /version HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    await eventually(lambda: idle.has(b"0.1.0"), "it goes on")
    idle.end()
    assert (await get(f"{node.url}/livez"))[0] == 200
    assert not [one for one in caplog.records if one.levelname == "ERROR"]


@ADDRESSES
async def test_a_body_that_is_none_is_refused_once_and_is_no_fault(
    cluster: Cluster, address: str, caplog: pytest.LogCaptureFixture
) -> None:  # P4: whoever answers reads it (the first path), or does not
    node = await cluster.start("a")
    for path in ("/api/v1/documents" if address == "url" else "/admin/folders", "/nowhere"):
        one = await connect(node, address)
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        head += shown(node, address)
        one.say(head.encode() + b"Transfer-Encoding: chunked\r\n\r\nno length\r\n")
        await eventually(one.is_closed, "it is closed")
        assert one.heard.count(b"HTTP/1.1 ") == 1
        assert one.heard.startswith(b"HTTP/1.1 400 ")
    assert not [each for each in caplog.records if each.exc_info]


@pytest.mark.parametrize(
    ("header", "status"),
    [(b"X-Odd: a\x1db", b"400"), (b"X-Odd: " + b"x" * 9_000, b"431")],
    ids=["control character", "long"],
)
async def test_a_head_that_only_the_websocket_refuses_is_answered(
    cluster: Cluster, header: bytes, status: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    node = await cluster.start("a")
    one = await connect(node, "url")
    head = b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    key = b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    one.say(head + key + header + b"\r\n\r\n")
    await eventually(one.is_closed, "it is closed")
    assert one.heard.startswith(b"HTTP/1.1 " + status)
    assert not [each for each in caplog.records if each.exc_info]
