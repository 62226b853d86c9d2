"""The deterministic part of a replica: an object, and what each ordered message does to it.

Whatever decides the state is in here and in the messages. So replicas that are given the same
messages are equal, a state that was packed goes on as the original does, and a replay of messages
on a kept state gives what they gave before. What an operation uses besides its object, its
arguments and its context breaks this, and is found by `groupcore.shared.checking`.

Sessions that attend are no members, so the order does not tell when they end (decision 184). An
object that goes by that (`on_departed`) keeps in mind who has done something in it: its *guests*.

Invariants.
  G1  A guest departs once: where its node says that it has ended, or else where the last member of
      its node leaves or is gone.
  G2  What comes of a session behind that, from a node that has no member, is done, and the session
      departs in the same place. So nothing that it was given outlives it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Protocol

from groupcore.sequencing.names import GroupId, Process
from groupcore.shared.containers import detach
from groupcore.shared.declaration import Field, OperationSpec
from groupcore.shared.errors import ForbiddenError, MisfitError, SchemaMismatchError
from groupcore.shared.handle import Handle
from groupcore.shared.messages import (
    HASH_BYTES,
    Authorized,
    Check,
    Ended,
    Operate,
    Trail,
    Verify,
    decode,
    pack,
    process_from_wire,
    process_to_wire,
    unpack,
)
from groupcore.shared.operation_context import OperationContext, has_node_of
from groupcore.shared.scalars import check_int
from groupcore.shared.verdicts import Verdict, Verdicts, content_of, verdict_on

TIME_STEP_MAX_MS = 24 * 3600 * 1000
"""How far one message may put the order's time forward: a mad clock does no lasting harm."""


class Stateful(Protocol):
    """A shared object, as the machine knows it."""

    formerly: ClassVar[Mapping[str, tuple[str, ...]]]
    notes_departed: ClassVar[bool]
    asks_authorization: ClassVar[bool]

    @property
    def _shared(self) -> Handle: ...

    def may_call(self, principal: str, operation: str) -> bool:
        """Whether the operation is allowed, by the state as it is."""

    def check_authorization(self, operations: tuple[str, ...], authorized: Authorized) -> None:
        """Raises where the sender's node may not call these."""

    def on_joined(self, process: Process) -> None:
        """A process has joined, at this place in the order."""

    def on_departed(self, process: Process) -> None:
        """A process has departed, at this place in the order."""


class Entry(NamedTuple):
    """One number of the group's sequence: a message, or (`payload` None) a process come or gone.

    `number` is the sender's own number of the message.
    """

    position: int
    process: Process
    number: int
    payload: bytes | None
    joined: bool = False


@dataclass(slots=True)
class Done:
    """What one entry did. With an `error`, nothing: it raised, or could not be decoded.

    `calls` are the operations with their arguments, `details` what each emitted. `failed` is the
    operation that raised, or was not allowed (`denied`, to whom); None for a message that could not
    be decoded. `message` is one that calls nothing. `verdict` is what a client's numbered call is
    told: of one that had been done before (`repeated`), what it was told then. `ended` are guests
    that depart with it, behind all else, each with what that emits.
    """

    calls: list[tuple[OperationSpec, list[object]]] = field(default_factory=list)
    results: list[object] = field(default_factory=list)
    details: list[tuple[object, ...]] = field(default_factory=list)
    error: Exception | None = None
    failed: str | None = None
    denied: str | None = None
    message: Check | Trail | Verify | Ended | None = None
    verdict: Verdict | None = None
    repeated: bool = False
    ended: list[tuple[Process, tuple[object, ...]]] = field(default_factory=list)


