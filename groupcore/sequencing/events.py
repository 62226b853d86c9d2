"""What the service tells the program that hosts processes, in the order in which it happened.

Everything of one group that concerns its state (`Delivered`, `Joined` of other nodes' processes,
`Enrolled`, `Departed`, `StateInstalled`) comes in the group's order, one number after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.sequencing.names import GroupId, MessageId, Order, Place, Process
from groupcore.sequencing.plan_run import PlanProgress
from groupcore.sequencing.plan_steps import Step
from groupcore.view import Address


class ServiceEvent:
    """Base of all events of the service."""

    __slots__ = ()


@dataclass(slots=True)
class Created(ServiceEvent):
    """GROUP-CREATED: request `request` has its group; `again`: it was there before."""

    request: int
    group: GroupId
    order: Order
    again: bool


@dataclass(slots=True)
class Refused(ServiceEvent):
    """Request `request` of this node changed nothing; `code` is stable, `detail` for people.

    Codes: `unknown_group`, `not_a_member`, `already_a_member`, `too_large`, `not_primary`,
    `unknown_node`, `breaks_s2`, `unknown_move`, `moving`, `bad_order`, `bad_name`, `bad_context`,
    `out_of_sequence`, `left`, `too_many_strict_groups`, `draining`, `arriving`,
    `already_there`.
    """

    request: int
    code: str
    detail: str


@dataclass(slots=True)
class Joined(ServiceEvent):
    """GROUP-JOINED: from number `seqno` on, `process` is a member.

    Said on every node that delivers this group. For a process of this node it is said when the
    state is here; what has been delivered of the group up to now is what the process begins with.
    """

    group: GroupId
    seqno: int
    process: Process


@dataclass(slots=True)
class Enrolled(ServiceEvent):
    """The JOIN of a process of this node has number `seqno`: told at its place, like any other.

    State that depends on who is a member changes here, as it does at the other nodes at `Joined`.
    The process itself is in the group when `Joined` is said, which may be before or behind.
    """

    group: GroupId
    seqno: int
    process: Process


@dataclass(slots=True)
class Departed(ServiceEvent):
    """GROUP-LEFT: from number `seqno` on, `process` is no member; `gone`: its node is.

    `seqno` 0: it had been told that it is in before its JOIN had a number, and leaves without one.
    `past`: this node had nobody in the group then, and is told now what happened: a process that
    joins may have left the group before, as the same one.
    """

    group: GroupId
    seqno: int
    process: Process
    gone: bool
    past: bool = False


class Delivered(ServiceEvent):
    """A run of consecutive messages: numbers `seqno` and following of `group`.

    `first` is the sender's own number of the first one. A plain class: one is made per run.
    """

    __slots__ = ("first", "group", "payloads", "process", "seqno")

    def __init__(
        self, group: GroupId, seqno: int, process: Process, first: int, payloads: list[bytes]
    ) -> None:
        self.group = group
        self.seqno = seqno
        self.process = process
        self.first = first
        self.payloads = payloads

    def __repr__(self) -> str:
        return (
            f"Delivered({self.group}:{self.seqno} {self.process} {self.first} "
            f"{len(self.payloads)}x)"
        )


@dataclass(slots=True)
class Volatile(ServiceEvent):
    """A message of a `volatile` group: not numbered, may be lost, never older than one before."""

    group: GroupId
    process: Process
    payload: bytes


@dataclass(slots=True)
class Accepted(ServiceEvent):
    """ACCEPT, for the sender: its messages up to `message` have numbers, the last one `seqno`.

    `seqno` 0: which one it is this node does not know, as it was not there then.
    """

    group: GroupId
    message: MessageId
    seqno: int


@dataclass(slots=True)
class Saved(ServiceEvent):
    """For the sender: its messages up to `message` survive the power cut of all nodes.

    Enough nodes have them on disk. Not told by a node without a log: there `Accepted` is all.
    """

    group: GroupId
    message: MessageId


@dataclass(slots=True)
class StateWanted(ServiceEvent):
    """Another node needs the state of the group as of what has been told so far: give it now.

    Answer with `Service.give_state(token, state)` before anything else is fed in.
    """

    token: int
    group: GroupId


@dataclass(slots=True)
class StateInstalled(ServiceEvent):
    """The group's state as of number `seqno`; `state` None: nothing had been sent before.

    It replaces what this node has of the group; what is delivered follows it.
    """

    group: GroupId
    seqno: int
    state: bytes | None


@dataclass(slots=True)
class Released(ServiceEvent):
    """This node has no member of the group any more and drops its state."""

    group: GroupId


@dataclass(slots=True)
class Deleted(ServiceEvent):
    """The group is no more, at its place in the control plane's order; said at every node.

    Nothing of it comes any more: nobody is in it, joins that are under way have no other answer,
    and what was sent and not delivered here never will be. `request` is that of the `delete` of
    this node which did it, else 0.
    """

    group: GroupId
    request: int


@dataclass(slots=True)
class OwnerChanged(ServiceEvent):
    """From now on this node knows that `owner` sequences the group in `epoch`, 1 for a new one."""

    group: GroupId
    owner: str
    epoch: int


@dataclass(slots=True)
class MembersChanged(ServiceEvent):
    """From this place of the control plane's order on the cluster has these nodes."""

    members: tuple[Address, ...]


@dataclass(slots=True)
class Told(ServiceEvent):
    """Node `by` has said this to all nodes, at this place in the control plane's order."""

    by: Address
    topic: str
    body: bytes


@dataclass(slots=True)
class SetAside(ServiceEvent):
    """What `by` has said at this place of the control plane's order is set aside by all nodes.

    It is no command, or (`reason` fault) made the directory raise. `detail` says more. A node whose
    log holds such a place tells it again after a restart.
    """

    by: Address
    place: Place
    reason: str
    detail: str


@dataclass(slots=True)
class PlanProgressed(ServiceEvent):
    """The plan that `run` is the number of is this far; the last one has `progress.finished`.

    `steps` are those that are new since the event before it: all of them in the first.
    """

    run: int
    progress: PlanProgress
    steps: tuple[Step, ...]


@dataclass(slots=True)
class Congestion(ServiceEvent):
    """Sends should wait (True) or may go on (False)."""

    on: bool
