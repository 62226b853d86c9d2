"""Objects as they were at any place of their order, out of a node's log.

Idea. The state of an object follows from the messages of its group. So a machine as every replica
has one is given what the log holds, up to a number or a time, and is then what each replica was
there. Replicas compare their states now and then, and what they say of them is in the order, too:
so the log itself has hashes that live copies had, and each is compared with the copy made here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from groupcore.sequencing.names import GroupId
from groupcore.sequencing.record import JOINED
from groupcore.shared.documents import Block, DocumentOutline
from groupcore.shared.errors import SharedError
from groupcore.shared.machine import Entry, Machine, digest_of
from groupcore.shared.messages import Check, Operate, Verify, decode, unpack
from groupcore.shared.object import SharedObject
from groupcore.shared.plain import who
from server.accounts.accounts import NAME as ACCOUNTS
from server.accounts.accounts import Accounts
from server.charter import NAME as CHARTERS
from server.charter import Charters
from server.documents.catalogue import NAME, NODES, Catalogue, Nodes
from server.dump import Logged, LoggedState
from server.files.activity import NAME as ACTIVITY
from server.files.activity import Activity
from server.pictures.register import NAME as PICTURES
from server.pictures.register import Pictures

KINDS: Mapping[str, type[SharedObject]] = {
    NAME: Catalogue,
    NODES: Nodes,
    CHARTERS: Charters,
    ACCOUNTS: Accounts,
    ACTIVITY: Activity,
    PICTURES: Pictures,
}
"""What the server's own groups are; documents and their blocks have names of their own."""
DOCUMENTS = "doc/"


def kind_of(name: str) -> type[SharedObject] | None:
    """The class of the object that a group of this name is; None for what has no state."""
    if name.startswith(DOCUMENTS):
        return Block if name.count("/") > 1 else DocumentOutline
    return KINDS.get(name)


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


@dataclass
class _Group:
    """What the log has of a group: a state, and what came behind it, by number."""

    name: str
    begun: int = 0
    state: bytes | None = None
    entries: dict[int, Logged] = field(default_factory=dict)


def rebuild(
    logged: Iterable[Logged | LoggedState],
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
        match unpack(state):
            case [int(), bytes(packed)]:
                made.machine.load(packed)
                return True
    except SharedError as error:
        made.problem = str(error)
        return False
    made.problem = "what the log has for a state is none"
    return False


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
