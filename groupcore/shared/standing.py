"""The node's own process in one group, which stands there for the sessions that attend.

Idea. A session of a page is no member of the groups of its objects: it attends them
(`groupcore.sequencing.joining`). So one process of the node joins each group, for the first session
that attends, and stays as long as anybody at the node has the object open.

Source. Design, 4.6; decision 184.

Invariants.
  N1  While a session attends, the node's process is a member.
  N2  When nobody at the node has the object open any more, that process leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from groupcore.errors import ChannelClosedError, GroupRefusedError
from groupcore.sequencing.names import GroupId, Process
from groupcore.shared.pending import Pending
from groupcore.shared.runtime import elapse

if TYPE_CHECKING:
    from groupcore.shared.session import Home

REJOIN_S = 0.02
"""Pause before a process that has just left a group asks again to join it."""


class Standing:
    """The node's process in the group of an object. `is_wanted`: whether anybody has that open.

    `settled` is called when it is in, or cannot be.
    """

    def __init__(
        self, home: Home, is_wanted: Callable[[], bool], settled: Callable[[], None]
    ) -> None:
        self._home = home
        self._is_wanted = is_wanted
        self._settled = settled
        self._entering: Pending[None] | None = None

    @property
    def is_entering(self) -> bool:
        """Whether it is about to be in."""
        return self._entering is not None and not self._entering.done

    async def entered(self, group: GroupId) -> None:
        """Wait until the node's process is in. GroupRefusedError, ChannelClosedError."""
        if self._entering is None or self._entering.error is not None:
            self._entering = self._home.runtime.spawn(self._enter(group))
            self._entering.when_done(self._settled)
        await self._entering

    async def _enter(self, group: GroupId) -> None:
        home = self._home
        process = home.member
        while True:
            try:
                await home.groups.join(process, group)
            except GroupRefusedError as error:
                if error.code != "already_a_member":
                    raise
                await elapse(home.runtime, REJOIN_S)  # it leaves, and the record shows it not yet
            else:
                break
        if not self._is_wanted():
            self._leave(process, group)  # N2: who wanted it has gone meanwhile

    def leave(self, group: GroupId) -> None:
        """Nobody has the object open any more (N2); of one that is about to be in see there."""
        if self._entering is not None and self._entering.done:
            if self._entering.error is None:
                self._leave(self._home.member, group)
            self._entering = None

    def _leave(self, process: Process, group: GroupId) -> None:
        self._entering = None
        with suppress(ChannelClosedError):
            self._home.groups.leave(process, group)

    def interrupt(self) -> None:
        """The life of the node is over, and its processes with it."""
        self._entering = None
