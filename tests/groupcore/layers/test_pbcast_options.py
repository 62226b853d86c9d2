"""The rules of how often a gossip begins, and to how many it is passed on."""

from __future__ import annotations

from random import Random

import pytest

from groupcore.layers.pbcast import GossipOptions


@pytest.mark.parametrize("members", [2, 10, 50])
def test_the_interval_is_random_up_to_twice_the_average_times_the_members(members: int) -> None:
    # "gossip_interval = Random(desired_avg_gossip * 2 * num_mbrs)"
    options, random = GossipOptions(desired_avg_s=30), Random(1)
    drawn = [options.draw_interval_s(random, members) for _ in range(4_000)]
    assert min(drawn) > 0
    assert 0.9 * 60 * members < max(drawn) <= 60 * members
    assert sum(drawn) / len(drawn) == pytest.approx(30 * members, rel=0.05)


def test_a_static_interval_ignores_the_size_of_the_group() -> None:
    options = GossipOptions(dynamic=False, interval_s=7.0)
    assert {options.draw_interval_s(Random(seed), seed) for seed in range(1, 9)} == {7.0}


def test_the_share_that_it_is_passed_on_to_falls_as_the_group_grows() -> None:
    options = GossipOptions(subset_share=0.3, subset_max=2)
    assert [options.subset_size(count) for count in (1, 3, 6, 20, 127)] == [1, 1, 2, 2, 2]
    assert options.subset_size(0) == 0
