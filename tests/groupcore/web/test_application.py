"""The gateway behind a real socket: a Starlette application, uvicorn, and a WebSocket client."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
import uvicorn
from msgpack import packb, unpackb
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.websockets import WebSocket

from groupcore.gateway.limits import FRAME_BYTES_MAX, PROTOCOL
from groupcore.shared.types import Counter, Map
from groupcore.web import SharedObjects
from groupcore.web.fanout import FanoutHandle, FanoutProtocol
from tests.groupcore.aio.cluster import LIMIT_S
from tests.groupcore.aio.pages import programs, set_apart
from tests.groupcore.aio.test_objects import Cluster, until

pytestmark = pytest.mark.slow

HELLO = packb([{"t": "hello", "v": 1, "client": "c" * 16}])
OPEN = packb([{"t": "open", "name": "clicks", "type": "Counter"}])


def who_asks(websocket: WebSocket) -> str | None:
    return websocket.query_params.get("user")


class Served:
    """An application on a port, and what connects to it."""

    way = "fanout"

    def __init__(self, objects: SharedObjects, port: int, http: aiohttp.ClientSession) -> None:
        self.objects = objects
        self.url = f"http://127.0.0.1:{port}/objects/?user=ann"
        self.http = http

    @asynccontextmanager
    async def socket(self, **headers: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        async with self.http.ws_connect(self.url, protocols=[PROTOCOL], headers=headers) as socket:
            yield socket


WAYS: dict[str, str | type[asyncio.Protocol]] = {
    "fanout": FanoutProtocol,
    "queue": "websockets-sansio",
}
both_ways = pytest.mark.parametrize("served", WAYS, indirect=True)
"""With frames straight to the transports, and through the ordinary ASGI calls."""


@pytest.fixture
async def served(request: pytest.FixtureRequest) -> AsyncIterator[Served]:
    cluster = Cluster()
    (node,) = await cluster.start("a")
    objects = SharedObjects(
        node,
        {"Counter": Counter, "Map": Map[str, str]},
        authenticate=who_asks,
        origins=["https://friend.example"],
        heartbeat_s=0.3,
        subprotocols=["example.v1", PROTOCOL],
        sessions_max=3,
    )
    app = Starlette(routes=[Mount("/objects", objects)])
    way = WAYS[getattr(request, "param", "fanout")]
    config = uvicorn.Config(app, port=0, ws=way, log_level="warning", lifespan="off")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    async with aiohttp.ClientSession() as http:
        made = Served(objects, port, http)
        made.way = getattr(request, "param", "fanout")
        yield made
    await objects.close()
    server.should_exit = True
    await serving
    await node.close()


async def heard(socket: aiohttp.ClientWebSocketResponse, kind: str) -> dict[str, object]:
    """The next message of a kind."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            for message in unpackb(await socket.receive_bytes()):
                if message["t"] == kind:
                    found: dict[str, object] = message
                    return found


async def close_code(socket: aiohttp.ClientWebSocketResponse) -> int | None:
    async with asyncio.timeout(LIMIT_S):
        while (await socket.receive()).type is aiohttp.WSMsgType.BINARY:
            pass
    return socket.close_code


@both_ways
async def test_a_page_works_with_an_object(served: Served) -> None:
    async with served.socket() as socket:
        await socket.send_bytes(HELLO)
        welcome = await heard(socket, "welcome")
        assert (welcome["principal"], welcome["node"]) == ("ann", "a")
        await socket.send_bytes(OPEN)
        assert (await heard(socket, "snapshot"))["state"] == {"value": 0}
        call = {"t": "call", "name": "clicks", "n": 1, "answered": 0, "calls": [["add", []]]}
        await socket.send_bytes(packb([call]))
        assert (await heard(socket, "result"))["results"] == [1]
        await heard(socket, "ping")


@both_ways
async def test_a_page_that_reads_nothing_holds_nobody_up_and_catches_up(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groupcore.gateway.feed.HISTORY_BYTES_MAX", 20_000)
    gateway = served.objects.gateway
    open_map = packb([{"t": "open", "name": "m", "type": "Map"}])
    async with served.socket() as ann, served.socket() as slow:
        for number, socket in enumerate((ann, slow)):
            hello = {"t": "hello", "v": 1, "client": str(number) * 16}
            await socket.send_bytes(packb([hello]))
            await socket.send_bytes(open_map)
            await heard(socket, "snapshot")
        writer = gateway.pages["1" * 16]._writer
        assert isinstance(writer, FanoutHandle) == (served.way == "fanout")
        slow._conn.transport.pause_reading()  # type: ignore[union-attr]
        for number in range(1, 400):
            call = ["set", [f"k{number % 10}", f"{number}" + "x" * 30_000]]
            said = {"t": "call", "name": "m", "n": number, "answered": number - 1, "calls": [call]}
            await ann.send_bytes(packb([said]))
            await heard(ann, "result")
            await slow.send_bytes(packb([{"t": "pong"}]))
            if gateway.figures.fell_behind:
                break
        assert gateway.figures.fell_behind == 1
        slow._conn.transport.resume_reading()  # type: ignore[union-attr]
        state = await heard(slow, "snapshot")
        assert any(value.startswith(f"{number}x") for _, value in state["state"])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b"", 1008),
        (b"\xc1", 1008),
        (packb({"t": "hello"}), 1008),
        (packb([]), 1008),
        (packb([1]), 1008),
        (packb([{"t": "hello", "v": 1, "client": "c" * 16, "x": float("nan")}]), 1008),
        (HELLO + b"x", 1008),
        (packb([{"t": "hello", "v": 1, "client": "\x00" * 16}]), 1008),
        (packb([{"t": "hello", "v": 2**60, "client": "c" * 16}]), 1008),
        (packb([{"t": "hello", "v": 9, "client": "c" * 16}]), 4426),
        (b"\x91" + packb({"t": "x", "v": b"y" * FRAME_BYTES_MAX}), 1009),
    ],
)
async def test_a_frame_that_is_none_closes_the_connection(
    served: Served, frame: bytes, code: int
) -> None:
    async with served.socket() as socket:
        await socket.send_bytes(frame)
        assert await close_code(socket) == code
    assert served.objects.figures.cut[code] == 1


