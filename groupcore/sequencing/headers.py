"""The packets of the data plane: the paper's Table 2, streams and their repair, states.

Numbers of many runs travel as columns: unsigned 64-bit integers, little-endian, one a run (hot
path, rule 4). Codes 100 to 129, see `groupcore.wire`; `PROTOCOL.md` says who sends what to whom.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, NamedTuple

from groupcore.batch import Header
from groupcore.errors import WireError
from groupcore.headers import travels
from groupcore.sequencing.names import SEQNO_MAX, Place, Process
from groupcore.view import Address

RUNS_MAX = 4_096
COUNT_MAX = 65_536


@cache
def _column(count: int) -> struct.Struct:
    return struct.Struct(f"<{count}Q")


def pack_column(numbers: list[int]) -> bytes:
    """Unsigned 64-bit integers as bytes."""
    return _column(len(numbers)).pack(*numbers)


def unpack_column(data: bytes, count: int) -> tuple[int, ...]:
    """`count` integers; WireError `bad_column` when the bytes are of another length.

    Or when one is higher than anything is counted to: it could not be counted on from there.
    """
    if len(data) != 8 * count:
        raise WireError("bad_column", f"{len(data)} bytes are not {count} numbers")
    numbers = _column(count).unpack(data)
    if count and max(numbers) > SEQNO_MAX:
        raise WireError("bad_column", "a number that nothing is counted to")
    return numbers


ASKED = 5
"""Numbers of a stretch in a request: process, runs, chain number, `after`, `before`."""
ACCEPTED = 4
"""Numbers of a stretch in an ACCEPT: process, runs, chain number, which of `origins`."""


def unpack_stretches(data: bytes, width: int, runs: int) -> list[tuple[int, ...]]:
    """The stretches of a section; WireError `bad_column` unless they hold so many runs."""
    numbers = unpack_column(data, len(data) // 8)
    if len(numbers) % width:
        raise WireError("bad_column", f"{len(numbers)} numbers are no stretches of {width}")
    stretches = [numbers[at : at + width] for at in range(0, len(numbers), width)]
    sizes = [stretch[1] for stretch in stretches]
    if sum(sizes) != runs or 0 in sizes:
        raise WireError("bad_column", f"the stretches do not have {runs} runs")
    return stretches


def chain_of(stretches: list[tuple[int, ...]], index: int) -> int:
    """The chain number of the run at this place in a frame."""
    for _, runs, chain, _ in stretches:
        if index < runs:
            return chain + index
        index -= runs
    raise AssertionError("the stretches hold all runs")


@travels(100)
@dataclass(slots=True)
class Send(Header):
    """DO-MULTICAST, sender's node to sequencer: runs of its processes that leave together.

    `groups`, `firsts` (the sender's own number of each run's first message) and `counts` are
    columns; the body holds the runs' messages one after the other. The context is that of all of
    them. `stretches`: of each process in turn its runs here, of which the first one has the chain
    number and the others the next ones. `after`: the run that has to have its number before, 0
    when all have that the sender does not know of; `before`: the process's last run that was sent
    to this sequencer, 0 when there is none or it is sent again. `place`: that of the last deletion
    of a group for which one of these processes has given up what it had sent there.
    """

    kind: ClassVar[str] = "sequencing.do-multicast"
    place: Place
    context: bytes
    stretches: bytes
    groups: bytes
    firsts: bytes
    counts: bytes


@travels(101)
@dataclass(slots=True)
class Forward(Header):
    """DO-MULTICAST that came to a group's former sequencer, passed on to the present one."""

    kind: ClassVar[str] = "sequencing.forward"
    origin: Address
    place: Place
    context: bytes
    stretches: bytes
    groups: bytes
    firsts: bytes
    counts: bytes


