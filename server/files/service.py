"""Files at one node: what follows from changes of the accounts, the catalogue and the activity.

Idea. The node has all three objects open. Whatever changes in them is told to the pages that
follow the list here (`hub`), and to the documents that are open here (`lists`). What somebody has
to do in the end (empty the trash of what is old, take out the words of what was deleted) the oldest
node does, and any other one if it does not.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import suppress

from groupcore.errors import GroupcoreError
from groupcore.shared import Changed
from groupcore.shared.changes import Change, Replaced
from groupcore.shared.types.map import KeyChanged
from server.accounts.accounts import Accounts
from server.accounts.lists import Lists
from server.accounts.records import FilesChanged, RightsChanged
from server.accounts.roles import USER, user_of
from server.accounts.service import AccountService
from server.documents.catalogue import Catalogue
from server.documents.names import place_of
from server.files.activity import Activity, OwnFilesChanged, Touched
from server.files.hub import Hub
from server.files.open_rules import OpenRules
from server.files.rows import Rows
from server.files.touches import Touches
from server.files.wiping import Wiper
from server.keepers import Keepers

logger = logging.getLogger("server")

SWEEP_S = 1.0
OTHERS_SWEEPS = 5
"""After so many looks the others do what the oldest node should have done."""
STRAGGLERS_SWEEPS = 60
"""Every so many looks the oldest node deletes groups that somebody made of what was deleted."""
ADOPTED_AT_ONCE = 500
"""So many documents from before there were folders are filed in one message."""
AGAIN_S = 60.0
"""Within this time a document that is opened again by the same person is not news."""


class FileService:
    """The files at a node, once its objects are open; `begin` before anything else."""

    def __init__(
        self,
        keepers: Keepers,
        catalogue: Catalogue,
        accounts: Accounts,
        activity: Activity,
        service: AccountService | None,
        wiper: Wiper,
        trash_s: float,
    ) -> None:
        self.accounts = accounts
        self.activity = activity
        self.catalogue = catalogue
        self.hub = Hub()
        self.touches = Touches(activity)
        self._service = service
        self._own_lists = Lists(OpenRules(accounts), keepers) if service is None else None
        self._keepers = keepers
        self._wiper = wiper
        self._trash_s = trash_s
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def lists(self) -> Lists:
        """What keeps the documents' access lists."""
        if self._own_lists is not None:
            return self._own_lists
        assert self._service is not None, "without accounts there are lists of our own"
        return self._service.lists

    def begin(self) -> None:
        """Follow what happens."""
        self.accounts.changes().tap = self._on_accounts
        self.catalogue.changes().tap = self._on_catalogue
        self.activity.changes().tap = self._on_activity
        if self._service is not None:
            self._service.feed = self.hub
        else:
            self._tasks.append(asyncio.create_task(self._begin_open()))
        self._tasks.append(asyncio.create_task(self._sweep()))

    async def close(self) -> None:
        """The node leaves."""
        for task in self._tasks:
            task.cancel()
            await asyncio.wait([task])
        await self.touches.close()
        if self._own_lists is not None:
            await self._own_lists.close()

    def rows(self, principal: str) -> Rows:
        """What this one sees."""
        return Rows(self.accounts, self.catalogue, self.activity, principal)

    # --- what pages do --------------------------------------------------------------------------

    def note_call(self, principal: str, kind: str, name: str) -> None:
        """A page has changed an object."""
        del kind
        place = place_of(name)
        if place is not None and place.doc:
            self.touches.note(place.doc, principal)

    def note_opened(self, principal: str, doc: str) -> None:
        """A page has opened a document."""
        user = user_of(principal)
        known = self.activity.recent.get(user, {})
        is_last = bool(known) and next(reversed(known)) == doc
        if user and not (is_last and self.activity.time_s - known[doc] < AGAIN_S):
            self.activity.opened(user, doc)  # nobody waits for that

    # --- what happens ---------------------------------------------------------------------------

    def _details(self, change: Change) -> Iterator[object]:
        if isinstance(change, Replaced):
            self.hub.changed_all()
        if isinstance(change, Changed):
            yield from change.details

    def _on_accounts(self, change: Change) -> None:
        for detail in self._details(change):
            if isinstance(detail, FilesChanged):
                self.hub.changed(detail.items)
            elif isinstance(detail, RightsChanged):
                if self._own_lists is not None:
                    self._own_lists.changed(detail.documents)
                if detail.documents:
                    self.hub.changed(detail.documents)
                else:
                    self.hub.changed_all()

    def _on_catalogue(self, change: Change) -> None:
        for detail in self._details(change):
            if isinstance(detail, KeyChanged):
                doc = str(detail.key)
                if doc not in self.catalogue:  # its groups will be deleted
                    self._keepers.drop(doc)
                self.hub.changed([doc])

    def _on_activity(self, change: Change) -> None:
        for detail in self._details(change):
            if isinstance(detail, Touched):
                self.hub.changed(detail.documents)
            elif isinstance(detail, OwnFilesChanged):
                self.hub.changed_own(USER + detail.user)

    # --- what has to be done --------------------------------------------------------------------

    async def adopt(self, origin: str) -> int:
        """File all documents that are not filed; gives how many these were."""
        accounts, count = self.accounts, 0
        old = [doc for doc in self.catalogue if doc not in accounts.documents]
        for start in range(0, len(old), ADOPTED_AT_ONCE):
            some = old[start : start + ADOPTED_AT_ONCE]
            count += await accounts.adopt_documents(some, origin)
        return count

    async def _begin_open(self) -> None:
        """Where there are no accounts, all documents are in the first workspace."""
        while True:
            try:
                await self.accounts.open_home()
                await self.adopt("")
            except GroupcoreError as error:
                logger.debug("the first workspace is not open yet: %s", error)
                await asyncio.sleep(SWEEP_S)
            else:
                return

    async def _sweep(self) -> None:
        accounts, due, sweeps = self.accounts, 0, 0
        while True:
            await asyncio.sleep(SWEEP_S)
            sweeps += 1
            is_old = accounts.has_old_trash(self._trash_s, accounts.time_s)
            is_oldest = accounts.members[:1] == (accounts.process,)
            if is_oldest and sweeps % STRAGGLERS_SWEEPS == 0:
                with suppress(GroupcoreError):
                    await self._wiper.delete_stragglers()
            forgotten = [user for user in accounts.erased if self.activity.knows(user)]
            if not is_old and not accounts.doomed and not forgotten:
                due = 0
                continue
            due += 1
            if not is_oldest and due <= OTHERS_SWEEPS:
                continue
            with suppress(GroupcoreError):
                if is_old:
                    await accounts.delete_old(self._trash_s)
                for user in forgotten:
                    await self.activity.forget_person(user)
                await self._wiper.wipe(list(accounts.doomed), self.lists)
