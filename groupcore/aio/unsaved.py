"""What a node's processes have sent and is not saved, and who waits for it."""

from __future__ import annotations

import asyncio

from groupcore.errors import ChannelClosedError
from groupcore.sequencing.names import GroupId, MessageId, Process

Key = tuple[Process, GroupId]


class Unsaved:
    """By process and group: the number of the last message that was sent."""

    def __init__(self) -> None:
        self._last: dict[Key, int] = {}
        self._waiting: list[tuple[dict[Key, int], asyncio.Future[None]]] = []

    def sent(self, process: Process, group: GroupId, number: int) -> None:
        """A message has been sent."""
        self._last[process, group] = number

    def saved(self, group: GroupId, message: MessageId) -> None:
        """Everything up to this message is saved."""
        key = message.process, group
        if self._last.get(key, 0) <= message.number:
            self._last.pop(key, None)
        for wanted, future in self._waiting:
            if wanted.get(key, 0) <= message.number:
                wanted.pop(key, None)
            if not wanted and not future.done():
                future.set_result(None)
        self._waiting = [one for one in self._waiting if not one[1].done()]

    async def none_left(self) -> None:
        """Wait until everything that has been sent up to now is saved."""
        if self._last:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((dict(self._last), future))
            await future

    def end(self, detail: str) -> None:
        """The node's life is over: what is not saved by now may be lost."""
        for _, future in self._waiting:
            if not future.done():
                future.set_exception(ChannelClosedError(detail))
        self._waiting.clear()
        self._last.clear()
