"""A cluster with a document, and people who write it."""

from __future__ import annotations

from contextlib import suppress
from typing import cast

from groupcore.errors import GroupcoreError
from groupcore.objects.rich_delta import plain
from groupcore.sequencing.names import Process
from groupcore.shared.body import Body
from groupcore.shared.documents import Block, Document
from groupcore.shared.documents.handing import OPEN
from groupcore.shared.documents.parts import BlockClosed, Received
from groupcore.shared.events import Diverged, MessageRejected, SharedEvent
from groupcore.shared.machine import Done, digest_of
from groupcore.sim.clock import MILLISECOND
from groupcore.sim.cluster import MakeStack
from groupcore.sim.documents.entering import NAME
from groupcore.sim.documents.host import DocumentHost
from groupcore.sim.documents.looking import shown_twice
from groupcore.sim.documents.person import what_of
from groupcore.sim.documents.program import Program
from groupcore.sim.documents.scenario import DocumentScenario
from groupcore.sim.documents.writer import Writer
from groupcore.sim.groups.cluster import GroupCluster
from groupcore.sim.groups.host import Host
from groupcore.sim.groups.scenario import GroupScenario
from groupcore.sim.node import Node
from groupcore.sim.randomness import stream
from groupcore.sim.scenario import Scenario
from groupcore.sim.trace_documents import (
    DocumentDone,
    DocumentEnd,
    DocumentGone,
    DocumentHash,
    DocumentParted,
    DocumentTwice,
    DocumentWaits,
)
from groupcore.sim.trace_groups import GroupEnd

STRIVE_NS = 50 * MILLISECOND
"""How often people look whether their connection is there, and we at what nodes would show."""
HASHED_EVERY = 8
FIRST_CHARACTER = 0x4E00


class _Watch:
    """An observer of a node's copy of an object, for the trace."""

    def __init__(
        self, town: DocumentCluster, program: Program, name: str, body: Body[object]
    ) -> None:
        self._town = town
        self._program = program
        self._name = name
        self._body = body

    def on_done(self, position: int, process: Process, done: Done) -> None:
        """A message has been done."""
        del process
        self._did(position, done)
        if position % HASHED_EVERY == 0:
            self.hash()
        for details in done.details:
            for detail in details:
                if isinstance(detail, BlockClosed) and detail.into is None:
                    self._gone("deleted", plain(detail.content))
                elif isinstance(detail, Received) and detail.outcome == "drafted":
                    drafts = cast("Block", self._body.origin).drafts
                    kept = drafts.get(f"{detail.source}:{detail.number}")
                    self._gone("draft", "" if kept is None else plain(kept.content))

    def _did(self, position: int, done: Done) -> None:
        view, address = self._program.node.view, self._program.node.address
        if view is not None:
            place = (self._name, view.epoch, self._body.machine.birth, position)
            now = self._town.clock.now_ns
            self._town.trace.add(DocumentDone(now, *address, *place, what_of(done)))

    def _gone(self, why: str, text: str) -> None:
        if text:
            address, now = self._program.node.address, self._town.clock.now_ns
            self._town.trace.add(DocumentGone(now, *address, self._name, why, text))

    def on_member(self, position: int, process: Process, done: Done) -> None:
        """A process has come or gone."""
        del process
        self._did(position, done)
        if position % HASHED_EVERY == 0:
            self.hash()

    def on_replaced(self) -> None:
        """The state was taken from another node."""
        self.hash()

    def hash(self) -> None:
        """Write down what the state is."""
        machine, node = self._body.machine, self._program.node
        if node.view is None:
            return
        sh = digest_of(machine.packed()).hex()
        epoch, now = node.view.epoch, self._town.clock.now_ns
        birth, position = machine.birth, machine.position
        record = DocumentHash(now, *node.address, self._name, epoch, birth, position, sh)
        self._town.trace.add(record)


