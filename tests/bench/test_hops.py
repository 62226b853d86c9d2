"""Of how many hops a round is made, which is what a plan's expected wait rests on (decision 66)."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import pytest

from bench import services
from bench.services import Services
from groupcore.sequencing.events import Created, Joined, ServiceEvent, StateWanted
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.trace_lines import rows_of
from groupcore.sequencing.tracing import Recorder
from groupcore.view import Address

HOP_S = 0.001


class Town:
    """Nodes with a member each of one group, which the first of them sequences."""

    def __init__(self, nodes: int) -> None:
        self.group: GroupId = 0
        self.joined = 0
        self.services = Services(nodes, Random(1), lambda batch: None, self.on_event)
        first, *_ = self.services.nodes
        self.services.services[first].create("", Order.CAUSALLY_TOTAL, self.services.now)
        self.services.end_turn(first)
        self.members = [self.member(node) for node in self.services.nodes]

    def on_event(self, node: Address, event: ServiceEvent) -> None:
        if isinstance(event, Created):
            self.group = event.group
        elif isinstance(event, Joined) and event.process.node == node:
            self.joined += 1
        elif isinstance(event, StateWanted):
            self.services.services[node].give_state(event.token, b"")

    def member(self, node: Address) -> Process:
        service, wanted = self.services.services[node], self.joined + 1
        process = service.open_process()
        service.join(process, self.group, self.services.now)
        self.services.end_turn(node)
        while self.joined < wanted:
            self.services.run_until(self.services.now + 0.01)
        return process

    def rounds_us(self) -> dict[bool, set[int]]:
        """How long runs take of who is near and who is far, sent one after the other."""
        recorders = {node: Recorder() for node in self.services.nodes}
        for node, recorder in recorders.items():
            self.services.services[node].trace(recorder)
        for process in self.members:
            sender = self.services.services[process.node]
            sender.send(process, self.group, [b"x"], self.services.now)
            self.services.end_turn(process.node)
            self.services.run_until(self.services.now + 0.1)
        found: dict[bool, set[int]] = defaultdict(set)
        for gathered in (one for recorder in recorders.values() for one in recorder.take()):
            for row in rows_of(gathered):
                if isinstance(us := row.get("round_us"), int):
                    found[row["sequencer"] == row["node"]].add(us)
        return found


@pytest.mark.parametrize(("nodes", "near", "far"), [(2, 2, 2), (3, 2, 2), (5, 2, 3), (7, 2, 3)])
def test_a_far_round_takes_a_hop_more_from_five_nodes_on(
    monkeypatch: pytest.MonkeyPatch, nodes: int, near: int, far: int
) -> None:
    monkeypatch.setattr(services, "HOP_S", HOP_S)
    monkeypatch.setattr(services, "JITTER_S", 0.0)
    rounds = Town(nodes).rounds_us()
    hops = {is_near: {round(us / HOP_S / 1e6) for us in took} for is_near, took in rounds.items()}
    assert hops == {True: {near}, False: {far}}
