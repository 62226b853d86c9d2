"""Chains: messages of one process to groups of several sequencers get their places in order."""

from __future__ import annotations

from functools import partial

import pytest

from groupcore.context import decode_context
from groupcore.sequencing import sender as sender_module
from groupcore.sequencing.chains import Chains
from groupcore.sequencing.headers import Accept, Send
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.view import Address
from groupcore.wire import decode_packet, unpack_packets
from tests.groupcore.sequencing.world import Packet, World

A, B = Address("a", 1), Address("b", 1)


def placed(world: World, owners: str) -> list[GroupId]:
    """A group for each letter, sequenced at that node."""
    groups = [world.create(f"g{at}") for at in range(len(owners))]
    for group, owner in zip(groups, owners, strict=True):
        if world.own(group) != owner:
            world.move(group, owner)
    world.run(60)
    assert [world.own(group) for group in groups] == list(owners)
    return groups


def is_send(packet: Packet) -> bool:
    """Whether it is a request to number messages."""
    (raw,) = unpack_packets(b"\x91" + packet[2])
    return isinstance(decode_packet(raw, packet[0], None).headers[-1], Send)


def to_others(source: Address, but: Address, packet: Packet) -> bool:
    """Whether a packet of this source is for another one."""
    return packet[0] == source and packet[1] != but


def rests_on_what_is_here(world: World) -> bool:
    """Stream I4 at every node: what the frames rest on that it has received is here."""
    for host in world.hosts.values():
        streams = host.service.plane.streams
        for stream in streams.values():
            for _, batch in stream.kept(1, stream.received):
                header = batch.headers[-1]
                context = decode_context(header.rests) if isinstance(header, Accept) else {}
                named = [(streams[a], n) for a, n in context.items() if a in streams]
                if any(max(one.received, one.recorded) < n for one, n in named):
                    return False
    return True


def watcher_of(world: World, at: str, groups: list[GroupId]) -> Process:
    process = world.open(at)
    for group in groups:
        world.join(process, group)
    return process


def test_the_latest_place_of_a_chain_is_known_and_the_context_there() -> None:
    chains = Chains()
    chains.note_held(1, 3, (A, 7, {B: 2}))
    chains.note_held(1, 2, (B, 9, {}))  # streams are recorded in no order between them
    assert chains.reached(1) == 3
    numbers = {A: 4, B: 5}
    chains.add_place(1, numbers)
    assert numbers == {A: 7, B: 5}
    assert chains.reached(2) == 0
    beyond = {A: 9}
    chains.add_place(1, beyond)
    assert beyond == {A: 9, B: 2}


def test_a_frame_does_not_wait_for_itself_though_a_chain_s_latest_place_is_in_it() -> None:
    chains = Chains()
    chains.note_received(1, 3, (A, 7, {B: 2}))
    numbers = {A: 4}
    chains.add_place(1, numbers, but=(A, 7))
    assert numbers == {A: 4, B: 2}
    chains.add_place(1, numbers, but=(A, 8))
    assert numbers == {A: 7, B: 2}


def test_i1_others_are_told_of_places_that_are_held_only() -> None:
    chains = Chains()
    chains.note_held(1, 3, (A, 7, {}))
    chains.note_received(1, 4, (A, 8, {}))
    assert chains.reached(1) == 4
    assert chains.snapshot() == [(1, 3, (A, 7, {}))]
    chains.note_held(1, 4, (A, 8, {}))
    assert chains.snapshot() == [(1, 4, (A, 8, {}))]


@pytest.mark.parametrize("seed", range(10))
def test_a_process_that_writes_by_turns_to_two_sequencers_is_delivered_in_its_order(
    seed: int,
) -> None:
    world = World("abc", seed)
    groups = placed(world, "ab")
    watchers = [watcher_of(world, name, groups) for name in "abc"]
    sender = world.open("c")
    service = world["c"].service
    for n in range(40):
        service.send(sender, groups[n % 2], [b"%d" % n], world.now)
    world.run(200)
    expected = [(groups[n % 2], b"%d" % n) for n in range(40)]
    for watcher in watchers:
        assert world.hosts[watcher.node].log[watcher] == expected


@pytest.mark.parametrize("seed", range(10))
def test_two_processes_that_write_the_other_way_round_do_not_stop_each_other(seed: int) -> None:
    world = World("abc", seed)
    groups = placed(world, "ab")
    one, other = watcher_of(world, "b", groups), watcher_of(world, "c", groups)
    for n in range(30):
        for process, at in ((one, n % 2), (other, 1 - n % 2)):
            world.hosts[process.node].service.send(process, groups[at], [b"x"], world.now)
        world.turn()
        world.run(world.random.randrange(2))
    world.run(300)
    for process in (one, other):
        assert len(world.hosts[process.node].log[process]) == 60