class DocumentCluster(GroupCluster):
    """The world of a schedule for documents; a `Town` for its hosts, `Streets` for its people."""

    def __init__(self, scenario: DocumentScenario, make_stack: MakeStack) -> None:
        self.documents = scenario
        self.programs: list[Program] = []
        self.guests: list[DocumentHost] = []
        self.people: list[Writer] = []
        self._typed = 0
        self._is_probed = False
        self._holding: list[Program] = []
        self._looked: set[str] = set()
        super().__init__(scenario, make_stack)
        for number in range(scenario.people):
            home, random = number % scenario.nodes, stream(scenario.seed, "person", str(number))
            self.people.append(Writer(self, number, home, random))
        for deed in scenario.deeds:
            self.clock.at(deed.at_ns, self.people[deed.person % scenario.people].do, deed)
        self.clock.after(STRIVE_NS, self._strive)

    def make_hosts(self, scenario: GroupScenario) -> list[Host]:
        """See `GroupCluster`: documents take the place of what runs there."""
        for index, node in enumerate(self.nodes):
            random = stream(scenario.seed, "program", str(index))
            guest = DocumentHost(self, node, random)
            self.guests.append(guest)
            node.guest = guest
        for act in scenario.acts:
            self.clock.at(act.at_ns, self.guests[act.node % len(self.guests)].act, act)
        return []

    def _strive(self) -> None:
        for person in self.people:
            person.strive()
        if self._is_probed:
            self._hold_all()
        for guest in self.guests:
            program = guest.program
            document = None if program is None else program.keeper.documents.get(NAME)
            # One that is being closed leaves its groups one by one, and is shown to nobody.
            if program is not None and document is not None and not document.tender.ended:
                self._look(program, document)
        self.clock.after(STRIVE_NS, self._strive)

    def _look(self, program: Program, document: Document) -> None:
        """No text is shown in two places."""
        twice = shown_twice(document)
        if twice and twice not in self._looked:
            self._looked.add(twice)
            self.trace.add(DocumentTwice(self.clock.now_ns, *program.node.address, twice))

    # --- as a town, and streets -----------------------------------------------------------------

    def watch(self, program: Program, name: str, body: Body[object]) -> None:
        """See `Town`."""
        body.observers.append(_Watch(self, program, name, body))

    def tell(self, program: Program, event: SharedEvent) -> None:
        """See `Town`."""
        if isinstance(event, Diverged | MessageRejected):
            self.trace.add(DocumentParted(self.clock.now_ns, *program.node.address, str(event)))

    def words(self, count: int) -> str:
        """See `Streets`."""
        first = FIRST_CHARACTER + self._typed
        self._typed += count
        return "".join(map(chr, range(first, first + count)))

    def program_near(self, number: int) -> Program | None:
        """See `Streets`."""
        for offset in range(len(self.guests)):
            index = (number + offset) % len(self.guests)
            program, node = self.guests[index].program, self.nodes[index]
            if program is not None and node.view is not None and not node.leaving:
                return program
        return None

    # --- the verdict ----------------------------------------------------------------------------

    def _program(self, node: Node) -> Program | None:
        return self.guests[self.nodes.index(node)].program

    def probe(self, nodes: list[Node]) -> None:
        """Every node has the document open, with all that was ever a block."""
        del nodes
        self._is_probed = True
        self._hold_all()

    def _hold_all(self) -> None:
        for guest in self.guests:
            program = guest.program
            if program is not None and program not in self._holding:
                self._holding.append(program)
                program.tasks.spawn(_hold(program))

    def is_well(self, nodes: list[Node]) -> bool:
        """One primary view of these nodes, and nothing outstanding for programs or people.

        What a program has sent, and nobody waits for, has its number as well.
        """
        live = sorted(node.address for node in nodes)
        for node in nodes:
            if node.view is None or not node.primary or sorted(node.view.members) != live:
                return False
            if node.view != nodes[0].view:
                return False
            if node.application is None or not node.application.ready:
                return False
        programs = [program for node in nodes if (program := self._program(node)) is not None]
        if any(_waits(one) or one.service.sender.groups_under_way() for one in programs):
            return False
        if self._is_probed and any(NAME not in one.keeper.documents for one in programs):
            return False
        if any(self._person_waits(person, programs) for person in self.people):
            return False
        return self._agree_on(programs)

    def _person_waits(self, person: Writer, programs: list[Program]) -> str:
        if person.visit is not None and person.visit.program not in programs:
            return ""
        for name, told in person.told.items():
            if told.asked:
                return f"no answer to {sorted(told.asked)} of {name}"
            if told.saved < told.answered:
                return f"{name} is saved up to {told.saved}, not {told.answered}"
        return ""

    def _agree_on(self, programs: list[Program]) -> bool:
        """Whether all have of each object the same, where they have it."""
        states: dict[str, tuple[int, bytes]] = {}
        for program in programs:
            for name, site in program.host.sites.items():
                if site.body is None:
                    continue
                state = site.body.machine.position, digest_of(site.body.machine.packed())
                if states.setdefault(name, state) != state:
                    return False
        return True

    def conclude(self) -> None:
        """Write down what each node has of the document, and what anybody waits for."""
        for program in self.programs:
            for failure in program.failures:
                raise failure
            program.tasks.raise_unexpected()
        programs = [guest.program for guest in self.guests if guest.program is not None]
        for person in self.people:
            waits = self._person_waits(person, programs)
            if waits:
                self.trace.add(DocumentWaits(self.clock.now_ns, person.name, waits))
        for program in programs:
            self._conclude(program)

    def _conclude(self, program: Program) -> None:
        document = program.keeper.documents.get(NAME)
        wrong = [_waits(program)] if _waits(program) else []
        address, now = program.node.address, self.clock.now_ns
        if document is None:
            end = DocumentEnd(now, *address, "", (), "", ("the document is not open", *wrong))
            self.trace.add(end)
            return
        for site in program.host.sites.values():
            if site.body is not None:
                _Watch(self, program, site.name, site.body).hash()
                position = site.body.machine.position
                self.trace.add(GroupEnd(now, *address, site.group, position, ""))
        texts: list[tuple[str, str]] = []
        for block in document.outline.order:
            content = document.content(block)
            if content is None:
                wrong.append(f"{block} has no text here")
            texts.append((block, plain(content or ())))
        blocks = _blocks(program)
        for name, found in blocks.items():
            is_known = name in document.outline.entries
            if found.status == OPEN and not is_known:
                wrong.append(f"{name} has a text, and the outline does not know it")
            if is_known and found.status != OPEN and name not in document.outline.seeds:
                wrong.append(f"{name} is in the outline, and {found.status}")
        drafts = [plain(draft.content) for one in blocks.values() for draft in one.drafts.values()]
        title = document.outline.title
        end = DocumentEnd(now, *address, title, tuple(texts), "".join(drafts), tuple(wrong))
        self.trace.add(end)


