"""What a sender has on the way to its receivers: credit, what waits for it, and who is too slow.

Plain values and tables, no messages. Costs in bytes, times in monotonic seconds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from groupcore.batch import Batch
from groupcore.view import Address


@dataclass(slots=True)
class Account:
    """What one receiver has told of one stream."""

    received: int = 0
    unread: int = 0

    @property
    def consumed(self) -> int:
        """What it has got and consumed; below 0 when more waits from before the view."""
        return self.received - self.unread

    def update(self, received: int, unread: int) -> bool:
        """Take what it tells; False when that is older than what is known."""
        if (received, -unread) <= (self.received, -self.unread):
            return False
        self.received, self.unread = received, unread
        return True


@dataclass(slots=True)
class Outflow:
    """One stream: what was `sent`, what waits, and the accounts of its receivers.

    It may be sent while `sent` is below `open`, which is 0 while the stream is closed.
    """

    sent: int = 0
    open: int = 0
    waiting: deque[tuple[Batch, int]] = field(default_factory=deque)
    waiting_bytes: int = 0
    accounts: dict[Address, Account] = field(default_factory=dict)

    def limit(self, credit_bytes: int) -> int:
        """Up to where the slowest receiver's credit reaches."""
        consumed = (account.consumed for account in self.accounts.values())
        return min(consumed, default=0) + credit_bytes

    def reopen(self, credit_bytes: int) -> None:
        """Let the stream go on up to the limit, unless something waits that must go first."""
        self.open = 0 if self.waiting else self.limit(credit_bytes)

    def hold(self, batch: Batch, cost_bytes: int) -> None:
        """Let the batch wait behind the others, and what follows behind it."""
        self.waiting.append((batch, cost_bytes))
        self.waiting_bytes += cost_bytes
        self.open = 0

    def take(self, credit_bytes: int) -> list[Batch]:
        """What may go now of what waits; the rest of a body goes with its beginning.

        Afterwards the stream is closed if anything was taken: whoever sends while these are on
        their way down must not overtake them.
        """
        limit = self.limit(credit_bytes)
        taken: list[Batch] = []
        while self.waiting and (self.sent < limit or continues(self.waiting[0][0])):
            batch, cost_bytes = self.waiting.popleft()
            self.waiting_bytes -= cost_bytes
            self.sent += cost_bytes
            taken.append(batch)
        if taken:
            self.open = 0
        else:
            self.reopen(credit_bytes)
        return taken

    def held_up_by(self, credit_bytes: int, lag_bytes: int) -> Iterable[Address]:
        """Receivers for whose credit something waits, or to whom `lag_bytes` have not come."""
        for member, account in self.accounts.items():
            no_credit = self.waiting and self.sent - account.consumed >= credit_bytes
            if no_credit or self.sent - account.received >= lag_bytes:
                yield member

    def end_epoch(self) -> None:
        """Drop what waits and has no meaning in the next epoch: it is sent anew."""
        kept = [item for item in self.waiting if not item[0].ends_with_epoch]
        self.waiting = deque(kept)
        self.waiting_bytes = sum(cost_bytes for _, cost_bytes in kept)

    def begin_view(self, members: Iterable[Address]) -> None:
        """Count anew; who stays keeps what it has not consumed, who is new has full credit."""
        self.sent = 0
        accounts = self.accounts
        self.accounts = {
            member: Account(0, accounts[member].unread if member in accounts else 0)
            for member in members
        }


def continues(batch: Batch) -> bool:
    """Whether the batch is the rest of the body that began with the one before it."""
    return any(header.continues for header in batch.headers)


@dataclass(slots=True)
class Pace:
    """Who takes less than `bytes_s` throughout `timeout_s` of being waited for."""

    timeout_s: float
    bytes_s: int
    since: dict[Address, tuple[float, int]] = field(default_factory=dict)
    late: frozenset[Address] = frozenset()

    def look(self, consumed: Mapping[Address, int], now: float) -> frozenset[Address]:
        """Those who are late now; `consumed` is how far each one is that is waited for."""
        self.since = {member: begun for member, begun in self.since.items() if member in consumed}
        late = self.late & self.since.keys()
        for member, total in consumed.items():
            began, then = self.since.setdefault(member, (now, total))
            if now - began < self.timeout_s:
                continue
            if total - then < self.bytes_s * (now - began):
                late |= {member}
            else:
                late -= {member}
                self.since[member] = (now, total)
        self.late = late
        return late

    def begin_view(self) -> None:
        """Nobody is waited for yet."""
        self.since = {}
        self.late = frozenset()
