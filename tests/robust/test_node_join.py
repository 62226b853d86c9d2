"""A real node joins over links that lose, and its giver dies: the next one gives the rest."""

from __future__ import annotations

import asyncio

import pytest

from bench.node_join import join

SIZE_MB = 3.0
LOSS_PERCENT = 5.0


@pytest.mark.process
@pytest.mark.slow
def test_a_joiner_whose_giver_is_killed_serves_and_is_given_only_the_rest() -> None:
    """Without root this fails with what is missing."""
    found = asyncio.run(join(SIZE_MB, LOSS_PERCENT, kills=True))
    first, last = found["bytes_of_each_giver"]
    assert first > SIZE_MB * 1e6
    assert last < 0.9 * first
