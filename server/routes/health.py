"""Is the node alive, and may sessions be sent to it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from server import VERSION
from server.node import Node


def health_routes(node: Node) -> list[Route]:
    """`/livez`, `/readyz`, `/healthz` and `/version`; `?verbose` says why."""

    async def live(request: Request) -> Response:
        if "verbose" in request.query_params:
            return JSONResponse({"awaits": node.awaits.shown})
        return PlainTextResponse("ok")

    async def ready(request: Request) -> Response:
        status = 200 if node.ready else 503
        if "verbose" in request.query_params:
            view = None if node.view is None else str(node.view)
            body: dict[str, object] = {"state": node.state, "primary": node.primary, "view": view}
            body["waiting"] = node.waiting
            body["taking"] = node.taking
            return JSONResponse(body, status)
        return PlainTextResponse("ok" if node.ready else str(node.state), status)

    async def version(_: Request) -> Response:
        return JSONResponse({"version": VERSION, "node": node.settings.node_id})

    return [
        Route("/livez", live),
        Route("/healthz", live),
        Route("/readyz", ready),
        Route("/version", version),
    ]
