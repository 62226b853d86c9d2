"""Placement plans that this node carries out for an operator: by an id, with every step's fate.

Idea. The service beneath carries a plan out (`GroupNode.run_plan`); here it gets an id that names
the node's life, so that any node can say where a plan is to be asked for, or that it is lost: it
is carried out from the memory of the node that was given it. What had moved by then stays moved,
the rest stays where it was, and the same plan can be given again: what is done is not done twice.
What became of it, and what it has brought, the node keeps in its folder.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from enum import StrEnum

from groupcore.aio.plans import RunningPlan, TimedStep
from groupcore.errors import ChannelClosedError, GroupRefusedError, PlanError
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.plan import look_through
from groupcore.sequencing.plan_run import PlanProgress
from groupcore.sequencing.plane import Plane
from groupcore.view import Address
from server.console.colleagues import Shown
from server.console.gain import expected, gain_of, imbalance, loads_of
from server.console.outcome import latest
from server.errors import BadMessageError
from server.node import Node
from server.shelf import Record, Shelf

logger = logging.getLogger("server")

AT_ONCE = 4
"""So many moves of a plan are under way at a time, where it is not said otherwise."""
RUNNING_MAX = 8
"""So many plans are carried out at a time."""
KEPT_MAX = 100
"""So many plans that are over can still be asked for, the last ones."""
MEASURED_LATE_S = 3_600.0
"""Behind a restart it is looked at what was over less long ago."""
KEEP_S = 1.0
"""At most so often it is kept how far a plan is."""
LOST = (
    "the life of the node that carried this plan out is over: what it has moved stays where it is,"
    " the rest where it was; give the plan again to go on"
)
STEPS_KEPT = 200
"""Of a plan of a former life of the node so many groups are told."""
SETTLED_S = 60.0
"""So long after its end it is looked at what a plan has brought: loads are smoothed."""
ID = re.compile(r"(.+)-([0-9]{1,20})-([0-9]{1,20})")

NAME = "plans.jsonl"
"""Where they are kept, in the node's folder."""


class PlanState(StrEnum):
    """How a plan stands. `FAILED`: it is over, and some groups have not moved.

    `LOST`: the node's life in the cluster has ended before; what has moved stays where it is.
    """

    RUNNING = "running"
    CANCELLING = "cancelling"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"


@dataclass(slots=True)
class Carried:
    """A plan that this node carries out, or has carried out.

    `begun`: its first progress is there. `over`: nothing more will come of it. `gain`: what it was
    to change, as of when it was given, and `expects`: what its maker says of that. `brought`: the
    nodes' imbalance SETTLED_S after its end, and `measured` what the pipeline has found since.
    """

    id: str
    running: RunningPlan
    began_s: float
    ended_s: float | None = None
    progress: PlanProgress | None = None
    cancelled: bool = False
    lost: str = ""
    gain: Shown = field(default_factory=dict)
    expects: Shown = field(default_factory=dict)
    brought: float | None = None
    measured: Shown | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def state(self) -> PlanState:
        """How it stands now."""
        if self.lost:
            return PlanState.LOST
        if self.ended_s is None or self.progress is None:
            return PlanState.CANCELLING if self.cancelled else PlanState.RUNNING
        if self.progress.done == self.progress.total:
            return PlanState.DONE
        return PlanState.CANCELLED if self.progress.cancelled else PlanState.FAILED

    async def follow(self) -> None:
        """Take up what the node tells of it, to its end."""
        try:
            async for progress in self.running:
                self.progress = progress
                self.begun.set()
        except GroupRefusedError as error:
            self.lost = str(error)
        self.ended_s = time.time()
        self.begun.set()
        self.over.set()
        logger.info("plan %s is %s", self.id, self.state)


