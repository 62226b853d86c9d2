"""The obvious rules, each by the paper's name, and against the checkers on random runs."""

from __future__ import annotations

import pytest

from groupcore.sequencing.names import Order
from groupcore.sim.checkers import GROUP_CHECKERS, check_all
from groupcore.sim.trace_groups import JOIN, LEAVE, GroupMid, GroupProcess
from tests.groupcore.sequencing.comparison import compare
from tests.groupcore.sequencing.obvious import Obvious, merge
from tests.groupcore.sequencing.toy import StuckError, Toy

P, Q, R = ("a", 1, 1), ("b", 1, 1), ("c", 1, 1)
G, H, K = 1, 2, 3
TOTAL, STRICT, FIFO = Order.CAUSALLY_TOTAL, Order.STRICT, Order.FIFO


def model(*members: tuple[GroupProcess, tuple[int, ...]], order: Order = TOTAL) -> Obvious:
    """Each of these processes in these groups, by JOINs that come before everything else."""
    rules = Obvious(dict.fromkeys((G, H, K), order))
    for process, groups in members:
        for group in groups:
            rules.stamp(group, rules.last.get(group, 0) + 1, process, JOIN)
    for process, groups in members:
        for group in groups:
            rules.begin(process, group, rules.last[group])
    return rules


def post(rules: Obvious, process: GroupProcess, group: int, number: int) -> int:
    """Send and number a message; its number in the group."""
    mid = GroupMid(process, group, number)
    rules.send(mid)
    return number_it(rules, mid)


def number_it(rules: Obvious, mid: GroupMid) -> int:
    seqno = rules.last.get(mid.group, 0) + 1
    rules.stamp(mid.group, seqno, mid.process, mid.number)
    return seqno


def test_ct1_a_message_follows_the_last_one_of_its_group() -> None:
    rules = model((P, (G,)))
    first, second = post(rules, Q, G, 1), post(rules, Q, G, 2)
    assert rules.objection(P, G, second) == "CT1: 1 is the last that it was given of the group"
    assert rules.deliverable(P, [(G, first), (G, second)]) == [(G, first)]
    rules.deliver(P, G, first)
    assert rules.deliverable(P, [(G, first), (G, second)]) == [(G, second)]


def test_ct2_a_message_waits_for_what_its_sender_had_been_given_in_shared_groups() -> None:
    rules = model((P, (G, H)), (Q, (G, H)), (R, (H,)))
    cause = post(rules, Q, G, 1)
    rules.deliver(Q, G, cause)
    effect = post(rules, Q, H, 1)
    assert rules.objection(P, H, effect) == "CT2: it names 3 of group 1, 2 were given"
    assert rules.objection(R, H, effect) == ""  # it is not in G
    rules.deliver(P, G, cause)
    assert rules.objection(P, H, effect) == ""


def test_rule_4_what_a_process_is_given_brings_its_context_along() -> None:
    """R is not in G and hears of it in H; P hears of R in K."""
    rules = model((P, (G, K)), (Q, (G, H)), (R, (H, K)))
    cause = post(rules, Q, G, 1)
    rules.deliver(R, H, post(rules, Q, H, 1))
    effect = post(rules, R, K, 1)
    assert rules.objection(P, K, effect).startswith("CT2")
    rules.deliver(P, G, cause)
    assert rules.objection(P, K, effect) == ""


def test_seq_both_entries_are_kept_until_they_can_be_compared() -> None:
    rules = model((P, (G,)))
    rules.deliver(P, G, post(rules, P, G, 1))
    waiting = GroupMid(P, G, 2)
    rules.send(waiting)
    assert merge(rules.told[P], rules.own[P])[G] == {2, GroupMid(P, G, 1), waiting}
    number_it(rules, waiting)
    rules.deliver(P, G, 3)
    assert rules.told[P][G] == {3}


def test_seq_a_receiver_waits_until_it_can_substitute_the_number() -> None:
    rules = model((Q, (G, H)))
    first, second = GroupMid(P, G, 1), GroupMid(P, H, 1)
    rules.send(first)
    rules.send(second)
    number_it(rules, second)
    assert rules.objection(Q, H, 2).startswith("SEQ")
    number_it(rules, first)
    assert rules.objection(Q, H, 2) == "CT2: it names 2 of group 1, 1 were given"
    rules.deliver(Q, G, 2)
    assert rules.objection(Q, H, 2) == ""


def test_seq_what_a_sender_that_is_gone_has_no_number_for_binds_nobody() -> None:
    rules = model((Q, (G, H)))
    rules.send(GroupMid(P, G, 1))
    post(rules, P, H, 1)
    assert rules.objection(Q, H, 2).startswith("SEQ")
    rules.forget(P)
    assert rules.objection(Q, H, 2) == ""


