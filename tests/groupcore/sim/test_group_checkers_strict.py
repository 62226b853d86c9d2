"""Invariants 8 and 9, and what they stand on: overlaps of groups, cycles."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupcore.sequencing.names import Order
from groupcore.sim.checkers.cycles import find_components, shortest_cycle
from groupcore.sim.checkers.group_joint import compared, joint_stays
from groupcore.sim.checkers.group_strict import Overlaps
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import JOIN, LEAVE, GroupAsked, GroupJoined, GroupProcess
from tests.groupcore.sim.group_stories import PA, PB, PC, A, B, C, G, GroupStory, H, begun

THIRD = 3


def strict() -> GroupStory:
    """`a` and `b` in G and H; one message to each is numbered."""
    story = begun(G, H, order=Order.STRICT).send(PA, G, 1).send(PB, H, 1)
    return story.stamp(G, 3, PA, 1).stamp(H, 3, PB, 1)


def deliver_first_g(story: GroupStory, *nodes: object) -> GroupStory:
    for node in (A, B):
        if node in nodes:
            story.deliver(node, G, 3, (PA, 1)).deliver(node, H, 3, (PB, 1))
    return story


def deliver_first_h(story: GroupStory, *nodes: object) -> GroupStory:
    for node in (A, B):
        if node in nodes:
            story.deliver(node, H, 3, (PB, 1)).deliver(node, G, 3, (PA, 1))
    return story


def test_one_order_at_both_common_members_keeps_strict_order() -> None:
    assert deliver_first_g(strict(), A, B).breached() == []


def test_two_orders_at_two_common_members_break_strict_order() -> None:
    story = deliver_first_h(deliver_first_g(strict(), A), B)
    eight, nine = story.violations()
    assert (eight.number, nine.number) == (8, 9)
    assert eight.text == (
        "a#1/1 is given a#1/1:1.1 before b#1/1:2.1; b#1/1 is given b#1/1:2.1 before a#1/1:1.1"
    )


def test_an_order_that_is_not_that_of_the_numbers_breaks_stamp_order() -> None:
    assert deliver_first_h(strict(), A, B).breached() == [9]


def test_two_orders_of_what_was_numbered_in_two_intervals_break_strict_order() -> None:
    """A third group has been linked between the two numbers."""
    story = begun(G, H, order=Order.STRICT).send(PA, G, 1).send(PB, H, 1)
    story.stamp(G, 3, PA, 1).create(THIRD, Order.STRICT)
    for seqno, process in enumerate((PA, PB), start=1):
        story.stamp(THIRD, seqno, process, JOIN)
    story.stamp(H, 3, PB, 1)
    assert deliver_first_h(deliver_first_g(story, A), B).breached()[:2] == [8, 9]


def test_what_is_given_in_two_stays_in_a_group_need_not_be_one_order() -> None:
    story = strict().deliver(A, G, 3, (PA, 1)).deliver(A, H, 3, (PB, 1)).deliver(B, H, 3, (PB, 1))
    story.add(GroupAsked(story.t, *B, 9, "leave", PB, H))
    story.add(GroupJoined(story.t, *B, H, 4, PB))
    story.deliver(B, G, 3, (PA, 1))
    stays = joint_stays(Trace(story.records))[G, H]
    assert sorted((stay.process, len(stay.given)) for stay in stays) == [(PA, 2), (PB, 1), (PB, 1)]
    assert not list(compared(Trace(story.records)))


def test_who_observes_a_group_is_in_no_joint_stay_of_it() -> None:
    story = GroupStory().view(A, 1, A, B).view(B, 1, A, B)
    for group in (G, H):
        story.create(group, Order.STRICT)
        story.add(GroupAsked(story.t, *A, group, "observe" if group == H else "join", PA, group))
        story.add(GroupJoined(story.t, *A, group, 1, PA))
    assert joint_stays(Trace(story.deliver(A, G, 3, (PA, 1)).records)) == {}


def test_causally_total_groups_need_not_be_one_order() -> None:
    story = begun(G, H).send(PA, G, 1).send(PB, H, 1).stamp(G, 3, PA, 1).stamp(H, 3, PB, 1)
    assert deliver_first_h(deliver_first_g(story, A), B).breached() == []


def test_groups_with_one_common_process_need_not_be_one_order() -> None:
    story = begun(G, H, order=Order.STRICT).leave(PB, H, 3, A, B)
    story.send(PA, G, 1).send(PB, H, 1).stamp(G, 3, PA, 1).stamp(H, 4, PB, 1)
    assert story.deliver(A, H, 4, (PB, 1)).deliver(A, G, 3, (PA, 1)).breached() == []


def test_a_cycle_through_three_groups_of_one_component_is_found() -> None:
    """Each process orders two of the three; no two of them disagree."""
    story = GroupStory().view(A, 1, A, B, C).view(B, 1, A, B, C).view(C, 1, A, B, C)
    nodes = {A: PA, B: PB, C: PC}
    for group in (1, 2, 3):
        story.create(group, Order.STRICT)
        for seqno, (node, process) in enumerate(nodes.items(), start=1):
            story.join(process, group, seqno)
            story.state(node, group, seqno)
            story.add(GroupJoined(story.t, *node, group, seqno, process))
            for later in range(seqno + 1, 4):
                story.add(
                    GroupJoined(story.t, *node, group, later, list(nodes.values())[later - 1])
                )
    for group in (1, 2, 3):
        story.send(PA, group, 1).stamp(group, 4, PA, 1)
    for node, first, second in ((A, 1, 2), (B, 2, 3), (C, 3, 1)):
        story.deliver(node, first, 4, (PA, 1)).deliver(node, second, 4, (PA, 1))
    eight = next(v for v in story.violations() if v.number == 8)
    assert len(eight.messages) == 3
    assert set(eight.nodes) <= {"a", "b", "c"}


def test_a_number_that_a_sequencer_leaves_out_or_gives_twice_breaks_stamp_order() -> None:
    assert begun().send(PA, G, 1).stamp(G, 4, PA, 1).breached() == [9]
    assert 9 in begun().send(PA, G, 1).stamp(G, 2, PA, 1).breached()


# --- overlaps, against what is obvious ------------------------------------------------------------

CHANGES = st.lists(
    st.tuples(st.integers(1, 5), st.integers(1, 4), st.sampled_from([JOIN, LEAVE])), max_size=60
)


def obvious_component(members: dict[int, set[GroupProcess]], group: int) -> frozenset[int]:
    reached, waiting = {group}, [group]
    while waiting:
        here = members[waiting.pop()]
        for other, there in members.items():
            if other not in reached and len(here & there) >= 2:
                reached.add(other)
                waiting.append(other)
    return frozenset(reached)


@given(CHANGES)
def test_components_are_the_closure_of_having_two_common_processes(
    changes: list[tuple[int, int, int]],
) -> None:
    overlaps = Overlaps({})
    members: dict[int, set[GroupProcess]] = {}
    for group, number, what in changes:
        process = ("n", 1, number)
        if what == LEAVE and group not in members:
            continue
        overlaps.change(group, process, what)
        here = members.setdefault(group, set())
        (here.add if what == JOIN else here.discard)(process)
        for known in members:
            assert overlaps.components[known] == obvious_component(members, known)
            same = overlaps.components[known]
            assert {overlaps.intervals[other] for other in same} == {overlaps.intervals[known]}


def test_an_interval_lasts_as_long_as_a_component_is_made_of_the_same_groups() -> None:
    overlaps = Overlaps({})
    for number in (1, 2):
        for group in (G, H):
            overlaps.change(group, ("n", 1, number), JOIN)
    interval = overlaps.intervals[G]
    overlaps.change(G, ("n", 1, 3), JOIN)
    overlaps.change(H, ("n", 1, 3), JOIN)
    overlaps.change(H, ("n", 1, 1), LEAVE)
    assert overlaps.intervals[G] == overlaps.intervals[H] == interval
    overlaps.change(H, ("n", 1, 2), LEAVE)
    assert overlaps.intervals[G] != overlaps.intervals[H]
    overlaps.change(H, ("n", 1, 2), JOIN)
    assert overlaps.intervals[G] == overlaps.intervals[H] > interval


# --- cycles ---------------------------------------------------------------------------------------

EDGES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=25)


def reach(graph: dict[int, list[int]], start: int) -> set[int]:
    """What can be reached in one step or more."""
    reached: set[int] = set()
    waiting = list(graph.get(start, ()))
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting += graph.get(node, ())
    return reached


@given(EDGES)
def test_components_are_the_nodes_that_reach_each_other(edges: list[tuple[int, int]]) -> None:
    graph: dict[int, list[int]] = {}
    for one, other in edges:
        if one != other:
            graph.setdefault(one, []).append(other)
    want = set()
    for node in range(8):
        mutual = frozenset(n for n in reach(graph, node) if node in reach(graph, n))
        if len(mutual) > 1:
            want.add(mutual)
    components = find_components(graph)
    assert {frozenset(component) for component in components} == want
    for component in components:
        cycle = shortest_cycle(graph, component)
        assert len(set(cycle)) == len(cycle) >= 2
        steps = zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        assert all(other in graph[one] for one, other in steps)
        pairs = [(a, b) for a in component for b in graph[a] if b in component and a in graph[b]]
        assert (len(cycle) == 2) == bool(pairs)
