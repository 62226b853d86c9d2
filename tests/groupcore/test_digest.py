"""The rules of digests, against slow obvious versions."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupcore.digest import Digest, covers, maximum, minimum
from groupcore.view import Address

MEMBERS = [Address(name, 1) for name in "abcd"]
digests = st.dictionaries(st.sampled_from(MEMBERS), st.integers(0, 20))


def complete(digest: Digest) -> dict[Address, int]:
    """An absent sender means zero."""
    return {member: digest.get(member, 0) for member in MEMBERS}


@given(st.lists(digests, max_size=5))
def test_the_maximum_has_for_each_sender_the_highest_number(given_digests: list[Digest]) -> None:
    expected = {m: max((d.get(m, 0) for d in given_digests), default=0) for m in MEMBERS}
    assert complete(maximum(given_digests)) == expected


@given(st.lists(digests, min_size=1, max_size=5))
def test_the_minimum_has_for_each_sender_the_lowest_number(given_digests: list[Digest]) -> None:
    expected = {m: min(d.get(m, 0) for d in given_digests) for m in MEMBERS}
    assert complete(minimum(given_digests)) == expected


@given(st.lists(digests, min_size=1, max_size=5))
def test_the_minimum_exceeds_no_digest_and_the_maximum_falls_short_of_none(
    given_digests: list[Digest],
) -> None:
    assert all(covers(digest, minimum(given_digests)) for digest in given_digests)
    assert all(covers(maximum(given_digests), digest) for digest in given_digests)


@given(digests, digests)
def test_one_digest_covers_another_when_no_sender_is_behind(have: Digest, need: Digest) -> None:
    expected = all(complete(have)[m] >= complete(need)[m] for m in MEMBERS)
    assert covers(have, need) == expected


def test_of_no_digests_the_minimum_and_the_maximum_are_empty() -> None:
    assert minimum([]) == {}
    assert maximum([]) == {}


def test_a_digest_at_the_start_of_a_view_is_zero_for_everybody() -> None:
    # pbcast design, "Digest returned to client": numbers begin with the view, so it cannot be old
    assert covers({}, dict.fromkeys(MEMBERS, 0))
    assert not covers({}, {MEMBERS[0]: 1})
