"""What runs on a simulated node with a place: its program keeps the place open as long as it runs.

On virtual time what a server's node does: it has the cells open that its visitors need, tends them,
and ticks those in which something moves.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from groupcore.endpoint import Endpoint
from groupcore.errors import GroupcoreError
from groupcore.shared.documents.hosting import SessionHost
from groupcore.shared.places import Place, open_place
from groupcore.shared.runtime import elapse
from groupcore.sim.documents.host import DocumentHost
from groupcore.sim.documents.program import Program

NAME = "hall"
"""The place of a schedule."""
POLL_S = 0.05
SPLIT_ABOVE = 3
MERGE_BELOW = 2
"""Cells are small, so they are divided and united while few things are there."""


class PlaceProgram(Program):
    """`place` is what is open there now; `wanted` are the cells that visitors need."""

    place: Place | None = None
    wanted: frozenset[str] = frozenset()
    _has_begun = False

    def begin(self) -> None:
        """Keep the place from now on, if it does not yet."""
        if not self._has_begun:
            self._has_begun = True
            self.tasks.spawn(self._keep())

    def want(self, paths: Collection[str]) -> None:
        """The visitors of this node need these cells."""
        self.wanted = frozenset(paths)
        if self.place is not None:
            self.place.want(self.wanted)

    async def _keep(self) -> None:
        while True:
            session = self.session()
            secure = self.groups.saved if self.groups.options.durable else None
            with suppress(GroupcoreError):
                self.place = await open_place(
                    SessionHost(session, self.new_id),
                    NAME,
                    secure=secure,
                    split_above=SPLIT_ABOVE,
                    merge_below=MERGE_BELOW,
                )
                while not self.place.is_over:
                    await elapse(self.runtime, POLL_S)
            self.place = None
            with suppress(GroupcoreError):
                await session.close()
            await elapse(self.runtime, POLL_S)


class PlaceHost(DocumentHost):
    """The guest of a node with a place."""

    program_kind = PlaceProgram

    def begin_life(self, endpoint: Endpoint) -> tuple[int, int] | None:
        """See `Guest`."""
        held = super().begin_life(endpoint)
        assert isinstance(self.program, PlaceProgram)
        self.program.begin()
        return held