def test_two_senders_and_two_hasty_sequencers_can_make_a_process_wait_for_ever() -> None:
    """Decision 0020; nobody does anything that the paper forbids."""
    rules = model((Q, (G, H)))
    m1, m2, m3, m4 = (GroupMid(*m) for m in ((P, H, 1), (P, G, 1), (R, G, 1), (R, H, 1)))
    for mid in (m1, m2, m3, m4):
        rules.send(mid)
    assert rules.objection_to_stamp(m2) == f"SEQ: {m1} has no number, and comes before it"
    assert rules.objection_to_stamp(m4) == f"SEQ: {m3} has no number, and comes before it"
    for mid in (m2, m3, m4, m1):
        number_it(rules, mid)
    assert rules.objection(Q, G, 2) == "CT2: it names 3 of group 2, 1 were given"
    assert rules.objection(Q, H, 2) == "CT2: it names 3 of group 1, 1 were given"
    assert rules.deliverable(Q, sorted(rules.places)) == []


def test_the_circle_may_go_through_a_process_that_is_in_none_of_the_groups_that_wait() -> None:
    both = ("d", 1, 1)
    rules = model((both, (G, K)), (Q, (G, H)), (P, (G,)))
    a, b = GroupMid(P, G, 1), GroupMid(P, K, 1)
    rules.send(a)
    rules.send(b)
    number_it(rules, b)  # K's sequencer does not wait for the number of a
    post(rules, R, K, 1)
    rules.deliver(Q, H, post(rules, R, H, 1))
    post(rules, Q, G, 1)  # it names what stands behind b in K
    number_it(rules, a)
    assert rules.objection(both, G, 4).startswith("CT2: it names 3 of group 3")
    assert rules.objection(both, K, 2).startswith("CT2: it names 5 of group 1")
    assert rules.deliverable(both, sorted(rules.places)) == []


def test_fifo_a_sequencer_numbers_what_a_process_sends_in_that_order() -> None:
    rules = model((P, (G,)))
    rules.send(GroupMid(P, G, 1))
    rules.send(GroupMid(P, G, 2))
    assert rules.objection_to_stamp(GroupMid(P, G, 2)) == "FIFO: its sender's 1 has no number"
    number_it(rules, GroupMid(P, G, 1))
    assert rules.objection_to_stamp(GroupMid(P, G, 2)) == ""


def test_t1_t2_all_common_members_are_given_the_order_of_the_sequencer() -> None:
    rules = model((P, (G, H)), (Q, (G, H)), order=STRICT)
    first, second = post(rules, R, G, 1), post(rules, ("e", 1, 1), H, 1)
    for process in (P, Q):
        assert rules.objection(process, H, second) == (
            "T2: 3 of group 1 is before it, 2 were given"
        )
        rules.deliver(process, G, first)
        assert rules.objection(process, H, second) == ""


def test_t2_with_equality_groups_that_come_apart_would_wait_for_ever() -> None:
    """What is numbered when the groups are apart is not bound; what was bound lets it pass."""
    rules = model((P, (G, H)), (Q, (G, H)), order=STRICT)
    bound = post(rules, R, G, 1)
    rules.stamp(H, 3, Q, LEAVE)
    rules.deliver(P, H, 3)
    rules.leave(Q, H)
    free = post(rules, ("e", 1, 1), H, 1)
    assert rules.deliverable(P, [(G, bound), (H, free)]) == [(G, bound), (H, free)]
    rules.deliver(P, H, free)
    assert rules.deliverable(P, [(G, bound), (H, free)]) == [(G, bound)]


def test_t2_groups_with_one_common_process_are_not_one_order() -> None:
    rules = model((P, (G, H)), (Q, (G,)), order=STRICT)
    post(rules, R, G, 1)
    assert rules.objection(P, H, post(rules, ("e", 1, 1), H, 1)) == ""


def watched(*observers: GroupProcess) -> tuple[Obvious, int, int]:
    """P, Q and R are in G and H, these to observe; a message to each, first to G."""
    rules = Obvious(dict.fromkeys((G, H), STRICT))
    for number, process in enumerate((P, Q, R), 1):
        for group in (G, H):
            rules.stamp(group, number, process, JOIN, observes=process in observers)
    for process in (P, Q, R):
        for group in (G, H):
            rules.begin(process, group, 3)
    return rules, post(rules, ("e", 1, 1), G, 1), post(rules, ("e", 2, 1), H, 1)


def test_t2_who_observes_makes_no_component() -> None:
    for observers in ((Q, R), (P, Q, R)):
        rules, _, second = watched(*observers)
        assert rules.component(G) == [G]
        assert [rules.objection(process, H, second) for process in (P, Q, R)] == ["", "", ""]


