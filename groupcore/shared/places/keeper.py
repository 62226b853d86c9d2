"""Which places a node keeps: those that its pages or requests have in hand, and for a while
afterwards.

Idea. That of `groupcore.shared.keeping`. A place that is kept is minded
(`groupcore.shared.places.minding`): its cells are open only while somebody needs them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from groupcore.shared.changes import Change
from groupcore.shared.documents.hosting import SessionHost
from groupcore.shared.keeping import LINGER_S, Keeping, Node
from groupcore.shared.object import caught_up
from groupcore.shared.places.minding import Minding
from groupcore.shared.places.outline import PlaceOutline
from groupcore.shared.places.place import open_place
from groupcore.shared.session import Session
from groupcore.shared.streams import Stream

OnTitle = Callable[[str, str], None]


class PlaceKeeper(Keeping[Minding]):
    """Keeps places open at `node`; `on_title(place, title)` is told titles, by one node.

    `ticks`: whether what moves by itself in places that are opened from now on does so.
    """

    def __init__(
        self,
        node: Node,
        on_title: OnTitle = lambda place, title: None,
        linger_s: float = LINGER_S,
    ) -> None:
        super().__init__(node, linger_s)
        self._on_title = on_title
        self.ticks = True

    @property
    def outlines(self) -> dict[str, PlaceOutline]:
        """Of the places that are open here now, by id."""
        return {name: minding.place.outline for name, minding in self.kept.items()}

    @asynccontextmanager
    async def reading(self, name: str) -> AsyncIterator[Minding]:
        """Hold a place that is of now, also at a node that has just come back to its cluster."""
        async with self.holding(name) as minding:
            place = minding.place
            await caught_up(place.outline, *place.cells.values())
            yield minding

    async def _begin_in(self, session: Session, name: str) -> Minding:
        groups = session.home.groups
        secure = groups.saved if groups.options.durable else None
        place = await open_place(SessionHost(session, _no_id), name, secure=secure)
        return Minding(place, self._node.runtime, self.ticks)

    def _follow(self, name: str, found: Minding) -> Stream[Change]:
        stream = found.place.outline.changes()
        stream.tap = lambda _: self._tell_title(name, found)
        self._tell_title(name, found)
        return stream

    def _tell_title(self, name: str, found: Minding) -> None:
        if found.place.is_first:
            self._on_title(name, found.place.outline.title)

    def _stop(self, found: Minding) -> None:
        found.end()
        found.place.end()


def _no_id() -> str:
    raise AssertionError("things have the ids that people give them")
