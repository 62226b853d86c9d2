"""Requests of a node's programs to its sequencing service, until events answer them.

Invariants.
  A1  Each request is answered once: by its event, by a refusal, by the end of the node's life, or,
      for a JOIN, by the departure of its process or the deletion of its group.
  A2  Who waits goes on after the node's objects have been told the event.

A driver calls `settle` behind the objects (A2).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from groupcore.errors import ChannelClosedError, GroupRefusedError
from groupcore.sequencing.events import (
    Congestion,
    Created,
    Deleted,
    Departed,
    Joined,
    PlanProgressed,
    Refused,
    Saved,
    ServiceEvent,
)
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.plan_run import PlanProgress
from groupcore.sequencing.plan_steps import Step
from groupcore.shared.pending import Pending, Wait
from groupcore.shared.unsaved import Unsaved


class PlanWatcher(Protocol):
    """Who follows a placement plan."""

    def tell(self, progress: PlanProgress, steps: Iterable[Step]) -> None:
        """How far it is now, and which steps are new."""

    def fail(self, error: Exception) -> None:
        """The node's life has ended."""


class Requests:
    """Those of one node. `wait`: the runtime's.

    `unsaved`: what was sent and is not saved; `joining`: the JOINs that are not answered, with the
    number of the request; `plans`: those under way, by number; `congested`: whether too much of
    what the node sends has not been accepted.
    """

    def __init__(self, wait: Wait) -> None:
        self.unsaved = Unsaved(wait)
        self.joining: dict[tuple[Process, GroupId], tuple[int, Pending[int]]] = {}
        self.plans: dict[int, PlanWatcher] = {}
        self.congested = False
        self._wait = wait
        self._answers: dict[int, Pending[GroupId]] = {}
        self._joins: dict[int, tuple[Process, GroupId]] = {}
        self._room: list[Pending[None]] = []

    @property
    def is_quiet(self) -> bool:
        """Whether no answer of the service is waited for."""
        return not self._answers and not self.joining

    def answer(self, request: int) -> Pending[GroupId]:
        """What `request` is answered with."""
        answer: Pending[GroupId] = Pending(self._wait)
        self._answers[request] = answer
        return answer

    def join(self, request: int, process: Process, group: GroupId) -> Pending[int]:
        """The number of the JOIN, or of the place to attend from, that `request` asks for."""
        joined: Pending[int] = Pending(self._wait)
        self.joining[process, group] = request, joined
        self._joins[request] = (process, group)
        return joined

    async def room(self) -> None:
        """Wait while too much of what this node sends has not been accepted."""
        while self.congested:
            room: Pending[None] = Pending(self._wait)
            self._room.append(room)
            await room

    def settle(self, event: ServiceEvent) -> None:
        """Answer the requests that this event answers (A1)."""
        match event:
            case Created(request, group, _, _):
                self._resolve(self._answers.pop(request, None), group)
            case Deleted(group, request):
                self.unsaved.forget(group)
                for joining in [one for one in self.joining if one[1] == group]:
                    self._fail(self._joined(*joining), "unknown_group", f"group {group} is deleted")
                self._resolve(self._answers.pop(request, None), group)
            case Joined(group, seqno, process):
                self._resolve(self._joined(process, group), seqno)
            case Departed(group, _, process, _, past=False):
                self._fail(self._joined(process, group), "left", "it has left")
            case Refused(request, code, detail):
                self._fail(self._answers.pop(request, None), code, detail)
                place = self._joins.get(request)
                if place is not None:
                    self._fail(self._joined(*place), code, detail)
            case PlanProgressed(run, progress, steps):
                watcher = self.plans.get(run)
                if watcher is not None:
                    watcher.tell(progress, steps)
                if progress.finished:
                    self.plans.pop(run, None)
            case Saved(group, message):
                self.unsaved.saved(group, message)
            case Congestion(on):
                self._set_congested(on)

    def _set_congested(self, on: bool) -> None:
        self.congested = on
        if not on:
            waiting, self._room = self._room, []
            for room in waiting:
                room.resolve(None)

    def _joined(self, process: Process, group: GroupId) -> Pending[int] | None:
        """The JOIN that waits, which is taken off the table."""
        request, joined = self.joining.pop((process, group), (0, None))
        self._joins.pop(request, None)
        return joined

    def end(self, code: str, detail: str) -> None:
        """The node's life is over: no request is answered any more (A1)."""
        answers, self._answers = self._answers, {}
        joining, self.joining = self.joining, {}
        plans, self.plans = self.plans, {}
        self._joins.clear()
        for answer in answers.values():
            self._fail(answer, code, detail)
        for _, joined in joining.values():
            self._fail(joined, code, detail)
        for watcher in plans.values():
            watcher.fail(GroupRefusedError(code, detail))
        self.unsaved.end(ChannelClosedError(detail))
        self._set_congested(False)

    @staticmethod
    def _resolve(pending: Pending[int] | None, value: int) -> None:
        if pending is not None:
            pending.resolve(value)

    @staticmethod
    def _fail(pending: Pending[int] | None, code: str, detail: str) -> None:
        if pending is not None:
            pending.fail(GroupRefusedError(code, detail))
