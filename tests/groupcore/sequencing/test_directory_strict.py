"""S2 in the directory: strict groups that come to share two processes come to share a sequencer."""

from __future__ import annotations

from groupcore.sequencing.commands import (
    CancelMove,
    DeleteGroup,
    Drain,
    EnterStrict,
    ExitStrict,
    Move,
)
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_changes import (
    CommandRefused,
    EntryAllowed,
    GroupDeleted,
    MoveBegan,
    MoveCancelled,
    OwnerMoved,
    StreamEnded,
)
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.placement_options import PlacementOptions
from tests.groupcore.sequencing.directories import (
    NODES,
    A,
    B,
    C,
    D,
    P,
    Q,
    R,
    S,
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


def test_a_process_that_makes_no_groups_intersect_may_join_at_once() -> None:
    made = directory()
    group = strict(made, A)
    assert made.apply(EnterStrict(5, group, P), B) == [EntryAllowed(group, P, B, 5)]
    assert made.apply(EnterStrict(6, group, Q), B) == [EntryAllowed(group, Q, B, 6)]


def test_one_common_process_does_not_bring_two_groups_together() -> None:
    made = directory()
    strict(made, A, P, Q)
    other = strict(made, B, R)
    assert made.apply(EnterStrict(5, other, P), A) == [EntryAllowed(other, P, A, 5)]
    assert not made.moves


def test_groups_of_one_owner_intersect_without_a_move() -> None:
    made = directory()
    strict(made, A, P, Q)
    other = strict(made, A, P)
    assert made.apply(EnterStrict(5, other, Q), B) == [EntryAllowed(other, Q, B, 5)]


def test_strongly_intersecting_groups_are_brought_to_one_sequencer() -> None:
    made = directory()
    one, two = strict(made, A, P, Q), strict(made, B, P)
    (began,) = made.apply(EnterStrict(5, two, Q), B)
    assert isinstance(began, MoveBegan)
    assert (began.reason, made.moves[began.move].requested) == ("strict", None)
    assert {began.source, began.target} == {A, B}
    moved, allowed = finish(made, began.move)
    assert isinstance(moved, OwnerMoved)
    assert allowed == EntryAllowed(two, Q, B, 5)
    assert made.owner_of(one) == made.owner_of(two) == began.target


def test_the_cheaper_side_moves() -> None:
    for loaded, expected in [(0, A), (1, B)]:
        made = directory()
        groups = strict(made, A, P, Q), strict(made, B, P)
        load(made, NODES[loaded], **{f"g{groups[loaded]}": 1000})
        began = only(made.apply(EnterStrict(5, groups[1], Q), B), MoveBegan)
        assert (began.groups, began.target) == ((groups[1 - loaded],), expected)


def test_all_that_must_stay_together_moves_together() -> None:
    made = directory()
    one, two, three = strict(made, A, P, Q), strict(made, A, P, Q), strict(made, B, P)
    load(made, B, **{f"g{three}": 1000})
    began = only(made.apply(EnterStrict(5, three, Q), B), MoveBegan)
    assert (began.groups, began.source, began.target) == ((one, two), A, B)


def test_several_pairs_that_one_join_makes_intersect_come_to_one_sequencer() -> None:
    # the paper's footnote 2: G1 = {p, q}, G2 = {p, r}, G = {q, r}, and p joins G
    made = directory()
    one, two, three = strict(made, A, P, Q), strict(made, B, P, R), strict(made, C, Q, R)
    load(made, B, **{f"g{two}": 1000})
    first, second = made.apply(EnterStrict(5, three, P), A)
    assert isinstance(first, MoveBegan)
    assert isinstance(second, MoveBegan)
    assert [(m.groups, m.source, m.target) for m in (first, second)] == [
        ((one,), A, B),
        ((three,), C, B),
    ]
    assert len(finish(made, second.move)) == 1  # not yet: the other side is on its way
    assert finish(made, first.move)[1:] == [EntryAllowed(three, P, A, 5)]


def test_two_processes_that_join_each_others_group_at_once_both_come_through() -> None:
    # the paper's race (section 4.2): neither join alone makes the two groups intersect strongly
    made = directory()
    one, two = strict(made, A, P, R), strict(made, B, Q)
    assert made.apply(EnterStrict(5, two, P), A) == [EntryAllowed(two, P, A, 5)]
    began = only(made.apply(EnterStrict(6, one, Q), B), MoveBegan)
    assert finish(made, began.move)[1:] == [EntryAllowed(one, Q, B, 6)]


def test_two_pending_entries_that_each_enlarge_the_component_both_come_through() -> None:
    made = directory()
    one, two, three = strict(made, A, P, Q), strict(made, B, P, R), strict(made, C, R)
    first = only(made.apply(EnterStrict(5, two, Q), A), MoveBegan)
    more = made.apply(EnterStrict(6, three, P), B)
    allowed, moves = [], [first.move, *[m.move for m in more if isinstance(m, MoveBegan)]]
    while moves:
        for change in finish(made, moves.pop(0)):
            if isinstance(change, EntryAllowed):
                allowed.append((change.group, change.process))
            elif isinstance(change, MoveBegan):
                moves.append(change.move)
    assert sorted(allowed) == [(two, Q), (three, P)]
    assert len({made.owner_of(group) for group in (one, two, three)}) == 1


def test_a_group_may_follow_one_that_is_already_on_its_way() -> None:
    made = directory()
    one, two = strict(made, A, P, Q), strict(made, A, P)
    load(made, A, **{f"g{one}": 1000})
    move = begin(made, (one,), B)
    began = only(made.apply(EnterStrict(5, two, Q), B), MoveBegan)
    assert (began.groups, began.source, began.target) == ((two,), A, B)
    finish(made, move)
    assert finish(made, began.move)[-1] == EntryAllowed(two, Q, B, 5)


def test_a_group_that_is_on_its_way_arrives_before_it_moves_again() -> None:
    made = directory()
    one, two = strict(made, A, P, Q), strict(made, A, P)
    load(made, A, **{f"g{two}": 1000})
    move = begin(made, (one,), B)
    assert made.apply(EnterStrict(5, two, Q), B) == []
    moved, back = finish(made, move)
    assert isinstance(moved, OwnerMoved)
    assert isinstance(back, MoveBegan)
    assert (back.groups, back.source, back.target) == ((one,), B, A)
    assert finish(made, back.move)[-1] == EntryAllowed(two, Q, B, 5)


def test_a_move_that_would_split_a_component_is_refused() -> None:
    made = directory()
    one, two = strict(made, A, P, Q), strict(made, A, P, Q)
    (refused,) = made.apply(Move(5, (one,), B, "plan"), C)
    assert refused == CommandRefused(C, 5, "breaks_s2", f"these groups must go along: {two}")
    assert only(made.apply(Move(6, (one, two), B, "plan"), C), MoveBegan).groups == (one, two)


def test_a_move_that_brings_groups_together_is_not_called_off() -> None:
    made = directory()
    one, two = strict(made, A, P, Q), strict(made, B, P)
    began = only(made.apply(EnterStrict(5, two, Q), B), MoveBegan)
    assert refusal(made.apply(CancelMove(7, began.move), C)) == "breaks_s2"
    finish(made, began.move)
    whole = begin(made, (one, two), C)
    called_off = MoveCancelled(whole, (one, two), began.target, asked=True)
    assert made.apply(CancelMove(8, whole), C)[0] == called_off


def test_groups_may_part_again_once_a_process_has_left() -> None:
    made = directory()
    one, two = strict(made, A, P, Q), strict(made, A, P, Q)
    assert made.apply(ExitStrict(two, Q), B) == []
    assert made.state.unit_of(one) == (one,)
    assert only(made.apply(Move(5, (one,), B, "plan"), C), MoveBegan).groups == (one,)


def test_an_exit_lets_a_pending_entry_through() -> None:
    made = directory()
    one, two = strict(made, A, P, Q), strict(made, B, P)
    began = only(made.apply(EnterStrict(5, two, Q), B), MoveBegan)
    still_moving = made.apply(ExitStrict(one, P), A)
    component_of_two = made.entries[two].move == 0
    allowed = [EntryAllowed(two, Q, B, 5)]
    assert still_moving == (allowed if component_of_two else [])
    assert (still_moving or finish(made, began.move)[1:]) == allowed


def test_a_process_that_gives_up_is_answered_and_counts_no_more() -> None:
    made = directory()
    one, two = strict(made, A, P, Q), strict(made, B, P)
    made.apply(EnterStrict(5, two, Q), B)
    assert refusal(made.apply(ExitStrict(two, Q), B)) == "left"
    assert made.state.overlap.members(two) == [P]
    assert made.state.unit_of(one) == (one,)
    assert made.apply(ExitStrict(two, Q), B) == []
    assert made.counters() == {"refused_left": 1, "not_in_strict_group": 1}


def test_processes_of_gone_nodes_leave_all_strict_groups() -> None:
    made = directory()
    one, two = strict(made, A, P, Q), strict(made, A, P, Q)
    made.on_view(view(2, A, C), [B])
    assert made.state.overlap.members(one) == made.state.overlap.members(two) == [P]
    assert made.state.unit_of(one) == (one,)


def test_an_entry_that_waits_for_a_gone_target_is_resolved_anew() -> None:
    made = directory(*NODES)
    one, two = strict(made, A, P, Q), strict(made, B, P)
    load(made, B, **{f"g{two}": 1000})
    began = only(made.apply(EnterStrict(5, two, Q), Q.node), MoveBegan)
    assert began.target == B
    # Q's node is B: it goes, and so does the entry. An entry of another node stays.
    made = directory(*NODES)
    one, two = strict(made, A, P, S), strict(made, B, P)
    load(made, B, **{f"g{two}": 1000})
    began = only(made.apply(EnterStrict(5, two, S), D), MoveBegan)
    assert made.on_view(view(2, A, C, D), [B]) == [MoveCancelled(began.move, (one,), A)]
    (ended, allowed) = end(made, B, holder=C)
    assert isinstance(ended, StreamEnded)
    assert ended.owners == (A,)  # where the rest of the component is
    assert allowed == EntryAllowed(two, S, D, 5)


def test_an_entry_that_waits_for_a_gone_source_is_allowed_when_its_stream_has_ended() -> None:
    made = directory(*NODES)
    one, two = strict(made, A, P, S), strict(made, B, P)
    load(made, A, **{f"g{one}": 1000})
    began = only(made.apply(EnterStrict(5, two, S), D), MoveBegan)
    assert (began.source, began.target) == (B, A)
    assert made.on_view(view(2, A, C, D), [B]) == []
    cancelled, ended, allowed = end(made, B, holder=C)
    assert isinstance(cancelled, MoveCancelled)
    assert isinstance(ended, StreamEnded)
    assert ended.owners == (A,)
    assert allowed == EntryAllowed(two, S, D, 5)


def test_groups_do_not_come_together_at_a_node_that_drains() -> None:
    made = directory()
    one, two = strict(made, A, P, Q), strict(made, B, P)
    load(made, A, **{f"g{one}": 1000})
    made.apply(Drain(4, "a", True), C)
    assert only(made.apply(EnterStrict(5, two, Q), B), MoveBegan).target == B


def test_a_deleted_group_binds_no_others() -> None:
    made = directory()
    one, two, three = strict(made, A, P, Q), strict(made, A, P, Q, R, S), strict(made, A, R, S)
    assert made.state.unit_of(one) == (one, two)  # S is no process of this view
    made.apply(DeleteGroup(4, two), A)
    assert made.state.unit_of(one) == (one,)
    assert made.state.unit_of(three) == (three,)


def test_who_waits_for_a_group_that_is_deleted_is_answered() -> None:
    made = directory()
    strict(made, A, P, Q)
    two = strict(made, B, P)
    load(made, B, **{f"g{two}": 1000})
    made.apply(EnterStrict(5, two, Q), B)
    refused, deleted = made.apply(DeleteGroup(6, two), C)
    assert isinstance(refused, CommandRefused)
    assert (refused.by, refused.request, refused.code) == (B, 5, "left")
    assert deleted == GroupDeleted(two, C, 6)


def test_who_asks_twice_is_answered_twice() -> None:
    made = directory()
    group = strict(made, A, P)
    assert made.apply(EnterStrict(5, group, P), A) == [EntryAllowed(group, P, A, 5)]


def test_a_process_in_too_many_strict_groups_is_refused() -> None:
    # a process that is in nearly everything (an archiver) would fuse everything
    made = directory(options=PlacementOptions(strict_groups_max=3))
    groups = [strict(made, A, P) for _ in range(3)]
    other = strict(made, A)
    assert refusal(made.apply(EnterStrict(5, other, P), A)) == "too_many_strict_groups"
    assert made.state.overlap.members(other) == []
    made.apply(ExitStrict(groups[0], P), A)
    assert only(made.apply(EnterStrict(6, other, P), A), EntryAllowed).group == other


def test_entries_that_make_no_sense_are_refused() -> None:
    made = directory()
    plain, group = create(made), strict(made, A)
    before = made.fingerprint()
    assert refusal(made.apply(EnterStrict(5, 99, P), A)) == "unknown_group"
    assert refusal(made.apply(EnterStrict(5, plain, P), A)) == "bad_order"
    assert refusal(made.apply(EnterStrict(5, group, S), A)) == "unknown_node"
    assert made.fingerprint() == before


def chain(made: Directory, length: int) -> list[GroupId]:
    """Strict groups at A, B, C in turn, ready to be linked into one component."""
    return [create_strict(made, index) for index in range(length)]


def create_strict(made: Directory, index: int) -> GroupId:
    node = NODES[index % 3]
    pair = [Process(node, 100 + 2 * index), Process(node, 101 + 2 * index)]
    return strict(made, node, *pair)


def test_a_chain_of_intersections_ends_at_one_sequencer() -> None:
    # fault matrix, row 30: A with B, B with C, and so on, all at once
    made = directory()
    groups = chain(made, 12)
    moves: list[int] = []
    entered = allowed = 0
    for index, group in enumerate(groups[1:], 1):
        for number in (98 + 2 * index, 99 + 2 * index):
            process = Process(NODES[(index - 1) % 3], number)
            entered += 1
            for change in made.apply(EnterStrict(5, group, process), process.node):
                if isinstance(change, MoveBegan):
                    moves.append(change.move)
                allowed += isinstance(change, EntryAllowed)
    while moves:
        for change in finish(made, moves.pop(0)):
            if isinstance(change, MoveBegan):
                moves.append(change.move)
            allowed += isinstance(change, EntryAllowed)
    assert allowed == entered
    assert len({made.owner_of(group) for group in groups}) == 1
    assert made.state.unit_of(groups[0]) == tuple(groups)


def test_two_components_that_lose_their_target_at_once_are_both_resolved_anew() -> None:
    made = directory(*NODES)
    rest = []
    for number in (1, 2):
        one, two = (p._replace(number=number) for p in (P, R))
        far, near = strict(made, D, one, two), strict(made, A, one)
        load(made, D, **{f"g{group}": 1000 for group in made.entries if made.owner_of(group) == D})
        assert only(made.apply(EnterStrict(5, near, two), C), MoveBegan).target == D
        rest.append(strict(made, B, one))
        (again,) = made.apply(EnterStrict(5, rest[-1], two), C)
        assert isinstance(again, MoveBegan)
        assert far in made.state.unit_of(near)
    changes = made.on_view(view(2, A, B, C), [D])
    assert [type(change) for change in changes].count(MoveCancelled) == 4
    assert [type(change) for change in changes].count(MoveBegan) == 2