@travels(119)
@dataclass(slots=True)
class Accept(Header):
    """ACCEPT, sequencer to all: frame `frame` of its stream, with each run's first number.

    It holds runs of processes of the nodes `origins`: what was to be numbered in one turn, as far
    as it fits in. The context is that of all of them. `rests`: what it names that the sequencer
    does not know to be held. `view`: in which its sequencer has it since. `place`: up to where a
    node has applied the control plane's order before it records the frame.
    """

    kind: ClassVar[str] = "sequencing.accept"
    frame: int
    view: int
    place: Place
    origins: tuple[Address, ...]
    context: bytes
    rests: bytes
    stretches: bytes
    groups: bytes
    seqnos: bytes
    firsts: bytes
    counts: bytes


@travels(118)
@dataclass(slots=True)
class AcceptUnplaced(Header):
    """An ACCEPT without a place, as logs of an earlier version have it; nobody sends it."""

    kind: ClassVar[str] = "sequencing.accept-unplaced"
    frame: int
    view: int
    origins: tuple[Address, ...]
    context: bytes
    rests: bytes
    stretches: bytes
    groups: bytes
    seqnos: bytes
    firsts: bytes
    counts: bytes


@travels(102)
@dataclass(slots=True)
class AcceptOfOne(Header):
    """An ACCEPT of one node's runs, as logs of an earlier version have it; nobody sends it."""

    kind: ClassVar[str] = "sequencing.accept-of-one"
    frame: int
    view: int
    origin: Address
    context: bytes
    rests: bytes
    stretches: bytes
    groups: bytes
    seqnos: bytes
    firsts: bytes
    counts: bytes


@travels(103)
@dataclass(slots=True)
class Change(Header):
    """Sequencer to all: frame `frame`, at number `seqno` of the group a process joins or leaves.

    `what`: 1 GROUP-JOINED, 2 GROUP-LEFT, 3 left because its node is gone (`request` is 0 then).
    `view` as of an ACCEPT.
    """

    kind: ClassVar[str] = "sequencing.change"
    frame: int
    view: int
    group: int
    seqno: int
    node: Address
    process: int
    what: int
    request: int


@travels(104)
@dataclass(slots=True)
class Join(Header):
    """JOIN-GROUP, node to sequencer; repeated until the stream says so.

    `request`: of a strict group that of the `EnterStrict` or `ObserveStrict` by which the process
    may join. `place`: how far its node had applied the control plane's order; who serves it has got
    as far.
    """

    kind: ClassVar[str] = "sequencing.join"
    group: int
    process: int
    request: int
    place: Place


@travels(105)
@dataclass(slots=True)
class Leave(Header):
    """LEAVE-GROUP, node to sequencer; repeated until the stream says so. `place` as of a JOIN."""

    kind: ClassVar[str] = "sequencing.leave"
    group: int
    process: int
    request: int
    place: Place


@travels(106)
@dataclass(slots=True)
class Refusal(Header):
    """Sequencer to node: request `request` changes nothing."""

    kind: ClassVar[str] = "sequencing.refusal"
    request: int
    code: str
    detail: bytes


@travels(107)
@dataclass(slots=True)
class Redirect(Header):
    """Former sequencer to sender's node: the port of the group is at `owner` since `epoch`."""

    kind: ClassVar[str] = "sequencing.redirect"
    group: int
    owner: Address
    epoch: int


@travels(108)
@dataclass(slots=True)
class Repeated(Header):
    """ACCEPT, point-to-point: what was sent again had been accepted, up to `number`."""

    kind: ClassVar[str] = "sequencing.repeated"
    group: int
    process: int
    number: int


@travels(109)
@dataclass(slots=True)
class Missing(Header):
    """Sequencer to sender's node: the process's runs up to `chain` have not come; send again."""

    kind: ClassVar[str] = "sequencing.missing"
    process: int
    chain: int


@travels(110)
@dataclass(slots=True)
class Fetch(Header):
    """FETCH-MSGS, node to whoever has them: these frames of a stream, both ends included."""

    kind: ClassVar[str] = "sequencing.fetch"
    stream: Address
    first: int
    last: int


