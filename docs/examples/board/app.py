"""A board that several pages share: a counter, a text, a light switch, and who is here.

    NODE_ID=a uvicorn --app-dir docs/examples/board app:app --port 8101
    NODE_ID=b uvicorn --app-dir docs/examples/board app:app --port 8102

With NODES a page knows where to go when its node is gone.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from groupcore.aio import Node
from groupcore.shared import SharedObject, operation
from groupcore.shared.types import Counter, Presence, Text
from groupcore.web import SharedObjects

FOLDER = Path(__file__).parent
CLIENT = FOLDER.parents[2] / "webui" / "dist" / "client"  # made by `make setup`
NODES = os.environ.get("NODES", "http://127.0.0.1:8101 http://127.0.0.1:8102").split()
MULTICAST = os.environ.get("MULTICAST", "228.8.8.8:45588")


class Light(SharedObject):
    on: bool = False

    @operation
    def switch(self) -> bool:
        self.on = not self.on
        return self.on


node = Node("board", node_id=os.environ.get("NODE_ID", "a"), multicast=MULTICAST)
objects = SharedObjects(node, [Counter, Light, Presence[str], Text], origins=NODES)


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with node:
        yield
        await objects.close()


async def page(request: Request) -> FileResponse:
    return FileResponse(FOLDER / "board.html")


async def nodes(request: Request) -> JSONResponse:
    here = str(request.base_url).rstrip("/")
    return JSONResponse([here, *(one for one in NODES if one != here)])


routes = [
    Route("/", page),
    Route("/nodes", nodes),
    Mount("/objects", objects),
    Mount("/client", StaticFiles(directory=CLIENT)),
]
app = Starlette(routes=routes, lifespan=lifespan)
