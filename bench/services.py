"""Services joined in memory on virtual time, for figures that need no clock and no socket."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from random import Random

from groupcore.batch import Batch
from groupcore.events import ViewInstalled
from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.view import Address, View
from groupcore.wire import decode_packet, encode_packet, unpack_packets

BEGUN = 1_790_000_000_000_000_000
"""A node's incarnation is the time of its start in nanoseconds: nine bytes."""
HOP_S = 0.0005
"""Shortest way from node to node."""
JITTER_S = 0.0003
"""Longest that a packet takes beyond that; no packet overtakes another on its way."""


class Services:
    """A cluster whose packets take their time and are never lost; the order is agreed at once.

    `on_send` is told of every packet when it leaves, `on_event` of what a service says.
    """

    def __init__(
        self,
        nodes: int,
        random: Random,
        on_send: Callable[[Batch], None],
        on_event: Callable[[Address, ServiceEvent], None],
    ) -> None:
        self.now = 0.0
        self._random = random
        self._on_send = on_send
        self._on_event = on_event
        self.nodes = tuple(Address(f"node-{index}", BEGUN + index) for index in range(nodes))
        options = ServiceOptions()
        self.services = {node: Service(node, options, random) for node in self.nodes}
        self._arrivals: list[tuple[float, int, Address, Address, bytes]] = []
        self._latest: dict[tuple[Address, Address], float] = {}
        self._sent = 0
        self._wakes: dict[Address, float] = {}
        view = View(1, 1, 0, 1, self.nodes)
        for service in self.services.values():
            service.on_event(ViewInstalled(view, None, True, ()), self.now)
        for node in self.nodes:
            self.end_turn(node)

    def end_turn(self, node: Address) -> None:
        """The node has done what it does now: its packets leave, its commands are ordered."""
        waiting = [node]
        while waiting:
            here = waiting.pop(0)
            service = self.services[here]
            service.end_turn(self.now)
            output = service.take()
            for batch in output.sends:
                self._send(here, batch)
            for event in output.events:
                self._on_event(here, event)
            for command in output.commands:
                for other in self.services.values():
                    other.on_order(here, command, self.now)
            if output.commands:
                waiting = list(self.nodes)
            wake = service.next_wake()
            self._wakes[here] = float("inf") if wake is None else wake

    def run_until(self, time_s: float) -> None:
        """Let packets arrive and timers run until then."""
        while True:
            sleeper = min(self.nodes, key=self._wakes.__getitem__)
            wake = self._wakes[sleeper]
            arrival = self._arrivals[0][0] if self._arrivals else time_s
            if min(wake, arrival) >= time_s:
                self.now = time_s
                return
            self.now = max(self.now, min(wake, arrival))
            if wake < arrival:
                self.services[sleeper].wake(self.now)
                self.end_turn(sleeper)
                continue
            _, _, source, node, data = heappop(self._arrivals)
            (raw,) = unpack_packets(b"\x91" + data)
            self.services[node].receive(decode_packet(raw, source, None), self.now)
            self.end_turn(node)

    def _send(self, source: Address, batch: Batch) -> None:
        self._on_send(batch)
        data = encode_packet(batch)
        for node in self.nodes:
            if node != source and batch.destination in (None, node):
                at = self.now + HOP_S + self._random.random() * JITTER_S
                at = self._latest[source, node] = max(at, self._latest.get((source, node), 0.0))
                self._sent += 1
                heappush(self._arrivals, (at, self._sent, source, node, data))
