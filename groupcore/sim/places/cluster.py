"""A cluster with a place, and people in it."""

from __future__ import annotations

from contextlib import suppress
from typing import cast

from groupcore.errors import GroupcoreError
from groupcore.shared.body import Body
from groupcore.shared.events import Diverged, MessageRejected, SharedEvent
from groupcore.shared.machine import digest_of
from groupcore.shared.places import Cell, Place
from groupcore.shared.places.interest import interest
from groupcore.shared.places.parts import name_of
from groupcore.shared.places.shown import seen
from groupcore.shared.places.squares import contains
from groupcore.shared.replica import Replica
from groupcore.sim.checkers.places import deleted
from groupcore.sim.clock import MILLISECOND
from groupcore.sim.cluster import MakeStack
from groupcore.sim.documents.program import Program
from groupcore.sim.groups.cluster import GroupCluster
from groupcore.sim.groups.host import Host
from groupcore.sim.groups.scenario import GroupScenario
from groupcore.sim.node import Node
from groupcore.sim.places.looking import Look, current, shown_wrongly
from groupcore.sim.places.program import PlaceHost, PlaceProgram
from groupcore.sim.places.scenario import PlaceScenario
from groupcore.sim.places.visitor import Visitor
from groupcore.sim.places.watching import CellWatch
from groupcore.sim.randomness import stream
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace_documents import DocumentParted
from groupcore.sim.trace_groups import GroupEnd
from groupcore.sim.trace_places import PlaceEnd, PlaceInterest, PlaceWrong

STRIVE_NS = 50 * MILLISECOND
"""How often people look whether all is there that they see, and nodes tick what moves."""


