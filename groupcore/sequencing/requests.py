"""What a node's programs ask of the directory: it is answered from the control plane's order."""

from __future__ import annotations

from groupcore.sequencing.commands import (
    CancelMove,
    Command,
    CreateGroup,
    DeleteGroup,
    Drain,
    Move,
)
from groupcore.sequencing.creating import Creating
from groupcore.sequencing.names import GroupId, Order
from groupcore.sequencing.plan import check_plan
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.planning import Planning
from groupcore.view import Address


class DirectoryRequests:
    """A part of the service. Where a request has a number, `Refused` has it, too."""

    plane: Plane
    planning: Planning
    creating: Creating

    def create(self, name: str, order: Order, now: float) -> int:
        """CREATE-GROUP; `Created` or `Refused` answers."""
        del now
        request = self.plane.request()
        self.creating.ask(CreateGroup(request, name, int(order)))
        return request

    def delete(self, group: GroupId, now: float) -> int:
        """Forget a group; `Refused` when that is not possible."""
        del now
        request = self.plane.request()
        self.plane.propose(DeleteGroup(request, group))
        return request

    def move(self, groups: tuple[GroupId, ...], target: Address, reason: str, now: float) -> int:
        """Migrate groups; `Refused` when that is not possible."""
        del now
        request = self.plane.request()
        self.plane.propose(Move(request, groups, target, reason))
        return request

    def cancel_move(self, move: int, now: float) -> int:
        """Call a move off."""
        del now
        request = self.plane.request()
        self.plane.propose(CancelMove(request, move))
        return request

    def drain(self, name: str, on: bool, now: float) -> int:
        """Let a node sequence nothing any more, or again."""
        del now
        request = self.plane.request()
        self.plane.propose(Drain(request, name, on))
        return request

    def run_plan(self, plan: str | bytes, at_once: int, now: float) -> int:
        """Carry out a plan (`plan.check_plan`, which raises PlanError), so many moves at a time.

        Returns the number that its `PlanProgressed` have.
        """
        del now
        return self.planning.begin(check_plan(plan, self.plane.directory), at_once)

    def cancel_plan(self, run: int, now: float) -> None:
        """Ask for nothing more of a plan; what has moved stays where it is."""
        del now
        self.planning.cancel(run)

    def propose(self, command: Command, now: float) -> None:
        """Say a command in the control plane's order."""
        del now
        self.plane.propose(command)
