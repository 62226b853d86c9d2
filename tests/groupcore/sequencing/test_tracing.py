"""The recorder: what it writes is what nodes have done, and no more than its rules say."""

from __future__ import annotations

from zlib import crc32

import pytest

from groupcore.sequencing import tracing
from groupcore.sequencing.headers import Digest
from groupcore.sequencing.names import Order
from groupcore.sequencing.trace_keeping import ROWS_AT_ONCE
from groupcore.sequencing.trace_lines import gather, rows_of
from tests.groupcore.sequencing.test_schedules import Schedule
from tests.groupcore.sequencing.trace_audit import by_kind, violations
from tests.groupcore.sequencing.tracing_world import Row, Traced


class TracedSchedule(Schedule):
    """A random run whose nodes write the trace."""

    def make_world(self, names: str, seed: int) -> Traced:
        """A world that is traced."""
        return Traced(names, seed)


def schedule_rows(seed: int) -> list[Row]:
    """All that is written in a run."""
    schedule = TracedSchedule(seed)
    schedule.run()
    assert isinstance(schedule.world, Traced)
    return schedule.world.take()


@pytest.mark.parametrize("seed", range(12))
def test_the_rules_of_the_trace_hold_whatever_happens(seed: int) -> None:
    rows = schedule_rows(seed)
    assert sum(row["kind"] == "delivery" and row["what"] == 0 for row in rows) > 5
    assert violations(rows) == []


def strict_world() -> tuple[Traced, int]:
    """Two nodes, one group, a member at each."""
    world = Traced("ab")
    group = world.create("g", Order.STRICT)
    for at in "ab":
        world.join(world.open(at), group)
    world.run(50)
    return world, group


def test_a_message_has_one_accept_and_a_delivery_at_each_node() -> None:
    world, group = strict_world()
    sender = world.open("b")
    world.take()
    world.send(sender, group, b"one", b"three")
    world.run(50)
    kinds = by_kind(world.take())
    (accept,) = kinds["accept"]
    assert (accept["node"], accept["gid"], accept["epoch"]) == ("a#1", group, 1)
    assert (accept["sender"], accept["first"], accept["count"]) == (f"b#1/{sender.number}", 1, 2)
    assert (accept["bytes"], accept["crc"]) == (8, crc32(b"onethree"))
    assert {row["node"] for row in kinds["delivery"]} == {"a#1", "b#1"}
    for row in kinds["delivery"]:
        assert (row["sequencer"], row["lseq"]) == ("a#1", accept["lseq"])
        for name in ("seq", "count", "sender", "first", "crc"):
            assert row[name] == accept[name]
    (frame,) = kinds["frame"]
    assert (frame["runs"], frame["messages"]) == (1, 2)


@pytest.mark.parametrize("at", "ab")
def test_a_sender_s_node_says_how_long_ago_it_has_sent(at: str) -> None:
    """Node a sequences: what b sends goes there and comes back."""
    world, group = strict_world()
    sender = world.open(at)
    world.take()
    sent_us = int(world.now * 1e6)
    world.send(sender, group, b"there and back")
    world.run(50)
    rows = {row["node"]: row for row in by_kind(world.take())["delivery"]}
    own, other = rows.pop(f"{at}#1"), rows.popitem()[1]
    assert own["round_us"] == own["t"] - sent_us
    assert other["round_us"] is None


def test_what_never_comes_back_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "UNDER_WAY_MAX", 3)
    world = Traced("ab")
    group = world.create("g")
    world.join(world.open("a"), group)
    sender = world.open("b")
    for number in range(9):  # b does not deliver the group
        world.send(sender, group, b"%d" % number)
        world.run(5)
    recorder = world["b"].service.plane.trace
    assert recorder is not None
    assert len(recorder._under_way) == 3
    assert all(row["round_us"] is None for row in by_kind(world.take())["delivery"])


