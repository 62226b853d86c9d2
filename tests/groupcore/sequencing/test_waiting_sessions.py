"""Who waits for what: a session for nothing of groups that it is not in (design, 4.6; CT2)."""

from __future__ import annotations

from groupcore.sequencing.headers import StatePiece
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.wire import decode_packet, unpack_packets
from tests.groupcore.sequencing.world import Packet, World


def is_of_a_state(packet: Packet) -> bool:
    source, _, data = packet
    (raw,) = unpack_packets(b"\x91" + data)
    return isinstance(decode_packet(raw, source, None).headers[-1], StatePiece)


class Scene:
    """Groups whose messages node c does not get from a, and others that b sequences.

    `cause` is sequenced by a, all others by b. `teller` at b is in all of them: what it sends
    comes behind what it was given.
    """

    def __init__(self, *others: str, order: Order = Order.CAUSALLY_TOTAL) -> None:
        self.world = World("abc")
        self.groups = {"cause": self.create("cause", "a", order)}
        self.groups |= {name: self.create(name, "b", order) for name in others}
        self.asker = self.member("a", "cause")
        self.teller = self.member("b", "cause", *others)

    def create(self, name: str, owner: str, order: Order) -> GroupId:
        group = self.world.create(name, order)
        self.world.move(group, owner)
        self.world.run(20)
        assert self.world.own(group) == owner
        return group

    def member(self, node: str, *names: str) -> Process:
        process = self.world.open(node)
        for name in names:
            self.world.join(process, self.groups[name])
        return process

    def send(self, process: Process, name: str, payload: bytes) -> None:
        self.world.send(process, self.groups[name], payload)
        self.world.run(20)

    def keep_the_cause_back(self, others: bool = True) -> None:
        """c gets nothing of a's stream from a, nor from `others`; the teller knows the question."""
        self.world.run(100)
        a, c = self.world["a"].address, self.world["c"].address

        def of_a(packet: Packet) -> bool:
            source, target, data = packet
            return target == c and (source == a or (others and b"why?" in data))

        self.world.lost = of_a
        self.send(self.asker, "cause", b"why?")
        assert b"why?" in self.given("b", self.teller, "cause")

    def given(self, node: str, process: Process, name: str) -> list[bytes]:
        return self.world[node].given[process, self.groups[name]]


def test_a_session_waits_for_no_delivery_in_a_group_that_it_is_not_in() -> None:
    """The other session's group waits for its state here, for as long as that takes."""
    scene = Scene("effect")
    session = scene.member("c", "effect")
    world, c = scene.world, scene.world["c"].address
    scene.send(scene.asker, "cause", b"said")
    other = world.open("c")
    world.lost = lambda packet: packet[1] == c and is_of_a_state(packet)
    world["c"].service.join(other, scene.groups["cause"], world.now)
    world.run(50)
    hold = world["c"].service.plane.records[scene.groups["cause"]].hold
    assert hold is not None
    assert hold.waiting_for_state
    scene.send(scene.asker, "cause", b"why?")
    scene.send(scene.teller, "effect", b"because")
    assert scene.given("c", session, "effect") == [b"because"]
    assert scene.given("c", other, "cause") == []


def test_a_frame_that_is_named_comes_from_whoever_has_it_whatever_groups_it_is_of() -> None:
    """Which groups it is of is known when it is here: its arrival is waited for, as a repair."""
    scene = Scene("effect")
    session = scene.member("c", "effect")
    scene.keep_the_cause_back(others=False)
    scene.send(scene.teller, "effect", b"because")
    scene.world.run(20)
    assert scene.given("c", session, "effect") == [b"because"]


def test_a_session_in_both_groups_waits_for_the_cause_and_gets_both_in_order() -> None:
    scene = Scene("effect")
    session = scene.member("c", "cause", "effect")
    scene.keep_the_cause_back()
    scene.send(scene.teller, "effect", b"because")
    assert scene.given("c", session, "effect") == []
    scene.world.lost = lambda _: False
    scene.world.run(100)
    words = [payload for _, payload in scene.world["c"].log[session]]
    assert words == [b"why?", b"because"]


def test_what_waits_holds_no_group_back_that_has_nobody_in_common_with_it() -> None:
    scene = Scene("effect", "apart")
    stranger = scene.member("b", "apart")
    scene.member("c", "cause", "effect")  # makes the effect wait here
    apart = scene.member("c", "apart")
    scene.keep_the_cause_back()
    scene.send(scene.teller, "effect", b"because")
    scene.send(stranger, "apart", b"elsewhere")
    assert scene.given("c", apart, "apart") == [b"elsewhere"]


def test_what_waits_holds_back_what_names_it_in_a_group_that_a_session_shares() -> None:
    scene = Scene("effect", "next")
    scene.member("c", "cause", "effect")  # makes the effect wait here
    both = scene.member("c", "effect", "next")
    scene.keep_the_cause_back()
    scene.send(scene.teller, "effect", b"because")
    scene.send(scene.teller, "next", b"therefore")
    assert scene.given("c", both, "next") == []
    scene.world.lost = lambda _: False
    scene.world.run(100)
    words = [payload for _, payload in scene.world["c"].log[both]]
    assert words == [b"because", b"therefore"]


def test_what_waits_holds_nothing_back_that_does_not_name_it() -> None:
    scene = Scene("effect", "next")
    stranger = scene.member("b", "next")
    scene.member("c", "cause", "effect")  # makes the effect wait here
    both = scene.member("c", "effect", "next")
    scene.keep_the_cause_back()
    scene.send(scene.teller, "effect", b"because")
    scene.send(stranger, "next", b"by the way")  # it was given nothing of all that
    assert scene.given("c", both, "next") == [b"by the way"]
    assert scene.given("c", both, "effect") == []


def test_the_same_group_is_held_back_behind_what_waits() -> None:
    scene = Scene("effect")
    stranger = scene.member("b", "effect")
    session = scene.member("c", "cause", "effect")
    scene.keep_the_cause_back()
    scene.send(scene.teller, "effect", b"because")
    scene.send(stranger, "effect", b"later")
    assert scene.given("c", session, "effect") == []
    scene.world.lost = lambda _: False
    scene.world.run(100)
    assert scene.given("c", session, "effect") == [b"because", b"later"]


def test_a_fifo_group_waits_for_no_other() -> None:
    scene = Scene("effect", order=Order.FIFO)
    session = scene.member("c", "cause", "effect")
    scene.keep_the_cause_back()
    scene.send(scene.teller, "effect", b"because")
    assert scene.given("c", session, "effect") == [b"because"]
    assert scene.given("c", session, "cause") == []
