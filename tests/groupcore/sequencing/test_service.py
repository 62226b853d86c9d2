"""The service of several nodes, from end to end over a network in memory."""

from __future__ import annotations

import pytest

from groupcore.errors import GroupRefusedError
from groupcore.sequencing.asked import Asked
from groupcore.sequencing.names import Order, Process
from tests.groupcore.sequencing.world import World


def numbered(count: int, word: str = "") -> list[bytes]:
    return [f"{word}{n}".encode() for n in range(count)]


def test_a_group_s_messages_are_delivered_in_one_order_to_all_members() -> None:
    world = World("abc")
    group = world.create("g")
    processes = [world.open(name) for name in "abc"]
    for process in processes:
        world.join(process, group)
    for n in range(20):
        for process in processes:
            world.send(process, group, f"{process.node.name}{n}".encode())
        world.run(1)
    world.run(50)
    logs = [world.hosts[p.node].given[p, group] for p in processes]
    assert len(logs[0]) == 60
    assert logs[0] == logs[1] == logs[2]


def test_a_sender_need_not_be_a_member() -> None:
    world = World("abc")
    group = world.create("g")
    member, sender = world.open("b"), world.open("c")
    world.join(member, group)
    world.send(sender, group, b"hello")
    world.run(50)
    assert world["b"].given[member, group] == [b"hello"]
    assert not world["c"].service.sender.outstanding


@pytest.mark.parametrize("seed", range(10))
def test_loss_is_repaired(seed: int) -> None:
    world = World("abc", seed)
    group = world.create("g")
    processes = [world.open(name) for name in "abc"]
    for process in processes:
        world.join(process, group)
    world.lost = lambda _: world.random.random() < 0.3
    for process in processes:
        world.send(process, group, *numbered(10, process.node.name))
        world.run(2)
    world.run(300)
    world.lost = lambda _: False
    world.run(200)
    logs = [world.hosts[p.node].given[p, group] for p in processes]
    assert len(logs[0]) == 30
    assert logs[0] == logs[1] == logs[2]


def test_a_late_joiner_takes_the_state_and_what_follows() -> None:
    world = World("abc")
    group = world.create("g")
    first = world.open("a")
    world.join(first, group)
    world.send(first, group, *numbered(5))
    world.run(20)
    late = world.open("c")
    world.join(late, group)
    world.send(first, group, b"after")
    world.run(50)
    assert world["c"].state[group] == [*numbered(5), b"after"]
    assert world["c"].given[late, group] == [b"after"]


@pytest.mark.parametrize("seed", range(10))
def test_a_group_goes_on_at_another_sequencer(seed: int) -> None:
    world = World("abc", seed)
    group = world.create("g")
    processes = [world.open(name) for name in "abc"]
    for process in processes:
        world.join(process, group)
    for n in range(12):
        for process in processes:
            world.send(process, group, f"{process.node.name}{n}".encode())
        world.run(1)
        world.move(group, "abc"[n % 3])
    world.run(200)
    logs = [world.hosts[p.node].given[p, group] for p in processes]
    assert len(logs[0]) == 36
    assert len(set(logs[0])) == 36
    assert logs[0] == logs[1] == logs[2]


@pytest.mark.parametrize("seed", range(20))
def test_a_group_goes_on_when_its_sequencer_dies(seed: int) -> None:
    world = World("abc", seed)
    group = world.create("g")
    world.move(group, "c")
    world.run(20)
    assert world.own(group) == "c"
    processes = [world.open(name) for name in "ab"]
    for process in processes:
        world.join(process, group)
    for n in range(6):
        for process in processes:
            world.send(process, group, f"{process.node.name}{n}".encode())
        world.run(world.random.randrange(2))
    world.crash("c")
    for process in processes:
        world.send(process, group, b"last" + process.node.name.encode())
    world.run(300)
    logs = [world.hosts[p.node].given[p, group] for p in processes]
    assert len(logs[0]) == len(set(logs[0])) == 14
    assert logs[0] == logs[1]


