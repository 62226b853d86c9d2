"""Whatever the order of votes, acceptances and a lost disk: all views that are decided are one.

Of a view from disk: a and b hold the state, c lacks some of the order, b's disk is lost. Of an
orderly view: c was cut off when a asked b, and a's or b's disk is lost; c may lose its memory.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from groupcore.membership import succession
from groupcore.membership.ballots import Proposal, Vote
from groupcore.membership.succession import binding
from groupcore.view import Address, View
from tests.groupcore.membership.building import A, B, C
from tests.groupcore.membership.exploring_losses import Exploration


def explored() -> Exploration:
    """a tries twice and c once, with a higher ballot each time."""
    return Exploration((A, A, C), loses=B).run()


@pytest.mark.slow
def test_all_that_is_decided_is_one_view_also_where_that_takes_the_lost_disk() -> None:
    found = explored()
    assert found.states > 50_000
    assert found.needed
    assert found.most_views == 1


def test_another_view_in_the_place_of_one_that_needs_a_lost_disk_makes_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The lost node may have accepted the first one, which was decided by that."""

    def given_up(basis: View | None, votes: list[Vote]) -> Proposal | None:
        bound = binding(basis, votes)
        empty = {vote.voter.name for vote in votes if not vote.counts}
        names = set() if bound is None else {holder.name for holder in bound.state_holders}
        return None if empty & names else bound

    monkeypatch.setattr(succession, "binding", given_up)
    assert explored().most_views == 2


ORDERLY = [
    ((A, C, C), A, ()),
    ((A, B, C), A, (C,)),
    ((A, C, B), A, (B,)),
    ((A, B, C), B, (C,)),
]
"""Who proposes, whose disk is lost, and who may lose its memory."""
TAKEN = int(os.environ.get("LOST_DISKS", "2"))
"""So many of them; the others take longer than `make test` has."""


@pytest.mark.slow
@pytest.mark.parametrize(("proposers", "loses", "crashes"), ORDERLY[:TAKEN])
def test_all_orderly_views_that_are_decided_are_one(
    proposers: tuple[Address, ...], loses: Address, crashes: tuple[Address, ...]
) -> None:
    found = Exploration(proposers, loses, live=True, crashes=crashes).run()
    assert found.states > 100_000
    assert found.needed
    assert found.most_views == 1


def test_an_empty_disk_that_counts_as_one_that_has_not_accepted_makes_two_orderly_views(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def believing(basis: View | None, votes: list[Vote]) -> Proposal | None:
        return binding(basis, [replace(vote, lost=False) for vote in votes])

    monkeypatch.setattr(succession, "binding", believing)
    assert Exploration((A, B, C), A, live=True).run().most_views == 2
