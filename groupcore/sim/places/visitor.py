"""Somebody who sees a part of a place, walks about in it, and does things to what is seen.

A visitor outlives nodes: when its visit at one is lost it goes on at another one. The cells that
its view needs are joined and left as it walks; what happens in them is written down as a page is
shown it.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Protocol

from groupcore.errors import GroupcoreError
from groupcore.sequencing.names import Process
from groupcore.shared.machine import Done
from groupcore.shared.object import SharedObject, is_current
from groupcore.shared.places import Cell
from groupcore.shared.places.interest import View
from groupcore.shared.places.limits import SIDE
from groupcore.shared.places.own_changes import OwnChanges
from groupcore.shared.places.squares import Box
from groupcore.shared.replica import Replica
from groupcore.sim.clock import SECOND, Clock
from groupcore.sim.documents.person import LINGER_S, what_of
from groupcore.sim.documents.scenario import GO, LEAVE, Deed
from groupcore.sim.places.acting import Acting, near_border
from groupcore.sim.places.chart import Chart
from groupcore.sim.places.scenario import WALK
from groupcore.sim.trace import Trace
from groupcore.sim.trace_documents import DocumentShown
from groupcore.sim.trace_places import PlaceInterest

if TYPE_CHECKING:
    from groupcore.sim.places.program import PlaceProgram


class Town(Protocol):
    """What people share."""

    clock: Clock
    trace: Trace

    def program_near(self, number: int) -> PlaceProgram | None:
        """A program that takes visitors: at this node, or else another one."""


class Visit:
    """A person's session at a node. `cells` are those that it has open, by path."""

    def __init__(self, visitor: Visitor, program: PlaceProgram) -> None:
        visitor.visits += 1
        self.number = visitor.visits
        self.program = program
        self.session = program.session(attends=True)
        self.cells: dict[str, Cell] = {}
        self.needed: tuple[str, ...] = ()
        self.chart: Chart | None = None
        self.is_over = False
        self._visitor = visitor
        self._opening: set[str] = set()
        self._closing: set[str] = set()

    def look(self, view: View) -> None:
        """Join what the view needs, and leave what it does not."""
        place = self.program.place
        if place is None or self.is_over:
            return
        self.needed = place.look(view, self.cells.keys()).needed
        if is_current(place.outline):
            self._look_at_map(place.outline_name, view)
        for path in self.needed:
            busy = self._opening | self._closing
            if path not in self.cells and path not in busy:
                self._opening.add(path)
                self.program.tasks.spawn(self._open(path, place.name_of(path)))
        for path in sorted(self.cells.keys() - set(self.needed)):
            if path not in self._closing:
                self._closing.add(path)
                self.program.tasks.spawn(self._close(path, place.name_of(path)))

    def _look_at_map(self, name: str, view: View) -> None:
        """See the tree's regions that the view needs."""
        site = self.program.host.sites.get(name)
        body = None if site is None else site.body
        if self.chart is not None and self.chart.body is not body:
            self.chart.close()
            self.chart = None
        if self.chart is not None:
            self.chart.look(view.box)
        elif body is not None:
            self.chart = Chart(body, view.box, self._visitor.lost)
        if self.chart is not None and self.chart.needed(view, self.cells.keys()) != self.needed:
            self._visitor.lost("finds not all cells that it sees on its map")

    @property
    def is_settled(self) -> bool:
        """Whether it has just what it needs."""
        return not (self._opening or self._closing) and set(self.cells) == set(self.needed)

    async def _open(self, path: str, name: str) -> None:
        try:
            cell = await self.session.open(Cell, name)
            user: object = self.session.port(Cell, name).user
            assert isinstance(user, Replica)
            ear = _Ear(self._visitor, self, name, user)
            user.body.observers.append(ear)
            user.closed.when_done(lambda: self._gone(path, ear))
            self.cells[path] = cell
        except GroupcoreError:
            return  # the node is outside the cluster; looked for again
        finally:
            self._opening.discard(path)

    async def _close(self, path: str, name: str) -> None:
        try:
            await self.session.let_go(name)
        finally:
            self._closing.discard(path)

    def _gone(self, path: str, ear: _Ear) -> None:
        self.cells.pop(path, None)
        if ear in ear.replica.body.observers:
            ear.replica.body.observers.remove(ear)

    def lose(self, linger_s: float) -> None:
        """The connection is lost: the node closes the session after a while."""
        self.is_over = True
        if self.chart is not None:
            self.chart.close()
        tasks = self.program.tasks
        tasks.after(linger_s, lambda: None if self.session.ended else self._end_soon())

    def _end_soon(self) -> None:
        self.program.tasks.spawn(self.session.close())


