"""What runs on a node for the data plane: the service, its processes, and their application.

A host outlives its node's lives. What its processes want to be in is kept for it by the world, so
that after a restart the new ones join what the old ones were in. What a life asks of the service
it asks in the node's next turn; a request that was refused is made again after a while.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from groupcore.endpoint import Endpoint, Turn
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sim.clock import MILLISECOND, Clock
from groupcore.sim.fault import NAMES
from groupcore.sim.groups.guarded import GuardedDesk
from groupcore.sim.groups.life import Life, Place
from groupcore.sim.groups.messages import Content, compose
from groupcore.sim.groups.observer import ObservedService
from groupcore.sim.groups.replica import Replica
from groupcore.sim.groups.scenario import (
    CALL,
    CLOSE,
    DELETE,
    DRAIN,
    GIVE_UP,
    JOIN,
    LEAVE,
    MOVE,
    OBSERVE,
    REFILL,
    SEND,
    Act,
    GroupScenario,
)
from groupcore.sim.messages import content_hash
from groupcore.sim.node import Node
from groupcore.sim.trace import Trace
from groupcore.sim.trace_deletions import DeletionAsked
from groupcore.sim.trace_groups import GroupAsked, GroupClosed, GroupSent, flatten_process
from groupcore.sim.trace_moves import MoveAsked

STRIVE_NS = 50 * MILLISECOND
"""How often a host looks what is wanted and not asked for."""
PROBE_BYTES = 40
ANSWER_BYTES = 48
VOLATILE_BYTES = 200
"""A volatile message goes in one packet, whatever the limit of a section is."""
ANSWER_DELAYS_NS = (0, 0, 1 * MILLISECOND, 20 * MILLISECOND)

Seat = tuple[int, int]
"""A node and one of the places for processes on it."""
Call = Callable[[float], object]


class World(Protocol):
    """What all hosts share. `wanted`: which groups the process in a seat wants to be in; `watched`:
    in which of these it wants to observe.

    `ids`: the groups of the schedule that somebody has found. `may_start`: whether a node may
    begin its next life.
    """

    clock: Clock
    trace: Trace
    nodes: list[Node]
    wanted: dict[Seat, set[int]]
    watched: dict[Seat, set[int]]
    ids: dict[int, GroupId]

    def may_start(self, node: Node) -> bool:
        """See above."""


class Host:
    """The guest of node number `index`. `life` is that of now, None between two."""

    keeps_state = True

    def __init__(self, world: World, node: Node, index: int, scenario: GroupScenario) -> None:
        self.life: Life | None = None
        self.desk: GuardedDesk | None = None
        self._world = world
        self._node = node
        self._index = index
        self._scenario = scenario
        self._calls: list[Call] = []

    # --- as a guest -----------------------------------------------------------------------------

    def may_start(self) -> bool:
        """See `Guest`."""
        return self._world.may_start(self._node)

    def begin_life(self, endpoint: Endpoint) -> tuple[int, int] | None:
        """See `Guest`: open a process for each seat, and join what is wanted."""
        service = endpoint.service
        assert isinstance(service, ObservedService)
        world = self._world
        life = Life(endpoint.address, service, world.clock, world.trace, self._answer)
        life.processes = [life.service.open_process() for _ in range(self._scenario.slots)]
        self.life = life
        if self._scenario.guarded:
            life.desk = self.desk = GuardedDesk(
                life, len(self._scenario.orders) - 1, world.clock, world.trace, self._unwant
            )
        world.clock.after(STRIVE_NS, self._strive_on, life)
        return service.held if self._scenario.durable else None

    def end_life(self, goes_on: bool) -> None:
        """See `Guest`."""
        self.life = None
        self._calls.clear()

    def view(self) -> None:
        """See `Guest`: what the service has done in the view may be written down now."""
        assert self.life is not None
        self.life.service.write()

    def feed(self, now: float) -> None:
        """See `Guest`: ask the service for what has gathered."""
        life = self.life
        if life is not None and life.stored:
            life.service.stored(life.stored, now)
            life.stored = 0
        calls, self._calls = self._calls, []
        for call in calls:
            call(now)

    def store(self, turn: Turn) -> None:
        """See `Guest`: hear of it in the turn after that in which it is safe."""
        if turn.log:
            self._node.disk.append(turn.log, partial(self._on_stored, self.life, turn.log[-1].mark))

    def _on_stored(self, life: Life | None, mark: int) -> None:
        if life is not None and self.life is life:
            life.stored = mark
            self._node.plan()

    def hear(self, turn: Turn) -> None:
        """See `Guest`: what the service says."""
        life = self.life
        assert life is not None
        for event in turn.service_events:
            life.hear(event)
        self._world.ids.update(life.ids)
        if turn.service_events:
            self.strive()

    @property
    def speaker(self) -> Life | None:
        """The life, while it is in a view."""
        return None if self._node.view is None else self.life

    def ask(self, call: Call) -> None:
        """Have the service asked in the node's next turn."""
        self._calls.append(call)
        self._node.plan()

    # --- acts -----------------------------------------------------------------------------------

    def act(self, act: Act) -> None:
        """What the schedule wants this node's processes, or its operator, to do now."""
        seat = (self._index, act.slot)
        wanted, watched = self._world.wanted[seat], self._world.watched[seat]
        if act.kind == JOIN:
            wanted.update(act.groups)
            watched.difference_update(act.groups)
        elif act.kind == OBSERVE:
            wanted.update(act.groups)
            watched.update(act.groups)
        elif act.kind == LEAVE:
            wanted.difference_update(act.groups)
        elif act.kind == GIVE_UP:
            self._give_up(act.slot, act.groups)
        elif act.kind == CLOSE:
            self._close(act.slot)
        elif act.kind == SEND:
            self._send(act.slot, act.groups[0], act.sizes, act.depth)
        elif act.kind == MOVE:
            self._move(act.groups, act.target)
        elif act.kind == DELETE:
            self._delete(act.groups[0])
        elif act.kind == CALL and self.life is not None and self.desk is not None:
            self.ask(partial(self.desk.call, act.call))
        elif act.kind in (DRAIN, REFILL):
            self._drain(NAMES[act.target], act.kind == DRAIN)
        self.strive()

    def _unwant(self) -> None:
        """The first process may not read the guarded object any more: it leaves."""
        self._world.wanted[self._index, 0].discard(len(self._scenario.orders) - 1)
        self._world.clock.after(0, self.strive)

    def _close(self, slot: int) -> None:
        life = self.life
        if life is None:
            return
        process = life.processes[slot]
        life.close(process)
        life.processes[slot] = life.service.open_process()
        closed = GroupClosed(self._world.clock.now_ns, flatten_process(process))
        self._world.trace.add(closed)
        self.ask(lambda now: life.service.close_process(process, now))

    def _give_up(self, slot: int, groups: tuple[int, ...]) -> None:
        """Leave what the process has asked to join and is not in yet; then it may ask again."""
        life = self.life
        if life is None or self._node.view is None:
            return
        process = life.processes[slot]
        for index in groups:
            group = life.ids.get(index)
            place = None if group is None else (process, group)
            if place is not None and place in life.asked.values() and place not in life.inside:
                life.wishes.discard(place)
                self._request(life, "leave", place)

    def _drain(self, name: str, on: bool) -> None:
        life = self.life
        if life is not None and self._node.view is not None:
            self.ask(lambda now: life.service.drain(name, on, now))

    def _move(self, groups: tuple[int, ...], target: int) -> None:
        life = self.life
        if life is None or self._node.view is None:
            return
        known = self._world.ids
        ids = tuple(known[group] for group in groups if group in known)
        address = self._world.nodes[target].address

        def move(now: float) -> None:
            request = life.service.move(ids, address, "plan", now)
            asked = MoveAsked(self._world.clock.now_ns, *life.address, request, ids)
            self._world.trace.add(asked)

        if ids:
            self.ask(move)

    def _delete(self, index: int) -> None:
        """Have the group of this number in the schedule deleted, as far as anybody knows it."""
        life, group = self.life, self._world.ids.get(index)
        if life is None or group is None or self._node.view is None:
            return

        def delete(now: float) -> None:
            request = life.service.delete(group, now)
            life.deleting.add(request)
            asked = DeletionAsked(self._world.clock.now_ns, *life.address, request, group)
            self._world.trace.add(asked)

        self.ask(delete)

    # --- what is wanted -------------------------------------------------------------------------

    def _strive_on(self, life: Life) -> None:
        if self.life is life:
            life.wishes.difference_update(life.refused)
            life.refused.clear()
            self.strive()
            self._world.clock.after(STRIVE_NS, self._strive_on, life)

    def strive(self) -> None:
        """Ask for everything that is wanted, not there, and not asked for."""
        life = self.life
        if life is None or self._node.view is None:
            return
        for slot, process in enumerate(life.processes):
            seat = (self._index, slot)
            found = {index: self._find(life, index) for index in sorted(self._world.wanted[seat])}
            wanted = {group for group in found.values() if group is not None}
            watched = {found.get(index) for index in self._world.watched[seat]}
            for group in sorted(wanted - life.groups_of(process)):
                what = "observe" if group in watched else "join"
                self._request(life, what, (process, group))
            for group in sorted(life.groups_of(process)):
                if group not in wanted or (group in watched) != life.observes(process, group):
                    self._request(life, "leave", (process, group))

    def _find(self, life: Life, index: int) -> GroupId | None:
        """The id of a group of the schedule; None while it is asked for."""
        if index not in life.ids and index not in life.wishes:
            life.wishes.add(index)
            order = Order(self._scenario.orders[index])

            def create(now: float) -> None:
                life.asked[life.service.create(f"g{index}", order, now)] = index

            self.ask(create)
        return life.ids.get(index)

    def _request(self, life: Life, what: str, place: Place) -> None:
        if place in life.wishes:
            return
        life.wishes.add(place)
        process, group = place

        def ask(now: float) -> None:
            if process not in life.processes:
                return
            if what == "leave":
                request = life.service.leave(process, group, now)
                life.inside.discard(place)  # what comes from now on is not the process's
            else:
                request = life.service.join(process, group, now, observes=what == "observe")
                life.observing[place] = what == "observe"
            life.asked[request] = place
            self._world.trace.add(
                GroupAsked(
                    self._world.clock.now_ns,
                    *life.address,
                    request,
                    what,
                    flatten_process(process),
                    group,
                )
            )

        self.ask(ask)

    # --- messages -------------------------------------------------------------------------------

    def _send(self, slot: int, index: int, sizes: tuple[int, ...], depth: int) -> None:
        life = self.life
        if life is None or self._node.view is None:
            return
        group = self._find(life, index)
        if group is not None:
            process = life.processes[slot]
            self.ask(partial(self._hand_over, life, process, group, sizes, depth))

    def _hand_over(
        self,
        life: Life,
        process: Process,
        group: GroupId,
        sizes: tuple[int, ...],
        depth: int,
        now: float,
    ) -> None:
        """A process sends messages of these sizes, if it and the group are still there."""
        if process not in life.processes or group not in life.service.plane.records:
            return
        if group in life.volatile:
            first = life.fleeting.get((process, group), 0) + 1
            for number, size in enumerate(sizes, first):
                payload = compose(process, group, number, 0, min(size, VOLATILE_BYTES))
                life.hand_over_volatile(process, group, payload, number, now)
            return
        first = life.sent.get((process, group), 0) + 1
        payloads = []
        for number, size in enumerate(sizes, first):
            payload = compose(process, group, number, depth, size)
            payloads.append(payload)
            self._world.trace.add(
                GroupSent(
                    self._world.clock.now_ns,
                    flatten_process(process),
                    group,
                    number,
                    content_hash(payload),
                )
            )
        life.sent[process, group] = first + len(sizes) - 1
        last = life.service.send(process, group, payloads, now)
        assert last == life.sent[process, group], f"{process} sent {group}:{last}, not {first} on"

    def _answer(self, content: Content, h: int, replica: Replica) -> None:
        """One of a group's members, chosen by the message, answers it in another of its groups."""
        life = self.life
        assert life is not None
        members = sorted(replica.members)
        chosen = members[h % len(members)] if members else None
        for process in life.processes:
            if flatten_process(process) != chosen:
                continue
            others = life.groups_of(process) - {content.group}
            groups = sorted(others or life.ids.values())
            group = groups[(h >> 8) % len(groups)]
            delay_ns = ANSWER_DELAYS_NS[(h >> 16) % len(ANSWER_DELAYS_NS)]
            self._world.clock.after(
                delay_ns, self._answer_now, life, process, group, content.depth - 1
            )

    def _answer_now(self, life: Life, process: Process, group: GroupId, depth: int) -> None:
        if self.life is life:
            self.ask(partial(self._hand_over, life, process, group, (ANSWER_BYTES,), depth))

    def is_content(self) -> bool:
        """Whether everything that its processes wanted is there, and what they sent is numbered."""
        life = self.life
        if life is None or life.wishes or life.deleting or life.unaccepted() or self._calls:
            return False
        for slot, process in enumerate(life.processes):
            wanted = self._world.wanted[self._index, slot]
            watched = self._world.watched[self._index, slot]
            ids = {life.ids[index]: index in watched for index in wanted if index in life.ids}
            inside = life.groups_of(process)
            if len(ids) < len(wanted) or set(ids) != inside:
                return False
            if any(ids[group] != life.observes(process, group) for group in inside):
                return False
        return True

    def has_erased(self) -> bool:
        """Whether nothing is left to be taken out of the node's log."""
        life = self.life
        if life is None or life.service.plane.log is None:
            return True
        return life.service.archiving.erasing.done == life.service.plane.log.doomed

    def probe(self) -> None:
        """Each process sends to one of its groups, and to one that it need not be in."""
        life = self.life
        assert life is not None
        for process in life.processes:
            for group in sorted(life.groups_of(process))[:1] + sorted(life.ids.values())[-1:]:
                self.ask(partial(self._hand_over, life, process, group, (PROBE_BYTES,), 0))
