"""One process's replica of a shared object: what is its own of the node's copy.

Idea. A node does each message once, in its `Body` of the object. Here is what differs between the
processes that have the object open there: who waits for which result, who follows the changes,
and what is shown to whom.

Invariants.
  R1  Each call of this process gets one result: from its message's place in the order, or an
      error that says why it has none.
  R4  What is behind the place where the port's principal has lost the right to read is not shown;
      the copy goes on beneath until the process has left, as others may need its state.
  R5  Who attends and has done something says in the order that it has ended, where the object goes
      by that; who has only looked leaves no trace there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from groupcore.sequencing.events import Released, ServiceEvent, StateWanted
from groupcore.sequencing.names import Process
from groupcore.shared.body import Body, Counters
from groupcore.shared.changes import Change
from groupcore.shared.errors import (
    ClosedError,
    DeletedError,
    ForbiddenError,
    MisfitError,
    OutcomeUnknownError,
    ResultLostError,
    SchemaMismatchError,
    SharedError,
)
from groupcore.shared.events import SharedEvent
from groupcore.shared.group import GroupPort, GroupUser
from groupcore.shared.handle import Call
from groupcore.shared.machine import Done, detached
from groupcore.shared.messages import (
    Ended,
    Operate,
    Verify,
    decode,
    encode,
    encode_authorized,
    encode_operate,
)
from groupcore.shared.object import SharedObject, part, view_of
from groupcore.shared.pending import Pending, Wait
from groupcore.shared.streams import Stream
from groupcore.shared.verdicts import LOST, Verdict, content_of
from groupcore.shared.verdicts import Call as Numbered
from groupcore.shared.watching import Watchers

T = TypeVar("T")

HELD_MAX = 10_000
"""Most operations that wait while the object is opened again after a `restart`."""


@dataclass(slots=True)
class _Sent:
    """A message that is under way, or waits to be sent; `number` of a client's numbered call."""

    pendings: Sequence[Pending[object]]
    payload: bytes
    number: Numbered | None


