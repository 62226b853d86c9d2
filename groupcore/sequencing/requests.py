"""What a node's programs ask of the directory: it is answered from the control plane's order."""

from __future__ import annotations

from collections.abc import Sequence

from groupcore.errors import BadArgumentError
from groupcore.sequencing.arguments import (
    check_flag,
    check_group,
    check_groups,
    check_number,
    check_target,
    check_text,
    shown,
    wrong_name,
)
from groupcore.sequencing.commands import (
    CancelMove,
    Command,
    CreateGroup,
    DeleteGroup,
    Drain,
    Move,
)
from groupcore.sequencing.creating import Creating
from groupcore.sequencing.events import Refused
from groupcore.sequencing.idle import Idle
from groupcore.sequencing.names import GroupId, Order
from groupcore.sequencing.plan import check_plan
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.planning import Planning
from groupcore.view import Address


class DirectoryRequests:
    """A part of the service. Where a request has a number, `Refused` has it, too."""

    plane: Plane
    idle: Idle
    planning: Planning
    creating: Creating

    def create(self, name: str, order: Order, now: float) -> int:
        """CREATE-GROUP; `Created` or `Refused` answers; `bad_name`: not a text, or too long."""
        self.idle.end()
        del now
        if not isinstance(order, int):
            raise BadArgumentError(f"order is {shown(order)}; give one of Order")
        request = self.plane.request()
        if objection := wrong_name(name):
            self.plane.counters["refused.bad_name"] += 1
            self.plane.events.append(Refused(request, "bad_name", objection))
            return request
        self.creating.ask(CreateGroup(request, name, int(order)))
        return request

    def delete(self, group: GroupId, now: float) -> int:
        """Forget a group; `Refused` when that is not possible."""
        self.idle.end()
        del now
        check_group(group)
        request = self.plane.request()
        self.plane.propose(DeleteGroup(request, group))
        return request

    def move(self, groups: Sequence[GroupId], target: Address, reason: str, now: float) -> int:
        """Migrate groups; `Refused` when that is not possible."""
        self.idle.end()
        del now
        groups = check_groups(groups)
        check_target(target)
        check_text(reason, "reason")
        request = self.plane.request()
        self.plane.propose(Move(request, groups, target, reason))
        return request

    def cancel_move(self, move: int, now: float) -> int:
        """Call a move off."""
        self.idle.end()
        del now
        check_number(move, "move")
        request = self.plane.request()
        self.plane.propose(CancelMove(request, move))
        return request

    def drain(self, name: str, on: bool, now: float) -> int:
        """Let a node sequence nothing any more, or again."""
        self.idle.end()
        del now
        check_text(name, "name")
        check_flag(on, "on")
        request = self.plane.request()
        self.plane.propose(Drain(request, name, on))
        return request

    def run_plan(self, plan: str | bytes, at_once: int, now: float) -> int:
        """Carry out a plan (`plan.check_plan`, which raises PlanError), so many moves at a time.

        Returns the number that its `PlanProgressed` have.
        """
        self.idle.end()
        del now
        if not isinstance(plan, str | bytes):
            raise BadArgumentError(f"plan is {shown(plan)}; give a JSON text")
        check_number(at_once, "at_once", 1)
        return self.planning.begin(check_plan(plan, self.plane.directory), at_once)

    def cancel_plan(self, run: int, now: float) -> None:
        """Ask for nothing more of a plan; what has moved stays where it is."""
        self.idle.end()
        del now
        self.planning.cancel(run)

    def propose(self, command: Command, now: float) -> None:
        """Say a command in the control plane's order."""
        self.idle.end()
        del now
        self.plane.propose(command)
