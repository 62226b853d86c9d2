"""What a visitor does to things: each deed of a schedule, where its draws point to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from groupcore.errors import GroupcoreError
from groupcore.shared.places import Cell, Edit, Thing
from groupcore.shared.places.joint_moves import move_jointly
from groupcore.shared.places.limits import SIDE, START
from groupcore.shared.places.own_changes import OwnChanges, Step
from groupcore.shared.places.refusals import PlaceRefusalError, ThingHeldError
from groupcore.shared.places.shown import screen
from groupcore.shared.places.thing import edited
from groupcore.shared.runtime import elapse
from groupcore.sim.clock import Clock
from groupcore.sim.documents.scenario import Deed
from groupcore.sim.places import scenario as deeds
from groupcore.sim.places.looking import LEFT, RIGHT
from groupcore.sim.trace import Trace
from groupcore.sim.trace_places import PlaceAnswered, PlaceCalled, PlaceSaved

if TYPE_CHECKING:
    from groupcore.sim.places.visitor import Visit

T = TypeVar("T")

KINDS = ("switch", "dice", "vote", "token", "timer", "timer", "ball", "ball", "furniture")
"""What is put."""
ROLE_WAIT_S = 0.05
ROLE_WAITS = 20
KICK = 30
"""Fastest kick: a ball of that lies still after a second and a half."""


BORDERS = 8
"""Things and views lie near the borders of cells that were quartered up to three times."""


def near_border(draw: float) -> int:
    """A coordinate near one of the borders."""
    place = draw * (BORDERS - 1)
    off = int((place % 1) * 4_000) - 2_000
    return START + SIDE // BORDERS * (1 + int(place)) + off


class Acting:
    """The deeds of one person. Things are named after it, each once."""

    def __init__(self, name: str, clock: Clock, trace: Trace) -> None:
        self._name = name
        self._clock = clock
        self._trace = trace
        self._calls = 0
        self._things = 0
        self._grabs: list[tuple[str, str]] = []

    async def act(self, visit: Visit, own: OwnChanges, deed: Deed) -> None:
        """Do it; what comes of it is written down."""
        with suppress(GroupcoreError):  # the visit is over, or the node outside the cluster
            await self._act(visit, own, deed)

    async def _act(self, visit: Visit, own: OwnChanges, deed: Deed) -> None:
        first, second, third = deed.draws
        match deed.kind:
            case deeds.PUT:
                await self._put(visit, own, self._new(first, second, third))
            case deeds.PAIR:
                await self._pair(visit, first, second)
            case deeds.JOINT:
                await self._joint(visit, first, third)
            case deeds.UNDO:
                await self._undo(visit, own)
            case deeds.RELEASE:
                await self._release(visit)
            case _:
                found = _found(visit, first)
                if found is not None:
                    await self._do(visit, own, deed.kind, *found, second, third)

    # --- asking ---------------------------------------------------------------------------------

    def _call(self, what: str, things: Sequence[str]) -> int:
        self._calls += 1
        record = PlaceCalled(self._clock.now_ns, self._name, self._calls, what, tuple(things))
        self._trace.add(record)
        return self._calls

    def _answer(self, number: int, code: str = "", by: str = "", holder: str = "") -> None:
        record = PlaceAnswered(self._clock.now_ns, self._name, number, code, by, holder)
        self._trace.add(record)

    async def _saved(self, visit: Visit, number: int) -> None:
        await visit.session.home.groups.saved()
        self._trace.add(PlaceSaved(self._clock.now_ns, self._name, number))

    # --- deeds ----------------------------------------------------------------------------------

    def _new(self, first: float, second: float, third: float) -> list[Thing]:
        """A thing of some kind; a switch comes with a light, somewhere else."""
        self._things += 1
        kind = KINDS[int(third * len(KINDS))]
        name = f"{self._name}-{self._things}"
        x, y = near_border(first), near_border(second)
        thing = Thing(name, kind, x, y, width=640, height=640)
        if kind != "switch":
            return [thing]
        lamp = Thing(f"{name}-lamp", "light", y, x, width=64, height=64, props=(("on", False),))
        return [replace(thing, links=(lamp.id,)), lamp]

    async def _put(self, visit: Visit, own: OwnChanges, things: list[Thing]) -> None:
        for thing in things:
            place = visit.program.place
            cell = None if place is None else visit.cells.get(place.leaf(thing.x, thing.y))
            if cell is None:
                cell = next(iter(visit.cells.values()), None)
            if cell is None or not await _is_told(visit, cell):
                return
            number = self._call("put", [thing.id])
            try:
                await cell.put([thing])
            except PlaceRefusalError as error:
                self._answer(number, error.code)
                continue
            self._answer(number)
            own.note(Step((), (thing,)))
            await self._saved(visit, number)

    async def _pair(self, visit: Visit, first: float, second: float) -> None:
        self._things += 1
        name = f"-{self._name}-{self._things}"
        here, there = near_border(first), near_border(second)
        one = Thing(f"{LEFT}{name}", "shape", here, there)
        other = Thing(f"{RIGHT}{name}", "shape", there, here)
        await self._put(visit, OwnChanges(), [one, other])

    async def _joint(self, visit: Visit, first: float, third: float) -> None:
        """Change a pair of which this person sees both."""
        where = {one: path for path, cell in visit.cells.items() for one in cell.things}
        lefts = [one for one in where if one.startswith(LEFT)]
        pairs = [one for one in lefts if RIGHT + one.removeprefix(LEFT) in where]
        if not pairs:
            return
        left = _pick(pairs, first)
        right = RIGHT + left.removeprefix(LEFT)
        number = self._call("joint", [left, right])
        x = near_border(third)
        changes = (("text", f"{self._name}.{number}"), ("x", x))
        by_cell: dict[str, list[Edit]] = {}
        for one in (left, right):
            by_cell.setdefault(where[one], []).append(Edit(one, changes))
        groups = visit.program.groups
        secure = groups.saved if groups.options.durable else None
        try:
            if len(by_cell) == 1:
                await visit.cells[where[left]].change(by_cell[where[left]])
            else:
                joint = f"{self._name}.{visit.number}.{number}"
                await move_jointly(visit.cells, joint, by_cell, secure=secure)
        except PlaceRefusalError as error:
            self._answer(number, error.code)
        else:
            self._answer(number)

    async def _do(
        self,
        visit: Visit,
        own: OwnChanges,
        kind: str,
        cell: Cell,
        thing: Thing,
        second: float,
        third: float,
    ) -> None:
        """Do something to one thing."""
        number = self._call(kind, [thing.id])
        by = (
            f"{self._name}/{visit.number}/{number}" if kind == deeds.GRAB else self._by_of(thing.id)
        )
        try:
            await self._ask(visit, own, kind, cell, thing, second, third, by)
        except ThingHeldError as error:
            self._answer(number, error.code, by, error.holder)
        except PlaceRefusalError as error:
            self._answer(number, error.code)
        else:
            self._answer(number, by=by)

    async def _ask(
        self,
        visit: Visit,
        own: OwnChanges,
        kind: str,
        cell: Cell,
        thing: Thing,
        second: float,
        third: float,
        by: str,
    ) -> None:
        match kind:
            case deeds.DRAG:
                x, y = near_border(second), near_border(third)
                place = visit.program.place
                to = "" if place is None or second < 0.3 else place.leaf(x, y)
                edit = Edit(thing.id, (("x", x), ("y", y)), to=to)
                await cell.change([edit], by)
                own.note(Step((thing,), (edited(thing, edit),)))
            case deeds.GROUP:
                await cell.change([Edit(thing.id, (("group", self._name),))], by)
            case deeds.DELETE:
                await cell.delete([thing.id], by)
                own.note(Step((thing,), ()))
            case deeds.GRAB:
                await cell.grab([thing.id], by)
                self._grabs.append((thing.id, by))
            case _:
                await self._operate(visit, cell, thing, second, third, by)

    async def _operate(
        self, visit: Visit, cell: Cell, thing: Thing, second: float, third: float, by: str
    ) -> None:
        kick = [int(second * 2 * KICK) - KICK, int(third * 2 * KICK) - KICK]
        asked: dict[str, tuple[str, list[int]]] = {
            "switch": ("toggle", []),
            "light": ("toggle", []),
            "dice": ("roll", []),
            "vote": ("choose", [int(second * 3) - 1]),
            "token": ("flip", []),
            "timer": ("start", [1 + int(third * 500)]),
            "ball": ("kick", kick),
        }
        action, arguments = asked.get(thing.kind, ("toggle", []))
        lamps = {one: path for path, other in visit.cells.items() for one in other.things}
        await cell.operate(thing.id, action, arguments, by, lamps)

    async def _release(self, visit: Visit) -> None:
        if not self._grabs:
            return
        thing, by = self._grabs.pop()
        for cell in list(visit.cells.values()):
            if thing in cell.things:
                await cell.release([thing], by)

    async def _undo(self, visit: Visit, own: OwnChanges) -> None:
        wish = own.undo(screen(visit.cells))
        if wish is None:
            return
        number = self._call("undo", [one for one, _ in wish.deletions])
        with suppress(PlaceRefusalError):
            for one, version in wish.deletions:
                for cell in list(visit.cells.values()):
                    if one in cell.things:
                        await cell.delete([one], self._by_of(one), version)
            for edit in wish.edits:
                for cell in list(visit.cells.values()):
                    if edit.id in cell.things:
                        await cell.change([edit], self._by_of(edit.id))
            await self._put(visit, OwnChanges(), list(wish.puts))
        self._answer(number)

    def _by_of(self, thing: str) -> str:
        """As whom this person has the thing, or wants it, if it has."""
        return next((by for one, by in self._grabs if one == thing), "")


async def _is_told(visit: Visit, cell: Cell) -> bool:
    """Whether the cell is told its role, which its nodes do soon."""
    for _ in range(ROLE_WAITS):
        if cell.role != "unborn":
            break
        await elapse(visit.program.runtime, ROLE_WAIT_S)
    return cell.role == "leaf"


def _found(visit: Visit, draw: float) -> tuple[Cell, Thing] | None:
    """A thing that this person sees, in a cell that it has open; no pair."""
    some = [
        (cell, thing)
        for cell in visit.cells.values()
        for thing in cell.things.values()
        if not thing.id.startswith((LEFT, RIGHT))
    ]
    return _pick(some, draw) if some else None


def _pick(some: Sequence[T], draw: float) -> T:
    return some[int(draw * len(some))]
