"""The rules of GMS where half of the voters may leave the next view to the others (`halves`)."""

from __future__ import annotations

from dataclasses import replace

from groupcore.effects import Down, Effect
from groupcore.events import (
    CutDelivered,
    Flushed,
    FlushStarted,
    ReachabilityChanged,
    ViewInstalled,
)
from groupcore.layers.membership import Membership
from groupcore.membership.ballots import Ballot, Proposal
from groupcore.membership.headers import Accept, Install, Prepare, Promise, Propose
from groupcore.membership.proposer import CONFIRMED_MOST, TO_ALL_EVERY
from groupcore.membership.state import MembershipOptions
from groupcore.order_state import OrderState
from groupcore.view import Address
from tests.groupcore.layers.building import told
from tests.groupcore.layers.memberships import asks_for, hear, idle, store
from tests.groupcore.membership.building import A, B, C, World, install_of, proposal_of, vote

OPTIONS = MembershipOptions(cluster_size=3, application_state=True)
TURN_S, VOTE_S, ATTEMPT_S = OPTIONS.turn_s, OPTIONS.vote_s, OPTIONS.attempt_s
SAID: dict[Address, frozenset[Address]] = {
    A: frozenset({B, C}),
    B: frozenset(),
    C: frozenset(),
}
"""a gets no unicasts."""


def parted() -> World:
    return World(unheard=dict(SAID), indirect={A: SAID[A]})


def member(me: Address, world: World) -> Membership:
    """A member of [a b c], of which a and b vote."""
    layer = idle(me, world, OPTIONS)
    view = replace(proposal_of(A, B, C, basis=2).view, voters=("a", "b"))
    layer.state.connected = True
    proposal = replace(proposal_of(A, B, C, basis=2, state_holders=(A, B)), view=view)
    hear(layer, A, install_of(proposal))
    layer.on_event(CutDelivered(), 0.0)
    layer.on_event(ViewInstalled(view, None, fresh=True), 0.0)
    store(layer)
    return layer


def proposed(effects: list[Effect]) -> list[Proposal]:
    return [header.proposal for header in told(effects) if isinstance(header, Propose)]


def flushes(layer: Membership) -> bool:
    """Whether the members of the view are being stopped."""
    attempt = layer.proposer.attempt
    assert attempt is not None
    return attempt.flushing


def where(effects: list[Effect], kind: type) -> list[Address | None]:
    batches = [effect.batch for effect in effects if isinstance(effect, Down)]
    return [batch.destination for batch in batches if isinstance(batch.headers[-1], kind)]


def test_the_other_half_proposes_and_the_first_does_not() -> None:
    assert asks_for(3, member(B, parted()).on_timer("tick", 1.0))
    for waiting in (A, C):
        assert not asks_for(3, member(waiting, parted()).on_timer("tick", 1.0))


def test_the_other_half_waits_for_the_vote_of_the_first_and_leaves_it_behind() -> None:
    layer = member(B, parted())
    layer.on_timer("tick", 1.0)
    store(layer)
    ballot = Ballot(1, B)
    for voter in (C, A):
        assert proposed(layer.on_timer("repeat", 1.6)) == []
        hear(layer, voter, Promise(3, ballot, ballot, vote(voter, counts=voter != C)), 1.6)
    layer.on_event(FlushStarted(), 1.6)
    effects: list[Effect] = []
    for voter in (B, C, A):
        effects = layer.on_event(Flushed(voter, ballot, {}, 0), 1.6)
    (proposal,) = proposed(effects)
    assert proposal.view.names == ("b", "c")
    assert proposal.view.voters == ("b", "a")


def test_the_first_half_ends_its_own_attempt_and_votes() -> None:
    world = World(unheard={m: frozenset[Address]() for m in (A, B, C)})
    layer = member(A, world)
    layer.leaver.note(C)
    assert asks_for(3, layer.convener.consider(1.0))
    store(layer)
    world.unheard, world.indirect = dict(SAID), {A: SAID[A]}
    layer.on_event(ReachabilityChanged(), 1.2)
    assert layer.proposer.attempt is None
    hear(layer, B, Prepare(layer.state.view, Ballot(2, B)), 1.3)
    (promise,) = (h for h in told(store(layer)) if isinstance(h, Promise))
    assert promise.promised == Ballot(2, B)


