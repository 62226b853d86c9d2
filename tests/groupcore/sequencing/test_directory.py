"""The directory's rules: groups, owners, moves, and the ends of streams."""

from __future__ import annotations

import subprocess
import sys

import pytest
from msgpack import packb

from groupcore.errors import WireError
from groupcore.sequencing.commands import (
    CancelMove,
    Command,
    CreateGroup,
    DeleteGroup,
    Drain,
    EndStream,
    EnterStrict,
    ExitStrict,
    Move,
    ObserveStrict,
    ReportLoad,
)
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_changes import (
    GroupCreated,
    GroupDeleted,
    MoveBegan,
)
from groupcore.sequencing.directory_snapshot import FORMAT
from groupcore.sequencing.names import Order
from groupcore.sequencing.placement_options import PlacementOptions
from tests.groupcore.sequencing.directories import (
    NODES,
    A,
    B,
    C,
    D,
    P,
    begin,
    create,
    directory,
    finish,
    load,
    only,
    refusal,
    strict,
    view,
)

# --- groups ---------------------------------------------------------------------------------------


def test_group_numbers_count_from_1_and_are_never_given_again() -> None:
    made = directory()
    assert [create(made), create(made)] == [1, 2]
    made.apply(DeleteGroup(2, 2), A)
    assert create(made) == 3


def test_a_new_group_is_its_creators_in_epoch_1() -> None:
    made = directory()
    change = only(made.apply(CreateGroup(9, "prices", Order.STRICT), B), GroupCreated)
    assert change == GroupCreated(1, "prices", Order.STRICT, B, B, 9, False)
    entry = made.entries[1]
    assert (entry.name, entry.order, entry.epoch, entry.floor, entry.move) == (
        "prices",
        Order.STRICT,
        1,
        0,
        0,
    )
    assert made.owner_of(1) == B
    assert made.names == {"prices": 1}


def test_a_group_of_a_name_that_exists_is_the_same_group_again() -> None:
    made = directory()
    create(made, A, name="prices")
    change = only(made.apply(CreateGroup(9, "prices", 0), B), GroupCreated)
    assert change == GroupCreated(1, "prices", Order.CAUSALLY_TOTAL, A, B, 9, True)
    assert list(made.entries) == [1]


def test_a_group_of_a_name_that_exists_in_another_order_is_refused() -> None:
    made = directory()
    create(made, name="prices")
    assert refusal(made.apply(CreateGroup(9, "prices", Order.FIFO), B)) == "bad_order"
    assert refusal(made.apply(CreateGroup(9, "other", 4), B)) == "bad_order"
    assert made.counters() == {"refused_bad_order": 2}


def test_groups_without_a_name_are_different_groups() -> None:
    made = directory()
    assert create(made) != create(made)
    assert made.names == {}


def test_a_deleted_group_is_forgotten_with_its_name() -> None:
    made = directory()
    group = create(made, name="prices")
    assert made.apply(DeleteGroup(4, group), B) == [GroupDeleted(group, B, 4)]
    assert (made.entries, made.names, made.owner_of(group)) == ({}, {}, None)
    assert refusal(made.apply(DeleteGroup(4, group), B)) == "unknown_group"


def test_a_group_that_moves_is_not_deleted() -> None:
    made = directory()
    group = create(made)
    begin(made, (group,), B)
    assert refusal(made.apply(DeleteGroup(4, group), B)) == "moving"


# --- senders, loads, drains -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        CreateGroup(1, "other", 0),
        DeleteGroup(1, 1),
        EnterStrict(1, 1, P),
        ObserveStrict(1, 1, P),
        ExitStrict(1, P),
        Move(1, (1,), B, "plan"),
        CancelMove(1, 1),
        EndStream(D, 1, A, 1),
        ReportLoad(1, ()),
        Drain(1, "a", True),
    ],
    ids=lambda command: type(command).__name__,
)
def test_whoever_is_not_in_the_view_changes_nothing(command: Command) -> None:
    made = directory()
    create(made)
    before = made.fingerprint()
    assert made.apply(command, D) == []
    assert made.fingerprint() == before
    assert made.counters() == {"sender_not_in_view": 1}


def test_a_command_of_an_unknown_kind_changes_nothing() -> None:
    made = directory()
    assert made.apply(Command(), A) == []
    assert made.counters() == {"unknown_command": 1}


