"""A frame that a quorum has delivered, and two views that leave nobody of it (decision 24)."""

from __future__ import annotations

import pytest

from groupcore.batch import Batch
from groupcore.events import Event, ViewInstalled
from groupcore.sequencing.keeper import Keeper
from groupcore.sequencing.service import Service
from groupcore.sim.clock import SECOND
from groupcore.sim.trace_groups import GroupDelivered, GroupSent
from groupcore.view import Address
from tests.groupcore.sim.rows.playing_groups import GroupPlay, members, moves, send

SENT_S = 2.5
LEFT_S = 2.6


def test_it_is_with_who_is_left_when_one_leaves_and_the_next_crashes_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Node a does not hear the frame before it is stopped; b goes, then c, whose frame it is."""
    play = GroupPlay(
        members({0: "a0 b0 c0"}),
        moves(1.6, "c", 0),
        send(SENT_S, "b0", 0),
        send(4.5, "a0", 0),
        groups=1,
    )
    on_frame, on_event = Keeper.on_frame, Service.on_event
    deaf = True

    def hear(keeper: Keeper, sequencer: Address, number: int, batch: Batch) -> None:
        plane = keeper._plane
        late = play.cluster.clock.now_ns >= SENT_S * SECOND
        if deaf and late and plane.me.name == "a" and plane.frozen is None:
            return
        on_frame(keeper, sequencer, number, batch)

    def note(service: Service, event: Event, now: float) -> None:
        nonlocal deaf
        on_event(service, event, now)
        if not isinstance(event, ViewInstalled) or event.previous is None or not deaf:
            return
        if service.plane.me.name == "a" and len(event.view.members) == 2:
            deaf = False
            play.cluster.clock.after(0, play.crash("c"))

    monkeypatch.setattr(Keeper, "on_frame", hear)
    monkeypatch.setattr(Service, "on_event", note)
    play.at(LEFT_S, play.node("b").leave)
    verdict = play.run()
    assert not deaf
    message = min(verdict.trace.of(GroupSent), key=lambda one: one.t).mid
    given = {
        one.n: one.t / SECOND for one in verdict.trace.of(GroupDelivered) if one.mid == message
    }
    assert given["c"] < LEFT_S
    assert given["a"] > LEFT_S
