"""A gray coordinator: heard in one direction only, or by all and nothing comes of what it begins.

The rule is that a majority which hears one another has a view within a bound, whatever the others
hear, say or leave undone: the time of failure detection, a turn for each of those that are heard
and bring nothing about, and the time of an attempt.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from groupcore.membership.state import MembershipOptions
from groupcore.sim.clock import SECOND
from groupcore.sim.fault import Fault
from groupcore.sim.network import SocketAddress
from tests.groupcore.sim.rows.playing import Play, fault, scenario

DETECTED_S = 1.1
ATTEMPT_S = 1.0
TURN_S = MembershipOptions().turn_s + MembershipOptions().tick_s
BEGIN_S, END_S = 3.0, 12.0
LARGE_BYTES = 96
"""Heartbeats are smaller, what a ballot is made of is larger."""

Lost = Callable[[int, int, bytes], bool]
"""Whether this datagram from one node to another vanishes."""


class Gray:
    """A cluster whose members 0 to `count` - 1, the oldest, are gray from `BEGIN_S` to `END_S`."""

    def __init__(self, nodes: int, count: int, *faults: Fault, lost: Lost | None = None) -> None:
        given = scenario(*faults, nodes=nodes, length_s=END_S, traffic=[])
        self.play = Play(given)
        cluster = self.play.cluster
        self.majority = cluster.nodes[count:]
        self.clock = cluster.clock
        self.lost_at: float | None = None
        self.longest_s = 0.0
        self.numbers = {node.socket_address: index for index, node in enumerate(cluster.nodes)}
        if lost is not None:
            for index, node in enumerate(cluster.nodes):
                cluster.network.attach(node.socket_address, self.losing(index, node.receive, lost))
        self.play.at(BEGIN_S, self.look)

    def losing(
        self, index: int, receive: Callable[[bytes, SocketAddress], None], lost: Lost
    ) -> Callable[[bytes, SocketAddress], None]:
        def receiver(data: bytes, source: SocketAddress) -> None:
            now_s = self.clock.now_ns / SECOND
            if BEGIN_S <= now_s < END_S and lost(self.numbers[source], index, data):
                return
            receive(data, source)

        return receiver

    def look(self) -> None:
        """How long the majority has been without a view that it can go on in."""
        now_s = self.clock.now_ns / SECOND
        if self.is_well():
            self.lost_at = None
        elif self.lost_at is None:
            self.lost_at = now_s
        if self.lost_at is not None:
            self.longest_s = max(self.longest_s, now_s - self.lost_at)
        if now_s < END_S - 0.1:
            self.clock.after(SECOND // 100, self.look)

    def is_well(self) -> bool:
        """Whether those of the majority that live are in one view of the living, and can go on."""
        living = [node for node in self.play.cluster.nodes if node.alive]
        core = [node for node in self.majority if node.alive]
        views = {node.view for node in core}
        if len(views) != 1 or not all(node.primary for node in core):
            return False
        (view,) = views
        return view is not None and set(view.members) <= {node.address for node in living}

    def run(self) -> float:
        """Seconds that the majority was longest without such a view."""
        self.play.run()
        return self.longest_s


def one_way(kind: str, count: int, nodes: int) -> list[Fault]:
    """Deaf: the gray hear nobody else; mute: nobody else hears them."""
    length_s = END_S - BEGIN_S
    others = range(count, nodes)
    pairs = [(gray, other) for gray in range(count) for other in others]
    ends = pairs if kind == "mute" else [(other, gray) for gray, other in pairs]
    return [fault(BEGIN_S, "one-way", *pair, for_s=length_s) for pair in ends]


@pytest.mark.parametrize("kind", ["deaf", "mute"])
@pytest.mark.parametrize(("nodes", "count"), [(3, 1), (4, 1), (5, 1), (5, 2)])
def test_a_majority_is_held_up_by_no_member_that_is_heard_in_one_direction_only(
    kind: str, nodes: int, count: int
) -> None:
    gray = Gray(nodes, count, *one_way(kind, count, nodes))
    assert gray.run() <= DETECTED_S + count * ATTEMPT_S


def from_the_gray(count: int) -> Lost:
    """What they send that is larger than a heartbeat vanishes: they live, and nobody is asked."""
    return lambda source, target, data: source < count and len(data) > LARGE_BYTES


def to_the_gray(count: int) -> Lost:
    """What they are answered vanishes, and what others begin."""
    return lambda source, target, data: target < count and len(data) > LARGE_BYTES


@pytest.mark.parametrize("lost", [from_the_gray, to_the_gray])
@pytest.mark.parametrize(("nodes", "count"), [(5, 1), (7, 2)])
def test_a_majority_is_held_up_by_no_member_that_lives_and_brings_nothing_about(
    lost: Callable[[int], Lost], nodes: int, count: int
) -> None:
    crash = fault(BEGIN_S, "crash", nodes - 1, for_s=END_S)
    gray = Gray(nodes, count, crash, lost=lost(count))
    assert gray.run() <= DETECTED_S + count * TURN_S + ATTEMPT_S
