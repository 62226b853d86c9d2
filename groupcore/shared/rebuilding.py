"""Objects as they were at any place of their order, out of what a log holds.

Idea. The state of an object follows from the messages of its group. So a machine as every replica
has one is given what the log holds, up to a number or a time, and is then what each replica was
there. Replicas compare their states now and then, and what they say of them is in the order, too:
so the log itself has hashes that live copies had, and each is compared with the copy made here.

A log can be exported as rows of `COLUMNS`, from which other programs, and many machines at once,
do the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, NamedTuple

from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.record import JOINED
from groupcore.shared.errors import MisfitError, SharedError
from groupcore.shared.machine import Entry, Machine, digest_of
from groupcore.shared.messages import Check, Operate, Verify, decode, unpack
from groupcore.shared.object import SharedObject, declaration
from groupcore.shared.plain import process_of, who

KindOf = Callable[[str], type[SharedObject] | None]
"""The class of the object that a group of this name is; None for what has no state."""


class Logged(NamedTuple):
    """A number of a group: a message, or (`payload` None) a process that came or went (`what`).

    `name` is empty where the group has none; `number` is the sender's own. `epoch` is None where a
    log of a former version does not say it. `settled`: a quorum is known to hold it.
    """

    group: GroupId
    name: str
    epoch: int | None
    position: int
    process: Process
    number: int
    payload: bytes | None
    what: int = 0
    settled: bool = True


class LoggedState(NamedTuple):
    """A group as of a number, as its archive has it; None: nothing was before."""

    group: GroupId
    name: str
    position: int
    state: bytes | None


COLUMNS: Final = (
    ("place", "bigint"),
    ("gid", "bigint"),
    ("name", "string"),
    ("epoch", "bigint"),
    ("position", "bigint"),
    ("process", "string"),
    ("number", "bigint"),
    ("what", "int"),
    ("payload", "binary"),
)
"""An exported log: a row for each `Logged`, and for each `LoggedState`, which has no `process`.

`place` numbers the rows: of one number that stands there twice the later one counts.
"""

Row = tuple[int, int, str, int | None, int, str | None, int | None, int | None, bytes | None]


def to_row(place: int, one: Logged | LoggedState) -> Row:
    """As an export has it."""
    if isinstance(one, LoggedState):
        return place, one.group, one.name, None, one.position, None, None, None, one.state
    said = (place, one.group, one.name, one.epoch, one.position, who(one.process))
    return *said, one.number, one.what, one.payload


def from_row(row: Row) -> Logged | LoggedState:
    """What an export has said so. Raises ValueError where a row is none of ours."""
    _, group, name, epoch, position, process, number, what, payload = row
    if process is None:
        return LoggedState(group, name, position, payload)
    said = (group, name, epoch, position, process_of(process))
    return Logged(*said, number or 0, payload, what or 0)


def time_ms_of(text: str) -> int:
    """A time in ISO 8601 as milliseconds since 1970; UTC where it does not say."""
    time = datetime.fromisoformat(text)
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


@dataclass
class Rebuilt:
    """An object at a place: `machine` is what each replica was there.

    `agreed`: so many times a live replica said that its state had the hash that this one had;
    `differed`: who said another one, and at which position. `problem`: why it is not what it
    should be; empty otherwise.
    """

    name: str
    machine: Machine
    agreed: int = 0
    differed: list[tuple[str, int]] = field(default_factory=list)
    problem: str = ""
    hashes: dict[int, bytes] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """The hash of the state, as replicas compare it."""
        return digest_of(self.machine.packed()).hex()

    def fields(self) -> dict[str, object]:
        """What is in it, as it is kept, in values of JSON and bytes."""
        target = self.machine.target
        assert isinstance(target, SharedObject)
        fields = declaration(target).fields
        return {name: one.codec.kept_to_wire(getattr(target, name)) for name, one in fields.items()}

    def fields_json(self) -> str:
        """The same as text; what JSON has not stands there as Python writes it."""
        return json.dumps(self.fields(), ensure_ascii=False, default=repr)


@dataclass
class _Group:
    """What the log has of a group: a state, and what came behind it, by number."""

    name: str
    begun: int = 0
    state: bytes | None = None
    entries: dict[int, Logged] = field(default_factory=dict)


def rebuild(
    logged: Iterable[Logged | LoggedState],
    kind_of: KindOf,
    wanted: Callable[[str], bool],
    *,
    position_max: int | None = None,
    time_ms_max: int | None = None,
) -> Iterator[Rebuilt]:
    """The objects whose names are wanted, up to a number of their groups, or a time of the order.

    `time_ms_max`: milliseconds since 1970, as the senders' nodes have them.
    """
    for group, own in _gathered(logged, wanted).items():
        kind = kind_of(own.name)
        if kind is not None:
            made = Rebuilt(own.name, Machine(kind(), group))
            _replay(made, own, position_max, time_ms_max)
            yield made


def _gathered(
    logged: Iterable[Logged | LoggedState], wanted: Callable[[str], bool]
) -> dict[GroupId, _Group]:
    """What the log has of the groups. What is given a number again was lost the first time."""
    groups: dict[GroupId, _Group] = {}
    for one in logged:
        if not one.name or not wanted(one.name):
            continue
        if isinstance(one, LoggedState):
            groups[one.group] = _Group(one.name, one.position, one.state)
        else:
            groups.setdefault(one.group, _Group(one.name)).entries[one.position] = one
    return groups


def _replay(made: Rebuilt, own: _Group, position_max: int | None, time_ms_max: int | None) -> None:
    machine = made.machine
    if own.begun and position_max is not None and position_max < own.begun:
        made.problem = f"the log begins behind that, with the state at {own.begun}"
        return
    if own.state is not None and not _begin(made, own.state):
        return
    machine.position = max(machine.position, own.begun)
    for position in sorted(own.entries):
        one = own.entries[position]
        if position <= machine.position:
            continue
        if position_max is not None and position > position_max:
            return
        if position != machine.position + 1:
            made.problem = f"the log lacks numbers {machine.position + 1} to {position - 1}"
            return
        if time_ms_max is not None and _stamp_ms(one) > time_ms_max:
            return
        _apply(made, one)


def _begin(made: Rebuilt, state: bytes) -> bool:
    """Go on from a state of the archive; False if it is none of this class."""
    try:
        made.machine.load(state_of(state))
    except SharedError as error:
        made.problem = str(error)
        return False
    return True


def state_of(archived: bytes) -> bytes:
    """An object's state, as `Machine.load` takes it, in what an archive has; MisfitError."""
    match unpack(archived):
        case [int(), bytes(packed)]:
            return packed
        case _:
            raise MisfitError("what the log has for a state is none")


def _stamp_ms(one: Logged) -> int:
    """When a message was sent; 0 for everything else."""
    try:
        message = None if one.payload is None else decode(one.payload)
    except SharedError:
        return 0
    return message.stamp_ms if isinstance(message, Operate) else 0


def _apply(made: Rebuilt, one: Logged) -> None:
    """Do the next number; compare what a live replica says with what was here."""
    entry = Entry(one.position, one.process, one.number, one.payload, one.what == JOINED)
    done = made.machine.apply(entry)
    match done.message:
        case Verify():
            made.hashes[one.position] = digest_of(made.machine.packed())
        case Check(position, digest) if position in made.hashes:
            if made.hashes[position] == digest:
                made.agreed += 1
            else:
                made.differed.append((who(one.process), position))
