"""A service without a network, which does at random whatever the obvious rules allow.

It writes the trace that the real one would. Sequencers number what is sent in any order that keeps
each sender's; every node sees every group's sequence and delivers when it likes; groups move, nodes
die. With `bold` it asks the rules of delivery across groups only now and then: such runs are wrong
in ways that both the rules and the checkers must see. With `hasty` sequencers number what comes at
once, as the paper lets them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from groupcore.sequencing.names import GroupId, Order
from groupcore.sim.trace import HEALED, Ended, Happened, Lived, Record, Trace, Viewed
from groupcore.sim.trace_groups import (
    JOIN,
    LEAVE,
    GroupAccepted,
    GroupAsked,
    GroupCreated,
    GroupDelivered,
    GroupDisowned,
    GroupEnd,
    GroupJoined,
    GroupLeft,
    GroupMid,
    GroupOwned,
    GroupProcess,
    GroupReleased,
    GroupSent,
    GroupStamped,
    GroupState,
    group_state_hash,
)
from groupcore.view import Address
from tests.groupcore.sequencing.obvious import Obvious

Said = tuple[GroupProcess, int]
"""What a number is given to: a message, JOIN or LEAVE of a process."""


@dataclass(slots=True)
class Copy:
    """What a node has of a group: how far it is, and which of its processes are in it."""

    position: int
    members: list[GroupProcess] = field(default_factory=list)


IDLE_MAX = 2_000
"""Attempts that lead to nothing, after which a run is stuck."""


class StuckError(Exception):
    """Something is outstanding, and the rules allow nothing of it."""


class Toy:
    """A run; `seed` decides everything."""

    def __init__(
        self,
        seed: int,
        nodes: int = 3,
        processes: int = 2,
        orders: tuple[Order, ...] = (Order.CAUSALLY_TOTAL,) * 3,
        bold: bool = False,
        hasty: bool = False,
    ) -> None:
        self.random = Random(seed)
        self.bold = bold
        self.hasty = hasty
        self.records: list[Record] = []
        self.nodes = [Address(f"n{index}", 1) for index in range(nodes)]
        self.orders = dict(enumerate(orders, start=1))
        self.model = Obvious(self.orders)
        self.owners: dict[GroupId, tuple[Address, int]] = {}
        self.history: dict[GroupId, list[Said]] = {group: [] for group in self.orders}
        self.asked: dict[GroupId, list[Said]] = {group: [] for group in self.orders}
        self.copies: dict[tuple[Address, GroupId], Copy] = {}
        self.late: dict[tuple[Address, GroupId], list[tuple[GroupProcess, int]]] = {}
        self.wants: dict[GroupProcess, set[GroupId]] = {
            (*node, number): set() for node in self.nodes for number in range(1, processes + 1)
        }
        self.sent: dict[tuple[GroupProcess, GroupId], int] = {}
        self._view()
        for group, order in self.orders.items():
            self.add(GroupCreated(self.t, *self.nodes[0], group, order))
            self._own(self.random.choice(self.nodes), group, 1)

    # --- what is written --------------------------------------------------------------------------

    @property
    def t(self) -> int:
        return len(self.records)

    def add(self, record: Record) -> None:
        self.records.append(record)

    def _view(self) -> None:
        members = tuple(self.nodes)
        number = 1 + sum(isinstance(record, Lived) for record in self.records)
        for node in self.nodes:
            self.add(Viewed(self.t, *node, number, 1, 7, members, None, 0, False, 0, 0, False, ()))

    def _own(self, node: Address, group: GroupId, epoch: int) -> None:
        floor = len(self.history[group])
        self.owners[group] = (node, epoch)
        self.add(GroupOwned(self.t, *node, group, epoch, floor))

    def _hash(self, group: GroupId, seqno: int) -> str:
        said = self.history[group][:seqno]
        return group_state_hash((process, n, n) for process, n in said if n > 0)

    # --- what may happen --------------------------------------------------------------------------

    def run(self, steps: int) -> Trace:
        """So many things at random, then everything that is outstanding."""
        actions = (
            [self.send] * 6 + [self.stamp] * 8 + [self.deliver] * 24 + [self.begin] * 4
            + [self.join] * 2 + [self.leave, self.move]
        )  # fmt: skip
        for _ in range(3 * len(self.wants)):
            self.join()
        for _ in range(steps):
            self.random.choice(actions)()
            if self.random.random() < 0.002 and len(self.nodes) > 2:
                self.crash()
        self.finish()
        return Trace(self.records)

    def finish(self) -> None:
        """Until nothing is outstanding; that this ends is what the rules promise."""
        self.add(Happened(self.t, HEALED, ""))
        idle = 0
        while self.outstanding():
            before = self.t
            for action in (self.stamp, self.deliver, self.begin):
                action()
            idle = idle + 1 if self.t == before else 0
            if idle > IDLE_MAX:
                raise StuckError(self.outstanding())
        for (node, group), copy in self.copies.items():
            end = GroupEnd(self.t, *node, group, copy.position, self._hash(group, copy.position))
            self.add(end)
        for node in self.nodes:
            self.add(Ended(self.t, *node, 1, 7, tuple(self.nodes), True, 1, 0, ""))

    def outstanding(self) -> list[object]:
        """What has not happened yet and must."""
        behind = [
            (key, copy.position)
            for key, copy in self.copies.items()
            if copy.position < len(self.history[key[1]])
        ]
        return [*behind, *filter(None, self.asked.values()), *filter(None, self.late.values())]

    def send(self) -> None:
        """A process sends one or a few messages to a group, of which it need not be a member."""
        process = self.random.choice(sorted(self.wants))
        joined = [group for node, group in self.copies if node == process[:2]]
        inside = joined and self.random.random() < 0.9
        group = self.random.choice(joined if inside else sorted(self.orders))
        for _ in range(self.random.choice([1, 1, 3])):
            number = self.sent[process, group] = self.sent.get((process, group), 0) + 1
            self.add(GroupSent(self.t, process, group, number, number))
            self.model.send(GroupMid(process, group, number))
            self.asked[group].append((process, number))

    def join(self) -> None:
        """A process asks to join a group."""
        process = self.random.choice(sorted(self.wants))
        group = self.random.choice(sorted(self.orders))
        self._ask(process, group, JOIN)

    def leave(self) -> None:
        """A process asks to leave a group; one that has not got its state yet stays."""
        process = self.random.choice(sorted(self.wants))
        for group in sorted(self.wants[process]):
            copy = self.copies.get((Address(*process[:2]), group))
            if copy is not None and process in copy.members:
                self._ask(process, group, LEAVE)
                return

    def _ask(self, process: GroupProcess, group: GroupId, what: int) -> None:
        wants = self.wants[process]
        if (group in wants) == (what == JOIN) or (process, JOIN) in self.asked[group]:
            return
        if (process, LEAVE) in self.asked[group] or self._is_leaving(process, group):
            return
        (wants.add if what == JOIN else wants.discard)(group)
        verb = "join" if what == JOIN else "leave"
        self.add(GroupAsked(self.t, *process[:2], self.t, verb, process, group))
        self.asked[group].append((process, what))

    def _is_leaving(self, process: GroupProcess, group: GroupId) -> bool:
        copy = self.copies.get((Address(*process[:2]), group))
        return group not in self.wants[process] and copy is not None and process in copy.members

    def stamp(self) -> None:
        """A sequencer gives the next number of a group to something that was asked of it."""
        groups = [group for group, asked in self.asked.items() if asked]
        if not groups:
            return
        group = self.random.choice(groups)
        process, number = self.random.choice(self.asked[group])
        if number > 0:
            why = self.model.objection_to_stamp(GroupMid(process, group, number))
            if why and not (self.hasty and why.startswith("SEQ")):
                return
        self.asked[group].remove((process, number))
        if number == JOIN and self.orders[group] is Order.STRICT:
            self._resolve(group, process)
        self._stamp(group, process, number)

    def _stamp(self, group: GroupId, process: GroupProcess, number: int) -> None:
        node, epoch = self.owners[group]
        self.history[group].append((process, number))
        seqno = len(self.history[group])
        self.add(GroupStamped(self.t, *node, group, epoch, seqno, process, number))
        self.model.stamp(group, seqno, process, number)
        if number > 0 and Address(*process[:2]) in self.nodes:
            self.add(GroupAccepted(self.t, process, group, number, seqno))
        if number == JOIN:
            node = Address(*process[:2])
            if (node, group) not in self.copies:
                self.late.setdefault((node, group), []).append((process, seqno))

    def _resolve(self, group: GroupId, process: GroupProcess) -> None:
        """S2: before the JOIN has a number, all of the component that it makes has one owner."""
        before = self.model.members.get(group, frozenset())
        self.model.members[group] = before | {process}
        component = self.model.component(group)
        self.model.members[group] = before
        for other in component:
            self._move(other, self.owners[group][0])

    def move(self) -> None:
        """A group goes to another sequencer, with its component."""
        group, target = self.random.choice(sorted(self.orders)), self.random.choice(self.nodes)
        self.model.members.setdefault(group, frozenset())
        for other in self.model.component(group):
            self._move(other, target)

    def _move(self, group: GroupId, target: Address) -> None:
        node, epoch = self.owners[group]
        if node != target:
            last = len(self.history[group])
            if node in self.nodes:
                self.add(GroupDisowned(self.t, *node, group, epoch, last))
            self._own(target, group, epoch + 1)

    def deliver(self) -> None:
        """A node goes on in one of its groups, if all of its members may."""
        behind = [
            (node, group)
            for (node, group), copy in sorted(self.copies.items())
            if copy.position < len(self.history[group])
        ]
        if not behind:
            return
        node, group = self.random.choice(behind)
        copy = self.copies[node, group]
        seqno = copy.position + 1
        process, number = self.history[group][seqno - 1]
        timid = not self.bold or self.random.random() < 0.3
        if timid and any(self.model.objection(p, group, seqno) for p in copy.members):
            return
        copy.position = seqno
        for member in copy.members:
            self.model.deliver(member, group, seqno)
        if number > 0:
            to = tuple(copy.members)
            self.add(GroupDelivered(self.t, *node, group, seqno, process, number, number, to))
        elif process[:2] != node:
            if number == JOIN:
                self.add(GroupJoined(self.t, *node, group, seqno, process))
            else:
                gone = Address(*process[:2]) not in self.nodes
                self.add(GroupLeft(self.t, *node, group, seqno, process, gone))
        elif number == JOIN:
            self.late.setdefault((node, group), []).append((process, seqno))
        else:
            self._depart(node, group, seqno, process)

    def _depart(self, node: Address, group: GroupId, seqno: int, process: GroupProcess) -> None:
        copy = self.copies[node, group]
        self.add(GroupLeft(self.t, *node, group, seqno, process, gone=False))
        copy.members.remove(process)
        self.model.leave(process, group)
        if not copy.members and not self.late.get((node, group)):
            del self.copies[node, group]
            self.add(GroupReleased(self.t, *node, group))
            for later, (other, number) in enumerate(self.history[group][seqno:], start=seqno + 1):
                if number == JOIN and other[:2] == node:
                    self.late.setdefault((node, group), []).append((other, later))

    def begin(self) -> None:
        """A process that has joined begins with its node's copy, or with a state of any place."""
        waiting = [key for key, late in sorted(self.late.items()) if late]
        if not waiting:
            return
        node, group = self.random.choice(waiting)
        process, joined = self.random.choice(self.late[node, group])
        copy = self.copies.get((node, group))
        if copy is None:
            first = min(seqno for _, seqno in self.late[node, group])
            position = self.random.randint(first, len(self.history[group]))
        else:
            position = copy.position
        if position < joined or self.model.objection_to_begin(process, group, position):
            return
        if copy is None:
            copy = self.copies[node, group] = Copy(position)
            sh = self._hash(group, position)
            self.add(GroupState(self.t, *node, group, position, sh))
            self.late[node, group] = [
                (other, seqno) for other, seqno in self.late[node, group] if seqno <= position
            ]
        self.late[node, group].remove((process, joined))
        copy.members.append(process)
        self.model.begin(process, group, position)
        self.add(GroupJoined(self.t, *node, group, joined, process))

    def crash(self) -> None:
        """A node dies; another takes over its groups, and its processes leave theirs."""
        dead = self.random.choice(self.nodes)
        self.nodes.remove(dead)
        self.add(Lived(self.t, *dead, "crash", ""))
        self._view()
        for key in [key for key in self.copies if key[0] == dead]:
            del self.copies[key]
        self.late = {key: late for key, late in self.late.items() if key[0] != dead}
        for process in [process for process in self.wants if process[:2] == dead]:
            del self.wants[process]
            self.model.forget(process)
            for group in self.orders:
                self.asked[group] = [said for said in self.asked[group] if said[0] != process]
        moving: dict[GroupId, Address] = {}
        for group, (owner, _) in sorted(self.owners.items()):
            if owner == dead and group not in moving:
                self.model.members.setdefault(group, frozenset())
                target = self.random.choice(self.nodes)
                moving.update(dict.fromkeys(self.model.component(group), target))
        for group, target in moving.items():
            self._move(group, target)
        for group in self.orders:
            for process in sorted(self.model.members.get(group, frozenset())):
                if process[:2] == dead:
                    self._stamp(group, process, LEAVE)
