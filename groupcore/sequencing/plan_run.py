"""Carrying a plan out, some moves at a time, with progress and a way to call it off.

Pure: `next_moves` says what to ask for, `note` is told what became of it. What is done already is
read from the directory, so somebody else can take the plan up and go on.

Invariants.
  I1  Never more than `at_once` moves are asked for or under way.
  I2  Every group ends once: done, deleted, or failed with a reason. A node that is away is waited
      for. What has been done is not done again, whatever moves the group afterwards.
  I3  After `cancel` nothing is asked for any more; a move that somebody else calls off is not asked
      for again.
  I4  The steps say of each group what the numbers of the progress count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from groupcore.sequencing.commands import CancelMove, Move
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_changes import (
    Change,
    CommandRefused,
    GroupDeleted,
    Inherited,
    MoveBegan,
    MoveCancelled,
    OwnerMoved,
    StreamEnded,
)
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.plan import Plan
from groupcore.sequencing.plan_steps import Step, Steps, StepState
from groupcore.view import Address

ATTEMPTS_MAX = 3
"""So often a unit is tried whose moves are refused, or end as their source or target is gone."""

Unit = tuple[GroupId, ...]


@dataclass(frozen=True, slots=True)
class PlanProgress:
    """How far a run is, in groups; `failed` has the reason for each group that did not move.

    `away`: the nodes that the rest waits for.
    """

    total: int
    done: int
    under_way: int
    failed: dict[GroupId, str]
    away: tuple[str, ...]
    cancelled: bool

    @property
    def finished(self) -> bool:
        """Whether nothing more will come of it."""
        ended = self.done + len(self.failed) == self.total
        return not self.under_way and (self.cancelled or ended)


class PlanRun:
    """One plan on its way; `me` asks for the moves."""

    def __init__(self, plan: Plan, directory: Directory, me: Address, at_once: int = 4) -> None:
        assert at_once > 0
        self._directory = directory
        self._me = me
        self._at_once = at_once
        self._total = len(plan.targets)
        self._todo = dict(sorted(plan.targets.items()))
        self._steps = Steps(
            Step(group, directory.entries[group].name, directory.state.home_of(group).name, target)
            for group, target in self._todo.items()
        )
        self._asked: dict[int, list[Unit]] = {}
        self._moving: dict[int, list[Unit]] = {}
        self._attempts: dict[Unit, int] = {}
        self._failed: dict[GroupId, str] = {}
        self._cancelled = False
        self._tick_off(plan.targets, "it was there")

    def next_moves(self, request: Callable[[], int]) -> list[Move]:
        """What to ask for now; `request` gives the number for each command."""
        if self._cancelled:
            return []
        moves = []
        for target, units in self._batches(self._at_once - len(self._asked) - len(self._moving)):
            number = request()
            self._asked[number] = units
            groups = tuple(group for unit in units for group in unit)
            self._steps.put(groups, StepState.MOVING)
            moves.append(Move(number, groups, target, "plan"))
        return moves

    def note(self, change: Change) -> None:
        """What has changed in the directory: every change, right after the `apply` that made it."""
        match change:
            case CommandRefused():
                if change.by == self._me and change.request in self._asked:
                    for unit in self._asked.pop(change.request):
                        self._count_attempt(unit, f"{change.code}: {change.detail}")
            case MoveBegan():
                self._on_began(change)
            case OwnerMoved():
                self._moving.pop(change.move, None)
                self._tick_off(change.groups)
            case MoveCancelled():
                for unit in self._moving.pop(change.move, []):
                    if change.asked and not self._cancelled:
                        self._fail(unit, "its move was called off")
                    else:
                        self._count_attempt(unit, "its source or its target was gone")
            case StreamEnded() | Inherited():
                self._tick_off(change.groups)
            case GroupDeleted():
                self._tick_off((change.group,), "it has been deleted")
            case _:
                return

    def has_asked(self, request: int) -> bool:
        """Whether the run has asked with this number, and not heard what came of it."""
        return request in self._asked

    def cancel(self, request: Callable[[], int]) -> list[CancelMove]:
        """Ask for nothing more, and call off what is under way as far as S2 allows."""
        self._cancelled = True
        under_way = set(self._under_way())
        self._steps.put((group for group in self._todo if group not in under_way), StepState.LEFT)
        return [CancelMove(request(), move) for move in self._moving]

    def take_steps(self) -> tuple[Step, ...]:
        """The steps that are new since the last time; all of them at first."""
        return self._steps.take()

    def progress(self) -> PlanProgress:
        """How far it is."""
        return PlanProgress(
            self._total,
            self._total - len(self._todo) - len(self._failed),
            len(self._under_way()),
            dict(self._failed),
            tuple(sorted(set(self._todo.values()) - self._able().keys())),
            self._cancelled,
        )

    def _under_way(self) -> list[GroupId]:
        """The groups that are asked for or move."""
        batches = (*self._asked.values(), *self._moving.values())
        return [group for units in batches for unit in units for group in unit]

    def _able(self) -> dict[str, Address]:
        """The nodes that can be given groups now: who joins is waited for, as one that is away."""
        state = self._directory.state
        return {node.name: node for node in state.members if node not in state.arriving}

    # --- what comes next --------------------------------------------------------------------------

    def _batches(self, room: int) -> list[tuple[Address, list[Unit]]]:
        """Up to `room` moves: units with one source and target go together."""
        limit = self._directory.state.options.groups_per_move
        made: list[tuple[Address, list[Unit]]] = []
        open_ones: dict[tuple[Address, Address], list[Unit]] = {}
        for unit, source, target in self._due():
            batch = open_ones.get((source, target))
            fits = batch is not None and sum(map(len, batch)) + len(unit) <= limit
            if batch is not None and fits:
                batch.append(unit)
                continue
            if len(made) >= room:
                break
            made.append((target, [unit]))
            open_ones[source, target] = made[-1][1]
        return made

    def _due(self) -> Iterator[tuple[Unit, Address, Address]]:
        """Units that are still to do and not under way, whose groups and target are there."""
        state = self._directory.state
        nodes = self._able()
        seen = {group for units in self._asked.values() for unit in units for group in unit}
        for group, name in list(self._todo.items()):
            if group in seen or name not in nodes:
                continue
            unit = state.unit_of(group)
            seen.update(unit)
            source = state.settled_at(unit)
            if source is None:
                continue
            strangers = [other for other in unit if self._todo.get(other, source.name) != name]
            if strangers:
                groups = ", ".join(map(str, strangers))
                self._fail((group,), f"breaks_s2: it must stay with {groups}, not in this plan")
            else:
                yield unit, source, nodes[name]

    # --- what became of it ------------------------------------------------------------------------

    def _tick_off(self, groups: Iterable[GroupId], why: str = "") -> None:
        """What has arrived or is deleted is done."""
        for group in groups:
            name = self._todo.get(group)
            if name is not None:
                entry = self._directory.entries.get(group)
                if entry is None or entry.owner.name == name:
                    del self._todo[group]
                    self._steps.put((group,), StepState.DONE, why)

    def _on_began(self, change: MoveBegan) -> None:
        move = self._directory.moves.get(change.move)
        if move is None or move.requested is None or move.requested[0] != self._me:
            return
        units = self._asked.pop(move.requested[1], None)
        if units is not None:
            self._moving[change.move] = units

    def _count_attempt(self, unit: Unit, why: str) -> None:
        self._attempts[unit] = self._attempts.get(unit, 0) + 1
        if self._attempts[unit] >= ATTEMPTS_MAX:
            self._fail(unit, why)
        else:
            state = StepState.LEFT if self._cancelled else StepState.WAITING
            self._steps.put((group for group in unit if group in self._todo), state, why)

    def _fail(self, unit: Unit, why: str) -> None:
        for group in unit:
            if self._todo.pop(group, None) is not None:
                self._failed[group] = why
                self._steps.put((group,), StepState.FAILED, why)
