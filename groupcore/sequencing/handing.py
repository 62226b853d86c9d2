"""Handing over: who has a group's state stays until one that has joined has it, too.

Idea. In memory a group's state lives with its members. When the only node that has it lets it go
while another one still takes it, the group begins anew, and all that was said is lost. So a node
remembers who has joined groups whose state it has, until that has been given to them. Of the nodes
that have it the one whose member has joined first waits for them, whom they ask first: its last
LEAVE is not sent, and if it wants to leave the cluster it stays. The others may go, even all at the
same moment. A newcomer whose JOIN comes before a LEAVE that is on its way still finds the state: it
is let go when that one has it. All this for a while only: who does not come for a state has
crashed, or has it from elsewhere.

Source. Design, 4.11; paper, section 3.2: with a JOIN comes the state.

Invariants.
  I1  While a newcomer's node has not taken the state, it stays with whoever of those that have it
      has joined first. When all of them have left, with each.
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

    def on_taken(self, record: Record, joined_at: int, now: float) -> None:
        """The state is here, or has begun: who has joined while it was awaited may need it, too."""
        for node, place in self._plane.member_nodes(record).items():
            if place > joined_at and node != self._plane.me:
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
        """Whether somebody comes for the state, and this node has to wait for it (I1)."""
        me, nodes = self._plane.me, self._plane.member_nodes(record)
        until = {one: self._owed.get((record.group, one), (0.0, 0.0))[0] for one in nodes}
        owed = [until[one] for one in nodes if one != me and until[one] > now]
        having = [one for one in nodes if one == me or until[one] <= now]
        if record.hold is None or not owed or (having and having[0] != me):
            return False
        self._wake_at = min(owed)
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
