"""Requests of a node's programs to its sequencing service, until events answer them.

Invariants.
  A1  Each request is answered once: by its event, by a refusal, by the end of the node's life, or,
      for a JOIN, by the departure of its process or the deletion of its group.
  A2  Who waits goes on after the node's objects have been told the event.

A driver calls `settle` behind the objects (A2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol, cast

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
        answer = _ANSWERING.get(type(event))  # of most events, which are deliveries, none
        if answer is not None:
            answer(self, event)

    def _on_created(self, event: Created) -> None:
        self._resolve(self._answers.pop(event.request, None), event.group)

    def _on_deleted(self, event: Deleted) -> None:
        group = event.group
        self.unsaved.forget(group)
        for joining in [one for one in self.joining if one[1] == group]:
            self._fail(self._joined(*joining), "unknown_group", f"group {group} is deleted")
        self._resolve(self._answers.pop(event.request, None), group)

    def _on_joined(self, event: Joined) -> None:
        self._resolve(self._joined(event.process, event.group), event.seqno)

    def _on_departed(self, event: Departed) -> None:
        if not event.past:
            self._fail(self._joined(event.process, event.group), "left", "it has left")

    def _on_refused(self, event: Refused) -> None:
        self._fail(self._answers.pop(event.request, None), event.code, event.detail)
        place = self._joins.get(event.request)
        if place is not None:
            self._fail(self._joined(*place), event.code, event.detail)

    def _on_progress(self, event: PlanProgressed) -> None:
        watcher = self.plans.get(event.run)
        if watcher is not None:
            watcher.tell(event.progress, event.steps)
        if event.progress.finished:
            self.plans.pop(event.run, None)

    def _on_saved(self, event: Saved) -> None:
        self.unsaved.saved(event.group, event.message)

    def _on_congestion(self, event: Congestion) -> None:
        self._set_congested(event.on)

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


_ANSWERING = cast(
    "dict[type[ServiceEvent], Callable[[Requests, ServiceEvent], None]]",
    {
        Created: Requests._on_created,
        Deleted: Requests._on_deleted,
        Joined: Requests._on_joined,
        Departed: Requests._on_departed,
        Refused: Requests._on_refused,
        PlanProgressed: Requests._on_progress,
        Saved: Requests._on_saved,
        Congestion: Requests._on_congestion,
    },
)
"""What each event answers."""
