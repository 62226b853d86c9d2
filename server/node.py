"""The node: its place in the cluster, the list of documents, and the documents that it keeps.

What the node is and can do now (`state`) follows from its channel and its disk. Documents,
catalogue and addresses are shared objects; the sequencing service beneath orders and stores them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from typing import TypeVar

from groupcore.aio import KeyFile
from groupcore.aio.documents import new_id
from groupcore.aio.drop_log import STRANGERS
from groupcore.errors import (
    ChannelClosedError,
    GroupcoreError,
)
from groupcore.gateway.settings import Traffic
from groupcore.shared.changes import Change
from groupcore.shared.documents.keeper import Keeper
from groupcore.shared.errors import (
    ClosedError,
    OutcomeUnknownError,
    RefusedError,
)
from groupcore.shared.events import OperationDenied, SharedEvent
from groupcore.shared.places.keeper import PlaceKeeper
from groupcore.shared.session import Session
from groupcore.view import Address, View
from server.accounts.accounts import NAME as ACCOUNTS
from server.accounts.accounts import Accounts
from server.administered import Administered
from server.authority import Authority
from server.backup.kept import KeptBackups
from server.backup.last import LastBackup
from server.charter import NAME as CHARTERS
from server.charter import Charter, Charters, at_odds
from server.documents.catalogue import DOCUMENT, NAME, NODES, PLACE, Catalogue, Nodes
from server.errors import (
    BadMessageError,
    KeyProblem,
    ServerError,
    SettingsProblem,
)
from server.files.activity import NAME as ACTIVITY
from server.files.activity import Activity
from server.files.eraser import Eraser, Holder
from server.files.erasures import NAME as ERASURES
from server.files.erasures import Erasures
from server.files.service import FileService
from server.files.wiping import Wiper
from server.folder import narrow_folders
from server.identity import make_identity
from server.keepers import Keepers
from server.making import make_accounts, make_objects, make_trace, problem_of
from server.noticed import NODE_REFUSED, Noticed
from server.pictures.named import named_in
from server.pictures.register import NAME as PICTURES
from server.pictures.register import Pictures
from server.pictures.service import PictureService
from server.places.reading import ALL_CELLS, whole
from server.places.reading import named_in as pictures_in
from server.rest import Seals, read_rest
from server.settings import Settings
from server.state import State
from server.waiting import Awaits, Shown, shown
from server.work.pool import Pool

T = TypeVar("T")

logger = logging.getLogger("server")

DAY_S = 24 * 3600.0
LOOK_S = 0.2
"""How often the node looks whether its state has changed."""
REOPEN_S = 0.5
"""Between two attempts to open what every node has open."""
CLOSE_S = 2.0
"""How long the node waits for its documents to be closed when it leaves."""
DESCRIBED_EVERY_S = 1.0
"""Between two messages that tell a document's outline what headings are, and how long blocks: who
lists headings asks every two seconds at most."""
WAITED_S = 5.0
"""After so long the log says what the node waits for, and again when that changes."""
APART_S = 3.0
"""After so long outside the primary view its pages are sent to other nodes, once."""


class Node:
    """One node's service. Made on the loop; `start` connects, `close` leaves.

    `on_apart` is called when it has been outside the primary view for a while: pages may reach
    others that can take their edits; `on_state` whenever the state has changed.
    """

    def __init__(self, settings: Settings, key: KeyFile | None, public_url: str) -> None:
        self.settings = settings
        self.public_url = public_url
        self.trace = make_trace(settings)
        self.seals = Seals(settings.data, read_rest(settings.data_key_file))
        identity = make_identity(settings)
        self._authority = Authority(identity, settings.data)
        if not self._authority.administers:
            raise KeyProblem(
                f"node {settings.node_id} has a certificate for the order only, and could serve "
                "nobody: have its operator issue one without --orders-only"
            )
        self.objects = make_objects(
            *(settings, key, self.trace, self.seals.rest),
            *(identity, self._authority.authorize, self._on_shared_event),
        )
        self.seals.follow(self.objects.groups.storage)
        self.channel = self.objects.groups.channel
        self.channel.on_failure = self._on_failure
        self.channel.drop_log.listener = self._on_bad_input
        self.accounts = make_accounts(settings, self.objects, public_url, key)
        if self.accounts is not None:
            self.accounts.seals = self.seals
        self.last_backup = LastBackup(settings.data)
        self.kept_backups = KeptBackups(settings.backups, self.seals.rest)
        self.noticed = Noticed(self._note, asyncio.get_running_loop().time)
        self.keeper = Keeper(self.objects, new_id, self._tell_title, rest_s=DESCRIBED_EVERY_S)
        self.keepers = Keepers(self.keeper, PlaceKeeper(self.objects, self._tell_title))
        self.work = Pool(settings.workers)
        self.pictures = PictureService(
            settings,
            self.channel.secret,
            lambda: () if self.view is None else self.view.names,
            self._pictures_of,
            self.work,
            self.seals,
        )
        self.catalogue: Catalogue | None = None
        self.on_apart: Callable[[], None] = lambda: None
        self.on_state: Callable[[State], None] = lambda state: None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.erasures: Erasures | None = None
        self._administered: Accounts | None = None
        self._nodes: Nodes | None = None
        self._charters: Charters | None = None
        self._declared: Address | None = None
        self._files: FileService | None = None
        self._draining = False
        self._look_now: asyncio.Future[None] | None = None
        self._next_look: asyncio.Future[None] | None = None
        self._telling: asyncio.Task[None] | None = None
        self._told = State.REBUILDING
        self.awaits = Awaits(lambda: self.waiting, asyncio.get_running_loop().time)
        self._tasks: set[asyncio.Task[None]] = set()

    # --- life -----------------------------------------------------------------------------------

    async def start(self) -> None:
        """Apply the log, join the cluster, open what every node has open. ServerError."""
        self._spawn(self._watch())
        await asyncio.to_thread(narrow_folders, self.settings)
        if self.trace is not None:
            try:
                await self.trace.start()
            except OSError as error:
                raise SettingsProblem(f"--trace: cannot be written: {error}") from None
        try:
            await self.objects.__aenter__()
            catalogue = await self._open(Catalogue, NAME)
            nodes = await self._open(Nodes, NODES)
            self._charters = await self._open(Charters, CHARTERS)
            await self._insist(CHARTERS, self._declare)
            accounts, activity, pictures, erasures = await asyncio.gather(
                self._open(Accounts, ACCOUNTS),
                self._open(Activity, ACTIVITY),
                self._open(Pictures, PICTURES),
                self._open(Erasures, ERASURES),
            )
            for target in (accounts, erasures, nodes):
                await self._entrust(target)
            self._administered = accounts
            if self.accounts is not None:
                self.accounts.begin(accounts, self.keepers)
            await self.pictures.begin(pictures)
            parts = self.keepers, catalogue, accounts, activity
            wiper = Wiper(self.objects, *parts, pictures, erasures, self._with_files)
            trash_s = self.settings.trash_days * DAY_S
            files = FileService(*parts, self.accounts, wiper, trash_s)
        except GroupcoreError as error:
            raise problem_of(error) from None
        except OSError as error:
            raise ServerError(f"cannot join the cluster: {error}") from None
        files.begin()
        self._spawn(self.noticed.run())
        self._spawn(self.seals.seal_plain())
        self._spawn(self._authority.follow())
        holders: list[Holder] = [self.pictures, self.kept_backups]
        eraser = Eraser(self.settings.node_id, self.objects.groups, erasures, holders)
        self._spawn(eraser.run())
        self.erasures = erasures
        self.catalogue, self._files, self._nodes = catalogue, files, nodes
        self._nodes.changes().tap = self._on_nodes
        self._on_nodes(None)

    async def _entrust(self, target: Administered) -> None:
        """See that the object is entrusted to the nodes' operator; KeyProblem."""
        await self._insist(target.object_name, lambda: self._authority.begin(target))

    async def _open(self, kind: type[T], name: str) -> T:
        """Open an object that every node has open."""
        return await self._insist(name, lambda: self.objects.open(kind, name))

    async def _insist(self, what: str, attempt: Callable[[], Awaitable[T]]) -> T:
        """Attempt it as often as the cluster goes on without this node before it is done."""
        while True:
            try:
                return await attempt()
            except (ChannelClosedError, ClosedError, OutcomeUnknownError) as error:
                logger.info("%s is not open yet: %s", what, error)
            except RefusedError as error:
                if error.code != "left":
                    raise
                logger.info("%s is not open yet: %s", what, error)
            await asyncio.sleep(REOPEN_S)

    async def close(self) -> None:
        """Leave the cluster: what is sent is sent, what is on its way to the disk gets there."""
        self._draining = True
        for task in list(self._tasks):
            task.cancel()
        with suppress(TimeoutError):  # outside the primary view nothing is ordered any more
            async with asyncio.timeout(CLOSE_S):
                await self.noticed.close()
                if self._files is not None:
                    await self._files.close()
                if self.accounts is not None:
                    await self.accounts.close()
                await self.pictures.close()
                await self.keepers.close()
        await self.work.close()
        await self.objects.close()
        if self.trace is not None:
            await self.trace.stop()

    def note_session(self, what: str, page: str, session: Session, traffic: Traffic) -> None:
        """A page's session has begun, gone on, or ended."""
        if self.trace is not None:
            self.trace.note_session(what, page, session, traffic)

    def drain(self) -> None:
        """The node is about to leave: it takes no sessions any more."""
        self._draining = True

    def fail(self, error: ServerError) -> None:
        """End the program with this error."""
        if not self.ended.done():
            self.ended.set_exception(error)

    def _on_failure(self, error: GroupcoreError) -> None:
        self.fail(problem_of(error))

    # --- what it is now -------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """What the node can do for sessions now."""
        storage = self.objects.groups.storage
        if self._draining:
            return State.DRAINING
        if self.catalogue is None or self.view is None or self.taking is not None:
            return State.REBUILDING
        if storage is not None and storage.full:
            return State.READONLY
        return State.SERVING if self.primary else State.STALE

    @property
    def waiting(self) -> Shown | None:
        """What this node waits for before it serves, or takes edits again; None: nothing."""
        return shown(self.channel.awaiting, self.view is not None, self.catalogue is not None)

    @property
    def taking(self) -> Shown | None:
        """How far this node is with the others' state: phase, bytes, of how many; None: not at."""
        try:
            progress = self.objects.groups.service.progress
        except ChannelClosedError:
            return None
        if progress is None:
            return None
        phase, here, whole = progress
        return {"phase": phase, "bytes": here, "of": whole}

    @property
    def last_written_s(self) -> float | None:
        """When the program before this one wrote to the folder last, in Unix time."""
        storage = self.objects.groups.storage
        return None if storage is None else storage.last_written_s

    @property
    def ready(self) -> bool:
        """Whether sessions may be sent here."""
        return self.state is State.SERVING

    @property
    def view(self) -> View | None:
        """The view that this node is in; None outside."""
        return self.channel.view

    @property
    def primary(self) -> bool:
        """Whether it is in the primary view and reaches a quorum of it."""
        return self.channel.primary

    @property
    def me(self) -> Address:
        """This life of this node; incarnation 0 before the first."""
        try:
            return self.channel.address
        except GroupcoreError:
            return Address(self.settings.node_id, 0)

    @property
    def whole_catalogue(self) -> Catalogue:
        """The list of documents; BadMessageError `not_ready` before this node has it."""
        if self.catalogue is None:
            raise BadMessageError("not_ready", "this node is not in its cluster yet; try again")
        return self.catalogue

    @property
    def files(self) -> FileService:
        """Folders, the trash, and who follows them; BadMessageError `not_ready` before that."""
        if self._files is None:
            raise BadMessageError("not_ready", "this node is not in its cluster yet; try again")
        return self._files

    async def knows(self, doc: str, kind: str = DOCUMENT) -> bool:
        """Whether there is an item of this id and kind; one that others have just made, too."""
        return await self.kind_of(doc) == kind

    async def kind_of(self, doc: str) -> str:
        """What the item of this id is, as the list says; empty where there is none."""
        catalogue = self.whole_catalogue
        if doc not in catalogue:
            if self._next_look is None:
                self._next_look = asyncio.ensure_future(self._look(self._look_now))
            await asyncio.shield(self._next_look)
        return catalogue.kind_of(doc) if doc in catalogue else ""

    async def _look(self, former: asyncio.Future[None] | None) -> None:
        """Ask the order once for all who have come while it was asked before."""
        if former is not None:
            await asyncio.wait([former])
        self._look_now, self._next_look = self._next_look, None
        await self.whole_catalogue.refresh()

    def urls(self) -> dict[str, str]:
        """What browsers call the nodes that are in the view, this one first."""
        mine = self.settings.node_id
        urls = {mine: self.public_url}
        for name in () if self.view is None else self.view.names:
            url = None if self._nodes is None else self._nodes.get(name)
            if url is not None and name != mine:
                urls[name] = url
        return urls

    def known_nodes(self) -> list[str]:
        """All nodes that there were ever, as far as this one has heard."""
        return [] if self._nodes is None else list(self._nodes)

    def _with_files(self) -> list[str]:
        """All nodes in whose files something may be."""
        here = () if self.view is None else self.view.names
        return sorted({self.settings.node_id, *here, *self.known_nodes()})

    def origins(self) -> set[str]:
        """Whose pages may come here: this cluster's nodes', and those that settings name."""
        known = [] if self._nodes is None else self._nodes.values()
        return {*self.settings.origins, self.public_url, *known}

    async def _watch(self) -> None:
        """Say in the log what the node becomes, and when it is apart from the others."""
        loop = asyncio.get_running_loop()
        since = begun = loop.time()
        said = ""
        while True:
            await asyncio.sleep(LOOK_S)
            self.awaits.look()
            state, now = self.state, loop.time()
            if state is not self._told:
                self._told, since, begun, said = state, now, now, ""
                logger.info("node %s is %s", self.settings.node_id, state)
                self.on_state(state)
            if state in (State.REBUILDING, State.STALE) and now - begun > WAITED_S:
                waiting = self.waiting
                if waiting is not None and waiting["text"] != said:
                    said = waiting["text"]
                    logger.warning("node %s waits: %s", self.settings.node_id, said)
            if state is State.SERVING and self.me != self._declared:  # a new life
                try:
                    await self._quietly(self._declare())
                except ServerError as error:
                    self.fail(error)
            apart = state is State.STALE or (
                state is State.REBUILDING and self.catalogue is not None
            )
            if apart and now - since > APART_S:
                since = float("inf")
                self.on_apart()

    # --- what it tells the others ---------------------------------------------------------------

    async def _declare(self) -> None:
        """Say how this node was started; it ends where another one was started otherwise."""
        if self._charters is None or self.view is None:
            return
        me, accounts = self.me, self.accounts is not None
        members = {one.name: one.incarnation for one in self.view.members}
        other = await self._charters.declare(
            self.settings.node_id, Charter(me.incarnation, accounts), members
        )
        if other:
            raise SettingsProblem(at_odds(other, accounts))
        self._declared = me

    def _on_nodes(self, change: Change | None) -> None:
        """The others shall know this node's address, whatever life it lives."""
        del change
        nodes, mine = self._nodes, self.settings.node_id
        if nodes is None or nodes.get(mine) == self.public_url:
            return
        if self._telling is None or self._telling.done():
            self._telling = self._spawn(self._quietly(nodes.set(mine, self.public_url)))

    def _tell_title(self, doc: str, title: str) -> None:
        catalogue = self.catalogue
        listed = None if catalogue is None else catalogue.get(doc)
        if catalogue is not None and listed is not None and listed.title != title:
            self._spawn(self._quietly(catalogue.retitle(doc, title)))

    async def _pictures_of(self, doc: str) -> set[str] | None:
        """What its blocks or things name; nothing, when there is no such document or place."""
        kind = await self.kind_of(doc)
        if not kind:
            return set()
        if kind == PLACE:
            async with self.keepers.places.reading(doc) as minding:
                return pictures_in(await whole(minding, ALL_CELLS))
        async with self.keeper.reading(doc) as document:
            return named_in(await document.snapshot())

    async def _note(self, by: str, what: str, about: str, origin: str) -> None:
        """An entry of the audit log; GroupcoreError where the cluster takes none now."""
        accounts = self.files.accounts
        if not self.primary:
            raise BadMessageError("not_primary", "this node is apart from the others")
        await accounts.note(by, what, about, origin)

    def _on_bad_input(self, source: str, reasons: Mapping[str, int]) -> None:
        """Nodes that are not let in stand in the audit log, by reason and address."""
        host, colon, port = source.rpartition(":")
        origin = host if colon and port.isdigit() else source
        for reason in sorted(STRANGERS.intersection(reasons)):
            self.noticed.note(NODE_REFUSED, "", reason, origin)

    def _on_shared_event(self, event: SharedEvent) -> None:
        """A node that administers without the right stands in the audit log, once for the cluster.

        Programs of other nodes are its only callers: what this node does wrong is an error here.
        """
        accounts = self._administered
        if not isinstance(event, OperationDenied) or accounts is None:
            return
        if event.group != self.objects.groups.group_of(ACCOUNTS):
            return
        others = [one for one in accounts.members if one.node != event.process.node]
        if others[:1] == [accounts.process]:
            self.noticed.note(NODE_REFUSED, "", "not_authorized", f"node {event.process.node.name}")

    async def _quietly(self, work: Awaitable[object]) -> None:
        """Do what is told anew whenever something changes: now it may fail."""
        try:
            await work
        except GroupcoreError as error:
            logger.debug("not told: %s", error)

    def _spawn(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
