"""Shared objects embedded and mounted in a FastAPI application, as docs/shared say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import aiohttp
import pytest
import uvicorn
from fastapi import Depends, FastAPI
from msgpack import packb
from starlette.requests import HTTPConnection
from starlette.websockets import WebSocket

from groupcore.aio import Node
from groupcore.gateway.limits import PROTOCOL
from groupcore.shared.types import Counter
from groupcore.web import SharedObjects
from groupcore.web.fanout import FanoutProtocol
from tests.groupcore.aio.cluster import KEY, free_port
from tests.groupcore.aio.test_objects import until
from tests.groupcore.web.test_application import HELLO, OPEN, heard

pytestmark = pytest.mark.slow


def who_asks(websocket: WebSocket) -> str | None:
    return websocket.query_params.get("user")


def clicks_of(connection: HTTPConnection) -> Counter:
    """What routes are given of the shared objects."""
    found = connection.app.state.clicks
    assert isinstance(found, Counter)
    return found


Clicks = Annotated[Counter, Depends(clicks_of)]


def application() -> FastAPI:
    """A node that lives as long as the application, routes that use it, and pages beside them."""
    node = Node("fastapi", node_id="a", multicast=f"228.8.8.8:{free_port()}", key=KEY)
    objects = SharedObjects(node, [Counter], authenticate=who_asks)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with node:
            app.state.clicks = await node.open(Counter, "clicks")
            yield
            await objects.close()

    app = FastAPI(lifespan=lifespan)

    async def click(clicks: Clicks) -> dict[str, int]:
        return {"sum": await clicks.add()}

    async def look(clicks: Clicks) -> dict[str, int]:
        return {"value": clicks.value}

    app.add_api_route("/clicks", click, methods=["POST"])
    app.add_api_route("/clicks", look)
    app.mount("/objects", objects)
    return app


@pytest.mark.parametrize("way", [FanoutProtocol, "websockets-sansio"], ids=["fanout", "queue"])
async def test_routes_and_pages_of_a_fastapi_application_share_an_object(
    way: type[asyncio.Protocol] | str,
) -> None:
    config = uvicorn.Config(application(), port=0, ws=way, log_level="warning", lifespan="on")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started or serving.done())
    url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    async with aiohttp.ClientSession() as http:
        async with http.post(f"{url}/clicks") as answer:
            assert (answer.status, await answer.json()) == (200, {"sum": 1})
        page = f"{url}/objects/?user=ann"
        async with http.ws_connect(page, protocols=[PROTOCOL]) as socket:
            await socket.send_bytes(HELLO)
            assert (await heard(socket, "welcome"))["principal"] == "ann"
            await socket.send_bytes(OPEN)
            assert (await heard(socket, "snapshot"))["state"] == {"value": 1}
            call = {"t": "call", "name": "clicks", "n": 1, "answered": 0, "calls": [["add", [4]]]}
            await socket.send_bytes(packb([call]))
            assert (await heard(socket, "result"))["results"] == [5]
        async with http.get(f"{url}/clicks") as answer:
            assert (answer.status, await answer.json()) == (200, {"value": 5})
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await http.ws_connect(f"{url}/objects/", protocols=[PROTOCOL])
    server.should_exit = True
    await serving
