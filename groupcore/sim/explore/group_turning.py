"""The making of the next state of the data plane: turns of services, and what they cause."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from groupcore.batch import Batch
from groupcore.events import FetchCut, ViewInstalled
from groupcore.membership.succession import most_of
from groupcore.sequencing.events import StateWanted
from groupcore.sequencing.headers import Digest
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.sim.explore.copying import duplicate
from groupcore.sim.explore.group_scopes import GroupScope
from groupcore.sim.explore.group_world import (
    Alive,
    GroupNodeState,
    GroupState,
    Ordered,
    Sink,
    StillClock,
    dated,
)
from groupcore.sim.explore.keying import digest
from groupcore.sim.explore.making import Making
from groupcore.sim.explore.world import Link, Past, packet_of
from groupcore.sim.groups.life import Life
from groupcore.sim.groups.messages import Content, compose
from groupcore.sim.groups.observer import ObservedService
from groupcore.sim.groups.replica import Replica
from groupcore.sim.messages import content_hash
from groupcore.sim.trace import Lived, Record, Viewed
from groupcore.sim.trace_deletions import DeletionAsked
from groupcore.sim.trace_groups import GroupAsked, GroupSent, flatten_process
from groupcore.view import Address, View

OPTIONS = ServiceOptions(report_s=1e9, digest_max_s=0.05)
"""Nothing is moved for the sake of load."""
WAKES_MAX = 400
"""Moments that may pass in a row without anything on its way; more means that nothing comes."""
MESSAGE_BYTES = 40
LINEAGE = 1

CLOCK, SINK = StillClock(), Sink()


def answer_nothing(content: Content, h: int, replica: Replica) -> None:
    """What a process does with a message that asks for an answer; none does."""
    del content, h, replica


class GroupTurning(Making[GroupNodeState]):
    """The next state under construction; `opened` are the nodes in which it differs."""

    def __init__(self, scope: GroupScope, state: GroupState) -> None:
        known = (state.nodes, state.links, state.now, state.past, state.budget, state.todo)
        super().__init__(*known)
        self.scope = scope
        self.order = list(state.order)
        self.view = state.view
        self.said = dict(state.said)
        self.copied: set[int] = set()

    def finish(self) -> GroupState:
        """The state that has come about."""
        self.key_opened()
        return self.so_far()

    def so_far(self) -> GroupState:
        """The same without the keys."""
        return GroupState(
            tuple(self.nodes),
            self.now,
            self.links,
            tuple(self.order),
            self.view,
            tuple(self.said.items()),
            self.budget,
            self.todo,
            self.past,
            self.stuck,
        )

    def add(self, record: Record) -> None:
        """Append to the past."""
        self.past = Past(dated(record, self.past.length), self.past, self.past.length + 1)

    # --- lives ------------------------------------------------------------------------------------

    def start(self, number: int) -> Process:
        """A node begins; gives its one process."""
        node = self.nodes[number]
        service = ObservedService(node.address, OPTIONS, Random(0), CLOCK, SINK, [])
        life = Life(node.address, service, CLOCK, SINK, answer_nothing)
        process = service.open_process()
        life.processes.append(process)
        self.change(number, alive=Alive(service, life))
        self.add(Lived(0, *node.address, "start", ""))
        return process

    def install(self, members: tuple[Address, ...]) -> None:
        """A view is agreed."""
        former = self.view
        number = 1 if former is None else former.number + 1
        self.view = View(number, 1, 0, LINEAGE, members)
        cut = self.so_far().cut()
        event = ViewInstalled(
            self.view,
            former,
            former is None,
            recovered=former is None,
            streams={} if cut is None else cut.streams,
        )
        self.order.append(event)
        self.said.clear()

    def stop(self, number: int) -> None:
        """A member is stopped for the next view; when all have been, it is known what must be had.

        So the answers of all who run are votes: who decides is a quorum of the view at least.
        """
        view = self.view
        assert view is not None

        def ask(service: Service) -> None:
            self.said[number] = service.stop_acknowledging(view.number)

        self.turn(number, ask)
        living = [node for node in self.nodes if node.alive is not None]
        if len(self.said) == len(living):
            said = {self.nodes[one].address: streams for one, streams in self.said.items()}
            self.order.append(FetchCut({}, {}, *most_of(said)))

    def crash(self, number: int, unsent: tuple[int, ...]) -> None:
        """A node stops; to `unsent` nothing gets that is on its way from it."""
        self.budget = replace(self.budget, crashes=self.budget.crashes - 1)
        self.links = {
            link: queue
            for link, queue in self.links.items()
            if link[1] != number and not (link[0] == number and link[1] in unsent)
        }
        self.add(Lived(0, *self.nodes[number].address, "crash", ""))
        self.change(number, alive=None, asked=())

    # --- what happens to a node -------------------------------------------------------------------

    def deliver(self, link: Link) -> None:
        """The first packet of a link arrives."""
        batches = self.pop(link)

        def receive(service: Service) -> None:
            for batch in batches:
                service.receive(batch, self.now)

        self.turn(link[1], receive)

    def agree(self, number: int) -> None:
        """The first command that a node has asked for gets its place in the order."""
        node = self.nodes[number]
        command, *rest = node.asked
        self.order.append((node.address, command))
        self.change(number, asked=tuple(rest))

    def take(self, number: int) -> None:
        """A node takes the next of what was agreed."""
        node = self.nodes[number]
        entry = self.order[node.taken]
        self.change(number, taken=node.taken + 1)
        if isinstance(entry, ViewInstalled):
            self._view(node.address, entry)
        self.turn(number, lambda service: _hand_over(service, entry, self.now))

    def _view(self, node: Address, event: ViewInstalled) -> None:
        view, former = event.view, event.previous
        self.add(
            Viewed(
                0,
                *node,
                view.number,
                view.epoch,
                view.lineage,
                view.members,
                None if former is None else former.members,
                0 if former is None else former.number,
                event.fresh,
                0,
                view.floor,
                False,
                event.holders,
            )
        )

    def send(self, number: int, index: int) -> None:
        """The node's process sends a message to a group of the scope."""
        node = self.nodes[number]
        assert node.alive is not None
        life = node.alive.life
        process, group = life.processes[0], index + 1
        sent = dict(node.sent)
        own = sent[group] = sent.get(group, 0) + 1
        payload = compose(process, group, own, 0, MESSAGE_BYTES)
        self.add(GroupSent(0, flatten_process(process), group, own, content_hash(payload)))
        self.change(number, sent=tuple(sorted(sent.items())))

        def hand_over(service: Service) -> None:
            alive = self.nodes[number].alive
            assert alive is not None
            alive.life.sent[process, group] = own
            service.send(process, group, [payload], self.now)

        self.turn(number, hand_over)

    def ask_join(self, number: int, process: Process, group: GroupId, observes: bool) -> None:
        """A process asks to be in a group."""
        self._ask(
            number,
            "observe" if observes else "join",
            (process, group),
            lambda service: service.join(process, group, self.now, observes=observes),
        )

    def ask_leave(self, number: int, process: Process, group: GroupId) -> None:
        """A process asks to be out of a group, or gives up being in it."""
        self._ask(
            number,
            "leave",
            (process, group),
            lambda service: service.leave(process, group, self.now),
        )

    def _ask(
        self, number: int, what: str, place: tuple[Process, GroupId], call: Callable[[Service], int]
    ) -> None:
        process, group = place
        address = self.nodes[number].address

        def ask(service: Service) -> None:
            request = call(service)
            alive = self.nodes[number].alive
            if what == "leave" and alive is not None:
                alive.life.inside.discard(place)  # what comes from now on is not the process's
            SINK.add(GroupAsked(0, *address, request, what, flatten_process(process), group))

        self.turn(number, ask)

    def delete(self, number: int, group: GroupId) -> None:
        """A node asks for a group to be deleted."""
        address = self.nodes[number].address

        def ask(service: Service) -> None:
            SINK.add(DeletionAsked(0, *address, service.delete(group, self.now), group))

        self.turn(number, ask)

    def hasten(self, late: int) -> None:
        """All commands get their places, and all nodes but `late` take what was agreed."""
        while True:
            for node in list(self.nodes):
                if node.alive is None:
                    continue
                if node.asked:
                    self.agree(node.number)
                    break
                if node.number != late and node.taken < len(self.order):
                    self.take(node.number)
                    break
            else:
                return

    def pass_time(self, is_settled: Callable[[GroupState], bool]) -> None:
        """Time passes until something is on its way, or all is settled, or nothing comes."""
        for _ in range(WAKES_MAX):
            wakes = [
                (wake, node.number)
                for node in self.nodes
                if node.alive is not None and (wake := node.alive.service.next_wake()) is not None
            ]
            if not wakes:
                break
            self.now = max(self.now, min(wakes)[0])
            for wake, number in wakes:
                if wake <= self.now:
                    self.turn(number, lambda service: service.wake(self.now))
            self.opened.update(node.number for node in self.nodes if node.alive is not None)
            state = self.so_far()
            if not state.idle or is_settled(state):
                return
        self.stuck = True

    # --- turns ------------------------------------------------------------------------------------

    def turn(self, number: int, feed: Callable[[Service], None]) -> None:
        """Feed a node, end its turn, carry out what that causes; then what arrives at once."""
        self._turn(number, feed)
        while self.at_once:
            target, batch = self.at_once.pop(0)
            if self.nodes[target].alive is not None:
                self._turn(target, lambda service, batch=batch: service.receive(batch, self.now))  # type: ignore[misc]

    def _turn(self, number: int, feed: Callable[[Service], None]) -> None:
        node = self.nodes[number]
        assert node.alive is not None
        alive = node.alive
        if number not in self.copied:
            self.copied.add(number)
            service, life = duplicate([alive.service, alive.life])
            assert isinstance(service, ObservedService)
            assert isinstance(life, Life)
            alive = Alive(service, life)
            node = self.change(number, alive=alive)
        CLOCK.now_ns = self.past.length
        feed(alive.service)
        wanted = True
        while wanted:
            alive.service.end_turn(self.now)
            output = alive.service.take()
            self._transmit(node, output.sends)
            if output.commands:
                asked = (*self.nodes[number].asked, *output.commands)
                self.change(number, asked=asked)
            for event in output.events:
                alive.life.hear(event)
            wanted = any(isinstance(event, StateWanted) for event in output.events)
        alive.service.write()
        self._write(number)

    def _write(self, number: int) -> None:
        """What the turn has written down belongs to the past, and to the node's history."""
        records, SINK.records = SINK.records, []
        history = self.nodes[number].history
        for record in records:
            self.add(record)
            history = digest(history + repr(record[1:]).encode())
        if records:
            self.change(number, history=history)

    def _transmit(self, node: GroupNodeState, sends: list[Batch]) -> None:
        packets: dict[int, list[Batch]] = {}
        for batch in sends:
            for target in self.nodes:
                if target.number == node.number or target.alive is None:
                    continue
                if batch.destination not in (None, target.address):
                    continue
                link = (node.number, target.number)
                if self.scope.queued or not isinstance(batch.headers[-1], Digest):
                    packets.setdefault(target.number, []).append(batch)
                elif target.number in packets:
                    packets[target.number].append(batch)
                elif link in self.links:
                    *others, last = self.links[link]
                    rides = packet_of([*last.batches, batch], self.now)
                    self.links[link] = (*others, rides)
                else:
                    self.at_once.append((target.number, batch))
        self.dispatch(node.number, packets)


def _hand_over(service: Service, entry: Ordered, now: float) -> None:
    if isinstance(entry, ViewInstalled | FetchCut):
        service.on_event(entry, now)
    else:
        service.on_order(*entry, now)
