"""The rules of the door: who asks to join is told the view, refused, or noted."""

from __future__ import annotations

from groupcore.effects import Effect
from groupcore.events import Excluded
from groupcore.membership.admission import Admission
from groupcore.membership.ballots import Record
from groupcore.membership.doorkeeper import NAMESAKE_S, Doorkeeper
from groupcore.membership.headers import Installed, JoinRefused, JoinRequest
from groupcore.membership.state import MembershipOptions
from groupcore.membership.voter import Voter
from groupcore.view import Address
from tests.groupcore.layers.building import events, stored, told
from tests.groupcore.membership.building import (
    LINEAGE,
    A,
    B,
    C,
    D,
    World,
    encode,
    install_of,
    proposal_of,
    state_of,
    view_of,
)

VIEW = view_of(A, B)
AGAIN = Address("b", 2)


def door(world: World | None = None, options: MembershipOptions | None = None) -> Doorkeeper:
    ask = (world or World()).questions()
    state = state_of(A, VIEW, options=options)
    return Doorkeeper(state, Voter(state, ask), Admission(), ask)


def request(
    mine: Doorkeeper, joiner: Address = C, lineage: int = 0, now: float = 0.0
) -> list[Effect] | None:
    return mine.on_join_request(joiner, JoinRequest((A, B), lineage), VIEW, now)


def test_a_node_that_asks_is_noted() -> None:
    mine = door()
    assert request(mine) is None
    assert request(mine, D, lineage=LINEAGE) is None
    assert mine.admission.ready(VIEW, (A, B), frozenset(), 0.0) == (C, D)


def test_who_is_in_the_view_already_is_told_it() -> None:
    mine = door()
    assert request(mine, B) == []
    mine.state.last_install = install_of(proposal_of(A, B, basis=2))
    assert told(request(mine, B) or []) == [mine.state.last_install]


def test_of_nodes_with_logs_and_without_the_members_decide_which_may_join() -> None:
    logged = MembershipOptions(data_plane=True, logged=True)
    for options, joiner_is_logged in ((None, True), (logged, False)):
        mine = door(options=options)
        asks = JoinRequest((A, B), 0, joiner_is_logged)
        answer = mine.on_join_request(C, asks, VIEW, 0.0)
        assert told(answer or []) == [JoinRefused("mixed_logs")]
    asks = JoinRequest((A, B), 0, True)
    assert door(options=logged).on_join_request(C, asks, VIEW, 0.0) is None


def test_a_node_of_another_chain_is_refused() -> None:
    assert told(request(door(), lineage=8) or []) == [JoinRefused("foreign_cluster")]


def test_a_life_that_has_left_is_refused() -> None:
    mine = door()
    mine.admission.left_view(C)
    assert told(request(mine) or []) == [JoinRefused("left_behind")]


def asks_again(mine: Doorkeeper) -> list[Effect] | None:
    """The new life asks until its namesake must have been heard if it lives."""
    assert request(mine, AGAIN, now=10.0) is None
    assert request(mine, AGAIN, now=10.0 + NAMESAKE_S) is None
    return request(mine, AGAIN, now=10.1 + NAMESAKE_S)


def test_two_living_nodes_with_one_id_are_never_both_members() -> None:
    mine = door(World(heard=(A, B, AGAIN)))
    assert told(asks_again(mine) or []) == [JoinRefused("id_in_use")]


def test_a_namesake_that_is_heard_no_more_is_no_obstacle() -> None:
    assert asks_again(door(World(heard=(A, AGAIN)))) is None


def test_a_member_of_a_later_view_shows_that_this_one_is_behind() -> None:
    later = view_of(B, C, number=4)
    effects = door(World(present={B: (later, True)})).on_found(VIEW, 0.0)
    assert events(effects) == [Excluded("the others have gone on without this member")]
    still_in = view_of(A, B, number=4)
    mine = door(World(present={B: (still_in, True)}))
    assert told(mine.on_found(VIEW, 0.0)) == [Installed(3)]


def test_the_same_view_and_older_ones_say_nothing() -> None:
    world = World(present={B: (VIEW, True), C: (view_of(C, number=2), True)})
    assert door(world).on_found(VIEW, 0.0) == []


def test_a_smaller_cluster_without_state_forgets_its_chain_and_joins_the_larger() -> None:
    larger = view_of(B, C, D, number=1, lineage=8)
    mine = door(World(present={C: (larger, True)}))
    effects = mine.on_found(VIEW, 0.0)
    assert events(effects) == []
    (persist,) = stored(effects)
    assert persist.record == encode(Record())
    (follows,) = events(mine.state.after_persist[persist.token])
    assert isinstance(follows, Excluded)
    assert mine.state.gone


def test_of_two_equal_clusters_the_one_with_the_higher_lineage_gives_way() -> None:
    lower, higher = (view_of(C, D, lineage=lineage) for lineage in (LINEAGE - 1, LINEAGE + 1))
    assert door(World(present={C: (lower, True)})).on_found(VIEW, 0.0) != []
    assert door(World(present={C: (higher, True)})).on_found(VIEW, 0.0) == []


def test_who_has_something_to_lose_never_joins_another_cluster() -> None:
    world = World(present={C: (view_of(B, C, D, lineage=8), True)})
    for options in (
        MembershipOptions(absorb=False),
        MembershipOptions(durable=True),
        MembershipOptions(application_state=True),
    ):
        assert door(world, options).on_found(VIEW, 0.0) == []
    blocked = World(present={C: (view_of(B, C, D, lineage=8), False)})
    assert door(blocked).on_found(VIEW, 0.0) == []
