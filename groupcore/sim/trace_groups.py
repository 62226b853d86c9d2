"""The trace records of the data plane: what happened to groups and to the processes in them.

`n` and `inc` are a life of a node, as in the other records. A **process** is one that a node hosts
(`sequencing.names.Process`, flattened): two processes of one node are two. `seqno` is a number of a
group's sequence; JOIN and LEAVE have one, like messages. `number` is a process's own number of a
message to one group, from 1. Times `t` are nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import NamedTuple

from groupcore.sequencing.names import GroupId, Process
from groupcore.sim.trace_moves import MOVE_EVENTS, MoveRecord
from groupcore.sim.trace_set_aside import SET_ASIDE_EVENTS, OrderApplied

GroupProcess = tuple[str, int, int]
"""A process: its node's id and incarnation, and its own number there."""

JOIN, LEAVE = 0, -1
"""What stands for a message's own number where a number was given to a change of membership."""


class GroupMid(NamedTuple):
    """Identity of a message to a group (`sequencing.names.MessageId`, with its group)."""

    process: GroupProcess
    group: GroupId
    number: int


class GroupCreated(NamedTuple):
    """The directory has this group; `order` is an `Order`. Once or more, with the same order."""

    t: int
    n: str
    inc: int
    group: GroupId
    order: int


class GroupAsked(NamedTuple):
    """A process asked to `join`, `observe` or `leave`; `request`: its node's number of it."""

    t: int
    n: str
    inc: int
    request: int
    what: str
    process: GroupProcess
    group: GroupId


class GroupSent(NamedTuple):
    """A process handed a message over; `h` is its content's hash.

    Written before anything that follows from it. Volatile messages have `GroupVolatileSent`.
    """

    t: int
    process: GroupProcess
    group: GroupId
    number: int
    h: int

    @property
    def mid(self) -> GroupMid:
        """Which message it is."""
        return GroupMid(self.process, self.group, self.number)


class GroupVolatileSent(NamedTuple):
    """A process handed a volatile message over, its `number`-th to the group."""

    t: int
    process: GroupProcess
    group: GroupId
    number: int
    h: int


class GroupVolatile(NamedTuple):
    """A node delivered a volatile message; `to`: the processes of this node that were given it."""

    t: int
    n: str
    inc: int
    group: GroupId
    process: GroupProcess
    number: int
    h: int
    to: tuple[GroupProcess, ...]


class GroupStamped(NamedTuple):
    """The sequencer gave a message its number, in `epoch`; `number` JOIN or LEAVE: not a message.

    Written at the sequencer, for every number that it gives, in the order in which it does so over
    all its groups. `request`: for JOIN and LEAVE the request of the process's node that asked for
    it; 0: nobody did, or it is not known.
    """

    t: int
    n: str
    inc: int
    group: GroupId
    epoch: int
    seqno: int
    process: GroupProcess
    number: int
    request: int = 0


class GroupDelivered(NamedTuple):
    """A node delivered a message; `to`: the processes of this node that were given it."""

    t: int
    n: str
    inc: int
    group: GroupId
    seqno: int
    process: GroupProcess
    number: int
    h: int
    to: tuple[GroupProcess, ...]

    @property
    def mid(self) -> GroupMid:
        """Which message it is."""
        return GroupMid(self.process, self.group, self.number)


class GroupJoined(NamedTuple):
    """A node says that `process` is a member from number `seqno` on.

    Said in the group's order; but of a process of its own the node says it when it has the state,
    which may be one of a later number. The process begins with what the node has then.
    """

    t: int
    n: str
    inc: int
    group: GroupId
    seqno: int
    process: GroupProcess


class GroupEnrolled(NamedTuple):
    """A node says, in the group's order, that the JOIN of a process of its own has this number."""

    t: int
    n: str
    inc: int
    group: GroupId
    seqno: int
    process: GroupProcess


class GroupLeft(NamedTuple):
    """A node says, in the group's order, that `process` is no member from `seqno` on.

    `gone`: because its node is.
    """

    t: int
    n: str
    inc: int
    group: GroupId
    seqno: int
    process: GroupProcess
    gone: bool


class GroupState(NamedTuple):
    """A node installed a group's state as of `seqno`; `sh`: its hash, empty if not computed.

    `anew`: nobody had one, so it begins there with nothing.
    """

    t: int
    n: str
    inc: int
    group: GroupId
    seqno: int
    sh: str
    anew: bool = False


class GroupReleased(NamedTuple):
    """A node has dropped its copy of a group; without a new state it delivers nothing of it."""

    t: int
    n: str
    inc: int
    group: GroupId


class GroupOwned(NamedTuple):
    """A node has become the group's sequencer; the first number it gives is `floor` + 1."""

    t: int
    n: str
    inc: int
    group: GroupId
    epoch: int
    floor: int


