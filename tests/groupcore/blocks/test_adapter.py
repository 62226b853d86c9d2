"""PullPushAdapter: what is called when, and what one listener cannot do to another."""

from __future__ import annotations

import logging

import pytest

from groupcore.aio.inbox import Message
from groupcore.blocks.adapter import LISTENERS_MAX, STATE_ID, PullPushAdapter
from groupcore.blocks.errors import ListenerError, NestedCallError
from groupcore.errors import ChannelClosedError
from groupcore.events import PrimaryLost, ViewInstalled
from tests.groupcore.blocks.group import FakeGroup, settle, until
from tests.groupcore.blocks.listeners import Recorder, member


async def test_messages_views_and_events_are_pushed_in_their_order() -> None:
    group, plain = FakeGroup(), Recorder()
    a, adapter = await member(group, "a", plain=plain)
    group.join(a)
    await adapter.multicast(b"one")
    group.join((await member(group, "b"))[0])
    await adapter.multicast(b"two")
    a.set_primary(False)
    await settle()
    assert plain.views == [("a",), ("a", "b")]
    assert plain.payloads == [b"one", b"two"]
    assert plain.positions == [1, 2]
    assert plain.events[-1] == PrimaryLost()
    assert adapter.view is a.view
    assert adapter.me == a.address


async def test_a_message_goes_only_to_the_listener_of_its_id() -> None:
    group, plain, left, right = FakeGroup(), Recorder(), Recorder(), Recorder()
    a, adapter = await member(group, "a", plain=plain, left=left, right=right)
    group.join(a)
    await adapter.multicast(b"l", "left")
    await adapter.multicast(b"p")
    await settle()
    assert (plain.payloads, left.payloads, right.payloads) == ([b"p"], [b"l"], [])
    assert plain.views == left.views == right.views == [("a",)]


async def test_a_unicast_reaches_the_listener_of_its_id_at_one_member() -> None:
    group, here, there = FakeGroup(), Recorder(), Recorder()
    a, adapter = await member(group, "a", x=here)
    b, _ = await member(group, "b", x=there)
    group.join(a, b)
    await adapter.unicast(b.address, b"for you", "x")
    await settle()
    assert (here.payloads, there.payloads, there.positions) == ([], [b"for you"], [0])


async def test_listeners_are_added_and_removed_at_run_time() -> None:
    group, late = FakeGroup(), Recorder()
    a, adapter = await member(group, "a")
    group.join(a)
    await adapter.multicast(b"1", "late")
    await settle()
    adapter.add_listener(late, "late")
    await adapter.multicast(b"2", "late")
    await settle()
    adapter.remove_listener(late)
    await adapter.multicast(b"3", "late")
    await settle()
    assert late.payloads == [b"2"]
    assert adapter.counters() == {"messages": 1, "no_listener": 2}
    with pytest.raises(ListenerError, match="not added"):
        adapter.remove_listener(late)


async def test_an_exception_in_one_listener_is_logged_by_name_and_stops_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Recorder):
        def on_view(self, event: ViewInstalled) -> None:
            raise RuntimeError("out of order")

    group, sound = FakeGroup(), Recorder()
    with caplog.at_level(logging.ERROR):
        a, adapter = await member(group, "a", broken=Broken(), sound=sound)
        group.join(a)
        await adapter.multicast(b"on", "sound")
        await settle()
    assert sound.views == [("a",)]
    assert sound.payloads == [b"on"]
    assert "'broken' (Broken)" in caplog.text
    assert adapter.counters()["listener_failures"] == 1


async def test_a_callback_that_is_async_is_awaited_before_the_next_one() -> None:
    class Slow(Recorder):
        async def on_message(self, message: Message) -> None:  # type: ignore[override]
            self.payloads.append(b"begin " + message.payload)
            await settle()
            self.payloads.append(b"end " + message.payload)

    group, slow = FakeGroup(), Slow()
    a, adapter = await member(group, "a", plain=slow)
    group.join(a)
    await adapter.multicast(b"1")
    await adapter.multicast(b"2")
    await until(lambda: len(slow.payloads) == 4)
    assert slow.payloads == [b"begin 1", b"end 1", b"begin 2", b"end 2"]


@pytest.mark.parametrize("payload", [b"", b"\x05ab", b"\x01\xff", b"\xff"])
async def test_a_message_that_is_no_adapters_is_counted_and_dropped(payload: bytes) -> None:
    group, plain = FakeGroup(), Recorder()
    a, adapter = await member(group, "a", plain=plain)
    group.join(a)
    await a.multicast(payload)
    await settle()
    assert plain.payloads == []
    assert adapter.counters() == {"malformed": 1}


@pytest.mark.parametrize("listener_id", ["taken", "x" * 65, "ä", STATE_ID])
async def test_an_id_that_cannot_be_used_is_refused(listener_id: str) -> None:
    adapter = PullPushAdapter(FakeGroup().channel("a"))
    adapter.add_listener(Recorder(), "taken")
    with pytest.raises(ListenerError):
        adapter.add_listener(Recorder(), listener_id)


async def test_the_number_of_listeners_is_bounded() -> None:
    adapter = PullPushAdapter(FakeGroup().channel("a"))
    for number in range(LISTENERS_MAX):
        adapter.add_listener(Recorder(), str(number))
    with pytest.raises(ListenerError, match="remove one"):
        adapter.add_listener(Recorder(), "more")


async def test_listeners_are_told_when_the_channel_ends() -> None:
    group, ended, stopped = FakeGroup(), Recorder(), Recorder()
    a, first = await member(group, "a", plain=ended)
    _, second = await member(group, "b", plain=stopped)
    group.join(a)
    a.end()
    await first.wait_closed()
    await second.stop()
    assert ended.closed == [None]
    assert [type(error) for error in stopped.closed] == [ChannelClosedError]


async def test_who_waits_for_the_order_inside_a_callback_is_told_so() -> None:
    class Nested(Recorder):
        def on_message(self, message: Message) -> None:
            with pytest.raises(NestedCallError, match="start a task"):
                adapter.check_may_wait()
            self.payloads.append(message.payload)

    group, nested = FakeGroup(), Nested()
    a, adapter = await member(group, "a", plain=nested)
    group.join(a)
    adapter.check_may_wait()
    await adapter.multicast(b"1")
    await until(lambda: nested.payloads == [b"1"])
