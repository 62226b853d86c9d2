"""GMS as its tests build it."""

from __future__ import annotations

from random import Random

from groupcore.batch import Header
from groupcore.digest import Digest
from groupcore.effects import Effect
from groupcore.events import (
    Connect,
    CutDelivered,
    Flushed,
    FlushStarted,
    Persisted,
    ViewInstalled,
)
from groupcore.layers.membership import Membership
from groupcore.membership.ballots import Ballot, Record
from groupcore.membership.headers import (
    Accept,
    JoinRequest,
    Prepare,
    Promise,
)
from groupcore.membership.state import MembershipOptions
from groupcore.view import Address
from tests.groupcore.layers.building import bare, told
from tests.groupcore.membership.building import (
    A,
    B,
    C,
    World,
    encode,
    install_of,
    proposal_of,
    view_of,
    vote,
)

VIEW = view_of(A, B, C)
OPTIONS = MembershipOptions(cluster_size=3)


def idle(me: Address, world: World, options: MembershipOptions = OPTIONS) -> Membership:
    return Membership(me, Random(1), options, Record(), encode, world.questions())


def member(
    me: Address = A,
    world: World | None = None,
    members: tuple[Address, ...] = (A, B, C),
    options: MembershipOptions = OPTIONS,
) -> Membership:
    """A layer that lives in view 3 of these members."""
    layer = idle(me, world or World(), options)
    layer.on_event(Connect(), 0.0)
    hear(layer, members[0], install_of(proposal_of(*members, basis=2)))
    layer.on_event(CutDelivered(), 0.0)
    layer.on_event(ViewInstalled(view_of(*members), None, fresh=True), 0.0)
    store(layer)
    return layer


def hear(layer: Membership, sender: Address, header: Header, now: float = 1.0) -> list[Effect]:
    return layer.on_up(bare(sender, header), now)


def store(layer: Membership) -> list[Effect]:
    """The disk has caught up."""
    tokens = list(layer.state.after_persist)
    return [effect for token in tokens for effect in layer.on_event(Persisted(token), 1.0)]


def asks_for(view_number: int, effects: list[Effect]) -> bool:
    """Whether a successor of that view is sought."""
    questions = [header for header in told(effects) if isinstance(header, Prepare)]
    return [q.basis.number for q in questions if q.basis is not None] == [view_number]


def promise(voter: Address, live: bool = True) -> Promise:
    return Promise(3, Ballot(1, A), Ballot(1, A), vote(voter, live=live))


def stop(
    layer: Membership, *members: Address, digest: Digest | None = None, now: float = 1.0
) -> list[Effect]:
    """FLUSH tells that these have stopped for A's first ballot; what follows from all of it."""
    effects: list[Effect] = []
    if A in members:
        layer.on_event(FlushStarted(), now)
    for member in members:
        effects += layer.on_event(Flushed(member, Ballot(1, A), digest or {}, 0), now)
    return effects


def decide(layer: Membership, *voters: Address) -> list[Effect]:
    """Let an attempt of A succeed with these voters; what follows from the last acceptance."""
    store(layer)
    for voter in voters:
        hear(layer, voter, promise(voter))
    stop(layer, A, *voters)
    effects = store(layer)
    for voter in voters:
        effects = hear(layer, voter, Accept(3, Ballot(1, A)))
    return effects


def request(*hears: Address) -> JoinRequest:
    return JoinRequest(hears or (A, B, C), 0)
