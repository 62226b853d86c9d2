"""The rules of the inbox: one order for messages and events, an end, a bound."""

from __future__ import annotations

import asyncio

import pytest

from groupcore.aio import inbox as module
from groupcore.aio.errors import ReaderTooSlowError
from groupcore.aio.inbox import Inbox, Message
from groupcore.endpoint import Delivery
from groupcore.errors import ChannelClosedError
from groupcore.events import Left, PrimaryLost
from groupcore.view import Address

A = Address("a", 1)


async def test_messages_and_events_keep_their_order_and_positions() -> None:
    inbox = Inbox()
    inbox.put([Delivery(A, 5, [b"x", b"y"]), PrimaryLost(), Delivery(A, 0, [b"z", b"z"])])
    inbox.close()
    assert [item async for item in inbox.read()] == [
        Message(A, b"x", 5),
        Message(A, b"y", 6),
        PrimaryLost(),
        Message(A, b"z", 0),
        Message(A, b"z", 0),
    ]


async def test_a_reader_waits_for_what_comes() -> None:
    inbox = Inbox()
    reading = asyncio.ensure_future(anext(aiter(inbox.read())))
    await asyncio.sleep(0)
    assert not reading.done()
    inbox.put([Left()])
    assert await reading == Left()


async def test_what_was_delivered_is_read_before_the_error_is_raised() -> None:
    inbox = Inbox()
    inbox.put([Left()])
    inbox.close(ChannelClosedError("gone"))
    items = aiter(inbox.read())
    assert await anext(items) == Left()
    with pytest.raises(ChannelClosedError, match="gone"):
        await anext(items)


async def test_more_than_the_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "INBOX_ITEMS_MAX", 2)
    inbox = Inbox()
    inbox.put([Delivery(A, 1, [b"x", b"y"])])
    with pytest.raises(ReaderTooSlowError, match="at most 2"):
        inbox.put([Left()])
