"""The directory's rules of moves, and of nodes that are gone: what becomes of their groups."""

from __future__ import annotations

from groupcore.sequencing.commands import (
    CancelMove,
    Drain,
    EndStream,
    EnterStrict,
    Move,
    Moved,
)
from groupcore.sequencing.directory_changes import (
    MoveBegan,
    MoveCancelled,
    OwnerMoved,
    StreamEnded,
)
from tests.groupcore.sequencing.directories import (
    NODES,
    A,
    B,
    C,
    D,
    P,
    Q,
    begin,
    create,
    directory,
    end,
    finish,
    load,
    only,
    refusal,
    strict,
    view,
)

# --- moves ----------------------------------------------------------------------------------------


def test_a_group_that_moves_stays_its_sources_until_moved() -> None:
    made = directory()
    groups = (create(made), create(made))
    change = only(made.apply(Move(5, groups, B, "plan"), C), MoveBegan)
    assert change == MoveBegan(1, groups, A, B, "plan")
    assert [made.owner_of(group) for group in groups] == [A, A]
    assert made.moves[1].requested == (C, 5)
    moved = only(made.apply(Moved(1, groups, (10, 20)), A), OwnerMoved)
    assert moved == OwnerMoved(1, groups, A, B, (2, 2), (10, 20))
    assert [made.owner_of(group) for group in groups] == [B, B]
    assert [made.entries[group].floor for group in groups] == [10, 20]
    assert not made.moves
    assert not any(entry.move for entry in made.entries.values())


def test_groups_of_several_owners_move_in_one_move_for_each_source() -> None:
    made = directory()
    one, two, there = create(made, A), create(made, B), create(made, C)
    changes = made.apply(Move(5, (there, two, one), C, "plan"), A)
    assert changes == [MoveBegan(1, (one,), A, C, "plan"), MoveBegan(2, (two,), B, C, "plan")]


def test_moved_counts_from_nobody_but_the_source() -> None:
    made = directory()
    group = create(made)
    move = begin(made, (group,), B)
    before = made.fingerprint()
    for command, by in [
        (Moved(move, (group,), (1,)), B),
        (Moved(move, (group, 9), (1, 1)), A),
        (Moved(move, (group,), (1, 1)), A),
        (Moved(move + 1, (group,), (1,)), A),
    ]:
        assert made.apply(command, by) == []
    assert made.fingerprint() == before
    assert made.counters() == {"moved_by_another": 1, "bad_moved": 2, "unknown_move": 1}


def test_moved_never_goes_back_behind_the_former_epochs_end() -> None:
    made = directory()
    group = create(made)
    finish(made, begin(made, (group,), B), last=10)
    assert finish(made, begin(made, (group,), C), last=9) == []
    assert made.owner_of(group) == B
    assert finish(made, 2, last=10) != []


def test_a_move_is_refused_with_what_stands_against_it() -> None:
    made = directory()
    group, moving, there = create(made), create(made), create(made, B)
    begin(made, (moving,), B)
    made.apply(Drain(1, "c", True), A)
    expected = {
        Move(1, (), B, "plan"): "unknown_group",
        Move(1, (group, 99), B, "plan"): "unknown_group",
        Move(1, (group,), D, "plan"): "unknown_node",
        Move(1, (group, moving), B, "plan"): "moving",
        Move(1, (there,), B, "plan"): "already_there",
        Move(1, (group,), C, "plan"): "draining",
    }
    before = made.fingerprint()
    assert {command: refusal(made.apply(command, A)) for command in expected} == expected
    assert made.fingerprint() == before


def test_a_group_whose_owner_is_gone_does_not_move_before_its_stream_has_ended() -> None:
    made = directory()
    group = create(made, C)
    made.on_view(view(2, A, B), [C])
    assert refusal(made.apply(Move(1, (group,), B, "plan"), A)) == "moving"