def test_the_first_half_takes_the_word_after_a_turn() -> None:
    layer = member(A, parted())
    assert not asks_for(3, layer.on_timer("tick", 1.0))
    layer.state.blocked = True
    assert not asks_for(3, layer.convener.on_stuck(1.5))
    assert not asks_for(3, layer.on_timer("tick", 0.9 + TURN_S))
    layer.state.blocked = False
    assert asks_for(3, layer.on_timer("tick", 1.0 + TURN_S))
    assert layer.proposer.attempt is not None
    assert layer.proposer.attempt.expected == {A}


def test_the_others_do_not_wait_for_an_attempt_of_the_first_half() -> None:
    world = World(unheard={m: frozenset[Address]() for m in (A, B, C)})
    layer = member(B, world)
    hear(layer, A, Prepare(layer.state.view, Ballot(1, A)), 1.0)
    store(layer)
    world.unheard, world.indirect = dict(SAID), {A: SAID[A]}
    assert asks_for(3, layer.on_event(ReachabilityChanged(), 1.1))


def test_the_first_does_not_decide_by_itself_what_more_others_have_not_answered() -> None:
    world = World(unheard={m: frozenset[Address]() for m in (A, B, C)})
    layer = member(A, world)
    layer.leaver.note(C)
    layer.convener.consider(1.0)
    store(layer)
    layer.on_timer("repeat", 1.0 + VOTE_S + 0.1)
    assert not flushes(layer)
    layer.on_timer("repeat", 1.1 + ATTEMPT_S)
    assert layer.proposer.attempt is None, "it is tried again"


def test_nothing_is_decided_while_it_is_found_out_who_gets_no_unicasts() -> None:
    world = World(unheard={m: frozenset[Address]() for m in (A, B, C)})
    layer = member(A, world)
    layer.leaver.note(C)
    layer.convener.consider(1.0)
    store(layer)
    world.parting = True
    for voter in (B, C):
        hear(layer, voter, Promise(3, Ballot(1, A), Ballot(1, A), vote(voter, counts=voter == B)))
    assert not flushes(layer)
    world.parting = False
    layer.on_event(ReachabilityChanged(), 1.1)
    assert flushes(layer)


def test_what_a_ballot_is_made_of_goes_to_all_where_unicasts_do_not_arrive() -> None:
    layer = member(A, World(unheard=dict(SAID), indirect={A: SAID[A]}, no_way={B, C}))
    hear(layer, B, Prepare(layer.state.view, Ballot(1, B)))
    assert where(store(layer), Promise) == [None]
    hear(layer, B, Propose(3, Ballot(1, B), proposal_of(B, C, state_holders=(A, B))))
    assert where(store(layer), Accept) == [None]


def test_who_is_apart_and_proposes_is_not_helped_to_leave_the_others_behind() -> None:
    """b gets no unicasts: a and c go on, and b could go on with the vote of a."""
    said = {A: frozenset[Address](), B: frozenset({A, C}), C: frozenset[Address]()}
    layer = member(A, World(unheard=said, indirect={B: said[B]}, no_way={B}))
    hear(layer, B, Prepare(layer.state.view, Ballot(1, B)))
    assert where(store(layer), Promise) == [B]


def test_a_decided_view_is_told_to_all_now_and_then_and_to_who_is_left_behind_not_for_ever() -> (
    None
):
    layer = member(A, World())
    mine, other = proposal_of(A, B, C, basis=2), Address("d", 1)
    layer.proposer.tells_all = True
    layer.proposer.confirming = dict.fromkeys((B, other), Install(mine, OrderState(0)))
    sent = [where(layer.on_timer("confirm", 1.0), Install) for _ in range(CONFIRMED_MOST + 1)]
    assert sent[0] == [B, other]
    assert sent[TO_ALL_EVERY - 1] == [None]
    assert sent[-1] == [B]
