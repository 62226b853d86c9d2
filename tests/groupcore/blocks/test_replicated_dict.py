"""ReplicatedDict: one content at all members, with results from the order."""

from __future__ import annotations

import asyncio

import pytest

from groupcore.blocks.adapter import PullPushAdapter
from groupcore.blocks.dict_state import OPERATIONS_MAX
from groupcore.blocks.errors import (
    FullError,
    NestedCallError,
    NotANumberError,
    RegistrationError,
    ValueRefusedError,
)
from groupcore.blocks.listener import Listener
from groupcore.blocks.replicated_dict import Change, ReplicatedDict
from groupcore.blocks.values import pack_value
from tests.groupcore.blocks.dict_peers import DictPeer, dict_peers
from tests.groupcore.blocks.group import FakeGroup, settle, until


async def test_what_one_member_writes_all_members_read() -> None:
    _, (a, b) = await dict_peers(2)
    await a.dict.set("k", {"list": [1, "two", None]})
    assert a.dict["k"] == {"list": [1, "two", None]}
    await settle()
    assert dict(b.dict) == dict(a.dict)
    assert b.dict.get("missing") is None
    assert "k" in b.dict
    assert list(b.dict) == ["k"]
    assert a.dict.position == b.dict.position == 1


async def test_a_dict_has_the_methods_of_a_dict_with_results_from_the_order() -> None:
    _, (a, b) = await dict_peers(2)
    assert await a.dict.setdefault("k", 1) == 1
    assert await b.dict.setdefault("k", 2) == 1
    await b.dict.update({"l": 3, "m": None})
    assert await a.dict.pop("l") == 3
    assert await a.dict.pop("l", "none") == "none"
    await a.dict.delete("m")
    assert dict(a.dict) == {"k": 1}
    assert await b.dict.clear() == 1
    assert len(b.dict) == 0


@pytest.mark.parametrize("write", ["delete", "pop"])
async def test_a_missing_key_is_a_key_error_at_its_place(write: str) -> None:
    _, (a,) = await dict_peers(1)
    with pytest.raises(KeyError, match="k"):
        await getattr(a.dict, write)("k")


async def test_of_two_who_compare_and_set_one_wins() -> None:
    group, (a, b) = await dict_peers(2)
    await a.dict.set("lock", "free")
    group.hold()
    racing = [
        asyncio.create_task(peer.dict.compare_and_set("lock", "free", name))
        for name, peer in (("a", a), ("b", b))
    ]
    await settle()
    group.release()
    assert await asyncio.gather(*racing) == [True, False]
    assert a.dict["lock"] == b.dict["lock"] == "a"


async def test_compare_and_set_knows_keys_that_are_not_there() -> None:
    _, (a,) = await dict_peers(1)
    assert await a.dict.compare_and_set("k", None, 1)
    assert not await a.dict.compare_and_set("k", None, 2)
    assert await a.dict.compare_and_set("k", 1, None)
    assert "k" not in a.dict
    assert await a.dict.compare_and_set("k", None, None)


async def test_each_increment_returns_a_sum_that_nobody_else_gets() -> None:
    _, members = await dict_peers(3)
    sums = await asyncio.gather(
        *(peer.stock.increment("n", 2) for peer in members for _ in range(5))
    )
    assert sorted(sums) == list(range(2, 32, 2))
    assert [peer.stock["n"] for peer in members] == [30, 30, 30]


async def test_what_is_no_number_cannot_be_incremented() -> None:
    _, (a,) = await dict_peers(1)
    await a.dict.set("text", "1")
    await a.dict.set("large", (1 << 64) - 1)
    for key in ("text", "large"):
        with pytest.raises(NotANumberError, match=key):
            await a.dict.increment(key)
    assert a.dict["text"] == "1"


async def test_changing_what_was_read_changes_nothing() -> None:
    _, (a,) = await dict_peers(1)
    value = {"list": [1]}
    await a.dict.set("k", value)
    value["list"].append(2)
    read = a.dict["k"]
    assert isinstance(read, dict)
    read["list"].append(3)
    assert a.dict["k"] == {"list": [1]}