class Plans:
    """The plans of one node, the newest last; those of its former lives as its folder has them."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._shelf = Shelf(node.settings.data / NAME, node.seals)
        self._past: dict[str, Record] = {}
        self._carried: dict[str, Carried] = {}
        self._unkept: set[str] = set()
        self._given = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Take up what former lives have left. What they were in the middle of is lost."""
        now = time.time()
        for id, record in self._shelf.load().items():
            self._past[id] = record
            if record.get("ended_s") is None:
                record |= {"state": PlanState.LOST, "ended_s": now, "problem": LOST, "under_way": 0}
            elif record.get("brought") is None and now - record["ended_s"] < MEASURED_LATE_S:
                self._run(self._measure_past(record))
        self._forget_old()

    async def close(self) -> None:
        """The node leaves: nothing more is followed, and how far each is is kept."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        for carried in self._carried.values():
            if carried.ended_s is None or carried.id in self._unkept:
                await self._keep(carried)

    def _run(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _check_place(self) -> None:
        """BadMessageError where nothing can be said or done now."""
        if self.node.view is None:
            raise BadMessageError("not_ready", "this node is not in its cluster yet; try again")
        if not self.node.primary:
            raise BadMessageError("not_primary", "this node is apart from the others; ask another")

    def look(self, text: bytes) -> Shown:
        """What a plan would move, and what is wrong with it; PlanError for what is no plan."""
        self._check_place()
        directory = self.node.objects.groups.service.plane.directory
        plan, objections = look_through(text, directory)
        rows = []
        for group, target in plan.targets.items():
            name = directory.entries[group].name or str(group)
            source = directory.state.home_of(group).name
            why = plan.reasons.get(group, "")
            rows.append({"group": group, "name": name, "from": source, "to": target, "why": why})
        return {
            "dry_run": True,
            "fit": not objections,
            "moves": [row for row in rows if row["from"] != row["to"]],
            "stays": [row for row in rows if row["from"] == row["to"]],
            "refused": [shown_objection(one) for one in objections],
            "expects": expected(plan.expects),
            **gain_of(directory.state, plan.targets),
        }

    def named(self, text: bytes) -> tuple[str, str]:
        """An id for a plan that is to be begun, and what the audit log says of it: the id, and how
        many groups move. Raises what `begin` raises.
        """
        directory = self._free()
        plan, objections = look_through(text, directory)
        if objections:
            raise objections[0]
        homes = {group: directory.state.home_of(group).name for group in plan.targets}
        moves = sum(homes[group] != target for group, target in plan.targets.items())
        id = self._new_id()
        return id, f"{id}, groups: {moves}"

    def _new_id(self) -> str:
        self._given += 1
        return f"{self.node.me.name}-{self.node.me.incarnation}-{self._given}"

    def _free(self) -> Directory:
        """The directory, where another plan can be begun now; BadMessageError where none can."""
        self._check_place()
        if sum(one.ended_s is None for one in self._carried.values()) >= RUNNING_MAX:
            problem = f"{RUNNING_MAX} plans are on their way; wait for one, or cancel it"
            raise BadMessageError("too_many_plans", problem)
        return self.node.objects.groups.service.plane.directory

    async def begin(self, text: bytes, at_once: int = AT_ONCE, id: str = "") -> Carried:
        """Carry a plan out, so many moves at a time; `id` is as `named` has given it.

        PlanError, of its first mistake, when anything is wrong with it: nothing is done then.
        """
        directory = self._free()
        plan, _ = look_through(text, directory)
        gain = gain_of(directory.state, plan.targets)
        running = self.node.objects.groups.run_plan(text, at_once)
        id = id or self._new_id()
        expects = expected(plan.expects)
        carried = Carried(id, running, time.time(), gain=gain, expects=expects)
        self._carried[id] = carried
        self._run(self._follow(carried))
        self._forget_old()
        logger.info("plan %s is begun", id)
        await carried.begun.wait()
        return carried

    async def _follow(self, carried: Carried) -> None:
        """To its end, and on to what it has brought; what is known of it is kept now and then."""
        following = asyncio.ensure_future(carried.follow())
        try:
            while not following.done():
                await self._keep(carried)
                kept = carried.progress
                while not following.done() and (kept is carried.progress):
                    await asyncio.wait([following], timeout=KEEP_S)
        finally:
            following.cancel()
        await self._keep(carried)
        if carried.lost:
            return
        await asyncio.sleep(SETTLED_S)
        carried.brought = self._imbalance()
        await self._keep(carried)

    async def _measure_past(self, record: Record) -> None:
        await asyncio.sleep(SETTLED_S)
        record["brought"] = self._imbalance()
        await self._shelf.put(record, self._kept())

    def _imbalance(self) -> float | None:
        """That of the nodes as it is now; None where this one does not know."""
        plane = self._plane()
        return None if plane is None else imbalance(loads_of(plane.directory.state))

    def _plane(self) -> Plane | None:
        try:
            plane = self.node.objects.groups.service.plane
        except ChannelClosedError:
            return None
        return plane if plane.ready else None

    async def _keep(self, carried: Carried) -> None:
        self._unkept.add(carried.id)  # until then, should the node leave meanwhile
        await self._shelf.put(_record(carried), self._kept())
        self._unkept.discard(carried.id)

    def _kept(self) -> dict[str, Record]:
        carried = {id: _record(one) for id, one in self._carried.items()}
        return {**self._past, **carried}

    def _forget_old(self) -> None:
        over = [*self._past]
        over += [id for id, one in self._carried.items() if one.ended_s is not None]
        for id in over[: max(0, len(over) - KEPT_MAX)]:
            self._past.pop(id, None)
            self._carried.pop(id, None)

    async def keep_measured(self, id: str, measured: Shown) -> Shown:
        """What the pipeline has measured behind a plan; BadMessageError as `find`."""
        past = self._past.get(id)
        if past is not None:
            past["measured"] = latest(past.get("measured"), measured)
            await self._shelf.put(past, self._kept())
            return {"measured": past["measured"]}
        carried = self.find(id)
        carried.measured = latest(carried.measured, measured)
        await self._keep(carried)
        return {"measured": carried.measured}

    def listed(self) -> list[Shown]:
        """Those that this node knows, in numbers, the oldest first."""
        past = [{name: one[name] for name in one if name != "steps"} for one in self._past.values()]
        return [*past, *map(shown_plan, self._carried.values())]

    def told(self, id: str) -> Shown:
        """The plan of this id with its steps; BadMessageError as `find`."""
        past = self._past.get(id)
        if past is not None:
            return dict(past)
        carried = self.find(id)
        return {**shown_plan(carried), "steps": shown_steps(carried)}

    def find(self, id: str) -> Carried:
        """The plan of this id; BadMessageError says where to ask, or that it is lost."""
        carried = self._carried.get(id)
        if carried is None:
            raise self._unknown(id)
        return carried

    def _unknown(self, id: str) -> BadMessageError:
        found, view = ID.fullmatch(id), self.node.view
        if found is None:
            return BadMessageError("unknown_plan", "no plan has this id; see the list of plans")
        name, life = found[1], Address(found[1], int(found[2]))
        if life == self.node.me:
            problem = f"this node has no such plan; it keeps the last {KEPT_MAX} that are over"
            return BadMessageError("unknown_plan", problem)
        if view is not None and life in view.members:
            return BadMessageError("unknown_plan", f"this plan is not this node's; ask node {name}")
        return BadMessageError("plan_lost", LOST)

    def cancel(self, id: str) -> Shown:
        """Have no more of a plan done, as far as S2 allows; nothing for one that is over."""
        past = self._past.get(id)
        if past is not None:
            return {name: past[name] for name in past if name != "steps"}
        carried = self.find(id)
        if carried.ended_s is None:
            carried.cancelled = True
            carried.running.cancel()
            logger.info("plan %s is called off", id)
        return shown_plan(carried)


def shown_objection(error: PlanError) -> Shown:
    """Why a line of a plan is refused."""
    return {
        "item": error.item,
        "code": error.code,
        "problem": error.problem,
        "remedy": error.remedy,
    }


def shown_plan(carried: Carried) -> Shown:
    """A plan in numbers of groups; times are Unix time."""
    shown: Shown = {
        "id": carried.id,
        "state": carried.state,
        "began_s": carried.began_s,
        "ended_s": carried.ended_s,
        "imbalance": carried.gain.get("imbalance"),
        "expects": carried.expects,
        "brought": carried.brought,
        "measured": carried.measured,
    }
    progress = carried.progress
    if progress is not None:
        shown |= {
            "total": progress.total,
            "done": progress.done,
            "under_way": progress.under_way,
            "failed": len(progress.failed),
            "left": progress.total - progress.done - len(progress.failed),
            "away": list(progress.away),
        }
    if carried.lost:
        shown["problem"] = carried.lost
    return shown


def _record(carried: Carried) -> Record:
    """What is kept of a plan."""
    return {**shown_plan(carried), "steps": shown_steps(carried)[:STEPS_KEPT]}


def shown_steps(carried: Carried) -> list[Shown]:
    """Each group of a plan: from where, to where, how far, why, and when."""
    return [_shown_step(timed) for timed in carried.running.steps.values()]


def _shown_step(timed: TimedStep) -> Shown:
    step = timed.step
    return {
        "group": step.group,
        "name": step.name or str(step.group),
        "from": step.source,
        "to": step.target,
        "state": step.state,
        "why": step.why,
        "began_s": timed.began_s,
        "ended_s": timed.ended_s,
    }