def test_t2_who_observes_is_given_the_order_of_a_component_that_members_make() -> None:
    rules, first, second = watched(R)
    for process in (P, Q, R):
        assert rules.objection(process, H, second) == (
            "T2: 4 of group 1 is before it, 3 were given"
        )
        rules.deliver(process, G, first)
        assert rules.objection(process, H, second) == ""


def test_t2_who_observed_counts_when_it_has_joined_as_a_member() -> None:
    rules, first, second = watched(Q, R)
    for group, seqno in ((G, first), (H, second)):
        rules.deliver(Q, group, seqno)
        rules.stamp(group, 5, Q, LEAVE)
        rules.leave(Q, group)
        rules.stamp(group, 6, Q, JOIN)
    assert rules.component(G) == [G, H]
    rules.stamp(H, 7, Q, LEAVE)
    rules.leave(Q, H)
    rules.stamp(H, 8, Q, JOIN, observes=True)
    assert rules.component(G) == [G]


def test_s2_components_are_closed_and_split_again() -> None:
    rules = model((P, (G, H)), (Q, (G, H, K)), (R, (H, K)), order=STRICT)
    assert rules.component(G) == rules.component(K) == [G, H, K]
    rules.stamp(K, rules.last[K] + 1, R, LEAVE)
    assert rules.component(G) == [G, H, K]  # until R has been given what stands before it
    rules.leave(R, K)
    assert (rules.component(G), rules.component(K)) == ([G, H], [K])


def test_fifo_groups_carry_no_contexts() -> None:
    rules = model((P, (G, H)), (Q, (G, H)))
    rules.orders[G] = FIFO
    rules.deliver(Q, G, post(rules, Q, G, 1))
    assert rules.objection(P, H, post(rules, Q, H, 1)) == ""


def test_a_state_must_hold_what_its_taker_has_been_told_of() -> None:
    rules = model((P, (H,)), (Q, (G, H)))
    rules.stamp(G, 2, P, JOIN)
    cause = post(rules, Q, G, 1)
    rules.deliver(Q, G, 2)
    rules.deliver(Q, G, cause)
    rules.deliver(P, H, post(rules, Q, H, 1))
    assert rules.objection_to_begin(P, G, 2) == "the process has been told of 3"
    assert rules.objection_to_begin(P, G, cause) == ""


def test_who_takes_a_state_must_have_been_given_what_it_depends_on() -> None:
    rules = model((P, (H,)), (Q, (G, H)))
    rules.stamp(G, 2, P, JOIN)
    cause = post(rules, Q, H, 1)
    effect = post(rules, Q, G, 1)
    assert rules.objection_to_begin(P, G, 2) == ""
    assert rules.objection_to_begin(P, G, effect) == "CT2: it names 3 of group 2, 2 were given"
    rules.deliver(P, H, cause)
    assert rules.objection_to_begin(P, G, effect) == ""


SHAPES = [(TOTAL,) * 4, (STRICT,) * 4, (TOTAL, STRICT, STRICT, FIFO, TOTAL), (STRICT, TOTAL)]


@pytest.mark.parametrize("seed", range(24))
def test_what_the_rules_allow_breaks_no_invariant_and_always_comes_to_an_end(seed: int) -> None:
    toy = Toy(seed, 2 + seed % 3, 1 + seed % 3, SHAPES[seed % 4])
    trace = toy.run(300)
    assert check_all(trace, GROUP_CHECKERS) == []
    assert compare(trace) == []


def test_hasty_sequencers_get_stuck_and_patient_ones_do_not() -> None:
    def is_stuck(seed: int, hasty: bool) -> bool:
        try:
            Toy(seed, 3, 2, (TOTAL,) * 4, hasty=hasty).run(300)
        except StuckError:
            return True
        return False

    assert sum(is_stuck(seed, hasty=True) for seed in range(10)) >= 5
    assert not any(is_stuck(seed, hasty=False) for seed in range(10))


def test_whatever_the_rules_forbid_breaks_an_invariant_and_the_other_way_round() -> None:
    """Causal order to the letter; strict order in the intervals that the invariants judge."""
    causal = strict = 0
    for seed in range(30):
        toy = Toy(seed, 3, 2, SHAPES[seed % 2], bold=True)
        trace = toy.run(200)
        found = {violation.number for violation in check_all(trace, GROUP_CHECKERS)}
        objections = compare(trace)
        told = {rule for text in objections for rule in ("CT1", "CT2", "T2") if f"; {rule}" in text}
        assert found <= {7, 8, 9}
        assert (7 in found) == ("CT2" in told), (seed, found, objections[:3])
        assert told or not found, (seed, found)
        causal += 7 in found
        strict += 8 in found
    assert causal >= 5
    assert strict >= 3