async def test_a_value_that_does_not_travel_or_is_of_another_type_is_refused() -> None:
    _, (a,) = await dict_peers(1)
    with pytest.raises(ValueRefusedError):
        await a.dict.set("k", {1, 2})
    with pytest.raises(ValueRefusedError, match="a str is no int"):
        await a.stock.set("k", "1")  # type: ignore[arg-type]
    with pytest.raises(ValueRefusedError, match="a key"):
        await a.dict.set("k" * 2000, 1)
    with pytest.raises(RegistrationError):
        ReplicatedDict(PullPushAdapter(FakeGroup().channel("x")), "x", set)


async def test_a_dict_has_a_bound_and_an_update_beyond_it_does_nothing() -> None:
    group = FakeGroup()
    a = DictPeer(group, "a", bytes_max=100)
    group.join(a.channel)
    await a.dict.set("k", "x" * 50)
    with pytest.raises(FullError, match="100 bytes"):
        await a.dict.update({"l": 1, "m": "x" * 60})
    assert list(a.dict) == ["k"]
    await a.dict.set("k", "y")
    await a.dict.set("m", "x" * 60)
    await a.dict.delete("m")
    assert a.dict.counters()["used_bytes"] == 3


async def test_watchers_are_told_of_every_change_in_order() -> None:
    _, (a, b) = await dict_peers(2)
    seen: list[object] = []
    stop = b.dict.watch(seen.append)
    await a.dict.set("k", 1)
    await a.dict.set("k", 2)
    await a.dict.delete("k")
    await settle()
    assert seen == [
        Change("k", None, 1, removed=False),
        Change("k", 1, 2, removed=False),
        Change("k", 2, None, removed=True),
    ]
    stop()
    await a.dict.set("k", 3)
    await settle()
    assert len(seen) == 3


async def test_a_watcher_that_fails_stops_no_other(caplog: pytest.LogCaptureFixture) -> None:
    _, (a,) = await dict_peers(1)
    seen: list[object] = []

    def broken(change: object) -> None:
        raise RuntimeError("no")

    a.dict.watch(broken)
    a.dict.watch(seen.append)
    await a.dict.set("k", 1)
    assert len(seen) == 1
    assert "a watcher of the dict 'dict' failed" in caplog.text


async def test_refresh_waits_for_all_that_was_ordered_before() -> None:
    _, (a, b) = await dict_peers(2)
    await a.dict.set("k", 1)
    await b.dict.refresh()
    assert b.dict["k"] == 1


async def test_a_write_inside_a_callback_is_told_that_it_would_wait_for_itself() -> None:
    caught: list[NestedCallError] = []

    class Writing(Listener):
        async def on_message(self, message: object) -> None:
            try:
                await a.dict.set("k", 1)
            except NestedCallError as error:
                caught.append(error)

    _, (a,) = await dict_peers(1)
    a.adapter.add_listener(Writing(), "w")
    await a.adapter.multicast(b"", "w")
    await until(lambda: len(caught) == 1)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        pack_value([["a", 1], 1, 0, "set", ["k", b"\xc1"]]),
        pack_value([["a", 1], 1, 0, "set", ["k", 1]]),
        pack_value([["a", 1], 1, 1, "clear", []]),
        pack_value([["a", 1], 1 + OPERATIONS_MAX, 0, "clear", []]),
        pack_value([["a", 1], 1, 0, "__init__", []]),
        pack_value([["a", 1], 1, 0, "update", [{"k": 1}]]),
        pack_value(["a", 1, 0, "clear", []]),
    ],
)
async def test_what_is_no_operation_is_counted_and_changes_nothing(payload: bytes) -> None:
    _, (a, b) = await dict_peers(2)
    await a.adapter.multicast(payload, "dict")
    await b.adapter.unicast(a.channel.address, pack_value([["b", 1], 1, 0, "clear", []]), "dict")
    await settle()
    assert a.dict.counters() == {"malformed": 2, "keys": 0, "used_bytes": 0}
