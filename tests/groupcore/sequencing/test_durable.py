"""The log of a node, what is told to be saved, and the restart of all nodes."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from groupcore.context import encode_context
from groupcore.events import ViewInstalled
from groupcore.sequencing.commands import CreateGroup, encode_command
from groupcore.sequencing.events import Departed, Enrolled
from groupcore.sequencing.giving import PATIENCE_S
from groupcore.sequencing.headers import Accept
from groupcore.sequencing.log import Log
from groupcore.sequencing.names import GroupId, Place, Process
from groupcore.sequencing.node_packing import pack_whole
from groupcore.sequencing.node_state import node_state_covers
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.sequencing.stream import Stream
from groupcore.view import Address
from tests.groupcore.sequencing.durable_world import DurableWorld


def begin(names: str = "abc", seed: int = 0) -> tuple[DurableWorld, GroupId, list[Process]]:
    """A group with a process of each node in it."""
    world = DurableWorld(names, seed)
    group = world.create("g")
    processes = [world.open(name) for name in names]
    for process in processes:
        world.join(process, group)
    return world, group, processes


def saved(world: DurableWorld, process: Process, group: GroupId) -> int:
    """The number up to which the process was told that its messages are saved."""
    host = world.host(process.node.name)
    host.note_saved()
    return host.saved.get((process, group), 0)


def test_a_message_is_saved_when_a_quorum_has_stored_it() -> None:
    world, group, (mine, *_) = begin()
    for name in "bc":
        world.disks[name].is_stuck = True
    world.send(mine, group, b"one")
    world.run(40)
    assert world["b"].state[group] == [b"one"], "delivery waits for no disk"
    assert saved(world, mine, group) == 0
    world.disks["c"].is_stuck = False
    world.run(40)
    assert saved(world, mine, group) == 1


def test_that_it_is_saved_is_told_of_what_a_process_has_sent_before_it_was_closed() -> None:
    world, group, (mine, *_) = begin()
    service = world.hosts[mine.node].service
    number = service.send(mine, group, [b"one"], world.now)
    service.close_process(mine, world.now)
    world.run(40)
    assert saved(world, mine, group) == number == 1


def test_nothing_is_told_to_be_saved_of_a_group_that_is_deleted() -> None:
    world, group, (mine, *_) = begin()
    for name in "bc":
        world.disks[name].is_stuck = True
    world.send(mine, group, b"one")
    world.run(40)
    world["b"].service.delete(group, world.now)
    world.run(5)
    assert group not in world["a"].service.plane.records
    for name in "bc":
        world.disks[name].is_stuck = False
    world.run(40)
    assert saved(world, mine, group) == 0
    assert not world["a"].service.plane.unsaved


def test_of_what_was_told_to_be_saved_nothing_is_kept_once_all_is() -> None:
    world, group, (mine, *_) = begin()
    for _ in range(3):
        world.send(mine, group, b"one")
        world.run(40)
    assert saved(world, mine, group) == 3
    assert not world["a"].service.saving._told


def test_what_is_saved_is_there_after_a_power_cut() -> None:
    world, group, (mine, *_) = begin()
    world.send(mine, group, b"one", b"two")
    world.run(40)
    assert saved(world, mine, group) == 2
    world.power_cut()
    world.restart("abc")
    world.run(60)
    assert world.create("g") == group
    late = world.open("b")
    world.join(late, group)
    assert world["b"].state[group] == [b"one", b"two"]
    world.send(late, group, b"three")
    world.run(40)
    assert world["b"].state[group] == [b"one", b"two", b"three"]
    assert saved(world, late, group) == 1


def test_old_processes_leave_their_groups_after_a_restart() -> None:
    world, group, _ = begin()
    world.power_cut()
    world.restart("abc")
    world.run(60)
    for host in world.hosts.values():
        assert not host.service.plane.records[group].members


def test_who_enters_behind_a_loss_of_everybody_finds_nobody_there() -> None:  # I4 of enrolment
    world, group, _ = begin()
    world.power_cut()
    world.restart("abc")
    late = world.open("b")
    world.hosts[late.node].service.join(late, group, world.now)
    world.run(60)
    told = [one for one in world["b"].events if isinstance(one, Enrolled | Departed)]
    left = [one.seqno for one in told if isinstance(one, Departed)]
    [entered] = [one.seqno for one in told if isinstance(one, Enrolled) and one.process == late]
    assert len(left) == 3
    assert max(left) < entered


def test_a_group_moves_only_when_what_it_has_is_saved() -> None:
    world, group, (mine, *_) = begin()
    assert world.own(group) == "a"
    for name in "bc":
        world.disks[name].is_stuck = True
    world.send(mine, group, b"one")
    world.move(group, "b")
    world.run(60)
    assert world.own(group) == "a", "a quorum has not stored its last message"
    world.disks["b"].is_stuck = False
    world.run(60)
    assert world.own(group) == "b"


def test_a_new_sequencer_begins_only_when_its_office_is_saved() -> None:
    world, group, (mine, *_) = begin()
    world.move(group, "b")
    for name in "bc":
        world.disks[name].is_stuck = True
    world.run(60)
    world.send(mine, group, b"one")
    world.run(60)
    assert b"one" not in world["a"].state.get(group, [])
    for name in "bc":
        world.disks[name].is_stuck = False
    world.run(60)
    assert world["a"].state[group] == [b"one"]


def test_a_group_without_members_is_kept() -> None:
    world, group, processes = begin()
    world.send(processes[0], group, b"one", b"two")
    world.run(40)
    for process in processes:
        world.hosts[process.node].service.leave(process, group, world.now)
    world.run(60)
    assert group not in world["c"].state
    world.join(world.open("c"), group)
    assert world["c"].state[group] == [b"one", b"two"]


def test_frames_of_a_group_that_the_log_does_not_know_are_dropped() -> None:
    world, group, (mine, *_) = begin()
    world.send(mine, group, b"one")
    own = world["a"].service.plane.own
    (frame,) = own.kept(own.received, own.received)
    assert world.view is not None
    for knows in (False, True):
        # As if the frame had been stored, and the power had gone before the command was.
        log = Log(world["c"].address)
        log.view(ViewInstalled(world.view, recovered=True), (1, 0))
        if knows:
            log.command(own.address, encode_command(CreateGroup(1, "g", 0)), (1, 1))
        stream = Stream(own.address)
        stream.start(0)
        stream.append(frame[1])
        log.frames(stream)
        parts = [part.data for part in log.take(())]
        restored = Service(Address("c", 9), world.options, Random(0), parts)
        assert restored.plane.stream(own.address).received == int(knows)


def test_who_keeps_a_frame_keeps_what_it_rests_on() -> None:
    # else nobody else could ever have it, and a view whose cut holds it would never begin
    world, known, (mine, *_) = begin()
    unknown = world.create("h")
    own = world["a"].service.plane.own
    batches = []
    for group in (known, unknown):
        world.send(mine, group, b"one")
        ((_, batch),) = own.kept(own.received, own.received)
        batches.append(batch)
    assert world.view is not None
    on_known, on_unknown = batches
    header = on_known.headers[-1]
    assert isinstance(header, Accept)
    resting = replace(header, rests=encode_context({own.address: 1}))
    log = Log(world["c"].address)
    log.view(ViewInstalled(world.view, recovered=True), (1, 0))
    log.command(own.address, encode_command(CreateGroup(1, "g", 0)), (1, 1))
    other = world["b"].address
    frames = {own.address: on_unknown, other: on_known.without_header().with_header(resting)}
    for address, batch in frames.items():
        stream = Stream(address)
        stream.start(0)
        stream.append(batch)
        log.frames(stream)
    parts = [part.data for part in log.take(())]
    restored = Service(Address("c", 9), world.options, Random(0), parts)
    assert restored.plane.stream(own.address).received == 0, "its group is not known"
    assert restored.plane.stream(other).received == 0, "nor is that had any more"


def test_the_log_is_dropped_once_all_have_stored_what_its_checkpoint_contains() -> None:
    options = ServiceOptions(durable=True, archive_bytes=64, checkpoint_bytes=4_000)
    world = DurableWorld("abc", options=options)
    group = world.create("g")
    mine = world.open("a")
    world.join(mine, group)
    world.disks["c"].is_stuck = True
    for number in range(300):
        world.send(mine, group, b"%d" % number)
        world.run(1)
    world.run(20)
    size = sum(map(len, world.disks["a"].stored))
    assert size > 30_000, "c has not stored what would be dropped"
    world.disks["c"].is_stuck = False
    for number in range(300, 400):
        world.send(mine, group, b"%d" % number)
        world.run(1)
    world.run(40)
    assert sum(map(len, world.disks["a"].stored)) < size / 2
    assert saved(world, mine, group) == 400
    world.power_cut()
    assert world.restart("bc")
    world.run(60)
    world.join(world.open("b"), group)
    assert world["b"].state[group] == [b"%d" % number for number in range(400)]


def test_what_is_put_into_the_log_again_makes_no_other_checkpoint_due() -> None:
    log = Log(Address("a", 1))
    log.checkpoint(b"state", again_bytes=50_000)
    log.size_bytes += 50_000
    assert not log.is_large(4_000)
    log.size_bytes += 60_000
    assert log.is_large(4_000)


def test_a_state_from_before_the_own_frames_is_not_taken() -> None:
    """What was said to be here would have to be dropped, for the hole before it."""
    gone = Address("b", 1)
    giver = Service(Address("a", 1), ServiceOptions(durable=True), Random(0)).plane
    giver.stream(gone).start(3)
    state = pack_whole(giver, Place(1, 0))
    mine = Service(Address("c", 1), ServiceOptions(durable=True), Random(0)).plane
    mine.stream(gone).start(3)
    assert node_state_covers(mine, state)
    later = Service(Address("c", 2), ServiceOptions(durable=True), Random(0)).plane
    later.stream(gone).start(4)
    assert not node_state_covers(later, state)
    giver.gone.add(gone)
    del giver.streams[gone]
    assert node_state_covers(later, pack_whole(giver, Place(1, 0))), "it is over, and all in it"


def test_a_node_that_looks_for_others_need_not_be_woken() -> None:
    service = Service(Address("a", 1), ServiceOptions(durable=True), Random(0))
    service.end_turn(1.0)
    service.stored(service.take().log[-1].mark, 1.0)
    service.end_turn(1.0)
    assert service.next_wake() is None


def test_a_new_node_gets_a_state_when_the_others_have_stored_what_is_in_it() -> None:
    world, group, (mine, *_) = begin("ab")
    world.disks["b"].is_stuck = True
    world.add("c")
    world.send(mine, group, b"b has this, and not on its disk")
    world.run(40)
    assert not world["c"].service.plane.ready
    world.disks["b"].is_stuck = False
    world.run(40)
    assert world["c"].service.plane.ready


def test_a_disk_that_stores_nothing_keeps_no_new_node_out() -> None:
    world, group, (mine, *_) = begin("ab")
    world.disks["b"].is_stuck = True
    world.add("c")
    world.send(mine, group, b"b has this, and not on its disk")
    world.run(40)
    world.now += PATIENCE_S
    world.run(100)
    assert world["c"].service.plane.ready