async def _hold(program: Program) -> None:
    """Have the document open for good, and what was taken out of it, to be looked at.

    That is not given to the document, which would tend it: whether somebody does is to be judged.
    """
    while True:
        try:
            document = await program.keeper.hold(NAME)
            break
        except GroupcoreError:
            await program.tasks.elapse(0.1)
    session = program.session()
    for block in [one for one in document.outline.gone if one not in document.blocks]:
        with suppress(GroupcoreError):
            await session.open(Block, f"doc/{NAME}/{block}")


def _blocks(program: Program) -> dict[str, Block]:
    """All blocks that are open at a node, tended or not."""
    found: dict[str, Block] = {}
    for name, site in program.host.sites.items():
        if site.body is not None and isinstance(site.body.machine.target, Block):
            found[name.removeprefix(f"doc/{NAME}/")] = site.body.machine.target
    return found


def _waits(program: Program) -> str:
    """What the program of a node waits for; empty: nothing."""
    if not program.is_quiet or program.keeper.is_closing:
        return "it waits for the service"
    document = program.keeper.documents.get(NAME)
    if document is None:
        return ""
    for name, block in _blocks(program).items():
        if block.owes:
            return f"{name} owes something to {sorted(block.owes)}"
    if document.tender.is_busy:
        return "it is tending"
    for name, entry in document.outline.entries.items():
        if entry.live and name not in document.blocks:
            return f"{name} is not open"
        if entry.live and name in document.outline.seeds:
            return f"{name} is a seed yet"
    return ""


def document_cluster(scenario: Scenario, make_stack: MakeStack) -> DocumentCluster:
    """The world of a schedule, which has to be one for documents."""
    assert isinstance(scenario, DocumentScenario), "the schedule has no document"
    return DocumentCluster(scenario, make_stack)
