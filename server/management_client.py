"""A node's management address, as commands ask it."""

from __future__ import annotations

import argparse
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path

import aiohttp

from server.errors import ServerError
from server.management.finding import Shown as Credentials
from server.management.finding import Way, way_to

LIMIT_S = 30.0
PATH_MAX = 107
"""Bytes of a Unix socket's path that the kernel takes."""
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
    folder: int | None = None
    connector: aiohttp.BaseConnector
    if way.socket is not None:
        path = way.socket
        if len(os.fsencode(path)) > PATH_MAX and path.parent.is_dir():
            folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
            path = Path(f"/proc/self/fd/{folder}", path.name)
        connector = aiohttp.UnixConnector(str(path))
    else:
        connector = aiohttp.TCPConnector(ssl=way.tls or True)
    try:
        async with aiohttp.ClientSession(
            base, connector=connector, timeout=timeout, headers=way.headers
        ) as http:
            yield http
    finally:
        if folder is not None:
            os.close(folder)


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
