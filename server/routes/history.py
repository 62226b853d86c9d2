"""`GET /admin/log`: the history of groups, from a running node.

The log is read by a program of its own, beside the node, which has a loop to turn meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from groupcore.errors import ChannelClosedError
from server.accounts.roles import ADMIN
from server.errors import BadMessageError
from server.logs import PIECE_BYTES
from server.management.identity import identity_of
from server.node import Node
from server.noticed import LOG
from server.rest import key_flag
from server.settings import Settings

AT_ONCE = 2
"""So many are given at a time: each reads the whole log."""
ABOUT_MAX = 100
"""Of the groups' names in the audit log."""
WORDS_BYTES = 1_000
"""Of what the program says when it fails."""


class History:
    """The handler, on one node."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._under_way = 0

    async def show(self, request: Request) -> Response:
        """JSON lines; what breaks off has not the end that HTTP wants."""
        groups = request.query_params.getlist("group")
        noticed = self._node.noticed
        about, origin = " ".join(groups)[:ABOUT_MAX], identity_of(request).origin
        await noticed.note_first(LOG, ADMIN, about, origin)
        if self._under_way >= AT_ONCE:
            raise BadMessageError("busy", f"{AT_ONCE} are being read; try again")
        self._under_way += 1
        try:
            process = await asyncio.create_subprocess_exec(
                *command(self._node.settings, groups),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            pieces = self._pieces(process)
            first = await anext(pieces, b"")
        except BaseException:
            self._under_way -= 1
            raise
        return StreamingResponse(self._all(first, pieces), media_type="application/x-ndjson")

    async def _all(self, first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        yield first
        async for piece in rest:
            yield piece

    async def _pieces(self, process: asyncio.subprocess.Process) -> AsyncIterator[bytes]:
        """What the program says; BadMessageError with its last words."""
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            process.stdin.write(self._recorded())
            process.stdin.close()
            while piece := await process.stdout.read(PIECE_BYTES):
                yield piece
            words = await process.stderr.read(WORDS_BYTES)
            if await process.wait():
                raise BadMessageError("bad_store", words.decode(errors="replace").strip())
        finally:
            self._under_way -= 1
            if process.returncode is None:
                process.kill()
                await process.wait()

    def _recorded(self) -> bytes:
        """How far this node is with every stream: what it has recorded, a quorum holds."""
        try:
            streams = self._node.objects.groups.service.plane.streams
        except ChannelClosedError:  # it has not joined, and has recorded nothing
            return b"[]"
        reached = [[*address, stream.recorded] for address, stream in streams.items()]
        return json.dumps(reached).encode()


def command(settings: Settings, groups: list[str]) -> list[str]:
    """The program that reads."""
    asked = [word for group in groups for word in ("--group", group)]
    program = [sys.executable, "-m", "server", "dump-log", str(settings.data), "--recorded"]
    return [*program, *key_flag(settings.data_key_file), *asked]
