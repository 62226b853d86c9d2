"""Counts of buckets."""

from __future__ import annotations

from math import inf

from groupcore.histogram import Histogram


def test_values_count_in_the_bucket_that_they_are_up_to() -> None:
    found = Histogram((0.0, 1.0, 10.0))
    for value in (0.0, 0.5, 1.0, 1.5, 10.0, 11.0, 12.0):
        found.observe(value)
    assert found.counts == [1, 2, 2, 2]
    assert list(found.cumulative()) == [(0.0, 1), (1.0, 3), (10.0, 5), (inf, 7)]
    assert found.sum == 36.0
