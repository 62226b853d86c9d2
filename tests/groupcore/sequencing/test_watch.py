"""What a node keeps in mind of its work, for those who operate it."""

from __future__ import annotations

from groupcore.sequencing.asked import Asked, Piece
from groupcore.sequencing.directory_changes import MoveBegan, MoveCancelled, OwnerMoved
from groupcore.sequencing.watch import FAILOVER, MOVES_MAX, SeenMove, Watch
from groupcore.view import Address
from tests.groupcore.sequencing.world import World

A, B, C = (Address(name, 1) for name in "abc")


def moves_at(world: World, name: str) -> list[SeenMove]:
    return list(world[name].service.plane.watch.moves)


def test_a_move_is_seen_by_all_its_pause_by_the_target_and_what_waited_by_the_source() -> None:
    world = World("abc")
    group = world.create("g", at="a")
    world.move(group, "a")
    world.run()
    sender = world.open("c")
    world.send(sender, group, b"0")
    world.run()
    world.packets.clear()
    last = world["a"].service.plane.records[group].seqno
    world.move(group, "b")
    world.send(sender, group, b"1")
    world.run()
    source, target, other = (moves_at(world, name)[-1] for name in "abc")
    for seen in (source, target, other):
        assert (seen.source, seen.target, seen.reason) == (A, B, "plan")
        assert (seen.last, seen.epochs) == ((last,), (world_epoch(world, group),))
        assert seen.ended_s is not None
        assert not seen.cancelled
    assert source.stopped_s is not None
    assert (target.stopped_s, other.stopped_s) == (None, None)
    assert target.resumed_s is not None
    assert target.resumed_s >= target.began_s
    pauses = [sum(world[name].service.plane.watch.pauses_s.counts) for name in "abc"]
    assert pauses[1] >= 1
    assert pauses[2] == 0
    assert (source.resumed_s, other.resumed_s) == (None, None)
    assert not any(world[name].service.plane.watch._moving for name in "abc")
    assert [world[name].service.plane.watch.outcomes["moved"] for name in "abc"] == [0, 1, 0]


def world_epoch(world: World, group: int) -> int:
    return world["a"].service.plane.directory.entries[group].epoch


def test_what_comes_while_a_group_moves_is_counted_once() -> None:
    world = World("abc")
    group = world.create("g", at="a")
    world.move(group, "a")
    world.run()
    sender = world.open("c")
    world.send(sender, group, b"0")
    world.run()
    source = world["a"].service.sequencer
    source.suspend((group,))  # as long as the test wants
    for n in range(1, 4):
        world.send(sender, group, b"%d" % n)
        world.run(2)
    world.move(group, "b")
    world.run()
    assert moves_at(world, "a")[-1].held == 3
    assert moves_at(world, "b")[-1].held == 0
    assert world["b"].service.plane.records[group].seqno >= 4


def test_a_failover_is_seen_by_who_inherits() -> None:
    world = World("abc")
    groups = [world.create(f"g{n}", at="a") for n in range(6)]
    for group in groups:
        world.move(group, "a")
    world.run()
    world.crash("a")
    world.run()
    counts = [world[name].service.plane.watch.outcomes[FAILOVER] for name in "bc"]
    assert sum(counts) == len(groups)
    seen = [one for name in "bc" for one in moves_at(world, name) if one.reason == FAILOVER]
    assert sorted(group for one in seen for group in one.groups) == sorted(groups)
    for one in seen:
        assert (one.number, one.source) == (0, A)
        assert one.resumed_s is not None


def test_views_and_what_was_numbered_are_kept() -> None:
    world = World("ab")
    group = world.create("g", at="a")
    world.move(group, "a")
    sender = world.open("b")
    world.run()
    before = world["a"].service.plane.watch.messages
    world.send(sender, group, b"one", b"two")
    world.run()
    watch = world["a"].service.plane.watch
    assert watch.messages - before == 2
    assert watch.frames > 0
    assert watch.size_bytes >= 6
    assert [seen.view.names for seen in watch.views] == [("a", "b")]
    world.add("c")
    assert [seen.view.names for seen in watch.views] == [("a", "b"), ("a", "b", "c")]


def test_the_longest_wait_is_told_once() -> None:
    watch = Watch()
    watch.now = 5.0
    watch.stamped(1, 1, 10, 4.5, ())
    watch.stamped(2, 1, 10, 4.9, ())
    assert watch.take_waited_s() == 0.5
    assert watch.take_waited_s() == 0.0


