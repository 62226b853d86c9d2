"""Erases documents that were deleted for good from one node's files, and says so to the others.

Idea. The groups of a deleted document leave the node's log by themselves (decision 0171). What else
has told of it are the groups that every node has open: the list of documents has had its title.
These are renewed: the log keeps states of them in the place of what was sent there before. When
that is on the disk, and whatever else holds something of documents at this node (`Holder`: its
pictures, its backups) has let go of it, the node says that it has erased them.

Not erased here: folders that were moved away (`left-1`, `damaged-1`), exports, copies of backups.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

from groupcore.aio.group_node import GroupNode
from groupcore.errors import GroupcoreError
from groupcore.sequencing.service import Service
from server.accounts.accounts import NAME as ACCOUNTS
from server.documents.catalogue import NAME as DOCUMENTS
from server.files.activity import NAME as ACTIVITY
from server.files.erasures import Erasures
from server.files.wiping import document_of
from server.pictures.register import NAME as PICTURES

logger = logging.getLogger("server")

LOOK_S = 1.0
TOLD_OF_BY = (ACCOUNTS, ACTIVITY, DOCUMENTS, PICTURES)
"""The groups that have told of documents beside their own."""
AT_ONCE = 500
"""So many documents are said to be erased in one message."""


class Holder(Protocol):
    """What holds something of documents at this node, beside its log."""

    async def erase(self, documents: Sequence[str]) -> bool:
        """Let go of what there is of these; whether nothing is left. OSError."""


class Eraser:
    """At the node `me`. `holders` are asked in turn."""

    def __init__(
        self, me: str, groups: GroupNode, erasures: Erasures, holders: Sequence[Holder]
    ) -> None:
        self._me = me
        self._groups = groups
        self._erasures = erasures
        self._holders = holders
        self._under_way: list[str] = []
        self._number = 0
        self._life: Service | None = None
        self._let_go = False

    async def run(self) -> None:
        """Look every second, as long as the node lives."""
        while True:
            await asyncio.sleep(LOOK_S)
            try:
                await self.look()
            except GroupcoreError as error:
                logger.debug("nothing is erased now: %s", error)
            except OSError as error:
                logger.warning("what was deleted for good cannot be erased yet: %s", error)

    async def look(self) -> None:
        """Begin with what is to be erased, or go on with what was begun. GroupcoreError, OSError:
        it is tried again."""
        service = self._groups.service
        if service is not self._life:
            await self._also()
            self._life, self._under_way = service, []
        if self._under_way:
            await self._go_on()
        else:
            self._begin()

    async def _also(self) -> None:
        """This life may have taken its state from a node that had not erased everything yet."""
        if any(self._me not in nodes for nodes in self._erasures.awaited.values()):
            await self._erasures.also(self._me)

    def _begin(self) -> None:
        """Have the log let go of all that this node has heard to be deleted."""
        self._under_way = []
        there = {document_of(name) for name in self._groups.names}
        todo = [doc for doc in self._erasures.of(self._me) if doc not in there]
        if not todo:
            return
        names = self._groups.names
        known = [names[name] for name in TOLD_OF_BY if name in names]
        self._number = self._groups.renew(known)
        self._under_way, self._let_go = todo, False

    async def _go_on(self) -> None:
        if not self._let_go:
            for holder in self._holders:
                if not await holder.erase(self._under_way):
                    return
            self._let_go = True
        if not self._groups.has_erased(self._number):
            return
        done, self._under_way = self._under_way, []
        for start in range(0, len(done), AT_ONCE):
            await self._erasures.erased(self._me, done[start : start + AT_ONCE])
        self._begin()
