"""What an operator does at the management address, in the audit log before it is done."""

from __future__ import annotations

import asyncio
import logging

from groupcore.errors import GroupcoreError
from server.accounts.roles import ADMIN
from server.errors import BadMessageError
from server.management.identity import MANAGEMENT
from server.node import Node
from server.routes.done import done

FAILED_S = 5.0
"""So long the entry about a failure is tried."""

logger = logging.getLogger("server")

NOTED_S = 5.0
"""So long who is at the machine waits for the log, which a cluster that has no quorum cannot write:
also a node that is cut off may be told to leave."""


async def note_first(
    node: Node, what: str, about: str, by: str = ADMIN, origin: str = MANAGEMENT
) -> None:
    """It is in the audit log, on the disks of a quorum.

    Where the cluster takes no entry, who is at the machine goes on, and this node's own log says
    so; to anybody else BadMessageError `not_ready`, `not_primary`.
    """
    if by != ADMIN:
        await done(node, node.files.accounts.note(by, what, about, origin))
        return
    try:
        work = node.files.accounts.note(by, what, about, origin)
        if not node.primary:
            raise BadMessageError("not_primary", "this node is apart from the others")
        async with asyncio.timeout(NOTED_S):
            await done(node, work)
    except (BadMessageError, GroupcoreError, TimeoutError):
        logger.warning("%s (%s) goes on, and is not in the audit log yet", what, about or "-")


class Deed:
    """Something that takes a while: an entry before it, `<what>.begun`, one for what came of it.

    The second is `<what>.<end>` only once it is done, else `<what>.failed` with the kind of error.
    """

    def __init__(self, node: Node, what: str, about: str, by: str, origin: str) -> None:
        self._node, self._what, self._about = node, what, about
        self._by, self._origin = by, origin

    async def begin(self) -> None:
        """As `note_first`."""
        await note_first(self._node, f"{self._what}.begun", self._about, self._by, self._origin)

    async def end(self, word: str, about: str = "") -> None:
        """It is done. A cluster that takes no entry now costs the entry, not the deed."""
        what = f"{self._what}.{word}"
        try:
            async with asyncio.timeout(FAILED_S):
                note = self._node.files.accounts.note
                await note(self._by, what, about or self._about, self._origin)
        except (BadMessageError, GroupcoreError, TimeoutError):
            logger.warning("%s (%s) is not in the audit log", what, self._about or "-")

    async def fail(self, error: BaseException) -> None:
        """It was not done. Whoever waits for it may be gone: the entry is made all the same."""
        code = getattr(error, "code", type(error).__name__)
        about = f"{self._about} ({code})".strip()
        ending = asyncio.ensure_future(self.end("failed", about))
        await asyncio.shield(ending)
