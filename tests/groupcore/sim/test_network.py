"""The simulated network: loss, doubling, delay, cuts."""

from __future__ import annotations

from random import Random

from groupcore.sim.clock import SECOND, Clock
from groupcore.sim.network import CALM, Network, NetworkOptions, Receive, SocketAddress

A, B, C = (("10.0.0.1", 1), ("10.0.0.2", 1), ("10.0.0.3", 1))


class World:
    """Three addresses and what arrived at each."""

    def __init__(self, options: NetworkOptions = CALM) -> None:
        self.clock = Clock(Random(1))
        self.network = Network(self.clock, Random(2), options)
        self.arrived: dict[SocketAddress, list[bytes]] = {A: [], B: [], C: []}
        for address in self.arrived:
            self.network.attach(address, self.receiver(address))

    def receiver(self, address: SocketAddress) -> Receive:
        """Keep what arrives at this address."""
        return lambda data, _source: self.arrived[address].append(data)

    def run(self) -> dict[SocketAddress, list[bytes]]:
        """Let everything arrive."""
        self.clock.run_until(self.clock.now_ns + 100 * SECOND)
        return self.arrived


def test_a_unicast_arrives_at_its_target_only() -> None:
    world = World()
    world.network.send(A, B, b"x")
    assert world.run() == {A: [], B: [b"x"], C: []}


def test_a_multicast_arrives_at_all_others() -> None:
    world = World()
    world.network.send(A, None, b"x")
    assert world.run() == {A: [], B: [b"x"], C: [b"x"]}


def test_with_loopback_the_sender_hears_its_own_multicast() -> None:
    world = World(NetworkOptions(loopback=True))
    world.network.send(A, None, b"x")
    assert world.run()[A] == [b"x"]


def test_an_unknown_target_swallows_the_datagram() -> None:
    world = World()
    world.network.send(A, ("10.9.9.9", 1), b"x")
    assert world.run() == {A: [], B: [], C: []}


def test_loss_is_drawn_for_each_receiver() -> None:
    world = World(NetworkOptions(loss=0.5))
    for number in range(200):
        world.network.send(A, None, bytes([number]))
    arrived = world.run()
    assert 60 < len(arrived[B]) < 140
    assert 60 < len(arrived[C]) < 140
    assert arrived[B] != arrived[C]


def test_correlated_loss_takes_a_multicast_from_everybody() -> None:
    world = World(NetworkOptions(correlated_loss=0.5))
    for number in range(200):
        world.network.send(A, None, bytes([number]))
    arrived = world.run()
    assert sorted(arrived[B]) == sorted(arrived[C])
    assert 60 < len(arrived[B]) < 140


def test_duplicates_and_reordering_happen() -> None:
    world = World(NetworkOptions(duplicate=0.5, tail=0.1, tail_mean_ms=50))
    for number in range(100):
        world.network.send(A, B, bytes([number]))
    arrived = world.run()[B]
    assert 130 < len(arrived) < 170
    assert arrived != sorted(arrived)


def test_a_cut_holds_one_direction_until_it_is_mended_as_often_as_it_was_made() -> None:
    world = World()
    world.network.cut(A, B)
    world.network.cut(A, B)
    world.network.mend(A, B)
    world.network.send(A, B, b"lost")
    world.network.send(B, A, b"back")
    assert world.run() == {A: [b"back"], B: [], C: []}
    world.network.mend(A, B)
    world.network.send(A, B, b"x")
    assert world.run()[B] == [b"x"]


def test_healing_ends_cuts_and_loss() -> None:
    world = World(NetworkOptions(loss=1.0))
    world.network.cut(A, B)
    world.network.heal()
    world.network.send(A, B, b"x")
    assert world.run()[B] == [b"x"]
