"""How simulated applications come to their state: by STATE_TRANSFER in a share of the schedules."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.cluster import Cluster
from groupcore.sim.fault import Send
from groupcore.sim.profiles import PROFILES
from groupcore.sim.run import run_scenario
from groupcore.sim.scenario import Scenario, draw_scenario
from groupcore.sim.states import TornSource, decode_state, encode_state
from groupcore.sim.trace import Mid, Took

STACK = PROFILES["stack"].make_stack

LATE_JOINER = Scenario(
    seed=5,
    nodes=3,
    starts_ns=(0, 0, 2 * SECOND),
    safety_ns=4 * SECOND,
    sends=tuple(Send(500 * MILLISECOND + i * 7 * MILLISECOND, i % 2, (40, 40)) for i in range(400)),
    state_chunk_bytes=64,
)


def test_a_state_comes_back_from_its_bytes() -> None:
    entries = [(Mid("a", 7, number), number * 3) for number in range(5)]
    assert decode_state(encode_state(entries)) == tuple(entries)
    assert decode_state(encode_state([])) == ()


def test_a_torn_copy_can_be_read_up_to_where_it_is_torn() -> None:
    source = TornSource(b"abcdef", 4)
    assert source.read(0, 4) == b"abcd"
    with pytest.raises(OSError, match="bad sector"):
        source.read(4, 1)


def test_a_joiner_takes_its_state_through_the_group_while_the_others_send() -> None:
    cluster = Cluster(LATE_JOINER, STACK)
    cluster.clock.run_until(LATE_JOINER.safety_ns)
    joiner = cluster.nodes[2]
    assert joiner.endpoint is not None
    counters = joiner.endpoint.counters()
    assert counters["STATE_TRANSFER.taken"] == 1
    assert counters["QUEUE.held"] > 0
    (took,) = [record for record in cluster.trace.of(Took) if record.n == "c"]
    assert took.source in ("a", "b")
    assert took.position > 0
    verdict = run_scenario(LATE_JOINER, STACK)
    assert verdict.violations == []


def test_a_share_of_the_schedules_transfers_state_through_the_group() -> None:
    drawn = [draw_scenario(seed) for seed in range(200)]
    shares = Counter(scenario.state_chunk_bytes > 0 for scenario in drawn)
    assert 80 < shares[True] < 160
    assert {scenario.state_copies for scenario in drawn} == {1, 2}
    assert any(scenario.state_trouble for scenario in drawn)


def test_beside_the_group_nothing_is_asked_of_the_layer() -> None:
    scenario = replace(LATE_JOINER, state_chunk_bytes=0)
    cluster = Cluster(scenario, STACK)
    cluster.clock.run_until(scenario.safety_ns)
    assert cluster.nodes[2].endpoint is not None
    assert cluster.nodes[2].endpoint.counters()["STATE_TRANSFER.transfers"] == 0
    assert cluster.nodes[2].application is not None
    assert cluster.nodes[2].application.ready
