"""The page: static files of the build, and its index for every address that the page knows."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

PEOPLE = ("/sign-in", "/welcome", "/join", "/share", "/account", "/people", "/accounts")
"""Where the page asks who one is; what is secret in these addresses stands behind the #."""
FILES = (
    *("/recent", "/favourites", "/shared", "/trash"),
    *("/workspace/{workspace}", "/folder/{folder}"),
)
"""Parts of the list of files."""
NOT_BUILT = "The page is not built. Run `make setup`, or give its folder by --page.\n"


def page_routes(folder: Path) -> list[BaseRoute]:
    """`/`, `/doc/{id}`, those of PEOPLE and FILES, and `/assets`."""

    async def index(_: Request) -> Response:
        file = folder / "index.html"
        if not file.is_file():
            return PlainTextResponse(NOT_BUILT, 503)
        # The names of the assets change with their content, so only the index must be fresh.
        return FileResponse(file, headers={"Cache-Control": "no-cache"})

    async def icon(_: Request) -> Response:
        file = folder / "favicon.svg"
        return FileResponse(file) if file.is_file() else Response(status_code=204)

    assets = StaticFiles(directory=folder / "assets", check_dir=False)
    return [
        Route("/", index),
        Route("/doc/{doc}", index),
        *[Route(path, index) for path in (*PEOPLE, *FILES)],
        Route("/favicon.ico", icon),
        Route("/favicon.svg", icon),
        Mount("/assets", assets),
    ]
