"""What goes over the wire packed: the page's files, and long answers of the API."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.responses import Response

PACKED_FROM = 1_000
"""Bytes from which packing is worth its time."""
TEXTS = ("application/json", "text/")
"""The media types that become smaller."""
THREAD_FROM = 10_000
"""Bytes from which packing is done beside the loop."""


def packing_of(headers: Headers, offered: Sequence[str]) -> str:
    """The first of the offered packings that who asks can read; empty when there is none."""
    weights: dict[str, bool] = {}
    for part in headers.get("accept-encoding", "").lower().split(","):
        name, _, weight = part.partition(";")
        number = weight.strip().removeprefix("q=").strip()
        weights[name.strip()] = not number or number.strip("0.") != ""
    return next((one for one in offered if weights.get(one, weights.get("*", False))), "")


async def packed(response: Response, headers: Headers) -> Response:
    """The same answer, packed if it is long and whole and who asks can read that."""
    body = getattr(response, "body", b"")
    kind = response.headers.get("content-type", "")
    if len(body) < PACKED_FROM or not kind.startswith(TEXTS):
        return response
    response.headers.add_vary_header("Accept-Encoding")
    if not packing_of(headers, ("gzip",)):
        return response
    if len(body) < THREAD_FROM:
        response.body = gzip.compress(bytes(body), 1, mtime=0)
    else:
        response.body = await asyncio.to_thread(gzip.compress, bytes(body), 1, mtime=0)
    response.headers["Content-Encoding"] = "gzip"
    response.headers["Content-Length"] = str(len(response.body))
    return response
