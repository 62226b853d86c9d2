"""A group that is deleted while its sequencer hears late, by paths of the exhaustive search.

b sequences g1, a sequences g2. a's process sends to g1, the group is deleted, and a's process,
whose node knows that, sends to g2. b and c hear of the deletion only later.
"""

from __future__ import annotations

import pytest

from groupcore.sequencing.names import Order
from groupcore.sequencing.sections import Section
from groupcore.sim.explore.group_scopes import GroupScope, delete, send
from tests.groupcore.sim.test_explore_strict import G1, G2, A, B, C, Way


def deleted(order: Order) -> Way:
    """a's message to g1 is on its way to b; g1 is deleted; a sends to g2, which c is given."""
    script = (send(A, G1), delete(A, G1), send(A, G2))
    way = Way(GroupScope("deleted", "", (B, A), script, orders=(order, order)))
    way.do(0, 1)
    way.go_on(A, but=((A, B),))
    way.do(2)
    way.go_on(A, but=((A, B),))
    way.deliver()
    return way


def order_at(way: Way, node: int) -> list[int]:
    """The groups of the messages that the node's process was given, in their order."""
    return [group for group, _ in way.given(node)]


@pytest.mark.parametrize("order", [Order.CAUSALLY_TOTAL, Order.STRICT])
def test_what_is_sent_behind_a_deletion_is_given_to_nobody_before_it(order: Order) -> None:
    way = deleted(order)
    assert order_at(way, A) == [2]
    for node in (B, C):
        assert order_at(way, node) in ([], [1])  # g1's message, from who knows of no deletion
    way.end()
    assert way.violations() == []
    for node in (B, C):
        assert order_at(way, node) in ([2], [1, 2])


def test_planted_who_has_not_heard_of_the_deletion_is_given_what_is_behind_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = Section.batch

    def placeless(self: Section, me: object) -> object:
        self.place = self.place._replace(view=0, commands=0)
        return original(self, me)  # type: ignore[arg-type]

    monkeypatch.setattr(Section, "batch", placeless)
    way = deleted(Order.CAUSALLY_TOTAL)
    assert order_at(way, C) == [2, 1]
    way.end()
    assert 7 in {violation.number for violation in way.violations()}
