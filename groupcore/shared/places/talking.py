"""A place's chat at a node: open from when somebody needs it until the place is kept no more.

Idea. As with cells: whoever has the chat open tells it who may, as the outline says, any number of
times; it takes a list of each version once. It is told before it is given to anybody.
"""

from __future__ import annotations

from contextlib import suppress

from groupcore.errors import GroupcoreError
from groupcore.shared.changes import Change
from groupcore.shared.places.carrying import Host
from groupcore.shared.places.outline import PlaceOutline
from groupcore.shared.places.talk import TALK, PlaceTalk
from groupcore.shared.streams import Stream


class Talking:
    """The chat of the place `name`, whose outline is open here."""

    def __init__(self, host: Host, name: str, outline: PlaceOutline) -> None:
        self._host = host
        self._outline = outline
        self._talk: PlaceTalk | None = None
        self._is_busy = False
        self._streams: list[Stream[Change]] = []
        self._ended = False
        self.name = f"place/{name}/{TALK}"

    @property
    def is_open(self) -> bool:
        """Whether it is open here."""
        return self._talk is not None

    async def open(self) -> PlaceTalk:
        """The chat, which knows who may; errors as those of opening."""
        found = await self._host.open(PlaceTalk, self.name)
        if self._talk is not found:
            self._unfollow()
            self._talk = found
            for stream in (self._outline.changes(), found.changes()):
                stream.tap = lambda _: self._look()
                self._streams.append(stream)
        await self._tell(found)
        return found

    def keep(self) -> None:
        """Have it open here soon, for places that no disk has."""
        if self._talk is None and not (self._is_busy or self._ended):
            self._is_busy = True
            self._host.start(self._keep())

    async def _keep(self) -> None:
        try:
            with suppress(GroupcoreError):  # cut off: the next change of the place tries again
                await self.open()
        finally:
            self._is_busy = False

    def end(self) -> None:
        """Tend it no more."""
        self._ended = True
        self._unfollow()

    async def close(self) -> None:
        """As `end`, and close it."""
        self.end()
        if self._talk is not None:
            await self._talk.close()

    def _unfollow(self) -> None:
        for stream in self._streams:
            stream.close()
        self._streams.clear()

    # --- who may --------------------------------------------------------------------------------

    def _look(self) -> None:
        talk = self._talk
        if talk is not None and self._lags(talk) and not (self._is_busy or self._ended):
            self._is_busy = True
            self._host.start(self._follow(talk))

    def _lags(self, talk: PlaceTalk) -> bool:
        return talk.rights_version < self._outline.rights_version

    async def _follow(self, talk: PlaceTalk) -> None:
        try:
            with suppress(GroupcoreError):  # closed, cut off: what changes wakes it again
                await self._tell(talk)
        finally:
            self._is_busy = False

    async def _tell(self, talk: PlaceTalk) -> None:
        outline = self._outline
        while self._lags(talk):
            await talk.follow(outline.rights_version, dict(outline.rights))