def test_what_is_lost_on_its_way_to_a_sequencer_is_asked_for_at_once() -> None:
    world = World("abc")
    (group, other) = placed(world, "ab")
    watcher, sender = watcher_of(world, "a", [group]), world.open("c")
    a = world["a"].address
    world.lost = lambda packet: packet[1] == a and is_send(packet)
    world.send(sender, group, b"lost")
    world.run(1)
    world.lost = lambda _: False
    before = world.now
    world.send(sender, other, b"elsewhere")
    world.send(sender, group, b"next")
    while len(world["a"].given[watcher, group]) < 2:
        world.run(1)
    assert world["a"].given[watcher, group] == [b"lost", b"next"]
    assert world.now < before + world.options.resend_s
    assert world["a"].service.counters()["sequencing.out_of_sequence"] >= 1


def test_i2_what_is_behind_a_message_for_a_deleted_group_goes_on() -> None:
    world = World("abc")
    doomed, group = placed(world, "ab")
    watcher, sender = watcher_of(world, "a", [group]), world.open("c")
    a = world["a"].address
    world.lost = lambda packet: packet[1] == a and is_send(packet)
    world.send(sender, doomed, b"never")
    world.send(sender, group, b"behind it")
    world.run(5)
    assert world["a"].given[watcher, group] == []
    world["a"].service.delete(doomed, world.now)
    world.turn()
    world.lost = lambda _: False
    world.run(100)
    assert world["a"].given[watcher, group] == [b"behind it"]
    assert not world["c"].service.sender.outstanding
    assert not world["c"].service.sender._outstanding_bytes


def test_a_message_does_not_wait_for_those_of_another_process_of_its_node() -> None:
    world = World("abc")
    slow, group = placed(world, "ab")
    watcher = watcher_of(world, "b", [group])
    one, other = world.open("c"), world.open("c")
    a = world["a"].address
    world.lost = lambda packet: packet[1] == a and is_send(packet)
    service = world["c"].service
    service.send(one, slow, [b"on its way"], world.now)
    service.send(one, group, [b"behind it"], world.now)
    service.send(other, group, [b"a stranger's"], world.now)
    world.turn()
    world.run(10)
    assert world["b"].given[watcher, group] == [b"a stranger's"]
    world.lost = lambda _: False
    world.run(100)
    assert world["b"].given[watcher, group] == [b"a stranger's", b"behind it"]


def test_a_new_node_goes_on_behind_what_it_has_taken_over() -> None:
    world = World("ab")
    groups = placed(world, "ab")
    sender = world.open("a")
    for n in range(6):
        world.send(sender, groups[n % 2], b"%d" % n)
    world.run(60)
    world.add("c")
    world.run(60)
    key = world["c"].service.plane.senders.key(sender)
    assert world["c"].service.plane.chains.reached(key) == 6
    world.move(groups[0], "c")
    world.run(60)
    watcher = watcher_of(world, "b", groups)
    for n in range(6):
        world.send(sender, groups[n % 2], b"%d" % n)
    world.run(100)
    assert world["b"].log[watcher] == [(groups[n % 2], b"%d" % n) for n in range(6)]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("order", [Order.CAUSALLY_TOTAL, Order.FIFO])
def test_a_chain_goes_on_when_a_sequencer_of_it_dies(seed: int, order: Order) -> None:
    world = World("abcd", seed)
    groups = [world.create(f"g{at}", order) for at in range(3)]
    for group, owner in zip(groups, "bcd", strict=True):
        world.move(group, owner)
    world.run(60)
    watcher, sender = watcher_of(world, "a", groups), world.open("a")
    for n in range(30):
        world.send(sender, groups[n % 3], b"%d" % n)
        world.run(world.random.randrange(2))
    world.crash("c")
    for n in range(30, 45):
        world.send(sender, groups[n % 3], b"%d" % n)
    world.run(400)
    log = world["a"].log[watcher]
    assert sorted(int(message) for _, message in log) == list(range(45))
    if order is Order.CAUSALLY_TOTAL:
        assert [int(message) for _, message in log] == list(range(45))


