"""Strict groups by paths of the exhaustive search: who joins again while a sequencer hears late.

Node a sequences g3, b sequences g1 and g2, which have two members in common; p1 (b's process) is in
all three. p2 (c's) comes to be in g1 and g3, which makes one component of all of them. b takes no
entry of the control plane's order before it is told to.
"""

from __future__ import annotations

import pytest

from groupcore.sequencing.directory import Directory
from groupcore.sequencing.enrolment import Enrolment
from groupcore.sequencing.names import Order
from groupcore.sequencing.ownership import Ownership
from groupcore.sequencing.wishes import Key, Wishes
from groupcore.sim.checkers import Violation
from groupcore.sim.explore.group_scopes import GroupScope, join, leave, send
from groupcore.sim.explore.group_steps import GroupWorld
from groupcore.sim.explore.steps import Step
from groupcore.sim.planting import Patch
from groupcore.sim.plants_places import at_once, by_who
from groupcore.sim.trace_groups import GroupDelivered

A, B, C, D = 0, 1, 2, 3
G1, G2, G3 = 0, 1, 2
STRICT3 = (Order.STRICT,) * 3
BOTH = ((A, B), (A, B), (B,))


class Way:
    """A path through the states of a scope, chosen step by step."""

    def __init__(self, scope: GroupScope) -> None:
        self.world = GroupWorld(scope)
        self.state = self.world.begin()

    def step(self, step: Step) -> None:
        assert step in self.world.steps(self.state), f"{step} cannot be taken"
        self.state, _ = self.world.apply(self.state, step)

    def do(self, *actions: int) -> None:
        """Take these steps of the script."""
        for action in actions:
            self.step(Step("do", self.world.scope.script[action].node, None, action))

    def go_on(self, *taking: int, but: tuple[tuple[int, int], ...] = ()) -> None:
        """Let everything happen, time aside; of the order only these nodes take more.

        What is on its way on the links of `but` stays there.
        """
        while True:
            for step in self.world.steps(self.state):
                if step.kind == "deliver" and (step.link is None or step.link not in but):
                    break
                if step.kind == "agree" or (step.kind == "take" and step.node in taking):
                    break
            else:
                return
            self.step(step)

    def take(self, node: int) -> None:
        """This node takes the next entry of the order."""
        self.step(Step("take", node, None, self.state.nodes[node].taken))

    def deliver(self, but: tuple[tuple[int, int], ...] = ()) -> None:
        """Let everything arrive; nothing more of the order."""
        while steps := [
            step
            for step in self.world.steps(self.state)
            if step.kind == "deliver" and step.link not in but
        ]:
            self.step(steps[0])

    def end(self) -> None:
        """Let everything happen."""
        while True:
            steps = [s for s in self.world.steps(self.state) if s.kind not in ("do", "lose")]
            if not steps:
                return
            self.step(steps[0])

    def violations(self) -> list[Violation]:
        assert self.world.is_settled(self.state)
        return self.world.judge(self.state)

    def given(self, node: int) -> list[tuple[int, int]]:
        """The groups and numbers of what this node's process was given."""
        name = self.state.nodes[node].address.name
        return [
            (record.group, record.seqno)
            for record in self.state.past.records()
            if isinstance(record, GroupDelivered) and record.n == name and record.to
        ]


LATE = ((A, C),)
"""The link on which g3's message to p2 is late."""


def rejoined() -> Way:
    """p2 leaves g1, joins g3, and joins g1 again; b hears of nothing."""
    script = (leave(C, G1), join(C, G3), send(A, G3), join(C, G1), send(A, G1))
    way = Way(
        GroupScope("rejoin", "", (B, B, A), script, members=((A, B, C), *BOTH[1:]), orders=STRICT3)
    )
    for action in range(2):
        way.do(action)
        way.go_on(A, C)
    for action in (2, 3, 4):
        way.do(action)
        way.go_on(A, C, but=LATE)
    return way


