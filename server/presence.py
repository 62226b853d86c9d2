"""Who has which document open, and where their carets are.

Presence is volatile: it may be lost and the latest wins. A node tells its own sessions at once
and the other members at most ten times a second, with all carets that moved in one message.
Entries of a node that has left the view vanish.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from groupcore.view import Address
from server.frames import Json, Message
from server.hub import Hub
from server.peers import PeerMessage, People, Person, PersonLeft

TELL_INTERVAL_S = 0.1
"""Least time between two messages about carets to the other members."""


class Presence:
    """The people of all documents, those of other nodes included."""

    def __init__(self, hub: Hub, tell: Callable[[PeerMessage, Address | None], None]) -> None:
        self._hub = hub
        self._tell = tell
        self._local: dict[tuple[str, str], Person] = {}
        self._remote: dict[tuple[str, str], tuple[Address, Person]] = {}
        self._moved: set[tuple[str, str]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._last_told = float("-inf")

    def people(self, doc: str, besides: str) -> Message:
        """The `people` message of a document for the session `besides`."""
        everybody = [*self._local.values(), *(person for _, person in self._remote.values())]
        rows: list[Json] = [
            {
                "who": person.who,
                "name": person.name,
                "block": person.block,
                "anchor": person.anchor,
                "head": person.head,
            }
            for person in everybody
            if person.doc == doc and person.who != besides
        ]
        return {"t": "people", "doc": doc, "people": rows}

    # --- sessions of this node ------------------------------------------------------------------

    def move(self, person: Person) -> None:
        """A session of this node has come to a document or moved its caret."""
        key = (person.doc, person.who)
        if self._local.get(key) == person:
            return
        self._local[key] = person
        self._hub.publish(person.doc, caret_message(person), skip=person.who)
        self._moved.add(key)
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(
                max(loop.time(), self._last_told + TELL_INTERVAL_S), self._tell_moved
            )

    def leave(self, doc: str, who: str) -> None:
        """A session of this node has closed a document."""
        if self._local.pop((doc, who), None) is None:
            return
        self._moved.discard((doc, who))
        self._hub.publish(doc, {"t": "left", "doc": doc, "who": who}, skip=who)
        self._tell(PersonLeft(doc, who), None)

    def _tell_moved(self) -> None:
        self._timer = None
        self._last_told = asyncio.get_running_loop().time()
        moved = [self._local[key] for key in sorted(self._moved) if key in self._local]
        self._moved.clear()
        if moved:
            self._tell(People(moved, whole=False), None)

    def tell_all(self, member: Address) -> None:
        """Tell a new member everybody that is here."""
        self._tell(People(list(self._local.values()), whole=True), member)

    # --- other nodes ----------------------------------------------------------------------------

    def receive(self, sender: Address, message: People | PersonLeft) -> None:
        """What another member tells about its sessions."""
        if isinstance(message, PersonLeft):
            self._forget([(message.doc, message.who)], sender)
            return
        if message.whole:
            there = {(person.doc, person.who) for person in message.people}
            self._forget([key for key in self._of(sender) if key not in there], sender)
        for person in message.people:
            self._remote[person.doc, person.who] = (sender, person)
            self._hub.publish(person.doc, caret_message(person))

    def keep_members(self, members: Iterable[Address]) -> None:
        """Forget the people of nodes that are not in the view."""
        inside = set(members)
        for gone in {sender for sender, _ in self._remote.values()} - inside:
            self._forget(self._of(gone), gone)

    def _of(self, sender: Address) -> list[tuple[str, str]]:
        return [key for key, (origin, _) in self._remote.items() if origin == sender]

    def _forget(self, keys: Iterable[tuple[str, str]], sender: Address) -> None:
        for doc, who in keys:
            known = self._remote.get((doc, who))
            if known is not None and known[0] == sender:
                del self._remote[doc, who]
                self._hub.publish(doc, {"t": "left", "doc": doc, "who": who})

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()


def caret_message(person: Person) -> Message:
    """The `caret` message of a person."""
    return {
        "t": "caret",
        "doc": person.doc,
        "who": person.who,
        "name": person.name,
        "block": person.block,
        "anchor": person.anchor,
        "head": person.head,
    }
