"""A cluster whose nodes have gateways, and pages at them."""

from __future__ import annotations

from collections.abc import Sequence

from groupcore.shared.body import Body
from groupcore.shared.events import Diverged, MessageRejected, SharedEvent
from groupcore.shared.machine import digest_of
from groupcore.shared.types import List
from groupcore.sim.clock import MILLISECOND
from groupcore.sim.cluster import MakeStack
from groupcore.sim.documents.program import Program
from groupcore.sim.groups.cluster import GroupCluster
from groupcore.sim.groups.host import Host
from groupcore.sim.groups.scenario import GroupScenario
from groupcore.sim.node import Node
from groupcore.sim.pages.browser import Browser
from groupcore.sim.pages.program import PageHost, PageProgram
from groupcore.sim.pages.scenario import PageScenario
from groupcore.sim.pages.watching import CopyWatch
from groupcore.sim.randomness import stream
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace_documents import DocumentParted
from groupcore.sim.trace_groups import GroupEnd
from groupcore.sim.trace_pages import PageEnd, PageWaits

STRIVE_NS = 50 * MILLISECOND
"""How often pages look whether their connection is there, and what they wait for."""


class PageCluster(GroupCluster):
    """The world of a schedule for pages; a `Town` for its hosts, `Streets` for its pages."""

    def __init__(self, scenario: PageScenario, make_stack: MakeStack) -> None:
        self.programs: list[Program] = []
        self.guests: list[PageHost] = []
        self.people: list[Browser] = []
        self._is_kept = scenario.is_kept
        self._tokens = 0
        super().__init__(scenario, make_stack)
        for number in range(scenario.people):
            home, random = number % scenario.nodes, stream(scenario.seed, "page", str(number))
            self.people.append(Browser(self, number, home, random))
        for deed in scenario.deeds:
            self.clock.at(deed.at_ns, self.people[deed.person % scenario.people].do, deed)
        self.clock.after(STRIVE_NS, self._strive)

    def make_hosts(self, scenario: GroupScenario) -> list[Host]:
        """See `GroupCluster`: gateways take the place of what runs there."""
        for index, node in enumerate(self.nodes):
            guest = PageHost(self, node, stream(scenario.seed, "program", str(index)))
            guest.is_kept = self._is_kept
            self.guests.append(guest)
            node.guest = guest
        for act in scenario.acts:
            self.clock.at(act.at_ns, self.guests[act.node % len(self.guests)].act, act)
        return []

    def _strive(self) -> None:
        for person in self.people:
            person.strive()
        self.clock.after(STRIVE_NS, self._strive)

    # --- as a town, and streets -----------------------------------------------------------------

    def watch(self, program: Program, name: str, body: Body[object]) -> None:
        """See `Town`."""
        body.observers.append(CopyWatch(self.clock, self.trace, program, name, body))

    def tell(self, program: Program, event: SharedEvent) -> None:
        """See `Town`."""
        if isinstance(event, Diverged | MessageRejected):
            self.trace.add(DocumentParted(self.clock.now_ns, *program.node.address, str(event)))

    def token(self) -> str:
        """See `Streets`."""
        self._tokens += 1
        return f"w{self._tokens}"

    def program_near(self, number: int) -> PageProgram | None:
        """See `Streets`."""
        for offset in range(len(self.guests)):
            index = (number + offset) % len(self.guests)
            program, node = self.guests[index].program, self.nodes[index]
            if isinstance(program, PageProgram) and node.view is not None and not node.leaving:
                return program
        return None

    # --- the verdict ----------------------------------------------------------------------------

    def _program(self, node: Node) -> PageProgram | None:
        program = self.guests[self.nodes.index(node)].program
        return program if isinstance(program, PageProgram) else None

    def probe(self, nodes: list[Node]) -> None:
        """Every node has all objects open, and every page reads."""
        for node in nodes:
            program = self._program(node)
            if program is not None:
                program.keep()
        for guest in self.guests:
            guest.is_kept = True
        for person in self.people:
            if person.wire is not None:
                person.wire.read_on()

    def is_well(self, nodes: list[Node]) -> bool:
        """One primary view of these nodes, and nothing outstanding for programs or pages."""
        live = sorted(node.address for node in nodes)
        for node in nodes:
            if node.view is None or not node.primary or sorted(node.view.members) != live:
                return False
            if node.view != nodes[0].view:
                return False
            if node.application is None or not node.application.ready:
                return False
        programs = [program for node in nodes if (program := self._program(node)) is not None]
        if any(one.service.sender.groups_under_way() or not one.is_settled for one in programs):
            return False
        here = [one for one in self.people if one.wire is None or one.wire.program in programs]
        return not any(_lacks(one, here) for one in here) and self._agree_on(programs)

    def _agree_on(self, programs: list[PageProgram]) -> bool:
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
        """Write down what each node has, and what anybody waits for."""
        for program in self.programs:
            for failure in program.failures:
                raise failure
            program.tasks.raise_unexpected()
        for person in self.people:
            lacks = _lacks(person, self.people)
            if lacks:
                self.trace.add(PageWaits(self.clock.now_ns, person.client, lacks))
        for node in self.nodes:
            program_here = self._program(node)
            if program_here is not None:
                self._conclude(program_here)

    def _conclude(self, program: PageProgram) -> None:
        address, now = program.node.address, self.clock.now_ns
        for site in program.host.sites.values():
            if site.body is None:
                reached = program.reached.get(site.group, 0)
                self.trace.add(GroupEnd(now, *address, site.group, reached, ""))
                continue
            CopyWatch(self.clock, self.trace, program, site.name, site.body).hash()
            machine = site.body.machine
            self.trace.add(GroupEnd(now, *address, site.group, machine.position, ""))
            if isinstance(machine.target, List):
                words = tuple(str(value) for _, value in machine.target.items())
                self.trace.add(PageEnd(now, *address, site.name, machine.birth, words))


def _lacks(person: Browser, people: Sequence[Browser]) -> str:
    """What a page lacks, of these others as well; empty: nothing."""
    lacking = person.lacks()
    if lacking or "people" not in person.wanted:
        return lacking
    others = [one for one in people if one is not person and "people" in one.wanted]
    missing = {one.shows for one in others if one.shows} - set(person.others.values())
    return f"does not see {sorted(missing)}" if missing else ""


def page_cluster(scenario: Scenario, make_stack: MakeStack) -> PageCluster:
    """The world of a schedule, which has to be one for pages."""
    assert isinstance(scenario, PageScenario), "the schedule has no pages"
    return PageCluster(scenario, make_stack)