@travels(111)
@dataclass(slots=True)
class Repair(Header):
    """A frame of `stream` as its sequencer sent it: the whole packet, from whoever has it."""

    kind: ClassVar[str] = "sequencing.repair"
    stream: Address
    packet: bytes


class Reach(NamedTuple):
    """How far a node is with a stream: frames received, delivered, recorded and on disk.

    `saved` of a node without a log: what it has received.
    """

    stream: Address
    received: int
    delivered: int
    saved: int = 0


@travels(112)
@dataclass(slots=True)
class Digest(Header):
    """Node to all, in `view`: the end of its own stream, and how far it is with every stream."""

    kind: ClassVar[str] = "sequencing.digest"
    view: int
    last: int
    reaches: tuple[Reach, ...]


@travels(113)
@dataclass(slots=True)
class Reached(Header):
    """Member to coordinator of view `view`: the gone node's stream is here up to `received`."""

    kind: ClassVar[str] = "sequencing.reached"
    view: int
    stream: Address
    received: int


@travels(114)
@dataclass(slots=True)
class Level(Header):
    """Coordinator to members of view `view`: get that stream up to `frame` from `holder`."""

    kind: ClassVar[str] = "sequencing.level"
    view: int
    stream: Address
    frame: int
    holder: Address


@travels(115)
@dataclass(slots=True)
class VolatileMessage(Header):
    """A message of a `volatile` group, node to all: the `number`-th of its process in it."""

    kind: ClassVar[str] = "sequencing.volatile"
    group: int
    process: int
    number: int


@travels(116)
@dataclass(slots=True)
class StateRequest(Header):
    """Node to node: pieces `index` to `until` - 1 of the state of `group` under `token`; group 0 is
    the node's own.

    `least`: it must hold the group up to this number. `bases`: of the node's own (group 0), how
    far it must be with each stream. `held`, `held_to`: what of that the asker has of a former giver
    (`resuming`), and need not be given.
    """

    kind: ClassVar[str] = "sequencing.state-request"
    token: int
    group: int
    least: int
    index: int
    bases: tuple[Reach, ...]
    until: int = 0
    held: tuple[Reach, ...] = ()
    held_to: int = 0


@travels(117)
@dataclass(slots=True)
class StatePiece(Header):
    """Node to node: piece `index` of `pieces` of the state for `token`, whose hash is `digest`.

    No `digest`: the copy is being made; ask again; `index` changes while that gets on. `pieces` 0:
    this node has no such state; ask another one. `index` is then the number of the first JOIN of
    its members, if it waits for the asker's state, and for nobody else's; `least`, if it has
    recorded that and waits for none; 0, if it may come to have one.
    """

    kind: ClassVar[str] = "sequencing.state-piece"
    alone: ClassVar[bool] = True
    token: int
    index: int
    pieces: int
    digest: bytes
    data: bytes


def stretches_of(header: Accept) -> list[tuple[int, ...]]:
    """The stretches of a frame; WireError `bad_column` when the bytes do not say."""
    stretches = unpack_stretches(header.stretches, ACCEPTED, len(header.groups) // 8)
    if any(stretch[3] >= len(header.origins) for stretch in stretches):
        raise WireError("bad_column", f"a stretch is of none of {len(header.origins)} nodes")
    return stretches


def processes_of(header: Accept) -> list[Process]:
    """Whose each run of a frame is; WireError when the bytes do not say."""
    processes: list[Process] = []
    for process, runs, _, by in stretches_of(header):
        processes += [Process(header.origins[by], process)] * runs
    return processes


DATA_PLANE: frozenset[type[Header]] = frozenset(
    {
        Send,
        Forward,
        Accept,
        AcceptUnplaced,
        AcceptOfOne,
        Change,
        Join,
        Leave,
        Refusal,
        Redirect,
        Repeated,
        Missing,
        Fetch,
        Repair,
        Digest,
        Reached,
        Level,
        VolatileMessage,
        StateRequest,
        StatePiece,
    }
)
"""What the endpoint hands to the service instead of the stack."""
