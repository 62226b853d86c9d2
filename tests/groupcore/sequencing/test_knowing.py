"""Frames of groups that no log of the next view knows: they end with the view that has lost those.

a is away and not forgotten: frames of b's stream reach its next life, which has only its log. They
are of a group of which a's log does not know, and that those who form the next view have lost.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from groupcore.batch import Batch
from groupcore.context import encode_context
from groupcore.events import ViewInstalled
from groupcore.sequencing.commands import CreateGroup, encode_command
from groupcore.sequencing.headers import Accept, Change
from groupcore.sequencing.log import Log
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.service import Service
from groupcore.view import Address
from tests.groupcore.sequencing.durable_world import DurableHost, DurableWorld

B = Address("b", 1)


class Away(DurableWorld):
    """A cluster in which the life of a that was away votes, with all that it was given."""

    away: DurableHost | None = None

    def host_from_disk(self, name: str) -> DurableHost:
        if name == "a" and self.away is not None:
            return self.away
        return super().host_from_disk(name)

    def leave_a(self) -> None:
        """a crashes, and its next life hears from here on what b says to all."""
        self.crash("a")
        self.run(40)
        self.incarnation += 1
        self.away = super().host_from_disk("a")

    def _send(self, source: Address, batches: list[Batch]) -> None:
        super()._send(source, batches)
        if self.away is not None and source == B:
            for batch in batches:
                if isinstance(batch.headers[-1], Accept | Change):
                    self.away.service.receive(batch, self.now)


def lost_behind_frames() -> tuple[Away, GroupId, GroupId, Process]:
    """c and d have lost that there is a group h of b; a has its frames, and no log knows it."""
    world = Away("abcd")
    group = world.create("g", at="b")
    process = world.open("b")
    world.join(process, group)
    world.send(process, group, b"one")
    world.run(40)
    world.leave_a()
    for name in "cd":
        world.disks[name].is_stuck = True
    lost = world.create("h", at="b")
    assert world.own(lost) == "b"
    world.join(process, lost)
    world.send(process, lost, b"old")
    world.run(20)
    world.power_cut()
    world.disks.pop("b")
    assert world.restart("acd")
    world.run(200)
    return world, group, lost, process


def test_a_view_from_disk_has_no_frame_in_its_cut_of_a_group_that_no_log_knows() -> None:
    world, group, _, _ = lost_behind_frames()
    plane = world["c"].service.plane
    stream = plane.streams.get(B)
    assert stream is None or stream.recorded == stream.end, "it stands still for ever"
    for name in "acd":
        world.join(world.open(name), group)
        assert world[name].state[group] == [b"one"]


def test_a_frame_of_a_group_that_was_lost_is_never_one_of_another_with_its_number() -> None:
    world, _, lost, process = lost_behind_frames()
    other = world.create("other", at="c")
    assert other == lost, "the number is given again"
    world.run(100)
    for name in "cd":
        record = world[name].service.plane.records[other]
        assert process not in record.members
        assert record.seqno == 0
    mine = world.open("c")
    world.join(mine, other)
    world.send(mine, other, b"new")
    world.run(40)
    assert world["c"].state[other] == [b"new"]


def test_what_is_given_behind_the_log_and_is_known_to_it_counts() -> None:
    world = Away("abcd")
    group = world.create("g", at="b")
    process = world.open("b")
    world.join(process, group)
    world.run(40)
    world.leave_a()
    world.send(process, group, b"one")
    world.run(20)
    assert world.away is not None
    assert world.away.service.stored_streams()[B] == world["b"].service.plane.own.received


def test_who_lives_says_as_well_what_its_order_knows_of_what_it_has() -> None:
    """A command may reach who created a group, and its frames another node, before that has it."""
    world = DurableWorld("abc")
    service = world["c"].service
    known, unknown = world.create("g"), GroupId(9)
    mine, own = world.open("a"), world["a"].service.plane.own
    world.send(mine, known, b"one")
    world.run(40)
    position, upto = service.plane.place[1], own.received
    assert service.plane.stream(own.address).received == upto
    assert service.known_streams(position) == {}, "it was not stopped"
    assert world.view is not None
    number = world.view.number
    late = Change(upto + 1, number, unknown, 1, mine.node, mine.number, 1, 0)
    service.receive(Batch(own.address, None, (late,)), world.now)
    assert service.stop_acknowledging(world.view.number)[own.address] == upto + 1
    assert service.known_streams(position) == {own.address: upto}
    assert service.known_streams(position + 1) == {}, "more of the order comes in this turn"


def test_what_rests_on_a_frame_of_an_unknown_group_counts_no_more_than_that() -> None:
    world = DurableWorld("abc")
    known, unknown = world.create("g"), world.create("h")
    mine, own = world.open("a"), world["a"].service.plane.own
    batches = []
    for group in (known, unknown):
        world.send(mine, group, b"one")
        ((_, batch),) = own.kept(own.received, own.received)
        batches.append(batch)
    on_known, on_unknown = batches
    header, late = on_known.headers[-1], on_unknown.headers[-1]
    assert isinstance(header, Accept)
    assert isinstance(late, Accept)
    assert world.view is not None
    log = Log(world["c"].address)
    log.view(ViewInstalled(world.view, recovered=True), (1, 0))
    log.command(own.address, encode_command(CreateGroup(1, "g", 0)), (1, 1))
    life = Service(Address("c", 9), world.options, Random(0), [one.data for one in log.take(())])
    resting = replace(header, frame=1, rests=encode_context({own.address: 1}))
    for sender, batch, one in ((own.address, on_unknown, late), (B, on_known, resting)):
        frame = Batch(sender, None, (replace(one, frame=1),), batch.body, batch.count)
        life.receive(frame, world.now)
    assert life.plane.stream(B).received == 1, "it has both"
    said = life.stored_streams()
    assert (said[own.address], said[B]) == (0, 0)
