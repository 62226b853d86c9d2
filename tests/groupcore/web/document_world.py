"""A simulated cluster with a document, for pages that a test in TypeScript plays.

Lines of JSON come in and go out. In: [`connect`, page], [`frame`, page, hex], [`lose`, page],
[`step`, seconds], [`look`]. Every line is answered by one: an array of [page, hex] for what the
pages are sent; for `look` the document as the nodes have it. Time is virtual; one seed plays one
game. Pages are sessions of their own, gateways are simple: what they say is made by the real feeds.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, cast

from msgpack import packb

from groupcore.errors import GroupcoreError
from groupcore.frames import Message, decode, pack
from groupcore.objects.refusal import NoSuchBlockError
from groupcore.objects.rich_parsing import to_wire
from groupcore.shared.documents import Block, Document, DocumentOutline, open_document
from groupcore.shared.pending import Pending
from groupcore.shared.plain import who
from groupcore.shared.testing import Weather, World, WorldNode
from groupcore.shared.verdicts import Call, Verdict, code_of
from groupcore.web.asking import calls_of, check_fields
from groupcore.web.feed import Feed
from groupcore.web.kinds import kinds_of
from groupcore.web.limits import RULES
from tests.groupcore.shared.documents.office import Desk

if TYPE_CHECKING:
    from groupcore.web.gateway import Gateway
    from groupcore.web.page import Page

KINDS = kinds_of([Block, DocumentOutline])
NAME = "doc/plan"
KEEPERS = ("kim", "kay")
LINGER_S = 0.3


class Session:
    """One connection of a page: a process of its own, and the feeds of what it has open."""

    def __init__(self, office: Office, page: str, number: int) -> None:
        self.office = office
        self.page = page
        self.client = ""
        self.node: WorldNode = office.world.node(f"{page}-{number}")
        self.feeds: dict[str, Feed] = {}
        self.is_over = False
        self._current: Feed | None = None

    # --- what feeds need of a gateway and a page ------------------------------------------------

    def turn_to(self, feed: Feed | None) -> None:
        """As `Gateway.turn_to`."""
        former, self._current = self._current, feed
        if former is not None and former is not feed:
            former.close_entry()

    def send_changes(self, feed: Feed, packed: bytes, before: int) -> None:
        """As `Page.send_changes`."""
        del feed, before
        self.put(packed)

    def send_snapshot(self, feed: Feed, base: int) -> None:
        """As `Page.send_snapshot`."""
        self.put(pack(feed.snapshot(base, self.client)))

    def put(self, packed: bytes) -> None:
        """Something for the page."""
        if not self.is_over:
            self.office.out.append((self.page, b"\x91" + packed))

    def say(self, **fields: object) -> None:
        """A message for the page."""
        self.turn_to(None)
        self.put(packb(fields))

    # --- what the page asks for -----------------------------------------------------------------

    def receive(self, message: Message) -> None:
        """One message."""
        kind = message["t"]
        check_fields(message)
        if kind == "hello":
            self.client = str(message["client"])
            limits = {"frame_bytes": 262_144, "objects": 64, "calls": 64}
            me = who(self.node.process)
            self.say(
                t="welcome", v=1, who=me, node="n", principal="", resumed=False, saves=False,
                heartbeat_s=1e6, limits=limits,
            )  # fmt: skip
        elif kind == "open":
            self.office.world.spawn(self._open(message))
        elif kind == "close":
            feed = self.feeds.pop(str(message["name"]), None)
            if feed is not None:
                self.turn_to(None)
                feed.end()
        elif kind == "call":
            self._call(message)

    async def _open(self, message: Message) -> None:
        name = str(message["name"])
        kind = KINDS[str(message["type"])]
        try:
            if name.startswith(f"{NAME}/"):
                await self.office.keeper.block(name.removeprefix(f"{NAME}/"))
            target = await self.node.open(kind.kind, name)
        except NoSuchBlockError:
            self.say(t="error", name=name, code="no_such_block", message="", temporary=True)
            return
        except GroupcoreError:
            return  # the session is over
        assert isinstance(target, Block | DocumentOutline)
        replica = self.office.world.replicas(name).get(self.node.name)
        if self.is_over or replica is None:
            return
        known = None
        if "birth" in message:
            known = (str(message["birth"]), int(str(message["version"])))
            if known[1] > replica.position:
                await target.refresh()
        if self.node.gone:
            return
        self.turn_to(None)
        feed = self.feeds.get(name)
        if feed is None:
            feed = self.feeds[name] = Feed(cast("Gateway", self), name, kind, replica.body)
            feed.followers[cast("Page", self)] = None
        missed = None if known is None else feed.since(known)
        if missed is None:
            is_known = known is not None and known[0] == feed.version[0]
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
        if name not in self.feeds or replica is None:
            self.say(t="error", name=name, n=number, code="not_open", message="", temporary=True)
            return
        pending: Pending[Verdict] = Pending()
        calls = calls_of(message["calls"], cast("Block", replica.target))
        answered = int(str(message["answered"]))
        replica.order_as(calls, Call(self.client, number, answered), pending)
        pending.when_done(partial(self._answer, name, number, pending))

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
        for feed in self.feeds.values():
            feed.end()
        world = self.office.world
        world.call_at(world.now_s + LINGER_S, lambda: world.crash(self.node.name))


class Office:
    """The nodes that keep the document, and the sessions of pages."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.out: list[tuple[str, bytes]] = []
        self.sessions: dict[str, Session] = {}
        self.keepers: list[Document] = []
        self._count = 0

    @property
    def keeper(self) -> Document:
        """One of the nodes."""
        return self.world.draw.choice(self.keepers)

    async def begin(self) -> None:
        """Open the document."""
        for name in KEEPERS:
            desk = Desk(self.world, name)
            self.keepers.append(await open_document(desk, "plan", keep=True, copies=2))
        await self.world.settle()

    def do(self, verb: str, page: str, *rest: str) -> None:
        """What the test says."""
        if verb == "connect":
            self._count += 1
            self.sessions[page] = Session(self, page, self._count)
        elif verb == "lose":
            session = self.sessions.pop(page, None)
            if session is not None:
                session.end()
        elif verb == "frame" and page in self.sessions:
            for message in decode(bytes.fromhex(rest[0]), RULES):
                self.sessions[page].receive(message)

    def said(self) -> list[list[str]]:
        """What the pages are sent."""
        for session in self.sessions.values():
            session.turn_to(None)
        out, self.out = self.out, []
        return [[page, packed.hex()] for page, packed in out]

    async def look(self) -> object:
        """The document, and the texts that wait for their authors."""
        keeper = self.keepers[0]
        shot = await keeper.snapshot()
        blocks = [[block, dict(given), to_wire(text)] for block, given, text in shot]
        kept = [to_wire(one.content) for b in keeper.blocks.values() for one in b.drafts.values()]
        owed = [name for name, block in keeper.blocks.items() if block.owes]
        return {"title": keeper.outline.title, "blocks": blocks, "drafts": kept, "owed": owed}


async def play(world: World) -> None:
    """Does what comes in, line by line."""
    office = Office(world)
    await office.begin()
    for line in sys.stdin:
        verb, *rest = json.loads(line)
        answer: object
        if verb == "step":
            await world.elapse(rest[0])
            answer = office.said()
        elif verb == "look":
            answer = await office.look()
        else:
            office.do(verb, *rest)
            answer = office.said()
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    WEATHER = Weather(delay_least_s=0.001, delay_most_s=float(sys.argv[2]))
    World(int(sys.argv[1]), WEATHER).run(play)
