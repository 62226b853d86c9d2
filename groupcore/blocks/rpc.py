"""RpcDispatcher: call a function at one member, at some, or at all.

    rpc = RpcDispatcher(adapter)
    rpc.register("add", add)
    sums = await rpc.call("add", 2, 3)                  # at all members, waiting for all
    value = await rpc.call_one(member, "add", 2, 3)     # at one

A **direct** call goes to each member by unicast: quick, and in no common order. An **ordered** call
is a multicast in the total order: every member runs it at the same place among all ordered
messages, so functions that change replicated state belong there. Who was in the view at that
place is who is waited for.

Source. State transfer paper, 3.4.2 (building blocks); `RpcDispatcher` of JGroups.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from groupcore.aio.inbox import Message
from groupcore.blocks.adapter import PullPushAdapter
from groupcore.blocks.errors import ValueRefusedError
from groupcore.blocks.listener import Listener
from groupcore.blocks.rpc_calls import Call, Gather, Outcome, outcome_of
from groupcore.blocks.rpc_functions import Function, Functions
from groupcore.blocks.rpc_messages import (
    REFUSED,
    Answer,
    BadRequestError,
    Request,
    Stop,
    decode,
    encode,
)
from groupcore.blocks.rpc_service import Service
from groupcore.blocks.values import Value
from groupcore.errors import (
    ChannelClosedError,
    GroupcoreError,
    MessageTooLargeError,
    NotAMemberError,
    NotPrimaryError,
)
from groupcore.events import Event, Excluded, ViewInstalled
from groupcore.view import Address


@dataclass(slots=True)
class UnderWay:
    """A call and the future that its caller waits for; `sent`: the channel has taken it."""

    call: Call
    over: asyncio.Future[None]
    sent: bool = False


class RpcDispatcher(Listener):
    """Calls functions of others, and runs the registered ones for them."""

    def __init__(
        self,
        adapter: PullPushAdapter,
        listener_id: str = "rpc",
        *,
        concurrency_max: int = 64,
        waiting_max: int = 1024,
    ) -> None:
        """Join the adapter under this id, the same at all members.

        `concurrency_max` direct requests run together, `waiting_max` more wait.
        """
        self._adapter = adapter
        self._id = listener_id
        self._functions = Functions()
        self._service = Service(self._functions, self._reply, concurrency_max, waiting_max)
        self._calls: dict[int, UnderWay] = {}
        self._numbers: Counter[str] = Counter()
        self._last_number = 0
        adapter.add_listener(self, listener_id)

    def register(self, name: str, function: Function) -> None:
        """Let members call this function by this name, with the arguments that its types accept.

        Plain or `async`. Parameters are given by place and are values that travel (see
        `groupcore.blocks.values`); so is the result. An ordered function is a part of the
        replicated state machine: the same at all members, and it waits for no call.
        """
        self._functions.register(name, function)

    def unregister(self, name: str) -> None:
        """Let nobody call this name any more."""
        self._functions.unregister(name)

    async def call(
        self,
        name: str,
        *arguments: Value,
        members: Sequence[Address] | None = None,
        gather: Gather = Gather.ALL,
        timeout_s: float = 5.0,
        ordered: bool = False,
    ) -> dict[Address, Outcome]:
        """Run `name` at these members (None: all of the view) and gather what came of it.

        Returns an outcome for each member that was asked; who has not answered within
        `timeout_s`, or before the answers sufficed, is told as a NoAnswerError. Cancelling the
        task cancels a direct call at the members, too. ValueRefusedError,
        MessageTooLargeError, ChannelClosedError; NotPrimaryError when this
        member has not joined within that time; NestedCallError
        inside a callback or an ordered function.
        """
        self._last_number += 1
        number = self._last_number
        wanted = None if members is None else tuple(members)
        request = Request(number, gather is not Gather.NONE, wanted, name, list(arguments))
        payload = encode(request)
        if gather is Gather.NONE:
            await self._adapter.until_view(timeout_s)
            await self._send(Call(gather, wanted), number, payload, ordered)
            return {}
        self._adapter.check_may_wait()
        await self._adapter.until_view(timeout_s)
        call = Call(gather, wanted)
        over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._calls[number] = UnderWay(call, over)
        try:
            async with asyncio.timeout(timeout_s):
                await self._send(call, number, payload, ordered)
                self._calls[number].sent = True
                await over
        except TimeoutError:
            self._numbers["timed_out"] += 1
            await self._stop(number, call, ordered)
        except asyncio.CancelledError:
            await self._stop(number, call, ordered)
            raise
        finally:
            del self._calls[number]
        return call.results()

    async def call_one(
        self,
        member: Address,
        name: str,
        *arguments: Value,
        timeout_s: float = 5.0,
        ordered: bool = False,
    ) -> object:
        """Run `name` at one member; returns its value.

        Raises what the outcome holds: RemoteError, RequestRefusedError, SuspectedError,
        NoAnswerError; and what `call` raises.
        """
        results = await self.call(
            name, *arguments, members=(member,), timeout_s=timeout_s, ordered=ordered
        )
        # An ordered call that found its place after the member had left was run by nobody.
        return results[member].get()

    def counters(self) -> dict[str, int]:
        """Requests run and refused by reason, answers that nobody waits for, time-outs."""
        return dict(sorted((self._numbers + self._service.numbers).items()))

    async def close(self) -> None:
        """Leave the adapter; calls under way end, running direct requests are cancelled."""
        self._adapter.remove_listener(self)
        self.on_closed(ChannelClosedError("the dispatcher was closed"))
        await self._service.close()

    # --- calling --------------------------------------------------------------------------------

    async def _send(self, call: Call, number: int, payload: bytes, ordered: bool) -> None:
        if ordered:
            await self._adapter.multicast(payload, self._id)
            return
        view, me = self._adapter.view, self._adapter.me
        assert view is not None, "the caller has waited for the first view"
        assert me is not None, "who has a view is in it"
        call.expect(view.members)
        for member in sorted(call.open()):
            if member == me:
                request = decode(payload)  # a copy, as everybody else gets one
                assert isinstance(request, Request)
                await self._service.run_soon(me, request)
                continue
            try:
                await self._adapter.unicast(member, payload, self._id)
            except NotAMemberError:
                call.suspect(member)
        self._look(number)

    async def _stop(self, number: int, call: Call, ordered: bool) -> None:
        """Tell those who have not answered a direct call that nobody waits for it."""
        if ordered:
            return
        for member in sorted(call.open()):
            if member == self._adapter.me:
                self._service.stop_one(member, number)
                continue
            try:
                await self._adapter.unicast(member, encode(Stop(number)), self._id)
            except GroupcoreError:
                self._numbers["stops_to_nobody"] += 1

    def _look(self, number: int) -> None:
        """Wake the caller when its call is over."""
        under_way = self._calls.get(number)
        if under_way is not None and under_way.call.is_over() and not under_way.over.done():
            under_way.over.set_result(None)

    # --- callbacks ------------------------------------------------------------------------------

    async def on_message(self, message: Message) -> None:
        """A request, an answer or a stop."""
        try:
            received = decode(message.payload)
        except BadRequestError as error:
            await self._service.refuse(message.origin, error.number, "bad_request", str(error))
            return
        except ValueRefusedError:
            self._numbers["malformed"] += 1
            return
        match received:
            case Request():
                await self._on_request(message, received)
            case Answer():
                self._on_answer(message.origin, received)
            case Stop(number):
                self._service.stop_one(message.origin, number)

    async def _on_request(self, message: Message, request: Request) -> None:
        ordered = message.position > 0
        view, me = self._adapter.view, self._adapter.me
        if ordered and message.origin == me and view is not None:
            under_way = self._calls.get(request.number)
            if under_way is not None:
                under_way.call.expect(view.members)
                self._look(request.number)
        if request.members is not None and me not in request.members:
            return
        if not ordered:
            await self._service.run_soon(message.origin, request)
        elif self._adapter.whole:
            await self._service.run_here(message.origin, request)
        else:
            text = "this member has no state yet; the state that it takes contains this call"
            await self._service.refuse(message.origin, request.number, "not_ready", text)

    def _on_answer(self, member: Address, answer: Answer) -> None:
        under_way = self._calls.get(answer.number)
        if under_way is None:
            self._numbers["late_answers"] += 1
            return
        reason = under_way.call.on_answer(outcome_of(member, answer))
        if reason:
            self._numbers[reason] += 1
        self._look(answer.number)

    def on_view(self, event: ViewInstalled) -> None:
        """Members that have left answer no more, and are answered no more."""
        self._service.on_view(event.view.members)
        for number, under_way in self._calls.items():
            under_way.call.on_view(event.view.members)
            self._look(number)

    def on_event(self, event: Event) -> None:
        """Outside the group no answer comes any more: what was sent ends with what there is."""
        if isinstance(event, Excluded):
            for under_way in self._calls.values():
                if under_way.sent and not under_way.over.done():
                    under_way.over.set_result(None)

    def on_closed(self, error: GroupcoreError | None) -> None:
        """The channel has ended: so has every call."""
        for under_way in self._calls.values():
            if not under_way.over.done():
                ended = ChannelClosedError("the channel was closed before the call was answered")
                under_way.over.set_exception(error or ended)

    async def _reply(self, caller: Address, answer: Answer) -> None:
        if caller == self._adapter.me:
            self._on_answer(caller, answer)
            return
        try:
            await self._adapter.unicast(caller, self._encoded(answer), self._id)
        except MessageTooLargeError:
            refusal = Answer(answer.number, REFUSED, None, "bad_result", "the result is too large")
            await self._reply(caller, refusal)
        except (NotAMemberError, NotPrimaryError, ChannelClosedError):
            self._numbers["answers_to_nobody"] += 1

    @staticmethod
    def _encoded(answer: Answer) -> bytes:
        try:
            return encode(answer)
        except ValueRefusedError as error:
            raise MessageTooLargeError(str(error)) from None
