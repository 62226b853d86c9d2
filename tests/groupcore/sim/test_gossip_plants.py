"""Bugs put into gossip on purpose: each is found by the invariant that is meant for it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from groupcore.effects import Effect
from groupcore.layers.pbcast import Gossip, Pbcast
from groupcore.reports import Ranked, Reports
from groupcore.sim.jobs import Job
from groupcore.view import Address, View

pytestmark = pytest.mark.slow

SCHEDULES_MAX = 200
LOST = {13, 24, 25}
"""Something is dropped that a member still needs; it shows at once, in the next view, or later."""


def found(lead: int = 0) -> bool:
    """Whether schedules show that something was dropped that a member still needs.

    `lead`: the one that has shown it before is looked at first.
    """
    for index in (lead, *range(SCHEDULES_MAX)):
        violations = Job("gossip", 1, index, "").verdict().violations
        if any(violation.number in LOST for violation in violations):
            return True
    return False


def test_what_one_member_has_counted_as_what_all_have_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learn = Reports.learn

    def learn_of_all(self: Reports, _: Iterable[int], delivered: Ranked) -> None:
        learn(self, range(len(self.rows)), delivered)

    monkeypatch.setattr(Reports, "learn", learn_of_all)
    assert found()


def test_having_seen_a_gossip_taken_for_having_its_messages_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # what the pbcast design does, without its lag
    handle = Pbcast.handle

    def believe(self: Pbcast, relay: Address, gossip: Gossip) -> list[Effect]:
        delivered = self.delivered
        self.delivered = lambda: self.digest(gossip.held)
        try:
            return handle(self, relay, gossip)
        finally:
            self.delivered = delivered

    monkeypatch.setattr(Pbcast, "handle", believe)
    assert found()


def test_what_was_stable_in_the_view_before_and_still_counts_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    on_view = Pbcast.on_view

    def keep(self: Pbcast, view: View) -> list[Effect]:
        former = self.reports.stable
        effects = on_view(self, view)
        members = len(view.members)
        nothing = (0,) * members
        self.reports.learn(range(members), (*former, *nothing)[:members])
        return effects

    monkeypatch.setattr(Pbcast, "on_view", keep)
    assert found(lead=364)
