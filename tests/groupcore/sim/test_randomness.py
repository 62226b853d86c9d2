"""Streams of chance: named, independent, the same for the same seed."""

from __future__ import annotations

from groupcore.sim.randomness import derive, stream


def test_a_stream_is_the_same_for_the_same_seed_and_names() -> None:
    assert stream(7, "node", 1).random() == stream(7, "node", 1).random()


def test_streams_of_other_names_or_seeds_differ() -> None:
    seeds = {derive(7, "network"), derive(7, "disk"), derive(8, "network"), derive(7, "node", 1)}
    assert len(seeds) == 4


def test_a_derived_seed_does_not_change_between_versions() -> None:
    assert derive(1, "network") == 6389033763369869916