class GroupDisowned(NamedTuple):
    """A sequencer knows that its epoch is over; `last`: the last number that it gave."""

    t: int
    n: str
    inc: int
    group: GroupId
    epoch: int
    last: int


class GroupPrimary(NamedTuple):
    """A node was told that it is in the primary view no more (`on` False), or again (True)."""

    t: int
    n: str
    inc: int
    on: bool


class GroupRefused(NamedTuple):
    """A request changed nothing. For a message: which one; otherwise `process` None and zeros."""

    t: int
    n: str
    inc: int
    request: int
    code: str
    process: GroupProcess | None = None
    group: GroupId = 0
    number: int = 0


class GroupAccepted(NamedTuple):
    """A process was told that its messages up to `number` are numbered, this one as `seqno`."""

    t: int
    process: GroupProcess
    group: GroupId
    number: int
    seqno: int


class GroupSaved(NamedTuple):
    """A process was told that its messages up to `number` survive the power cut of all nodes."""

    t: int
    process: GroupProcess
    group: GroupId
    number: int


class GroupHolds(NamedTuple):
    """What a node has of a group at the end: senders, and their numbers of the messages."""

    t: int
    n: str
    inc: int
    group: GroupId
    messages: tuple[tuple[GroupProcess, int], ...]


class GroupClosed(NamedTuple):
    """A process was closed: it is given nothing any more, and need not get what it asked for."""

    t: int
    process: GroupProcess


class GroupEnd(NamedTuple):
    """What a node has of a group at the end of the run: its place and its state's hash."""

    t: int
    n: str
    inc: int
    group: GroupId
    seqno: int
    sh: str


class GroupCalled(NamedTuple):
    """A message to a group with a guarded object calls `operation`, on behalf of `principal`.

    Of operations that change the list, `subject` and `right` say whose entry becomes which.
    """

    t: int
    process: GroupProcess
    group: GroupId
    number: int
    principal: str
    operation: str
    subject: str
    right: int

    @property
    def mid(self) -> GroupMid:
        """Which message it is."""
        return GroupMid(self.process, self.group, self.number)


class GroupJudged(NamedTuple):
    """A replica of a guarded object has judged the call at `seqno`."""

    t: int
    n: str
    inc: int
    group: GroupId
    seqno: int
    principal: str
    operation: str
    allowed: bool


class GroupShown(NamedTuple):
    """A node has shown `principal` what happened to a guarded object at `seqno`."""

    t: int
    n: str
    inc: int
    group: GroupId
    seqno: int
    principal: str


GroupRecord = (
    GroupCreated
    | GroupAsked
    | GroupSent
    | GroupVolatileSent
    | GroupVolatile
    | GroupStamped
    | GroupDelivered
    | GroupJoined
    | GroupEnrolled
    | GroupLeft
    | GroupState
    | GroupReleased
    | GroupOwned
    | GroupDisowned
    | GroupPrimary
    | GroupRefused
    | GroupAccepted
    | GroupSaved
    | GroupClosed
    | GroupCalled
    | GroupJudged
    | GroupShown
    | GroupEnd
    | GroupHolds
    | MoveRecord
    | OrderApplied
)

GROUP_EVENTS: dict[type, str] = {
    GroupCreated: "g-create",
    GroupAsked: "g-ask",
    GroupSent: "g-send",
    GroupVolatileSent: "g-vsend",
    GroupVolatile: "g-vdlv",
    GroupStamped: "g-stamp",
    GroupDelivered: "g-dlv",
    GroupJoined: "g-join",
    GroupEnrolled: "g-enrol",
    GroupLeft: "g-leave",
    GroupState: "g-inst",
    GroupReleased: "g-release",
    GroupOwned: "g-own",
    GroupDisowned: "g-disown",
    GroupPrimary: "g-primary",
    GroupRefused: "g-refuse",
    GroupAccepted: "g-ack",
    GroupSaved: "g-saved",
    GroupClosed: "g-close",
    GroupCalled: "g-call",
    GroupJudged: "g-judge",
    GroupShown: "g-show",
    GroupEnd: "g-end",
    GroupHolds: "g-holds",
    **MOVE_EVENTS,
    **SET_ASIDE_EVENTS,
}
"""What each record is called in the lines of a trace."""


def flatten_process(process: Process) -> GroupProcess:
    """The process as the trace writes it."""
    return (*process.node, process.number)


def group_state_step(process: GroupProcess, number: int, h: int) -> bytes:
    """What one message adds to the hash of a group's state."""
    return f"{process[0]}/{process[1]}/{process[2]}/{number}/{h};".encode()


def group_state_hash(messages: Iterable[tuple[GroupProcess, int, int]]) -> str:
    """The hash of the state that these messages of a group have led to: (process, number, h)."""
    digest = blake2b(digest_size=8)
    for message in messages:
        digest.update(group_state_step(*message))
    return digest.hexdigest()
