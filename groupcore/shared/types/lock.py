"""A fair lock: the first in the order has it, the next in the order gets it.

Source. Design, section 5. A lock of a process that departs is released where its departure stands
in the order, so nobody waits for the dead. A process that is cut off may believe that it has a
lock that was taken from it: what is protected should refuse tokens lower than one it has seen
(fencing token; Gray and Cheriton, "Leases", 1989, name the problem).
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.sequencing.names import Process
from groupcore.shared.errors import ClosedError, SharedError
from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation


class HeldError(SharedError):
    """Somebody else was first: `holder` has it. For a lease, `until_s` is when it ends."""

    def __init__(self, holder: Process, until_s: float | None = None) -> None:
        until = "" if until_s is None else f" until {until_s:.3f}"
        super().__init__(f"{holder} has it{until}; wait, or ask again")
        self.holder = holder
        self.until_s = until_s


class NotHeldError(SharedError):
    """This ticket is not (or no longer) the holder's: it was released, or its process departed."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A place in the queue. `token` grows from ticket to ticket: a fencing token."""

    token: int
    process: Process


@dataclass(frozen=True, slots=True)
class Granted:
    """A detail of a change: this ticket has the lock now."""

    ticket: Ticket


class Held:
    """`async with lock.hold() as ticket:` has the lock inside the block."""

    def __init__(self, lock: Lock) -> None:
        self._lock = lock
        self._ticket: Ticket | None = None

    async def __aenter__(self) -> Ticket:
        self._ticket = await self._lock.acquire()
        return self._ticket

    async def __aexit__(self, *_error: object) -> None:
        assert self._ticket is not None
        await self._lock.release(self._ticket.token)


class Lock(SharedObject):
    """One holder at a time, in the order of the requests; freed when the holder's process departs.

    A process may queue several times: each ticket is a place of its own.
    """

    _queue: list[Ticket]
    _tickets: int = 0

    @operation
    def request(self) -> Ticket:
        """Take a place in the queue; the first in it has the lock."""
        return self._enter()

    @operation
    def try_acquire(self) -> Ticket:
        """Take the lock if it is free; else HeldError, which names the holder."""
        if self._queue:
            raise HeldError(self._queue[0].process)
        return self._enter()

    @operation
    def release(self, token: int) -> None:
        """Free the lock, or give the place in the queue up; NotHeldError for a ticket not in it."""
        for place, ticket in enumerate(self._queue):
            if ticket.token == token:
                self._drop(place)
                return
        raise NotHeldError(f"ticket {token} is not in the queue")

    async def acquire(self) -> Ticket:
        """Wait until it is one's turn; gives the ticket, which `release` wants back.

        Raises ClosedError when the object is closed meanwhile. Whoever is cancelled while waiting
        leaves the queue.
        """
        async with self.changes() as changes:
            ticket = await self.request()
            try:
                while self.ticket != ticket:
                    if changes.ended:
                        raise ClosedError("the lock was closed while waiting for it")
                    if ticket not in self._queue:
                        raise NotHeldError(f"ticket {ticket.token} was taken back")
                    await anext(changes, None)
            except BaseException:
                self._give_up(ticket)
                raise
        return ticket

    def hold(self) -> Held:
        """`async with lock.hold() as ticket:`."""
        return Held(self)

    @property
    def ticket(self) -> Ticket | None:
        """The ticket that has the lock, as far as this replica is."""
        return self._queue[0] if self._queue else None

    @property
    def holder(self) -> Process | None:
        """The process that has the lock, as far as this replica is."""
        return self._queue[0].process if self._queue else None

    @property
    def queue(self) -> list[Ticket]:
        """The ticket that has the lock, and those that wait behind it."""
        return list(self._queue)

    @property
    def waiting(self) -> list[Process]:
        """Who waits, in the order in which they will get it."""
        return [ticket.process for ticket in self._queue[1:]]

    def on_departed(self, process: Process) -> None:
        """Whoever departs has no place in the queue any more."""
        for place in reversed(range(len(self._queue))):
            if self._queue[place].process == process:
                self._drop(place)

    def _enter(self) -> Ticket:
        self._tickets += 1
        ticket = Ticket(self._tickets, self.context.process)
        self._queue.append(ticket)
        if len(self._queue) == 1:
            self.emit(Granted(ticket))
        return ticket

    def _drop(self, place: int) -> None:
        del self._queue[place]
        if place == 0 and self._queue:
            self.emit(Granted(self._queue[0]))

    def _give_up(self, ticket: Ticket) -> None:
        try:
            self.release(ticket.token)
        except ClosedError:
            return  # its departure gives it up
