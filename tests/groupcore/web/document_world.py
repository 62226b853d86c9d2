"""A simulated cluster with a document, for pages that a test in TypeScript plays.

Gateways are simple: what they say is made by the real feeds. Time
is virtual; one seed plays one game. `disks`: nodes say what is saved, and `doom` has the power fail
for all of them soon: the nodes begin again with what was on disk. `lists`: the document has an
access list, and pages may write by it. `objects`: so many a page may have open. `hosts`: pages are
at the nodes that keep the document, as in the product; else each is a node of its own, which is
told of things in an order of its own. `alone`: one node keeps it, with all pages at it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast

from msgpack import packb

from groupcore.errors import GroupcoreError
from groupcore.frames import Message, decode, joined, pack
from groupcore.gateway.asking import calls_of, check_fields
from groupcore.gateway.feed import Feed
from groupcore.gateway.kinds import Kind, kinds_of
from groupcore.gateway.limits import FRAME_BYTES_SENT, RULES
from groupcore.objects.refusal import NoSuchBlockError
from groupcore.objects.rich_parsing import to_wire
from groupcore.sequencing.names import Process
from groupcore.shared.access import Right
from groupcore.shared.body import Body
from groupcore.shared.documents import Block, Document, DocumentOutline, open_document
from groupcore.shared.machine import Done
from groupcore.shared.pending import Pending
from groupcore.shared.plain import who
from groupcore.shared.testing import Weather, World, WorldNode
from groupcore.shared.verdicts import Call, Verdict, code_of
from server.documents.entrance import is_known
from tests.groupcore.shared.documents.office import Desk
from tests.groupcore.web.document_disk import Disk, Stored
from tests.groupcore.web.lone_world import LoneWorld

if TYPE_CHECKING:
    from groupcore.gateway.gateway import Gateway
    from groupcore.gateway.page import Page

KINDS = kinds_of([Block, DocumentOutline])
NAME = "doc/plan"
KEEPERS = ("kim", "kay")
OWNER = "owner"
LINGER_S = 0.3
QUANTUM_S = 0.005
"""What comes within so long of each other is written together."""
BEGINNING_S = 60.0
BLOCK_WAITS, BLOCK_WAIT_S = 10, 0.5
"""How often, and how long each time, a page that asks for a block waits until its node knows it."""


class HostFeed(Feed):
    """What is told at a node that several pages are at.

    In the product each page is a process of its own. Here they share the node's process, so the
    client says who has done something: else each page takes what the others do for its own.
    """

    def on_done(self, position: int, process: Process, done: Done) -> None:
        """A message has been done: by the client whose verdict was noted last."""
        told = len(self._items)
        super().on_done(position, process, done)
        if done.verdict is None or done.repeated:
            return
        client = next(reversed(self.body.machine.verdicts.last_numbers()))
        self._items[told:] = [one._replace(who=client) for one in self._items[told:]]


class Gate:
    """What sessions at one node share: what is told of its copies of objects, packed once."""

    def __init__(self, office: Office, node: WorldNode) -> None:
        self.office = office
        self.node = node
        self.feeds: dict[str, Feed] = {}
        self._current: Feed | None = None

    def turn_to(self, feed: Feed | None) -> None:
        """As `Gateway.turn_to`."""
        former, self._current = self._current, feed
        for session in () if feed is None else cast("dict[Session, None]", feed.followers):
            self.office.stir(session)
        if former is not None and former is not feed:
            former.close_entry()

    def feed(self, name: str, kind: Kind, body: Body[object]) -> Feed:
        """What is told of an object that is open at the node."""
        if name not in self.feeds:
            feed = HostFeed if self.office.hosts else Feed
            self.feeds[name] = feed(cast("Gateway", self), name, kind, body)
        return self.feeds[name]

    def leave(self, session: Session, name: str) -> None:
        """A session has closed an object."""
        feed = self.feeds.get(name)
        if feed is not None and feed.followers.pop(cast("Page", session), name) is None:
            self.turn_to(None)
            if not feed.followers:
                self.feeds.pop(name).end()


class Session:
    """One connection of a page: a process of its own, or, where nodes are hosts, at one of them."""

    def __init__(self, office: Office, page: str, number: int) -> None:
        self.office = office
        self.page = page
        self.client = ""
        place = number % len(office.keepers)
        self.keeper = office.keepers[place] if office.hosts else None
        if self.keeper is None:
            principal = page if office.lists else ""
            self.gate = Gate(office, office.world.node(f"{page}-{number}", principal))
        else:
            self.gate = office.gates[place]
        self.node = self.gate.node
        self.open: set[str] = set()
        self.is_over = False
        self._out: list[bytes] = []

    # --- what feeds need of a page --------------------------------------------------------------

    def send_changes(self, feed: Feed, packed: bytes, before: int) -> None:
        """As `Page.send_changes`."""
        del feed, before
        self.put(packed)

    def send_snapshot(self, feed: Feed, base: int) -> None:
        """As `Page.send_snapshot`."""
        self.put(pack(feed.snapshot(base, self.client)))

    def put(self, packed: bytes) -> None:
        """Something for the page."""
        self.office.stir(self)
        self._out.append(packed)

    def say(self, **fields: object) -> None:
        """A message for the page."""
        self.gate.turn_to(None)
        self.put(packb(fields))

    def flush(self) -> list[bytes]:
        """All that there is for the page, as frames."""
        self.gate.turn_to(None)
        out, self._out = self._out, []
        return [] if self.is_over else list(joined(out, RULES.messages_max, FRAME_BYTES_SENT))

    # --- what the page asks for -----------------------------------------------------------------

    def receive(self, message: Message) -> None:
        """One message."""
        kind = message["t"]
        check_fields(message)
        if kind == "hello":
            self.client = str(message["client"])
            limits = {"frame_bytes": 262_144, "objects": self.office.objects, "calls": 64}
            me = who(self.node.process) if self.keeper is None else self.client
            saves = self.office.disk is not None
            self.say(
                t="welcome", v=1, who=me, node="n", principal="", resumed=False, saves=saves,
                heartbeat_s=1e6, limits=limits,
            )  # fmt: skip
        elif kind == "open":
            self.office.world.spawn(self._open(message))
        elif kind == "close":
            self.open.discard(str(message["name"]))
            self.gate.leave(self, str(message["name"]))
        elif kind == "call":
            self._call(message)

    async def _open(self, message: Message) -> None:
        name = str(message["name"])
        kind = KINDS[str(message["type"])]
        try:
            if name.startswith(f"{NAME}/"):
                keeper = self.keeper or self.office.keeper
                await _have_block(self.office.world, keeper, name.removeprefix(f"{NAME}/"))
            target = await self.node.open(kind.kind, name)
        except NoSuchBlockError:
            self.say(t="error", name=name, code="no_such_block", message="", temporary=False)
            return
        except GroupcoreError:
            return  # the session is over
        assert isinstance(target, Block | DocumentOutline)
        replica = self.office.world.replicas(name).get(self.node.name)
        if self.is_over or replica is None:
            return
        if self.office.disk is not None:
            replica.tell_saved = lambda number: self.say(t="saved", name=name, n=number)
        known = None
        if "birth" in message:
            known = (str(message["birth"]), int(str(message["version"])))
            if known[1] > replica.position and known[0] == replica.body.machine.birth:
                await target.refresh()
        if self.node.gone:
            return
        self.gate.turn_to(None)
        feed = self.gate.feed(name, kind, replica.body)
        feed.followers[cast("Page", self)] = None
        self.open.add(name)
        missed = None if known is None else feed.since(known)
        if missed is None:
            is_known = known is None or known[0] == feed.version[0]
            base = int(str(message.get("base", -1)))
            self.send_snapshot(feed, base if is_known else -1)
            return
        for packed in missed:
            self.put(packed)
        done = feed.done(self.client)
        self.say(t="opened", name=name, version=feed.version[1], done=done)

    def _call(self, message: Message) -> None:
        name, number = str(message["name"]), int(str(message["n"]))
        replica = self.office.world.replicas(name).get(self.node.name)
        if name not in self.open or replica is None:
            self.say(t="error", name=name, n=number, code="not_open", message="", temporary=True)
            return
        pending: Pending[Verdict] = Pending()
        calls = calls_of(message["calls"], cast("Block", replica.target))
        answered = int(str(message["answered"]))
        replica.order_as(calls, Call(self.client, number, answered), pending)
        pending.when_done(partial(self._answer, name, number, pending))
        if self.office.disk is not None:
            self.office.disk.spin()

    def _answer(self, name: str, number: int, pending: Pending[Verdict]) -> None:
        if pending.error is not None:
            code = code_of(pending.error)
            is_over = code == "closed"
            self.say(t="error", name=name, n=number, code=code, message="", temporary=is_over)
            return
        verdict = pending.result()
        if verdict.code:
            self.say(t="error", name=name, n=number, code=verdict.code, message="", temporary=False)
        else:
            self.say(t="result", name=name, n=number, results=verdict.results)

    def end(self) -> None:
        """The connection is lost."""
        self.is_over = True
        for name in self.open:
            self.gate.leave(self, name)
        world = self.office.world
        if self.keeper is None:
            world.call_at(world.now_s + LINGER_S, lambda: world.crash(self.node.name))


async def _have_block(world: World, document: Document, block: str) -> None:
    """As `server.documents.entrance`: one that is gone is opened for what is written there."""
    for _ in range(BLOCK_WAITS):
        if is_known(document, block):
            break
        await world.elapse(BLOCK_WAIT_S)
    if block in document.outline.seeds or not is_known(document, block):
        await document.block(block)
    elif block not in document.blocks:
        await document.group(block)


class Office:
    """The nodes that keep the document, and the sessions of pages."""

    def __init__(
        self,
        seed: int,
        weather: Weather,
        disks: bool = False,
        lists: int = 0,
        objects: int = 64,
        hosts: bool = False,
        alone: bool = False,
    ) -> None:
        assert not alone or (hosts and not disks and not lists), "one node has no others"
        self.lists = lists
        self.objects = objects
        self.hosts = hosts
        self.disk: Disk | None = None
        self.sessions: dict[str, Session] = {}
        self.keepers: list[Document] = []
        self.gates: list[Gate] = []
        self._seed = seed
        self._weather = weather
        self._stirred: dict[Session, None] = {}
        self._owner: DocumentOutline | None = None
        self._count = 0
        self._lives = 0
        self._names = KEEPERS[:1] if alone else KEEPERS
        self.world = LoneWorld(seed, weather) if alone else World(seed, weather)
        if disks:
            self.disk = Disk(self, KEEPERS, {})
        self._wait(self._begin())

    def _wait(self, coroutine: object) -> object:
        """Let time go on until this is done."""
        pending: Pending[object] = self.world.spawn(coroutine)  # type: ignore[arg-type]
        self.world.advance(BEGINNING_S, lambda: pending.done)
        return pending.result()

    @property
    def keeper(self) -> Document:
        """One of the nodes."""
        return self.world.draw.choice(self.keepers)

    async def _begin(self) -> None:
        """Open the document."""
        self.keepers, self.gates = [], []
        for name in self._names:
            desk = Desk(self.world, name)
            self.gates.append(Gate(self, desk.node))
            secure = None if self.disk is None else partial(self.disk.secure, desk.node)
            copies = 2 if secure is None and len(self._names) > 1 else 1
            document = await open_document(desk, "plan", keep=True, copies=copies, secure=secure)
            self.keepers.append(document)
        if self.lists:
            self._owner = await self.world.node(OWNER, OWNER).open(DocumentOutline, NAME)
            if not self._owner.rights:
                await self._owner.claim()
                for page in range(self.lists):
                    await self._owner.grant(f"p{page}", Right.WRITE)

    def fail(self, stored: Stored) -> None:
        """The power has failed for all: the nodes begin again with what was stored."""
        assert self.disk is not None
        for session in self.sessions.values():
            session.is_over = True
        self.sessions, self._stirred = {}, {}
        self._lives += 1
        self.world = World(
            self._seed + 7919 * self._lives, self._weather, lives=1_000 * self._lives
        )
        for name, (number, state) in stored.items():
            kind = DocumentOutline if name == NAME else Block
            self.world.store(kind, name, number, state)
        self.disk = Disk(self, KEEPERS, stored)
        self._wait(self._begin())

    def stir(self, session: Session) -> None:
        """There is something for its page."""
        self._stirred[session] = None

    def do(self, verb: str, page: str, rest: object = None) -> None:
        """What the test says."""
        if verb == "connect":
            self._count += 1
            self.sessions[page] = Session(self, page, self._count)
        elif verb == "lose":
            session = self.sessions.pop(page, None)
            if session is not None:
                session.end()
        elif verb == "frame" and page in self.sessions:
            assert isinstance(rest, bytes)
            for message in decode(rest, RULES):
                self.sessions[page].receive(message)
        elif verb == "entitle" and self._owner is not None:
            self._owner.grant(page, Right.WRITE if rest else Right.READ)
        elif verb == "doom" and self.disk is not None:
            self.disk.doom()

    def go(self, told: list[list[object]], limit_s: float) -> list[object]:
        """Do what the test says, and let time go on until there is something for pages, or so long.

        Gives how long that was, what pages are sent, whether nothing else will happen by itself,
        and whether the power has failed: then all connections are lost.
        """
        for verb, page, *rest in told:
            self.do(str(verb), str(page), *rest)
        world, began_s = self.world, self.world.now_s
        disk = self.disk
        world.advance(limit_s, lambda: bool(self._stirred) or _has_failed(disk))
        left_s = limit_s - (world.now_s - began_s)
        if left_s > 0 and not _has_failed(disk):
            world.advance(min(QUANTUM_S, left_s), lambda: _has_failed(disk))
        ran_s = world.now_s - began_s
        if disk is not None and disk.failed is not None:
            self.fail(disk.failed)
            return [ran_s, [], False, True]
        stirred, self._stirred = self._stirred, {}
        said = [[one.page, frame] for one in stirred for frame in one.flush()]
        self._stirred = {}
        return [ran_s, said, world.is_quiet, False]

    def look(self) -> object:
        """The document, and the texts that wait for their authors."""
        return self._wait(self._look())

    async def _look(self) -> object:
        keeper = self.keepers[0]
        shot = await keeper.snapshot()
        blocks = [[block, dict(given), to_wire(text)] for block, given, text in shot]
        kept = [to_wire(one.content) for b in keeper.blocks.values() for one in b.drafts.values()]
        owed = [name for name, block in keeper.blocks.items() if block.owes]
        return {"title": keeper.outline.title, "blocks": blocks, "drafts": kept, "owed": owed}


def _has_failed(disk: Disk | None) -> bool:
    return disk is not None and disk.failed is not None
