"""The objects that a page has open: asked for, opened, followed, let go.

Invariants.
  O1  For each `opening` that came to its end there is one `closed`, whatever happens.
  O2  What a page said last of an object counts: what it closes while it is being opened is closed.
  O3  A page that has come back and does not ask for an object within `linger_s` has closed it.
  O4  From a revocation on a page is shown nothing of the object; it is told of it behind the
      results of the calls that it had under way.
  O5  What is called of an object whose opening was refused for good, or that was taken away, is
      answered by that refusal, until the page asks for the object again.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from groupcore.errors import GroupcoreError
from groupcore.frames import Message, pack
from groupcore.gateway import limits
from groupcore.gateway.asking import name_of, number_of, sight_of
from groupcore.gateway.errors import BadRequestError
from groupcore.gateway.feed import Version
from groupcore.gateway.kinds import Kind, shown
from groupcore.gateway.outlet import TEMPORARY, Opened, Outlet, Writer
from groupcore.gateway.owed import Owed
from groupcore.gateway.parts import Sight
from groupcore.shared.errors import DeclarationError
from groupcore.shared.object import SharedObject
from groupcore.shared.plain import who
from groupcore.shared.replica import Replica
from groupcore.shared.runtime import done_within
from groupcore.shared.session import Session
from groupcore.shared.types import Presence, Published, Topic
from groupcore.shared.verdicts import code_of

if TYPE_CHECKING:
    from groupcore.gateway.gateway import Gateway

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Asked:
    """An object that is being opened: what the page has of it, what it sees, and whether it still
    wants it.
    """

    kind: Kind
    known: Version | None
    base: int
    sight: Sight | None = None
    is_wanted: bool = True


def _require_parts(kind: Kind, sight: Sight | None) -> None:
    if sight is not None and kind.parts is None:
        raise BadRequestError("bad_message", f"a {kind.name} is followed as a whole")


def _forbidden(name: str) -> BadRequestError:
    return BadRequestError("forbidden", f"you may not open {name!r}")


class Holder(Outlet):
    """What the page that calls itself `client` has open."""

    def __init__(self, gateway: Gateway, client: str, session: Session) -> None:
        super().__init__(gateway, client, session)
        self.owed = Owed(gateway.runtime)
        self._asked: dict[str, _Asked] = {}
        self._refused: OrderedDict[str, BadRequestError] = OrderedDict()
        self._call_reaper_off: Callable[[], None] | None = None

    def connect(self, writer: Writer, resumed: bool) -> None:
        """The page is here (again)."""
        self._stop_reaper()
        super().connect(writer, resumed)
        if self.opened:
            delay_s = self._gateway.terms.linger_s
            reap = partial(self._reap, list(self.opened))
            self._call_reaper_off = self._gateway.runtime.alarm(delay_s, reap)

    def unplug(self) -> None:
        """The connection is gone: nothing can be told."""
        self._stop_reaper()
        super().unplug()

    def _stop_reaper(self) -> None:
        if self._call_reaper_off is not None:
            self._call_reaper_off()
            self._call_reaper_off = None

    def _reap(self, names: list[str]) -> None:
        """O3."""
        for name in names:
            is_unasked = name in self._withheld and self._withheld[name] is None
            if is_unasked and name not in self._asked:
                self.let_go(name)

    # --- opening --------------------------------------------------------------------------------

    def ask_open(self, message: Message) -> None:
        """The page wants an object; errors say why it does not get it."""
        name = name_of(message["name"])
        try:
            kind = self._kind_of(name, name_of(message["type"], "type"))
        except BadRequestError as error:
            self._note_refused(name, error)
            raise
        known: Version | None = None
        if "birth" in message or "version" in message:
            birth = name_of(message.get("birth"), "birth")
            known = (birth, number_of(message.get("version"), "version"))
        base = number_of(message["base"], "base") if "base" in message else -1
        sight = sight_of(message["sight"]) if "sight" in message else None
        _require_parts(kind, sight)
        asked = self._asked.get(name)
        has = asked or self.opened.get(name)
        if has is not None and has.kind.kind != kind.kind:
            raise DeclarationError(f"{name} is open as {has.kind.name}; take another name")
        if asked is not None:  # O2
            asked.known, asked.base, asked.sight, asked.is_wanted = known, base, sight, True
            return
        if has is None and len(self.opened.keys() | self._asked) >= limits.OBJECTS_MAX:
            raise BadRequestError("too_many_open", f"at most {limits.OBJECTS_MAX} objects at once")
        self._refused.pop(name, None)
        asked = self._asked[name] = _Asked(kind, known, base, sight)
        self._gateway.start(self._open(name, asked))

    def _kind_of(self, name: str, type_name: str) -> Kind:
        """The type of the object that the page names, if it may open that."""
        kind = self._gateway.kinds.get(type_name)
        if kind is None:
            raise BadRequestError("unknown_type", f"no type is called {type_name!r} here")
        principal = self.session.principal
        if not self._gateway.terms.is_sure():
            raise BadRequestError("not_primary", "this node does not know now who may open this")
        objection = self._objection(type_name, name)
        if objection is not None:
            raise objection
        if not principal and getattr(kind.kind, "for_nodes", None):
            raise BadRequestError("forbidden", f"nobody may open {name!r} without a name")
        return kind

    def _objection(self, type_name: str, name: str) -> BadRequestError | None:
        """Why it may not be open, as the program says; what goes wrong in there counts as no."""
        try:
            if self._gateway.terms.may_open(self.session.principal, type_name, name):
                return None
        except BadRequestError as error:
            return error
        except Exception:
            log.exception("whether %s may be opened could not be found out", name)
        return _forbidden(name)

    async def _open(self, name: str, asked: _Asked) -> None:
        opened: Opened | None = None
        try:
            await self._gateway.turnstile.enter()
            opened = self.opened.get(name)
            if opened is None and asked.is_wanted:
                opened = await self._begin(name, asked.kind)
            if opened is None or not asked.is_wanted:
                return
            if isinstance(opened.user, Topic | Presence):
                await self._open_stateless(name, opened)
            else:
                await self._open_object(name, opened, asked)
        except GroupcoreError as error:
            self._note_refused(name, error)
            self.refuse(error, name=name)
        except Exception:
            log.exception("the object %s could not be opened for a page", name)
            self.refuse(BadRequestError("internal", f"{name!r} could not be opened"), name=name)
        finally:
            del self._asked[name]
            if opened is not None and self.opened.get(name) is not opened:
                self._release(name, opened)
            elif not asked.is_wanted:
                self.let_go(name)

    async def _begin(self, name: str, kind: Kind) -> Opened:
        """O1: have the session open it."""
        principal, terms = self.session.principal, self._gateway.terms
        await terms.opening(principal, kind.name, name)
        try:
            user: object = await self.session.open(kind.kind, name)
        except BaseException:
            terms.closed(principal, kind.name, name)
            raise
        return Opened(kind, user)

    async def _open_object(self, name: str, opened: Opened, asked: _Asked) -> None:
        replica = self.session.port(opened.kind.kind, name).user
        assert isinstance(replica, Replica)
        if asked.known is not None and asked.known[1] > replica.position:
            await self._catch_up(replica)
        if replica.closed.done or self.session.ended:
            raise BadRequestError("closed", f"{name!r} was closed meanwhile")
        if not asked.is_wanted:
            return
        if not replica.is_in:  # what is here leads to the state of now, and may be of the past
            raise BadRequestError("not_ready", f"{name!r} is opened again at this node")
        if name not in self.opened:
            self.opened[name] = opened
            if self._gateway.saves:
                replica.tell_saved = partial(self._on_saved, name)
            replica.given_up.when_done(partial(self._on_given_up, name, opened, replica))
        gateway = self._gateway
        gateway.turn_to(None)  # what is told from here on is behind this place
        feed = opened.feed = gateway.feed(name, opened.kind, replica.body)
        feed.follow(self, asked.sight)
        self._withheld.pop(name, None)
        known, base = asked.known, asked.base
        missed = None if known is None else feed.missed(self, known)
        if known is not None:
            gateway.figures.caught_up["snapshot" if missed is None else "stream"] += 1
        if known is None or missed is None:
            is_known = known is None or known[0] == feed.version[0]
            self.send_snapshot(feed, base if is_known else -1)
            return
        message: Message = {"t": "opened", "name": name, "version": feed.version[1]}
        message["done"] = feed.done(self.client)  # type: ignore[assignment]
        for packed in (*missed, pack(message)):
            self.put(packed)

    async def _catch_up(self, replica: Replica[SharedObject]) -> None:
        """Bring the node as far as the order is now."""
        runtime = self._gateway.runtime
        refreshing = replica.target.refresh()
        if not await done_within(runtime, refreshing, limits.CATCH_UP_S):
            detail = "this node has not come as far as you have been; try another"
            raise BadRequestError("behind", detail)
        refreshing.result()

    async def _open_stateless(self, name: str, opened: Opened) -> None:
        user = opened.user
        if isinstance(user, Topic):
            if opened.subscription is None:
                opened.subscription = user.subscribe()
                await opened.subscription.ready
                opened.subscription.stream.tap = partial(self._on_published, name)
        elif isinstance(user, Presence) and opened.company is None:
            opened.company = self._gateway.company(name, user.crowd)
            opened.company.follow(self)
        self.opened[name] = opened
        self._withheld.pop(name, None)
        self.put(pack({"t": "opened", "name": name, "version": 0, "done": []}))
        if isinstance(user, Presence):
            self.show_presence(name, opened)

    def look(self, message: Message) -> None:
        """The page sees another part of an object; BadRequestError."""
        name, sight = name_of(message["name"]), sight_of(message["sight"])
        asked, opened = self._asked.get(name), self.opened.get(name)
        has = asked or opened
        if has is None:
            raise self.why_not_open(name)
        _require_parts(has.kind, sight)
        if asked is not None:
            asked.sight = sight
        elif opened is not None and opened.feed is not None:
            replica = self.session.port(opened.kind.kind, name).user
            assert isinstance(replica, Replica)
            try:
                opened.feed.look(self, sight, replica.is_in)
            except BadRequestError as error:
                self.take_away(name, error)

    # --- closing --------------------------------------------------------------------------------

    def close_object(self, name: str) -> None:
        """The page has closed an object."""
        if name in self._asked:
            self._asked[name].is_wanted = False  # O2
        else:
            self.let_go(name)

    def let_go(self, name: str) -> None:
        """The session has the object open no more."""
        opened = self._stop_showing(name)
        if opened is not None:
            self._release(name, opened)

    def _stop_showing(self, name: str) -> Opened | None:
        opened = self.opened.pop(name, None)
        if opened is None:
            return None
        self._withheld.pop(name, None)
        if opened.feed is not None:
            self._gateway.unfollow(opened.feed, self)
        if opened.company is not None:
            self._gateway.part(opened.company, self)
        if opened.subscription is not None:
            opened.subscription.stream.tap = None
        return opened

    def cease(self, name: str) -> None:
        """Nothing of the object is shown any more; it stays open until its calls are answered."""
        opened = self._stop_showing(name)
        if opened is not None:
            self.owed.behind(partial(self._release, name, opened))

    def take_away(self, name: str, error: Exception) -> None:
        """O4: the right to have the object open is gone, or it cannot be told."""
        self.cease(name)
        self._note_refused(name, error)
        self.owed.behind(partial(self._tell_taken, name, error))

    def _tell_taken(self, name: str, error: Exception) -> None:
        if name not in self.opened and name not in self._asked:  # else it is open again
            self.refuse(error, name=name)

    def _note_refused(self, name: str, error: Exception) -> None:
        """O5."""
        code = error.code if isinstance(error, BadRequestError) else code_of(error)
        if code in TEMPORARY or name in self.opened:
            return
        self._refused[name] = BadRequestError(code, str(error))
        self._refused.move_to_end(name)
        if len(self._refused) > limits.OBJECTS_MAX:
            self._refused.popitem(last=False)

    def why_not_open(self, name: str) -> BadRequestError:
        """What a call of an object that is not open is answered with (O5)."""
        not_open = BadRequestError("not_open", f"{name!r} is not open in this session")
        return self._refused.get(name, not_open)

    def recheck(self) -> None:
        """Let go of what the page may not have open any more."""
        for name, opened in list(self.opened.items()):
            objection = self._objection(opened.kind.name, name)
            if objection is not None and objection.code not in TEMPORARY:
                self.take_away(name, objection)
        for name, asked in self._asked.items():
            objection = self._objection(asked.kind.name, name) if asked.is_wanted else None
            if objection is not None and objection.code not in TEMPORARY:
                asked.is_wanted = False
                self._note_refused(name, objection)
                self.refuse(objection, name=name)

    def _release(self, name: str, opened: Opened) -> None:
        if opened.is_released:
            return
        opened.is_released = True
        if not self.session.ended:
            self._gateway.start(self._close(name))
        self._gateway.terms.closed(self.session.principal, opened.kind.name, name)  # O1

    async def _close(self, name: str) -> None:
        """Have the session close it, unless it is open again by then."""
        await self._gateway.turnstile.enter()
        if name not in self.opened:
            await self.session.let_go(name)

    def _on_given_up(self, name: str, opened: Opened, replica: Replica[object]) -> None:
        """The node shows this session nothing more of an object: its right to read has gone."""
        if self.opened.get(name) is not opened:
            return
        self._gateway.turn_to(None)
        if opened.feed is not None:
            opened.feed.close_entry()
        self.take_away(name, replica.given_up.error or BadRequestError("closed", "closed"))

    # --- what is told ---------------------------------------------------------------------------

    def _on_saved(self, name: str, number: int) -> None:
        self.tell({"t": "saved", "name": name, "n": number})

    def _on_published(self, name: str, event: Published[object]) -> None:
        self._gateway.turn_to(None)
        position, sender = event.position, who(event.process)
        message: Message = {"t": "event", "name": name, "version": position, "who": sender}
        message["value"] = shown(event.value)  # type: ignore[assignment]
        self.put(self._gateway.packed(("event", name, position), None, message))