class PlaceCluster(GroupCluster):
    """The world of a schedule for places; a `Town` for its hosts and its people."""

    def __init__(self, scenario: PlaceScenario, make_stack: MakeStack) -> None:
        self.programs: list[Program] = []
        self.guests: list[PlaceHost] = []
        self.people: list[Visitor] = []
        self._is_probed = False
        self._looks: dict[Program, Look] = {}
        self._told: set[str] = set()
        super().__init__(scenario, make_stack)
        for number in range(scenario.people):
            home, random = number % scenario.nodes, stream(scenario.seed, "person", str(number))
            self.people.append(Visitor(self, number, home, random))
        for deed in scenario.deeds:
            self.clock.at(deed.at_ns, self.people[deed.person % scenario.people].do, deed)
        self.clock.after(STRIVE_NS, self._strive)

    def make_hosts(self, scenario: GroupScenario) -> list[Host]:
        """See `GroupCluster`: places take the place of what runs there."""
        for index, node in enumerate(self.nodes):
            random = stream(scenario.seed, "program", str(index))
            guest = PlaceHost(self, node, random)
            self.guests.append(guest)
            node.guest = guest
        for act in scenario.acts:
            self.clock.at(act.at_ns, self.guests[act.node % len(self.guests)].act, act)
        return []

    # --- as time goes on ------------------------------------------------------------------------

    def _strive(self) -> None:
        for person in self.people:
            person.strive()
        for guest in self.guests:
            program = guest.program
            if isinstance(program, PlaceProgram):
                self._keep(program)
        self.clock.after(STRIVE_NS, self._strive)

    def _keep(self, program: PlaceProgram) -> None:
        """Have a node hold what its visitors need, and tick what moves."""
        place = program.place
        if place is None or program.node.view is None:
            return
        needed: set[str] = set()
        for person in self.people:
            visit = person.visit
            if visit is not None and visit.program is program:
                needed.update(visit.needed)
                self._look_at(program, visit.cells)
        program.want(place.outline.tree if self._is_probed else needed)
        with suppress(GroupcoreError):
            place.tick(round(program.now_s() * 1000))

    # --- what screens show ----------------------------------------------------------------------

    def look(self, program: PlaceProgram) -> None:
        """A screen with all cells that a node has open shows each thing once, and loses none."""
        place = program.place
        if place is None:
            return
        cells = current(place.cells)
        births = {path: self._birth(program, place, path) for path in cells}
        look = self._looks.setdefault(program, Look())
        wrong, vanished = look.again(cells, births)
        self._tell(program, wrong)
        if vanished:
            lost = vanished - deleted(self.trace)
            self._tell(program, f"{' '.join(sorted(lost))} no more" if lost else "")

    def _birth(self, program: PlaceProgram, place: Place, path: str) -> str:
        """In which stretch of the order, and of which epoch, a node has a cell."""
        site = program.host.sites.get(place.name_of(path))
        view = program.node.view
        if site is None or site.body is None or view is None:
            return ""
        return f"{view.epoch} {site.body.machine.birth} {id(place.cells[path])}"

    def _look_at(self, program: PlaceProgram, cells: dict[str, Cell]) -> None:
        """And so does the screen of a person, who has some of them."""
        self._tell(program, shown_wrongly(current(cells)))

    def _tell(self, program: PlaceProgram, wrong: str) -> None:
        if wrong and wrong not in self._told:
            self._told.add(wrong)
            record = PlaceWrong(self.clock.now_ns, *program.node.address, f"shows {wrong}")
            self.trace.add(record)

    # --- as a town ------------------------------------------------------------------------------

    def watch(self, program: Program, name: str, body: Body[object]) -> None:
        """See `Town`."""
        body.observers.append(CellWatch(self, cast("PlaceProgram", program), name, body))

    def tell(self, program: Program, event: SharedEvent) -> None:
        """See `Town`."""
        if isinstance(event, Diverged | MessageRejected):
            self.trace.add(DocumentParted(self.clock.now_ns, *program.node.address, str(event)))

    def program_near(self, number: int) -> PlaceProgram | None:
        """See `Town` of visitors."""
        for offset in range(len(self.guests)):
            index = (number + offset) % len(self.guests)
            program, node = self.guests[index].program, self.nodes[index]
            is_there = isinstance(program, PlaceProgram) and node.view is not None
            if isinstance(program, PlaceProgram) and is_there and not node.leaving:
                return program
        return None

    # --- the verdict ----------------------------------------------------------------------------

    def _program(self, node: Node) -> PlaceProgram | None:
        program = self.guests[self.nodes.index(node)].program
        return program if isinstance(program, PlaceProgram) else None

    def probe(self, nodes: list[Node]) -> None:
        """Every node has all cells open that were ever given something."""
        del nodes
        self._is_probed = True

    def is_well(self, nodes: list[Node]) -> bool:
        """One primary view of these nodes, and nothing outstanding for programs or people."""
        live = sorted(node.address for node in nodes)
        for node in nodes:
            if node.view is None or not node.primary or sorted(node.view.members) != live:
                return False
            if node.view != nodes[0].view:
                return False
            if node.application is None or not node.application.ready:
                return False
        programs = [program for node in nodes if (program := self._program(node)) is not None]
        if any(one.service.sender.groups_under_way() for one in programs):
            return False
        if any(self.wrong_with(one) for one in programs):
            return False
        if any(self._person_lacks(person, programs) for person in self.people):
            return False
        return self._agree_on(programs)

    def wrong_with(self, program: PlaceProgram) -> list[str]:
        """What is not as it has to be in the end at a node; while it works, that it does."""
        place = program.place
        if not program.is_quiet or place is None or place.carrier.is_busy:
            return ["it waits"]
        wrong = []
        tree = place.outline.tree
        if self._is_probed:
            wrong += [f"{path} is not open" for path in tree if path not in place.cells]
        for path, cell in place.cells.items():
            wrong += _wrong_with_cell(path, cell, tree.get(path, "out"))
        return wrong

    def _person_lacks(self, person: Visitor, programs: list[PlaceProgram]) -> str:
        visit = person.visit
        if visit is None or visit.program not in programs or visit.program.place is None:
            return ""
        tree = visit.program.place.outline.tree
        needed = interest(person.view, tree, visit.cells.keys()).needed
        lacking = sorted(set(needed) - visit.cells.keys())
        more = sorted(visit.cells.keys() - set(needed))
        return f"lacks {lacking}, has {more} for nothing" if lacking or more else ""

    def _agree_on(self, programs: list[PlaceProgram]) -> bool:
        """Whether all have of each object the same, where they have it."""
        states: dict[str, tuple[int, bytes]] = {}
        for program in programs:
            for name, site in program.host.sites.items():
                if site.body is not None:
                    machine = site.body.machine
                    state = machine.position, digest_of(machine.packed())
                    if states.setdefault(name, state) != state:
                        return False
        return True

    def conclude(self) -> None:
        """Write down what each node has of the place, and what is not as it has to be."""
        for program in self.programs:
            for failure in program.failures:
                raise failure
            program.tasks.raise_unexpected()
        programs = [one for node in self.nodes if (one := self._program(node)) is not None]
        for person in self.people:
            lacks = self._person_lacks(person, programs)
            if lacks:
                self.trace.add(PlaceInterest(self.clock.now_ns, person.name, lacks))
        for program in programs:
            self._conclude(program)

    def _conclude(self, program: PlaceProgram) -> None:
        address, now = program.node.address, self.clock.now_ns
        for site in program.host.sites.values():
            if site.body is not None:
                CellWatch(self, program, site.name, site.body).hash()
                position = site.body.machine.position
                self.trace.add(GroupEnd(now, *address, site.group, position, ""))
        place = program.place
        cells = {} if place is None else place.cells
        held = [(thing, path) for path, cell in cells.items() for thing in cell.things]
        there = {thing for thing, _ in held}
        owed = [(one.id, path) for path, one in seen(cells) if one.id not in there]
        things = (*held, *owed)
        wrong = tuple(self.wrong_with(program))
        self.trace.add(PlaceEnd(now, *address, things, wrong))


def _wrong_with_cell(path: str, cell: Cell, role: str) -> list[str]:
    """What does not fit together in a cell, or is not done yet."""
    wrong = []
    if cell.role != role:
        wrong.append(f"{path} is {cell.role}, and {role} in the outline")
    if cell.owes:
        wrong.append(f"{path} owes something to {sorted(cell.owes)}")
    if cell.joints or cell.busy or cell.outcomes:
        wrong.append(f"{path} has joint moves under way")
    outside = [one.id for one in cell.things.values() if not contains(path, one.x, one.y)]
    if outside or (cell.things and cell.role != "leaf"):
        wrong.append(f"{path} has what does not belong there")
    replica = cell._shared.caller
    assert isinstance(replica, Replica)
    machine = replica.body.machine
    there = {name_of(one) for one in (*machine.members, *machine.guests)}
    for thing, holder in cell.grabs.items():
        if thing not in cell.things or holder.process not in there:
            wrong.append(f"{thing} in {path} is held by {holder}, who is gone, or nothing to hold")
    if cell.next_tick_ms(0) is not None:
        wrong.append(f"{path} has something that moves")
    return wrong


def place_cluster(scenario: Scenario, make_stack: MakeStack) -> PlaceCluster:
    """The world of a schedule, which has to be one for places."""
    assert isinstance(scenario, PlaceScenario), "the schedule has no place"
    return PlaceCluster(scenario, make_stack)
