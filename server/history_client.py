"""The history of a running node over HTTP: `dump-log --admin`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import aiohttp

from server.errors import ServerError
from server.logs import HISTORY, PIECE_BYTES
from server.management.finding import Way
from server.management_client import management_session


async def copy_history(way: Way, groups: Sequence[str]) -> None:
    """A running node's history to the standard output; ServerError where it breaks off."""
    params = [("group", one) for one in groups]
    no_limit = aiohttp.ClientTimeout(total=None, sock_connect=10)
    where = way.text
    try:
        async with (
            management_session(way, no_limit) as http,
            http.get(f"{way.url}{HISTORY}", params=params) as answer,
        ):
            if answer.status != 200:
                raise ServerError(f"{where} does not give its history: {await answer.text()}")
            async for piece in answer.content.iter_chunked(PIECE_BYTES):
                sys.stdout.buffer.write(piece)
            sys.stdout.flush()
    except (aiohttp.ClientError, TimeoutError, ValueError) as error:
        raise ServerError(
            f"{where} has not given its whole history: {error}; see --admin"
        ) from None
