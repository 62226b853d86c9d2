"""A web session: what one page asks for.

Idea. A page's session outlives its connection for a while: it is a process of the node, and has
locks and presence as such. A page that comes back to another node begins a new session there; its
calls are still done once, as it numbers them (`groupcore.shared.verdicts`).

Bad input is answered by a typed error, or ends the connection with a code; nothing has changed.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from groupcore.aio.sessions import Session
from groupcore.errors import GroupcoreError
from groupcore.frames import Message, pack
from groupcore.shared.pending import Pending
from groupcore.shared.plain import who
from groupcore.shared.replica import Replica
from groupcore.shared.types import Presence, PresenceChanged, Published, Topic
from groupcore.shared.verdicts import Call, Verdict
from groupcore.web import limits
from groupcore.web.asking import calls_of, check_fields, client_of, name_of, number_of
from groupcore.web.errors import BadRequestError, SessionEndError
from groupcore.web.feed import Version
from groupcore.web.kinds import Kind, shown
from groupcore.web.outlet import Opened, Outlet, Writer

if TYPE_CHECKING:
    from groupcore.web.gateway import Gateway


class Page(Outlet):
    """The session of one page, which calls itself `client`."""

    def __init__(self, gateway: Gateway, client: str, session: Session) -> None:
        super().__init__(gateway, client, session)
        self.calls = 0
        self._opening: set[str] = set()
        self._linger: asyncio.TimerHandle | None = None

    def connect(self, writer: Writer, resumed: bool) -> None:
        """The page is here (again)."""
        if self._linger is not None:
            self._linger.cancel()
            self._linger = None
        super().connect(writer, resumed)

    def disconnect(self, writer: Writer) -> None:
        """The connection is gone; the session waits for the page for a while."""
        if self.is_connected_by(writer):
            self.unplug()
            loop = asyncio.get_running_loop()
            self._linger = loop.call_later(self._gateway.linger_s, self._on_lingered)

    def _on_lingered(self) -> None:
        self._gateway.start(self.end())

    async def end(self) -> None:
        """The session is over: everything is closed, locks are free."""
        if self._linger is not None:
            self._linger.cancel()
        self._gateway.forget(self)
        for name in list(self.opened):
            self._let_go(name)
        await self.session.close()

    # --- what the page asks for -----------------------------------------------------------------

    def receive(self, message: Message) -> None:
        """One message."""
        about: dict[str, str | int] = {}
        for key in ("name", "n"):
            value = message.get(key)
            if isinstance(value, str | int):
                about[key] = value
        try:
            check_fields(message)
            match message["t"]:
                case "open":
                    self._ask_open(message)
                case "close":
                    self._let_go(name_of(message["name"]))
                case "call":
                    self._call(message)
                case "publish":
                    self._publish(message)
                case "present":
                    self._present(message)
                case "hello":
                    raise BadRequestError("bad_message", "hello comes once, at the beginning")
        except GroupcoreError as error:
            self.refuse(error, **about)

    def _ask_open(self, message: Message) -> None:
        name, type_name = name_of(message["name"]), name_of(message["type"], "type")
        kind = self._gateway.kinds.get(type_name)
        if kind is None:
            raise BadRequestError("unknown_type", f"no type is called {type_name!r} here")
        if not self._gateway.may_open(self.session.principal, type_name, name):
            raise BadRequestError("forbidden", f"you may not open {name!r}")
        if not self.session.principal and getattr(kind.kind, "for_nodes", None):
            raise BadRequestError("forbidden", f"nobody may open {name!r} without a name")
        if name not in self.opened and len(self.opened | dict.fromkeys(self._opening)) >= (
            limits.OBJECTS_MAX
        ):
            raise BadRequestError("too_many_open", f"at most {limits.OBJECTS_MAX} objects at once")
        known: Version | None = None
        if "birth" in message or "version" in message:
            birth = name_of(message.get("birth"), "birth")
            known = (birth, number_of(message.get("version"), "version"))
        base = number_of(message["base"], "base") if "base" in message else -1
        if name not in self._opening:
            self._opening.add(name)
            self._gateway.start(self._open(name, kind, known, base))

    async def _open(self, name: str, kind: Kind, known: Version | None, base: int) -> None:
        try:
            opened = self.opened.get(name)
            if opened is None or opened.kind is not kind:
                user: object = await self.session.open(kind.kind, name)
                opened = Opened(kind, user)
            if isinstance(opened.user, Topic | Presence):
                await self._open_stateless(name, opened)
            else:
                await self._open_object(name, opened, known, base)
        except TimeoutError:
            detail = "this node has not come as far as you have been; try another"
            self.refuse(BadRequestError("behind", detail), name=name)
        except GroupcoreError as error:
            self.refuse(error, name=name)
        finally:
            self._opening.discard(name)

    async def _open_object(
        self, name: str, opened: Opened, known: Version | None, base: int
    ) -> None:
        replica = self.session.port(opened.kind.kind, name).user
        assert isinstance(replica, Replica)
        if known is not None and known[1] > replica.position:
            async with asyncio.timeout(limits.CATCH_UP_S):
                await replica.target.refresh()
        if replica.closed.done or self.session.ended:
            raise BadRequestError("closed", f"{name!r} was closed meanwhile")
        if name not in self.opened:
            self.opened[name] = opened
            if self._gateway.saves:
                replica.tell_saved = partial(self._on_saved, name)
            replica.given_up.when_done(partial(self._on_given_up, name, opened, replica))
        gateway = self._gateway
        gateway.turn_to(None)  # what is told from here on is behind this place
        feed = opened.feed = gateway.feed(name, opened.kind, replica.body)
        feed.followers[self] = None
        self._lagging.pop(name, None)
        missed = None if known is None else feed.since(known)
        if known is None or missed is None:
            is_known = known is not None and known[0] == feed.version[0]
            self.send_snapshot(feed, base if is_known else -1)
            return
        message: Message = {"t": "opened", "name": name, "version": feed.version[1]}
        message["done"] = feed.done(self.client)  # type: ignore[assignment]
        for packed in (*missed, pack(message)):
            self.put(packed)

    async def _open_stateless(self, name: str, opened: Opened) -> None:
        user = opened.user
        if isinstance(user, Topic):
            if opened.subscription is None:
                opened.subscription = user.subscribe()
                await opened.subscription.ready
                opened.subscription.stream.tap = partial(self._on_published, name)
        elif isinstance(user, Presence) and name not in self.opened:
            user.changes().tap = partial(self._on_presence, name)
        self.opened[name] = opened
        self.put(pack({"t": "opened", "name": name, "version": 0, "done": []}))
        if isinstance(user, Presence):
            self.show_presence(name, opened)

    def _on_given_up(self, name: str, opened: Opened, replica: Replica[object]) -> None:
        """The node shows this session nothing more of an object: its right to read has gone."""
        if self.opened.get(name) is not opened:
            return
        self._gateway.turn_to(None)
        if opened.feed is not None:
            opened.feed.close_entry()
        self._let_go(name)
        self.refuse(replica.given_up.error or BadRequestError("closed", "closed"), name=name)

    def _let_go(self, name: str) -> None:
        opened = self.opened.pop(name, None)
        if opened is None:
            return
        self._lagging.pop(name, None)
        if opened.feed is not None:
            self._gateway.unfollow(opened.feed, self)
        if not self.session.ended:
            self._gateway.start(self.session.let_go(name))

    def _the(self, message: Message) -> tuple[str, Opened]:
        name = name_of(message["name"])
        opened = self.opened.get(name)
        if opened is None:
            raise BadRequestError("not_open", f"{name!r} is not open in this session")
        return name, opened

    def _call(self, message: Message) -> None:
        name, opened = self._the(message)
        number = number_of(message["n"], "n", 1)
        answered = number_of(message["answered"], "answered")
        if opened.feed is None:
            raise BadRequestError("unknown_operation", f"{name!r} has no operations")
        if self.calls >= limits.CALLS_MAX:
            raise BadRequestError("busy", f"{limits.CALLS_MAX} calls are not answered yet")
        replica = self.session.port(opened.kind.kind, name).user
        assert isinstance(replica, Replica)
        calls = calls_of(message["calls"], replica.target)
        pending: Pending[Verdict] = Pending()
        replica.order_as(calls, Call(self.client, number, answered), pending)
        self.calls += 1
        pending.when_done(partial(self._on_verdict, name, number, pending))

    def _on_verdict(self, name: str, number: int, pending: Pending[Verdict]) -> None:
        self.calls -= 1
        if pending.error is not None:
            self.refuse(pending.error, name=name, n=number)
            return
        verdict = pending.result()
        if verdict.code:
            self.refuse(BadRequestError(verdict.code, "the call had this end"), name=name, n=number)
            return
        self._answer(name, number, verdict.results)

    def _answer(self, name: str, number: int, results: list[object]) -> None:
        message: Message = {"t": "result", "name": name, "n": number}
        message["results"] = results  # type: ignore[assignment]
        self.tell(message)

    def _on_saved(self, name: str, number: int) -> None:
        self.tell({"t": "saved", "name": name, "n": number})

    # --- topics and presence --------------------------------------------------------------------

    def _publish(self, message: Message) -> None:
        name, opened = self._the(message)
        number = number_of(message["n"], "n", 1)
        topic = opened.user
        if not isinstance(topic, Topic):
            raise BadRequestError("unknown_operation", f"{name!r} is no topic")
        if self.calls >= limits.CALLS_MAX:
            raise BadRequestError("busy", f"{limits.CALLS_MAX} calls are not answered yet")
        pending = topic.publish(topic.read(message["value"]))
        self.calls += 1
        pending.when_done(partial(self._on_done, name, number, pending))

    def _on_done(self, name: str, number: int, pending: Pending[None]) -> None:
        self.calls -= 1
        if pending.error is not None:
            self.refuse(pending.error, name=name, n=number)
        else:
            self._answer(name, number, [])

    def _present(self, message: Message) -> None:
        name, opened = self._the(message)
        presence = opened.user
        if not isinstance(presence, Presence):
            raise BadRequestError("unknown_operation", f"{name!r} is no presence")
        value = message["value"]
        presence.set(None if value is None else presence.read(value))

    def _on_published(self, name: str, event: Published[object]) -> None:
        self._gateway.turn_to(None)
        position, sender = event.position, who(event.process)
        message: Message = {"t": "event", "name": name, "version": position, "who": sender}
        message["value"] = shown(event.value)  # type: ignore[assignment]
        self.put(self._gateway.packed(("event", name, position), None, message))

    def _on_presence(self, name: str, change: PresenceChanged[object]) -> None:
        sender, value = who(change.process), shown(change.value)
        message: Message = {"t": "presence", "name": name, "who": sender}
        message["value"] = value  # type: ignore[assignment]
        packed = self._gateway.packed(("presence", name, sender), value, message)
        self.send_presence(name, packed)


def greet(gateway: Gateway, message: Message, principal: str, writer: Writer) -> Page:
    """The session for who says hello: its own that waits for it, or a new one.

    Raises SessionEndError when this is no hello.
    """
    if message["t"] != "hello":
        raise SessionEndError(1008, "the first message must be hello")
    if message.get("v") != limits.VERSION:
        raise SessionEndError(4426, f"this node speaks version {limits.VERSION}")
    try:
        check_fields(message)
        client = client_of(message["client"])
    except BadRequestError as error:
        raise SessionEndError(1008, str(error)) from None
    page = gateway.pages.get(client)
    if page is not None and page.session.principal != principal:
        raise SessionEndError(1008, "this client is somebody else's")
    resumed = page is not None and not page.session.ended
    if page is None or not resumed:
        page = gateway.pages[client] = Page(gateway, client, gateway.node.session(principal))
    page.connect(writer, resumed)
    return page
