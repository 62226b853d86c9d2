"""A node's management address, as commands ask it."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from io import BytesIO
from typing import BinaryIO

import aiohttp

from server.errors import ServerError
from server.management.finding import Shown as Credentials
from server.management.finding import Way, way_to
from server.management.local import short

LIMIT_S = 30.0
SILENCE_S = 120.0
Shown = dict[str, object]


def way_of(given: argparse.Namespace) -> Way:
    """The way that a command line says (`server.command_line.add_admin`); SettingsProblem."""
    return way_to(given.admin, credentials_of(given))


def credentials_of(given: argparse.Namespace) -> Credentials:
    """What it says is to be shown."""
    return Credentials(given.token_file, given.ca, given.cert, given.cert_key)


@asynccontextmanager
async def management_session(
    way: Way, limit: aiohttp.ClientTimeout | None = None, base: str | None = None
) -> AsyncIterator[aiohttp.ClientSession]:
    """A session that shows what the way has, for addresses below its `url`; `base`: for those that
    are said in part.
    """
    timeout = limit or aiohttp.ClientTimeout(total=LIMIT_S)
    with _connector(way) as connector:
        async with aiohttp.ClientSession(
            base, connector=connector, timeout=timeout, headers=way.headers
        ) as http:
            yield http


@contextmanager
def _connector(way: Way) -> Iterator[aiohttp.BaseConnector]:
    """What connects; ServerError where the folder of the socket is not there."""
    if way.socket is None:
        yield aiohttp.TCPConnector(ssl=way.tls or True)
        return
    with ExitStack() as stack:
        try:
            path = stack.enter_context(short(way.socket))
        except OSError as error:
            raise ServerError(f"no node is at {way.text}: {error.strerror}; see --admin") from None
        yield aiohttp.UnixConnector(path)


class ManagementClient:
    """Asks one node; `absent` is what to say where it knows no such address."""

    def __init__(self, http: aiohttp.ClientSession, way: Way, absent: str) -> None:
        self._http = http
        self._way = way
        self._absent = absent

    async def ask(self, method: str, path: str, body: object = None) -> Shown:
        """The answer; `body` is JSON, or bytes as they are.

        ServerError with the node's words when it refuses, or when no node is there.
        """
        url = f"{self._way.url}/admin{path}"
        data, json = (BytesIO(body), None) if isinstance(body, bytes) else (None, body)
        try:
            async with self._http.request(method, url, data=data, json=json) as answer:
                found = {} if answer.status == 204 else await answer.json(content_type=None)
                status = answer.status
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            where = self._way.text
            raise ServerError(f"no node answers at {where}: {error}; see --admin") from None
        if status == 404 and found.get("detail") == "Not Found":
            raise ServerError(self._absent)
        if status >= 400:
            raise ServerError(str(found.get("detail", status)))
        return dict(found)

    async def take(self, path: str, file: BinaryIO) -> int:
        """Write what the node gives into a file; how many bytes. ServerError as of `ask`."""
        url, size = f"{self._way.url}/admin{path}", 0
        timeout = aiohttp.ClientTimeout(total=None, sock_read=SILENCE_S)
        try:
            async with self._http.get(url, timeout=timeout) as answer:
                if answer.status != 200:
                    found = await answer.json(content_type=None)
                    raise ServerError(str(found.get("detail", answer.status)))
                async for part in answer.content.iter_chunked(1 << 18):
                    file.write(part)
                    size += len(part)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ServerError(f"it did not come whole from {self._way.text}: {error}") from None
        return size


@asynccontextmanager
async def managed(given: argparse.Namespace, absent: str) -> AsyncIterator[ManagementClient]:
    """The node that a command line names."""
    async with asked_at(way_of(given), absent) as node:
        yield node


@asynccontextmanager
async def asked_at(way: Way, absent: str) -> AsyncIterator[ManagementClient]:
    """The node at the end of this way."""
    async with management_session(way) as http:
        yield ManagementClient(http, way, absent)