def test_a_frame_is_timed_until_it_has_its_numbers_and_until_it_is_in_its_order() -> None:
    here, other = A, B
    watch = Watch()
    watch.begin(here)
    watch.now = 5.0
    watch.stamped(1, 2, 10, 4.5, (other, here))
    watch.stamped(2, 3, 10, 5.0, ())
    assert watch.crossed == {other: 2}
    assert (sum(watch.order_s.counts), watch.order_s.sum) == (2, 0.5)
    watch.now = 5.25
    watch.recorded(other, 2)
    assert sum(watch.deliver_s.counts) == 0
    watch.recorded(here, 1)
    watch.now = 6.0
    watch.recorded(here, 2)
    watch.recorded(here, 2)
    assert (sum(watch.deliver_s.counts), watch.deliver_s.sum) == (2, 1.25)
    watch.stamped(1, 1, 10, 6.0, ())
    watch.begin(here)  # another life: nothing of the former one comes back
    watch.recorded(here, 1)
    assert sum(watch.deliver_s.counts) == 2


def test_messages_that_rest_on_another_sequencer_are_counted() -> None:
    world = World("abc")
    first, second = world.create("f", at="a"), world.create("g", at="a")
    world.move(first, "a")
    world.move(second, "b")
    world.run()
    sender = world.open("c")
    for group in (first, second):
        world.join(sender, group)
    world.run()
    crossed = world["b"].service.plane.watch.crossed
    assert crossed == {}
    world.send(sender, first, b"one")
    world.send(sender, second, b"behind it")
    world.run()
    assert crossed == {A: 1}


def test_what_sequencers_report_is_kept_while_they_are_there() -> None:
    world = World("abc")
    group = world.create("g", at="a")
    world.move(group, "b")
    sender = world.open("a")
    world.run()
    world.now += 2.0
    world.run(5)
    world.send(sender, group, *[b"x"] * 100)
    world.run(20)
    world.now += 2.0
    world.run(5)
    watch = world["c"].service.plane.watch
    sample = watch.sample_of(group, world["b"].address)
    assert sample is not None
    assert 0 < sample.messages <= 100
    assert watch.sample_of(group, world["a"].address) is None
    world.crash("b")
    assert all(node.name != "b" for node in watch.reports)


def begun(watch: Watch, me: Address, number: int = 7) -> MoveBegan:
    watch.begin(me)
    change = MoveBegan(number, (1, 2), A, B, "drain")
    watch.began(change)
    return change


def test_a_move_that_is_called_off_ends_everywhere() -> None:
    watch = Watch()
    begun(watch, A)
    watch.stopped((1, 2))
    watch.cancelled(MoveCancelled(7, (1, 2), A))
    (move,) = watch.moves
    assert move.cancelled
    assert watch.outcomes == {"cancelled": 2}
    assert move.ended_s is not None
    watch.cancelled(MoveCancelled(7, (1, 2), A))
    watch.moved(OwnerMoved(7, (1, 2), A, B, (2, 2), (5, 6)))
    assert move.last == ()


def test_the_pause_ends_with_the_last_of_the_groups() -> None:
    watch = Watch()
    watch.begin(B)
    change = begun(watch, B)
    watch.began(change)  # told again, by the state that was taken over
    assert len(watch.moves) == 1
    watch.moved(OwnerMoved(7, (1, 2), A, B, (2, 2), (5, 6)))
    watch.now = 1.0
    watch.resumed(1, ())
    resumed = [watch.moves[0].resumed_s]
    watch.now = 2.0
    watch.resumed(2, ())
    assert [*resumed, watch.moves[0].resumed_s] == [None, 2.0]
    watch.resumed(2, ())
    assert watch.handed_on(2, []) == []


def test_what_the_former_sequencer_has_counted_is_not_counted_again() -> None:
    watch = Watch()
    watch.begin(B)
    watch.began(MoveBegan(7, (1,), A, B, "drain"))
    watch.moved(OwnerMoved(7, (1,), A, B, (2,), (5,)))
    runs = [(1, 1, [b"x"]), (1, 2, [b"y"])]
    watch.resumed(1, [stretch(runs, forwarded=True), stretch(runs[:1], forwarded=False)])
    assert watch.moves[0].held == 1


def stretch(runs: list[Piece], forwarded: bool) -> Asked:
    """What has come of a process of c."""
    return Asked(C, 1, 0, (1, 0, 0), {}, list(runs), 0.0, forwarded)


def test_who_is_neither_source_nor_target_lets_go_when_it_is_over() -> None:
    watch = Watch()
    begun(watch, C)
    watch.stopped((3,))
    watch.moved(OwnerMoved(7, (1, 2), A, B, (2, 2), (5, 6)))
    assert watch.moves[0].ended_s is not None
    assert not watch._moving


def test_only_the_last_moves_are_kept() -> None:
    watch = Watch()
    watch.begin(C)
    for number in range(1, MOVES_MAX + 10):
        watch.began(MoveBegan(number, (number,), A, B, "load"))
    assert len(watch.moves) == MOVES_MAX
    assert watch.moves[-1].number == MOVES_MAX + 9