@both_ways
async def test_a_page_that_is_silent_is_closed(served: Served) -> None:
    async with served.socket() as socket:
        await socket.send_bytes(HELLO)
        assert await close_code(socket) == 4003


@both_ways
async def test_text_frames_are_refused(served: Served) -> None:
    async with served.socket() as socket:
        await socket.send_str("hello")
        assert await close_code(socket) == 1008


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("https://friend.example", True),
        ("https://evil.example", False),
        ("null", False),
    ],
)
async def test_only_pages_of_allowed_origins_connect(
    served: Served, origin: str, allowed: bool
) -> None:
    if allowed:
        async with served.socket(Origin=origin) as socket:
            await socket.send_bytes(HELLO)
            await heard(socket, "welcome")
        return
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        async with served.socket(Origin=origin):
            pass
    assert refused.value.status == 403


async def test_who_is_not_known_is_refused(served: Served) -> None:
    served.url = served.url.partition("?")[0]
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        async with served.socket():
            pass
    assert refused.value.status == 401


async def test_another_protocol_and_plain_http_are_refused(served: Served) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        async with served.http.ws_connect(served.url, protocols=["other"]):
            pass
    assert refused.value.status == 426
    assert refused.value.headers is not None
    assert refused.value.headers["Sec-WebSocket-Protocol"] == f"example.v1, {PROTOCOL}"
    async with served.http.get(served.url) as answer:
        assert (answer.status, (await answer.json())["code"]) == (426, "no_websocket")


async def test_the_protocol_may_have_another_name(served: Served) -> None:
    names = ["other", "example.v1"]
    async with served.http.ws_connect(served.url, protocols=names) as socket:
        assert socket.protocol == "example.v1"
        await socket.send_bytes(HELLO)
        await heard(socket, "welcome")


async def refusal(served: Served) -> dict[str, object]:
    """What is answered to who wants to connect, and may not now."""
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    headers |= {"Sec-WebSocket-Key": "c" * 22 + "==", "Sec-WebSocket-Protocol": PROTOCOL}
    async with served.http.get(served.url, headers=headers) as answer:
        found: dict[str, object] = await answer.json(content_type="application/problem+json")
        assert answer.headers["Retry-After"] == "1"
        return {**found, "http": answer.status}


async def test_more_sessions_than_allowed_are_refused(served: Served) -> None:
    async with served.socket(), served.socket(), served.socket():
        assert served.objects.figures.connections == 3
        found = await refusal(served)
        assert (found["http"], found["code"]) == (503, "busy")
    await until(lambda: served.objects.figures.connections == 0)
    async with served.socket():
        pass


@both_ways
async def test_a_node_that_drains_lets_nobody_in_and_sends_all_away(served: Served) -> None:
    async with served.socket() as socket:
        await socket.send_bytes(HELLO)
        await heard(socket, "welcome")
        served.objects.draining = True
        assert (await refusal(served))["status"] == 503
        await served.objects.send_away()
        assert await close_code(socket) == 4001
    assert served.objects.figures.refused["busy"] == 1


async def test_the_application_of_the_page_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    set_apart(monkeypatch)
    app = programs("shared/web.md")["In a Starlette application"].run()["app"]
    async with app.router.lifespan_context(app):
        (mount,) = app.routes
        assert isinstance(mount.app, SharedObjects)
        assert mount.app.gateway.node.node_id == "web-1"
        assert sorted(mount.app.gateway.kinds) == ["Counter", "Presence", "Text"]


def test_without_starlette_the_error_names_the_command() -> None:
    program = (
        "import sys; sys.modules['starlette'] = None\n"
        "try:\n import groupcore.web\n"
        "except ImportError as error:\n print(type(error).__name__, error)"
    )
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT_S)
    assert ran.stdout.startswith("MissingPackageError")
    assert 'pip install "groupcore[web]"' in ran.stdout