class _Ear:
    """Writes down what a visitor is shown of a cell: a state, and behind it every position."""

    def __init__(
        self, visitor: Visitor, visit: Visit, name: str, replica: Replica[SharedObject]
    ) -> None:
        self.replica = replica
        self._visitor = visitor
        self._visit = visit
        self._name = name
        self._show(replica.body.machine.position, whole=True)

    def on_done(self, position: int, process: Process, done: Done) -> None:
        """A message has been done."""
        self._show(position, what=what_of(done))

    def on_member(self, position: int, process: Process, done: Done) -> None:
        """A process has come or gone."""
        self._show(position, what=what_of(done))

    def on_replaced(self) -> None:
        """The state was taken anew."""
        self._show(self.replica.body.machine.position, whole=True)

    def _show(self, position: int, what: str = "", whole: bool = False) -> None:
        if not self._visit.is_over:
            birth = self.replica.body.machine.birth
            self._visitor.shown(self._visit, self._name, birth, position, what, whole)


class Visitor:
    """Number `number` of the people; `home` is the node that it goes to by itself."""

    def __init__(self, town: Town, number: int, home: int, random: Random) -> None:
        self.name = f"visitor-{number}"
        self.home = home
        self.visit: Visit | None = None
        self.visits = 0
        self.view = View(Box(-(SIDE // 4), -(SIDE // 4), SIDE // 4, SIDE // 4))
        self.own = OwnChanges()
        self.acting = Acting(self.name, town.clock, town.trace)
        self._away_until_ns = 0
        self._random = random
        self._town = town

    def strive(self) -> None:
        """Be somewhere, and have open what is seen."""
        visit = self.visit
        if visit is not None and (visit.program.tasks.is_over or visit.session.ended):
            visit = self.visit = None
        if visit is None and self._town.clock.now_ns >= self._away_until_ns:
            program = self._town.program_near(self.home)
            if program is not None:
                visit = self.visit = Visit(self, program)
        if visit is not None:
            visit.look(self.view)

    def do(self, deed: Deed) -> None:
        """Do what a schedule says, if there is somewhere to do it."""
        if deed.kind in (GO, LEAVE):
            away_ns = int(deed.draws[0] * SECOND) if deed.kind == LEAVE else 0
            self._go(deed.node, self._town.clock.now_ns + away_ns)
        if deed.kind == WALK:
            self._walk(deed)
        self.strive()
        visit = self.visit
        if visit is not None and deed.kind not in (GO, LEAVE, WALK):
            visit.program.tasks.spawn(self.acting.act(visit, self.own, deed))

    def _go(self, home: int, away_until_ns: int) -> None:
        self.home, self._away_until_ns = home, away_until_ns
        visit, self.visit = self.visit, None
        if visit is not None:
            visit.lose(self._random.choice(LINGER_S))

    def _walk(self, deed: Deed) -> None:
        x, y = near_border(deed.draws[0]), near_border(deed.draws[1])
        half = SIDE >> (2 + int(deed.draws[2] * 3))
        former = self.view.box
        box = Box(x - half, y - half, x + half, y + half)
        self.view = View(box, box.left - former.left, box.top - former.top)

    def lost(self, why: str) -> None:
        """Its map is not as it has to be."""
        self._town.trace.add(PlaceInterest(self._town.clock.now_ns, self.name, why))

    def shown(
        self, visit: Visit, name: str, birth: str, position: int, what: str, whole: bool
    ) -> None:
        """It is given a state of a cell (`whole`), or what has happened at a position."""
        view = visit.program.node.view
        if view is not None:
            place = (name, view.epoch, birth, position)
            now = self._town.clock.now_ns
            record = DocumentShown(now, self.name, visit.number, *place, whole, what)
            self._town.trace.add(record)
