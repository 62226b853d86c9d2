"""What gossip costs and repairs cost in larger groups, measured in the simulator."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from groupcore.batch import Batch, Header
from groupcore.membership.state import MembershipOptions
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.cluster import Cluster
from groupcore.sim.fault import Send
from groupcore.sim.network import CALM, NetworkOptions
from groupcore.sim.profiles import PROFILES
from groupcore.sim.scenario import Scenario
from groupcore.stack import Stack
from groupcore.stacks import LARGE_GROUP_STACK, StackOptions, compose
from groupcore.transport import Transport
from groupcore.view import Address

REPORTING_STACK = "UDP:PING:FD:NAKACK:UNICAST:STABLE:GMS:FLUSH:FRAG"
"""The same with acknowledgements, and reports from all to all."""
STABILITY = ("stability.", "pbcast.", "nakack.ack")
BEGIN_NS, LENGTH_NS = 1 * SECOND, 3 * SECOND


def steady(nodes: int, sends: int, network: NetworkOptions = CALM) -> Scenario:
    """A quiet cluster in which every member sends a little, in turns."""
    return Scenario(
        seed=3,
        nodes=nodes,
        starts_ns=tuple(index * MILLISECOND for index in range(nodes)),
        safety_ns=BEGIN_NS + LENGTH_NS + SECOND,
        network=network,
        sends=tuple(
            Send(BEGIN_NS + LENGTH_NS * index // sends, index % nodes, (100,))
            for index in range(sends)
        ),
    )


def compose_for(spec: str, scenario: Scenario, address: Address, random: Random) -> Stack:
    membership = MembershipOptions(cluster_size=scenario.nodes, durable=True, absorb=False)
    return compose(spec, address, random, StackOptions(membership=membership))


def received_a_member_and_second(spec: str, nodes: int, monkeypatch: pytest.MonkeyPatch) -> float:
    """Messages that only serve to agree on stability, as each member receives them."""
    received: Counter[str] = Counter()
    counting = False
    send = Transport.send

    def count(transport: Transport, batch: Batch) -> None:
        header: Header = batch.headers[-1]
        if counting and header.kind.startswith(STABILITY):
            received[header.kind] += nodes - 1 if batch.destination is None else 1
        send(transport, batch)

    def make_stack(scenario: Scenario, me: Address, random: Random, *_: object) -> Stack:
        return compose_for(spec, scenario, me, random)

    with monkeypatch.context() as patch:
        patch.setattr(Transport, "send", count)
        cluster = Cluster(steady(nodes, 15 * nodes), make_stack)
        cluster.clock.run_until(BEGIN_NS)
        assert all(node.view and len(node.view.members) == nodes for node in cluster.nodes)
        counting = True
        cluster.clock.run_until(BEGIN_NS + LENGTH_NS)
    return sum(received.values()) / nodes / (LENGTH_NS / SECOND)


@pytest.mark.slow
def test_agreeing_by_reports_grows_with_the_square_of_the_group_and_gossip_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = (4, 8, 16)
    by_report, by_gossip = (
        [received_a_member_and_second(spec, nodes, monkeypatch) for nodes in sizes]
        for spec in (REPORTING_STACK, LARGE_GROUP_STACK)
    )
    assert by_report[2] > 3 * by_report[0]  # each member's share grows with the group
    assert by_gossip[2] < 2 * by_gossip[0]
    assert by_gossip[2] < by_report[2] / 4


@pytest.mark.slow
def test_repairs_stay_below_three_for_each_lost_packet_at_30_percent_loss() -> None:
    # fault matrix, row 1: no NAK storm. Even a packet that several have lost counts once.
    nodes, sends, loss = 8, 400, 0.3
    network = NetworkOptions(loss=loss)
    cluster = Cluster(steady(nodes, sends, network), PROFILES["gossip"].make_stack)
    cluster.clock.run_until(cluster.scenario.safety_ns)
    counters = [node.endpoint.counters() for node in cluster.nodes if node.endpoint is not None]
    sent = sum(counter["NAKACK.sent"] for counter in counters)
    repairs = sum(counter["NAKACK.repairs_sent"] for counter in counters)
    assert sent > 0.9 * sends
    assert 0 < repairs <= 3 * sent * (1 - (1 - loss) ** (nodes - 1))
    assert repairs <= 1.5 * sent * (nodes - 1) * loss
