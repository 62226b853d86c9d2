"""Planted bugs of documents: what is handed over, who is told, what is asked twice."""

from __future__ import annotations

from groupcore.sequencing.enrolment import Enrolment
from groupcore.sequencing.sequencer import Sequencer
from groupcore.shared import machine
from groupcore.shared.documents.attending import Attending
from groupcore.shared.documents.block import Block
from groupcore.shared.documents.handing import Handing
from groupcore.shared.documents.outline import DocumentOutline
from groupcore.shared.documents.parts import Parcel
from groupcore.shared.documents.tending import Tender
from groupcore.shared.machine import Machine
from groupcore.shared.verdicts import Call, Verdict, Verdicts
from groupcore.sim.documents.person import Person, Visit
from groupcore.sim.plant_schedules_documents import IN_HURRIES
from groupcore.sim.planting import Patch, Plant


def _taken_twice() -> list[Patch]:
    def never(self: Handing, source: str, number: int) -> bool:
        return False

    return [(Handing, "_has", never)]


def _planted_unwoken() -> list[Patch]:
    async def plant(self: Tender, name: str, block: Block) -> None:
        seed = self._outline.seeds.get(name)
        if seed is not None:
            parcel = Parcel(1, "birth", seed.content, attributes=seed.attributes)
            await block.accept("", name, parcel)

    def wake(self: DocumentOutline, blocks: list[str]) -> None:
        """Nor do they hear of it when it is planted."""

    return [(Tender, "plant", plant), (DocumentOutline, "_wake", wake)]


def _shown_with_gaps() -> list[Patch]:
    """The session leaves something out of what it passes on to the page."""
    showing = Person.shown

    def shown(
        self: Person, visit: Visit, name: str, birth: str, position: int, what: str, whole: bool
    ) -> None:
        if whole or position % 7:
            showing(self, visit, name, birth, position, what, whole)

    return [(Person, "shown", shown)]


def _receipts_forgotten() -> list[Patch]:
    original = Machine.load

    def load(self: Machine, packed: bytes) -> None:
        original(self, packed)
        if isinstance(self.target, Block):
            self.target.received.clear()

    return [(Machine, "load", load)]


def _done_again() -> list[Patch]:
    def find(self: Verdicts, call: Call, content: bytes) -> Verdict | None:
        return None

    return [(Verdicts, "find", find)]


def _stamped_content() -> list[Patch]:
    def content_of(calls: object) -> bytes:
        """What a call is, and when it was asked."""
        asked.append(calls)
        return len(asked).to_bytes(8, "big")

    asked: list[object] = []
    return [(machine, "content_of", content_of)]


def _dead_not_carried() -> list[Patch]:
    def mine(self: Tender, block: Block, parcel: Parcel) -> bool:
        return parcel.by == self.node

    return [(Tender, "_is_mine", mine)]


def _births_mixed() -> list[Patch]:
    start, expel = Sequencer.start, Enrolment.expel_gone

    def nothing(self: Enrolment) -> None:
        """Nobody leaves now."""

    def start_first(self: Sequencer) -> None:
        """Whose node is gone leaves some time later."""
        start(self)
        expel(self.enrolment)

    return [
        (Enrolment, "expel_gone", nothing),
        (Sequencer, "start", start_first),
    ]


def _left_unlooked() -> list[Patch]:
    def look(self: Attending) -> None:
        """Who comes next opens what stands in the outline."""

    return [(Attending, "look", look)]


DOCUMENT_PLANTS = (
    Plant(
        "doc-taken-twice",
        "what one block gives to another is taken as often as it comes",
        (20, 17),
        _taken_twice,
        profile="documents",
    ),
    Plant(
        "doc-planted-unwoken",
        "a pasted block gets its group and the others do not know of it",
        (25, 17, 18, 20),
        _planted_unwoken,
        profile="documents",
    ),
    Plant(
        "doc-receipts-forgotten",
        "a node that takes a block over does not know what the block has been given",
        (17, 20, 25),
        _receipts_forgotten,
        profile="documents",
    ),
    Plant(
        "doc-done-again",
        "a call that is asked again at another node is done again",
        (20,),
        _done_again,
        profile="documents",
    ),
    Plant(
        "doc-resend-differs",
        "a call that is asked again is taken for another one under its number",
        (20, 17),
        _stamped_content,
        profile="documents",
    ),
    Plant(
        "doc-dead-not-carried",
        "what a node that died owed to another block is carried by nobody",
        (25, 17, 18),
        _dead_not_carried,
        profile="documents",
    ),
    Plant(
        "doc-left-unlooked",
        "what blocks owe that stand in the outline no more is looked for by nobody",
        (18, 25),
        _left_unlooked,
        profile="documents",
        schedule=IN_HURRIES,
    ),
    Plant(
        "doc-shown-with-gaps",
        "a page is not shown each seventh entry of an object",
        (21,),
        _shown_with_gaps,
        profile="documents",
    ),
    Plant(
        "doc-births-mixed",
        "who comes behind the loss of everybody is taken for one of the same stretch",
        (18, 17, 20),
        _births_mixed,
        profile="documents",
    ),
)
"""Those of documents; `plants.PLANTS` has all."""
