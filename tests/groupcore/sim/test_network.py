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
    world.network.impede(A, B, "stop")
    world.network.impede(A, B, "stop")
    world.network.relieve(A, B, "stop")
    world.network.send(A, B, b"lost")
    world.network.send(B, A, b"back")
    assert world.run() == {A: [b"back"], B: [], C: []}
    world.network.relieve(A, B, "stop")
    world.network.send(A, B, b"x")
    assert world.run()[B] == [b"x"]


def test_healing_ends_cuts_and_loss() -> None:
    world = World(NetworkOptions(loss=1.0))
    world.network.impede(A, B, "stop")
    world.network.heal()
    world.network.send(A, B, b"x")
    assert world.run()[B] == [b"x"]


def test_a_jam_holds_datagrams_and_lets_all_of_them_through_when_it_ends() -> None:
    world = World()
    world.network.impede(A, B, "jam")
    world.network.send(A, B, b"x")
    world.network.send(A, B, b"y")
    assert world.run()[B] == []
    world.network.relieve(A, B, "jam")
    assert sorted(world.run()[B]) == [b"x", b"y"]


def test_a_slow_direction_delivers_later_and_the_other_one_does_not() -> None:
    world = World()
    world.network.impede(A, B, "slow", SECOND)
    world.network.send(A, B, b"slow")
    world.network.send(B, A, b"fast")
    world.clock.run_until(SECOND // 2)
    assert world.arrived == {A: [b"fast"], B: [], C: []}
    assert world.run()[B] == [b"slow"]


def test_a_narrow_direction_delivers_at_its_rate_and_drops_what_its_queue_cannot_hold() -> None:
    world = World()
    world.network.impede(A, B, "narrow", 1_000)
    for _ in range(3):
        world.network.send(A, B, bytes(1_000))
    world.clock.run_until(SECOND * 5 // 2)
    assert len(world.arrived[B]) == 2
    for _ in range(200):
        world.network.send(A, B, bytes(1_000))
    assert len(world.run()[B]) < 100
    assert world.network.happened["queue-full"] > 100


def test_a_filtered_receiver_gets_unicasts_but_no_multicasts() -> None:
    world = World()
    world.network.filter(A, B, True)
    world.network.send(A, None, b"all")
    world.network.send(A, B, b"one")
    assert world.run() == {A: [], B: [b"one"], C: [b"all"]}
    world.network.send(B, None, b"back")
    assert world.run()[A] == [b"back"]
    world.network.filter(A, B, False)
    world.network.send(A, None, b"all")
    assert len(world.run()[B]) == 2


def test_a_black_hole_swallows_what_is_larger_until_it_ends() -> None:
    world = World()
    world.network.black_hole(10, True)
    world.network.send(A, B, bytes(11))
    world.network.send(A, B, bytes(10))
    assert world.run()[B] == [bytes(10)]
    world.network.black_hole(10, False)
    world.network.send(A, B, bytes(11))
    assert world.run()[B][-1] == bytes(11)


def test_of_two_storms_the_worse_one_counts_and_one_remains_when_the_other_ends() -> None:
    world = World(NetworkOptions(loss=0.1))
    world.network.storm(0.9, True)
    world.network.storm(0.5, True)
    assert world.network.options.loss == 0.9
    world.network.storm(0.9, False)
    assert world.network.options.loss == 0.5
    world.network.storm(0.5, False)
    assert world.network.options.loss == 0.1


def test_corruption_turns_bits_and_truncation_shortens() -> None:
    world = World(NetworkOptions(corrupt=1.0))
    world.network.send(A, B, bytes(20))
    (spoiled,) = world.run()[B]
    assert len(spoiled) == 20
    assert spoiled != bytes(20)
    world = World(NetworkOptions(truncate=1.0))
    world.network.send(A, B, bytes(20))
    (short,) = world.run()[B]
    assert len(short) < 20


def test_a_large_datagram_is_lost_with_any_of_its_pieces() -> None:
    world = World(NetworkOptions(loss=0.2, piece_bytes=10))
    for _ in range(100):
        world.network.send(A, B, bytes(100))
        world.network.send(A, C, bytes(10))
    arrived = world.run()
    assert len(arrived[B]) < 30
    assert len(arrived[C]) > 60


def test_uneven_links_have_losses_of_their_own_that_do_not_change() -> None:
    losses = []
    for _ in range(2):
        world = World(NetworkOptions(loss=0.5, uneven=7))
        for _ in range(200):
            world.network.send(A, None, b"x")
        arrived = world.run()
        losses.append((len(arrived[B]), len(arrived[C])))
    assert losses[0] == losses[1]
    assert abs(losses[0][0] - losses[0][1]) > 20


def test_healing_some_leaves_the_others_cut() -> None:
    world = World()
    for pair in ((A, B), (A, C)):
        world.network.impede(*pair, "stop")
    world.network.heal({A, B})
    assert not world.network.is_cut(A, B)
    assert world.network.is_cut(A, C)
