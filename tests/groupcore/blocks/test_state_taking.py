"""How the listeners of an adapter come to their state, or find out that nobody has any."""

from __future__ import annotations

import pytest

from groupcore.blocks.adapter import STATE_ID, PullPushAdapter
from groupcore.blocks.errors import ListenerError
from groupcore.blocks.state_taking import NOTHING, SEEKING, StateTaking
from groupcore.blocks.values import pack_value
from groupcore.events import ViewInstalled
from groupcore.transfer.events import SetState
from groupcore.transfer.version import StateVersion
from groupcore.view import View
from tests.groupcore.blocks.group import FakeGroup, settle, until
from tests.groupcore.blocks.listeners import Log, Recorder, member


async def test_a_joiner_takes_the_state_and_then_the_messages_behind_it() -> None:
    group, old, new = FakeGroup(), Log(), Log()
    a, first = await member(group, "a", log=old)
    group.join(a)
    await first.multicast(b"1", "log")
    await first.multicast(b"2", "log")
    b, second = await member(group, "b", log=new)
    group.join(b)
    await first.multicast(b"3", "log")
    await until(lambda: second.whole)
    await first.multicast(b"4", "log")
    await settle()
    assert new.payloads == old.payloads == [b"1", b"2", b"3", b"4"]
    assert new.sets == [b"1,2,3"]
    assert second.counters()["in_the_state"] == 1


async def test_a_group_that_begins_has_an_empty_state_at_once() -> None:
    group, log, other = FakeGroup(), Log(), Log()
    a, first = await member(group, "a", log=log)
    b, second = await member(group, "b", log=other)
    group.join(a, b)
    await settle()
    assert first.whole
    assert second.whole
    assert log.sets == other.sets == [None]
    assert group.transfers == []


async def test_listeners_without_state_need_none() -> None:
    group, plain = FakeGroup(), Recorder()
    a, adapter = await member(group, "a", plain=plain)
    assert adapter.whole
    group.join(a)
    await adapter.multicast(b"1")
    b, second = await member(group, "b", plain=Recorder())
    group.join(b)
    await settle()
    assert second.whole
    assert a.state_provider is None
    assert group.transfers == []


async def test_the_states_of_several_listeners_travel_as_one() -> None:
    group, x, y = FakeGroup(), Log(), Log()
    a, first = await member(group, "a", x=Log(), y=Log(), plain=Recorder())
    group.join(a)
    await first.multicast(b"in x", "x")
    await first.multicast(b"in y", "y")
    b, second = await member(group, "b", x=x, y=y, plain=Recorder())
    group.join(b)
    await until(lambda: second.whole)
    assert (x.payloads, y.payloads) == ([b"in x"], [b"in y"])
    assert len(group.transfers) == 1


async def test_a_stateful_listener_is_not_added_to_a_running_adapter() -> None:
    _, adapter = await member(FakeGroup(), "a")
    with pytest.raises(ListenerError, match="before"):
        adapter.add_listener(Log(), "log")


async def test_a_member_without_state_gives_none() -> None:
    group = FakeGroup()
    a, first = await member(group, "a", log=Log())
    b, second = await member(group, "b", log=Log())
    group.join(a)
    await first.multicast(b"1", "log")
    a.fails_to_give = True
    group.join(b)
    await until(lambda: len(group.transfers) == 1)
    assert second.copy() is None
    assert first.copy() is not None


async def test_a_provider_that_dies_is_followed_by_the_next_one() -> None:
    group, log = FakeGroup(), Log()
    a, first = await member(group, "a", log=Log())
    b, _ = await member(group, "b", log=Log())
    c, third = await member(group, "c", log=log)
    group.join(a, b)
    await first.multicast(b"1", "log")
    a.fails_to_give = True
    group.join(c)
    await until(lambda: len(group.transfers) == 1)
    group.crash(a)
    await until(lambda: third.whole)
    assert log.payloads == [b"1"]


async def test_when_all_who_had_the_state_have_crashed_it_begins_empty_at_one_place() -> None:
    group, x, y = FakeGroup(), Log(), Log()
    a, first = await member(group, "a", log=Log())
    b, second = await member(group, "b", log=x)
    c, third = await member(group, "c", log=y)
    group.join(a)
    await first.multicast(b"lost", "log")
    a.fails_to_give = True
    group.join(b, c)
    await until(lambda: len(group.transfers) == 2)
    group.crash(a)
    await until(lambda: second.whole and third.whole)
    await second.multicast(b"new", "log")
    await settle()
    assert x.payloads == y.payloads == [b"new"]
    assert x.sets == y.sets == [None]


async def test_nobody_begins_empty_while_one_member_has_the_state() -> None:
    group, log = FakeGroup(), Log()
    a, first = await member(group, "a", log=Log())
    b, second = await member(group, "b", log=log)
    group.join(a)
    await first.multicast(b"kept", "log")
    a.fails_to_give = True
    group.join(b)
    await until(lambda: len(group.transfers) == 1)
    group.transfers[0].copies[a].set_result(None)  # an unlucky time-out
    await until(lambda: len(group.transfers) == 2)
    assert not second.whole
    a.fails_to_give = False
    group.transfers[1].copies[a].set_result(None)
    await until(lambda: second.whole)
    assert log.payloads == [b"kept"]


async def seeking(group: FakeGroup, log: Log) -> tuple[PullPushAdapter, PullPushAdapter]:
    """The adapters of a, which has the state and does not give it, and of b, which asks for it."""
    a, first = await member(group, "a", log=Log())
    b, second = await member(group, "b", log=log)
    group.join(a)
    await first.multicast(b"kept", "log")
    a.fails_to_give = True
    group.join(b)
    await until(lambda: len(group.transfers) == 1)
    return first, second


