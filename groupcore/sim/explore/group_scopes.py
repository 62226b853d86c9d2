"""Scopes of the data plane: groups, their sequencers and members, what is done, what goes wrong."""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.sequencing.names import Order
from groupcore.sim.explore.group_world import NOTHING
from groupcore.sim.explore.world import Budget

CRASH = Budget(crashes=1)
LOSS = Budget(losses=1)


@dataclass(frozen=True, slots=True)
class GroupAction:
    """A step of the script: `node` does `kind` with `groups` once `after` are done.

    Kinds: send (one message of its process), move (to node `target`), join, observe and leave (its
    process), delete. With `caused` a message is sent once the node has been given the one that an
    earlier step sent. Who joins or observes does so when it is in the group no more, who leaves
    when it is in it or has asked to be.
    """

    kind: str
    node: int
    groups: tuple[int, ...]
    target: int = 0
    after: tuple[int, ...] = ()
    caused: int = -1


@dataclass(frozen=True, slots=True)
class GroupScope:
    """`nodes` with one process each; group i begins at `owners[i]` and has `members[i]`.

    `observers[i]` are those of its members that observe. Only node `late` takes the control order
    at any time, every other one takes an entry as soon as there is one; -1: all take it at any
    time.
    `queued`: acknowledgements wait for their turn, as all packets do. Otherwise one rides on what
    is on its way to the same node, and arrives at once if nothing is.
    """

    name: str
    summary: str
    owners: tuple[int, ...]
    script: tuple[GroupAction, ...]
    budget: Budget = NOTHING
    may_crash: tuple[int, ...] = (0, 1, 2)
    members: tuple[tuple[int, ...], ...] = ((0, 1, 2), (0, 1, 2))
    orders: tuple[Order, ...] = (Order.CAUSALLY_TOTAL, Order.CAUSALLY_TOTAL)
    observers: tuple[tuple[int, ...], ...] = ()
    late: int = -1
    queued: bool = False
    quick: bool = False
    nodes: int = 3


def send(node: int, group: int = 0, caused: int = -1, after: tuple[int, ...] = ()) -> GroupAction:
    """One message."""
    return GroupAction("send", node, (group,), after=after, caused=caused)


def move(target: int, *groups: int, by: int = 2) -> GroupAction:
    """A migration that node `by` asks for."""
    return GroupAction("move", by, groups or (0,), target)


def join(node: int, group: int = 0, after: tuple[int, ...] = ()) -> GroupAction:
    """Its process joins."""
    return GroupAction("join", node, (group,), after=after)


def observe(node: int, group: int = 0, after: tuple[int, ...] = ()) -> GroupAction:
    """Its process joins as an observer."""
    return GroupAction("observe", node, (group,), after=after)


def leave(node: int, group: int = 0, after: tuple[int, ...] = ()) -> GroupAction:
    """Its process leaves, or gives up joining."""
    return GroupAction("leave", node, (group,), after=after)


def delete(node: int, group: int = 0) -> GroupAction:
    """It asks for the group to be deleted."""
    return GroupAction("delete", node, (group,))


CAUSE_EFFECT = (send(2, 0), send(2, 1, caused=0))
STRICT = (Order.STRICT, Order.STRICT)
STRICT_3 = (Order.STRICT,) * 3
ONE_BY_ONE = (1, 1, 0)
"""b sequences two groups that are linked, a the third one."""
LINKED_WITH_C = ((0, 1, 2), (0, 1), (1,))
"""The members of such three groups: c's process is in one of the two, and comes to the third."""

