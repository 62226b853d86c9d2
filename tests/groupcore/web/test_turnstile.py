"""So many in one turn of the loop, in their order."""

from __future__ import annotations

import asyncio

import pytest

from groupcore.aio.loop_runtime import LoopRuntime
from groupcore.gateway.turnstile import Turnstile


class Crowd:
    """Notes in which turn of the loop who came through."""

    def __init__(self, per_turn: int) -> None:
        self.turnstile = Turnstile(LoopRuntime(), per_turn)
        self.turn = 0
        self.passed: list[tuple[int, int]] = []
        self._is_counting = True
        self._count()

    def _count(self) -> None:
        self.turn += 1
        if self._is_counting:
            asyncio.get_running_loop().call_soon(self._count)

    async def enter(self, number: int) -> None:
        await self.turnstile.enter()
        self.passed.append((self.turn, number))

    def stop(self) -> None:
        self._is_counting = False


async def test_so_many_come_through_in_one_turn_in_their_order() -> None:
    crowd = Crowd(3)
    await asyncio.gather(*(crowd.enter(number) for number in range(10)))
    crowd.stop()
    turns = [turn for turn, _ in crowd.passed]
    assert [number for _, number in crowd.passed] == list(range(10))
    assert max(turns.count(turn) for turn in turns) <= 3
    assert turns[-1] - turns[0] >= 3


async def test_who_gives_up_takes_no_place() -> None:
    turnstile = Turnstile(LoopRuntime(), 1)
    passed: list[int] = []

    async def enter(number: int) -> None:
        await turnstile.enter()
        passed.append(number)

    tasks = [asyncio.create_task(enter(number)) for number in range(4)]
    tasks[0].add_done_callback(lambda _: tasks[2].cancel())
    await asyncio.gather(*tasks, return_exceptions=True)
    assert passed == [0, 1, 3]


async def test_one_that_nobody_waits_at_lets_in_at_once() -> None:
    turnstile = Turnstile(LoopRuntime(), 2)
    for _ in range(5):
        entering = turnstile.enter()
        with pytest.raises(StopIteration):
            entering.send(None)
        await asyncio.create_task(turnstile.enter())
