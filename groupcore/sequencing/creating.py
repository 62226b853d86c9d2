"""Creating groups: some at a time, and by name what is there already without asking anybody.

Idea. CREATE-GROUP is answered from the control plane's order, which all nodes apply. A program may
want thousands of groups in one turn, and programs of several nodes the same ones at once. So each
node has some requests in the order at a time; and whose turn it is finds, most often, that somebody
else has created the group meanwhile.

Invariants.
  I1  At most `CREATED_AT_ONCE` requests are under way, those aside that have no answer for long.
  I2  What is answered from here is what this node has applied: the group is in its directory.
"""

from __future__ import annotations

from collections import deque

from groupcore.sequencing.commands import CreateGroup
from groupcore.sequencing.deadlines import Deadlines
from groupcore.sequencing.events import Created
from groupcore.sequencing.names import Order
from groupcore.sequencing.plane import Plane

CREATED_AT_ONCE = 256
"""Requests of a node that are under way at a time."""
PATIENCE_S = 1.0
"""A request that has not been answered by then keeps the others waiting no longer."""


class Creating:
    """This node's requests."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._waiting: deque[CreateGroup] = deque()
        self._under_way: Deadlines[int] = Deadlines()

    def ask(self, command: CreateGroup) -> None:
        """CREATE-GROUP, in its turn."""
        self._waiting.append(command)

    def answered(self, request: int) -> None:
        """The order has said what comes of a request."""
        self._under_way.drop(request)

    def proceed(self, now: float) -> None:
        """Go on with those that wait, as far as there is room (I1)."""
        if not self._waiting:
            return
        self._under_way.take_due(now)
        while self._waiting and len(self._under_way) < CREATED_AT_ONCE:
            command = self._waiting.popleft()
            if not self._is_there(command):
                self._under_way.set(command.request, now + PATIENCE_S)
                self._plane.propose(command)

    def _is_there(self, command: CreateGroup) -> bool:
        """Answer from here if this node has the group (I2)."""
        plane = self._plane
        group = plane.directory.names.get(command.name) if command.name else None
        if group is None or not (plane.ready and plane.primary) or group not in plane.records:
            return False
        order = plane.directory.entries[group].order
        if order != command.order:
            return False  # it is refused in the order, as ever
        plane.events.append(Created(command.request, group, Order(order), True))
        return True

    def next_wake(self) -> float | None:
        """When those that wait may go on without an answer."""
        return self._under_way.next() if self._waiting else None