class Replica(GroupUser, Generic[T]):
    """A shared object of class `kind` in the group of `port`.

    `ready` is resolved with the object once its state is here; `target` is that object. `body` is
    the node's copy of it, which other processes of the node may have open as well; without one the
    replica is the only one, and is fed itself. `given_up` fails when nothing more is shown here;
    `tell_saved` is called with the number of a client's call up to which all are on disk.
    """

    __slots__ = (
        "_birth",
        "_error",
        "_forbidden",
        "_has_acted",
        "_held",
        "_is_held_back",
        "_unsaved",
        "_waiting",
        "body",
        "closed",
        "given_up",
        "is_in",
        "port",
        "ready",
        "target",
        "tell_saved",
        "told_in",
        "watchers",
    )

    def __init__(self, kind: type[T], port: GroupPort, body: Body[T] | None = None) -> None:
        alone = body is None
        self.body: Body[T] = body or Body(kind, port)
        self.port = port
        self.target = view_of(self.body.origin, self)
        self.ready: Pending[T] = Pending(port.wait)
        self.closed = Pending(port.wait)
        self.given_up: Pending[None] = Pending(port.wait)
        self.watchers = Watchers(lambda: self.body.note_following(self))
        self.told_in = self.is_in = False
        self._waiting: dict[int, _Sent] = {}
        self._error: Exception | None = None
        self._forbidden = False
        self._is_held_back = self._has_acted = False
        self._birth = ""
        self._held: list[_Sent] = []
        self._unsaved: list[tuple[int, Numbered]] = []
        self.tell_saved: Callable[[int], None] | None = None
        if alone:
            self.body.attach(self, port.process)

    def open(self) -> Pending[object]:
        """Join the group; gives `ready`."""
        self.show(self.body.origin)  # it may have begun anew while the group was looked for
        self.body.attach(self, self.port.process)
        if self.body.error is not None:
            self.end(self.body.error)
        else:
            self.port.join()
        return cast("Pending[object]", self.ready)

    def close(self) -> Pending[None]:
        """Leave the group; operations that are under way are still done, but not waited for."""
        if not self.closed.done:
            self.leave()
        return self.closed

    def leave(self) -> None:
        """Leave the group, or part from it (R5)."""
        if self._has_acted:
            self._has_acted = False
            with suppress(SharedError):  # outside the cluster its node's end says so
                self.port.send(encode(Ended()))
        self.port.leave()

    @property
    def counters(self) -> Counters:
        """What the node's copy has seen."""
        return self.body.counters

    @property
    def process(self) -> Process:
        """The process as which the object is open."""
        return self.port.process

    @property
    def members(self) -> tuple[Process, ...]:
        """The processes in the group, as far as this replica is."""
        return tuple(self.body.machine.members)

    @property
    def wait(self) -> Wait:
        """How to wait for results here."""
        return self.port.wait

    @property
    def position(self) -> int:
        """Number of the last message that this replica has done."""
        return self.body.machine.position

    @property
    def time_s(self) -> float:
        """This replica's estimate of the order's time."""
        return self.body.clock.now_ms() / 1000

    def changes(self, waiting_max: int) -> Stream[Change]:
        """A new stream of what happens to the object."""
        return self.watchers.open(self.port.wait, waiting_max)

    def order(self, calls: Sequence[Call], pendings: Sequence[Pending[object]]) -> None:
        """Send these calls as one message; ClosedError when the object is not open."""
        self._order(calls, pendings, None)

    def order_as(self, calls: Sequence[Call], number: Numbered, pending: Pending[Verdict]) -> None:
        """Send these calls as a client's numbered one, which is done once however often it comes.

        What they raise is raised by `pending`; when it had been done before, the verdict has it.
        """
        self._order(calls, (cast("Pending[object]", pending),), number)

    def _order(
        self, calls: Sequence[Call], pendings: Sequence[Pending[object]], number: Numbered | None
    ) -> None:
        self._require_open()
        try:
            named = [(spec.name, wire) for spec, wire in calls]
            stamp_ms = self.body.clock.now_ms()
            payload = encode_operate(stamp_ms, named, self.port.principal, number)
        except (ValueError, OverflowError) as error:
            raise MisfitError(f"the arguments cannot be packed: {error}") from None
        sent = _Sent(pendings, payload, number)
        if self.is_in:
            self._send(sent)
        elif len(self._held) < HELD_MAX:
            self._held.append(sent)
        else:
            raise ClosedError(f"{HELD_MAX} operations wait for the object to be open again")

    def _send(self, sent: _Sent) -> None:
        payload = sent.payload
        if cast("SharedObject", self.body.origin).asks_authorization:
            payload = self._authorized(payload)
        number = self.port.send(payload)
        self._waiting[number] = sent
        self._has_acted = self._has_acted or self._is_guest
        if sent.number is not None and self.tell_saved is not None:
            self._unsaved.append((number, sent.number))

    def _authorized(self, payload: bytes) -> bytes:
        """The message as it is sent; an authorization is for one sending (A2)."""
        authorization = self.port.authorization_of(payload)
        return encode_authorized(payload, authorization) if authorization else payload

    @property
    def _is_guest(self) -> bool:
        """Whether the object remembers this process when it has done something, until it ends."""
        goes_by = cast("SharedObject", self.body.origin).notes_departed
        return goes_by and self.port.member != self.port.process

    def on_saved(self, number: int) -> None:
        """The process's messages up to this one are on disk: tell of a client's calls in them."""
        last = 0
        while self._unsaved and self._unsaved[0][0] <= number:
            last = self._unsaved.pop(0)[1].number
        if last and self.tell_saved is not None:
            self.tell_saved(last)

    def verify(self) -> None:
        """Have all replicas compare their states at one place of the order, soon."""
        self._require_open()
        if self.is_in:
            self.port.send(encode(Verify(asked=True)))

    def packed(self) -> bytes:
        """The object's state as it is here."""
        return self.body.machine.packed()

    def feed(self, event: ServiceEvent) -> list[SharedEvent]:
        """Take what the service says of the group, for a process that is alone on its node."""
        match event:
            case StateWanted():
                self.port.give_state(event.token, self.body.state())
                return []
            case Released():
                self.end(ClosedError("the object is closed at this node"))
        # Also when this process is out: others may still come to its node for the state.
        return self.body.feed(event)

    # --- from the body --------------------------------------------------------------------------

    def on_replaced(self, position: int) -> None:
        """The state was taken from another replica."""
        self.watchers.replaced(position)
        done = self.body.machine.members.get(self.port.process, 0)
        for number in [number for number in self._waiting if number <= done]:
            sent = self._waiting.pop(number)
            for pending in sent.pendings:  # R1
                if sent.number is not None:
                    pending.resolve(self._verdict(sent, sent.number) or LOST)
                else:
                    pending.fail(ResultLostError(f"the state as of {position} has it done"))

    def answer(self, number: int, done: Done) -> None:
        """R1: the result from the message's place."""
        sent = self._waiting.pop(number, None)
        pendings = () if sent is None else sent.pendings
        if done.error is not None:
            for pending in pendings:
                pending.fail(done.error)
            return
        if done.verdict is not None:
            for pending in pendings:
                pending.resolve(done.verdict)
            return
        results = detached(done.results) if pendings else []
        for place, pending in enumerate(pendings):
            pending.resolve(results[place] if results else None)

    def enter(self) -> None:
        """If this process is in and its member's JOIN has a place, what was held back goes out."""
        members = self.body.machine.members
        if self.is_in or not self.told_in or self.port.member not in members:
            return
        try:
            self.body.machine.check_elders()
        except SchemaMismatchError as error:  # they would not do what this version's calls say
            self.body.fail(error)
            return
        if not self.check_reading():
            return
        self.is_in = True
        held, self._held = self._held, []
        is_anew = self._birth not in ("", self.body.machine.birth)
        self._birth = ""
        for sent in held:
            if sent.number is not None and is_anew:
                self._give_back(sent, sent.number)
            else:
                self._send(sent)
        if not self.ready.done:
            self.ready.resolve(self.target)

    def _give_back(self, sent: _Sent, number: Numbered) -> None:
        """The object has begun anew: if its state has not done the call, nothing will do it.

        Who called it is told of the other state, and may compose it anew.
        """
        verdict = self._verdict(sent, number)
        for pending in sent.pendings:
            if verdict is not None:
                pending.resolve(verdict)
            else:
                pending.fail(OutcomeUnknownError("the object has begun anew meanwhile"))

    def _verdict(self, sent: _Sent, number: Numbered) -> Verdict | None:
        """What the state says of a call that this replica did not do itself."""
        message = decode(sent.payload)
        assert isinstance(message, Operate), "only operations have numbers"
        return self.body.machine.verdicts.find(number, content_of(message.calls))

    def check_reading(self) -> bool:
        """Whether who has the object open here may read it as it is now; R4 if not."""
        if self._forbidden:
            return False
        target, principal = cast("SharedObject", self.body.origin), self.port.principal
        try:
            if target.may_read(principal):
                return True
            detail = f"may not read this object as of position {self.position}"
        except Exception as raised:  # a judge that fails lets nobody see anything
            detail = f"may not read this object as of position {self.position}: {raised!r}"
        if not self._is_held_back:
            kept = self.body.fresh_machine()
            kept.load(self.body.machine.packed())
            part(self.target, kept.target)
        self._forbidden = True
        self._give_up(ForbiddenError(principal, detail))
        self.leave()
        return False

    def show(self, origin: T) -> None:
        """The body has begun anew."""
        part(self.target, origin)

    @property
    def is_held_back(self) -> bool:
        """Whether it goes on reading a former state until its right to the new one is known."""
        return self._is_held_back

    def hold_back(self, kept: T) -> None:
        """Go on reading this state until `go_on_reading` (B5 of the body)."""
        self._is_held_back = True
        part(self.target, kept)

    def go_on_reading(self) -> None:
        """The state is of now, and its reader was judged by it: whoever may read it does."""
        if self._is_held_back and not self._forbidden:
            self._is_held_back = False
            part(self.target, self.body.origin)

    def interrupt(self) -> None:
        """R1: what was under way has an unknown outcome. Calls from now on wait until it is in.

        A client's numbered calls are sent again then, before the others: they are done once. Not
        when nobody has had the object open meanwhile: they were made for another state.
        """
        self.told_in = self.is_in = self._has_acted = False
        self._birth = self._birth or self.body.machine.birth
        waiting, self._waiting = self._waiting, {}
        error = OutcomeUnknownError("the cluster went on without this node meanwhile")
        self._unsaved.clear()
        again = [sent for sent in waiting.values() if sent.number is not None]
        self._held = again + self._held
        for sent in waiting.values():
            for pending in sent.pendings if sent.number is None else ():
                pending.fail(error)

    def restart(self) -> None:
        """Join again, in the life that has begun; nothing happens once this has ended."""
        if self._forbidden:
            self.end(ClosedError("the process that had the object open is no more"))
        if self._error is None:
            self.body.attach(self, self.port.process)
            self.port.join()

    def end(self, error: Exception) -> None:
        """Nothing more is done here: R1 for whoever waits, R3."""
        self._forbidden = False
        self._give_up(error)
        self.body.detach(self)
        if not self.closed.done:
            self.closed.resolve(None)

    def _give_up(self, error: Exception) -> None:
        """Nothing is shown here any more, and whoever waits is told why."""
        self._error = self._error or error
        waiting = [*self._waiting.values(), *self._held]
        self._waiting, self._held = {}, []
        for sent in waiting:
            for pending in sent.pendings:
                pending.fail(error)
        self.watchers.end(error if isinstance(error, ForbiddenError) else None)
        if not self.ready.done:
            self.ready.fail(error)
        if not self.given_up.done:
            self.given_up.fail(error)

    def _require_open(self) -> None:
        if isinstance(self._error, ForbiddenError | DeletedError):
            raise self._error
        if self._error is not None:
            raise ClosedError(f"the object is not open here: {self._error}") from None
        if not self.ready.done:
            raise ClosedError("the object is not open yet; wait for it first")
