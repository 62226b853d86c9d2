"""The rules of the token buckets."""

from __future__ import annotations

from groupcore.token_bucket import TokenBuckets


def test_a_burst_is_granted_and_then_the_rate() -> None:
    buckets = TokenBuckets(rate_per_s=10, burst=3, keys_max=4)
    assert [buckets.take("a", 0.0) for _ in range(4)] == [True, True, True, False]
    assert not buckets.take("a", 0.05)
    assert buckets.take("a", 0.15)
    assert not buckets.take("a", 0.15)


def test_a_refused_token_costs_nothing() -> None:
    buckets = TokenBuckets(rate_per_s=1, burst=1, keys_max=4)
    assert buckets.take("a", 0.0)
    assert not any(buckets.take("a", 0.1 * step) for step in range(1, 9))
    assert buckets.take("a", 1.1)


def test_every_source_has_a_bucket_of_its_own() -> None:
    buckets = TokenBuckets(rate_per_s=1, burst=1, keys_max=4)
    assert buckets.take("a", 0.0)
    assert buckets.take("b", 0.0)


def test_the_table_never_grows_above_its_limit() -> None:
    buckets = TokenBuckets(rate_per_s=1, burst=1, keys_max=4)
    for source in range(100):
        assert buckets.take(source, 0.0)
    assert len(buckets._levels) == 4
