"""Long work of the loop gives way to what else there is to do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from groupcore.aio import turns
from groupcore.aio.turns import in_turns


async def between(steps: int, at: list[int]) -> list[int]:
    """How far the steps had come each time something else had its turn; `at` counts them."""
    seen: list[int] = []
    work = asyncio.ensure_future(in_turns(taken(steps, at)))
    while not work.done():
        await asyncio.sleep(0)
        seen.append(at[0])
    await work
    return seen


def taken(steps: int, at: list[int]) -> Iterator[None]:
    for _ in range(steps):
        at[0] += 1
        yield


async def test_the_loop_has_its_turn_between_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TURN_S", 0.0)
    assert (await between(5, [0]))[:5] == [1, 2, 3, 4, 5]


async def test_steps_that_take_no_time_are_one_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TURN_S", 60.0)
    assert set(await between(1_000, [0])) == {1_000}


async def test_what_a_step_raises_is_raised() -> None:
    def failing() -> Iterator[None]:
        yield
        raise StopAsyncIteration

    with pytest.raises(StopAsyncIteration):
        await in_turns(failing())
