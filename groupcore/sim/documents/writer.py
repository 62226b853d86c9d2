"""What a person does with a document: each deed of the schedule, where its draws point to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple, TypeVar, cast

from groupcore.errors import GroupcoreError
from groupcore.objects.rich_delta import Rich, Run, canonical, length, plain
from groupcore.shared.documents import Block, DocumentOutline, Seed
from groupcore.shared.documents.handing import OPEN
from groupcore.shared.verdicts import Verdict
from groupcore.sim.clock import SECOND
from groupcore.sim.documents import scenario as deeds
from groupcore.sim.documents.person import OUTLINE, Asked, Person, Streets, Visit
from groupcore.sim.documents.scenario import Deed

T = TypeVar("T")

SEEN_MAX = 12
"""So many old versions a person remembers."""
OUTDATED = 0.2
"""The part of joins that go to a block that somebody may have joined to another one before."""
ERASED_MAX = 3


class Seen(NamedTuple):
    """A block as a person has seen it, in this stretch of the order."""

    block: str
    birth: str
    version: int
    content: Rich


class Typed(NamedTuple):
    """An own edit that can be taken back: text at a place of the version right behind it."""

    block: str
    birth: str
    version: int
    at: int
    text: str


class Writer(Person):
    """A person who does what a schedule says."""

    def __init__(self, streets: Streets, number: int, home: int, random: Random) -> None:
        super().__init__(streets, number, home, random)
        self._seen: list[Seen] = []
        self._typed: list[Typed] = []
        self._typing: dict[tuple[str, int], tuple[int, str]] = {}
        self._blocks = 0

    def do(self, deed: Deed) -> None:
        """Do it, if there is somewhere to do it."""
        if deed.kind in (deeds.GO, deeds.LEAVE):
            away_ns = int(deed.draws[0] * SECOND) if deed.kind == deeds.LEAVE else 0
            self.go(deed.node, self._streets.clock.now_ns + away_ns)
        self.strive()
        visit = self.visit
        if visit is not None and deed.kind not in (deeds.GO, deeds.LEAVE):
            visit.program.tasks.spawn(self._do(visit, deed))

    async def _do(self, visit: Visit, deed: Deed) -> None:
        try:
            await self._act(visit, deed)
        except GroupcoreError:
            return  # the block is gone, or the visit over

    async def _act(self, visit: Visit, deed: Deed) -> None:
        replica = await visit.open(OUTLINE)
        outline = cast("DocumentOutline", replica.target)
        order = list(outline.order)
        first, second, third = deed.draws
        if deed.kind == deeds.RENAME:
            self.call(OUTLINE, "rename", (self._streets.words(1),), again=self._anew(deed))
        elif deed.kind == deeds.INSERT or not order:
            self._insert(order, deed)
        elif deed.kind == deeds.MOVE:
            blocks, after = [_pick(order, first)], _pick(order, second)
            self.call(OUTLINE, "move", (blocks, after), again=self._anew(deed))
        elif deed.kind == deeds.REMOVE:
            await self._remove(visit, outline, _pick(order, first))
        elif deed.kind == deeds.JOIN:
            place = int(first * len(order))
            into = order[place - 1] if place else order[-1]
            if second < OUTDATED and self._seen:  # as who has not heard that it was joined, too
                into = _pick([one.block for one in self._seen], third)
            await self._block(visit, into)
            await self._block(visit, order[place])
            self.call(f"{OUTLINE}/{order[place]}", "join", (into,))
        elif deed.kind == deeds.UNDO:
            await self._undo(visit)
        else:
            block = _pick(order, first)
            found = await self._block(visit, block)
            self._write(visit, block, found, deed, second, third)

    async def _block(self, visit: Visit, block: str) -> Block:
        replica = await visit.open(f"{OUTLINE}/{block}")
        found = cast("Block", replica.target)
        seen = Seen(block, replica.body.machine.birth, found.version, found.content)
        self._seen = [*self._seen[1 - SEEN_MAX :], seen]
        return found

    def _insert(self, order: list[str], deed: Deed) -> None:
        texts = [self._streets.words(2) for _ in range(1 + int(deed.draws[1] * 2))]
        seeds = []
        for text in texts:
            self._blocks += 1
            seeds.append(Seed(f"{self.name}-{self._blocks}", (), (Run(text),)))
        after = _pick(order, deed.draws[0]) if order else ""
        typed = "".join(texts)

        def again() -> None:
            self.call(OUTLINE, "insert", (after, seeds), typed, again=again)

        again()

    async def _remove(self, visit: Visit, outline: DocumentOutline, block: str) -> None:
        """Remove a block; what goes with it is known from its group's end, or from the seed."""
        seed = outline.seeds.get(block)
        erased = plain(seed.content) if seed is not None else ""

        def again() -> None:
            self.call(OUTLINE, "remove", ([block],), erased=erased, again=again)

        again()

    def _write(
        self, visit: Visit, block: str, found: Block, deed: Deed, second: float, third: float
    ) -> None:
        """Edit a block; `again` only where it needs no version."""
        name = f"{OUTLINE}/{block}"
        if found.status != OPEN:
            return
        at = int(second * (length(found.content) + 1))
        match deed.kind:
            case deeds.TYPE:
                self._type(block, found.version, at, self._streets.words(1 + int(third * 3)))
            case deeds.LATE:
                self._type_late(visit, deed)
            case deeds.ERASE:
                count = min(1 + int(third * ERASED_MAX), length(found.content) - at)
                if count > 0:
                    erased = plain(found.content)[at : at + count]
                    delta = canonical([at, -count])
                    self.call(name, "edit", (found.version, delta, self.name), erased=erased)
            case deeds.SPLIT:
                self._blocks += 1
                new = f"{self.name}-{self._blocks}"
                self.call(name, "split", (found.version, at, new, ()))
            case deeds.SET:
                changes = {"level": int(third * 6)}
                self.call(name, "set", (changes,), again=self._anew(deed))

    def _type(self, block: str, version: int, at: int, text: str) -> None:
        """Type; when nobody knows that version any more, at the place that is nearest."""
        name = f"{OUTLINE}/{block}"

        def again() -> None:
            visit = self.visit
            replica = None if visit is None else visit.opened.get(name)
            if replica is not None:
                found = cast("Block", replica.target)
                if found.status == OPEN:
                    self._type(block, found.version, min(at, length(found.content)), text)

        delta = canonical([at, Run(text)])
        number = self.call(name, "edit", (version, delta, self.name), text, again=again)
        self._typing[name, number] = at, text

    def _type_late(self, visit: Visit, deed: Deed) -> None:
        """Type against a version that is some time old, of the stretch that goes on."""
        for seen in self._seen[int(deed.draws[2] * len(self._seen)) :]:
            replica = visit.opened.get(f"{OUTLINE}/{seen.block}")
            if replica is not None and replica.body.machine.birth == seen.birth:
                at = int(deed.draws[1] * (length(seen.content) + 1))
                self._type(seen.block, seen.version, at, self._streets.words(2))
                return

    async def _undo(self, visit: Visit) -> None:
        if not self._typed:
            return
        typed = self._typed.pop()
        name = f"{OUTLINE}/{typed.block}"
        replica = await visit.open(name)
        if replica.body.machine.birth == typed.birth:
            delta = canonical([typed.at, -len(typed.text)])
            self.call(name, "edit", (typed.version, delta, self.name), erased=typed.text)

    def _anew(self, deed: Deed) -> Callable[[], None]:
        """Composes the deed anew."""
        return lambda: self.do(deed)

    def on_answer(self, name: str, asked: Asked, verdict: Verdict) -> None:
        """See `Person`: what was typed can be taken back now, where it was done as it was typed."""
        typing = self._typing.pop((name, asked.number), None)
        if typing is None or verdict.code or not isinstance(verdict.results[0], dict):
            return
        edited = verdict.results[0]
        if edited["moved"] or edited["draft"]:
            return
        block = name.removeprefix(f"{OUTLINE}/")
        told = self.told[name]
        version = int(str(edited["version"]))
        replica = None if self.visit is None else self.visit.opened.get(name)
        found = None if replica is None else cast("Block", replica.target)
        if found is None or found.version != version:
            return  # others were faster: where it stands is not known without what they did
        at = plain(found.content).find(typing[1])
        if at >= 0:
            self._typed.append(Typed(block, told.birth, version, at, typing[1]))


def _pick(some: Sequence[T], draw: float) -> T:
    return some[int(draw * len(some))]
