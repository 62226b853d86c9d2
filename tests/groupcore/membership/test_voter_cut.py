"""The voter and the cut: what it must hold before it accepts a view, and before it begins one."""

from __future__ import annotations

from groupcore.events import CutAgreed, CutDelivered, Excluded, FetchCut, FlushStarted
from groupcore.membership.headers import Accept
from tests.groupcore.layers.building import events, stored, timers, told
from tests.groupcore.membership.building import A, B, C, World, install_of, proposal_of
from tests.groupcore.membership.test_voter import FIRST, begun, living, on_disk, propose


def test_it_is_accepted_only_when_everything_in_the_cut_is_here() -> None:
    world = World(digest={B: 3})
    voter = living(world)
    proposal = proposal_of(A, B, cut={B: 5}, holders={B: (C,)})
    effects = voter.on_propose(B, propose(proposal))
    assert events(effects) == [FlushStarted(), FetchCut({B: 5}, {B: (C,)})]
    assert stored(effects) == []
    world.digest = {B: 5}
    assert told(on_disk(voter, voter.on_cut_held())) == [Accept(3, FIRST)]
    assert voter.on_cut_held() == []


def test_it_is_accepted_only_when_the_frames_of_the_data_plane_are_here_too() -> None:
    world = World()
    voter = living(world)
    proposal = proposal_of(A, B, cut={B: 5}, streams={C: 9}, stream_holders={C: (B,)})
    effects = voter.on_propose(B, propose(proposal))
    assert events(effects)[-1] == FetchCut({B: 5}, {}, {C: 9}, {C: (B,)})
    assert stored(effects) == []
    world.digest = {B: 5}
    assert voter.on_cut_held() == []  # NAKACK tells of its half
    world.digest, world.streams = {}, {C: 9}
    assert voter.on_cut_held() == []  # the data plane of its own
    world.digest = {B: 5}
    assert told(on_disk(voter, voter.on_cut_held())) == [Accept(3, FIRST)]


def test_frames_that_never_come_cost_a_voter_its_life_as_multicasts_do() -> None:
    voter = living()
    effects = voter.on_propose(B, propose(proposal_of(A, B, streams={C: 9})))
    assert timers(effects) == {"behind": voter.state.options.behind_s}
    assert isinstance(events(voter.on_behind())[0], Excluded)


def test_who_lacks_a_part_of_the_cut_gets_it_before_it_installs() -> None:
    world = World()
    voter = living(world)
    install = install_of(proposal_of(A, B, cut={C: 1}, holders={C: (B,)}))
    effects = voter.on_install(B, install)
    assert events(effects) == [FlushStarted(), FetchCut({C: 1}, {C: (B,)})]
    assert voter.on_install(B, install) == []
    world.digest = {C: 1}
    assert events(voter.on_cut_held()) == [CutAgreed({C: 1}), CutDelivered()]


def test_who_lacks_frames_of_the_cut_gets_them_before_it_installs() -> None:
    world = World()
    voter = living(world)
    proposal = proposal_of(A, B, streams={C: 1}, stream_holders={C: (B,)})
    effects = voter.on_install(B, install_of(proposal))
    assert events(effects) == [FlushStarted(), FetchCut({}, {}, {C: 1}, {C: (B,)})]
    assert voter.on_cut_held() == []
    world.streams = {C: 2}
    assert events(voter.on_cut_held()) == [CutAgreed(), CutDelivered()]
    assert begun(voter.on_cut_delivered()).streams == {C: 1}