def test_who_is_given_what_is_said_by_delivery_numbers() -> None:
    world, group = strict_world()
    process = world.open("b")
    world.join(process, group)
    world.send(process, group, b"given")
    world.run(50)
    world["b"].service.leave(process, group, world.now)
    world.send(world.open("a"), group, b"not given")
    world.run(50)
    rows = world.take()
    name = f"b#1/{process.number}"
    kinds = by_kind(rows)
    ops = [row["op"] for row in kinds["membership"] if row["process"] == name]
    assert sorted(ops) == ["in", "join", "leave", "out"]
    marks = {row["op"]: row["dno"] for row in kinds["membership"] if row["process"] == name}
    content = [row for row in kinds["delivery"] if row["node"] == "b#1" and row["what"] == 0]
    given = [row["seq"] for row in content if marks["in"] < row["dno"] <= marks["out"]]
    assert [row["seq"] for row in content][: len(given)] == given
    assert len(content) == len(given) + 1


def test_a_move_is_written_by_who_does_each_step() -> None:
    world, group = strict_world()
    world.take()
    world.move(group, "b")
    world.run(50)
    world.send(world.open("a"), group, b"at b")
    world.run(50)
    kinds = by_kind(world.take())
    steps = {row["phase"]: row for row in kinds["migration"]}
    assert list(steps) == ["began", "stopped", "moved", "resumed"]
    assert [steps[one]["node"] for one in steps] == ["a#1", "a#1", "b#1", "b#1"]
    assert {(row["cause"], row["source"], row["target"]) for row in steps.values()} == {
        ("plan", "a#1", "b#1")
    }
    assert (steps["began"]["epoch"], steps["moved"]["epoch"]) == (1, 2)
    last = steps["stopped"]["seq"]
    assert steps["moved"]["seq"] == steps["resumed"]["seq"] == last
    (accept,) = kinds["accept"]
    assert (accept["node"], accept["epoch"], accept["seq"]) == ("b#1", 2, last + 1)
    owners = [(row["node"], row["op"], row["epoch"], row["cause"]) for row in kinds["group"]]
    assert sorted(owners) == [("a#1", "disowned", 1, "moved"), ("b#1", "owned", 2, "moved")]


def test_rows_that_are_gathered_are_the_same_rows_by_kind_and_node_so_many_at_a_time() -> None:
    world, group = strict_world()
    world.send(world.open("b"), group, b"one")
    world.run(50)
    rows = world.take()
    gathered = list(gather(rows, rows_max=2))
    assert {one.rows for one in gathered} == {1, 2}
    for kind, node in {(row["kind"], row["node"]) for row in rows}:
        mine = [one for one in gathered if (one.kind, one.node) == (kind, node)]
        again = [row for one in mine for row in rows_of(one)]
        assert again == [row for row in rows if (row["kind"], row["node"]) == (kind, node)]


def test_a_move_that_is_off_is_written_by_its_source_alone() -> None:
    world = Traced("abc")
    group = world.create("g")
    world.join(world.open("b"), group)
    world.run(50)
    world.lose(Digest)  # what was numbered last is not known to be held: the move goes on
    world.send(world.open("a"), group, b"x")
    world.move(group, "c")
    world.take()
    world.lose_nothing()
    world.lost = lambda packet: packet[1].name == "a"
    world.crash("c")
    rows = [row for row in world.take() if row["kind"] == "migration"]
    assert [(row["node"], row["phase"], row["gid"]) for row in rows] == [
        ("a#1", "cancelled", group)
    ]


def test_a_deletion_is_written_by_who_has_sequenced_the_group() -> None:
    world, group = strict_world()
    last = world["a"].service.plane.records[group].seqno
    world.take()
    world["b"].service.delete(group, world.now)
    world.run(50)
    rows = [row for row in world.take() if row["kind"] == "group"]
    said = [(row["node"], row["op"], row["gid"], row["seq"], row["cause"]) for row in rows]
    assert said == [("a#1", "deleted", group, last, "deleted")]


def test_a_failover_says_whose_the_groups_were() -> None:
    world, group = strict_world()
    world.take()
    world.crash("a")
    world.run(200)
    kinds = by_kind(world.take())
    steps = [(row["phase"], row["cause"], row["source"]) for row in kinds["migration"]]
    assert steps == [("inherited", "failover", "a#1"), ("resumed", "failover", "a#1")]
    (view,) = [row for row in kinds["view"] if row["node"] == "b#1"]
    assert (view["members"], view["number"], view["previous"]) == (["b#1"], 2, 1)
    assert [row["gid"] for row in kinds["group"] if row["op"] == "owned"] == [group]


