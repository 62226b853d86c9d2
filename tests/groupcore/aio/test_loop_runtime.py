"""The library's coroutines on an asyncio loop."""

from __future__ import annotations

import asyncio

import pytest

from groupcore.aio.loop_runtime import LoopRuntime
from groupcore.shared.errors import ClosedError, RefusedError
from groupcore.shared.pending import Signal
from groupcore.shared.runtime import done_within, elapse


async def failing(error: Exception) -> None:
    raise error


async def test_what_is_spawned_has_an_outcome_or_an_error_for_all_who_wait() -> None:
    runtime = LoopRuntime()

    async def answer() -> int:
        await elapse(runtime, 0.0)
        return 42

    assert await runtime.spawn(answer()) == 42
    failed = runtime.spawn(failing(RefusedError("no")))
    for _ in range(2):
        with pytest.raises(RefusedError):
            await failed


async def test_an_error_that_is_not_the_librarys_is_told_to_the_loop() -> None:
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda loop, about: told.append(about["exception"])
    )
    error = KeyError("a bug")
    with pytest.raises(KeyError):
        await LoopRuntime().spawn(failing(error))
    with pytest.raises(ClosedError):
        await LoopRuntime().spawn(failing(ClosedError("no bug")))
    assert told == [error]


async def sleep(runtime: LoopRuntime, delay_s: float) -> None:
    await elapse(runtime, delay_s)


async def test_at_its_end_who_waits_is_told_and_nothing_runs_any_more() -> None:
    runtime = LoopRuntime()
    waiting = runtime.spawn(sleep(runtime, 3600.0))
    runtime.end()
    with pytest.raises(ClosedError):
        await waiting


async def test_waiting_for_something_ends_when_it_is_done_or_the_time_is_over() -> None:
    runtime = LoopRuntime()
    assert not await done_within(runtime, Signal(), 0.0)
    done = runtime.spawn(sleep(runtime, 0.0))
    assert await done_within(runtime, done, 3600.0)
