"""Whichever half proposes, in whatever order: all views that are decided are one (decision 162)."""

from __future__ import annotations

import os

import pytest

from groupcore.membership import succession
from groupcore.membership.ballots import Proposal, Vote
from groupcore.view import Address, View
from tests.groupcore.membership.building import A, B
from tests.groupcore.membership.exploring_halves import Halves

GAMES: list[tuple[tuple[Address, ...], tuple[Address, ...]]] = [
    ((B, A), (A,)),
    ((A, B), (B,)),
    ((B, A, B), ()),
    ((A, B, A), ()),
    ((B, A, B), (A,)),
    ((A, B, A), (B,)),
]
"""Who proposes, and who may lose its memory."""
TAKEN = int(os.environ.get("HALVES", "3"))
"""So many of them; the others take longer than `make test` has."""


@pytest.mark.slow
@pytest.mark.parametrize(("proposers", "crashes"), GAMES[:TAKEN])
def test_whichever_half_proposes_one_view_is_decided(
    proposers: tuple[Address, ...], crashes: tuple[Address, ...]
) -> None:
    """With a and b there the next attempt always decides; a alone, where it has not accepted a
    view without itself, which b may have gone on in."""
    found = Halves(proposers, crashes=crashes).run()
    assert found.most_views == 1
    assert found.waits_for_b
    orderly = {view.names for view in found.views if view.epoch == 1}
    assert orderly >= {("a",), ("b", "c"), ("b",), ("a", "b", "c")}


def test_a_vote_of_the_first_half_that_tells_nothing_makes_two_views(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It stays behind, and what it has accepted may be decided all the same."""

    def nothing(basis: View | None, votes: list[Vote]) -> Proposal | None:
        return None

    monkeypatch.setattr(succession, "binding", nothing)
    assert Halves((B, A)).run().most_views == 2
