"""How an adapter comes to its state after it has joined, or finds out that nobody has any.

Idea. A member that did not live through the former view asks the channel for the state until it
has it. When every member of a view lacks it (all who had it have crashed), the group would wait for
ever; so a member that was given none says so in the total order, and the place where all members
of the view have said so is the beginning of an empty state, the same at all. A member that asks
again takes its word back first. Who has the state never says that it has none, so an unlucky
time-out can not empty anybody.

Source. State transfer paper, 3.2 and 3.3.1 (null states, `GetState` false); what to do when all
states are null is left to the application there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from groupcore.blocks.ports import GroupChannel
from groupcore.errors import GroupcoreError
from groupcore.events import ViewInstalled
from groupcore.view import Address, View

log = logging.getLogger(__name__)

SEEKING = b"s"
"""I am asking for the state: what I said before does not hold any more."""
NOTHING = b"n"
"""I was given no state."""


class StateTaking:
    """Whether this member has the state (`whole`), and the task that gets it.

    `say` multicasts one of the two words in the total order. `timeout_s` bounds one attempt,
    `retry_s` is the pause before the next one when nothing has changed.
    """

    def __init__(
        self,
        channel: GroupChannel,
        say: Callable[[bytes], Awaitable[None]],
        timeout_s: float,
        retry_s: float,
    ) -> None:
        self.whole = False
        self._channel = channel
        self._say = say
        self._timeout_s = timeout_s
        self._retry_s = retry_s
        self._view: View | None = None
        self._without: set[Address] = set()
        self._taking = False
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._refused = asyncio.Event()

    def on_view(self, event: ViewInstalled, me: Address) -> bool:
        """Look at a new view; True when the state is empty from here on, and nobody has another.

        A view that was formed from what was on disk may leave out what some of its members have
        applied. The oldest that lived through the former view keeps its state, the others take it.
        """
        self._view = event.view
        self._without.clear()
        self._changed.set()
        if event.fresh:
            self.stop()
            self.whole = False
            if event.position == 0 and not event.recovered:
                return True
        elif event.recovered and self.whole:
            lived = event.previous.members if event.previous is not None else ()
            survivors = [member for member in event.view.members if member in lived]
            self.whole = survivors[:1] == [me]
        if not self.whole and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._take())
        return False

    def on_word(self, member: Address, word: bytes) -> bool:
        """A member's word at its place; True when it is the last one of a view without state."""
        if word == NOTHING:
            self._without.add(member)
        else:
            self._without.discard(member)
        return (
            not self.whole
            and self._view is not None
            and self._without.issuperset(self._view.members)
        )

    def accepts(self) -> bool:
        """Whether a state that arrives now counts; not after this member has said it has none."""
        return self.whole or self._taking

    def on_taken(self) -> None:
        """The state is set: this member has all that came before this place."""
        self.stop()
        self.whole = True

    def on_refused(self) -> None:
        """The state that came cannot be used: ask again."""
        self._refused.set()

    def stop(self) -> None:
        """End the attempts."""
        self._taking = False
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _take(self) -> None:
        while not self.whole:
            self._changed.clear()
            self._refused.clear()
            try:
                await self._say(SEEKING)
                self._taking = True
                if await self._channel.get_state(timeout_s=self._timeout_s):
                    await self._refused.wait()  # or the end of this task, when the state is set
                else:
                    self._taking = False
                    await self._say(NOTHING)
            except GroupcoreError as error:
                self._taking = False
                log.info("no state yet (%s); trying again", error)
            await self._pause()

    async def _pause(self) -> None:
        """Wait for another view, at most `retry_s`."""
        try:
            async with asyncio.timeout(self._retry_s):
                await self._changed.wait()
        except TimeoutError:
            return
