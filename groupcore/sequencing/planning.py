"""Plans on their way: this node asks for their moves in its turns, and tells how far they are.

Idea. A plan from outside is checked whole (`plan`), then run some moves at a time (`plan_run`).
Here it is tied to the node: what the order changes is noted, what comes next is asked for at the
end of the turn, and each new state of the run is an event.

Invariants.
  I1  A plan that is wrong has changed nothing.
  I2  The last event of a run is one that is finished, and there is none behind it.
"""

from __future__ import annotations

from groupcore.sequencing.directory_changes import Change
from groupcore.sequencing.events import PlanProgressed
from groupcore.sequencing.plan import Plan
from groupcore.sequencing.plan_run import PlanProgress, PlanRun
from groupcore.sequencing.plane import Plane


class Planning:
    """The plans that this node carries out."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._runs: dict[int, PlanRun] = {}
        self._told: dict[int, PlanProgress] = {}
        self._due: dict[int, None] = {}

    def begin(self, plan: Plan, at_once: int) -> int:
        """Carry out a checked plan, so many moves at a time; `PlanProgressed` tells of it."""
        plane = self._plane
        number = plane.request()
        self._runs[number] = PlanRun(plan, plane.directory, plane.me, at_once)
        self._due[number] = None
        return number

    def cancel(self, number: int) -> None:
        """Ask for nothing more, and call off what is under way; nothing when the run is over."""
        run = self._runs.get(number)
        if run is not None:
            for command in run.cancel(self._plane.request):
                self._plane.propose(command)
            self._due[number] = None

    def asked(self, request: int) -> bool:
        """Whether a request of this node is one of a run, which hears of its refusal by itself."""
        return any(run.has_asked(request) for run in self._runs.values())

    def note(self, change: Change) -> None:
        """What has changed in the directory, right after the command that did it."""
        for number, run in self._runs.items():
            run.note(change)
            self._due[number] = None

    def look_again(self) -> None:
        """A view has been installed: nodes that were waited for may be there."""
        self._due.update(dict.fromkeys(self._runs))

    def proceed(self) -> None:
        """The turn ends: ask for what comes next, and tell what is new."""
        due, self._due = self._due, {}
        for number in due:
            run = self._runs.get(number)
            if run is None:
                continue
            for command in run.next_moves(self._plane.request):
                self._plane.propose(command)
            progress, steps = run.progress(), run.take_steps()
            if steps or progress != self._told.get(number):
                self._told[number] = progress
                self._plane.events.append(PlanProgressed(number, progress, steps))
            if progress.finished:
                del self._runs[number], self._told[number]  # I2
