"""What a node's processes have sent and is not saved, and who waits for it."""

from __future__ import annotations

from groupcore.sequencing.names import GroupId, MessageId, Process
from groupcore.shared.pending import Pending, Wait

Key = tuple[Process, GroupId]


class Unsaved:
    """By process and group: the number of the last message that was sent. `wait`: the runtime's."""

    def __init__(self, wait: Wait) -> None:
        self._wait = wait
        self._last: dict[Key, int] = {}
        self._waiting: list[tuple[dict[Key, int], Pending[None]]] = []

    def sent(self, process: Process, group: GroupId, number: int) -> None:
        """A message has been sent."""
        self._last[process, group] = number

    def saved(self, group: GroupId, message: MessageId) -> None:
        """Everything up to this message is saved."""
        key = message.process, group
        if self._last.get(key, 0) <= message.number:
            self._last.pop(key, None)
        for wanted, _ in self._waiting:
            if wanted.get(key, 0) <= message.number:
                wanted.pop(key, None)
        self._tell()

    def forget(self, group: GroupId) -> None:
        """The group is no more: nobody waits for what was sent there."""
        for wanted in (self._last, *(one for one, _ in self._waiting)):
            for key in [key for key in wanted if key[1] == group]:
                del wanted[key]
        self._tell()

    def _tell(self) -> None:
        """Who waits for nothing any more goes on."""
        done = [pending for wanted, pending in self._waiting if not wanted]
        if done:
            self._waiting = [one for one in self._waiting if one[0]]
        for pending in done:
            pending.resolve(None)

    async def none_left(self) -> None:
        """Wait until everything that has been sent up to now is saved."""
        if self._last:
            pending: Pending[None] = Pending(self._wait)
            self._waiting.append((dict(self._last), pending))
            await pending

    def end(self, error: Exception) -> None:
        """The node's life is over: what is not saved by now may be lost, and who waits is told."""
        waiting, self._waiting = self._waiting, []
        self._last.clear()
        for _, pending in waiting:
            pending.fail(error)
