"""A lease: a lock that ends by itself, by the order's time.

Source. Gray and Cheriton, "Leases" (1989); design, section 5. Who has it is decided where a
request stands in the order, by the order's time there: no replica's own clock decides anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.sequencing.names import Process
from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation
from groupcore.shared.types.lock import HeldError, NotHeldError

DURATION_MAX_S = 30 * 24 * 3600.0
"""Longest time that a lease is given for."""


@dataclass(frozen=True, slots=True)
class Grant:
    """`process` has the lease until `until_s`, in the order's time (`lease.time_s`).

    `token` grows with each new holder: a fencing token.
    """

    token: int
    process: Process
    until_s: float


class Lease(SharedObject):
    """One holder at a time, for a time. Freed when the holder's process departs, as well."""

    _grant: Grant | None = None
    _tokens: int = 0

    @operation
    def take(self, duration_s: float) -> Grant:
        """Take the lease for so long, if it is free or has ended; else HeldError.

        Who has it already gets it for `duration_s` from now, under the same token.
        """
        context = self.context
        grant = self._grant
        if grant is None or context.time_s >= grant.until_s:
            self._tokens += 1
        elif grant.process != context.process:
            raise HeldError(grant.process, grant.until_s)
        return self._give(duration_s)

    @operation
    def renew(self, token: int, duration_s: float) -> Grant:
        """Have it for `duration_s` from now; NotHeldError when somebody else has had it since.

        One that has ended, and that nobody else has taken, can be renewed.
        """
        self._require(token)
        return self._give(duration_s)

    @operation
    def release(self, token: int) -> None:
        """Give it back before its time; NotHeldError when somebody else has had it since."""
        self._require(token)
        self._grant = None

    @property
    def grant(self) -> Grant | None:
        """Who has the lease, as far as this replica is; it may have ended by `time_s`."""
        return self._grant

    @property
    def holder(self) -> Process | None:
        """Who has the lease now, by this replica's estimate of the order's time."""
        grant = self._grant
        return None if grant is None or self.time_s >= grant.until_s else grant.process

    def on_departed(self, process: Process) -> None:
        """Whoever departs has no lease any more."""
        if self._grant is not None and self._grant.process == process:
            self._grant = None

    def _require(self, token: int) -> None:
        grant = self._grant
        if grant is None or grant.token != token or grant.process != self.context.process:
            raise NotHeldError(f"the lease with token {token} has ended")

    def _give(self, duration_s: float) -> Grant:
        if not 0 < duration_s <= DURATION_MAX_S:
            raise ValueError(f"a lease is for up to {DURATION_MAX_S:.0f} s, not {duration_s}")
        context = self.context
        self._grant = Grant(self._tokens, context.process, context.time_s + duration_s)
        return self._grant