def counted() -> Way:
    """p2 observes g1, which it leaves; it joins g3, and g1 as a member; b hears of nothing."""
    way = Way(
        GroupScope(
            "count",
            "",
            (B, B, A),
            (leave(C, G1), join(C, G3), send(A, G3), join(C, G1), send(A, G1)),
            members=((A, B, C), *BOTH[1:]),
            orders=STRICT3,
            observers=((C,), (), ()),
        )
    )
    for action in range(2):
        way.do(action)
        way.go_on(A, C)
    for action in (2, 3, 4):
        way.do(action)
        way.go_on(A, C, but=LATE)
    return way


def asked_again() -> Way:
    """p2 asks to join g1, gives up, and asks again; c hears of the first answer only then."""
    script = (join(C, G1), leave(C, G1), join(C, G3), join(C, G1), send(A, G3), send(A, G1))
    way = Way(GroupScope("again", "", (B, B, A), script, members=BOTH, orders=STRICT3))
    way.do(0)
    way.go_on()
    way.take(B)  # b hears of the first request, and of nothing more
    way.do(1)
    way.go_on(A)
    way.do(2)
    way.go_on(A)
    way.do(3)
    while way.state.nodes[C].taken < len(way.state.order):
        way.take(C)
        way.deliver()
    for action in (4, 5):
        way.do(action)
        way.deliver(but=LATE)
    return way


WAYS = {"rejoin": rejoined, "observer to member": counted, "asked again": asked_again}


def any_answer(self: Wishes, key: Key, request: int) -> None:
    """An answer allows whatever the process wishes now."""
    wish = self._wishes.get(key)
    if wish is not None and not wish.allowed:
        wish.allowed = True
        self._waiting[key] = None


BY_WHO = (Directory, "has_entered", by_who)
AT_ONCE = (Enrolment, "_is_reached", at_once)
ANY_ANSWER = (Wishes, "allow", any_answer)


@pytest.mark.parametrize(
    ("name", "patches"),
    [
        ("rejoin", (BY_WHO, AT_ONCE)),
        ("observer to member", (BY_WHO, AT_ONCE)),
        ("asked again", (BY_WHO, ANY_ANSWER)),
    ],
)
def test_planted_an_entry_that_is_known_by_who_and_not_waited_for_is_found(
    name: str, patches: tuple[Patch, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for patch in patches:
        monkeypatch.setattr(*patch)
    way = WAYS[name]()
    way.end()
    assert 11 in {violation.number for violation in way.violations()}


@pytest.mark.parametrize("name", WAYS)
def test_who_joins_is_let_in_by_the_entry_that_it_has_asked_for_and_by_none_before(
    name: str,
) -> None:
    way = WAYS[name]()
    way.end()
    assert way.violations() == []
    p1, p2 = way.given(B), way.given(C)
    both = [place for place in p1 if place in p2]
    assert both == [place for place in p2 if place in p1]


def parted_past() -> Way:
    """As `rejoined`, with b in time: g3 comes to b, its message of before is late at p2.

    A fourth node, d, sequences g3: what is late on the way from there is that message alone.
    """
    members = ((A, B, C), (A, B), (B,))
    script = (leave(C, G1), join(C, G3), send(A, G3), join(C, G1), send(D, G1))
    way = Way(GroupScope("past", "", (B, B, D), script, members=members, orders=STRICT3, nodes=4))
    for action in range(5):
        way.do(action)
        way.go_on(A, B, C, D, but=((D, C),) if action > 1 else ())
    return way


def test_what_a_former_sequencer_has_numbered_is_given_before_what_is_said_with_it_linked() -> None:
    way = parted_past()
    way.end()
    assert way.violations() == []
    assert way.given(C)[-2:] == way.given(B)[-2:] == [(3, 3), (1, 6)]


def test_planted_a_component_whose_past_is_not_shared_gives_two_members_two_orders(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Ownership, "share_carry", lambda *_: None)
    way = parted_past()
    way.end()
    (eight, *others) = way.violations()
    assert eight.number == 8
    assert {violation.number for violation in others} <= {9}