def test_a_report_counts_for_groups_of_its_sender_alone() -> None:
    made = directory()
    group = create(made, A)
    load(made, B, **{f"g{group}": 1000, "g99": 1000})
    assert made.state.loads.group(group) == made.state.options.idle_us
    load(made, A, **{f"g{group}": 1000})
    assert made.state.loads.group(group) > 2_000


def test_a_node_that_drains_gets_no_new_groups() -> None:
    made = directory()
    made.apply(Drain(1, "a", True), B)
    assert {made.owner_of(create(made, A)) for _ in range(20)} == {B, C}
    made.apply(Drain(2, "a", False), B)
    assert made.owner_of(create(made, A)) == A


def test_where_all_nodes_drain_groups_are_made_all_the_same() -> None:
    made = directory(A)
    made.apply(Drain(1, "a", True), A)
    assert made.owner_of(create(made)) == A


def test_an_unknown_node_is_not_drained() -> None:
    made = directory()
    assert refusal(made.apply(Drain(1, "x", True), A)) == "unknown_node"
    assert made.apply(Drain(1, "x", False), A) == []


def test_a_node_that_is_to_drain_still_drains_after_a_restart() -> None:
    made = directory()
    made.apply(Drain(1, "c", True), A)
    made.on_view(view(2, A, B), [C])
    made.on_view(view(3, A, B, C._replace(incarnation=2)), [])
    assert refusal(made.apply(Move(1, (create(made, A),), C._replace(incarnation=2), "plan"), A))


# --- snapshots ------------------------------------------------------------------------------------


def busy_directory() -> Directory:
    """Something in each of its tables."""
    made = directory(*NODES, options=PlacementOptions(locality_percent=70))
    create(made, A, name="prices")
    strict(made, B, P, P._replace(number=8))
    strict(made, C, P)
    made.apply(EnterStrict(7, 3, P._replace(number=8)), A)
    made.apply(ObserveStrict(8, 3, P._replace(number=9)), A)
    begin(made, (1,), C)
    load(made, A, g1=500)
    made.apply(ReportLoad(100_000, ()), C)
    assert made.state.loads.heavy
    made.apply(Drain(1, "b", True), A)
    made.on_view(view(2, A, B, C), [D])
    began = only(made.apply(Move(3, (create(made, A),), C, "load"), A), MoveBegan)
    finish(made, began.move)
    assert made.state.loads.resting
    return made


def test_a_snapshot_is_exact() -> None:
    made, again = busy_directory(), Directory()
    again.restore(made.snapshot())
    for table in ("k", "options", "view", "entries", "names", "moves", "streams", "draining"):
        assert getattr(again.state, table) == getattr(made.state, table)
    for table in ("pending", "groups_given", "moves_given", "members"):
        assert getattr(again.state, table) == getattr(made.state, table)
    for table in ("busy", "delays", "heavy", "resting"):
        assert getattr(again.state.loads, table) == getattr(made.state.loads, table)
    assert again.state.overlap.entries() == made.state.overlap.entries()
    assert again.state.observers.entries() == made.state.observers.entries() != []
    assert again.snapshot() == made.snapshot()
    assert again.fingerprint() == made.fingerprint()
    commands: list[Command] = [
        CreateGroup(1, "", 0),
        EndStream(D, 9, A, 2),
        Move(4, (1,), A, "plan"),
        ReportLoad(7, ()),
    ]
    for command in commands:
        assert again.apply(command, A) == made.apply(command, A)
        assert again.fingerprint() == made.fingerprint()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x90",
        b"\xc0",
        b"\x91\x02",
        packb([FORMAT + 1, *range(13)]),
        packb([FORMAT, 1, {"idle_us": 1}, *range(11)]),
    ],
)
def test_what_is_no_snapshot_leaves_the_directory_as_it_was(data: bytes) -> None:
    made = busy_directory()
    before = made.fingerprint()
    with pytest.raises(WireError, match="bad_snapshot"):
        made.restore(data)
    assert made.fingerprint() == before


def test_a_directory_without_a_view_has_a_snapshot_too() -> None:
    again = Directory()
    again.restore(Directory().snapshot())
    assert again.view is None


def test_a_cut_snapshot_is_refused() -> None:
    data = busy_directory().snapshot()
    for length in range(0, len(data), 7):
        with pytest.raises(WireError, match="bad_snapshot"):
            Directory().restore(data[:length])


PROGRAM = """
from tests.groupcore.sequencing.test_directory import busy_directory
print(busy_directory().fingerprint())
"""


@pytest.mark.slow
def test_the_hash_seed_makes_no_difference() -> None:
    prints = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert prints == {busy_directory().fingerprint() + "\n"}
