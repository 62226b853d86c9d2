"""Real nodes join over links that lose, while their giver dies, and come back."""

from __future__ import annotations

import asyncio

import pytest

from bench.node_join import come_back, join

SIZE_MB = 3.0
LOSS_PERCENT = 5.0
ANSWERS_S = 3.0
"""Its status is answered all the while; this allows for a machine with much else to do."""


@pytest.mark.process
@pytest.mark.slow
def test_a_joiner_whose_giver_is_killed_serves_and_is_given_only_the_rest() -> None:
    """Without root this fails with what is missing."""
    found = asyncio.run(join(SIZE_MB, LOSS_PERCENT, kills=True))
    first, last = found["bytes_of_each_giver"]
    assert first > SIZE_MB * 1e6
    assert last < 0.9 * first


@pytest.mark.process
@pytest.mark.slow
def test_a_node_that_comes_back_says_what_it_does_and_stays() -> None:
    found = asyncio.run(come_back(SIZE_MB, "stopped"))
    assert found["bytes_of_each_giver"], "the others have gone on: their state is taken"
    assert found["said_serving_too_soon"] == 0
    assert found["left_again"] == 0
    assert found["status_longest_s"] < ANSWERS_S
