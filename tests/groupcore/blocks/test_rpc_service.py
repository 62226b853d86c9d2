"""RpcDispatcher: what is refused, which answers count, and how much runs together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from groupcore.blocks.adapter import PullPushAdapter
from groupcore.blocks.errors import (
    NoAnswerError,
    RegistrationError,
    RemoteError,
    RequestRefusedError,
    ValueRefusedError,
)
from groupcore.blocks.listener import Listener
from groupcore.blocks.rpc import RpcDispatcher
from groupcore.blocks.rpc_calls import Gather
from groupcore.blocks.rpc_messages import Answer, Request, Stop, encode
from groupcore.blocks.values import pack_value
from groupcore.errors import MessageTooLargeError
from groupcore.view import Address
from tests.groupcore.blocks.group import FakeChannel, FakeGroup, settle, until
from tests.groupcore.blocks.peers import BOTH_WAYS, LONG_S, peers

# --- errors ---------------------------------------------------------------------------------------


@BOTH_WAYS
async def test_a_remote_exception_comes_back_with_its_type_and_text(ordered: bool) -> None:
    _, (a, b) = await peers(2)
    with pytest.raises(RemoteError, match="b: ValueError: not today") as caught:
        await a.rpc.call_one(b.address, "fail", "not today", ordered=ordered)
    assert (caught.value.kind, caught.value.text) == ("ValueError", "not today")
    assert caught.value.member == b.address


@pytest.mark.parametrize(
    ("name", "arguments", "kind"),
    [
        ("__class__", (), "unknown_function"),
        ("register", ("x", 1), "unknown_function"),
        ("add", (), "bad_arguments"),
        ("add", (1, 2, 3), "bad_arguments"),
        ("add", ("1",), "bad_arguments"),
        ("add", (True,), "bad_arguments"),
    ],
)
@BOTH_WAYS
async def test_only_registered_functions_run_and_only_with_what_they_accept(
    name: str, arguments: tuple[int, ...], kind: str, ordered: bool
) -> None:
    _, (a, b) = await peers(2)
    with pytest.raises(RequestRefusedError) as caught:
        await a.rpc.call_one(b.address, name, *arguments, ordered=ordered)
    assert caught.value.kind == kind
    assert b.ran == []
    assert b.rpc.counters() == {f"refused.{kind}": 1}


async def test_a_result_that_cannot_travel_is_a_refusal() -> None:
    _, (a, b) = await peers(2)

    def odd() -> object:
        return {1, 2}

    b.rpc.register("odd", odd)
    with pytest.raises(RequestRefusedError, match="ran, but") as caught:
        await a.rpc.call_one(b.address, "odd")
    assert caught.value.kind == "bad_result"


async def test_a_result_that_is_too_large_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    _, (a, b) = await peers(2)
    send = b.channel.unicast

    async def limited(destination: Address, payload: bytes) -> None:
        if len(payload) > 1000:
            raise MessageTooLargeError("a message is above 1000 bytes")
        await send(destination, payload)

    def large() -> bytes:
        return bytes(2000)

    monkeypatch.setattr(b.channel, "unicast", limited)
    b.rpc.register("large", large)
    with pytest.raises(RequestRefusedError, match="too large"):
        await a.rpc.call_one(b.address, "large")


async def test_an_argument_that_cannot_travel_is_refused_before_anything_is_sent() -> None:
    _, (a, b) = await peers(2)
    with pytest.raises(ValueRefusedError):
        await a.rpc.call("add", {1, 2})  # type: ignore[arg-type]
    await settle()
    assert b.ran == []


@pytest.mark.parametrize(
    "payload",
    [
        pack_value([0, 9]),
        pack_value([0, 9, True, None, "x" * 300, []]),
        pack_value([0, 9, True, [["a"]], "add", []]),
        pack_value([0, 9, True, 7, "add", []]),
    ],
)
async def test_a_bad_request_is_answered_as_such(payload: bytes) -> None:
    _, (a, b) = await peers(2)
    answers: list[bytes] = []

    class Ear(Listener):
        def on_message(self, message: object) -> None:
            answers.append(message.payload)  # type: ignore[attr-defined]

    a.adapter.remove_listener(a.rpc)
    a.adapter.add_listener(Ear(), "rpc")
    await a.adapter.unicast(b.address, payload, "rpc")
    await until(lambda: len(answers) == 1)
    assert b"bad_request" in answers[0]
    assert b.rpc.counters() == {"refused.bad_request": 1}


@pytest.mark.parametrize(
    "payload", [b"", b"\xc1", pack_value([]), pack_value([9, 1]), pack_value(1)]
)
async def test_what_is_no_message_of_a_dispatcher_is_counted(payload: bytes) -> None:
    _, (a, b) = await peers(2)
    await a.adapter.unicast(b.address, payload, "rpc")
    await settle()
    assert b.rpc.counters() == {"malformed": 1}


def untyped(a, b: int) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """One parameter has no type."""


def by_name(*, a: int) -> None:
    """Its parameter cannot be given by place."""


def of_sets(a: set[int]) -> None:
    """Sets do not travel."""


@pytest.mark.parametrize("function", [untyped, by_name, of_sets])
async def test_a_function_whose_arguments_cannot_be_checked_is_not_registered(
    function: Callable[..., object],
) -> None:
    _, (a,) = await peers(1)
    with pytest.raises(RegistrationError):
        a.rpc.register("f", function)


async def test_a_name_is_registered_once_and_can_be_taken_back() -> None:
    _, (a,) = await peers(1)
    with pytest.raises(RegistrationError, match="registered already"):
        a.rpc.register("add", a.add)
    with pytest.raises(RegistrationError):
        a.rpc.register("", a.add)
    a.rpc.unregister("add")
    with pytest.raises(RegistrationError, match="not registered"):
        a.rpc.unregister("add")


# --- answers --------------------------------------------------------------------------------------


async def test_answers_that_do_not_count_are_counted() -> None:
    _, (a, b, c) = await peers(3)
    calling = asyncio.create_task(a.rpc.call("wait", 1, members=(b.address,), timeout_s=LONG_S))
    await until(lambda: b.ran == [1])
    stray = encode(Answer(1, 0, "not asked"))
    await c.adapter.unicast(a.address, stray, "rpc")
    await c.adapter.unicast(a.address, encode(Answer(77, 0)), "rpc")
    await settle()
    b.gate.set()
    assert (await calling)[b.address].get() == 1
    await b.adapter.unicast(a.address, encode(Answer(1, 0, "again")), "rpc")
    await settle()
    counters = a.rpc.counters()
    assert (counters["unasked_answers"], counters["late_answers"]) == (1, 2)


async def test_a_second_answer_of_one_member_changes_nothing() -> None:
    _, (a, b, c) = await peers(3)
    calling = asyncio.create_task(
        a.rpc.call("wait", 1, members=(b.address, c.address), timeout_s=LONG_S)
    )
    await until(lambda: b.ran == c.ran == [1])
    b.gate.set()
    await settle()
    await b.adapter.unicast(a.address, encode(Answer(1, 0, "again")), "rpc")
    await settle()
    c.gate.set()
    assert (await calling)[b.address].get() == 1
    assert a.rpc.counters()["duplicate_answers"] == 1


async def test_an_answer_to_a_caller_that_has_gone_is_counted() -> None:
    group, (a, b) = await peers(2)
    asyncio.create_task(a.rpc.call("wait", 1, members=(b.address,))).add_done_callback(
        lambda task: task.cancelled() or task.exception()
    )
    await until(lambda: b.ran == [1])
    group.crash(a.channel)
    b.gate.set()
    await until(lambda: "answers_to_nobody" in b.rpc.counters())
    a.channel.end()
    await settle()


# --- concurrency ----------------------------------------------------------------------------------


async def test_direct_requests_run_together_up_to_a_bound_and_more_wait() -> None:
    _, (a, b) = await peers(2, concurrency_max=2, waiting_max=10)
    calls = [
        asyncio.create_task(a.rpc.call_one(b.address, "wait", n, timeout_s=LONG_S))
        for n in range(4)
    ]
    await settle()
    assert b.ran == [0, 1]
    b.gate.set()
    assert await asyncio.gather(*calls) == [0, 1, 2, 3]


async def test_above_the_bound_of_what_may_wait_requests_are_refused() -> None:
    _, (a, b) = await peers(2, concurrency_max=1, waiting_max=1)
    calls = [
        asyncio.create_task(a.rpc.call_one(b.address, "wait", n, timeout_s=LONG_S))
        for n in range(3)
    ]
    await settle()
    b.gate.set()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert results[:2] == [0, 1]
    assert isinstance(results[2], RequestRefusedError)
    assert results[2].kind == "busy"


async def test_what_waits_for_a_member_that_has_left_is_dropped() -> None:
    group, (a, b, c) = await peers(3, concurrency_max=1, waiting_max=9)
    first = asyncio.create_task(a.rpc.call_one(b.address, "wait", 1, timeout_s=LONG_S))
    await until(lambda: b.ran == [1])
    await c.rpc.call("add", 5, members=(b.address,), gather=Gather.NONE)
    await settle()
    group.crash(c.channel)
    await settle()
    b.gate.set()
    await first
    await settle()
    assert b.ran == [1, "end"]
    assert b.rpc.counters()["caller_left"] == 1


async def test_cancelling_a_direct_call_cancels_it_where_it_runs() -> None:
    _, (a, b) = await peers(2)
    calling = asyncio.create_task(a.rpc.call("wait", 1, timeout_s=LONG_S))
    await until(lambda: a.ran == b.ran == [1])
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    await until(lambda: b.rpc.counters()["stopped"] == 1)
    for peer in (a, b):
        peer.gate.set()
    await settle()
    assert a.ran == b.ran == [1]


async def test_a_call_that_timed_out_is_stopped_while_it_waits_its_turn() -> None:
    _, (a, b) = await peers(2, concurrency_max=1, waiting_max=9)
    first = asyncio.create_task(a.rpc.call_one(b.address, "wait", 1, timeout_s=LONG_S))
    await until(lambda: b.ran == [1])
    with pytest.raises(NoAnswerError):
        await a.rpc.call_one(b.address, "add", 1, timeout_s=0.02)
    await until(lambda: b.rpc.counters().get("stopped") == 1)
    b.gate.set()
    await first
    await settle()
    assert b.ran == [1, "end"]


async def test_cancelling_an_ordered_call_does_not_stop_it() -> None:
    _, (a, b) = await peers(2)
    calling = asyncio.create_task(a.rpc.call("wait", 1, ordered=True))
    await until(lambda: b.ran == [1])
    calling.cancel()
    b.gate.set()
    await settle()
    assert b.ran == [1, "end"]
    a.gate.set()
    await settle()


async def test_a_stop_of_nothing_changes_nothing() -> None:
    _, (a, b) = await peers(2)
    await a.adapter.unicast(b.address, encode(Stop(99)), "rpc")
    await settle()
    assert b.rpc.counters() == {}


async def test_a_request_that_comes_twice_while_it_runs_runs_once() -> None:
    _, (a, b) = await peers(2)
    request = encode(Request(5, False, None, "wait", [1]))
    await a.adapter.unicast(b.address, request, "rpc")
    await a.adapter.unicast(b.address, request, "rpc")
    await settle()
    assert b.ran == [1]
    assert b.rpc.counters()["duplicate_requests"] == 1
    b.gate.set()
    await settle()


async def test_an_ordered_call_before_the_state_is_here_is_answered_as_not_ready() -> None:
    class Stateful(Listener):
        stateful = True

        def get_state(self) -> bytes:
            return b""

    group = FakeGroup()

    def stateful_peer(name: str) -> tuple[FakeChannel, RpcDispatcher]:
        channel = group.channel(name)
        adapter = PullPushAdapter(channel, retry_s=0.0)
        rpc = RpcDispatcher(adapter)
        rpc.register("ping", ping)
        adapter.add_listener(Stateful(), "s")
        adapter.start()
        return channel, rpc

    def ping() -> str:
        return "pong"

    a, caller = stateful_peer("a")
    b, _ = stateful_peer("b")
    group.join(a)
    await caller.call("ping", ordered=True)
    a.fails_to_give = True
    group.join(b)
    await until(lambda: a.view is b.view and len(group.transfers) == 0)
    results = await caller.call("ping", ordered=True)
    assert results[a.address].get() == "pong"
    error = results[b.address].error
    assert isinstance(error, RequestRefusedError)
    assert error.kind == "not_ready"
