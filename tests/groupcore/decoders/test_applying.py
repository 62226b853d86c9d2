"""What decodes is applied: it works or is refused, the same at all replicas.

As `test_decoding` for what a decoded value does: to a directory, to the order of a cluster with
logs, to the data plane of live nodes, to every class of shared objects.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from groupcore.errors import WireError
from groupcore.sequencing import directory_snapshot
from groupcore.sequencing.commands import Command, decode_command, encode_command
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.headers import Accept, Change
from groupcore.sequencing.names import Process
from groupcore.shared.machine import Entry, Machine
from groupcore.shared.messages import unpack
from groupcore.wire import decode_packet, unpack_packets
from tests.groupcore.decoders import recorded, samples
from tests.groupcore.decoders.mutating import Mutator
from tests.groupcore.decoders.samples import OBJECTS
from tests.groupcore.decoders.test_decoding import MUTATIONS, SEED

KEPT = 0.3
"""Share of what is said as it should be: what is wrong meets a state that changes."""
BATCH = 50
"""Commands, or messages, behind which replicas are compared and read again from their states."""


def near_commands() -> list[bytes]:
    """Commands about what the recorded cluster has, and one of each kind about nothing in it."""
    directory = recorded.host().service.plane.directory
    members = sorted(directory.state.members)
    found = samples.command_bytes()
    for group in list(directory.entries)[:5]:
        for command in samples.commands():
            values: dict[str, object] = {}
            if hasattr(command, "group"):
                values["group"] = group
            if hasattr(command, "groups"):
                values["groups"] = (group,)
            if hasattr(command, "target"):
                values["target"] = members[group % len(members)]
            if hasattr(command, "process"):
                values["process"] = Process(members[0], 1 + group % 3)
            if values:
                found.append(encode_command(_replaced(command, values)))
    return found


def _replaced(command: Command, values: dict[str, object]) -> Command:
    changed: Command = replace(command, **values)  # type: ignore[type-var]
    return changed


def restored(snapshot: bytes) -> Directory:
    directory = Directory()
    directory.restore(snapshot)
    return directory


def test_what_decodes_as_a_command_changes_all_directories_alike_and_can_be_packed() -> None:
    """Members of the view say it, and one that is not; one copy is read again and again."""
    first = recorded.host().service.plane.directory.snapshot()
    one, two = restored(first), restored(first)
    random = Random(f"{SEED} directory")
    mutator = Mutator(random, near_commands(), KEPT)
    speakers = [*sorted(one.state.members), samples.C]
    applied = 0
    for at in range(MUTATIONS * 2):
        try:
            command = decode_command(mutator.next())
        except WireError:
            continue
        by = random.choice(speakers)
        assert one.apply(command, by) == two.apply(command, by)
        applied += 1
        if at % BATCH == 0:
            snapshot = one.snapshot()
            assert snapshot == two.snapshot()
            assert directory_snapshot.pack(directory_snapshot.unpack(snapshot)) == snapshot
            two = restored(snapshot)
        if len(one.entries) > 200:
            one, two = restored(first), restored(first)
    assert applied > MUTATIONS / 4


def test_whatever_is_ordered_all_nodes_have_one_directory_now_and_after_a_restart() -> None:
    random = Random(f"{SEED} order")
    mutator = Mutator(random, near_commands(), KEPT)
    for _ in range(max(MUTATIONS // 400, 1)):
        world, _, _ = recorded.busy_world()
        for _ in range(4):
            by = random.choice("abc")
            world[by].service.plane.commands += [b"\xc1" + mutator.next()[1:] for _ in range(30)]
            world.run(3)
            assert len({host.service.plane.directory.fingerprint() for host in world.lives()}) == 1
        world.run(10)
        assert "set_aside.fault" not in world["a"].service.plane.counters
        world.power_cut()
        assert world.restart("abc")
        after = {host.service.plane.counters["set_aside.fault"] for host in world.lives()}
        assert after == {0}
        assert len({host.service.plane.directory.fingerprint() for host in world.lives()}) == 1


def test_no_packet_of_a_member_makes_another_one_raise() -> None:
    """Near what is sent, and one with each header, as the member `c` with the key says it."""
    random = Random(f"{SEED} packets")
    mutator = Mutator(random, [*samples.packets(), *recorded.packets()])
    for _ in range(max(MUTATIONS // 100, 2)):
        world, _, _ = recorded.busy_world()
        insider = world["c"].address
        for _ in range(60):
            data = mutator.next()
            try:
                unpack_packets(b"\x91" + data)
                decode_packet(unpack_packets(b"\x91" + data)[0], insider, None)
            except (WireError, ValueError):
                continue
            world.packets += [(insider, world[to].address, data) for to in "ab"]
            if random.random() < 0.2:
                world.run(2)
        world.run(20)
        world.power_cut()
        assert world.restart("abc")
        world.run(20)


def test_a_frame_that_cannot_be_read_is_set_aside_by_all_and_the_stream_goes_on() -> None:
    random = Random(f"{SEED} frames")
    mutator = Mutator(random, recorded.frames(), KEPT)
    for _ in range(max(MUTATIONS // 100, 2)):
        world, _, _ = recorded.busy_world()
        insider = world["c"].service.plane
        for _ in range(20):
            try:
                batch = decode_packet(unpack_packets(b"\x91" + mutator.next())[0], insider.me, None)
            except (WireError, ValueError):
                continue
            header = batch.headers[-1]
            if not isinstance(header, Accept | Change) or not harmless(header, insider):
                continue
            header.frame = insider.own.received + 1
            header.view = insider.view_number
            insider.own.append(batch)
            insider.sends.append(batch)
            world.run(2)
        world.run(40)
        counts = {
            name: {host.service.plane.counters[name] for host in world.lives()}
            for host in world.lives()
            for name in host.service.plane.counters
            if name.startswith("bad_frame")
        }
        assert all(len(said) == 1 for said in counts.values()), counts
        seqnos = [
            {group: record.seqno for group, record in host.service.plane.records.items()}
            for host in world.lives()
        ]
        assert seqnos[0] == seqnos[1] == seqnos[2]
        world.power_cut()
        assert world.restart("abc")
        world.run(20)


def harmless(header: Accept | Change, plane: object) -> bool:
    """Whether it names nothing that never comes: to wait for that is no error of bytes."""
    if isinstance(header, Change):
        return header.group <= 5
    header.context = header.rests = b""
    header.place = type(header.place)(0, 0)
    groups = [
        int.from_bytes(header.groups[at : at + 8], "little")
        for at in range(0, len(header.groups), 8)
    ]
    return max(groups, default=0) <= 5


@pytest.mark.parametrize("name", OBJECTS)
def test_whatever_is_sent_to_an_object_all_replicas_do_the_same_or_nothing(name: str) -> None:
    random = Random(f"{SEED} {name}")
    mutator = Mutator(random, samples.operations(name), KEPT)
    one, two = (Machine(OBJECTS[name](), 7) for _ in range(2))
    processes = [Process(samples.A, 1), Process(samples.B, 1)]
    for process in processes:
        for machine in (one, two):
            machine.apply(Entry(machine.position + 1, process, 0, None, True))
    done = 0
    for at in range(MUTATIONS):
        payload = (
            mutator.next() if at >= len(samples.operations(name)) else samples.operations(name)[at]
        )
        entry = Entry(one.position + 1, random.choice(processes), at + 1, payload)
        before = one.packed() if at % 10 == 0 else b""
        said, other = one.apply(entry), two.apply(entry)
        assert repr(said.error) == repr(other.error)
        if said.error is not None and before and said.verdict is None:
            assert contents(one.packed()) == contents(before)
        done += said.error is None
        if at % BATCH == 0:
            packed = one.packed()
            assert packed == two.packed()
            two = Machine(OBJECTS[name](), 7)
            two.load(packed)
            assert two.packed() == packed
    assert done


def contents(packed: bytes) -> object:
    """The fields of an object's state, without its place in the order."""
    match unpack(packed):
        case [_, _, fields]:
            return fields
    raise AssertionError("the state of an object has three parts")