def test_anybody_may_call_a_move_off_before_moved() -> None:
    made = directory()
    group = create(made)
    move = begin(made, (group,), B)
    assert made.apply(CancelMove(6, move), C) == [MoveCancelled(move, (group,), A, asked=True)]
    assert (made.owner_of(group), made.entries[group].epoch) == (A, 1)
    assert refusal(made.apply(CancelMove(6, move), C)) == "unknown_move"
    assert made.apply(Moved(move, (group,), (3,)), A) == []


# --- views and the ends of streams ----------------------------------------------------------------


def test_a_move_is_off_when_its_target_is_gone() -> None:
    made = directory()
    group = create(made)
    move = begin(made, (group,), B)
    assert made.on_view(view(2, A, C), [B]) == [MoveCancelled(move, (group,), A)]
    assert made.owner_of(group) == A


def test_a_move_whose_source_is_gone_stays_open_until_the_stream_has_ended() -> None:
    made = directory(*NODES)
    groups = tuple(create(made) for _ in range(10))
    move = begin(made, groups, B)
    assert made.on_view(view(2, B, C, D), [A]) == []
    assert list(made.moves) == [move]
    assert made.owner_of(groups[0]) == A
    cancelled, ended = end(made, A, holder=C)
    assert cancelled == MoveCancelled(move, groups, A)
    # the move's target is preferred
    assert ended == StreamEnded(A, 50, C, groups, (B,) * 10, (2,) * 10)


def test_a_move_of_which_both_ends_are_gone_ends_with_the_sources_stream() -> None:
    made = directory()
    group = create(made)
    begin(made, (group,), B)
    assert made.on_view(view(2, C, D), [A, B]) == []
    assert only(end(made, B, holder=C), StreamEnded).groups == ()
    ended = end(made, A, holder=C)[1]
    assert isinstance(ended, StreamEnded)
    assert ended.owners[0] in (C, D)


def test_what_a_gone_node_owned_stays_its_own_until_its_stream_has_ended() -> None:
    made = directory()
    group, other = create(made, C), create(made, A)
    assert made.on_view(view(2, A, B), [C]) == []
    assert made.owner_of(group) == C
    assert made.ending_streams() == [C]
    ended = only(end(made, C, holder=B), StreamEnded)
    assert (ended.stream, ended.frame, ended.holder, ended.groups) == (C, 50, B, (group,))
    assert made.owner_of(group) == ended.owners[0]
    assert made.entries[group].epoch == ended.epochs[0] == 2
    assert made.entries[other].epoch == 1
    assert made.ending_streams() == []


def test_the_first_end_of_a_stream_counts_and_no_other() -> None:
    made = directory()
    create(made, C)
    made.on_view(view(2, A, B), [C])
    assert end(made, C, holder=A) != []
    before = made.fingerprint()
    assert made.apply(EndStream(C, 70, B, 2), B) == []
    assert made.fingerprint() == before
    assert made.counters() == {"stream_not_open": 1}


def test_a_stream_without_groups_ends_as_well() -> None:
    made = directory()
    made.on_view(view(2, A, B), [C])
    assert end(made, C, holder=A) == [StreamEnded(C, 50, A, (), (), ())]


def test_the_end_of_a_stream_needs_a_gone_node_and_a_live_holder() -> None:
    made = directory()
    made.on_view(view(2, A, B), [C])
    assert end(made, A, holder=B) == []
    assert end(made, D, holder=B) == []
    assert end(made, C, holder=C, by=A) == []
    assert made.apply(EndStream(C, 50, A, 3), A) == []
    assert made.counters() == {
        "stream_of_a_member": 1,
        "stream_not_open": 1,
        "bad_stream_end": 2,
    }


def test_a_late_end_of_a_stream_counts_in_a_later_view() -> None:
    made = directory()
    made.on_view(view(2, A, B), [C])
    made.on_view(view(3, A, B, D), [])
    assert only(made.apply(EndStream(C, 50, A, 2), A), StreamEnded).stream == C


