"""One object at this node, as its web sessions follow it.

Idea. What the node does with the object is gathered into entries. An entry is closed when another
object changes, or before anything is written: it is packed once, put behind what each session has
to be sent, and kept for a while for those who come back. So a session is given the changes of its
objects in the node's order, which is right for all of them (CT1, CT2).

A page may follow a part of the object (`groupcore.gateway.parts`): it is told of each entry what
concerns its parts.

Invariants.
  F1  A version is `(birth, position)`; only changes of one birth follow each other.
  F2  Who is given `changes` behind a version has everything up to their version then, or all of it
      that is in the parts that it follows.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeAlias

from groupcore.frames import Message
from groupcore.gateway.errors import BadRequestError, InterestError
from groupcore.gateway.kinds import Kind
from groupcore.gateway.limits import HISTORY_BYTES_MAX, HISTORY_MAX
from groupcore.gateway.parts import Entry, Item, Parts, Piece, Seeing, Sight
from groupcore.sequencing.names import Process
from groupcore.shared.body import Body
from groupcore.shared.machine import Done
from groupcore.shared.object import SharedObject
from groupcore.shared.plain import who

if TYPE_CHECKING:
    from groupcore.gateway.gateway import Gateway
    from groupcore.gateway.outlet import Outlet

Version: TypeAlias = tuple[str, int]
DEPARTED = "departed"
"""What stands for an operation where a process has gone."""


class Feed:
    """The object `name`; `body` is the node's copy."""

    def __init__(self, gateway: Gateway, name: str, kind: Kind, body: Body[object]) -> None:
        self.name = name
        self.kind = kind
        self.body = body
        self.followers: dict[Outlet, Seeing | None] = {}
        self.latency_s: float | None = None
        self._gateway = gateway
        self._items: list[Item] = []
        self._parts: Parts | None = None
        self._is_dirty = False
        self._state: object = None
        self._begin()
        body.observers.append(self)

    def _begin(self) -> None:
        """Here the history begins."""
        self._birth = self.body.machine.birth
        self._closed_at = self._kept_from = self.body.machine.position
        self._history: deque[tuple[int, bytes]] = deque()
        self._history_bytes = 0
        self._items = []
        if self.kind.whole:
            self._state = self._shown()

    def end(self) -> None:
        """Nobody follows it here any more."""
        if self in self.body.observers:
            self.body.observers.remove(self)

    def took(self, time_s: float) -> None:
        """A call of a page has taken so long; `latency_s` follows the last dozen or so."""
        before = self.latency_s
        self.latency_s = time_s if before is None else before + (time_s - before) / 8

    @property
    def version(self) -> Version:
        """Up to where the entries that are closed go."""
        return self._birth, self._closed_at

    def _target(self) -> SharedObject:
        target = self.body.origin
        assert isinstance(target, SharedObject)
        return target

    def _shown(self, base: int = -1) -> object:
        return self.kind.snapshot(self._target(), base)

    # --- who follows it -------------------------------------------------------------------------

    def follow(self, page: Outlet, sight: Sight | None) -> None:
        """The page follows it from now on: what it sees of it, or all.

        Nothing may be open of the entry under way (`Gateway.turn_to`). BadRequestError.
        """
        if sight is None:
            self.followers[page] = None
            return
        if self._parts is None:
            if self.kind.parts is None:
                raise BadRequestError("bad_message", f"a {self.kind.name} is followed as a whole")
            self._parts = self.kind.parts(self._target())
        self.followers[page] = Seeing(sight, self._parts.seen(sight))

    def look(self, page: Outlet, sight: Sight, is_current: bool = True) -> None:
        """The page sees another part of it from now on; BadRequestError.

        `is_current`: what is here is of now. Else it is given what it sees when that is so.
        """
        self._gateway.turn_to(None)  # P1: what it is given is as of this place
        before = self.followers.get(page)
        if not is_current:
            self.followers[page] = Seeing(sight, before.parts if before else frozenset())
            return
        self.follow(page, sight)
        if before is None:
            page.send_snapshot(self, -1)
        else:
            self._part_of(page, before.parts)

    def unfollow(self, page: Outlet) -> None:
        """The page follows it no more."""
        self.followers.pop(page, None)
        if not any(self.followers.values()):
            self._parts = None

    def _part_of(self, page: Outlet, before: frozenset[str]) -> None:
        """Give a page the parts that it has come to follow, and say which it has left."""
        seeing = self.followers[page]
        assert seeing is not None
        assert self._parts is not None
        gained, left = seeing.parts - before, before - seeing.parts
        if gained or left:
            state = {**self._parts.shown(gained), "left": sorted(left)}
            page.send_parts(self, self._snapshot(state, page.client))

    def _look_again(self) -> None:
        """The object may have other parts now: what is seen of it is looked for anew."""
        if self._parts is None:
            return
        for page, seeing in list(self.followers.items()):
            if seeing is None:
                continue
            try:
                before, seeing.parts = seeing.parts, self._parts.seen(seeing.sight)
                self._part_of(page, before)
            except BadRequestError as error:
                page.take_away(self.name, error)

    def _pieces(self, operation: str, details: tuple[object, ...]) -> list[Piece] | None:
        """What those are told of it who follow parts; None where nobody does."""
        if self._parts is None:
            return None
        try:
            return self._parts.told(operation, details)
        except InterestError as error:
            self._parts = None
            for page, seeing in list(self.followers.items()):
                if seeing is not None:
                    page.take_away(self.name, error)
            return None

    # --- from the body --------------------------------------------------------------------------

    def on_done(self, position: int, process: Process, done: Done) -> None:
        """A message has been done."""
        self._gateway.turn_to(self)
        self._is_dirty = True
        if done.error is not None:
            return
        for (spec, arguments), details in zip(done.calls, done.details, strict=True):
            if self.kind.told is None:
                told = [self.kind.detail(one) for one in details]
            else:
                told = self.kind.told(self.body.machine, process, spec, arguments, details)
            pieces = self._pieces(spec.name, details)
            self._items.append(Item(position, who(process), spec.name, told, pieces))
        self._note_ended(position, done)

    def on_member(self, position: int, process: Process, done: Done) -> None:
        """A process has come or gone, which may change the object."""
        self._gateway.turn_to(self)
        self._is_dirty = True
        if process not in self.body.machine.members and done.error is None:
            self._note_departed(position, process, done.details[0] if done.details else ())
        self._note_ended(position, done)

    def _note_ended(self, position: int, done: Done) -> None:
        """Guests have departed there, too."""
        for process, details in done.ended:
            self._note_departed(position, process, details)

    def _note_departed(self, position: int, process: Process, details: tuple[object, ...]) -> None:
        if self.kind.told is not None:
            told = self.kind.told(self.body.machine, process, None, [], details)
            if told:
                pieces = self._pieces(DEPARTED, details)
                self._items.append(Item(position, who(process), DEPARTED, told, pieces))

    def on_replaced(self) -> None:
        """The whole state is another one: everybody gets it."""
        self._gateway.turn_to(None)
        self._begin()
        self._parts = None
        for page, seeing in list(self.followers.items()):
            try:
                self.follow(page, None if seeing is None else seeing.sight)
            except BadRequestError as error:
                page.take_away(self.name, error)
            else:
                page.send_snapshot(self, -1)

    # --- entries --------------------------------------------------------------------------------

    def close_entry(self) -> None:
        """Pack what has gathered, and put it behind what the sessions have to be sent."""
        if not self._is_dirty:
            return
        self._is_dirty = False
        before, machine = self._closed_at, self.body.machine
        if machine.birth != self._birth:
            self.on_replaced()
            return
        self._closed_at = machine.position
        message: Message = {"t": "changes", "name": self.name, "version": machine.position}
        whole_state: Message = {}
        if self.kind.whole:
            state = self._shown()
            if state != self._state or self._items:
                self._state = whole_state["state"] = state  # type: ignore[assignment]
        if not self._items and not whole_state:
            return
        entry, self._items = Entry(message, self._items, whole_state), []
        whole = entry.whole()
        self._keep(whole)
        for page, seeing in self.followers.items():
            packed = whole if seeing is None else entry.of(seeing.parts)
            if packed is not None:
                page.send_changes(self, packed, before)
        if entry.is_of_parts:
            self._look_again()

    def _keep(self, packed: bytes) -> None:
        self._history.append((self._closed_at, packed))
        self._history_bytes += len(packed)
        while self._history_bytes > HISTORY_BYTES_MAX or len(self._history) > HISTORY_MAX:
            self._kept_from, gone = self._history.popleft()
            self._history_bytes -= len(gone)

    def since(self, version: Version) -> list[bytes] | None:
        """The changes behind a version; None when they are not all here (F1, F2)."""
        birth, position = version
        if birth != self._birth or not self._kept_from <= position <= self._closed_at:
            return None
        return [packed for at, packed in self._history if at > position]

    def missed(self, page: Outlet, version: Version) -> list[bytes] | None:
        """As `since`; None for who follows a part of it, which is given that anew."""
        return None if self.followers.get(page) is not None else self.since(version)

    def snapshot(self, base: int, client: str, seeing: Seeing | None = None) -> Message:
        """The state as of now, or what is seen of it, with what has become of the client's calls.

        `last` is the highest number of them that the state knows: what was answered behind it was
        lost with all nodes.
        """
        if seeing is None or self._parts is None:
            return self._snapshot(self._shown(base), client)
        return self._snapshot(self._parts.shown(seeing.parts), client)

    def _snapshot(self, state: object, client: str) -> Message:
        birth, position = self.version
        message: Message = {"t": "snapshot", "name": self.name, "birth": birth}
        message["version"] = position
        message["state"] = state  # type: ignore[assignment]
        message["done"] = self.done(client)  # type: ignore[assignment]
        message["last"] = self.body.machine.verdicts.last_of(client)
        return message

    def done(self, client: str) -> list[object]:
        """What has become of the client's last calls: number, results, code."""
        verdicts = self.body.machine.verdicts.of(client)
        return [[number, one.results, one.code] for number, one in verdicts.items()]
