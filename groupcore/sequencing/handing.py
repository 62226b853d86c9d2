"""Handing over: who has a group's state stays until one that has joined has it, too.

Idea. In memory a group's state lives with its members. When the only node that has it lets it go
while another one still takes it, the group begins anew, and all that was said is lost. So a node
remembers who has joined groups whose state it has, until that has been given to them. As long as
all other nodes with members are such, the last LEAVE of this node is not sent, and a node that
wants to leave the cluster stays. Both for a while only: who does not come for a state has crashed,
or has it from elsewhere.

Source. Design, 4.11; paper, section 3.2: with a JOIN comes the state.

Invariants.
  I1  While a newcomer's node has not taken the state, and nobody else may have it, it stays here.
  I2  That ends: `PATIENCE_S` after the newcomer was last heard of in this matter, or `MOST_S` after
      it has joined.
"""

from __future__ import annotations

from groupcore.sequencing.headers import StateRequest
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import Record
from groupcore.sequencing.states import States
from groupcore.view import Address

PATIENCE_S = 1.0
"""So long a newcomer may be silent; it asks at once, and again when nothing comes."""
MOST_S = 10.0
"""So long it may take, though it asks."""


class Handing:
    """The nodes that may still need the state of groups that are here, oldest first."""

    def __init__(self, plane: Plane, states: States) -> None:
        self._plane = plane
        self._states = states
        self._owed: dict[tuple[GroupId, Address], tuple[float, float]] = {}
        self._wake_at: float | None = None

    def on_joined(self, record: Record, node: Address, now: float) -> None:
        """A process of another node has joined; its node has the state if it had a member."""
        hold = record.hold
        if hold is None or hold.waiting_for_state or self._plane.archive is not None:
            return
        if sum(process.node == node for process in record.members) == 1:
            self._owe((record.group, node), now, now + MOST_S)

    def _owe(self, key: tuple[GroupId, Address], now: float, most: float) -> None:
        while self._owed and next(iter(self._owed.values()))[0] <= now:
            del self._owed[next(iter(self._owed))]
        self._owed.pop(key, None)
        self._owed[key] = (min(now + PATIENCE_S, most), most)

    def on_request(self, node: Address, header: StateRequest, now: float) -> None:
        """A piece was asked for, and has been given; behind the last one it has them all."""
        key = (header.group, node)
        if key in self._owed:
            if header.index and not self._states.gives(node, header.token):
                del self._owed[key]
            else:
                self._owe(key, now, self._owed[key][1])

    def owes(self, record: Record, now: float) -> bool:
        """Whether the state may be nowhere else, and somebody comes for it (I1)."""
        others = [one for one in self._plane.member_nodes(record) if one != self._plane.me]
        until = [self._owed.get((record.group, one), (0.0, 0.0))[0] for one in others]
        if record.hold is None or min(until, default=0.0) <= now:
            return False
        self._wake_at = min(until)
        return True

    def owes_any(self, now: float) -> bool:
        """Whether it is so with any group."""
        records = self._plane.records
        groups = {group for (group, _), (until, _) in self._owed.items() if until > now}
        return any(self.owes(records[one], now) for one in groups if one in records)

    def next_wake(self) -> float | None:
        """When who waits for this may ask again; None when nobody does."""
        return self._wake_at

    def wake(self, now: float) -> None:
        """The time that was planned for has come."""
        if self._wake_at is not None and now >= self._wake_at:
            self._wake_at = None