def test_streams_end_with_a_view_where_its_cut_says_in_one_order_everywhere() -> None:
    made, other = directory(D, C, B, A), directory(D, C, B, A)
    for one in (made, other):
        for owner in NODES:
            create(one, owner)
    other.restore(other.snapshot())
    for one in (made, other):
        one.on_view(view(2, A, B), [C, D])
        ended = [change for change in one.end_streams({C: 7}, A) if isinstance(change, StreamEnded)]
        assert [(change.stream, change.frame, change.holder) for change in ended] == [
            (C, 7, A),
            (D, 0, A),
        ]
        assert one.ending_streams() == []
        assert one.apply(EndStream(C, 9, B, 1), A) == []
        assert one.end_streams({C: 7}, A) == []
    assert made.fingerprint() == other.fingerprint()


def test_successors_share_the_groups_and_depend_on_the_directory_alone() -> None:
    made, again = directory(*NODES), directory(*NODES)
    for one in (made, again):
        for _ in range(400):
            create(one, D)
        one.on_view(view(2, A, B, C), [D])
    owned = sum(1 for entry in made.entries.values() if entry.owner == D)
    ended = only(end(made, D, holder=A), StreamEnded)
    assert [ended] == end(again, D, holder=A)
    shares = [ended.owners.count(node) for node in (A, B, C)]
    assert sum(shares) == owned
    assert min(shares) > owned // 5


def test_successors_are_weighed_by_load() -> None:
    for heavy in range(1, 11):
        made = directory()
        groups = [create(made, C) for _ in range(10)]
        load(made, C, **{f"g{g}": 100_000 if g == heavy else 20_000 for g in groups})
        made.on_view(view(2, A, B), [C])
        ended = only(end(made, C, holder=A), StreamEnded)
        owners = dict(zip(ended.groups, ended.owners, strict=True))
        beside = [group for group in groups if owners[group] == owners[heavy]]
        assert len(beside) <= 4  # 160,000 messages of 280,000: within the bound


def test_a_group_that_fits_nowhere_goes_to_the_idlest() -> None:
    made = directory()
    load(made, A, **{f"g{create(made, A)}": 5_000})
    group = create(made, C)
    load(made, C, **{f"g{group}": 100_000})
    made.on_view(view(2, A, B), [C])
    assert only(end(made, C, holder=A), StreamEnded).owners == (B,)


def test_successors_keep_a_strict_component_together() -> None:
    made = directory(*NODES)
    pairs = []
    for number in range(1, 11):
        both = P._replace(number=number), Q._replace(number=number)
        pairs.append((strict(made, D, *both), strict(made, D, *both)))
    made.on_view(view(2, A, B, C), [D])
    end(made, D, holder=A)
    owners = [(made.owner_of(one), made.owner_of(two)) for one, two in pairs]
    assert all(one == two for one, two in owners)
    assert len(set(owners)) > 1


def test_successors_bring_a_group_to_the_rest_of_its_component() -> None:
    made = directory(*NODES)
    pairs = [(P._replace(number=n), P._replace(number=100 + n)) for n in range(1, 11)]
    lost = []
    for one, two in pairs:
        strict(made, A, one, two)
        lost.append(strict(made, B, one))
    made.on_view(view(2, A, C, D), [B])
    for group, (_, two) in zip(lost, pairs, strict=True):
        assert made.apply(EnterStrict(5, group, two), A) == []  # it waits for the stream's end
    ended, *allowed = end(made, B, holder=C)
    assert isinstance(ended, StreamEnded)
    assert ended.owners == (A,) * 10
    assert len(allowed) == 10


def test_a_view_that_is_known_changes_nothing() -> None:
    made = directory()
    begin(made, (create(made),), B)
    before = made.fingerprint()
    assert made.on_view(view(1, A, B, C), []) == []
    assert made.fingerprint() == before