async def test_a_word_of_an_earlier_view_counts_for_nothing() -> None:
    group, log = FakeGroup(), Log()
    first, second = await seeking(group, log)
    c, _ = await member(group, "c")
    group.join(c)
    await first.multicast(NOTHING, STATE_ID)  # as if it had none, in the view with c
    await settle()
    group.crash(c)
    give_none(group, 0)
    await until(lambda: len(group.transfers) == 2)
    assert not second.whole
    assert log.sets == []


def give_none(group: FakeGroup, transfer: int) -> None:
    """Let a transfer end as one that took too long."""
    for copy in group.transfers[transfer].copies.values():
        if not copy.done():
            copy.set_result(None)


async def test_who_asks_again_takes_its_word_back() -> None:
    group = FakeGroup()
    a, b = group.channel("a"), group.channel("b")

    async def say(word: bytes) -> None:
        """Nobody hears it."""

    taking = StateTaking(b, say, 10.0, 1.0)
    view = View(2, 1, 0, 7, (a.address, b.address))
    taking.on_view(ViewInstalled(view, fresh=True, position=5), b.address)
    assert not taking.on_word(b.address, NOTHING)
    assert not taking.on_word(b.address, SEEKING)
    assert not taking.on_word(a.address, NOTHING)
    assert taking.on_word(b.address, NOTHING)
    taking.stop()


async def test_who_has_the_state_keeps_it_whatever_is_said() -> None:
    group, log = FakeGroup(), Log()
    a, adapter = await member(group, "a", log=log)
    group.join(a)
    await adapter.multicast(b"kept", "log")
    await adapter.multicast(NOTHING, STATE_ID)
    await settle()
    assert log.payloads == [b"kept"]


async def test_a_state_that_comes_after_one_has_said_to_have_none_is_not_taken() -> None:
    group, log = FakeGroup(), Log()
    _, second = await seeking(group, log)
    second._state.stop()
    channel = group.members[1]
    late = SetState(StateVersion(1, 1, channel.address), 1, 1, channel.address, pack_value({}))
    channel.put(late)
    give_none(group, 0)
    await until(lambda: second.counters().get("unasked_states") == 1)
    assert not second.whole


async def test_a_state_that_cannot_be_read_is_asked_for_again() -> None:
    group, log = FakeGroup(), Log(refuses=1)
    a, first = await member(group, "a", log=Log())
    group.join(a)
    await first.multicast(b"1", "log")
    b, second = await member(group, "b", log=log)
    group.join(b)
    await until(lambda: second.whole)
    assert log.payloads == [b"1"]
    assert len(group.transfers) == 2
    assert second.counters()["bad_states"] == 1


@pytest.mark.parametrize("state", [b"\xc1", pack_value(7), pack_value({"log": 7})])
async def test_a_malformed_state_changes_nothing(state: bytes) -> None:
    group, log = FakeGroup(), Log()
    a, adapter = await member(group, "a", log=log)
    group.join(a)
    await adapter.multicast(b"1", "log")
    a.put(SetState(StateVersion(1, 1, a.address), 1, 1, a.address, state))
    await settle()
    assert log.payloads == [b"1"]
    assert adapter.counters()["bad_states"] == 1


async def test_a_member_that_comes_back_takes_the_state_anew() -> None:
    group, log = FakeGroup(), Log()
    a, first = await member(group, "a", log=Log())
    b, second = await member(group, "b", log=log)
    group.join(a, b)
    await first.multicast(b"1", "log")
    await settle()
    group.exclude(b)
    await first.multicast(b"2", "log")
    a.fails_to_give = True
    group.join(b)
    await until(lambda: len(group.transfers) == 1)
    assert b.state_provider is None, "it does not give what it does not have"
    a.fails_to_give = False
    group.transfers[0].copies[a].set_result(None)
    await until(lambda: log.payloads == [b"1", b"2"])
    assert second.me == b.address


async def test_after_a_view_from_disk_all_take_the_state_of_the_oldest_survivor() -> None:
    group, x, y, z = FakeGroup(), Log(), Log(), Log()
    a, first = await member(group, "a", log=x)
    b, second = await member(group, "b", log=y)
    c, third = await member(group, "c", log=z)
    group.join(a, b)
    await first.multicast(b"1", "log")
    await settle()
    y.payloads.append(b"delivered here only")
    group.recover(c)
    await until(lambda: first.whole and second.whole and third.whole)
    assert x.payloads == y.payloads == z.payloads == [b"1"]
    assert x.sets == [None]


async def test_a_member_serves_the_state_only_while_it_has_it() -> None:
    group = FakeGroup()
    a, first = await member(group, "a", log=Log())
    b, second = await member(group, "b", log=Log())
    group.join(a)
    await first.multicast(b"1", "log")
    a.fails_to_give = True
    group.join(b)
    await until(lambda: len(group.transfers) == 1)
    assert a.state_provider is first
    assert b.state_provider is None
    a.fails_to_give = False
    group.transfers[0].copies[a].set_result(None)
    await until(lambda: second.whole)
    assert b.state_provider is second


async def test_a_failing_copy_is_no_copy() -> None:
    class Broken(Log):
        def get_state(self) -> bytes:
            raise RuntimeError("no")

    group = FakeGroup()
    a, adapter = await member(group, "a", log=Broken())
    group.join(a)
    await settle()
    assert adapter.copy() is None
