"""Joins of groups of which this node has not heard yet.

Idea. A program is told of a group by another one, whose node may be further in the control plane's
order. Groups are numbered as they are created, so a number above the newest one here is one that
may still come: the request waits for it, for `catch_up_s` from when this node takes part. A number
below it that nothing has is of a group that was deleted: that is refused at once.

Invariants.
  I1  A join of a group that has been created anywhere is not refused because this node lags, unless
      it lags by more than `catch_up_s`.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.sequencing.joining import Joining
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.plane import Plane


@dataclass(slots=True)
class Waiting:
    """Request `request` waits for its group, until `until`; None while this node takes no part."""

    request: int
    observes: bool
    until: float | None = None


class Expected:
    """What waits at this node."""

    def __init__(self, plane: Plane, joining: Joining) -> None:
        self._plane = plane
        self._joining = joining
        self._waiting: dict[tuple[Process, GroupId], Waiting] = {}

    def join(self, request: int, process: Process, group: GroupId, observes: bool = False) -> None:
        """JOIN-GROUP, now or when the group is known."""
        key = (process, group)
        if self._may_come(group) and key not in self._waiting:
            self._waiting[key] = Waiting(request, observes)
        else:
            self._joining.join(request, process, group, observes)

    def leave(self, request: int, process: Process, group: GroupId) -> None:
        """LEAVE-GROUP; a join that waits is off."""
        waiting = self._waiting.pop((process, group), None)
        if waiting is not None:
            detail = f"{process} leaves group {group} before it is in"
            self._joining.refuse(waiting.request, "left", detail)
        else:
            self._joining.leave(request, process, group)

    def close(self, process: Process) -> None:
        """The process ends: its joins are off."""
        for one, group in list(self._waiting):
            if one == process:
                waiting = self._waiting.pop((process, group))
                self._joining.refuse_ended(waiting.request, process, group)

    def retry(self, now: float) -> None:
        """The turn ends: go on with what has come, give up what is overdue."""
        plane = self._plane
        for key, waiting in list(self._waiting.items()):
            process, group = key
            if waiting.until is None and plane.ready and plane.primary:
                waiting.until = now + plane.options.catch_up_s
            overdue = waiting.until is not None and now >= waiting.until
            if overdue or not self._may_come(group):
                del self._waiting[key]
                self._joining.join(waiting.request, process, group, waiting.observes)

    def next_wake(self) -> float | None:
        """When the first one is overdue."""
        if not self._waiting:
            return None
        times = [one.until for one in self._waiting.values() if one.until is not None]
        return min(times, default=None)

    def _may_come(self, group: GroupId) -> bool:
        return group > self._plane.directory.newest_group
