"""The rules of counting what a reader has not read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from groupcore.aio.inbox import Inbox
from groupcore.aio.unread import BACKLOG_STEP_BYTES, Unread
from groupcore.batch import MESSAGE_COST_BYTES
from groupcore.endpoint import Delivery
from groupcore.view import Address

A = Address("a", 1)


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(0, 500)), max_size=20), st.data())
def test_a_delivery_is_unread_until_its_last_message_is(
    deliveries: list[tuple[int, int]], data: st.DataObject
) -> None:
    ledger = Unread()
    total = sum(items for items, _ in deliveries)
    for items, cost_bytes in deliveries:
        ledger.add(items, cost_bytes)
    left = data.draw(st.integers(0, total))
    unread, items_after = 0, 0
    for items, cost_bytes in reversed(deliveries):
        unread += cost_bytes if items_after < left else 0
        items_after += items
    assert ledger.backlog_bytes(left) == unread


def test_a_reader_that_is_behind_says_when_it_has_read_half() -> None:
    ledger = Unread()
    ledger.add(10, BACKLOG_STEP_BYTES)
    assert ledger.backlog_bytes(10) == BACKLOG_STEP_BYTES
    assert ledger.wake_at == 5
    ledger.backlog_bytes(0)
    assert ledger.wake_at == -1


async def test_an_inbox_tells_its_backlog_as_flow_control_counts_it() -> None:
    inbox = Inbox()
    told: list[int] = []
    inbox.on_relief = lambda: told.append(inbox.backlog_bytes())
    inbox.put([Delivery(A, position, [bytes(BACKLOG_STEP_BYTES)]) for position in range(1, 5)])
    each = BACKLOG_STEP_BYTES + MESSAGE_COST_BYTES
    assert inbox.backlog_bytes() == 4 * each
    inbox.close()
    async for _ in inbox.read():
        pass
    assert told == [2 * each, each, 0]
