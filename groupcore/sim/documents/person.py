"""A page with somebody in front of it: calls that are asked again until they are answered.

It outlives nodes. Its connection is a visit at a node; when that is lost it goes on at another one,
under the same id and with the same numbers, as `webui/src/client` does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import TYPE_CHECKING, Protocol, cast

from groupcore.errors import GroupcoreError
from groupcore.objects.refusal import NoSuchBlockError
from groupcore.sequencing.names import Process
from groupcore.shared.documents import Block, DocumentOutline
from groupcore.shared.errors import RefusedError
from groupcore.shared.handle import Call as Prepared
from groupcore.shared.machine import Done
from groupcore.shared.object import SharedObject
from groupcore.shared.pending import Pending
from groupcore.shared.replica import Replica
from groupcore.shared.verdicts import LOST, Call, Verdict, Verdicts, code_of
from groupcore.sim.clock import Clock
from groupcore.sim.documents.entering import NAME, have_block
from groupcore.sim.trace import Trace
from groupcore.sim.trace_documents import (
    DocumentAnswered,
    DocumentCalled,
    DocumentDropped,
    DocumentSaved,
    DocumentShown,
)

if TYPE_CHECKING:
    from groupcore.sim.documents.program import Program

OUTLINE = f"doc/{NAME}"
TEMPORARY = frozenset({"closed", "outcome_unknown", "left", "unknown_group"})
"""Codes behind which a page asks again."""
LINGER_S = (0.0, 0.05, 0.3)
"""How long a node keeps the session of a page whose connection is lost."""


class Streets(Protocol):
    """What people share. `words` gives so many characters that nobody has typed before."""

    clock: Clock
    trace: Trace

    def words(self, count: int) -> str:
        """See above."""

    def program_near(self, number: int) -> Program | None:
        """A program that takes visitors: at this node, or else another one."""


@dataclass(slots=True)
class Asked:
    """A call that is not answered; `again` composes it anew, or it cannot be."""

    number: int
    prepared: Prepared
    operation: str
    typed: str
    again: Callable[[], None] | None = None
    sent_by: Visit | None = None


@dataclass(slots=True)
class Told:
    """What a person has of one object: calls by number, and the stretch of the order it knows."""

    birth: str = ""
    last: int = 0
    answered: int = 0
    saved: int = 0
    asked: dict[int, Asked] = field(default_factory=dict)
    unsaved: set[int] = field(default_factory=set)

    @property
    def is_done(self) -> bool:
        """Whether all is answered, and on disk."""
        return not self.asked and self.saved >= self.answered


class Visit:
    """A person's session at a node."""

    def __init__(self, person: Person, program: Program) -> None:
        self.program = program
        person.visits += 1
        self.number = person.visits
        self.session = program.session(attends=True)
        self.opened: dict[str, Replica[SharedObject]] = {}
        self.is_over = False
        self._person = person
        self._opening: dict[str, Pending[Replica[SharedObject]]] = {}

    async def open(self, name: str) -> Replica[SharedObject]:
        """Open an object; the document is held by the node as long as it is open."""
        if name in self.opened:
            return self.opened[name]
        if name not in self._opening:
            self._opening[name] = self.program.tasks.spawn(self._open(name))
        return await self._opening[name]

    async def _open(self, name: str) -> Replica[SharedObject]:
        keeper = self.program.keeper
        replica: object = None
        try:
            document = await keeper.hold(NAME)
            try:
                kind: type[SharedObject] = DocumentOutline
                if name != OUTLINE:
                    kind = Block
                    block = name.removeprefix(f"{OUTLINE}/")
                    await have_block(self.program.runtime, document, block)
                await self.session.open(kind, name)
                replica = self.session.port(kind, name).user
            except GroupcoreError as error:
                keeper.let_go(NAME)
                if isinstance(error, NoSuchBlockError) and not self.is_over:
                    self._person.on_gone(name)
                if isinstance(error, RefusedError) and not self.is_over:
                    # A node that is left behind is waited for; nothing else can be refused here.
                    raise AssertionError(f"{name} is refused: {error}") from error
                raise
        finally:
            del self._opening[name]
        assert isinstance(replica, Replica)
        replica.tell_saved = partial(self._person.on_saved, self, name)
        ear = _Ear(self._person, self, name, replica)
        replica.body.observers.append(ear)
        replica.closed.when_done(partial(self._closed, name, ear))
        self.opened[name] = replica
        if not self.is_over:
            self._person.on_opened(self, name, replica)
        return replica

    def _closed(self, name: str, ear: _Ear) -> None:
        del self.opened[name]
        ear.replica.body.observers.remove(ear)
        self.program.keeper.let_go(NAME)

    async def close(self, name: str) -> None:
        """The page needs the object no more."""
        await self.session.let_go(name)

    def lose(self, linger_s: float) -> None:
        """The connection is lost: the node closes the session after a while."""
        self.is_over = True
        tasks = self.program.tasks
        tasks.after(linger_s, lambda: None if self.session.ended else self._end_soon())

    def _end_soon(self) -> None:
        self.program.tasks.spawn(self._end())

    async def _end(self) -> None:
        await self.session.close()