@pytest.mark.parametrize("order", [Order.CAUSALLY_TOTAL, Order.STRICT])
def test_ct2_an_effect_is_delivered_behind_its_cause_in_another_group(order: Order) -> None:
    world = World("abc")
    cause, effect = world.create("cause", order), world.create("effect", order)
    if order is not Order.STRICT:
        world.move(cause, "a")
        world.move(effect, "b")
        world.run(50)
    asker, answerer, watcher = world.open("a"), world.open("b"), world.open("c")
    for process in (asker, answerer, watcher):
        for group in (cause, effect):
            world.join(process, group)
    # The watcher does not get frames of the cause's sequencer.
    held: list[object] = []

    def hold_back(packet: tuple[object, object, bytes]) -> bool:
        if packet[0] == world["a"].address and packet[1] == world["c"].address:
            held.append(packet)
            return True
        return False

    world.lost = hold_back
    world.send(asker, cause, b"why?")
    world.run(5)
    assert b"why?" in world["b"].given[answerer, cause]
    world.send(answerer, effect, b"because")
    world.run(5)
    assert world["c"].given[watcher, effect] == []
    world.lost = lambda _: False
    world.run(100)
    assert world["c"].log[watcher] == [(cause, b"why?"), (effect, b"because")]


def test_a_new_node_takes_over_the_records() -> None:
    world = World("ab")
    group = world.create("g")
    first = world.open("a")
    world.join(first, group)
    world.send(first, group, *numbered(5))
    world.run(20)
    world.add("c")
    world.run(50)
    late = world.open("c")
    world.join(late, group)
    world.send(late, group, b"mine")
    world.run(50)
    assert world["a"].given[first, group] == [*numbered(5), b"mine"]
    assert world["c"].state[group] == world["a"].state[group]


def test_a_process_that_writes_to_very_many_groups_at_once_is_not_stuck() -> None:
    world = World("abc")
    groups = [world.create(f"g{n}") for n in range(600)]
    sender = world.open("b")
    for group in groups:
        world.hosts[sender.node].service.send(sender, group, [b"x"], world.now)
    world.run(600)
    assert not world["b"].service.sender.outstanding
    records = world["c"].service.plane.records
    assert all(records[group].seqno == 1 for group in groups)


def test_what_waits_at_a_sequencer_goes_with_its_sender_s_node() -> None:
    world = World("abc")
    group = world.create("g")
    world.run(30)
    gone = world["c"].address
    world.crash("c")
    world.run(50)
    owner = world[world.own(group)].service
    key = owner.plane.senders.key(Process(gone, 1))
    owner.sequencer._admit_all([Asked(gone, 1, key, (1, 0, 0), {}, [(group, 1, [b"late"])], 0.0)])
    world.run(50)
    assert owner.plane.records[group].seqno == 0
    assert owner.counters()["sequencing.dropped.gone"] == 1


def test_what_a_process_has_sent_before_it_was_closed_leaves() -> None:
    world = World("abc")
    group, other = world.create("g"), world.create("other")
    watcher, sender = world.open("a"), world.open("c")
    for process in (watcher, sender):
        world.join(process, group)
    service = world["c"].service
    service.join(sender, other, world.now)
    service.send(sender, group, [b"last words"], world.now)
    service.close_process(sender, world.now)
    with pytest.raises(GroupRefusedError, match="closed"):
        service.send(sender, group, [b"too late"], world.now)
    world.run(100)
    assert world["a"].given[watcher, group] == [b"last words"]
    assert sender not in service.sender.locals
    for record in world["a"].service.plane.records.values():
        assert sender not in record.members


def test_where_a_former_sequencer_sends_requests_counts_only_until_the_directory_is_as_far() -> (
    None
):
    world = World("abc")
    group, process = world.create("g"), world.open("c")
    sender, a, b = world["c"].service.sender, world["a"].address, world["b"].address
    assert sender._port(group) == a
    sender.redirect(group, b, 1)  # late: of the epoch that the directory has
    assert sender._port(group) == a
    sender.redirect(group, b, 2)
    assert sender._port(group) == b
    world.move(group, "b")
    world.run(50)
    sender.redirect(group, a, 1)
    world.join(process, group)
    world.send(process, group, b"one")
    world.run(50)
    assert world["c"].given[process, group] == [b"one"]
    assert sender._port(group) == b
