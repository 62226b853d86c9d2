"""The answering side of a dispatcher: runs what others ask for, so many at a time.

Direct requests run as tasks, at most `concurrency_max` together, and up to `waiting_max` wait;
more are refused as `busy`. Ordered requests run one by one at their place in the order.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from groupcore.blocks.errors import ValueRefusedError
from groupcore.blocks.rpc_functions import ArgumentsError, Functions
from groupcore.blocks.rpc_messages import RAISED, REFUSED, RETURNED, Answer, Request
from groupcore.blocks.values import check_value
from groupcore.view import Address

log = logging.getLogger(__name__)

Reply = Callable[[Address, Answer], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request and who has sent it."""

    caller: Address
    request: Request


class Service:
    """Runs registered functions for others; `reply` sends an answer to a caller."""

    def __init__(
        self, functions: Functions, reply: Reply, concurrency_max: int, waiting_max: int
    ) -> None:
        self.numbers: Counter[str] = Counter()
        self._functions = functions
        self._reply = reply
        self._concurrency_max = concurrency_max
        self._waiting_max = waiting_max
        self._waiting: deque[Asked] = deque()
        self._running: dict[tuple[Address, int], asyncio.Task[None]] = {}

    async def run_here(self, caller: Address, request: Request) -> None:
        """Run an ordered request, and answer."""
        await self._run(Asked(caller, request))

    async def run_soon(self, caller: Address, request: Request) -> None:
        """Run a direct request in a task of its own, now or when others have ended."""
        if (caller, request.number) in self._running:
            self.numbers["duplicate_requests"] += 1
        elif len(self._running) < self._concurrency_max:
            self._start(Asked(caller, request))
        elif len(self._waiting) < self._waiting_max:
            self._waiting.append(Asked(caller, request))
        else:
            self.numbers["busy"] += 1
            text = f"{self._waiting_max} requests wait here; call again later"
            await self.refuse(caller, request.number, "busy", text)

    async def refuse(self, caller: Address, number: int, kind: str, text: str) -> None:
        """Answer that a request was not run, and why."""
        self.numbers[f"refused.{kind}"] += 1
        await self._reply(caller, Answer(number, REFUSED, None, kind, text))

    def stop_one(self, caller: Address, number: int) -> None:
        """The caller waits no more: drop the request, or cancel it where it waits itself."""
        for asked in self._waiting:
            if (asked.caller, asked.request.number) == (caller, number):
                self._waiting.remove(asked)
                self.numbers["stopped"] += 1
                return
        task = self._running.get((caller, number))
        if task is not None:
            task.cancel()
            self.numbers["stopped"] += 1

    def on_view(self, members: tuple[Address, ...]) -> None:
        """What waits for a member that has left is not run."""
        kept = [asked for asked in self._waiting if asked.caller in members]
        self.numbers["caller_left"] += len(self._waiting) - len(kept)
        self._waiting = deque(kept)

    async def close(self) -> None:
        """Cancel everything that runs."""
        self._waiting.clear()
        running = list(self._running.values())
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)

    def _start(self, asked: Asked) -> None:
        key = (asked.caller, asked.request.number)
        task = asyncio.get_running_loop().create_task(self._run(asked))
        self._running[key] = task

        def ended(task: asyncio.Task[None]) -> None:
            del self._running[key]
            if not task.cancelled() and task.exception() is not None:
                log.error("an answer to %s failed", asked.caller, exc_info=task.exception())
            if self._waiting:
                self._start(self._waiting.popleft())

        task.add_done_callback(ended)

    async def _run(self, asked: Asked) -> None:
        request = asked.request
        registered = self._functions.find(request.name)
        if registered is None:
            text = f"no function {request.name!r} is registered here"
            await self._refuse(request, asked.caller, "unknown_function", text)
            return
        try:
            registered.check(request.arguments)
        except ArgumentsError as error:
            text = f"{request.name}: {error}"
            await self._refuse(request, asked.caller, "bad_arguments", text)
            return
        self.numbers["requests"] += 1
        try:
            value = registered.function(*request.arguments)
            if inspect.isawaitable(value):
                value = await value
            answer = self._answer_with(request, value)
        except Exception as error:
            self.numbers["raised"] += 1
            answer = Answer(request.number, RAISED, None, type(error).__name__, str(error))
        if request.answer:
            await self._reply(asked.caller, answer)

    async def _refuse(self, request: Request, caller: Address, kind: str, text: str) -> None:
        if request.answer:
            await self.refuse(caller, request.number, kind, text)
        else:
            self.numbers[f"refused.{kind}"] += 1

    def _answer_with(self, request: Request, value: object) -> Answer:
        try:
            check_value(value)
        except ValueRefusedError as error:
            self.numbers["refused.bad_result"] += 1
            text = f"{request.name} ran, but its result cannot travel: {error}"
            return Answer(request.number, REFUSED, None, "bad_result", text)
        return Answer(request.number, RETURNED, value)