def test_a_frame_is_received_only_with_what_it_rests_on() -> None:
    """Stream I4: a sequencer need not wait until the place that it goes on behind is held."""
    world = World("abcd")
    first, second = placed(world, "ab")
    sender = world.open("d")
    a, b, c = (world[name].address for name in "abc")
    service = world["d"].service
    service.send(sender, first, [b"cause"], world.now)
    service.send(sender, second, [b"effect"], world.now)
    world.lost = lambda packet: packet[0] == a and packet[1] == c
    before = world["c"].service.plane.streams[b].received
    world.turn()
    for _ in range(4):
        world.run(1)
    streams = world["c"].service.plane.streams
    assert streams[b].taken == before + 1
    assert streams[b].received == before
    assert streams[a].missing is not None
    world.lost = lambda _: False
    world.run(60)
    assert streams[b].received == before + 1


def test_a_place_that_is_not_held_goes_with_what_rests_on_it() -> None:
    """Two sequencers die before a quorum has what they said: nothing of it stays, or all."""
    for seed in range(20):
        world = World("abcde", seed)
        first, second = placed(world, "ab")
        watcher = watcher_of(world, "c", [first, second])
        sender = world.open("d")
        service = world["d"].service
        service.send(sender, first, [b"cause"], world.now)
        service.send(sender, second, [b"effect"], world.now)
        a, b = world["a"].address, world["b"].address
        world.lost = partial(to_others, a, b)
        world.turn()
        for _ in range(world.random.randrange(2, 6)):
            world.run(1)
            assert rests_on_what_is_here(world)
        world.crash("a", "b")
        world.lost = lambda _: False
        world.run(400)
        assert world["c"].log[watcher] == [(first, b"cause"), (second, b"effect")]


def test_a_request_that_names_what_nobody_has_is_refused_in_the_end() -> None:
    world = World("abc")
    (group,) = placed(world, "a")
    watcher, sender = watcher_of(world, "b", [group]), world.open("c")
    c, a = world["c"], world["a"]
    c.service.sender.locals[sender].past[a.address] = 10**6
    world.send(sender, group, b"nonsense")
    world.run(100)
    assert world["b"].given[watcher, group] == []
    assert a.service.counters()["sequencing.dropped.context_ahead"] >= 1
    world.send(watcher, group, b"sense")
    world.run(50)
    assert world["b"].given[watcher, group] == [b"sense"]


@pytest.mark.parametrize("seed", range(5))
def test_what_waits_where_a_group_migrates_from_goes_on_at_once(seed: int) -> None:
    world = World("abc", seed)
    (group,) = placed(world, "b")
    watcher = watcher_of(world, "c", [group])
    sender = world.open("a")
    source = world["b"].service.sequencer
    world.send(sender, group, b"0")
    world.run(2)
    source.suspend((group,))
    for n in range(1, 6):
        world.send(sender, group, b"%d" % n)
        world.run(1)
    began = world.now
    world.move(group, "c")
    while world.own(group) != "c" or len(world["c"].log[watcher]) < 6:
        assert world.now - began < world.options.resend_s, "it waits until it is sent again"
        world.run(1)
    assert world["c"].log[watcher] == [(group, b"%d" % n) for n in range(6)]


def test_what_is_sent_by_turns_leaves_in_one_section_for_each_sequencer_behind_the_first() -> None:
    world = World("abc")
    groups = placed(world, "ab")
    watcher, sender = watcher_of(world, "a", groups), world.open("c")
    world.run()
    world.packets.clear()
    for at in range(20):
        world["c"].service.send(sender, groups[at % 2], [b"%d" % at], world.now)
    world.turn()
    sent = [packet for packet in world.packets if is_send(packet)]
    assert sorted(packet[1].name for packet in sent) == ["a", "a", "b"]
    world.run()
    assert [int(payload) for _, payload in world["a"].log[watcher]] == list(range(20))


def test_what_waits_because_much_is_under_way_goes_on_in_portions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sender_module, "AHEAD_MAX", 8)
    monkeypatch.setattr(sender_module, "PORTION", 4)
    world = World("abc")
    groups = placed(world, "ab")
    watcher, process = watcher_of(world, "a", groups), world.open("c")
    for at in range(30):
        world["c"].service.send(process, groups[at % 2], [b"%d" % at], world.now)
    sender = world["c"].service.sender
    portions: list[int] = []
    while sender.locals[process].outbox:
        before = len(sender.locals[process].outbox)
        world.run(1)
        gone = before - len(sender.locals[process].outbox)
        portions += [gone] if gone else []
    assert portions[0] == 8
    assert min(portions[1:-1]) >= 4
    world.run()
    assert [int(payload) for _, payload in world["a"].log[watcher]] == list(range(30))
    assert not sender.outstanding