GROUP_SCOPES: dict[str, GroupScope] = {
    scope.name: scope
    for scope in (
        GroupScope(
            "g-order",
            "two groups at two sequencers, three messages",
            (0, 1),
            (send(2, 0), send(1, 0), send(2, 1)),
        ),
        GroupScope(
            "g-acks",
            "one message, every order of its acknowledgements",
            (0,),
            (send(2),),
            members=((0, 1, 2),),
            orders=(Order.CAUSALLY_TOTAL,),
            queued=True,
            quick=True,
        ),
        GroupScope(
            "g-words",
            "the same among four, where the others need the word of one",
            (1,),
            (send(2),),
            members=((0, 1, 2, 3),),
            orders=(Order.CAUSALLY_TOTAL,),
            queued=True,
            quick=True,
            nodes=4,
        ),
        GroupScope(
            "g-cause",
            "an effect in another group, at another sequencer",
            (0, 1),
            CAUSE_EFFECT,
            quick=True,
        ),
        GroupScope(
            "g-loss",
            "two groups, two messages, a packet is lost",
            (0, 1),
            CAUSE_EFFECT,
            LOSS,
            quick=True,
        ),
        GroupScope(
            "g-move",
            "a group moves while two send to it, to who need not acknowledge",
            (0, 0),
            (send(2), send(1), move(2)),
        ),
        GroupScope(
            "g-move-one",
            "one group moves while one sends to it",
            (0,),
            (send(2), move(1)),
            members=((1, 2),),
            orders=(Order.CAUSALLY_TOTAL,),
            quick=True,
        ),
        GroupScope(
            "g-move-loss",
            "a group moves while one sends, a packet is lost",
            (0, 0),
            (send(2), move(1)),
            LOSS,
        ),
        GroupScope(
            "g-move-source",
            "a group moves while one sends, the source crashes",
            (0, 0),
            (send(2), move(1)),
            CRASH,
            (0,),
        ),
        GroupScope(
            "g-move-target",
            "a group moves while one sends, the target crashes",
            (0, 0),
            (send(2), move(1)),
            CRASH,
            (1,),
        ),
        GroupScope(
            "g-move-asker",
            "a group moves while one sends, who has asked for it crashes",
            (0, 0),
            (send(1), move(1)),
            CRASH,
            (2,),
        ),
        GroupScope(
            "g-failover",
            "the sequencer of both groups crashes while two send",
            (0, 0),
            (send(1, 0), send(2, 1)),
            CRASH,
            (0,),
        ),
        GroupScope(
            "g-failover-one",
            "the sequencer of one group crashes while one sends to it",
            (0,),
            (send(1),),
            CRASH,
            (0,),
            members=((1, 2),),
            orders=(Order.CAUSALLY_TOTAL,),
            quick=True,
        ),
        GroupScope(
            "g-two-crashes",
            "the sequencer crashes, and in the next view another one, while one sends",
            (0,),
            (send(1),),
            Budget(crashes=2),
            (0, 2),
            members=((0, 1, 2),),
            orders=(Order.CAUSALLY_TOTAL,),
        ),
        GroupScope(
            "g-join",
            "a process joins while another one sends",
            (0,),
            (send(1), join(2)),
            members=((0, 1),),
            orders=(Order.CAUSALLY_TOTAL,),
            quick=True,
        ),
        GroupScope(
            "g-join-loss",
            "a process joins, a packet is lost",
            (0,),
            (join(2),),
            LOSS,
            members=((0, 1),),
            orders=(Order.CAUSALLY_TOTAL,),
            quick=True,
        ),
        GroupScope(
            "g-strict-failover",
            "strict groups: their sequencer crashes while two send",
            (0, 0),
            (send(1, 0), send(2, 1)),
            CRASH,
            (0,),
            orders=STRICT,
        ),
        GroupScope(
            "g-delete",
            "a group is deleted while one sends to it, and to another; a node hears late",
            (1, 0),
            (send(0, 0), delete(0, 0), send(0, 1)),
            late=1,
            quick=True,
        ),
        GroupScope(
            "g-delete-other",
            "the same, heard late by a node that sequences nothing",
            (1, 0),
            (send(0, 0), delete(0, 0), send(0, 1)),
            late=2,
        ),
        GroupScope(
            "g-strict-join",
            "a process joins a second strict group, which fuses three; a node hears late",
            ONE_BY_ONE,
            (send(0, 2), join(2, 2)),
            members=LINKED_WITH_C,
            orders=STRICT_3,
            late=1,
            quick=True,
        ),
        GroupScope(
            "g-strict-rejoin",
            "a process leaves a strict group, joins another and the first; a node hears late",
            ONE_BY_ONE,
            (leave(2, 0), join(2, 2, (0,)), join(2, 0, (1,)), send(0, 0, after=(2,))),
            members=LINKED_WITH_C,
            orders=STRICT_3,
            late=1,
        ),
        GroupScope(
            "g-strict-again",
            "a process leaves a strict group and joins it again while one sends; a node hears late",
            (1, 0),
            (leave(2, 0), join(2, 0, (0,)), send(0, 0)),
            members=((0, 1, 2), (1, 2)),
            orders=STRICT,
            late=1,
        ),
        GroupScope(
            "g-observe-again",
            "a process observes a strict group and joins it as a member, which fuses two",
            (1, 0),
            (leave(2, 0), join(2, 0, (0,)), send(0, 1)),
            members=((1, 2), (0, 1, 2)),
            observers=((2,), ()),
            orders=STRICT,
            late=1,
        ),
        GroupScope(
            "g-observe",
            "a process observes a strict group, and joins it as a member; a node hears late",
            ONE_BY_ONE,
            (leave(2, 0), join(2, 2, (0,)), join(2, 0, (1,)), send(0, 0, after=(2,))),
            members=LINKED_WITH_C,
            observers=((2,), (), ()),
            orders=STRICT_3,
            late=1,
        ),
    )
}
"""The scopes by name."""
