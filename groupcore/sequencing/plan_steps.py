"""What becomes of each group of a plan on its way: one step a group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from groupcore.sequencing.names import GroupId


class StepState(StrEnum):
    """`WAITING` and `MOVING` may follow each other; the others are the end of a step.

    `LEFT`: the plan was called off before, and the group is where it was.
    """

    WAITING = "waiting"
    MOVING = "moving"
    DONE = "done"
    FAILED = "failed"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class Step:
    """A group, from which node and to which one it is to go, and how far that is.

    `why` is the reason of a step that has failed, or has to be tried again; and of one that is done
    with no move of the plan.
    """

    group: GroupId
    name: str
    source: str
    target: str
    state: StepState = StepState.WAITING
    why: str = ""


class Steps:
    """All steps of a plan, and which are new since somebody has looked."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self._all = {step.group: step for step in steps}
        self._news = dict.fromkeys(self._all)

    def put(self, groups: Iterable[GroupId], state: StepState, why: str = "") -> None:
        """These groups are so far; those that are not of the plan count for nothing."""
        for group in groups:
            if group in self._all:
                self._all[group] = replace(self._all[group], state=state, why=why)
                self._news[group] = None

    def take(self) -> tuple[Step, ...]:
        """What is new since the last time: all of them at first."""
        news, self._news = self._news, {}
        return tuple(self._all[group] for group in news)
