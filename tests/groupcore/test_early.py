"""The rules of what comes before its view: kept within a bound, and only for that view."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupcore.batch import Batch
from groupcore.early import OVERHEAD_BYTES, Early
from groupcore.view import Address


def batch(size_bytes: int = 8) -> Batch:
    return Batch(Address("a", 1), None, (), bytes(size_bytes), 1)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 9)), max_size=20), st.integers(0, 6))
def test_a_view_gets_its_batches_in_order_and_former_views_are_forgotten(
    arrivals: list[tuple[int, int]], installed: int
) -> None:
    early = Early(1 << 20)
    for view, size_bytes in arrivals:
        assert early.keep(view, batch(size_bytes))
    assert early.take(installed) == [batch(size) for view, size in arrivals if view == installed]
    later = [(view, size) for view, size in arrivals if view > installed]
    assert early.size_bytes == sum(OVERHEAD_BYTES + size for _, size in later)
    assert set(early.batches) == {view for view, _ in later}


def test_what_does_not_fit_is_not_kept_until_there_is_room_again() -> None:
    early = Early(2 * (OVERHEAD_BYTES + 8))
    assert [early.keep(1, batch()) for _ in range(3)] == [True, True, False]
    early.take(1)
    assert early.keep(2, batch())
