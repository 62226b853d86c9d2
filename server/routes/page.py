"""The page: static files of the build, and its index for every address that the page knows."""

from __future__ import annotations

import os
import re
from http import HTTPStatus
from pathlib import Path

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

from server.routes.packed import packing_of
from server.routes.problems import on_http_error

PEOPLE = ("/sign-in", "/welcome", "/join", "/share", "/account", "/people", "/accounts")
"""Where the page asks who one is; what is secret in these addresses stands behind the #."""
CONSOLE = (
    *("/admin", "/admin/groups", "/admin/migrations", "/admin/nodes", "/admin/plans"),
    *(
        "/admin/sessions",
        "/admin/order",
        "/admin/operations",
        "/admin/overlap",
        "/admin/order/{violation}",
        "/admin/overlap/{group}",
        "/admin/groups/{group}",
        "/admin/nodes/{node}",
        "/admin/plans/{plan}",
    ),
)
"""Where who runs the cluster looks; on the management address these are programs' own."""
FILES = (
    *("/recent", "/favourites", "/shared", "/trash"),
    *("/workspace/{workspace}", "/folder/{folder}"),
)
"""Parts of the list of files."""
WORKER = "/worker.js"
"""The service worker: at the top, as it may serve what lies below its address."""
NOT_BUILT = "The page is not built. Run `make setup`, or give its folder by --page.\n"
PACKINGS = {"br": ".br", "gzip": ".gz"}
"""What the build lays beside a file that is worth packing, the smallest first."""
HASHED = re.compile(r"-[\w-]{8}\.\w+$")
"""The name of a file whose name changes with its content."""
FOR_EVER = "public, max-age=31536000, immutable"
FRESH = "no-cache"
"""Kept, but asked for each time whether it is still the same."""
PROGRAMS = ("/api/", "/assets/")
"""Addresses of programs: what is not there is told to them, not shown to a person."""


class BuiltFiles(StaticFiles):
    """The files of a build, as the build has packed them for who can read that."""

    def file_response(
        self,
        full_path: str | os.PathLike[str],
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        """One file, with how long it may be kept; whole also when a part is asked for packed."""
        asked, name = Headers(scope=scope), os.fspath(full_path)
        laid = {one: name + end for one, end in PACKINGS.items() if os.path.isfile(name + end)}
        kept = FOR_EVER if HASHED.search(name) else FRESH
        headers = {"Cache-Control": kept, "Vary": "Accept-Encoding"}
        file = FileResponse(name, status_code, headers, stat_result=stat_result)
        if packing := packing_of(asked, tuple(laid)):
            headers |= {"Content-Encoding": packing, "Content-Type": file.headers["content-type"]}
            path = laid[packing]
            file = FileResponse(path, status_code, headers, stat_result=os.stat(path))
        if status_code == HTTPStatus.OK and self.is_not_modified(file.headers, asked):
            return NotModifiedResponse(file.headers)
        return file


class Page:
    """The folder of the build."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = BuiltFiles(directory=folder, check_dir=False)

    def routes(self) -> list[BaseRoute]:
        """`/`, `/doc/{id}`, `/p/{id}`, those of PEOPLE, CONSOLE, FILES, and `/assets`."""
        assets = BuiltFiles(directory=self._folder / "assets", check_dir=False)
        return [
            Route("/", self.index),
            Route("/doc/{doc}", self.index),
            Route("/p/{doc}", self.index),
            *[Route(path, self.index) for path in (*PEOPLE, *CONSOLE, *FILES)],
            Route("/favicon.ico", self.icon),
            Route("/favicon.svg", self.icon),
            Route(WORKER, self.worker),
            Mount("/assets", assets),
        ]

    async def index(self, request: Request) -> Response:
        """What every address of the page begins with."""
        if not (self._folder / "index.html").is_file():
            return PlainTextResponse(NOT_BUILT, 503)
        return await self._files.get_response("index.html", request.scope)

    async def worker(self, request: Request) -> Response:
        """What keeps the page in the browser; asked for anew each time, as its name stays."""
        return await self._files.get_response(WORKER.removeprefix("/"), request.scope)

    async def icon(self, request: Request) -> Response:
        """For browsers that ask for one without being told where it is."""
        if not (self._folder / "favicon.svg").is_file():
            return Response(status_code=204)
        return await self._files.get_response("favicon.svg", request.scope)

    async def on_http_error(self, request: Request, error: Exception) -> Response:
        """What routing refuses. A person who comes to an unknown address is shown the page, which
        says so; a program is told.
        """
        assert isinstance(error, HTTPException)
        reads = "text/html" in request.headers.get("accept", "")
        path, index = request.url.path, self._folder / "index.html"
        if (
            error.status_code != HTTPStatus.NOT_FOUND
            or request.method not in ("GET", "HEAD")
            or not reads
            or path.startswith(PROGRAMS)
            or not index.is_file()
        ):
            return await on_http_error(request, error)
        shown = self._files.file_response(index, index.stat(), request.scope, 404)
        shown.headers.add_vary_header("Accept")
        return shown