class Machine:
    """One object and its place in the order.

    `position` is the number of the last message, `time_ms` the order's time there. `members` maps
    the processes in the group to the number of the last message that they sent. `birth` names the
    stretch of the order through which somebody has had the object: positions of two do not compare.
    `guests`: see above; none where the object does not go by who departs.
    `elders` had the object open when a former version of the class packed the state.
    """

    __slots__ = (
        "_members",
        "birth",
        "elders",
        "group",
        "guests",
        "members",
        "position",
        "target",
        "time_ms",
        "verdicts",
    )

    def __init__(self, target: Stateful, group: GroupId) -> None:
        self.target = target
        self.group = group
        self.position = 0
        self.time_ms = 0
        self.members: dict[Process, int] = {}
        self._members: tuple[Process, ...] = ()
        self.guests: dict[Process, None] = {}
        self.birth = ""
        self.elders: frozenset[Process] = frozenset()
        self.verdicts = Verdicts()

    def apply(self, entry: Entry) -> Done:
        """Do what the next entry of the sequence says; raises nothing."""
        position, process, number, payload, joined = entry
        assert position == self.position + 1, f"{position} does not follow {self.position}"
        self.position = position
        if payload is None:
            return self._join(process) if joined else self._depart(process)
        if process in self.members:
            self.members[process] = number
        try:
            message = decode(payload)
        except MisfitError as error:
            return Done(error=error)
        if isinstance(message, Operate):
            return self._operate(process, message)
        done = Done(message=message)
        if isinstance(message, Ended):
            self._end_guests([process], done)
        return done

    def _operate(self, process: Process, message: Operate) -> Done:
        """Do the operations of a message; a client's numbered call only the first time."""
        call = message.call
        if call is None:
            return self._do(process, message)
        try:
            content = content_of(message.calls)
        except ValueError:  # packed by another library, which nests deeper than this one
            return Done(error=MisfitError("the arguments are nested too deeply"))
        earlier = self.verdicts.find(call, content)
        if earlier is not None:
            return Done(verdict=earlier, repeated=True)
        done = self._do(process, message)
        done.verdict = verdict_on(done.results, done.error)
        self.verdicts.note(call, done.verdict, content)
        return done

    def _do(self, process: Process, message: Operate) -> Done:
        """Do the operations of a message, all or none."""
        done = Done()
        handle = self.target._shared
        operations = handle.declaration.operations
        try:
            for name, wire in message.calls:
                spec = operations.get(name)
                if spec is None:
                    raise MisfitError(f"there is no operation {name}")
                done.calls.append((spec, spec.decode(wire)))
        except Exception as error:  # a user's type may raise anything when it is made
            return Done(error=error)
        denied = None
        if self.target.asks_authorization:
            denied = self._authorize(process, message, done)
        denied = denied or self._judge(message.principal, done)
        if denied is not None:
            return denied
        self._advance(message.stamp_ms)
        handle.begin(self._context(process, message.principal))
        running = ""
        try:
            for spec, arguments in done.calls:
                running = spec.name
                done.results.append(spec.call(self.target, arguments))
                done.details.append(tuple(handle.details))
                handle.details = []
        except Exception as error:
            handle.rollback()
            return Done(done.calls, error=error, failed=running)
        except BaseException:
            handle.rollback()
            raise
        handle.commit()
        if self.target.notes_departed and process not in self.members:
            self.guests[process] = None
            if not has_node_of(process, self._members):
                self._end_guests([process], done)  # G2
        return done

    def _end_guests(self, processes: Iterable[Process], done: Done) -> None:
        """These depart, as far as they are guests (G1); one whose hook raises has departed, too."""
        for process in processes:
            if process in self.guests:
                del self.guests[process]
                told = self._tell("on_departed", process)
                done.ended.append((process, told.details[0] if told.details else ()))

    def _authorize(self, process: Process, message: Operate, done: Done) -> Done | None:
        """What comes of calls that the sender's node may not make; a step of its own."""
        names = tuple(spec.name for spec, _ in done.calls)
        handle = self.target._shared
        handle.begin(self._context(process, message.principal))
        try:
            self.target.check_authorization(names, message.authorized)
        except Exception as raised:  # a judge that fails lets nobody pass
            handle.rollback()
            first = names[0] if names else "refresh"
            error = ForbiddenError(message.principal, f"may not call {first}: {raised}")
            return Done(done.calls, error=error, failed=first, denied=message.principal)
        except BaseException:
            handle.rollback()
            raise
        handle.commit()
        return None

    def _judge(self, principal: str, done: Done) -> Done | None:
        """What comes of calls one of which is not allowed, by the state before all of them."""
        for spec, _ in done.calls:
            try:
                if self.target.may_call(principal, spec.name):
                    continue
                error = ForbiddenError(principal, f"may not call {spec.name}")
            except Exception as raised:  # a judge that fails lets nobody pass
                error = ForbiddenError(principal, f"may not call {spec.name}: {raised!r}")
            return Done(done.calls, error=error, failed=spec.name, denied=principal)
        return None

    def _join(self, process: Process) -> Done:
        if not self.members:
            node = process.node
            self.birth = f"{node.name}#{node.incarnation:x}/{process.number}:{self.position}"
        self.let_in(process)
        return self._tell("on_joined", process)

    def let_in(self, process: Process) -> None:
        """The process is a member from now on; the object is not told."""
        self.members.setdefault(process, 0)
        self.guests.pop(process, None)
        self._members = tuple(self.members)

    def _depart(self, process: Process) -> Done:
        self.members.pop(process, None)
        self._members = tuple(self.members)
        done = self._tell("on_departed", process)
        if self.guests and not has_node_of(process, self._members):
            self._end_guests([one for one in self.guests if one.node == process.node], done)
        return done

    def go_on_alone(self, position: int) -> None:
        """Nobody else has the object any more: keep the state, without those who had it open."""
        for process in list(self.members):
            self._depart(process)
        self._end_guests(list(self.guests), Done())
        self.position = max(self.position, position)

    def _tell(self, hook: str, process: Process) -> Done:
        handle = self.target._shared
        handle.begin(self._context(process))
        try:
            if hook == "on_joined":
                self.target.on_joined(process)
            else:
                self.target.on_departed(process)
        except Exception as error:
            handle.rollback()
            return Done(error=error, failed=hook)
        except BaseException:
            handle.rollback()
            raise
        done = Done(details=[tuple(handle.details)])
        handle.commit()
        return done

    def _advance(self, stamp_ms: int) -> None:
        if self.time_ms:
            stamp_ms = min(stamp_ms, self.time_ms + TIME_STEP_MAX_MS)
        self.time_ms = max(self.time_ms, stamp_ms)

    def _context(self, process: Process, principal: str = "") -> OperationContext:
        return OperationContext(
            self.group, self.position, process, self.time_ms, self._members, principal
        )

    def describe(self, payload: bytes) -> tuple[str, dict[str, object]]:
        """The first operation of a message and its arguments by name; empty when it has none."""
        try:
            message = decode(payload)
            if not isinstance(message, Operate) or not message.calls:
                return "", {}
            name, wire = message.calls[0]
            spec = self.target._shared.declaration.operations[name]
            return name, spec.named(spec.decode(wire))
        except (MisfitError, KeyError):
            return "", {}

    def packed(self) -> bytes:
        """The whole state; `load` goes on from it."""
        handle = self.target._shared
        fields = [
            field.codec.kept_to_wire(getattr(self.target, name))
            for name, field in handle.declaration.fields.items()
        ]
        members = [[process_to_wire(one), number] for one, number in self.members.items()]
        fingerprint = handle.declaration.fingerprint
        order = [self.position, self.time_ms, members, self.birth, self.verdicts.to_wire()]
        if self.guests:
            order.append([process_to_wire(one) for one in self.guests])
        return pack([fingerprint, order, fields])

    def load(self, packed: bytes) -> None:
        """Become what was packed.

        Raises SchemaMismatchError when it was packed by a version of the class that this one does
        not know (`formerly`), MisfitError when it is not a state at all; nothing has changed then.
        """
        handle = self.target._shared
        match unpack(packed):
            case [
                bytes(fingerprint),
                [int(position), int(time_ms), list(members), str(birth), list(verdicts), *more],
                list(wire),
            ] if len(more) <= 1:
                fields = self._fields_of(fingerprint)
                if fields is None or len(wire) != len(fields):
                    raise self._mismatch()
            case _:
                raise MisfitError("not the state of a shared object")
        try:
            decoded = {
                one.name: one.codec.adopt(one.codec.from_wire(value), handle.journal)
                for one, value in zip(fields, wire, strict=True)
            }
        except MisfitError:
            raise
        except Exception as error:  # a user's type may raise anything when it is made
            raise MisfitError(f"not the fields of a shared object: {error!r}") from None
        for name, one in handle.declaration.fields.items():
            if name not in decoded:
                decoded[name] = one.codec.adopt(one.default, handle.journal)
        known, inside = Verdicts.from_wire(verdicts), _members(members)
        guests = _guests(*more)
        check_int(position)
        check_int(time_ms)
        self.verdicts, self.members = known, inside
        self._members, self.guests = tuple(self.members), guests
        self.position, self.time_ms, self.birth = position, time_ms, birth
        is_former = fingerprint != handle.declaration.fingerprint
        self.elders = frozenset(self.members) if is_former else frozenset()
        for name, value in decoded.items():
            object.__setattr__(self.target, name, value)

    def _fields_of(self, fingerprint: bytes) -> list[Field] | None:
        """What a state of this version of the class has; None for one that is not known."""
        declaration = self.target._shared.declaration
        if fingerprint == declaration.fingerprint:
            return list(declaration.fields.values())
        known = self.target.formerly.get(fingerprint.hex())
        return None if known is None else [declaration.fields[name] for name in known]

    def check_elders(self) -> None:
        """SchemaMismatchError while somebody who packed an older state has the object open."""
        if not self.elders.isdisjoint(self.members):
            raise self._mismatch()

    def _mismatch(self) -> SchemaMismatchError:
        return SchemaMismatchError(
            f"the group's {self.target._shared.declaration.kind.__name__} has other fields or "
            "operations than the one here; run the same version at all nodes"
        )


def digest_of(packed: bytes) -> bytes:
    """The hash that replicas compare."""
    return hashlib.blake2b(packed, digest_size=HASH_BYTES).digest()


def detached(results: Sequence[object]) -> list[object]:
    """Results without ties to the state."""
    return [detach(result) for result in results]


def _guests(wire: object = ()) -> dict[Process, None]:
    """Those of a state; former versions have none."""
    if not isinstance(wire, list | tuple):
        raise MisfitError("not the guests of a group")
    return {process_from_wire(one): None for one in wire}


def _members(wire: list[object]) -> dict[Process, int]:
    members: dict[Process, int] = {}
    for item in wire:
        match item:
            case [process, int(number)]:
                members[process_from_wire(process)] = number
            case _:
                raise MisfitError("not the members of a group")
    return members
