"""Scripted scenarios for the data plane: who joins, sends and moves what, and when.

A process is called by its node's letter and its seat there: "a0". A group is called by its place
in the list of orders, from 0; groups 0 and 1 are sequenced by whom `moves` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar, cast

from groupcore.sequencing.commands import Command
from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.names import GroupId, Order
from groupcore.sim.clock import SECOND
from groupcore.sim.fault import NAMES, Fault
from groupcore.sim.groups.cluster import GroupCluster
from groupcore.sim.groups.scenario import JOIN, LEAVE, MOVE, SEND, Act, GroupScenario
from groupcore.sim.link import Manner
from groupcore.sim.network import CALM, NetworkOptions
from groupcore.sim.node import Node
from groupcore.sim.profiles import PROFILES
from groupcore.sim.run import Verdict, run_cluster
from groupcore.sim.trace_groups import JOIN as JOINED
from groupcore.sim.trace_groups import LEAVE as LEFT
from groupcore.sim.trace_groups import (
    GroupDelivered,
    GroupEnd,
    GroupMid,
    GroupProcess,
    GroupSent,
    GroupStamped,
)
from groupcore.view import Address

BYTES = 48
Action = Callable[[], None]
Said = TypeVar("Said", bound=ServiceEvent)
JOINED_S = 1.5
"""By then everybody is in the groups that `members` names."""
SEQUENCING = PROFILES["sequencing"]


def seat(process: str) -> tuple[int, int]:
    """The node and the seat of a process."""
    return NAMES.index(process[0]), int(process[1:])


def members(groups: dict[int, str], at_s: float = 1.0) -> list[Act]:
    """For each group its members, in one string: they join."""
    return [
        join(at_s, process, group)
        for group, processes in groups.items()
        for process in processes.split()
    ]


def join(at_s: float, process: str, *groups: int) -> Act:
    """A process joins groups."""
    return Act(round(at_s * SECOND), JOIN, *seat(process), groups)


def leave(at_s: float, process: str, *groups: int) -> Act:
    """A process leaves groups."""
    return Act(round(at_s * SECOND), LEAVE, *seat(process), groups)


def send(
    at_s: float, process: str, group: int, count: int = 1, depth: int = 0, size_bytes: int = BYTES
) -> Act:
    """A process sends in one go; `depth`: so many answers, one after the other."""
    sizes = (size_bytes,) * count
    return Act(round(at_s * SECOND), SEND, *seat(process), (group,), sizes, depth)


def moves(at_s: float, to: str, *groups: int, by: str = "a") -> Act:
    """A node asks that these groups move."""
    return Act(round(at_s * SECOND), MOVE, NAMES.index(by), groups=groups, target=NAMES.index(to))


def traffic(
    first_s: float, last_s: float, every_s: float, places: Iterable[tuple[str, int]]
) -> list[Act]:
    """One message at a time, by turns from these places: a process to a group."""
    turns = list(places)
    count = round((last_s - first_s) / every_s)
    return [
        send(first_s + number * every_s, *turns[number % len(turns)]) for number in range(count)
    ]


class GroupPlay:
    """One run. `cluster` is there from the beginning; figures are asked for afterwards.

    `steps`: what was asked for and ordered in the control plane, as (seconds, where, what).
    """

    def __init__(
        self,
        *acts: Act | Iterable[Act],
        groups: int = 2,
        order: Order = Order.CAUSALLY_TOTAL,
        orders: tuple[Order, ...] = (),
        nodes: int = 3,
        slots: int = 2,
        k: int = 1,
        faults: Iterable[Fault] = (),
        length_s: float = 6.0,
        network: NetworkOptions = CALM,
        durable: bool = False,
    ) -> None:
        flat = [act for some in acts for act in ([some] if isinstance(some, Act) else some)]
        self.scenario = GroupScenario(
            seed=7,
            nodes=nodes,
            starts_ns=(0,) * nodes,
            safety_ns=round(length_s * SECOND),
            network=network,
            faults=tuple(faults),
            orders=tuple(map(int, orders or (order,) * groups)),
            slots=slots,
            k=k,
            acts=tuple(sorted(flat, key=lambda act: act.at_ns)),
            durable=durable,
        )
        self.profile = PROFILES["durable"] if durable else SEQUENCING
        made = self.profile.make_cluster(self.scenario, self.profile.make_stack)
        self.cluster = cast(GroupCluster, made)

    def at(self, at_s: float, action: Callable[[], None]) -> GroupPlay:
        """Do something at that time."""
        self.cluster.clock.at(round(at_s * SECOND), action)
        return self

    def on_command(
        self, since_s: float, step: str, kind: type[Command], where: str, action: Action
    ) -> list[float]:
        """Do something when that node first asks for such a command, or is told it in order.

        `step`: "asked" or "ordered". It is done as soon as the node's turn is over; gives when it
        was, once that is known: a scenario in which it never was shows nothing.
        """
        done: list[float] = []

        def look(me: Address, happened: str, what: Command | ServiceEvent) -> None:
            late = self.cluster.clock.now_ns >= since_s * SECOND
            if not done and late and (happened, me.name) == (step, where) and type(what) is kind:
                done.append(self.cluster.clock.now_ns / SECOND)
                self.cluster.clock.after(0, action)

        self.cluster.watchers.append(look)
        return done

    def heard(self, kind: type[Said], where: str) -> list[Said]:
        """What the service will have said of this kind on that node, when the run is over."""
        found: list[Said] = []

        def look(me: Address, happened: str, what: Command | ServiceEvent) -> None:
            if (happened, me.name) == ("said", where) and isinstance(what, kind):
                found.append(what)

        self.cluster.watchers.append(look)
        return found

    def node(self, name: str) -> Node:
        """The node of that name."""
        return self.cluster.nodes[NAMES.index(name)]

    def crash(self, name: str, back_s: float = 1.0) -> Action:
        """An action: the node crashes, and comes back."""

        def action() -> None:
            self.node(name).crash(keep_all=False)
            self.cluster.clock.after(round(back_s * SECOND), self.node(name).start)

        return action

    def cut(
        self, one: str, other: str, for_s: float, manner: Manner = "stop", later_s: float = 0.0
    ) -> Action:
        """An action: for so long nothing gets from one node to the other, or only later."""
        ends = (self.node(one).socket_address, self.node(other).socket_address)
        trouble = (*ends, manner, round(later_s * SECOND))

        def action() -> None:
            network = self.cluster.network
            network.impede(*trouble)
            self.cluster.clock.after(round(for_s * SECOND), network.relieve, *trouble)

        return action

    def owner(self, group: int, by: str = "a") -> str:
        """Who sequences the group, as a node knows it; empty when it does not."""
        host = self.cluster.hosts[NAMES.index(by)]
        assert host.life is not None
        address = host.life.service.plane.directory.owner_of(self.cluster.ids[group])
        return "" if address is None else address.name

    def run(self) -> Verdict:
        """To the end; nothing that must never happen has happened."""
        verdict = run_cluster(self.cluster, self.profile.checkers)
        assert not verdict.violations, [str(violation) for violation in verdict.violations]
        return verdict


# --- figures --------------------------------------------------------------------------------------


def delays_s(verdict: Verdict) -> dict[GroupMid, float]:
    """For each message the seconds from its sending to its last delivery."""
    sent = {record.mid: record.t for record in verdict.trace.of(GroupSent)}
    last = {record.mid: record.t for record in verdict.trace.of(GroupDelivered)}
    return {mid: (last[mid] - t) / SECOND for mid, t in sent.items() if mid in last}


def percentile(values: list[float], share: int) -> float:
    """The value that so many percent do not exceed."""
    return sorted(values)[len(values) * share // 100 - 1]


def stamps(verdict: Verdict, name: str, first_s: float, last_s: float) -> list[GroupStamped]:
    """What a node numbered in that time."""
    return [
        record
        for record in verdict.trace.of(GroupStamped)
        if record.n == name and first_s * SECOND <= record.t < last_s * SECOND
    ]


def longest_gap_s(
    verdict: Verdict, name: str, first_s: float, last_s: float, group: GroupId = 0
) -> float:
    """The longest time in which a node delivered no message of the group; 0: of any group."""
    times = [first_s]
    times += [
        record.t / SECOND
        for record in verdict.trace.of(GroupDelivered)
        if record.n == name and first_s <= record.t / SECOND <= last_s
        if group in (0, record.group)
    ]
    return max(after - before for before, after in zip(times, [*times[1:], last_s], strict=True))


def delivered_by_all(verdict: Verdict, *names: str) -> None:
    """Every message of these nodes' processes was delivered at each of these nodes that has it."""
    sent = {r.mid for r in verdict.trace.of(GroupSent) if r.process[0] in names}
    for name in names:
        groups = {end.group for end in verdict.trace.of(GroupEnd) if end.n == name}
        here = {r.mid for r in verdict.trace.of(GroupDelivered) if r.n == name}
        assert {mid for mid in sent if mid.group in groups} <= here


