"""What callers of a node wait for, until its events tell of it."""

from __future__ import annotations

import asyncio

from groupcore.aio.plans import RunningPlan
from groupcore.aio.waiting import wait
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
from groupcore.shared.unsaved import Unsaved


class Asked:
    """One node's. `unsaved`: what was sent and is not saved; `uncongested` is set while there is
    room, `plans` are those under way, by number.
    """

    def __init__(self) -> None:
        self.unsaved = Unsaved(wait)
        self.joining: dict[tuple[Process, GroupId], tuple[int, asyncio.Future[int]]] = {}
        self.plans: dict[int, RunningPlan] = {}
        self.uncongested = asyncio.Event()
        self.uncongested.set()
        self._waiting: dict[int, asyncio.Future[GroupId]] = {}
        self._requests: dict[int, tuple[Process, GroupId]] = {}

    def answer(self, request: int) -> asyncio.Future[GroupId]:
        """What `request` is answered with."""
        future: asyncio.Future[GroupId] = asyncio.get_running_loop().create_future()
        self._waiting[request] = future
        return future

    def join(self, request: int, process: Process, group: GroupId) -> asyncio.Future[int]:
        """The number of the JOIN that was asked for with `request`."""
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.joining[process, group] = request, future
        self._requests[request] = (process, group)
        return future

    def settle(self, event: ServiceEvent) -> None:
        """What has happened may be what somebody waits for."""
        match event:
            case Created(request, group, _, _):
                self._resolve(self._waiting.pop(request, None), group)
            case Deleted(group, request):
                self.unsaved.forget(group)
                for joining in [one for one in self.joining if one[1] == group]:
                    self._fail(self._joined(*joining), "unknown_group", f"group {group} is deleted")
                self._resolve(self._waiting.pop(request, None), group)
            case Joined(group, seqno, process):
                self._resolve(self._joined(process, group), seqno)
            case Departed(group, _, process, _, past=False):
                self._fail(self._joined(process, group), "left", "it has left")
            case Refused(request, code, detail):
                self._fail(self._waiting.pop(request, None), code, detail)
                key = self._requests.get(request)
                if key is not None:
                    self._fail(self._joined(*key), code, detail)
            case PlanProgressed(run, progress, steps):
                running = self.plans.get(run)
                if running is not None:
                    running.tell(progress, steps)
                if progress.finished:
                    self.plans.pop(run, None)
            case Saved(group, message):
                self.unsaved.saved(group, message)
            case Congestion(on):
                if on:
                    self.uncongested.clear()
                else:
                    self.uncongested.set()

    def _joined(self, process: Process, group: GroupId) -> asyncio.Future[int] | None:
        """Who waits for this JOIN, and does so no more."""
        request, future = self.joining.pop((process, group), (0, None))
        self._requests.pop(request, None)
        return future

    def end(self, code: str, detail: str) -> None:
        """Nothing that is waited for comes any more."""
        joining = [future for _, future in self.joining.values()]
        for future in (*self._waiting.values(), *joining):
            self._fail(future, code, detail)
        for plan in self.plans.values():
            plan.fail(GroupRefusedError(code, detail))
        self.plans.clear()
        self._waiting.clear()
        self.unsaved.end(ChannelClosedError(detail))
        self.joining.clear()
        self._requests.clear()
        self.uncongested.set()

    @staticmethod
    def _resolve(future: asyncio.Future[int] | None, value: int) -> None:
        if future is not None and not future.done():
            future.set_result(value)

    @staticmethod
    def _fail(future: asyncio.Future[int] | None, code: str, detail: str) -> None:
        if future is not None and not future.done():
            future.set_exception(GroupRefusedError(code, detail))
