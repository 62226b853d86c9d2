"""A placement plan that a node carries out, as an async program follows it.

async for progress in node.run_plan(text):
    print(progress.done, "of", progress.total)
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from groupcore.sequencing.names import GroupId
from groupcore.sequencing.plan_run import PlanProgress
from groupcore.sequencing.plan_steps import Step, StepState

OVER = (StepState.DONE, StepState.FAILED, StepState.LEFT)


@dataclass(slots=True)
class TimedStep:
    """A step of a plan, when its group was first asked for, and when it ended; Unix time."""

    step: Step
    began_s: float | None = None
    ended_s: float | None = None


class RunningPlan:
    """One plan on its way; iterate over its progress: the newest state each time, to its end.

    `steps` has what has become of each group up to now.

    GroupRefusedError (`left`) when the node's life ends before: what has moved stays where it is,
    and another node can take the same plan up.
    """

    def __init__(self, call_off: Callable[[], None]) -> None:
        self.steps: dict[GroupId, TimedStep] = {}
        self._call_off = call_off
        self._changed = asyncio.Event()
        self._progress: PlanProgress | None = None
        self._error: Exception | None = None
        self._ended = False

    def cancel(self) -> None:
        """Ask for no further moves, and call off those under way, as far as S2 allows.

        The iteration goes on until these have ended; groups that have moved stay where they are.
        """
        if self._error is None and not self._ended:
            self._call_off()

    def tell(self, progress: PlanProgress, steps: Iterable[Step]) -> None:
        """How far it is now, and which steps are new, from the node's side."""
        now = time.time()
        for step in steps:
            timed = self.steps.setdefault(step.group, TimedStep(step))
            timed.step = step
            if step.state is StepState.MOVING and timed.began_s is None:
                timed.began_s = now
            timed.ended_s = now if step.state in OVER else None
        self._progress = progress
        self._changed.set()

    def fail(self, error: Exception) -> None:
        """The node's life has ended, from its side."""
        self._error = error
        self._changed.set()

    def __aiter__(self) -> RunningPlan:
        return self

    async def __anext__(self) -> PlanProgress:
        if self._ended:
            raise StopAsyncIteration
        await self._changed.wait()
        self._changed.clear()
        progress, self._progress = self._progress, None
        if progress is not None:
            self._ended = progress.finished
            if self._error is not None:
                self._changed.set()  # what has been told comes first
            return progress
        assert self._error is not None
        self._ended = True
        raise self._error
