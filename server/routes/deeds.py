"""What an operator does at the management address, in the audit log before it is done."""

from __future__ import annotations

import asyncio
import logging

from groupcore.errors import GroupcoreError
from server.accounts.roles import ADMIN
from server.errors import BadMessageError
from server.node import Node
from server.routes.done import done
from server.routes.gate import MANAGEMENT

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
