"""The rules of how often and how soon a gossip begins, and to how many it is passed on."""

from __future__ import annotations

from random import Random

import pytest

from groupcore.events import FlushStarted, MuchReceived, WindowFull
from groupcore.layers.pbcast import Gossip, GossipOptions
from tests.groupcore.layers.building import B, timers, told
from tests.groupcore.layers.pbcasts import ALL, gossip, hear, member


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


def test_after_many_bytes_a_gossip_comes_soon_and_not_from_all_at_once() -> None:
    delays = set()
    for seed in range(8):
        layer = member(seed=seed)
        delays.add(timers(layer.on_event(MuchReceived(), 0.0))["gossip"])
        assert layer.on_event(MuchReceived(), 0.0) == []  # it is under way already
        layer.on_timer("gossip", 0.0)
        assert layer.on_event(MuchReceived(), 0.0) != []
    assert len(delays) == 8
    assert max(delays) <= ALL.hurry_s


def test_who_cannot_send_on_asks_all_to_gossip_soon() -> None:
    layer = member()
    effects = layer.on_event(WindowFull(), 0.0)
    (header,) = told(effects)
    assert isinstance(header, Gossip)
    assert header.urgent
    layer.on_event(FlushStarted(), 0.0)
    assert layer.on_event(WindowFull(), 0.0) == []


def test_who_hears_that_somebody_cannot_send_on_gossips_soon() -> None:
    layer = member()
    effects = hear(layer, gossip(B, (0, 0, 0), (0, 2), urgent=True))
    assert timers(effects)["gossip"] <= ALL.hurry_s
    (passed,) = told(effects)
    assert isinstance(passed, Gossip)
    assert passed.urgent
    (mine,) = told(layer.on_timer("gossip", 0.0))
    assert isinstance(mine, Gossip)
    assert not mine.urgent
