"""Badges: who a page is by the ticket of its hello, and what happens when that is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import aiohttp
import pytest
import uvicorn
from msgpack import packb, unpackb
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.websockets import WebSocket

from groupcore.gateway.asking import TICKET_MAX
from groupcore.shared.types import Counter, Presence
from groupcore.web import Badge, SharedObjects
from tests.groupcore.aio.cluster import LIMIT_S
from tests.groupcore.aio.test_objects import Cluster, until
from tests.groupcore.web.test_application import Served, close_code, heard

pytestmark = pytest.mark.slow


class Door:
    """Lets in who shows one of the tickets, and knows what each may open."""

    def __init__(self) -> None:
        self.tickets = {"t-ann": Badge("ann", "1"), "t-ann2": Badge("ann", "2")}
        self.tickets["t-long"] = Badge("x" * 300)
        self.closed: set[tuple[str, str]] = set()
        self.is_broken = False

    async def hello(self, websocket: WebSocket, ticket: str) -> Badge | None:
        assert websocket.headers
        if ticket == "t-broken":
            raise RuntimeError("the door is broken")
        return self.tickets.get(ticket)

    def may_open(self, principal: str, kind: str, name: str) -> bool:
        if self.is_broken:
            raise RuntimeError("the door is broken")
        return bool(kind) and (principal, name) not in self.closed


@pytest.fixture
def door() -> Door:
    return Door()


@pytest.fixture
async def served(door: Door) -> AsyncIterator[Served]:
    cluster = Cluster()
    (node,) = await cluster.start("a")
    types: dict[str, type[object]] = {"Counter": Counter, "Presence": Presence[str]}
    objects = SharedObjects(
        node, types, authenticate_hello=door.hello, may_open=door.may_open, linger_s=60
    )
    app = Starlette(routes=[Mount("/objects", objects)])
    config = uvicorn.Config(app, port=0, log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    async with aiohttp.ClientSession() as http:
        yield Served(objects, port, http)
    await objects.close()
    server.should_exit = True
    await serving
    await node.close()


def hello(ticket: object = None, client: str = "c" * 16) -> bytes:
    message: dict[str, object] = {"t": "hello", "v": 1, "client": client}
    if ticket is not None:
        message["ticket"] = ticket
    packed: bytes = packb([message])
    return packed


async def test_the_ticket_says_who_the_page_is(served: Served) -> None:
    async with served.socket() as socket:
        await socket.send_bytes(hello("t-ann"))
        assert (await heard(socket, "welcome"))["principal"] == "ann"


@pytest.mark.parametrize(
    ("ticket", "code"),
    [
        (None, 4401),
        ("", 4401),
        ("t-eve", 4401),
        ("t-ann ", 4401),
        ("t-long", 4401),
        ("t-broken", 4401),
        ("x" * (TICKET_MAX + 1), 1008),
        (7, 1008),
        (["t-ann"], 1008),
    ],
)
async def test_without_a_good_ticket_nothing_is_told(
    served: Served, ticket: object, code: int
) -> None:
    async with served.socket() as socket:
        opening = packb([{"t": "open", "name": "clicks", "type": "Counter"}])
        await socket.send_bytes(hello(ticket))
        await socket.send_bytes(opening)
        async with asyncio.timeout(5):
            answer = await socket.receive()
        assert answer.type is aiohttp.WSMsgType.CLOSE
        assert socket.close_code == code
    assert not served.objects.gateway.pages


async def test_who_is_dismissed_is_out_at_once_and_others_stay(served: Served) -> None:
    async with served.socket() as one, served.socket() as other:
        await one.send_bytes(hello("t-ann", "1" * 16))
        await other.send_bytes(hello("t-ann2", "2" * 16))
        await heard(one, "welcome")
        await heard(other, "welcome")
        out = served.objects.dismiss(lambda badge: badge.key == "1", 4403, "signed out")
        assert out == 1
        assert await close_code(one) == 4403
        assert list(served.objects.gateway.pages) == ["2" * 16]
        await other.send_bytes(packb([{"t": "open", "name": "clicks", "type": "Counter"}]))
        await heard(other, "snapshot")


async def test_a_page_that_waits_for_its_return_is_dismissed_too(served: Served) -> None:
    async with served.socket() as socket:
        await socket.send_bytes(hello("t-ann"))
        await heard(socket, "welcome")
    await until(lambda: bool(served.objects.gateway.lingering))
    assert served.objects.dismiss(lambda badge: badge.principal == "ann", 4403, "") == 1
    async with served.socket() as socket:
        await socket.send_bytes(hello("t-ann"))
        assert (await heard(socket, "welcome"))["resumed"] is False


async def test_what_may_not_be_open_any_more_is_let_go(served: Served, door: Door) -> None:
    async with served.socket() as socket:
        await socket.send_bytes(hello("t-ann"))
        for name, kind in (("clicks", "Counter"), ("here", "Presence"), ("more", "Counter")):
            await socket.send_bytes(packb([{"t": "open", "name": name, "type": kind}]))
        await heard(socket, "welcome")
        page = served.objects.gateway.pages["c" * 16]
        await until(lambda: len(page.opened) == 3)
        door.closed |= {("ann", "clicks"), ("ann", "here")}
        served.objects.recheck()
        refused: set[object] = set()
        async with asyncio.timeout(LIMIT_S):
            while len(refused) < 2:
                told = unpackb(await socket.receive_bytes())
                refused |= {(one["name"], one["code"]) for one in told if one["t"] == "error"}
        assert refused == {("clicks", "forbidden"), ("here", "forbidden")}
        assert list(page.opened) == ["more"]


async def test_what_goes_wrong_in_who_may_open_counts_as_no(served: Served, door: Door) -> None:
    async with served.socket() as socket:
        await socket.send_bytes(hello("t-ann"))
        await heard(socket, "welcome")
        await socket.send_bytes(packb([{"t": "open", "name": "clicks", "type": "Counter"}]))
        await heard(socket, "snapshot")
        door.is_broken = True
        served.objects.recheck()
        assert (await heard(socket, "error"))["code"] == "forbidden"
        await socket.send_bytes(packb([{"t": "open", "name": "clicks", "type": "Counter"}]))
        assert (await heard(socket, "error"))["code"] == "forbidden"
