"""The history in nodes' logs is one, behind power cuts, moves, failovers and checkpoints."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from msgpack import packb, unpackb

from groupcore.sequencing.directory import Directory
from groupcore.sequencing.names import GroupId, Order
from groupcore.sequencing.options import ServiceOptions
from groupcore.shared.rebuilding import Logged, LoggedState
from groupcore.view import Address
from server.dump import LogReader
from tests.groupcore.sequencing.durable_world import DurableWorld
from tests.groupcore.sequencing.test_durable_schedules import Schedule

Number = tuple[GroupId, int]


class History(NamedTuple):
    """What one log says: messages by group and number, and up to where states stand for them."""

    logged: dict[Number, Logged]
    compacted: dict[GroupId, int]

    def epochs(self, group: GroupId) -> list[int | None]:
        """Those of the group's numbers, in their order."""
        return [one.epoch for (of, _), one in sorted(self.logged.items()) if of == group]


def read(parts: list[bytes]) -> History:
    """Every number behind a group's state stands there once, and none is left out."""
    found = History({}, {})
    last: dict[GroupId, int] = {}
    for one in LogReader().entries(parts):
        if isinstance(one, LoggedState):
            assert one.group not in last, "a state comes before all of its group"
            last[one.group] = found.compacted[one.group] = one.position
            continue
        assert one.position == last.get(one.group, 0) + 1
        last[one.group] = one.position
        found.logged[one.group, one.position] = one
    return found


def histories(world: DurableWorld) -> list[History]:
    """Of all nodes that live and whose disks have what they have done since they came back."""
    there = [one for one in world.lives() if one.service.plane.ready and not one.disk.coming]
    return [read(list(host.disk.stored)) for host in there]


def agree(found: list[History]) -> int:
    """Of how many numbers all say something, and the same."""
    if not found:
        return 0
    common = set.intersection(*(set(one.logged) for one in found))
    settled = [key for key in common if all(one.logged[key].settled for one in found)]
    for key in settled:
        said = [one.logged[key] for one in found]
        assert said == [said[0]] * len(said)
        assert said[0].epoch is not None
    return len(settled)


class Told(Schedule):
    """Also compares what the logs say, wherever everybody is up."""

    numbers = 0

    def check(self) -> None:
        super().check()
        self.world.run(20)
        self.numbers += agree(histories(self.world))

    def run(self) -> None:
        super().run()
        agree(histories(self.world))


@pytest.mark.parametrize("seed", range(12))
def test_the_logs_of_all_nodes_tell_one_history_with_one_epoch_a_number(seed: int) -> None:
    schedule = Told(seed)
    schedule.play()
    assert schedule.numbers > 0


def test_the_epoch_of_a_number_survives_moves_failovers_and_checkpoints() -> None:
    world = DurableWorld("abc", 3, ServiceOptions(durable=True, checkpoint_bytes=2_000))
    group = world.create("notes", Order.CAUSALLY_TOTAL)
    process = world.open("c")
    world.join(process, group)
    wanted: list[int | None] = [1]
    epoch = 1
    for turn in range(6):
        for name in "ab":
            if world["c"].service.plane.owner(group).name != name:  # type: ignore[union-attr]
                world.move(group, name)
                world.run(30)
                epoch += 1
            for _ in range(10):
                world["c"].service.send(process, group, [b"%d" % turn], world.now)
                world.run(2)
            wanted += [epoch] * 10
    world.run(50)
    for found in histories(world):
        assert found.epochs(group) == wanted
    world.crash("b")
    world.run(100)
    world["c"].service.send(process, group, [b"behind"], world.now)
    world.run(50)
    for found in histories(world):
        assert found.epochs(group)[-1] == epoch + 1
    world.add("b")
    world.run(100)
    agree(histories(world))
    assert [one.epochs(group) for one in histories(world)] == [[*wanted, epoch + 1]] * 3


def test_what_was_lost_with_its_sequencer_is_no_history() -> None:
    """A frame that only the sequencer's log has, when the others go on without it."""
    world = DurableWorld("abc", 5)
    group = world.create("notes", Order.CAUSALLY_TOTAL)
    world.move(group, "a")
    process = world.open("a")
    world.join(process, group)
    world.run(50)
    world["a"].service.send(process, group, [b"lost"], world.now)
    for _ in range(3):
        world.turn()
        world.packets.clear()
    alone = read(list(world.disks["a"].stored))
    last = max(position for _, position in alone.logged)
    assert alone.logged[group, last].payload == b"lost"
    assert not alone.logged[group, last].settled
    world.crash("a")
    world.run(100)
    other = world.open("b")
    world.join(other, group)
    world["b"].service.send(other, group, [b"kept"], world.now)
    world.run(50)
    for found in (*histories(world), alone):
        own = {key for key, one in found.logged.items() if one.settled}
        assert all(found.logged[key].payload != b"lost" for key in own)
    world.add("a")
    world.run(100)
    assert agree(histories(world)) > last
    [payloads] = {tuple(one.payload for one in h.logged.values()) for h in histories(world)}
    assert b"kept" in payloads
    assert b"lost" not in payloads


def test_a_directory_of_before_tenures_is_read_and_goes_on() -> None:
    a, b = Address("a", 1), Address("b", 1)
    world = DurableWorld("ab", 1)
    group = world.create("notes", Order.CAUSALLY_TOTAL)
    world.run(20)
    value = unpackb(world["a"].service.plane.directory.snapshot(), raw=False)
    assert value.pop() == [], "nobody takes the state"
    assert value.pop() == [], "nobody has had a group before"
    value[0] = 4
    made = Directory()
    made.restore(packb(value))
    owner = made.state.entries[group].owner
    assert made.state.epoch_of(group, owner, 1) == 1
    other = b if owner.name == "a" else a
    made.state.give(group, other, 7)
    assert [made.state.epoch_of(group, one, n) for one, n in ((owner, 7), (other, 8))] == [1, 2]
    again = Directory()
    again.restore(made.snapshot())
    assert again.state.tenures == made.state.tenures