class _Ear:
    """Hears what happens to an object at a person's node, for the person's page."""

    def __init__(
        self, person: Person, visit: Visit, name: str, replica: Replica[SharedObject]
    ) -> None:
        self.replica = replica
        self._person = person
        self._visit = visit
        self._name = name
        self._show(replica.body.machine.position, whole=True)

    def on_done(self, position: int, process: Process, done: Done) -> None:
        """A message has been done."""
        self._show(position, what=what_of(done))
        self._look()

    def on_member(self, position: int, process: Process, done: Done) -> None:
        """A process has come or gone."""
        self._show(position, what=what_of(done))
        self._look()

    def _show(self, position: int, what: str = "", whole: bool = False) -> None:
        """The page is given it, while its connection is there."""
        if not self._visit.is_over:
            birth = self.replica.body.machine.birth
            self._person.shown(self._visit, self._name, birth, position, what, whole)

    def _look(self) -> None:
        """The state may be of another stretch of the order."""
        if not self._visit.is_over:
            self._person.look(self._visit, self._name, self.replica)

    def on_replaced(self) -> None:
        """The page is given the state anew, and asks what is saved."""
        self._show(self.replica.body.machine.position, whole=True)
        if not self._visit.is_over:
            self._person.on_opened(self._visit, self._name, self.replica)