def given(verdict: Verdict, process: str) -> list[GroupMid]:
    """What a process was given of all groups, in its order."""
    node, seat = process[0], int(process[1:])
    mine = [
        (p, r.mid)
        for r in verdict.trace.of(GroupDelivered)
        if r.n == node
        for p in r.to
        if p[0] == node
    ]
    numbers = sorted({p[2] for p, _ in mine})
    return [mid for p, mid in mine if p[2] == numbers[seat]]


def sequencers_of_components(verdict: Verdict) -> dict[frozenset[GroupId], set[str]]:
    """Who has numbered messages of groups while these were strongly intersecting (S2).

    By the obvious way: members as the numbers of the JOINs and LEAVEs say, groups with two common
    members or more are linked, and what is linked to a linked one is, too.
    """
    members: dict[GroupId, set[GroupProcess]] = {}
    found: dict[frozenset[GroupId], set[str]] = {}
    for stamp in verdict.trace.of(GroupStamped):
        if stamp.number == JOINED:
            members.setdefault(stamp.group, set()).add(stamp.process)
        elif stamp.number == LEFT:
            members.setdefault(stamp.group, set()).discard(stamp.process)
        else:
            component = {stamp.group}
            for _ in members:
                component |= {
                    other
                    for other in members
                    if any(len(members[other] & members[one]) > 1 for one in component)
                }
            if len(component) > 1:
                found.setdefault(frozenset(component), set()).add(stamp.n)
    return found
