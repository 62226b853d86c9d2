"""Whose attempt goes first: who has a voter's promise, for the time of an attempt."""

from __future__ import annotations

from groupcore.membership.attention import Attention
from groupcore.view import Address
from tests.groupcore.membership.building import A, B

NOBODY: frozenset[Address] = frozenset()


def test_an_attempt_is_given_attention_for_so_long_and_not_to_who_is_passed_over() -> None:
    attention = Attention(2.0)
    assert not attention.is_given(NOBODY, 0.0)
    attention.give(A, 10.0)
    assert attention.is_given(NOBODY, 11.9)
    assert attention.is_given({B}, 11.9)
    assert not attention.is_given({A, B}, 11.9)
    assert not attention.is_given(NOBODY, 12.0)
    attention.give(B, 11.0)
    assert attention.is_given({A}, 12.9)


def test_a_view_ends_every_attempt() -> None:
    attention = Attention(2.0)
    attention.give(A, 10.0)
    attention.on_view()
    assert not attention.is_given(NOBODY, 10.1)