class Person:
    """Number `number` of the people; `home` is the node that it goes to by itself."""

    def __init__(self, streets: Streets, number: int, home: int, random: Random) -> None:
        self.name = f"person-{number:010}"
        self.home = home
        self.visit: Visit | None = None
        self.visits = 0
        self.told: dict[str, Told] = {}
        self.away_until_ns = 0
        self.random = random
        self._streets = streets

    # --- connections ----------------------------------------------------------------------------

    def strive(self) -> None:
        """Be somewhere, and have open what is not answered."""
        visit = self.visit
        if visit is not None and visit.program.tasks.is_over:
            visit = self.visit = None
        if visit is None and self._streets.clock.now_ns >= self.away_until_ns:
            program = self._streets.program_near(self.home)
            if program is not None:
                visit = self.visit = Visit(self, program)
        if visit is None:
            return
        for name, told in self.told.items():
            replica = visit.opened.get(name)
            if replica is not None:
                self._send_all(visit, name, replica, told)
            elif not told.is_done:
                visit.program.tasks.spawn(visit.open(name))

    def go(self, home: int, away_until_ns: int) -> None:
        """The connection is lost; the next one is made to that node, not before then."""
        self.home, self.away_until_ns = home, away_until_ns
        visit, self.visit = self.visit, None
        if visit is not None:
            visit.lose(self.random.choice(LINGER_S))

    # --- calls ----------------------------------------------------------------------------------

    def call(
        self,
        name: str,
        operation: str,
        arguments: tuple[object, ...],
        typed: str = "",
        erased: str = "",
        again: Callable[[], None] | None = None,
    ) -> int:
        """Call an operation of an object that is open; gives the call's number, 0: it is not."""
        visit = self.visit
        replica = None if visit is None else visit.opened.get(name)
        if visit is None or replica is None:
            return 0
        machine = replica.body.machine
        if name not in self.told:
            self.told[name] = Told(machine.birth, machine.verdicts.last_of(self.name))
        told = self.told[name]
        prepared = replica.target._shared.prepare(operation, arguments, {})
        told.last += 1
        asked = told.asked[told.last] = Asked(told.last, prepared, operation, typed, again)
        now = self._streets.clock.now_ns
        called = DocumentCalled(now, self.name, name, told.last, operation, typed, erased)
        self._streets.trace.add(called)
        self._send_all(visit, name, replica, told)
        return asked.number

    def _send_all(
        self, visit: Visit, name: str, replica: Replica[SharedObject], told: Told
    ) -> None:
        """What this visit has not sent, in its order."""
        for asked in list(told.asked.values()):
            if asked.sent_by is not visit:
                self._send(visit, name, replica, told, asked)

    def _send(
        self,
        visit: Visit,
        name: str,
        replica: Replica[SharedObject],
        told: Told,
        asked: Asked,
    ) -> None:
        pending: Pending[Verdict] = Pending()
        asked.sent_by = visit
        call = Call(self.name, asked.number, min(told.asked) - 1)
        try:
            replica.order_as([asked.prepared], call, pending)
        except GroupcoreError:
            return  # it is closed: asked again elsewhere
        pending.when_done(partial(self._on_verdict, visit, name, asked, pending))

    def _on_verdict(self, visit: Visit, name: str, asked: Asked, pending: Pending[Verdict]) -> None:
        if self.visit is not visit:
            return
        if pending.error is None:
            self._answer(name, asked, pending.result())
        elif code_of(pending.error) in TEMPORARY:
            asked.sent_by = None
        else:
            self._answer(name, asked, Verdict([], code_of(pending.error)))

    def _answer(self, name: str, asked: Asked, verdict: Verdict) -> None:
        told = self.told.get(name)
        if told is None or told.asked.pop(asked.number, None) is None:
            return
        told.answered = max(told.answered, asked.number)
        told.unsaved.add(asked.number)
        draft = ""
        for result in verdict.results:
            if isinstance(result, dict) and "draft" in result:
                draft = text_of(result["draft"])
        now = self._streets.clock.now_ns
        answer = DocumentAnswered(now, self.name, name, asked.number, verdict.code, draft)
        self._streets.trace.add(answer)
        self.on_answer(name, asked, verdict)

    def shown(
        self, visit: Visit, name: str, birth: str, position: int, what: str, whole: bool
    ) -> None:
        """The page is given a state (`whole`), or what has happened at a position."""
        view = visit.program.node.view
        if view is not None:
            place = (name, view.epoch, birth, position)
            now = self._streets.clock.now_ns
            self._streets.trace.add(
                DocumentShown(now, self.name, visit.number, *place, whole, what)
            )

    def on_answer(self, name: str, asked: Asked, verdict: Verdict) -> None:
        """A call is answered; for who writes."""

    def on_saved(self, visit: Visit, name: str, number: int) -> None:
        """The node says that the calls up to this one are on disk."""
        told = self.told.get(name)
        if told is not None and self.visit is visit and number > told.saved:
            told.saved = number
            told.unsaved = {one for one in told.unsaved if one > number}
            now = self._streets.clock.now_ns
            self._streets.trace.add(DocumentSaved(now, self.name, name, number))

    def on_opened(self, visit: Visit, name: str, replica: Replica[SharedObject]) -> None:
        """An object is open (again): ask what is not answered, and whether it is saved."""
        told = self.told.get(name)
        if told is None or self.visit is not visit:
            return
        if replica.body.machine.birth == told.birth:
            self._send_all(visit, name, replica, told)
        self.look(visit, name, replica)
        if not told.asked and told.saved < told.answered:
            empty: tuple[object, ...] = ([],) if name == OUTLINE else ({},)
            self.call(name, "wake" if name == OUTLINE else "set", empty)

    def look(self, visit: Visit, name: str, replica: Replica[SharedObject]) -> None:
        """See whether the object is another one than it was."""
        told, machine = self.told.get(name), replica.body.machine
        if self.visit is visit and told is not None and machine.birth != told.birth:
            told.birth = machine.birth
            self._begin_anew(name, told, machine.verdicts)

    def on_gone(self, name: str) -> None:
        """There is no such block any more: what is not saved of it is not there."""
        told = self.told.pop(name, Told())
        for number in sorted({*told.unsaved, *told.asked}):
            self._drop(name, number)

    def _begin_anew(self, name: str, told: Told, verdicts: Verdicts) -> None:
        """Nobody had the object open meanwhile: what is not done in its state will not be.

        What was answered and not saved may be gone: its author has it back then.
        """
        known, last = verdicts.of(self.name), verdicts.last_of(self.name)
        for number in sorted(one for one in told.unsaved if one > last):
            told.unsaved.remove(number)
            self._drop(name, number)
        for number in [one for one in told.asked if one <= last]:
            self._answer(name, told.asked[number], known.get(number, LOST))
        undone, told.asked = told.asked, {}
        for number, asked in undone.items():
            self._drop(name, number)
            if asked.again is not None:
                asked.again()

    def _drop(self, name: str, number: int) -> None:
        now = self._streets.clock.now_ns
        self._streets.trace.add(DocumentDropped(now, self.name, name, number))


def what_of(done: Done) -> str:
    """What an entry of the order has done, in a few words that are alike at all nodes."""
    calls = " ".join(spec.name for spec, _ in done.calls)
    return f"{calls} failed" if done.error is not None else calls


def text_of(rich: object) -> str:
    """The characters of a text in its plain form."""
    runs = cast("list[dict[str, object]]", rich)
    return "".join(str(run["text"]) for run in runs)
