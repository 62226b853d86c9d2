"""Changing the cluster's key while the nodes work, on the management address."""

from __future__ import annotations

import asyncio

from starlette.responses import JSONResponse, Response

from groupcore.errors import KeyFileError, KeyRotationError
from server.errors import BadMessageError
from server.node import Node
from server.routes.asks import Ask, Row
from server.routes.deeds import note_first
from server.routes.management import LOCAL

ROTATION_S = 30.0
"""How long a request waits for the end of the rotation, which goes on without it."""


def key_row(node: Node) -> Row:
    """`POST /admin/rotate-key`: all nodes take the newest key of their key files."""
    rotating: set[asyncio.Task[int]] = set()

    async def rotate_key(ask: Ask) -> Response:
        await note_first(node, "key.rotated", "", ask.by, ask.origin)
        work = asyncio.get_running_loop().create_task(node.objects.groups.rotate_key())
        rotating.add(work)
        work.add_done_callback(rotating.discard)
        done, _ = await asyncio.wait([work], timeout=ROTATION_S)
        if not done:
            return JSONResponse({"finished": False}, 202)
        try:
            epoch = work.result()
        except (KeyRotationError, KeyFileError) as error:
            raise BadMessageError("key_kept", str(error)) from None
        return JSONResponse({"finished": True, "key_epoch": epoch})

    text = "Have all nodes take the newest key of their key files"
    return Row("POST", "/admin/rotate-key", rotate_key, LOCAL, text)
