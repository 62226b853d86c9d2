"""Whether this node knows of late enough an order to say who may read what.

Idea. Rights are given and taken in the order. A node that is cut off, or was stopped, does not know
what has been ordered meanwhile, and would go on to show documents to who was removed. So it is sure
of its accounts only while it hears a quorum of its view every `SILENT_S` and its loop runs in time.
Behind a silence or a pause it is sure again when the order has brought it something that it has
said afterwards: then it has all that was ordered before. Others read meanwhile, and who asks here
is sent to them.

Invariants.
  S1  Who reads is judged by accounts that were those of the order less than `SILENT_S` plus two
      `LOOK_S` before, or is not answered.
  S2  Nobody waits for that longer than they say, and `LONGER_S` where the order is about to answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from groupcore.errors import GroupcoreError
from server.errors import BadMessageError

LOOK_S = 0.1
LATE_S = 0.35
"""A look that comes so long behind the one before says that the process was paused."""
SILENT_S = 0.5
"""Five heartbeats: without a quorum for so long, a node may be cut off."""
WAIT_S = 1.0
"""How long who reads waits for the order."""
LONGER_S = 4.0
"""And on, where a quorum is heard: then the order is not far."""
RETRY_S = 0.1


class Standing:
    """`silent_s`: for how long no quorum was heard; `ask` is back when the order has answered."""

    def __init__(
        self,
        clock: Callable[[], float],
        silent_s: Callable[[], float],
        ask: Callable[[], Awaitable[object]],
    ) -> None:
        self.doubts = 0
        self._clock = clock
        self._silent_s = silent_s
        self._ask = ask
        self._looked_s = clock()
        self._in_doubt = False
        self._reasons = 0
        self._asking: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Look from now on, also while nobody reads."""
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    def end(self) -> None:
        """The node leaves."""
        for task in (self._watching, self._asking):
            if task is not None:
                task.cancel()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            self.is_sure()

    def is_sure(self) -> bool:
        """Whether this node may say who reads what (S1)."""
        now = self._clock()
        if now - self._looked_s > LATE_S or self._silent_s() > SILENT_S:
            self._reasons += 1
            self.doubts += not self._in_doubt
            self._in_doubt = True
        self._looked_s = now
        if self._in_doubt and self._asking is None:
            self._asking = asyncio.get_running_loop().create_task(self._ask_the_order())
        return not self._in_doubt

    async def _ask_the_order(self) -> None:
        """Ask until nothing has raised a doubt between question and answer."""
        try:
            while self._in_doubt:
                reasons = self._reasons
                try:
                    await self._ask()
                except GroupcoreError:  # the cluster has gone on without this node
                    await asyncio.sleep(RETRY_S)
                else:
                    self._in_doubt = reasons != self._reasons
        finally:
            self._asking = None

    async def sure(self, wait_s: float = WAIT_S) -> None:
        """Wait until it is sure, for so long at most; BadMessageError `not_primary` (S2)."""
        if self.is_sure():
            return
        asking = self._asking
        assert asking is not None, "who doubts asks"
        await asyncio.wait([asking], timeout=wait_s)
        if self._in_doubt and self._silent_s() <= SILENT_S:
            await asyncio.wait([asking], timeout=LONGER_S)
        if self._in_doubt:
            raise BadMessageError(
                "not_primary",
                "this node is apart from the others and does not know who may read this now; "
                "try again, or ask another node",
            )