def test_a_node_that_took_over_a_state_writes_the_epochs_of_that() -> None:
    world, group = strict_world()
    world.move(group, "b")
    world.run(50)
    world.add("c")
    world.run(100)
    world.take()
    world.move(group, "c")
    world.run(50)
    world.send(world.open("a"), group, b"at c")
    world.run(50)
    kinds = by_kind(world.take())
    assert [(row["node"], row["epoch"]) for row in kinds["accept"]] == [("c#1", 3)]
    owned = [(row["node"], row["epoch"]) for row in kinds["group"] if row["op"] == "owned"]
    assert owned == [("c#1", 3)]


def test_sampled_deliveries_keep_their_numbers() -> None:
    world = Traced("ab", every=2)
    groups = [world.create(name) for name in ("g", "h")]
    process = world.open("b")
    for group in groups:
        world.join(process, group)
        world.send(process, group, b"hello")
    world.run(50)
    kinds = by_kind(world.take())
    assert {row["gid"] for row in kinds["accept"]} == set(groups)
    assert {row["gid"] % 2 for row in kinds["delivery"]} == {0}
    dnos = [row["dno"] for row in kinds["delivery"] if row["node"] == "b#1"]
    assert max(dnos) > len(dnos)


def test_a_request_that_waits_for_the_window_is_said_to_have_waited() -> None:
    world, group = strict_world()
    world.take()
    process = world.open("b")
    world["a"].service.plane.frozen = {}
    world.send(process, group, b"waits")
    world.run(20)
    waited = world.now
    world["a"].service.plane.frozen = None
    world.run(50)
    (frame,) = [row for row in by_kind(world.take())["frame"] if row["runs"]]
    assert 0 < frame["queue_us"] <= (waited - 100.0) * 1e6 + 1e6


def test_the_recorder_s_driver_is_told_when_much_has_gathered() -> None:
    world, group = strict_world()
    told: list[bool] = []
    world.recorders[world["b"].address]._on_full = lambda: told.append(True)
    process, other = world.open("b"), world.create("other")
    service = world["b"].service
    for _ in range(ROWS_AT_ONCE // 250):
        for _ in range(250):
            service.send(process, group, [b"x"], world.now)
            service.send(process, other, [b"y"], world.now)
        assert not told
        world.run(30)
    assert told


def test_times_are_those_of_a_finer_clock_where_there_is_one() -> None:
    """Runtimes' loops keep their time to milliseconds, and many rounds take less than one."""
    world, group = strict_world()
    sender = world.open("b")
    world.take()
    ticks = iter(range(1_000_000, 2_000_000, 7))
    recorder = world.recorders[world["b"].address]
    recorder._clock_us = lambda: next(ticks)
    world.send(sender, group, b"x")
    world.run(50)
    (row,) = [one for one in by_kind(world.take())["delivery"] if one["node"] == "b#1"]
    assert row["t"] in range(1_000_000, 2_000_000, 7)
    assert 0 < row["round_us"] <= row["t"] - 1_000_000
    assert row["round_us"] % 7 == 0


def test_what_a_sequencer_has_done_is_summed_up_once_a_second() -> None:
    world, group = strict_world()
    process = world.open("b")
    world.now += 2.0
    world.run(5)
    world.take()
    world.send(process, group, b"one", b"three")
    world.send(process, group, b"two")
    world.run(20)
    world.now += 2.0
    world.run(5)
    rows = {row["node"]: row for row in by_kind(world.take())["seq_load"]}
    assert (rows["a#1"]["messages"], rows["a#1"]["groups"]) == (3, 1)
    assert rows["a#1"]["seconds"] >= 1.0
    assert rows["a#1"]["deliveries"] >= 2
    assert rows["a#1"]["cpu_us"] is None


def test_nothing_is_written_where_nobody_asks() -> None:
    world = Traced("a")
    assert world["a"].service.plane.trace is not None
    world["a"].service.plane.trace = None
    group = world.create("g")
    world.take()
    world.join(world.open("a"), group)
    world.send(world.open("a"), group, b"unseen")
    world.run(20)
    assert world.take() == []
