"""The making of a state's successor: turns of nodes, and what they cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from groupcore.batch import Batch, pack_messages, unpack_messages
from groupcore.events import (
    Connect,
    Event,
    Excluded,
    Heard,
    Leave,
    Left,
    Persisted,
    Refused,
    Synced,
    ViewInstalled,
)
from groupcore.sim.explore.copying import duplicate
from groupcore.sim.explore.keying import digest
from groupcore.sim.explore.making import Making
from groupcore.sim.explore.scopes import Scope
from groupcore.sim.explore.world import (
    Application,
    Link,
    NodeState,
    Past,
    State,
    Steady,
    is_background,
)
from groupcore.sim.messages import SIZE_MIN, compose_message, content_hash, identify
from groupcore.sim.trace import Accepted, Delivered, Lived, Mid, Record, Sent, Viewed
from groupcore.stack import Stack
from groupcore.stacks import build_stack, read_record

WAKES_MAX = 400
"""Moments that may pass in a row without anything on its way; more means that nothing comes."""


class Turning(Making[NodeState]):
    """The next state under construction; `opened` are the nodes in which it differs."""

    def __init__(self, scope: Scope, state: State) -> None:
        known = (state.nodes, state.links, state.now, state.past, state.budget, state.todo)
        super().__init__(*known)
        self.scope = scope
        self.state = state
        self.newest = state.newest

    def finish(self) -> State:
        """The state that has come about."""
        self.key_opened()
        return State(
            tuple(self.nodes),
            self.links,
            self.now,
            self.budget,
            self.todo,
            self.past,
            self.newest,
            self.stuck,
        )

    def add(self, record: Record) -> None:
        """Append to the past."""
        self.past = Past(record, self.past, self.past.length + 1)

    # --- the steps --------------------------------------------------------------------------------

    def deliver(self, link: Link) -> None:
        """The first packet of a link arrives."""
        batches = self.pop(link)
        self.turn(link[1], lambda stack: self._receive(stack, batches))

    def _receive(self, stack: Stack, batches: Iterable[Batch]) -> None:
        sender = None
        for batch in batches:
            sender = batch.sender
            stack.receive(batch, self.now)
        if sender is not None:
            stack.notify(Heard((sender,)), self.now)

    def complete(self, number: int) -> None:
        """The oldest pending record of a node is on its disk."""
        node = self.nodes[number]
        (token, record), *rest = node.pending
        node = self.change(number, pending=tuple(rest), disk=record)
        self._note_acceptance(node, record)
        self.turn(number, lambda stack: stack.notify(Persisted(token), self.now))

    def _note_acceptance(self, node: NodeState, record: bytes) -> None:
        accepted = read_record(record).accepted
        if accepted is not None:
            view, t = accepted.view, self.past.length
            me, voted = node.address, accepted.voters
            lineage, members = view.lineage, view.members
            self.add(Accepted(t, *me, view.number, lineage, members, voted, view.voters))

    def crash(self, number: int, kept: int, unsent: tuple[int, ...]) -> None:
        """A node stops; the first `kept` pending records are on disk, and `unsent` get nothing."""
        node = self.nodes[number]
        disk = node.pending[kept - 1][1] if kept else node.disk
        for _, record in node.pending[:kept]:
            self._note_acceptance(node, record)
        self.change(number, disk=disk)
        self.budget = replace(self.budget, crashes=self.budget.crashes - 1)
        for target in unsent:
            del self.links[number, target]
        self._stop(number, "crash")

    def restart(self, number: int) -> None:
        """A node that has crashed or left starts from its disk."""
        self.budget = replace(self.budget, restarts=self.budget.restarts - 1)
        self.start(number)

    def do(self, index: int) -> None:
        """A step of the script."""
        action = self.scope.script[index]
        self.todo = self.todo - {index}
        match action.kind:
            case "send":
                self._send(action.node)
            case "leave":
                self.change(action.node, leaving=True)
                self._live(action.node, "leave")
                self.turn(action.node, lambda stack: stack.notify(Leave(), self.now))
            case "start":
                self.start(action.node)
            case _:
                raise AssertionError(f"no such action: {action}")

    def _send(self, number: int) -> None:
        node = self.nodes[number]
        mid = Mid(*node.address, node.sent + 1)
        payload = compose_message(mid, SIZE_MIN)
        node = self.change(number, sent=node.sent + 1)
        self.add(Sent(self.past.length, *node.address, mid, content_hash(payload), None))
        batch = Batch(node.address, None, (), pack_messages([payload]), 1)
        self.turn(number, lambda stack: stack.send(batch, self.now))

    def start(self, number: int) -> None:
        """A new life of a node begins."""
        node = self.nodes[number]
        node = self.change(number, incarnation=node.incarnation + 1, sent=0, leaving=False)
        chance = Steady((number + 1) / (len(self.nodes) + 1))
        stack = build_stack(self.scope.plan(), node.address, chance, node.disk)
        held = node.application
        self.change(number, stack=stack, view=None, application=replace(held, wanted=None))
        self._live(number, "start")
        place = Connect(held.epoch, len(held.entries))
        self.turn(number, lambda stack: stack.notify(place, self.now))

    def _stop(self, number: int, what: str) -> None:
        self._live(number, what)
        self.change(number, stack=None, view=None, pending=(), leaving=False)
        self.links = {link: queue for link, queue in self.links.items() if link[1] != number}

    def _live(self, number: int, what: str) -> None:
        self.add(Lived(self.past.length, *self.nodes[number].address, what, ""))

    def pass_time(self, is_settled: Callable[[State], bool]) -> None:
        """Time passes until something is on its way, or all is settled, or nothing comes."""
        for _ in range(WAKES_MAX):
            wakes = [
                (wake, node.number)
                for node in self.nodes
                if node.stack is not None and (wake := node.stack.next_wake()) is not None
            ]
            if not wakes:
                break
            self.now = max(self.now, min(wakes)[0])
            for wake, number in wakes:
                if wake <= self.now:
                    self.turn(number, lambda stack: stack.wake(self.now))
            self._fetch_states()
            if self.links or any(node.pending for node in self.nodes):
                self._rekey()
                return
            if is_settled(self.finish()):
                self._rekey()
                return
        self.stuck = True
        self._rekey()

    def _rekey(self) -> None:
        """Time has passed for all who run."""
        self.opened.update(node.number for node in self.nodes if node.stack is not None)

    # --- turns ------------------------------------------------------------------------------------

    def turn(self, number: int, feed: Callable[[Stack], None]) -> None:
        """Feed a node, end its turn, carry out what that causes; then what arrives at once."""
        self._turn(number, feed)
        while self.at_once:
            target, batch = self.at_once.pop(0)
            if self.nodes[target].stack is not None:
                self._turn(target, partial(self._receive, batches=(batch,)))

    def _turn(self, number: int, feed: Callable[[Stack], None]) -> None:
        node = self.nodes[number]
        assert node.stack is not None
        stack = node.stack
        if number not in self.opened or stack is self.state.nodes[number].stack:
            stack = duplicate(stack)
            node = self.change(number, stack=stack)
        feed(stack)
        stack.end_turn(self.now)
        output = stack.take()
        self._transmit(node, output.sends)
        records = tuple((persist.token, persist.record) for persist in output.persists)
        if records:
            self.change(number, pending=(*self.nodes[number].pending, *records))
        for item in output.deliveries:
            if self.nodes[number].address != node.address or self.nodes[number].stack is None:
                return
            if isinstance(item, Batch):
                self._deliver(number, item)
            else:
                self._on_event(number, item)

    def _transmit(self, node: NodeState, sends: list[Batch]) -> None:
        packets: dict[int, list[Batch]] = {}
        for batch in sends:
            for target in self.nodes:
                if target.number == node.number or target.stack is None:
                    continue
                if batch.destination not in (None, target.address):
                    continue
                if is_background(batch):
                    self.at_once.append((target.number, batch))
                else:
                    packets.setdefault(target.number, []).append(batch)
        self.dispatch(node.number, packets)

    # --- the application --------------------------------------------------------------------------

    def _deliver(self, number: int, batch: Batch) -> None:
        node = self.nodes[number]
        view = 0 if node.view is None else node.view.number
        epoch = 0 if node.view is None else node.view.epoch
        held = node.application
        for offset, payload in enumerate(unpack_messages(batch.body)):
            mid, content = identify(payload), content_hash(payload)
            position = batch.position + offset
            place = (epoch, position, mid, view)
            self.add(
                Delivered(self.past.length, *node.address, epoch, position, mid, content, view)
            )
            history = digest(held.history + repr(place).encode())
            held = Application(epoch, (*held.entries, mid), held.wanted, history)
        self.change(number, application=held)

    def _on_event(self, number: int, event: Event) -> None:
        match event:
            case ViewInstalled():
                self._install(number, event)
            case Excluded():
                self._stop(number, "excluded")
                self.start(number)
            case Left():
                self._stop(number, "left")
            case Refused():
                self._stop(number, "refused")
            case _:
                pass

    def _install(self, number: int, event: ViewInstalled) -> None:
        view, previous = event.view, event.previous
        node = self.change(number, view=view)
        if self.newest is None or view.number > self.newest.number:
            self.newest = view
        self.add(
            Viewed(
                self.past.length,
                *node.address,
                view.number,
                view.epoch,
                view.lineage,
                view.members,
                None if previous is None else previous.members,
                0 if previous is None else previous.number,
                event.fresh,
                event.position,
                view.floor,
                event.recovered,
                event.holders,
                view.voters,
            )
        )
        held = node.application
        history = digest(held.history + repr((view, event.fresh)).encode())
        held = replace(held, epoch=view.epoch, history=history)
        if event.fresh:
            own = not event.holders or node.address in event.holders
            entries = held.entries[: event.position] if own else ()
            wanted = None if own else (view.epoch, event.position)
            held = replace(held, entries=entries, wanted=wanted)
        self.change(number, application=held)
        self._fetch_state(number)

    def _fetch_states(self) -> None:
        for node in self.nodes:
            self._fetch_state(node.number)

    def _fetch_state(self, number: int) -> None:
        """Take the state that is waited for from whoever has it; tell that it is on disk."""
        held = self.nodes[number].application
        if self.nodes[number].stack is None or self.nodes[number].view is None:
            return
        if held.wanted is not None:
            epoch, position = held.wanted
            for other in self.nodes:
                has = other.application
                ready = other.stack is not None and has.wanted is None and has.epoch == epoch
                if other.number != number and ready and len(has.entries) >= position:
                    entries = (*has.entries[:position], *held.entries)
                    held = replace(held, entries=entries, wanted=None)
                    self.change(number, application=held)
                    break
            else:
                return
        synced = Synced(held.epoch, len(held.entries))
        self._turn(number, lambda stack: stack.notify(synced, self.now))
